"""Updates of items out of a real Kafka: read once, whatever is killed; what can't be taken is a
dead letter and keeps nothing back; a compacted topic is refused; filters say that items are behind.
"""

import json
import os
import random
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import real_kafka
from fresh_seed import seed_of
from real_kafka import (BrokerCase, Server, eventually, partitions, read_all, send, settings, topics_of,
                        wait, wait_read)

SEED = seed_of("item_kills")
SCHEMA = {"fields": [{"name": "author", "type": "text", "column": True},
                     {"name": "score", "type": "i64"}, {"name": "note", "type": "text"}]}


def topic_of(name):
    return {"topic": name, "fact": "item"}


def line(item, version, **fields):
    return "%s\t%s" % (item, json.dumps({"id": item, "version": version, "set": fields}))


class ItemsTest(BrokerCase):

    def server(self, name, items=None, start=True, **more):
        config = settings(self.broker, topic_of(name), **more)
        config["items"] = items or {}
        return Server(config=config, start=start)

    def put_schema(self, server):
        self.assertEqual(server.put("/items/schema", SCHEMA).status, 200)

    def item(self, server, item):
        found = server.post("/items/get", {"ids": [item]}).json["items"]
        return (found[0]["version"], found[0]["fields"]) if found else None

    def test_updates_are_read_once_there_is_a_schema(self):
        self.broker.topic("plain", 2)
        send(self.broker, "plain", [
            line("v1", 7, author="a3", score=5), line("v1", 6, author="a1", note="old"),
            "v2\t" + json.dumps([{"id": "v2", "version": 1, "set": {"score": 1}},
                                 {"id": "v3", "version": 1, "set": {"score": 2}}])])
        with self.server("plain") as server:
            wait(lambda: partitions(server, "plain") and
                 all("no_schema" in row["alarms"] and "schema" in row["held"]
                     for row in partitions(server, "plain").values()), server)
            self.put_schema(server)
            wait_read(server, "plain", 3)
            self.assertEqual(self.item(server, "v1"),
                             (7, {"author": "a3", "score": 5, "note": "old"}))
            self.assertEqual(self.item(server, "v3"), (1, {"score": 2}))
            shown = server.get("/admin/ingest").json["topics"][0]
            self.assertNotIn("collection", shown)
            metrics = server.get("/metrics").body.decode()
            for partition in (0, 1):
                self.assertIn('seendb_ingest_lag{topic="plain",partition="%d"} 0' % partition, metrics)
            self.assertEqual(sum(int(row.split()[-1]) for row in metrics.splitlines() if
                                 row.startswith('seendb_ingest_messages_total{topic="plain"')), 3)
            self.assertIn("seendb_item_updates_accepted_total 4", metrics)
            # A field that the schema gets is known to the next message.
            fields = SCHEMA["fields"] + [{"name": "hot", "type": "bool"}]
            self.assertEqual(server.put("/items/schema", {"fields": fields}).status, 200)
            send(self.broker, "plain", [line("v1", 8, hot=True)])
            wait_read(server, "plain", 4)
            self.assertEqual(self.item(server, "v1")[1]["hot"], True)
            self.assertEqual(server.terminate(), 0)
            server.start()
            wait_read(server, "plain", 4)
            self.assertIn("seendb_item_updates_accepted_total 0",
                          server.get("/metrics").body.decode(), "nothing is read twice")

    def test_what_is_not_taken_is_a_dead_letter_and_keeps_nothing_back(self):
        self.broker.topic("mixed", 1)
        self.broker.topic("mixed.dead", 1)
        large = line("large", 1, note="x" * 70_000)
        bad = ["k1\tnot json", line("v1", 1, nobody=1), line("v1", 1, score="text")]
        send(self.broker, "mixed", [line("v1", 5, score=1)] + bad + [large, line("v2", 1, score=2)])
        with self.server("mixed", dead_letter_topic="mixed.dead") as server:
            self.put_schema(server)
            wait_read(server, "mixed", 6)
            self.assertEqual(self.item(server, "v1"), (5, {"score": 1}))
            self.assertEqual(self.item(server, "v2"), (1, {"score": 2}))
            self.assertIsNone(self.item(server, "large"))
            self.assertEqual(partitions(server, "mixed")[0]["dead_letters"], 4)
            letters = read_all(self.broker, "mixed.dead", "%k|%h")
            self.assertEqual([letter.split("|")[0] for letter in letters],
                             ["k1", "v1", "v1", "large"])
            self.assertIn("seendb.offset=2,seendb.reason=the schema has no field nobody at "
                          "/set/nobody", letters[1])
            self.assertIn("at /set/score", letters[2])

    def test_a_full_store_takes_what_fits_and_deletions(self):
        self.broker.topic("full", 1)
        dead = os.path.join(self.folder, "full.ndjson")
        count = 200
        send(self.broker, "full", [line("v%d" % i, 1, note=chr(97 + i % 26) * 60_000 + str(i))
                                   for i in range(count)] +
             ["v0\t" + json.dumps({"id": "v0", "version": 2, "delete": True}),
              line("small", 1, score=1)])
        with self.server("full", items={"bytes": 8 << 20}, dead_letter_file=dead) as server:
            self.put_schema(server)
            wait_read(server, "full", count + 2)
            self.assertIsNone(self.item(server, "v0"))
            self.assertEqual(self.item(server, "small"), (1, {"score": 1}))
            with open(dead, encoding="utf-8") as file:
                letters = [json.loads(one) for one in file]
            kept = server.get("/admin/items").json["items"]
            self.assertGreater(kept, 10)
            self.assertEqual(len(letters), count - kept)  # of kept "small" came, and v0 went
            refused = {letter["key"] for letter in letters}
            for i in range(1, count):
                self.assertEqual(self.item(server, "v%d" % i) is None, "v%d" % i in refused, i)
            self.assertIn("does not fit", letters[0]["reason"])

    def test_a_compacted_topic_is_refused(self):
        self.broker.topic("kept", 1, "cleanup.policy=compact")
        self.broker.topic("open", 1)
        with self.server("open") as server:
            self.put_schema(server)
            send(self.broker, "open", [line("v1", 1, score=1)])
            wait_read(server, "open", 1)
            self.broker.configure("open", "cleanup.policy=[compact,delete]")
            wait(lambda: "compacted" in partitions(server, "open")[0]["alarms"], server)
            self.assertIn("cleanup.policy", partitions(server, "open")[0]["held"])
            self.broker.configure("open", "cleanup.policy=delete")
            send(self.broker, "open", [line("v1", 2, score=2)])
            wait_read(server, "open", 2)
            self.assertEqual(server.terminate(), 0)
        server = self.server("kept", start=False)
        self.addCleanup(server.close)
        server.start(wait=False)
        self.assertEqual(server.wait_exit(real_kafka.PATIENCE_S), 3)
        self.assertIn("cleanup.policy=compact", server.log_text())

    def test_a_topic_made_anew_is_read_from_its_beginning(self):
        self.broker.topic("anew", 1)
        send(self.broker, "anew", [line("v1", i + 1, score=i) for i in range(20)])
        with self.server("anew") as server:
            self.put_schema(server)
            wait_read(server, "anew", 20)
            for begin, count, version in ((1_000, 5, 1_005), (2_000, 50, 2_050)):
                self.assertEqual(server.terminate(), 0)
                self.broker.delete_topic("anew")
                eventually(lambda: "anew" not in topics_of(self.broker),
                           timeout=real_kafka.PATIENCE_S)
                self.broker.topic("anew", 1)
                send(self.broker, "anew", [line("v1", begin + i + 1, score=i)
                                           for i in range(count)])
                server.start()
                wait(lambda version=version: self.item(server, "v1")[0] == version, server)
                self.assertIn("beyond_end", partitions(server, "anew")[0]["alarms"])
                wait(lambda count=count: partitions(server, "anew")[0]["applied_offset"] == count,
                     server)

    def test_filters_say_that_items_are_behind(self):
        self.broker.topic("slow", 1)
        send(self.broker, "slow", [line("v1", 1, author="a1")])
        where = {"user": "u", "items": ["v1", "v2"], "where": [{"field": "author", "eq": "a1"}]}
        plain = {"user": "u", "items": ["v1", "v2"]}
        with self.server("slow", items={"lag_ms": 5_000}) as server:
            def missing(body):
                answer = server.post("/filter", body).json
                self.assertEqual(answer["degraded"], "missing" in answer)
                return answer.get("missing", [])

            self.put_schema(server)
            wait_read(server, "slow", 1)
            wait(lambda: missing(where) == [], server)
            for body in (dict(plain, fields=["author"]), dict(plain, unknown="drop"),
                         dict(plain, at_most={"field": "author", "n": 1})):
                self.assertEqual(missing(body), [])
            self.broker.kill()
            try:
                wait(lambda: missing(where) == ["items"], server)
                for body in (dict(plain, fields=["author"]), dict(plain, unknown="drop"),
                             dict(plain, at_most={"field": "author", "n": 1})):
                    self.assertEqual(missing(body), ["items"], body)
                self.assertEqual(missing(plain), [], "it uses no item")
                failed = server.post("/filter", dict(where, on_error="fail"))
                self.assertEqual(failed.status, 503)
                self.assertIn("items", failed.json["error"]["message"])
                fields = SCHEMA["fields"] + [{"name": "of", "type": "list_text"}]
                self.assertEqual(server.put("/items/schema", {"fields": fields}).status, 200)
                self.assertEqual(missing(plain), ["items"], "it uses the groups of items")
            finally:
                self.broker.start()
            wait(lambda: missing(where) == [] and missing(plain) == [], server)

    def test_kills(self):
        chance = random.Random(SEED)
        self.broker.topic("kills", 3)
        newest, sent = {}, 0
        with self.server("kills", batch_messages=50) as server:
            self.put_schema(server)
            for _ in range(int(os.environ.get("SEENDB_KILLS", "12"))):
                chunk = []
                for _ in range(chance.randrange(1, 400)):
                    item, version = "v%d" % chance.randrange(100), chance.randrange(1, 10_000)
                    field = chance.choice(["score", "note"])
                    value = version if field == "score" else str(version)
                    chunk.append(line(item, version, **{field: value}))
                    fields = newest.setdefault(item, {})
                    fields[field] = max(fields.get(field, value), value, key=int)
                send(self.broker, "kills", chunk)
                sent += len(chunk)
                time.sleep(chance.uniform(0, 0.3))
                server.kill()
                server.start()
                time.sleep(chance.uniform(0, 0.3))
            wait_read(server, "kills", sent)
            rows = partitions(server, "kills").values()
            self.assertEqual(sum(row["applied_offset"] for row in rows), sent)
            self.assertEqual([row["alarms"] for row in rows], [[]] * len(rows))
            for item, fields in newest.items():
                self.assertEqual(self.item(server, item)[1], fields, item)
            server.kill()
            server.start()
            wait_read(server, "kills", sent)
            state = server.get("/admin/items").json
            self.assertEqual((state["accepted"], state["stale"]), (0, 0), "nothing is read twice")
            self.assertEqual(server.terminate(), 0)


if __name__ == "__main__":
    print("seed %s (SEENDB_SEED)" % SEED)
    real_kafka.require()
    unittest.main(verbosity=2)
