"""Three nodes with two replicas of each partition, whose network is cut and whose processes stand still
while clients write and read: nothing acknowledged is lost, reads go on, and in the end each replica, asked
alone, has the same. This runs what takes seconds; cuts_test.py the rest."""

import concurrent.futures
import os
import random
import signal
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
import real_kafka
from cluster_load import UNSETTLED_S, ClusterLoad
from cluster_nodes import PARTITIONS, ClusterNodes
from fresh_seed import seed_of
from log_writer import partition_of
from real_kafka import Broker
from seendb_client import eventually, whole
from wire import BACK, TO, Wire

SAMPLE = ("FaultsTest.test_a_node_stands_still", "FaultsTest.test_a_node_is_cut_from_kafka")
CUT_S = 6


class FaultsTest(ClusterNodes):

    @classmethod
    def make_broker(cls):
        cls.kafka = Wire()
        cls.addClassCleanup(cls.kafka.close)
        broker = Broker(advertised=cls.kafka.port)
        cls.kafka.target_port = int(broker.address.rsplit(":", 1)[1])
        return broker

    def setUp(self):
        self.seed = seed_of(type(self).__name__)
        print("seed", self.seed)
        self.addCleanup(self.kafka.heal)
        self.name = self.id().rsplit(".", 1)[-1].replace("_", "-")[:40]
        self.make(self.name)
        self.wires, nodes = [], []
        for i in (1, 2, 3):
            wire = Wire()
            self.addCleanup(wire.close)
            server = self.node(self.name, "n%d" % i, zone="z%d" % i,
                               advertise="http://127.0.0.1:%d" % wire.port,
                               brokers="127.0.0.1:%d" % self.kafka.port)
            wire.target_port = server.fixed_port
            self.wires.append(wire)
            nodes.append(server)
        self.nodes = self.place(self.name, nodes)
        self.load = ClusterLoad(self.nodes, self.seed)

    # ---- What the cuts are ----

    def cut_in(self, ways=(TO, BACK)):
        """Nobody reaches n1; it reaches the others."""
        self.wires[0].cut(ways=ways)

    def cut_out(self, ways=(TO, BACK)):
        """n1 reaches nobody; the others reach it."""
        for wire in self.wires[1:]:
            wire.cut(pids=[self.nodes[0].process.pid], ways=ways)

    def heal(self):
        for wire in self.wires:
            wire.heal()
        self.kafka.heal()

    def holders(self, partition):
        """Of a partition, the primary first."""
        shard = self.nodes[0].get("/cluster").json["shards"][partition]
        return [one["node"] for one in shard["replicas"]]

    def user_of(self, wanted):
        """A user of a partition whose holders are such."""
        return next(user for user in ("u%d" % i for i in range(1000))
                    if wanted(self.holders(partition_of(user, PARTITIONS))))

    def play(self, server, user, item):
        return server.post("/plays", {"events": [{"user": user, "item": item}]})

    def ask(self, server, user, items, position="", **more):
        return server.post("/filter", {"user": user, "items": items, **more},
                           {"SeenDB-Position": position} if position else {})

    def ask_whole(self, *question, **more):
        """As ask, again where a peer, or the log, is too slow for an answer that lacks nothing."""
        return eventually(lambda: whole(self.ask(*question, **more)))

    @staticmethod
    def expect_less(found, limit, what):
        """Of times, which a busy machine may lengthen: tools/lint/summary.py knows the text."""
        if found >= limit:
            raise AssertionError("not answered in full: %s: %g, not less than %g" % (what, found, limit))

    def come_back(self):
        """The faults are over, and every node serves again."""
        self.heal()
        self.wait_up(*self.nodes)
        self.wait_serving(*self.nodes)
        self.load.settle()

    def end(self):
        """All is well again: what clients held against the answers, and each replica asked alone."""
        self.come_back()
        time.sleep(UNSETTLED_S)
        self.load.log_is_cut = False
        self.load.__exit__()
        print(self.load)
        self.load.check("seed %d" % self.seed)
        self.assertGreater(self.load.written, 50)
        self.expect_alike(self.nodes, self.load.users)

    def begin(self):
        self.load.__enter__()
        self.addCleanup(self.load.ended.set)
        time.sleep(1)

    # ---- What happens ----

    def test_a_node_stands_still(self):
        user = self.user_of(lambda nodes: nodes[0] == "n1")
        eventually(lambda: self.taken(self.nodes[0], user, "before"))
        self.begin()
        self.load.leave(self.nodes[:1])
        stopped = self.nodes[0]
        stopped.process.send_signal(signal.SIGSTOP)
        self.addCleanup(stopped.process.send_signal, signal.SIGCONT)
        began = time.monotonic()
        # Another node leads by and by.
        eventually(lambda: self.play(self.nodes[1], user, "meanwhile").status == 200, timeout=20)
        time.sleep(max(0.0, CUT_S - (time.monotonic() - began)))
        # Asked while it stands still: it is the first thing that it answers.
        pool = concurrent.futures.ThreadPoolExecutor(1)
        self.addCleanup(pool.shutdown, wait=False)
        asking = pool.submit(self.ask_whole, stopped, user, ["before", "meanwhile", "never"])
        time.sleep(0.3)
        slow, count = self.load.slow(began + 4, time.monotonic(), 1.0)
        print("of %d reads from the 4th second on, %.1f%% took more than a second" %
              (count, 100 * slow))
        stopped.process.send_signal(signal.SIGCONT)
        self.assertEqual(asking.result().json["unseen"], ["never"])
        self.assertIn("stood_still", stopped.log_text())
        if count > 20:
            self.expect_less(slow, 0.1, "share of slow reads")  # nobody waits for it any more
        self.end()

    def test_a_node_is_cut_from_kafka(self):
        """Its clients are served: it asks others, which lead what it led."""
        self.begin()
        self.load.leave(self.nodes[:1])
        self.kafka.cut(pids=[self.nodes[0].process.pid])
        own = {place for place in self.replica_states(self.nodes[1]) if place[1] == "n1"}
        eventually(lambda: all(self.replica_states(self.nodes[1])[place] == "behind"
                               for place in own))
        user = self.user_of(lambda nodes: nodes[0] == "n1")
        done = eventually(lambda: self.taken(self.nodes[0], user, "meanwhile"))
        answer = self.ask_whole(self.nodes[0], user, ["meanwhile", "never"],
                                done.headers["seendb-position"])
        self.assertEqual(answer.json["unseen"], ["never"])
        self.end()

    def taken(self, server, user, item):
        answer = self.play(server, user, item)
        return answer if answer.status == 200 else None

    def test_a_node_is_cut_from_its_peers(self):
        """It is right about the shards that it has; the client with the minority misses the others."""
        self.begin()
        self.cut(self.cut_in, self.cut_out)
        eventually(lambda: self.states(self.nodes[1])["n1"] == "down")
        eventually(lambda: self.states(self.nodes[0]) == {"n1": "up", "n2": "down", "n3": "down"})
        own = self.user_of(lambda nodes: "n1" in nodes)
        position = eventually(lambda: self.taken(self.nodes[0], own, "there")).headers[
            "seendb-position"]
        for server in self.nodes:  # through the log it is everywhere
            answer = self.ask_whole(server, own, ["there", "never"], position)
            self.assertEqual(answer.json["unseen"], ["never"])
        others = self.user_of(lambda nodes: "n1" not in nodes)
        answer = self.ask(self.nodes[0], others, ["v"])
        self.assertEqual((answer.status, answer.json["missing"]), (200, ["partition"]), answer)
        self.assertEqual(self.ask(self.nodes[0], others, ["v"], on_error="fail").status, 503)
        self.assertEqual(self.play(self.nodes[0], others, "v").status, 503)
        time.sleep(CUT_S)
        self.end()

    def cut(self, *ways):
        self.load.leave(self.nodes[:1])
        for way in ways:
            way()

    def one_way(self, *ways):
        self.begin()
        self.cut(*ways)
        user = self.user_of(lambda nodes: nodes[0] == "n1")
        time.sleep(CUT_S)
        position = eventually(lambda: self.taken(self.nodes[1], user, "elsewhere")).headers[
            "seendb-position"]
        for server in self.nodes:
            answer = self.ask_whole(server, user, ["elsewhere", "never"], position)
            self.assertEqual(answer.json["unseen"], ["never"], answer)
        self.end()

    def test_nobody_reaches_a_node(self):
        self.one_way(self.cut_in)

    def test_a_node_reaches_nobody(self):
        self.one_way(self.cut_out)

    def test_what_a_node_answers_gets_lost(self):
        self.one_way(lambda: self.cut_in((BACK,)))

    def test_what_a_node_asks_gets_lost(self):
        self.one_way(lambda: self.cut_out((TO,)))

    def test_all_are_cut_from_kafka(self):
        """Reads go on, writes are refused at once; then all is as before."""
        self.begin()
        self.load.unsettle()
        self.load.log_is_cut = True
        self.kafka.cut()
        user = self.user_of(lambda nodes: True)
        eventually(lambda: self.play(self.nodes[0], user, "v").status == 503)
        time.sleep(CUT_S)
        began = time.monotonic()
        self.assertEqual(self.play(self.nodes[0], user, "v").status, 503)
        self.expect_less(time.monotonic() - began, 2, "seconds of a refusal")
        self.assertEqual(self.ask(self.nodes[0], user, ["w"]).json["unseen"], ["w"])
        self.heal()
        eventually(lambda: self.taken(self.nodes[0], user, "v"))
        self.end()

    def test_what_kafka_answers_a_node_gets_lost(self):
        """What it appends gets into the log, and it is not told."""
        self.begin()
        self.load.leave(self.nodes[:1])
        self.kafka.cut(pids=[self.nodes[0].process.pid], ways=(BACK,))
        time.sleep(CUT_S)
        user = self.user_of(lambda nodes: nodes[0] == "n1")
        eventually(lambda: self.taken(self.nodes[0], user, "v"))
        self.end()


if __name__ == "__main__":
    real_kafka.require()
    unittest.main(defaultTest=SAMPLE)
