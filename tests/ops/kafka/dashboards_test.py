"""The dashboards of docker/config/grafana on a Prometheus that watches two nodes of a cluster, which consume a topic of
Kafka, move in from a Redis and are asked and written to meanwhile: the expression of each panel has values."""

import json
import math
import os
import random
import re
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
import prometheus
import real_kafka
import real_redis
from cluster_nodes import PARTITIONS, ClusterNodes
from prometheus import Prometheus
from real_redis import Redis
from seendb_client import eventually

FOLDER = os.path.join(prometheus.ROOT, "docker", "config", "grafana")
BOARDS = ("overview", "cluster", "migration")
LOAD_S = 12
RANGE = "20s"  # in place of what Grafana makes of the shown time
USERS, MEMBERS = 300, 20
# Panels that show nothing but 0 while all is well. Any other one has to show more under load.
ZERO_WHEN_WELL = {
    "overview": {"Servers that can't read or write everything", "Alerts that fire", "Share of the answers that are degraded",
                 "Refused for load", "Work that waits", "Messages still to be read"},
    "cluster": {"Replicas that don't serve", "Partitions that nobody leads", "Replicas without a way to the log",
                "Records that the log did not take", "Clocks apart", "Asked another replica, or none to ask",
                "Served items that did not come into the log", "Shards that are fetched", "Missing of them", "Fetched",
                "How far behind the log", "Topics of the business: messages still to be read"},
    "migration": {"Users who wait for it", "Plays that wait for the old store", "Users some of whose plays it lacks",
                  "The old store does not answer as it should", "Seen by the old store, unseen here",
                  "Of those, without an answer in time", "Users who wait to be imported", "Plays that it lacks", "Differences",
                  "Comparisons left out"},
}


def board(name):
    with open(os.path.join(FOLDER, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def panels_of(one):
    return [panel for panel in one["panels"] if panel["type"] != "row"]


class DashboardsTest(ClusterNodes):

    maxDiff = None

    def settings(self, name, node, port, /, **more):
        settings = super().settings(name, node, port, **more)
        settings["engine"] = {"list_limit": 16}  # filters with layers soon
        settings["migration"] = {"default": {"redis": self.redis.url, "key": "watched:{user}", "budget_ms": 1_000,
                                             "dual_write": True, "cap": 0, "shadow": 1}}
        return settings

    def kafka(self, topic):
        return {"start": "earliest", "refresh_ms": 200, "topics": [{"topic": topic, "at": "at"}]}

    def start(self):
        """Two nodes on which everything is used that the dashboards show."""
        self.redis = Redis()
        self.addCleanup(self.redis.close)
        now_s = int(time.time())
        self.redis.run_all([("ZADD", "watched:u%d" % user, now_s - 1_000 - i, "old%d" % i)
                            for user in range(USERS) for i in range(MEMBERS)])
        self.redis.run_all([("ZADD", "watched:u%d" % user, 1_000, "ancient") for user in range(USERS)])  # can't be recorded
        self.make("watched")
        self.broker.topic("plays", PARTITIONS)
        nodes = [self.node("watched", "n%d" % i, zone="z%d" % i, kafka=self.kafka("plays")) for i in (1, 2)]
        return self.place("watched", nodes)

    def load(self, nodes, seconds):
        """Requests of all kinds, some of which are refused."""
        dice, until = random.Random(1), time.monotonic() + seconds
        while time.monotonic() < until:
            server, user = dice.choice(nodes), "u%d" % dice.randrange(USERS)
            items = ["i%d" % dice.randrange(500) for _ in range(100)]
            server.post("/filter", {"user": user, "items": items + ["old%d" % i for i in range(MEMBERS)]})
            server.post("/plays", {"events": [{"user": user, "item": item} for item in items[:9]] +
                                   [{"user": user, "item": "x", "at": 1}]})
            server.post("/impressions", {"user": user, "items": items[:3]})
            server.post("/filter", {"user": "", "items": []})
            real_kafka.send(self.broker, "plays", [
                "%s\t%s" % (one, json.dumps({"user": one, "item": items[0], "at": at})) for one, at in
                (("u%d" % dice.randrange(USERS), int(time.time() * 1_000)) for _ in range(20))])
            real_kafka.send(self.broker, "plays", ["u1\tno event", 'u1\t{"user":"u1","item":"x","at":1}'])

    def test_every_panel_shows_something(self):
        nodes = self.start()
        with Prometheus([server.port for server in nodes]) as monitor:
            eventually(lambda: monitor.query("sum(seendb_ready)") == [({}, 2.0)])
            for drained in (("/admin/drain", "/admin/compact"), ("/admin/drain",), ()):  # so that there are tables, and what to merge
                self.load(nodes, LOAD_S / 3)
                for server in nodes:
                    for path in drained:
                        self.assertEqual(server.post(path).status, 200)
            empty = {}
            for name in BOARDS:
                for panel in panels_of(board(name)):
                    values = [self.shown(monitor, target["expr"]) for target in panel["targets"]]
                    if not all(values):
                        empty["%s: %s" % (name, panel["title"])] = values
                    elif not any(map(any, values)) and panel["title"] not in ZERO_WHEN_WELL[name]:
                        empty["%s: %s" % (name, panel["title"])] = "nothing but 0"
            self.assertEqual(empty, {})
            self.variables(monitor)
        for server in nodes:
            self.assertEqual(server.terminate(), 0)

    def shown(self, monitor, expression):
        """The numbers that an expression of a panel has."""
        asked = expression.replace("$__rate_interval", RANGE).replace("$instance", ".*").replace("$collection", ".*")
        self.assertNotIn("$", asked)
        return [value for _, value in monitor.query(asked) if math.isfinite(value)]

    def variables(self, monitor):
        """What one can choose on top of a dashboard is there."""
        for name in BOARDS:
            for one in board(name)["templating"]["list"]:
                if one["type"] == "query":
                    family, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", one["query"]["query"]).groups()
                    self.assertTrue(all(label in labels for labels, _ in monitor.query(family)), (name, one["name"]))
                    self.assertTrue(monitor.query(family), (name, one["name"]))


if __name__ == "__main__":
    prometheus.require()
    real_redis.require()
    real_kafka.require()
    unittest.main()
