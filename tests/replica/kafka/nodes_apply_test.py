"""Nodes on a real Kafka hold the shards that the placement gives them and apply what is in the log:
replicas answer alike, after kill -9 and a restart too; a log that lost records is no log to go on
with."""

import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
import real_kafka
from cluster_nodes import PARTITIONS, ClusterNodes
from log_writer import ERASE, PLAYS, LogWriter, header, partition_of
from seendb_client import eventually

USERS = ["u%d" % i for i in range(24)]


class NodesApplyTest(ClusterNodes):

    def setUp(self):
        self.name = self.id().rsplit(".", 1)[-1].replace("_", "-")
        self.make(self.name)
        self.log = LogWriter(self.broker.address, self.name + ".log")
        self.addCleanup(self.log.close)

    def play(self, user, *items):
        body = {"events": [{"user": user, "item": item} for item in items]}
        self.log.send(partition_of(user, PARTITIONS), header(PLAYS), user.encode(),
                      json.dumps(body).encode())

    def unseen(self, server, user, items):
        answer = server.request("POST", "/filter", {"user": user, "items": items})
        return answer.json["unseen"] if answer.status == 200 else answer

    def expect(self, servers, user, items, unseen):
        for server in servers:
            eventually(lambda: self.unseen(server, user, items) == unseen)

    def test_replicas_answer_alike_whatever_is_killed(self):
        nodes = [self.node(self.name, "n%d" % i) for i in (1, 2)]
        eventually(lambda: self.states(nodes[0]) == {"n1": "up", "n2": "up"})
        self.rebalance(self.name)
        self.wait_serving(*nodes)
        for server in nodes:
            self.assertEqual(server.get("/readyz").status, 200)
        for user in USERS:
            self.play(user, "a-" + user, "b")
        self.log.flush()
        for user in USERS:
            self.expect(nodes, user, ["a-" + user, "b", "c"], ["c"])

        nodes[1].kill()
        for user in USERS:
            self.play(user, "c")
        self.log.write(partition_of("u0", PARTITIONS), header(ERASE), b"u0")
        self.expect(nodes[:1], "u0", ["a-u0", "b", "c"], ["a-u0", "b", "c"])
        nodes[0].kill()
        for server in nodes:
            server.start(port=server.fixed_port)
        self.wait_serving(*nodes)
        for user in USERS[1:]:
            self.expect(nodes, user, ["a-" + user, "b", "c", "d"], ["d"])
        self.expect(nodes, "u0", ["a-u0", "b", "c"], ["a-u0", "b", "c"])
        # Each message counts once.
        for server in nodes:
            self.assertEqual(real_kafka.ingested(server)["plays_accepted"], 3 * len(USERS))
            self.assertEqual(server.terminate(), 0)

    def test_what_nodes_append_is_compressed(self):
        server = self.node(self.name, "n1")
        eventually(lambda: self.states(server) == {"n1": "up"})
        self.rebalance(self.name)
        self.wait_serving(server)
        events = [{"user": "u1", "item": "an-item-%d" % i} for i in range(500)]
        eventually(lambda: server.request("POST", "/plays", {"events": events}).status == 200)
        folder = "%s.log-%d" % (self.name, partition_of("u1", PARTITIONS))
        told = self.broker.run("kafka.tools.DumpLogSegments", "--files", os.path.join(
            self.broker.folder, "log", folder, "0" * 20 + ".log"))
        self.assertIn("compresscodec: lz4", told.lower())

    def test_without_shards_nobody_can_tell(self):
        server = self.node(self.name, "n1")
        eventually(lambda: self.states(server) == {"n1": "up"})
        question = {"user": "u", "items": ["i"]}
        # A node looks at the others each second.
        eventually(lambda: server.request("POST", "/filter", question).json.get("missing") ==
                   ["partition"])
        answer = server.request("POST", "/filter", dict(question, on_error="fail"))
        self.assertEqual(answer.status, 503, answer)
        play = {"events": [{"user": "u", "item": "i"}]}
        self.assertEqual(server.request("POST", "/plays", play).status, 503)
        self.rebalance(self.name)
        self.wait_serving(server)
        eventually(lambda: server.request("POST", "/plays", play).status == 200)
        self.assertEqual(self.unseen(server, "u", ["i"]), [])

    def test_reads_go_on_without_kafka(self):
        server = self.node(self.name, "n1")
        eventually(lambda: self.states(server) == {"n1": "up"})
        self.rebalance(self.name)
        self.wait_serving(server)
        self.wait_applied(server)
        self.play("u1", "a")
        self.log.flush()
        self.expect([server], "u1", ["a", "b"], ["b"])
        self.broker.kill()
        try:
            eventually(lambda: set(self.replica_states(server).values()) == {"behind"}, timeout=30)
            self.assertEqual(self.unseen(server, "u1", ["a", "b"]), ["b"])
            server.kill()
            server.start(port=server.fixed_port)
            eventually(lambda: set(self.replica_states(server).values()) == {"behind"}, timeout=60)
            self.expect([server], "u1", ["a", "b"], ["b"])
        finally:
            self.broker.start()
        self.wait_serving(server)
        self.play("u1", "b")
        self.log.flush()
        self.expect([server], "u1", ["a", "b"], [])

    def test_a_gap_in_the_log_is_not_read_over(self):
        server = self.node(self.name, "n1")
        eventually(lambda: self.states(server) == {"n1": "up"})
        self.rebalance(self.name)
        self.wait_serving(server)
        lost = partition_of("u1", PARTITIONS)
        self.play("u1", "a")
        self.log.flush()
        self.expect([server], "u1", ["a", "b"], ["b"])
        server.kill()
        for _ in range(50):
            self.play("u1", "b")
        self.log.flush()
        self.broker.truncate(self.name + ".log", lost, -1)
        self.play("u1", "c")
        self.log.flush()
        server.start(port=server.fixed_port)
        eventually(lambda: "may hold an erasure" in server.log_text(), timeout=30)
        states = self.replica_states(server)
        eventually(lambda: list(self.replica_states(server).values()).count("serving") == 3, timeout=30)
        self.assertNotEqual(self.replica_states(server)[lost, "n1"], "serving", states)
        self.assertEqual(self.unseen(server, "u1", ["a", "c"]), ["c"])


    def test_a_replica_that_was_away_for_too_long_takes_a_copy(self):
        nodes = [self.node(self.name, "n%d" % i) for i in (1, 2)]
        eventually(lambda: self.states(nodes[0]) == {"n1": "up", "n2": "up"})
        self.rebalance(self.name)
        self.wait_serving(*nodes)
        lost = partition_of("u1", PARTITIONS)
        self.play("u1", "a")
        self.log.flush()
        for server in nodes:
            eventually(lambda: self.alone(server, "u1", ["a", "b"]) == ["b"])
        nodes[1].kill()
        began = self.next_offset(nodes[0], lost, "n1")
        for _ in range(50):
            self.play("u1", "b")
        self.log.flush()
        self.expect(nodes[:1], "u1", ["a", "b", "c"], ["c"])

        def applied():  # all of these; what the living node has not read yet stays in the log
            offset = self.next_offset(nodes[0], lost, "n1")
            return offset if offset >= began + 50 else None
        self.broker.truncate(self.name + ".log", lost, eventually(applied))
        self.play("u1", "c")
        self.log.flush()
        nodes[1].start(port=nodes[1].fixed_port)
        self.wait_serving(*nodes)
        self.assertEqual(self.alone(nodes[1], "u1", ["a", "b", "c", "d"]), ["d"])
        self.assertEqual(nodes[1].log_text().count('"shard_replaced"'), 1)
        folders = os.listdir(nodes[1].db)
        self.assertEqual([name for name in folders if name.endswith(".replaced")], [], folders)
        eventually(lambda: nodes[1].get("/readyz").json.get("problems", []) == [])
        self.assertEqual(nodes[1].terminate(), 0)

    def test_a_log_that_was_made_anew_is_not_read_on(self):
        server = self.node(self.name, "n1")
        eventually(lambda: self.states(server) == {"n1": "up"})
        self.rebalance(self.name)
        self.wait_serving(server)
        self.wait_applied(server)
        for item in "abcdefgh":
            self.play("u1", item)
        self.log.flush()
        self.expect([server], "u1", ["a", "h", "i"], ["i"])
        server.kill()
        topic = self.name + ".log"
        self.broker.delete_topic(topic)
        eventually(lambda: topic not in real_kafka.topics_of(self.broker), timeout=30)
        self.broker.topic(topic, PARTITIONS)
        server.start(port=server.fixed_port)
        eventually(lambda: "or was made anew" in server.log_text(), timeout=30)
        eventually(lambda: set(self.replica_states(server).values()) == {"behind"}, timeout=30)
        for number in range(200):
            self.play("u1", "new%d" % number)
        self.log.flush()
        eventually(lambda: "is not the one that was applied" in server.log_text(), timeout=30)
        mine = (partition_of("u1", PARTITIONS), "n1")
        eventually(lambda: self.replica_states(server)[mine] == "behind", timeout=30)
        self.assertEqual(self.unseen(server, "u1", ["a", "h", "new199"]), ["new199"])


if __name__ == "__main__":
    real_kafka.require()
    unittest.main()
