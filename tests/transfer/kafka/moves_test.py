"""A shard comes to a node from another node: the log has lost its beginning, and nothing but a copy
can tell what was played."""

import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
import real_kafka
from cluster_nodes import PARTITIONS, ClusterNodes
from seendb_client import eventually, whole

USERS = ["u%d" % i for i in range(24)]


class MovesTest(ClusterNodes):

    def play(self, server, item):
        events = [{"user": user, "item": item} for user in USERS]
        # Repeated until all are applied: what others do is seen a second later.
        eventually(lambda: server.request("POST", "/plays", {"events": events}).status == 200)

    def expect_seen(self, server, *items):
        for user in USERS:
            question = {"user": user, "items": [*items, "never"]}
            answer = eventually(lambda: whole(server.request("POST", "/filter", question)))
            self.assertEqual(answer.json["unseen"], ["never"], answer)

    def in_transit(self, server):
        return os.listdir(os.path.join(server.db, "tmp"))

    def test_a_copy_is_fetched_where_the_log_lost_its_beginning(self):
        self.make("moves")
        first = self.node("moves", "n1")
        eventually(lambda: self.states(first) == {"n1": "up"})
        self.rebalance("moves")
        self.wait_serving(first, count=PARTITIONS)
        self.play(first, "a")
        self.assertEqual(first.request("POST", "/admin/drain", {}).status, 200)
        self.play(first, "b")
        for partition in range(PARTITIONS):  # what this node has not read yet stays
            self.broker.truncate("moves.log", partition, self.next_offset(first, partition, "n1"))

        second = self.node("moves", "n2")
        eventually(lambda: self.states(first) == {"n1": "up", "n2": "up"})
        self.rebalance("moves")
        self.wait_serving(first, second, count=2 * PARTITIONS)
        fetched = {json.loads(line)["partition"] for line in second.log_text().splitlines()
                   if '"shard_fetched"' in line}
        self.assertEqual(fetched, set(range(PARTITIONS)))
        self.assertEqual((self.in_transit(first), self.in_transit(second)), ([], []))
        self.play(first, "c")

        first.kill()
        self.expect_seen(second, "a", "b", "c")
        second.kill()
        second.start(port=second.fixed_port)
        eventually(lambda: "serving" in self.replica_states(second).values(), timeout=60)
        eventually(lambda: all(state == "serving" for (_, node), state in
                               self.replica_states(second).items() if node == "n2"), timeout=60)
        self.expect_seen(second, "a", "b", "c")
        self.assertEqual(second.terminate(), 0)


if __name__ == "__main__":
    real_kafka.require()
    unittest.main()
