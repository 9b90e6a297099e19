"""Three nodes with two replicas of each partition on a real Kafka: every route about users and collections works
at every node, as at one server; what was acknowledged is seen by the next question, whichever nodes are asked; a
node that is killed costs neither a play nor an answer."""

import os
import random
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
import real_kafka
from cluster_nodes import ClusterNodes
from seendb_client import eventually

PARTITIONS = 4
ROUNDS = int(os.environ.get("SEENDB_KILL_ROUNDS", "2"))


class AnyNodeTest(ClusterNodes):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.seed = int(os.environ.get("SEENDB_SEED", str(random.randrange(1 << 30))))

    def setUp(self):
        self.random = random.Random(self.seed)
        self.name = self.id().rsplit(".", 1)[-1].replace("_", "-")[:40]
        self.make(self.name)
        self.nodes = [self.node(self.name, "n%d" % i, zone="z%d" % i) for i in (1, 2, 3)]
        up = {"n1": "up", "n2": "up", "n3": "up"}
        for server in self.nodes:
            eventually(lambda: self.states(server) == up, timeout=60)
        self.rebalance(self.name)
        self.wait_serving()

    def wait_serving(self):
        def serving(server):
            shards = server.get("/cluster").json["shards"]
            states = [one["state"] for shard in shards for one in shard["replicas"]]
            return len(states) == 2 * PARTITIONS and set(states) == {"serving"}
        for server in self.nodes:
            eventually(lambda: serving(server), timeout=90)

    def any_node(self):
        return self.random.choice(self.nodes)

    def test_as_one_server(self):
        print("seed", self.seed)
        answer = self.any_node().put("/collections/video", {
            "window": 3, "retention": 3, "history": {"enabled": True}, "impressions": 100})
        self.assertEqual(answer.status, 200, answer)
        self.assertNotIn("pending", answer.json)
        for server in self.nodes:
            names = [one["name"] for one in server.get("/collections").json["collections"]]
            self.assertEqual(names, ["default", "video"])
        refused = self.any_node().put("/collections/video", {"bucket": "days:3"})
        self.assertEqual(refused.status, 409, refused)

        seen = {}  # (collection, user): items
        users = ["u%d" % i for i in range(40)] + [10 ** 12 + i for i in range(8)]
        for step in range(150):
            collection = self.random.choice(["default", "video"])
            picked = [(self.random.choice(users), "i%d" % self.random.randrange(60))
                      for _ in range(self.random.randrange(1, 6))]
            events = [{"user": user, "item": item} for user, item in picked]
            if step % 5 == 0:
                answer = self.any_node().ndjson("/plays?collection=" + collection, events)
            else:
                answer = self.any_node().post("/plays", {"events": events, "collection": collection})
            self.assertEqual((answer.status, answer.json["accepted"]), (200, len(events)), answer)
            for user, item in picked:
                seen.setdefault((collection, user), set()).add(item)
            # What was acknowledged is seen at once, with and without the token.
            user = picked[0][0]
            headers = {"SeenDB-Position": answer.headers["seendb-position"]} if step % 2 else {}
            self.expect(collection, user, seen, headers)
        for collection, user in seen:
            for server in self.nodes:
                self.expect(collection, user, seen, {}, server)

        lines = [{"user": user, "collection": collection, "items": ["i%d" % i for i in range(60)]}
                 for collection, user in seen]
        answers = self.any_node().ndjson("/filter", lines).lines
        for (key, items), answer in zip(seen.items(), answers):
            self.assertEqual(set(answer["unseen"]), {"i%d" % i for i in range(60)} - items, key)

        user = next(user for collection, user in seen if collection == "video")
        history = self.any_node().get("/users/%s/history?collection=video" % user).json["entries"]
        self.assertEqual({one["item"] for one in history}, seen[("video", user)])
        item = next(iter(seen[("video", user)]))
        done = self.any_node().post("/users/%s/history/delete" % user,
                                    {"items": [item], "collection": "video"})
        self.assertEqual((done.status, done.json), (200, {"deleted": True}), done)
        position = {"SeenDB-Position": done.headers["seendb-position"]}
        for server in self.nodes:
            found = server.get("/users/%s/history/%s?collection=video" % (user, item), position)
            self.assertEqual(found.status, 404, found)
            self.assertEqual(server.get("/users/%s/export" % user).status, 200)
        paused = self.any_node().put("/users/%s/recording" % user, {"paused": True})
        self.assertEqual((paused.status, paused.json["paused"]), (200, True), paused)
        for server in self.nodes:
            self.assertTrue(server.get("/users/%s/recording" % user, position).json["paused"])

        gone = self.any_node().delete("/users/%s" % user)
        self.assertEqual((gone.status, gone.json["erased"], gone.json["known"]), (200, True, True))
        for server in self.nodes:
            answer = server.post("/filter", {"user": user, "items": ["i1"], "collection": "video"},
                                 {"SeenDB-Position": gone.headers["seendb-position"]})
            self.assertEqual(answer.json["unseen"], ["i1"])

        pages = [self.any_node().post("/filter", {
            "user": "reader", "items": ["p%d" % i for i in range(12)], "limit": 4, "record": True,
            "collection": "video"}).json["unseen"] for _ in range(3)]
        self.assertEqual(sum(pages, []), ["p%d" % i for i in range(12)])

    def expect(self, collection, user, seen, headers, server=None):
        items = ["i%d" % i for i in range(60)]
        answer = (server or self.any_node()).post(
            "/filter", {"user": user, "items": items, "collection": collection}, headers)
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(set(answer.json["unseen"]), set(items) - seen[collection, user], answer)
        self.assertFalse(answer.json["degraded"])

    def test_headers_between_nodes_ask_for_the_secret(self):
        server = self.nodes[0]
        for header in ("SeenDB-Hop", "SeenDB-Failover"):
            answer = server.post("/filter", {"user": "u", "items": ["i"]}, {header: "1"})
            self.assertEqual((answer.status, answer.error["code"]), (403, "forbidden"))
        answer = server.post("/internal/append?partition=0&kind=tick&key=u", {})
        self.assertEqual(answer.status, 403, answer)
        told = [one.post("/filter", {"user": "u", "items": ["i"]}, {"SeenDB-Route": "direct"})
                for one in self.nodes]
        self.assertEqual(sorted(answer.status for answer in told), [200, 421, 421])
        offset = server.get("/cluster").json["placement_offset"]
        self.assertEqual({answer.json["placement_offset"] for answer in told
                          if answer.status == 421}, {offset})

    def test_a_node_is_killed_under_load(self):
        """Nothing acknowledged is lost, and no read fails, while a replica lives."""
        print("seed", self.seed)
        acknowledged = [dict() for _ in range(4)]  # of each writer: items and position by user
        failed, stop = [], threading.Event()
        refused = [0]
        alive = list(self.nodes)

        def write(index):
            mine, chance, count = acknowledged[index], random.Random(self.seed + index), 0
            clients = {}
            while not stop.is_set():
                count += 1
                user = "w%d-%d" % (index, chance.randrange(10))
                item = "i%d" % count
                server = chance.choice(alive)
                client = clients.setdefault(server, server.client(timeout=30))
                try:
                    answer = client.request("POST", "/plays",
                                            {"events": [{"user": user, "item": item}]})
                except OSError:
                    client.close()  # of the node that was killed: the outcome is open
                    continue
                if answer.status not in (200, 202):
                    refused[0] += 1
                    continue
                items, _ = mine.get(user, ([], ""))
                mine[user] = (items + [item], answer.headers["seendb-position"])
            for client in clients.values():
                client.close()

        def read(index):
            chance = random.Random(self.seed - 1 - index)
            clients = {}
            while not stop.is_set():
                server = chance.choice(alive)
                client = clients.setdefault(server, server.client(timeout=30))
                writer = chance.randrange(4)
                user = "w%d-%d" % (writer, chance.randrange(10))
                known, position = acknowledged[writer].get(user, ([], ""))
                try:
                    answer = client.request("POST", "/filter", {
                        "user": user, "items": known[-200:] + ["never"], "deadline_ms": 5000},
                                            {"SeenDB-Position": position} if position else {})
                except OSError:
                    client.close()
                    continue
                if answer.status != 200 or answer.json["degraded"]:
                    failed.append((time.monotonic(), user, answer))
                elif answer.json["unseen"] != ["never"]:
                    failed.append((time.monotonic(), user, answer.json["unseen"], known[-5:]))
            for client in clients.values():
                client.close()

        threads = [threading.Thread(target=write, args=(i,)) for i in range(4)]
        threads += [threading.Thread(target=read, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(ROUNDS):
                time.sleep(2)
                victim = self.random.choice(self.nodes)
                alive.remove(victim)
                time.sleep(0.1)
                victim.kill()
                time.sleep(3)
                victim.start(port=victim.fixed_port)
                self.wait_serving()
                alive.append(victim)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        total = sum(len(items) for mine in acknowledged for items, _ in mine.values())
        print("%d plays acknowledged, %d refused" % (total, refused[0]))
        self.assertGreater(total, 200)
        self.assertEqual(failed[:3], [])
        for server in self.nodes:  # all at once
            server.kill()
        for server in self.nodes:
            server.start(port=server.fixed_port)
        self.wait_serving()
        for mine in acknowledged:
            for user, (items, _) in mine.items():
                for server in self.nodes:
                    answer = server.post("/filter", {"user": user, "items": items})
                    self.assertEqual((answer.status, answer.json["unseen"]), (200, []))


if __name__ == "__main__":
    real_kafka.require()
    unittest.main()
