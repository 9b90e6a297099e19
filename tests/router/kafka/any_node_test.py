"""Three nodes with two replicas of each partition on a real Kafka: every route about users and collections works
at every node, as at one server; what was acknowledged is seen by the next question, whichever nodes are asked; a
node that is killed costs neither a play nor an answer."""

import itertools
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
from cluster_nodes import ClusterNodes
from fresh_seed import seed_of
from seendb_client import eventually, settled, whole

ROUNDS = int(os.environ.get("SEENDB_KILL_ROUNDS", "2"))


class AnyNodeTest(ClusterNodes):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.seed = seed_of("any_node")

    def setUp(self):
        self.random = random.Random(self.seed)
        self.name = self.id().rsplit(".", 1)[-1].replace("_", "-")[:40]
        self.make(self.name)
        self.nodes = self.three_nodes(self.name)

    def any_node(self):
        return self.random.choice(self.nodes)

    @staticmethod
    def settle(request):
        """The answer to a request that is repeated while nodes are busy, or have not done it yet."""
        return eventually(lambda: settled(request()), timeout=60)

    def put(self, name, policy):
        """Until all nodes have it."""
        answer = self.settle(lambda: self.any_node().put("/collections/" + name, policy))
        self.assertEqual(answer.status, 200, answer)
        return "pending" not in answer.json

    def test_as_one_server(self):
        print("seed", self.seed)
        eventually(lambda: self.put("video", {"window": 3, "retention": 3, "history": {"enabled": True},
                                              "impressions": 100}), timeout=60)
        for server in self.nodes:
            names = [one["name"] for one in server.get("/collections").json["collections"]]
            self.assertEqual(names, ["default", "video"])
        refused = self.settle(lambda: self.any_node().put("/collections/video", {"bucket": "days:3"}))
        self.assertEqual(refused.status, 409, refused)

        seen = {}  # (collection, user): items
        users = ["u%d" % i for i in range(40)] + [10 ** 12 + i for i in range(8)]
        for step in range(150):
            collection = self.random.choice(["default", "video"])
            picked = [(self.random.choice(users), "i%d" % self.random.randrange(60))
                      for _ in range(self.random.randrange(1, 6))]
            now_ms = int(time.time() * 1000)
            events = [{"user": user, "item": item, "at": now_ms} for user, item in picked]
            answer = self.settle(lambda: self.play(collection, events, step % 5 == 0))
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
        answers = eventually(lambda: self.whole_lines(lines), timeout=60)
        for (key, items), answer in zip(seen.items(), answers):
            self.assertEqual(set(answer["unseen"]), {"i%d" % i for i in range(60)} - items, key)

        user = next(user for collection, user in seen if collection == "video")
        history = eventually(lambda: whole(self.any_node().get(
            "/users/%s/history?collection=video" % user)), timeout=60).json["entries"]
        self.assertEqual({one["item"] for one in history}, seen[("video", user)])
        item = next(iter(seen[("video", user)]))
        done = self.settle(lambda: self.any_node().post("/users/%s/history/delete" % user, {
            "items": [item], "collection": "video"}))
        self.assertEqual((done.status, done.json), (200, {"deleted": True}), done)
        position = {"SeenDB-Position": done.headers["seendb-position"]}
        for server in self.nodes:
            found = self.settle(lambda: server.get("/users/%s/history/%s?collection=video" % (user, item),
                                                   position))
            self.assertEqual(found.status, 404, found)
            self.assertEqual(self.settle(lambda: server.get("/users/%s/export" % user)).status, 200)
        recording = "/users/%s/recording" % user
        paused = self.settle(lambda: self.any_node().put(recording, {"paused": True}))
        self.assertEqual((paused.status, paused.json["paused"]), (200, True), paused)
        position = {"SeenDB-Position": paused.headers["seendb-position"]}
        for server in self.nodes:
            self.assertTrue(self.settle(lambda: server.get(recording, position)).json["paused"])

        gone = self.settle(lambda: self.any_node().delete("/users/%s" % user))
        self.assertEqual((gone.status, gone.json["erased"], gone.json["known"]), (200, True, True))
        position = {"SeenDB-Position": gone.headers["seendb-position"]}
        question = {"user": user, "items": ["i1"], "collection": "video"}
        for server in self.nodes:
            answer = eventually(lambda: whole(server.post("/filter", question, position)), timeout=60)
            self.assertEqual(answer.json["unseen"], ["i1"])

        readers = itertools.count()
        pages = eventually(lambda: self.pages("reader%d" % next(readers)), timeout=60)
        self.assertEqual(sum(pages, []), ["p%d" % i for i in range(12)])

    def test_sets_of_a_user(self):
        print("seed", self.seed)
        items = ["a", "b", "c"]

        def put(name, ids):
            answer = self.settle(lambda: self.any_node().put(
                "/users/u/sets/" + name, {"items": ids, "expires_ms": 3_600_000}))
            self.assertEqual((answer.status, answer.json["name"], answer.json["count"]), (200, name, len(ids)), answer)
            self.assertEqual(answer.json["expires_at"], answer.json["at"] + 3_600_000)
            return {"SeenDB-Position": answer.headers["seendb-position"]}

        def expect(unseen, position):
            question = {"user": "u", "items": items, "exclude_sets": ["session"]}
            for server in self.nodes:
                answer = eventually(lambda: whole(server.post("/filter", question, position)), timeout=60)
                self.assertEqual(answer.json["unseen"], unseen, answer)

        expect(["b", "c"], put("session", ["a"]))
        position = put("session", ["b", 42])
        expect(["a", "c"], position)
        for server in self.nodes:
            read = self.settle(lambda: server.get("/users/u/sets/session", position))
            self.assertEqual((read.status, read.json["items"]), (200, ["42", "b"]), read)
            listed = self.settle(lambda: server.get("/users/u/sets", position))
            self.assertEqual([one["name"] for one in listed.json["sets"]], ["session"], listed)
        for i in range(15):
            put("more%d" % i, ["x"])
        refused = self.settle(lambda: self.any_node().put(
            "/users/u/sets/one-more", {"items": [], "expires_ms": 5}))
        self.assertEqual((refused.status, refused.error["field"]), (409, "/name"), refused)
        unknown = self.settle(lambda: self.any_node().post(
            "/filter", {"user": "u", "items": items, "exclude_sets": ["one-more"]}))
        self.assertEqual((unknown.status, unknown.error["field"]), (404, "/exclude_sets/0"), unknown)
        for server in self.nodes:  # all at once
            server.kill()
        for server in self.nodes:
            server.start(port=server.fixed_port)
        self.wait_serving(*self.nodes)
        expect(["a", "c"], position)
        gone = self.settle(lambda: self.any_node().delete("/users/u/sets/session"))
        self.assertEqual((gone.status, gone.json), (200, {"deleted": True}), gone)
        position = {"SeenDB-Position": gone.headers["seendb-position"]}
        for server in self.nodes:
            read = self.settle(lambda: server.get("/users/u/sets/session", position))
            self.assertEqual(read.status, 404, read)

    def play(self, collection, events, as_lines):
        if as_lines:
            return self.any_node().ndjson("/plays?collection=" + collection, events)
        return self.any_node().post("/plays", {"events": events, "collection": collection})

    def whole_lines(self, lines):
        """The answers to lines; nothing where one of them lacks something."""
        answer = settled(self.any_node().ndjson("/filter", lines))
        if answer is None:
            return None
        self.assertEqual((answer.status, len(answer.lines)), (200, len(lines)), answer)
        for one in answer.lines:
            if one.get("degraded") or one.get("error", {}).get("code") in ("unavailable", "busy"):
                return None
        return answer.lines

    def pages(self, user):
        """What is served to a new user on three pages; nothing where one of these lacks something."""
        question = {"user": user, "items": ["p%d" % i for i in range(12)], "limit": 4, "record": True,
                    "collection": "video"}
        pages = [whole(self.any_node().post("/filter", question)) for _ in range(3)]
        return [page.json["unseen"] for page in pages] if all(pages) else None

    def expect(self, collection, user, seen, headers, server=None):
        items = ["i%d" % i for i in range(60)]
        question = {"user": user, "items": items, "collection": collection}
        answer = eventually(lambda: whole((server or self.any_node()).post("/filter", question, headers)),
                            timeout=60)
        self.assertEqual(set(answer.json["unseen"]), set(items) - seen[collection, user], answer)

    def test_headers_between_nodes_ask_for_the_secret(self):
        server = self.nodes[0]
        for header in ("SeenDB-Hop", "SeenDB-Failover"):
            answer = server.post("/filter", {"user": "u", "items": ["i"]}, {header: "1"})
            self.assertEqual((answer.status, answer.error["code"]), (403, "forbidden"))
        answer = server.post("/internal/append?partition=0&kind=tick&key=u", {})
        self.assertEqual(answer.status, 403, answer)
        told = eventually(self.told_directly)
        offset = server.get("/cluster").json["placement_offset"]
        self.assertEqual({answer.json["placement_offset"] for answer in told
                          if answer.status == 421}, {offset})

    def told_directly(self):
        """What the nodes say that pass nothing on; nothing while they don't agree on who leads."""
        told = [one.post("/filter", {"user": "u", "items": ["i"]}, {"SeenDB-Route": "direct"})
                for one in self.nodes]
        return told if sorted(answer.status for answer in told) == [200, 421, 421] else None

    def test_nodes_are_killed_and_stopped_under_load(self):
        """Nothing acknowledged is lost, and no read fails, while a replica lives."""
        print("seed", self.seed)
        load = ClusterLoad(self.nodes, self.seed)
        with load:
            for number in range(ROUNDS):
                time.sleep(2)
                everybody = number % 10 == 9
                victims = list(self.nodes) if everybody else [self.random.choice(self.nodes)]
                how = self.kill if (number + self.seed) % 2 == 0 else self.stop
                how(load, victims)
                load.check("round %d of seed %d" % (number, self.seed))
        print(load)
        load.check("seed %d" % self.seed)
        self.assertGreater(load.written, 100)
        self.assertGreater(min(load.sets_put, load.sets_asked), 5)
        for server in self.nodes:  # all at once
            server.kill()
        for server in self.nodes:
            server.start(port=server.fixed_port)
        self.wait_serving(*self.nodes)
        self.expect_alike(self.nodes, load.users)

    def kill(self, load, victims):
        load.leave(victims)
        for server in victims:
            server.kill()
        load.settle()
        time.sleep(0 if len(victims) > 1 else 2 * UNSETTLED_S)
        load.unsettle()
        for server in victims:
            server.start(port=server.fixed_port)
        self.come_back(load, victims)

    def stop(self, load, victims):
        load.leave(victims)
        for server in victims:
            server.process.send_signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(0.5, 8))
        for server in victims:
            server.process.send_signal(signal.SIGCONT)
        self.come_back(load, victims)

    def come_back(self, load, victims):
        self.wait_up(*self.nodes)
        self.wait_serving(*self.nodes)
        load.settle()
        load.reachable += victims


if __name__ == "__main__":
    real_kafka.require()
    unittest.main()
