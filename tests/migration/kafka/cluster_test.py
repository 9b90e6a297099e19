"""A collection moves into a cluster of two nodes from a real Redis: whichever node is asked, the old store counts
for users who were not imported, and each replica knows who was."""

import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
import real_kafka
import real_redis
from cluster_nodes import ClusterNodes
from real_redis import Redis
from seendb_client import eventually
from tool_runner import OK, run

PARTITIONS, USERS, MEMBERS = 4, 24, 30
KEY = "watched:{user}"


class ClusterMigrationTest(ClusterNodes):

    def setUp(self):
        self.redis = Redis()
        self.addCleanup(self.redis.close)
        self.name = self.id().rsplit(".", 1)[-1].replace("_", "-")[:40]
        self.now_s = int(time.time())
        self.make(self.name)
        self.nodes = [self.node(self.name, "n%d" % i, zone="z%d" % i) for i in (1, 2)]
        for server in self.nodes:
            eventually(lambda: self.states(server) == {"n1": "up", "n2": "up"}, timeout=60)
        self.rebalance(self.name)
        self.wait_serving()

    def settings(self, name, node, port, /, **more):
        settings = super().settings(name, node, port, **more)
        settings["migration"] = {"default": {"redis": self.redis.url, "key": KEY,
                                             "budget_ms": 10_000}}
        return settings

    def wait_serving(self):
        def serving(server):
            shards = server.get("/cluster").json["shards"]
            states = [one["state"] for shard in shards for one in shard["replicas"]]
            return len(states) == 2 * PARTITIONS and set(states) == {"serving"}
        for server in self.nodes:
            eventually(lambda: serving(server), timeout=120)

    def state(self, server):
        return server.get("/admin/migration").json["collections"][0]

    def unseen(self, server, user, items):
        answer = server.post("/filter", {"user": user, "items": items})
        self.assertEqual(answer.status, 200, answer)
        self.assertFalse(answer.json["degraded"], answer)
        return answer.json["unseen"]

    def test_moves_in(self):
        users = ["u%d" % number for number in range(USERS)]
        items = ["old%d" % number for number in range(MEMBERS)]
        self.redis.run_all([("ZADD", "watched:" + user, self.now_s - 1_000 - i, item)
                            for user in users for i, item in enumerate(items)])
        # The old store counts at each node, and who was imported is known to each.
        for number, user in enumerate(users):
            self.assertEqual(self.unseen(self.nodes[number % 2], user, items + ["new"]), ["new"])
        for server in self.nodes:
            eventually(lambda: self.state(server)["imported_users"] == USERS, timeout=60)
        self.redis.run("FLUSHALL")
        for user in users:
            for server in self.nodes:
                self.assertEqual(self.unseen(server, user, items + ["new"]), ["new"])
        # What somebody else has imported is noted everywhere, too.
        noted = {"collection": "default", "key": KEY, "users": ["noted", 77]}
        answer = self.nodes[1].post("/admin/migration/imported", noted)
        self.assertEqual((answer.status, answer.json), (200, {"noted": 2}), answer)
        for server in self.nodes:
            eventually(lambda: self.state(server)["imported_users"] == USERS + 2, timeout=60)
        other = dict(noted, key="other:{user}")
        self.assertEqual(self.nodes[0].post("/admin/migration/imported", other).status, 409)
        shown = run("redis", "status", "--url", self.nodes[0].url)
        self.assertEqual(shown.code, OK, shown)
        self.assertIn(self.nodes[1].url, shown.out)


if __name__ == "__main__":
    real_kafka.require()
    real_redis.require()
    unittest.main()
