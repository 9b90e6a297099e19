"""Faults drawn at random, one after the other, in a cluster of three nodes with two replicas of each
partition, while clients at all nodes hold the promises against every answer (cluster_load.py). In half of
the seeds the cluster is made from a database, whose only holder is killed while the others copy it.

    SEENDB_SECONDS   for how long faults begin (40)
    SEENDB_FAULTS    which, by name, with commas between (all of FAULTS)
"""

import os
import random
import shutil
import signal
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from faults_test import FaultsTest  # noqa: E402
import real_kafka  # noqa: E402
from clock_shift import ClockShift  # noqa: E402
from cluster_load import UNSETTLED_S, User  # noqa: E402
from cluster_nodes import PARTITIONS  # noqa: E402
from seendb_client import Server, eventually, settled  # noqa: E402
from tool_runner import OK, run  # noqa: E402
from wire import BACK, TO  # noqa: E402

SECONDS = float(os.environ.get("SEENDB_SECONDS", "40"))
WAYS = ((TO, BACK), (TO, BACK), (TO,), (BACK,))
PAST = tuple("i%d" % i for i in range(3))
USERS = ["w0-%d-0" % i for i in range(10)]  # the names that the first writer uses (cluster_load.py)


class CampaignTest(FaultsTest):

    def make(self, name):
        """Of the cluster; from a database in half of the cases."""
        self.random, self.made = random.Random(self.seed), []
        self.from_database = self.random.random() < 0.5
        self.db = self.database() if self.from_database else None
        if not self.from_database:
            return super().make(name)
        done = run("cluster", "init", "--brokers", self.broker.address, "--name", name,
                   "--from", self.db, "--replicas", 2, "--replication-factor", 1)
        return self.assertEqual(done.code, OK, done)

    def database(self):
        with Server(config={"engine": {"shards": PARTITIONS}}) as server:
            events = [{"user": user, "item": item} for user in USERS for item in PAST]
            self.assertEqual(server.post("/plays", {"events": events}).status, 200)
            self.assertEqual(server.terminate(), 0)
            folder = os.path.join(self.folder, self.name)
            shutil.copytree(server.db, folder)
        return folder

    def node(self, name, node, **more):
        clock = ClockShift(self.folder, "clock-%s-%s" % (name, node))
        server = super().node(name, node, env=clock.env, db=self.db if node == "n1" else None,
                              **more)
        server.clock = clock
        return server

    def place(self, name, nodes):
        """The only holder of a past is killed while the others copy it: they begin nothing empty."""
        if not self.from_database:
            return super().place(name, nodes)
        self.wait_up(*nodes)
        self.rebalance(name)
        time.sleep(self.random.uniform(0, 1))
        nodes[0].kill()
        until = time.monotonic() + 6
        while time.monotonic() < until:
            self.expect_past(nodes[1:])
            time.sleep(0.1)
        nodes[0].start(port=nodes[0].fixed_port)
        self.wait_serving(*nodes, count=2 * PARTITIONS)
        return nodes

    def expect_past(self, nodes):
        for server in nodes:
            for user in USERS:
                answer = self.ask(server, user, PAST)
                if answer.status == 200 and not answer.json["degraded"]:
                    self.assertEqual(answer.json["unseen"], [], (user, answer))

    # ---- Faults. Each begins, lasts, and is over; what follows it is in `campaign` ----

    def lasts(self, least=0.5, most=8.0):
        time.sleep(self.random.uniform(least, most))

    def begin_again(self, servers):
        for server in servers:
            server.start(port=server.fixed_port, wait=False)
        for server in servers:
            server.wait_ready()

    def kill(self):
        self.load.leave([self.one])
        self.one.kill()
        self.lasts()
        self.begin_again([self.one])

    def term(self):
        self.load.leave([self.one])
        self.assertEqual(self.one.terminate(), 0)
        self.lasts()
        self.begin_again([self.one])

    def stop(self):
        self.load.leave([self.one])
        self.one.process.send_signal(signal.SIGSTOP)
        self.lasts()
        self.one.process.send_signal(signal.SIGCONT)

    def wipe(self):
        """Its disk is lost."""
        self.load.leave([self.one])
        self.one.kill()
        shutil.rmtree(self.one.db)
        self.lasts(0.0, 3.0)
        self.begin_again([self.one])

    def kill_two(self):
        self.kill_some(2)

    def kill_all(self):
        self.kill_some(3)

    def kill_some(self, count):
        """Nobody can answer for some partitions: clients come back when the nodes have."""
        self.load.leave(self.nodes)
        victims = self.random.sample(self.nodes, count)
        for server in victims:
            server.kill()
        self.lasts(0.0, 3.0)
        self.begin_again(victims)

    def cut_log(self):
        self.load.leave([self.one])
        self.kafka.cut(pids=[self.one.process.pid], ways=self.random.choice(WAYS))
        self.lasts(3.0)

    def cut_peers(self):
        """Others do not reach it, it does not reach others, or both."""
        self.load.leave([self.one])
        which = self.random.choice(("in", "out", "both"))
        ways = self.random.choice(WAYS)
        for wire, server in zip(self.wires, self.nodes):
            if server is self.one and which != "out":
                wire.cut(ways=ways)
            elif server is not self.one and which != "in":
                wire.cut(pids=[self.one.process.pid], ways=ways)
        self.lasts(3.0)

    def cut_all_logs(self):
        self.load.unsettle()
        self.load.log_is_cut = True
        self.kafka.cut()
        self.lasts(3.0)

    def kill_broker(self):
        self.load.unsettle()
        self.load.log_is_cut = True
        self.broker.kill()
        self.lasts(0.0, 3.0)
        self.broker.start()

    def clock(self):
        """Clients go on asking it: what it answers is right. A collection that is made there takes plays
        once the clock is right again."""
        self.load.unsettle()
        self.load.clock_is_wrong = True
        size = self.random.choice((1_000, 20_000, 60_000, 7_200_000))
        self.one.clock.set(self.random.choice((-1, 1)) * self.random.randrange(size // 2, size))
        self.lasts(1.0, 4.0)
        name = "made-%d" % len(self.made)
        made = eventually(lambda: settled(self.one.put("/collections/" + name, {})))
        self.assertEqual(made.status, 200, made)
        self.made.append(made.json["name"])
        self.lasts(1.0, 4.0)
        self.one.clock.set(0)
        user, server = self.user_of(lambda nodes: True), self.random.choice(self.nodes)
        play = {"events": [{"user": user, "item": "v"}], "collection": self.made[-1]}
        eventually(lambda: server.post("/plays", play).status == 200, timeout=10)

    def idle(self):
        """Nobody writes while a node is cut from the log: who can lead is found out all the same."""
        self.load.leave(self.nodes)
        self.kafka.cut(pids=[self.one.process.pid])
        time.sleep(self.random.uniform(6, 12))
        others = [server for server in self.nodes if server is not self.one]
        user = self.user_of(lambda nodes: True)
        eventually(lambda: self.taken(self.random.choice(others), user, "while-idle"), timeout=10)

    FAULTS = ("kill", "term", "stop", "wipe", "kill_two", "kill_all", "cut_log", "cut_peers",
              "cut_all_logs", "kill_broker", "clock", "idle")

    # ---- The campaign ----

    def test_campaign(self):
        wanted = os.environ.get("SEENDB_FAULTS", ",".join(self.FAULTS)).split(",")
        for user in USERS if self.from_database else ():
            self.load.users[user] = User(items=tuple((item, time.monotonic()) for item in PAST))
        self.begin()
        began, count = time.monotonic(), 0
        left = self.random.sample(wanted, len(wanted))
        while time.monotonic() - began < SECONDS or count == 0:
            fault = left.pop() if left else self.random.choice(wanted)
            self.one = self.random.choice(self.nodes)
            print("%.1f s: %s at node %d" % (time.monotonic() - began, fault,
                                             self.nodes.index(self.one) + 1), flush=True)
            getattr(self, fault)()
            count += 1
            self.go_on()
            self.load.check("after %s, seed %d" % (fault, self.seed))
        print("%d faults" % count)
        self.end()

    def go_on(self):
        """Clients ask all nodes again, beyond the time in which answers are excused."""
        self.come_back()
        self.load.reachable = list(self.nodes)
        time.sleep(UNSETTLED_S + self.random.uniform(0, 1))
        self.load.log_is_cut = self.load.clock_is_wrong = False


if __name__ == "__main__":
    real_kafka.require()
    unittest.main(defaultTest="CampaignTest.test_campaign")
