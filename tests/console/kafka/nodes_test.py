"""The console's pages Cluster, Ingest and Migration of two real nodes, which consume a topic of Kafka and move in from a
Redis: what they show is so, a node that is killed is told of, and a migration is paused and finished from the page."""

import json
import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
import browser
import real_kafka
import real_redis
from cluster_nodes import PARTITIONS, ClusterNodes
from console_checks import rows_of
from real_redis import Redis
from seendb_client import eventually
from tool_runner import OK, run

USERS = 12


class NodesTest(ClusterNodes):

    def settings(self, name, node, port, /, **more):
        settings = super().settings(name, node, port, **more)
        settings["migration"] = {"default": {"redis": self.redis.url, "key": "watched:{user}", "dual_write": True, "cap": 0}}
        return settings

    def test_the_pages_show_what_is_so(self):
        self.redis = Redis()
        self.addCleanup(self.redis.close)
        self.redis.run_all([("ZADD", "watched:u%d" % user, int(time.time()) - 9, "old") for user in range(USERS)])
        self.make("seen")
        self.broker.topic("plays", PARTITIONS)
        kafka = {"start": "earliest", "refresh_ms": 200, "topics": [{"topic": "plays"}]}
        nodes = self.place("seen", [self.node("seen", "n%d" % i, zone="z%d" % i, kafka=kafka) for i in (1, 2)])
        with browser.Browser() as window:
            self.window, self.url = window, nodes[0].url
            self.cluster_is_whole()
            self.topic_is_read()
            self.migration_is_paused_and_finished(nodes[0])
            nodes[1].kill()
            self.window.open(self.url + "/console#/cluster")
            self.window.wait("1 node is not up: n2 (down).")
            eventually(lambda: len(rows_of(self.window, "Replicas that move or do not serve")) == PARTITIONS, timeout=60)
            self.assertEqual(self.window.complaints(), [])

    def cluster_is_whole(self):
        self.window.open(self.url + "/console#/cluster")
        self.window.wait("All nodes are up, and each partition has one that leads.")
        self.window.wait("All replicas serve, and none moves.")
        self.assertIn("Nodes that are up\n2 of 2", self.window.text())
        self.assertIn("Replicas that serve\n%d of %d" % (2 * PARTITIONS, 2 * PARTITIONS), self.window.text())
        nodes = rows_of(self.window, "Nodes")
        self.assertEqual([row[:5] for row in nodes], [["n%d" % i, "up", "z%d" % i, "4", "4"] for i in (1, 2)])
        self.assertEqual(sum(int(row[5]) for row in nodes), PARTITIONS)

    def topic_is_read(self):
        real_kafka.send(self.broker, "plays", ["u%d\t%s" % (i, json.dumps({"user": "u%d" % i, "item": "v"})) for i in range(USERS)] +
                        ["u1\tno event"])
        self.window.js("location.hash = '#/ingest'")
        self.window.wait("Partitions")

        def read():
            rows = rows_of(self.window, "Partitions")
            return sum(int(row[2]) for row in rows if row[2].isdigit()) == USERS + 1 and {row[-1] for row in rows} == {"at the end"}
        eventually(read, timeout=60)
        eventually(lambda: rows_of(self.window, "Topics")[0][:4] + rows_of(self.window, "Topics")[0][7:] == [
            "plays", "default", str(PARTITIONS), "0", "1"], timeout=60)

    def migration_is_paused_and_finished(self, server):
        def phase():
            return server.get("/admin/migration").json["collections"][0]["phase"]

        self.window.js("location.hash = '#/migration'")
        self.window.wait("ask every node")
        self.window.wait("somebody may be missing")
        pause = "return [...document.querySelectorAll('button')].find(b => ['Pause', 'Resume'].includes(b.innerText))"
        self.window.js(pause + ".click()")
        self.window.wait("It is paused")
        self.assertEqual(phase(), "paused")
        self.window.js(pause + ".click()")
        self.window.wait("It runs")
        self.window.type("form.panel input", "default" + browser.ENTER)
        self.assertEqual(phase(), "running")
        imported = run("redis", "import", "--redis", self.redis.url, "--user-from", "watched:{user}", "--url", server.url)
        self.assertEqual(imported.code, OK, imported)
        eventually(lambda: not self.window.js("return document.querySelector('button.danger').disabled"), timeout=60)
        self.window.click("button.danger")
        self.window.wait("It is finished")
        self.window.wait("Nothing was lost when it was finished.")
        self.assertEqual(phase(), "finished")


if __name__ == "__main__":
    browser.require()
    real_redis.require()
    real_kafka.require()
    unittest.main()
