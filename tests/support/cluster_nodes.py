"""Servers that are nodes of a cluster on a real Kafka, for tests: one broker a class."""

import os
import tempfile
import unittest

from openapi_check import CheckedServer
from real_kafka import Broker
from seendb_client import free_port
from tool_runner import OK, run

SECRET = "a-secret-of-the-nodes"


class ClusterNodes(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.broker = Broker()
        cls.addClassCleanup(cls.broker.stop)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.secret_file = os.path.join(cls.folder, "secret")
        with open(cls.secret_file, "w", encoding="utf-8") as file:
            file.write(SECRET + "\n")

    def make(self, name, *more):
        done = run("cluster", "init", "--brokers", self.broker.address, "--name", name,
                   "--partitions", 4, "--replication-factor", 1, *more)
        self.assertEqual(done.code, OK, done)

    def rebalance(self, name):
        done = run("cluster", "rebalance", "--brokers", self.broker.address, "--name", name,
                   "--yes")
        self.assertEqual(done.code, OK, done)

    def settings(self, name, node, port, /, **more):
        given = {"brokers": self.broker.address, "name": name, "node": node,
                 "advertise": "http://127.0.0.1:%d" % port, "secret_file": self.secret_file}
        given.update(more)
        return {"cluster": given}

    def node(self, name, node, **more):
        """A server that is a node; it is closed when the test ends."""
        port = free_port()
        server = CheckedServer(config=self.settings(name, node, port, **more), start=False)
        self.addCleanup(server.close)
        server.start(port=port)
        server.fixed_port = port
        return server

    def states(self, server):
        answer = server.get("/cluster")
        self.assertEqual(answer.status, 200, answer)
        return {one["node"]: one["state"] for one in answer.json["nodes"]}
