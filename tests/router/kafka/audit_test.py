"""The audit in a cluster on a real Kafka: the node that the caller reached writes the lines of a call, and
the node that has the user none."""

import json
import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
from cluster_nodes import ClusterNodes
from openapi_check import CheckedServer
from seendb_client import eventually, free_port, settled

USERS = ["u%d" % i for i in range(12)]


class AuditTest(ClusterNodes):

    def start(self, node):
        port = free_port()
        settings = self.settings("audited", node, port)
        path = os.path.join(self.folder, node + ".audit")
        settings["audit"] = {"file": path, "users": "clear"}
        server = CheckedServer(config=settings, start=False)
        self.addCleanup(server.close)
        server.start(port=port)
        return server, path

    def test_each_call_has_its_lines_at_the_node_that_was_asked(self):
        self.make("audited")
        (one, path_of_one), (two, path_of_two) = self.start("n1"), self.start("n2")
        self.wait_up(one, two)
        self.rebalance("audited")
        self.wait_serving(one, two)
        now_ms = int(time.time() * 1000)
        plays = [{"user": user, "item": "v1", "at": now_ms} for user in USERS]
        self.assertEqual(eventually(lambda: settled(one.post("/plays", {"events": plays}))).status, 200)

        def lines():
            with open(path_of_one, encoding="ascii") as file:
                return [json.loads(line) for line in file]
        expected = []
        for user in USERS:
            for method, path, event in (("GET", "/users/%s", "read"),
                                        ("GET", "/users/%s/export", "read"),
                                        ("DELETE", "/users/%s", "change")):
                answer = one.request(method, path % user)
                self.assertIn(answer.status, (200, 202, 503), answer)
                route = "%s %s" % (method, path % "{user}")
                expected.append((event, route, user))
                if event == "change":
                    expected.append(("answered", route, answer.status))
        eventually(lambda: len(lines()) >= len(expected))
        found = [(line["event"], line["route"],
                  line["status"] if line["event"] == "answered" else line["user"]) for line in lines()]
        self.assertEqual(sorted(map(str, found)), sorted(map(str, expected)))
        with open(path_of_two, encoding="ascii") as file:
            self.assertEqual(file.read(), "")
        proxied = one.get("/metrics").body.decode().split("\nseendb_cluster_proxied_total ")[1]
        self.assertGreater(int(proxied.split("\n")[0]), 0)  # the other one has some of them


if __name__ == "__main__":
    unittest.main()
