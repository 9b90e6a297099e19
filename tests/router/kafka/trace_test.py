"""The trace of a request in a cluster on a real Kafka, whose nodes prove who they are: the lines of the log about
a request at the node that was asked, and at the nodes that it asked, have one trace, and name each other."""

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
import real_kafka
from seendb_client import eventually, free_port, settled, whole

USERS = ["u%d" % i for i in range(12)]
PARENT = "00f067aa0ba902b7"


class TraceTest(ClusterNodes):

    def start(self, node):
        port = free_port()
        settings = self.settings("traced", node, port)
        settings["access_log"] = {"mode": "all", "slow_ms": 3_600_000, "lines_per_s": 100_000}
        server = CheckedServer(config=settings, start=False)
        self.addCleanup(server.close)
        server.start(port=port)
        return server

    def test_lines_of_two_nodes_have_one_trace(self):
        self.make("traced", "--replicas", 1)
        nodes = [self.start("n1"), self.start("n2")]
        self.wait_up(*nodes)
        self.rebalance("traced")
        self.wait_serving(*nodes)
        numbers = iter(range(1, 10_000))

        def traced(node, path, body):
            trace = {"traceparent": "00-%032x-%s-01" % (next(numbers), PARENT), "tracestate": "a=1"}
            return node.post(path, body, trace)
        now_ms = int(time.time() * 1000)
        for node in nodes:
            plays = [{"user": user, "item": "v1", "at": now_ms} for user in USERS]
            self.assertEqual(eventually(lambda: settled(traced(node, "/plays", {"events": plays}))).status, 200)
            for user in USERS:
                question = {"user": user, "items": ["v1", "v2"]}
                answer = eventually(lambda: whole(traced(node, "/filter", question)))
                self.assertEqual(answer.json["unseen"], ["v2"], answer)
            answer = eventually(lambda: settled(node.post("/plays", {"events": plays})))
            self.assertEqual(answer.status, 200)  # without a trace
        for node in nodes:
            node.terminate()
        lines = [json.loads(line) for node in nodes for line in node.log_text().splitlines()]
        lines = [line for line in lines if line["event"].endswith("request")]
        asked = {line["span_id"]: line for line in lines if line.get("parent_id") == PARENT}
        caused = [line for line in lines if "trace_id" in line and line["parent_id"] != PARENT]
        self.assertEqual(len(asked), next(numbers) - 1)
        for line in caused:
            self.assertEqual(asked[line["parent_id"]]["trace_id"], line["trace_id"])
        routes = {line["route"] for line in caused}
        self.assertEqual(routes, {"POST /filter", "POST /internal/append"})
        without = [line for line in lines if line["route"] == "POST /internal/append" and "trace_id" not in line]
        self.assertGreater(len(without), 0)  # none was begun


if __name__ == "__main__":
    real_kafka.require()
    unittest.main()
