"""Nodes on a real Kafka consume a topic of the business's own: each replica reads for itself, and all
answer alike, whatever is killed; what has another shape, or is keyed otherwise, does no harm."""

import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
import real_kafka
from cluster_nodes import ClusterNodes
from log_writer import partition_of
from seendb_client import Server, eventually, free_port, settled

PARTITIONS = 4
INCOMPATIBLE = 3
USERS = ["u%d" % i for i in range(24)]


class TopicsTest(ClusterNodes):

    def setUp(self):
        self.name = self.id().rsplit("test_", 1)[-1].replace("_", "-")
        self.topic = self.name + ".plays"

    def kafka(self, **topic):
        return {"start": "earliest", "refresh_ms": 200, "dead_letter_topic": self.name + ".dead",
                "topics": [{"topic": self.topic, **topic}]}

    def two_nodes(self, *init, **topic):
        self.make(self.name, *init)
        self.broker.topic(self.topic, PARTITIONS, "message.timestamp.type=LogAppendTime")
        self.broker.topic(self.name + ".dead", 1)
        nodes = [self.node(self.name, "n%d" % i, kafka=self.kafka(**topic)) for i in (1, 2)]
        eventually(lambda: self.states(nodes[0]) == {"n1": "up", "n2": "up"})
        self.rebalance(self.name)
        self.wait_serving(*nodes, count=2 * PARTITIONS)
        return nodes

    def play(self, item, users=None):
        real_kafka.send(self.broker, self.topic, [
            "%s\t%s" % (user, json.dumps({"user": user, "item": item}))
            for user in users or USERS])

    def expect(self, nodes, items, unseen, users=None):
        for server in nodes:
            for user in users or USERS:
                eventually(lambda: self.alone(server, user, items) == unseen, timeout=60)

    def test_replicas_consume_alike(self):
        nodes = self.two_nodes()
        self.play("a")
        self.expect(nodes, ["a", "b", "c"], ["b", "c"])
        nodes[1].kill()
        self.play("b")
        answer = eventually(lambda: settled(nodes[0].request("DELETE", "/users/u0")))
        self.assertEqual(answer.status, 200, answer)
        self.expect(nodes[:1], ["a", "b", "c"], ["c"], USERS[1:])
        nodes[0].kill()
        self.play("c")
        for server in nodes:
            server.start(port=server.fixed_port)
        self.wait_serving(*nodes, count=2 * PARTITIONS)
        self.expect(nodes, ["a", "b", "c", "d"], ["d"], USERS[1:])
        self.expect(nodes, ["c", "d"], ["d"])
        # Each message counts once at each replica.
        for server in nodes:
            counts = real_kafka.ingested(server)
            self.assertEqual(counts["plays_accepted"] + counts["plays_refused"], 3 * len(USERS))
            self.assertEqual(sum(row["applied_offset"] for row in
                                 real_kafka.partitions(server, self.topic).values()),
                             3 * len(USERS))
            eventually(lambda: server.get("/readyz").json.get("problems", []) == [])
        for server in nodes:
            self.assertEqual(server.terminate(), 0)

    def test_a_play_that_is_keyed_otherwise_is_a_dead_letter(self):
        nodes = self.two_nodes()
        wrong = (partition_of("u1", PARTITIONS) + 1) % PARTITIONS
        real_kafka.send(self.broker, self.topic,
                        ["k\t" + json.dumps({"user": "u1", "item": "a"})], partition=wrong)
        self.play("b")
        self.expect(nodes, ["a", "b"], ["a"])
        for server in nodes:
            rows = real_kafka.partitions(server, self.topic)
            self.assertEqual({number: row["misrouted"] for number, row in rows.items()},
                             {number: int(number == wrong) for number in range(PARTITIONS)})
            self.assertIn('seendb_ingest_misrouted_total{topic="%s",partition="%d"} 1'
                          % (self.topic, wrong), server.get("/metrics").body.decode())
        dead = eventually(lambda: real_kafka.read_all(self.broker, self.name + ".dead", "%h"))
        self.assertIn("misrouted", dead[0])

    def test_a_topic_of_another_shape_is_refused_by_name(self):
        self.make(self.name)
        server = Server(config=self.settings(self.name, "n1", free_port(), kafka=self.kafka()),
                        start=False)
        self.addCleanup(server.close)
        server.start()
        eventually(lambda: self.states(server) == {"n1": "up"})
        self.rebalance(self.name)
        self.broker.topic(self.topic, PARTITIONS - 1)
        text = "%s has 3 partitions, and the cluster 4" % self.topic
        eventually(lambda: text in str(server.get("/readyz").json.get("problems")), timeout=60)
        self.play("a")
        rows = real_kafka.partitions(server, self.topic)
        self.assertEqual({row["applied_offset"] for row in rows.values()}, {None})
        self.assertEqual({tuple(row["alarms"]) for row in rows.values()}, {("wrong_shape",)})
        server.kill()
        server.start(wait=False)
        self.assertEqual(server.process.wait(60), INCOMPATIBLE, server.log_text())
        self.assertIn(text, server.log_text())

    def test_first_plays_of_the_day_are_told_by_the_primary(self):
        firsts = self.name + ".firsts"
        self.broker.topic(firsts, 1)
        nodes = self.two_nodes("--default-policy", '{"first_of_day":true}',
                               first_of_day_topic=firsts)

        def told():
            return sorted(json.loads(line)["user"]
                          for line in real_kafka.read_all(self.broker, firsts, "%s"))

        def rows(server):
            return [line for line in server.get("/metrics").body.decode().splitlines()
                    if line.startswith("seendb_outbox_rows ")]

        self.play("a", USERS[:12])
        eventually(lambda: told() == sorted(USERS[:12]), timeout=60)
        # The other node, too, has deleted what was told.
        self.expect(nodes, ["a"], [], USERS[:12])
        for server in nodes:
            eventually(lambda: rows(server) == ["seendb_outbox_rows 0"], timeout=60)
        nodes[0].kill()
        self.play("b")
        eventually(lambda: set(told()) == set(USERS), timeout=60)
        eventually(lambda: rows(nodes[1]) == ["seendb_outbox_rows 0"], timeout=60)


if __name__ == "__main__":
    real_kafka.require()
    unittest.main()
