"""A cluster that is upgraded node by node, from the first build whose nodes understand newer ones to the
build under test, while clients at all nodes hold the promises against every answer (cluster_load.py).

    SEENDB_OLDER_SERVER   the older build's seendb-server (tools/torture versions builds it)

Nodes of both versions lead partitions, pass requests on to each other, copy shards from each other and are
killed. The way back is taken as well: a node of today's version is replaced by an older one.
"""

import os
import random
import shutil
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from faults_test import FaultsTest  # noqa: E402
import real_kafka  # noqa: E402
from cluster_nodes import PARTITIONS  # noqa: E402
from log_writer import partition_of  # noqa: E402
from seendb_client import eventually, server_binary, settled, whole  # noqa: E402
from tool_runner import OK, run  # noqa: E402

OLDER = os.environ.get("SEENDB_OLDER_SERVER", "")
DAY_MS = 86_400_000
ITEMS = ("a", "b", "c", "d", "e")


def position_of(answer):
    return {"SeenDB-Position": answer.headers["seendb-position"]}


class VersionsTest(FaultsTest):

    def make(self, name):
        self.random = random.Random(self.seed)
        super().make(name)

    def node(self, name, node, **more):
        return super().node(name, node, binary=OLDER, **more)

    # ---- Steps ----

    def go_on(self):
        self.come_back()
        self.load.reachable = list(self.nodes)

    def replace(self, server, binary):
        """A node ends as it does when it is asked to, and begins again as another build."""
        self.load.leave([server])
        self.assertEqual(server.terminate(), 0)
        server.binary = binary
        server.start(port=server.fixed_port)
        self.go_on()

    def kill(self, server):
        self.load.leave([server])
        server.kill()
        server.start(port=server.fixed_port)
        self.go_on()

    def copy_again(self, server):
        """Its disk is lost: it copies each of its shards from a node that has it."""
        self.load.leave([server])
        server.kill()
        shutil.rmtree(server.db)
        server.start(port=server.fixed_port)
        self.go_on()

    def built_by(self, binary):
        return [server for server in self.nodes if server.binary == binary]

    # ---- What nodes ask each other ----

    def expect_understood(self):
        """Every kind of request at every node, of users whose partition any node leads: each answer is
        one that a cluster of one version gives."""
        for server in self.nodes:
            for partition in range(PARTITIONS):
                user = next(name for name in iter(self.a_name, None)
                            if partition_of(name, PARTITIONS) == partition)
                self.expect_requests(server, user)

    def a_name(self):
        return "user-%d" % self.random.randrange(10 ** 9)

    def expect_requests(self, server, user):
        path = "/users/%s/" % user
        events = [{"user": user, "item": item} for item in ITEMS[:3]]
        events.append({"user": user, "item": "old", "at": 400 * DAY_MS})
        played = self.settle(lambda: server.post("/plays", {"events": events, "collection": "video"}))
        self.assertEqual((played.json["accepted"], played.json["refused_by"]), (3, {"too_old": 1}), played)
        served = self.settle(lambda: server.post("/impressions", {
            "user": user, "items": ["d"], "collection": "video"}))
        self.expect_unseen(user, ["e"], served)
        pages = self.settle(lambda: whole(server.get(path + "history?collection=video")))
        self.assertEqual(sorted(entry["item"] for entry in pages.json["entries"]), list(ITEMS[:3]), pages)
        deleted = self.settle(lambda: server.post(path + "history/delete", {
            "items": ["a"], "collection": "video"}))
        gone = self.settle(lambda: server.get(path + "history/a?collection=video", position_of(deleted)))
        self.assertEqual(gone.status, 404, gone)
        paused = self.settle(lambda: server.put(path + "recording", {"paused": True}))
        self.assertTrue(self.settle(lambda: server.get(path + "recording", position_of(paused))).json["paused"])
        self.expect_unseen(user, list(ITEMS), self.settle(lambda: server.delete("/users/" + user)))

    @staticmethod
    def settle(request):
        """The answer to a request that is repeated while nodes are busy, or have not done it yet."""
        return eventually(lambda: settled(request()), timeout=60)

    def expect_unseen(self, user, unseen, written):
        question = {"user": user, "items": list(ITEMS), "collection": "video"}
        for server in self.nodes:
            answer = eventually(lambda: whole(server.post("/filter", question, position_of(written))), timeout=60)
            self.assertEqual(answer.json["unseen"], unseen, (user, server.node_name))

    # ---- The upgrade ----

    def test_node_by_node(self):
        self.begin()
        order = self.random.sample(self.nodes, 3)
        made = self.settle(lambda: order[0].put("/collections/video", {"history": {"enabled": True}}))
        self.assertEqual(made.status, 200, made)
        self.expect_understood()
        for count, server in enumerate(order, 1):
            self.replace(server, server_binary())
            print("%d of 3 nodes are of today's build" % count, flush=True)
            self.expect_understood()
            for binary in (OLDER, server_binary()):
                for one in self.built_by(binary)[:1]:
                    self.kill(one)
                    self.copy_again(one)
            self.expect_understood()
            if count == 2:
                self.replace(order[0], OLDER)
                self.expect_understood()
                self.replace(order[0], server_binary())
            self.load.check("%d nodes replaced, seed %d" % (count, self.seed))
        done = run("cluster", "upgrade", "--brokers", self.broker.address, "--name", self.name,
                   "--finish")
        self.assertEqual(done.code, OK, done)
        self.expect_understood()
        self.end()


if __name__ == "__main__":
    real_kafka.require()
    if not OLDER:
        sys.exit("SEENDB_OLDER_SERVER names no server of an older build")
    unittest.main(defaultTest="VersionsTest.test_node_by_node")
