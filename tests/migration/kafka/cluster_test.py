"""A collection moves into a cluster of two nodes from a real Redis: whichever node is asked, the old store counts
for users who were not imported; each replica knows who was; what the cluster took is written to Redis by the
acting primary alone, and by the next one where that is killed."""

import os
import signal
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
from seendb_client import eventually, settled, whole
from tool_runner import OK, run

PARTITIONS, USERS, MEMBERS, PLAYS = 4, 24, 30, 200
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
                                             "budget_ms": 10_000, "dual_write": True, "cap": 0}}
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

    def sum_of(self, count):
        return sum(self.state(server)[count] for server in self.nodes)

    def wait_written(self, *servers):
        for server in servers:
            eventually(lambda: self.state(server)["queue_bytes"] == 0, timeout=60)

    def unseen(self, server, user, items):
        question = {"user": user, "items": items}
        answer = eventually(lambda: whole(server.post("/filter", question)), timeout=60)
        return answer.json["unseen"]

    def play(self, server, user, item, at_s):
        """Until it is taken: one that is repeated changes nothing."""
        events = [{"user": user, "item": item, "at": at_s * 1000}]

        def taken():
            answer = server.post("/plays", {"events": events})
            self.assertIn(answer.status, (200, 202, 503), answer)
            return answer.status != 503
        eventually(taken, timeout=60)

    def scores(self, user):
        flat = self.redis.run("ZRANGE", "watched:" + user, 0, -1, "WITHSCORES")
        return {flat[i].decode(): int(flat[i + 1]) for i in range(0, len(flat), 2)}

    def expect_scores(self, expected, *servers):
        """Redis has these, by user, once the servers have written all; a play that was answered by 202 comes
        to their queues later."""
        for user, scores in expected.items():
            eventually(lambda: set(scores) <= set(self.scores(user)), timeout=60)
        self.wait_written(*servers)
        for user, scores in expected.items():
            self.assertEqual(self.scores(user), scores, user)

    def test_moves_in_and_both_stores_are_written(self):
        users = ["u%d" % number for number in range(USERS)]
        items = ["old%d" % number for number in range(MEMBERS)]
        self.redis.run_all([("ZADD", "watched:" + user, self.now_s - 1_000 - i, item)
                            for user in users for i, item in enumerate(items)])
        # The old store counts at each node, and who was imported is known to each.
        for server in self.nodes:
            self.assertEqual(server.post("/admin/migration/pause").status, 200)
        for number, user in enumerate(users):
            self.assertEqual(self.unseen(self.nodes[number % 2], user, items + ["new"]), ["new"])
        for server in self.nodes:
            self.assertEqual(server.post("/admin/migration/resume").status, 200)
        for server in self.nodes:
            eventually(lambda: self.state(server)["imported_users"] == USERS, timeout=60)
        self.redis.run("FLUSHALL")
        for user in users:
            for server in self.nodes:
                self.assertEqual(self.unseen(server, user, items + ["new"]), ["new"])
        self.wait_written(*self.nodes)
        # What somebody else has imported is noted everywhere, too.
        noted = {"collection": "default", "key": KEY, "users": ["noted", 77]}
        answer = eventually(lambda: settled(self.nodes[1].post("/admin/migration/imported", noted)))
        self.assertEqual((answer.status, answer.json), (200, {"noted": 2}), answer)
        for server in self.nodes:
            eventually(lambda: self.state(server)["imported_users"] == USERS + 2, timeout=60)
        other = dict(noted, key="other:{user}")
        self.assertEqual(self.nodes[0].post("/admin/migration/imported", other).status, 409)
        shown = run("redis", "status", "--url", self.nodes[0].url)
        self.assertEqual(shown.code, OK, shown)
        self.assertIn(self.nodes[1].url, shown.out)
        # Plays are written once, not by each replica; but for a moment two may lead, and both write.
        self.redis.run("FLUSHALL")
        played = {}
        written = [self.written_of_plays(users[:20], played)]
        while written[-1] >= 2 * PLAYS and len(written) < 3:
            written.append(self.written_of_plays(users[:20], played))
        self.assertGreaterEqual(written[-1], PLAYS, written)
        self.assertLess(written[-1], 2 * PLAYS, written)
        # An erased user leaves the old store.
        gone = eventually(lambda: settled(self.nodes[1].request("DELETE", "/users/" + users[3])))
        self.assertEqual(gone.status, 200, gone)
        eventually(lambda: self.redis.run("EXISTS", "watched:" + users[3]) == 0, timeout=60)
        self.wait_written(*self.nodes)
        self.assertEqual(self.redis.run("EXISTS", "watched:" + users[3]), 0)

    def written_of_plays(self, users, played):
        """Plays of these users, and how many of them the nodes have written. `played`: by user, what Redis
        has before and afterwards."""
        before = self.sum_of("written")
        for number in range(PLAYS):
            user = users[number % len(users)]
            item = "p%d" % sum(len(scores) for scores in played.values())
            self.play(self.nodes[number % 2], user, item, self.now_s)
            played.setdefault(user, {})[item] = self.now_s
        ancient = {"user": users[0], "item": "ancient", "at": 1_000_000_000_000}
        refused = eventually(lambda: settled(self.nodes[0].post("/plays", {"events": [ancient]})))
        self.assertEqual(refused.json["refused"], 1, refused)
        self.expect_scores(played, *self.nodes)  # what leaves a queue has been counted
        return self.sum_of("written") - before

    def test_a_killed_primary_loses_no_play_of_the_old_store(self):
        expected = {}

        def play(server, number):
            user, item = "u%d" % (number % 40), "p%d" % number
            self.play(server, user, item, self.now_s)
            expected.setdefault(user, {})[item] = self.now_s

        for number in range(100):
            play(self.nodes[number % 2], number)
        self.redis.process.send_signal(signal.SIGSTOP)  # what comes now waits
        try:
            for number in range(100, 300):
                play(self.nodes[number % 2], number)
            self.nodes[0].kill()
            eventually(lambda: self.states(self.nodes[1])["n1"] == "down", timeout=60)
            for number in range(300, 350):
                play(self.nodes[1], number)
        finally:
            self.redis.process.send_signal(signal.SIGCONT)
        self.expect_scores(expected, self.nodes[1])
        # The killed node comes back, with a queue of what the other one has written.
        self.nodes[0].start(port=self.nodes[0].fixed_port)
        self.wait_serving()
        for number in range(350, 400):
            play(self.nodes[number % 2], number)
        self.expect_scores(expected, *self.nodes)
        self.assertEqual(self.sum_of("affected_count"), 0)


if __name__ == "__main__":
    real_kafka.require()
    real_redis.require()
    unittest.main()
