"""GET /admin/tail over a real server: what is shown, who may look, and watchers that do not read."""

import hashlib
import json
import os
import shutil
import socket
import sys
import tempfile
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer
from seendb_client import Server, eventually

KEY = "000102030405060708090a0b0c0d0e0f"
WATCHERS = 4


class Watcher:
    """Somebody who looks, over a connection of his own. What it reads it keeps."""

    def __init__(self, server, query="seconds=60", token=None, receive_bytes=0):
        self.socket = socket.socket()
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(60)
        self.socket.connect((server.host, server.port))
        more = "Authorization: Bearer %s\r\n" % token if token else ""
        self.socket.sendall(("GET /admin/tail?%s HTTP/1.1\r\nHost: h\r\n%s\r\n" % (query, more)).encode())
        self.text = b""
        while b"\"matched\"" not in self.text and not self.text.startswith(b"HTTP/1.1 503"):
            self.read()

    def read(self):
        """False: it has ended."""
        piece = self.socket.recv(65_536)
        self.text += piece
        return bool(piece) and not self.text.endswith(b"\r\n0\r\n\r\n")

    def lines(self):
        """The whole lines so far: the stream has a chunk for each look."""
        found = [line for line in self.text.split(b"\r\n\r\n", 1)[1].split(b"\n") if line.startswith(b"{") and line.endswith(b"}")]
        return [json.loads(line) for line in found]

    def rows(self, count):
        """The lines about requests, once there are as many."""
        while sum("route" in line for line in self.lines()) < count:
            assert self.read(), self.text
        return [line for line in self.lines() if "route" in line]

    def close(self):
        self.socket.close()


class TailTest(unittest.TestCase):

    def watch(self, *given, **more):
        watcher = Watcher(*given, **more)
        self.addCleanup(watcher.close)
        return watcher

    def test_what_is_shown(self):
        with Server(config={"access_log": {"mode": "all", "user_key": KEY, "slow_ms": 3_600_000}}) as server:
            all_ = self.watch(server)
            refused = self.watch(server, "seconds=60&status=4xx")
            filters = self.watch(server, "seconds=60&route=" + urllib.parse.quote("POST /filter"))
            server.post("/plays", {"events": [{"user": "anna", "item": 1}]})
            server.post("/filter", {"user": "anna", "items": [1, 2]})
            server.post("/filter", {"user": "anna"})
            server.get("/users/anna")
            rows = all_.rows(4)
            self.assertEqual([(row["route"], row["status"], row.get("reason")) for row in rows],
                             [("POST /plays", 200, None), ("POST /filter", 200, None),
                              ("POST /filter", 400, "invalid_argument"), ("GET /users/{user}", 200, None)])
            self.assertEqual([row["status"] for row in refused.rows(1)], [400])
            self.assertEqual([row["status"] for row in filters.rows(2)], [200, 400])
            for watcher in (all_, refused, filters):
                self.assertNotIn(b"anna", watcher.text)
                watcher.close()
            server.terminate()
            log = [json.loads(line) for line in server.log_text().splitlines()]
            hashes = {line["user"] for line in log if "user" in line}  # the same as in the log
            self.assertEqual({row["user"] for row in rows if "user" in row}, hashes)
            self.assertEqual(len(hashes), 1)

    def test_as_it_is_described(self):
        with CheckedServer() as server:
            answer = server.get("/admin/tail?seconds=1")
            self.assertEqual(answer.status, 200, answer)
            self.assertEqual(answer.headers["content-type"], "application/x-ndjson")
            self.assertEqual([sorted(line) for line in answer.lines], [["lost", "matched", "ts"]] * len(answer.lines))
            self.assertEqual(server.get("/admin/tail?sample=2").error["field"], "/sample")
            self.assertEqual(server.request("HEAD", "/admin/tail").status, 200)
            self.assertEqual(server.get("/admin/tail?seconds=1", {"Accept-Encoding": "gzip"}).status, 200)

    def test_administrators_alone_and_each_look_is_in_the_audit(self):
        folder = tempfile.mkdtemp(prefix="seendb-tail-")
        self.addCleanup(shutil.rmtree, folder)
        tokens = os.path.join(folder, "tokens.json")
        with open(os.open(tokens, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            json.dump([{"name": role, "role": role, "sha256": hashlib.sha256((role + "-token").encode()).hexdigest()}
                       for role in ("read", "write", "admin")], file)
        audit = os.path.join(folder, "audit.log")
        with Server(config={"tokens_file": tokens, "audit": {"file": audit}, "access_log": {"user_key": KEY}}) as server:
            bearer = lambda role: {"Authorization": "Bearer %s-token" % role}
            self.assertEqual(server.get("/admin/tail").status, 401)
            for role in ("read", "write"):
                self.assertEqual(server.get("/admin/tail", bearer(role)).status, 403)
            watcher = self.watch(server, token="admin-token")
            with open(audit, encoding="ascii") as file:  # before anything is shown
                lines = [json.loads(line) for line in file]
            self.assertEqual([(line["event"], line["route"], line["token"]) for line in lines],
                             [("read", "GET /admin/tail", "admin")])
            self.assertEqual(server.get("/collections", bearer("read")).status, 200)
            self.assertEqual([(row["route"], row["token"]) for row in watcher.rows(1)], [("GET /collections", "read")])

    def test_too_many_watchers(self):
        with Server() as server:
            watchers = [self.watch(server) for _ in range(WATCHERS)]
            refused = server.get("/admin/tail")
            self.assertEqual((refused.status, refused.error["code"]), (503, "busy"))
            self.assertIn("retry-after", refused.headers)
            watchers.pop().close()  # it is noticed when there is something to tell
            eventually(lambda: server.get("/admin/tail?seconds=1").status == 200)

    def test_a_watcher_that_does_not_read_delays_nobody(self):
        with Server(config={"limits": {"read_bytes_per_s": 0}}) as server:  # it would be closed
            lazy = self.watch(server, "seconds=3600", receive_bytes=4_096)
            quick = self.watch(server, "seconds=3600&status=4xx")
            client = server.client()
            for i in range(6_000):
                self.assertEqual(client.request("GET", "/collections").status, 200)
            client.request("GET", "/nope")
            self.assertEqual([row["status"] for row in quick.rows(1)], [404])
            client.close()
            self.assertEqual(server.get("/admin/tail?seconds=1").status, 200)
            # It reads at last: each request was shown, or is lost and counted.
            matched = lost = 0
            while matched < 6_002:  # and the look of a second
                self.assertTrue(lazy.read(), lazy.text[-300:])
                sums = [line for line in lazy.lines() if "matched" in line]
                matched, lost = (sum(line[name] for line in sums) for name in ("matched", "lost"))
            rows = [line for line in lazy.lines() if "route" in line]
            self.assertEqual(len(rows) + lost, matched)

    def test_it_ends_with_the_server_and_with_the_watcher(self):
        with Server(config={"limits": {"shutdown_delay_ms": 0}}) as server:
            left = self.watch(server, "seconds=3600")
            left.close()
            watcher = self.watch(server, "seconds=3600")
            server.terminate()
            while watcher.read():
                pass
            self.assertTrue(watcher.text.endswith(b"\r\n0\r\n\r\n"), watcher.text[-300:])


if __name__ == "__main__":
    unittest.main()
