"""Nodes that lack a shard wait for whoever may have it: what a database brought along, and no log
has, is never answered for by a replica that began empty, unless a person said so."""

import os
import shutil
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
import real_kafka
from cluster_nodes import PARTITIONS, ClusterNodes
from log_writer import partition_of
from seendb_client import Server, eventually
from tool_runner import INCOMPATIBLE, OK, USAGE, run

USERS = ["u%d" % i for i in range(24)]


class EmptyStartTest(ClusterNodes):

    def database(self):
        """A server by itself recorded plays; its folder."""
        with Server(config={"engine": {"shards": PARTITIONS}}) as server:
            events = [{"user": user, "item": "past"} for user in USERS]
            self.assertEqual(server.post("/plays", {"events": events}).status, 200)
            self.assertEqual(server.terminate(), 0)
            folder = os.path.join(self.folder, "past")
            shutil.copytree(server.db, folder)
        return folder

    def holds(self, server, node):
        """The partitions of which the node has a replica, as it says itself."""
        return {partition for (partition, at), state in self.replica_states(server).items()
                if at == node and state not in ("unreachable", "fetching")}

    def expect_past(self, server):
        """Nobody's past is called unseen by an answer that lacks nothing."""
        for user in USERS:
            answer = server.request("POST", "/filter", {"user": user, "items": ["past"]})
            if answer.status == 200 and not answer.json["degraded"]:
                self.assertEqual(answer.json["unseen"], [], user)

    def expect_loss_said(self, server, user):
        answer = server.request("POST", "/filter", {"user": user, "items": ["z"]}).json
        self.assertEqual((answer["degraded"], answer["missing"]), (True, ["log"]), answer)
        # The engine's problems are looked at each second.
        eventually(lambda: "all copies of the partition were lost" in " ".join(
            server.get("/readyz").json.get("problems", [])), timeout=30)

    def begin_empty(self, server, partition, *more):
        return run("cluster", "begin-empty", "--url", server.url, "--partition", partition, *more)

    def test_a_past_is_never_replaced_by_an_empty_shard(self):
        db = self.database()
        done = run("cluster", "init", "--brokers", self.broker.address, "--name", "past",
                   "--from", db, "--replication-factor", 1)
        self.assertEqual(done.code, OK, done)
        first, second = self.node("past", "n1", db=db), self.node("past", "n2")
        eventually(lambda: self.states(second) == {"n1": "up", "n2": "up"})
        self.rebalance("past")
        eventually(lambda: self.expect_past(second) or len(self.holds(second, "n2")) == PARTITIONS,
                   timeout=90)
        self.wait_serving(first, second, count=2 * PARTITIONS)
        for user in USERS:
            self.assertEqual(self.alone(second, user, ["past", "new"]), ["new"])
        refused = self.begin_empty(first, 0, "--confirm", 0)
        self.assertEqual(refused.code, INCOMPATIBLE, refused)

        # The one that has it is away, and the other one has lost its disk.
        self.assertEqual(first.terminate(), 0)
        second.kill()
        shutil.rmtree(second.db)
        second.start(port=second.fixed_port)
        eventually(lambda: "n1 does not answer" in " ".join(
            second.get("/readyz").json.get("problems", [])), timeout=30)
        self.expect_past(second)
        self.assertEqual(self.holds(second, "n2"), set())

        # A person says that one partition is lost: that one, and no other.
        lost = partition_of(USERS[0], PARTITIONS)
        self.assertEqual(self.begin_empty(second, lost).code, USAGE)
        wrong = self.begin_empty(second, PARTITIONS, "--confirm", PARTITIONS)
        self.assertEqual(wrong.code, USAGE, wrong)
        asked = second.post("/admin/shards/%d/begin-empty" % lost, b"")
        self.assertEqual((asked.status, asked.json["error"]["field"]), (409, "/confirm"))
        self.assertEqual(self.begin_empty(second, lost, "--confirm", lost).code, OK)
        eventually(lambda: self.replica_states(second)[lost, "n2"] == "serving", timeout=60)
        self.assertEqual(self.holds(second, "n2"), {lost})
        self.assertEqual(self.alone(second, USERS[0], ["past"]), ["past"])
        self.expect_past(second)
        self.expect_loss_said(second, USERS[0])

        # It is back: what was not given up is whole.
        first.start(port=first.fixed_port)
        self.wait_serving(first, second, count=2 * PARTITIONS)
        for user in USERS:
            if partition_of(user, PARTITIONS) != lost:
                self.assertEqual(self.alone(second, user, ["past"]), [], user)

    def test_a_new_clusters_shards_begin_once_all_have_said_that_they_have_none(self):
        self.make("fresh", "--replicas", 2)
        nodes = [self.node("fresh", "n%d" % i) for i in (1, 2)]
        eventually(lambda: self.states(nodes[0]) == {"n1": "up", "n2": "up"})
        nodes[1].kill()
        eventually(lambda: self.states(nodes[0]) == {"n1": "up", "n2": "down"}, timeout=30)
        self.rebalance("fresh")
        eventually(lambda: "n2 does not answer" in " ".join(
            nodes[0].get("/readyz").json.get("problems", [])), timeout=30)
        self.assertEqual(self.holds(nodes[0], "n1"), set())
        nodes[1].start(port=nodes[1].fixed_port)
        self.wait_serving(*nodes, count=2 * PARTITIONS)

    def test_a_partition_whose_log_lost_its_beginning_begins_where_the_log_does(self):
        self.make("trimmed", "--replicas", 1)
        server = self.node("trimmed", "n1")
        eventually(lambda: self.states(server) == {"n1": "up"})
        self.rebalance("trimmed")
        self.wait_serving(server, count=PARTITIONS)
        lost = partition_of("u1", PARTITIONS)
        play = {"events": [{"user": "u1", "item": "a"}]}
        eventually(lambda: server.request("POST", "/plays", play).status == 200)
        server.kill()
        shutil.rmtree(server.db)
        self.broker.truncate("trimmed.log", lost, -1)
        server.start(port=server.fixed_port)
        eventually(lambda: len(self.holds(server, "n1")) == PARTITIONS - 1, timeout=60)
        eventually(lambda: "the log begins at offset" in " ".join(
            server.get("/readyz").json.get("problems", [])), timeout=30)
        self.assertEqual(self.begin_empty(server, lost, "--confirm", lost).code, OK)
        self.wait_serving(server, count=PARTITIONS)
        eventually(lambda: server.request("POST", "/plays", play).status == 200)
        self.assertEqual(self.alone(server, "u1", ["a", "b"]), ["b"])
        self.expect_loss_said(server, "u1")


if __name__ == "__main__":
    real_kafka.require()
    unittest.main()
