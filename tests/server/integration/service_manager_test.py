"""The server tells systemd how far it is; this script stands in for systemd at the socket NOTIFY_SOCKET."""

import os
import shutil
import socket
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from seendb_client import Server, eventually

OPENING = "STATUS=opening the database"
STOPPING = "STOPPING=1\nSTATUS=stopping"


class Manager:
    """The socket that a unit of Type=notify gets, and what arrives there."""

    def __init__(self, name):
        self.name = name
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(name.replace("@", "\0", 1) if name.startswith("@") else name)
        self.socket.settimeout(60)

    def next(self):
        return self.socket.recv(4096).decode()

    def rest(self):
        """All that is there by now."""
        self.socket.settimeout(0)
        found = []
        try:
            while True:
                found.append(self.next())
        except BlockingIOError:
            return found


class ServiceManagerTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="seendb-manager-")
        self.addCleanup(shutil.rmtree, self.folder)

    def manager(self, name):
        manager = Manager(name)
        self.addCleanup(manager.socket.close)
        return manager

    def server(self, name, **more):
        server = Server(env={"NOTIFY_SOCKET": name}, **more)
        self.addCleanup(server.close)
        return server

    def test_it_opens_serves_and_stops(self):
        for name in (os.path.join(self.folder, "notify"), "@seendb-test-%d" % os.getpid()):
            with self.subTest(name=name):
                manager = self.manager(name)
                server = self.server(name)
                told = manager.next()
                self.assertEqual(told, OPENING)
                while told.startswith(OPENING):  # a slow machine tells of shards too
                    told = manager.next()
                self.assertEqual(told, "READY=1\nSTATUS=serving at " + server.url[len("http://"):])
                self.assertEqual(manager.rest(), [])
                self.assertEqual(server.terminate(), 0)
                self.assertEqual(manager.rest(), [STOPPING])
                self.assertNotIn("service_manager_not_told", server.log_text())

    def test_it_says_which_shards_are_open(self):
        name = os.path.join(self.folder, "notify")
        manager = self.manager(name)
        server = self.server(name)
        self.assertEqual(server.terminate(), 0)
        manager.rest()
        manager.socket.settimeout(60)
        # The opening of a shard reads this file: it waits for whoever writes into the pipe.
        synced = os.path.join(server.db, "shard-0002", "SYNCED")
        with open(synced, "rb") as file:
            content = file.read()
        os.unlink(synced)
        os.mkfifo(synced)
        server.start(wait=False)
        told = [manager.next()]
        while not told[-1].endswith(": 3 of 4 shards are open"):
            self.assertTrue(told[-1].startswith(OPENING), told)
            told.append(manager.next())
        with open(synced, "wb") as pipe:
            os.unlink(synced)
            pipe.write(content)
        while told[-1].startswith(OPENING):
            told.append(manager.next())
        self.assertTrue(told[-1].startswith("READY=1\n"), told)
        self.assertEqual(len(told), len(set(told)), "each is told once")

    def test_a_server_that_can_not_open_is_never_ready(self):
        name = os.path.join(self.folder, "notify")
        manager = self.manager(name)
        server = self.server(name)
        self.assertEqual(server.terminate(), 0)
        manager.rest()
        server.args += ["--shards", "3"]
        server.start(wait=False)
        self.assertEqual(server.process.wait(60), 3)
        told = manager.rest()
        self.assertEqual((told[0], told[-1]), (OPENING, STOPPING))
        self.assertFalse([one for one in told if "READY" in one])

    def test_a_socket_that_is_not_there_is_said_and_no_harm(self):
        for name in (os.path.join(self.folder, "nobody"), "/" + "x" * 200):
            with self.subTest(name=name):
                server = self.server(name)
                self.assertEqual(server.get("/readyz").status, 200)
                self.assertTrue(eventually(lambda: server.log_text().count("service_manager_not_told") >= 2,
                                           timeout=60))
                self.assertEqual(server.terminate(), 0)


if __name__ == "__main__":
    unittest.main()
