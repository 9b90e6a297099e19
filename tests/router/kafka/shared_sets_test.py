"""Two nodes on a real Kafka: a set for all users that is put at one excludes at the other, whoever is killed;
a node that has not read all sets says so; a topic that was compacted, cut or made anew."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
import real_kafka
from cluster_nodes import ClusterNodes
from seendb_client import eventually, settled, whole
from tool_runner import OK, run

MILLION = 1_000_000
ITEMS = ["a", "b", "c"]
LINES = {"Content-Type": "application/x-ndjson"}


class SharedSetsTest(ClusterNodes):

    def setUp(self):
        self.name = self.id().rsplit(".", 1)[-1].replace("_", "-")[:40]
        self.make(self.name)
        self.one, self.other = self.place(
            self.name, [self.node(self.name, "n%d" % i, zone="z%d" % i) for i in (1, 2)])

    def put(self, server, name, items):
        answer = eventually(lambda: settled(server.put("/sets/" + name, {"items": items})), timeout=60)
        self.assertEqual((answer.status, answer.json["count"]), (200, len(items)), answer)
        return answer.json

    def put_lines(self, server, name, ids, size=50_000):
        rows = b"".join(b'{"items":[%s]}\n' % b",".join(b'"%s"' % one.encode() for one in ids[at:at + size])
                        for at in range(0, len(ids), size))
        return server.put("/sets/" + name, rows, LINES)

    def ask(self, server, *names, items=None):
        """What is left of the items; None while the node can't tell, and where it does not know the name."""
        answer = server.post("/filter", {"user": "u", "items": items or ITEMS, "exclude_sets": list(names)})
        return None if answer.status == 404 else whole(answer)

    def wait(self, server, name, unseen):
        def holds():
            answer = self.ask(server, name)
            return answer is not None and answer.json["unseen"] == unseen
        eventually(holds, timeout=60)

    def wait_unknown(self, server, name):
        def unknown():
            answer = server.post("/filter", {"user": "u", "items": ITEMS, "exclude_sets": [name]})
            return answer.status == 404 and answer.error["field"] == "/exclude_sets/0"
        eventually(unknown, timeout=60)

    def restart(self, server):
        server.start(port=server.fixed_port)

    def settings_of(self, topic):
        return self.broker.run("kafka.admin.ConfigCommand", "--bootstrap-server", self.broker.address, "--entity-type",
                               "topics", "--entity-name", topic, "--describe")

    def test_a_set_is_at_every_node(self):
        self.wait_unknown(self.other, "blocked:eu")
        put = self.put(self.one, "blocked:eu", ["b", 42])
        self.assertEqual(self.one.get("/sets/blocked:eu").json["items"], ["42", "b"], "at once where it was put")
        self.wait(self.other, "blocked:eu", ["a", "c"])
        self.wait(self.one, "blocked:eu", ["a", "c"])
        self.assertEqual(self.other.get("/sets").json["sets"], [put])

        self.other.kill()
        self.put(self.one, "blocked:eu", ["a"])
        self.put(self.one, "sold", ["c"])
        self.restart(self.other)
        self.wait(self.other, "blocked:eu", ["b", "c"])
        answer = eventually(lambda: self.ask(self.other, "blocked:eu", "sold"), timeout=60)
        self.assertEqual(answer.json["unseen"], ["b"])

        # One that was 503 may have deleted it all the same.
        gone = eventually(lambda: settled(self.other.delete("/sets/blocked:eu")), timeout=60)
        self.assertIn(gone.status, (200, 404), gone)
        self.assertEqual(self.other.delete("/sets/blocked:eu").status, 404)
        self.wait_unknown(self.one, "blocked:eu")
        for server in (self.one, self.other):  # all at once
            server.kill()
        for server in (self.one, self.other):
            self.restart(server)
        self.wait_unknown(self.other, "blocked:eu")
        self.wait(self.one, "sold", ["a", "b"])
        self.assertIn("cleanup.policy=compact", self.settings_of(self.name + ".sets"))

    def test_a_million_ids_and_more_than_fits(self):
        ids = ["v%07d" % i for i in range(MILLION)]
        answer = self.put_lines(self.one, "large", ids)
        self.assertEqual((answer.status, answer.json["count"]), (200, MILLION), answer)
        eventually(lambda: [one["count"] for one in self.other.get("/sets").json["sets"]] == [MILLION], timeout=60)
        answer = eventually(lambda: self.ask(self.other, "large", items=["v0999999", "w", "v0000000"]), timeout=60)
        self.assertEqual(answer.json["unseen"], ["w"])
        long_ids = ["%s%07d" % ("x" * 80, i) for i in range(700_000)]
        refused = self.put_lines(self.other, "larger", long_ids)
        self.assertEqual(refused.status, 413, refused)
        self.assertEqual([one["name"] for one in self.other.get("/sets").json["sets"]], ["large"])
        self.other.kill()  # whatever of the former version is still in the topic
        self.put(self.one, "large", ["v0000000"])
        self.restart(self.other)
        eventually(lambda: self.other.get("/sets").json.get("sets", [{}])[0].get("count") == 1, timeout=60)

    def test_a_node_that_has_not_read_them_says_so(self):
        self.put(self.one, "blocked", ["b"])
        self.wait(self.other, "blocked", ["a", "c"])
        self.wait_applied(self.one)
        self.wait_applied(self.other)
        self.broker.kill()
        try:
            for server in (self.one, self.other):
                server.kill()
            for server in (self.one, self.other):
                self.restart(server)
            for name, unseen in (("blocked", ["a", "c"]), ("unknown", ITEMS)):
                question = {"user": "u", "items": ITEMS, "exclude_sets": [name]}
                answer = eventually(lambda: self.lacking_set(self.one.post("/filter", question)), timeout=60)
                self.assertIn("set:" + name, answer.json["missing"], answer)
                self.assertEqual(answer.json["unseen"], unseen, "what is known excludes")
            self.assertEqual(self.one.get("/sets").status, 503)
            self.assertEqual(self.one.put("/sets/blocked", {"items": ["a"]}).status, 503)
        finally:
            self.broker.start()
        self.wait(self.one, "blocked", ["a", "c"])
        self.wait_unknown(self.other, "unknown")
        self.put(self.other, "blocked", ["c"])
        self.wait(self.one, "blocked", ["a", "b"])

    @staticmethod
    def lacking_set(answer):
        return answer if answer.status == 200 and any(
            one.startswith("set:") for one in answer.json.get("missing", [])) else None

    def test_a_topic_that_was_cut_and_one_that_was_made_anew(self):
        for i in range(5):
            self.put(self.one, "s", ["b" if i == 4 else "a", "v%d" % i])
        self.wait(self.other, "s", ["a", "c"])
        topic = self.name + ".sets"
        self.broker.truncate(topic, 0, 3)  # below what both have read
        self.other.kill()
        self.restart(self.other)
        self.wait(self.other, "s", ["a", "c"])
        self.other.kill()
        self.put(self.one, "s", ["a"])
        self.broker.delete_topic(topic)
        self.assertEqual(run("cluster", "upgrade", "--finish", "--brokers", self.broker.address, "--name",
                             self.name).code, OK)
        self.assertIn("cleanup.policy=compact", self.settings_of(topic))
        self.restart(self.other)
        for server in (self.one, self.other):
            self.wait_unknown(server, "s")
        self.put(self.other, "s", ["c"])
        for server in (self.one, self.other):
            self.wait(server, "s", ["a", "b"])

    def test_a_cluster_that_lacks_the_topic(self):
        self.broker.delete_topic(self.name + ".sets")

        def lacks():
            problems = self.one.get("/readyz").json["problems"]
            return any(one.startswith("sets: ") and "is not there" in one for one in problems)
        eventually(lacks, timeout=120)
        self.assertEqual(self.one.put("/sets/s", {"items": ["a"]}).status, 503)
        question = {"user": "u", "items": ITEMS, "exclude_sets": ["s"]}
        eventually(lambda: self.lacking_set(self.other.post("/filter", question)), timeout=60)
        self.assertEqual(run("cluster", "upgrade", "--finish", "--url", self.one.url).code, OK)
        self.put(self.one, "s", ["a"])
        self.wait(self.other, "s", ["b", "c"])


if __name__ == "__main__":
    real_kafka.require()
    unittest.main()
