"""The server on a real Kafka: what is produced is filtered and counted once; partitions and topics
that come later; ranges that are gone; dead letters; a Java producer's partitions.

One broker serves all tests; each has topics of its own.
"""

import json
import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import play_logs
import real_kafka
from play_logs import utc_ms
from real_kafka import (BrokerCase, Server, ingested, partitions, produce, read_all, send, settings,
                        tool, topics_of, wait, wait_read, write_log)

USERS = 60


def now_ms():
    return int(time.time() * 1000)


def lines(begin, end):
    """Plays begin..end-1 for kcat, of USERS users, each of an item of its own."""
    at = now_ms() - 1000
    return ["u%d\t%s" % (i % USERS, json.dumps({"user": "u%d" % (i % USERS), "item": "i%d" % i,
                                                 "at": at})) for i in range(begin, end)]


class BrokerTest(BrokerCase):

    def check_seen(self, server, begin, end):
        """Plays begin..end-1 of lines() are seen, and no others of their users."""
        for user in range(USERS):
            mine = ["i%d" % i for i in range(begin, end) if i % USERS == user]
            answer = server.post("/filter", {"user": "u%d" % user, "items": mine + ["other"]}).json
            self.assertEqual(answer["unseen"], ["other"], user)

    def alarms(self, server, topic, partition=0):
        return partitions(server, topic).get(partition, {}).get("alarms", [])

    def test_a_real_log_is_filtered_and_counted_once(self):
        if os.path.exists(os.path.join(play_logs.data_folder(), "kuairand_events.csv.zst")):
            plays, clock_ms = play_logs.kuairand_plays(), utc_ms(2022, 5, 9, 6)
        else:
            print("KUAIRAND NOT TESTED: %s is absent" % play_logs.data_folder())
            clock_ms = utc_ms(2026, 3, 10)
            plays = [(clock_ms - i, "u%d" % (i % 3_000), "i%d" % (i * 7919 % 50_000))
                     for i in range(200_000)]
        plays = [play for play in plays if play[0] <= clock_ms]
        path = os.path.join(self.folder, "log.ndjson")
        write_log(path, plays)
        self.broker.topic("log", 4)
        with Server(config=settings(self.broker, "log"), clock_ms=clock_ms) as server:
            self.assertEqual(produce(self.broker, "log", path), len(plays))
            wait_read(server, "log", len(plays))
            self.assertEqual(ingested(server), {
                "plays_accepted": len(plays), "plays_refused": 0, "impressions_accepted": 0,
                "impressions_refused": 0, "exposures_accepted": 0, "exposures_refused": 0,
                "dead_letters": 0})
            facts = play_logs.Facts()
            facts.add(plays)
            asked, missed = play_logs.count_misses(server, "default",
                                                   facts.since(0).items())
            self.assertEqual(missed[:20], [], "%d of %d" % (len(missed), asked))
            print("%d plays, %d of them different, all filtered" % (len(plays), asked))
            server.kill()
            server.start()
            wait_read(server, "log", len(plays))
            self.assertEqual(ingested(server)["plays_accepted"], len(plays))
            self.assertEqual(server.get("/admin/stats").json["ingest_repeated"], 0)
            self.assertEqual(server.terminate(), 0)

    def test_produce_does_not_wait_long_for_a_topic_that_is_not_there(self):
        path = os.path.join(self.folder, "one.ndjson")
        write_log(path, [(now_ms(), "u1", "v1")])
        began = time.monotonic()
        tool("produce", path, "--brokers", self.broker.address, "--topic", "nowhere", expect=6)
        self.assertLess(time.monotonic() - began, 60)  # it waits for 8 s

    def test_what_players_say_goes_through_a_topic(self):
        clock_ms = utc_ms(2026, 11, 1)
        path = os.path.join(self.folder, "beats.ndjson")
        tool("generate", "--users", "8", "--plays-per-user-median", "20", "--days", "2", "--seed",
             "3", "--start-ms", str(clock_ms - 4 * play_logs.DAY_MS), "--progress", "20", "--out",
             path)
        self.broker.topic("beats", 2)
        topic = {"topic": "beats", "at": "at", "progress_s": "progress_s",
                 "duration_s": "duration_s", "device": "device"}
        newest = {}
        with open(path, encoding="utf-8") as file:
            beats = [json.loads(line) for line in file]
        for beat in beats:
            items = newest.setdefault(beat.pop("user"), {})
            item = beat.pop("item")
            if beat["at"] >= items.get(item, beat)["at"]:
                items[item] = beat
        with Server(config=settings(self.broker, topic), clock_ms=clock_ms) as server:
            self.assertEqual(server.put("/collections/default",
                                        {"history": {"enabled": True}}).status, 200)
            self.assertEqual(produce(self.broker, "beats", path), len(beats))
            wait_read(server, "beats", len(beats))
            self.assertEqual(ingested(server)["plays_accepted"], len(beats))
            for user, items in newest.items():
                page = server.get("/users/%s/history?limit=1000" % user).json["entries"]
                self.assertEqual({entry.pop("item"): {name: entry[name] for name in
                                                      ("at", "progress_s", "duration_s", "device")}
                                  for entry in page}, items)

    def test_a_java_producer_puts_each_user_into_its_shard(self):
        self.broker.topic("java", 4)
        users = ["u%d" % i for i in range(80)] + ["%d" % i for i in range(40)] + [
            "\u0436\u0443\u043a", "\u4e2d\u6587", "\U0001f600", "a b", "x" * 255, "0042"]
        sent = "".join("%s\t%s\n" % (user, json.dumps({"user": user, "item": "v",
                                                        "at": now_ms() - 1000}))
                       for user in users)
        self.broker.run("kafka.tools.ConsoleProducer", "--bootstrap-server", self.broker.address,
                        "--topic", "java", "--property", "parse.key=true",
                        stdin=sent.encode())
        placed = dict(line.rsplit("|", 1) for line in read_all(self.broker, "java", "%k|%p"))
        self.assertEqual(set(placed), set(users))
        with Server(config=settings(self.broker, "java")) as server:
            wait_read(server, "java", len(users))
            shards = {}
            for row in server.get("/admin/ring").json["slots"]:
                shards[row["shard"]] = shards.get(row["shard"], 0) + row["plays"]
            by_partition = {}
            for partition in placed.values():
                by_partition[int(partition)] = by_partition.get(int(partition), 0) + 1
            self.assertEqual(shards, by_partition)
            for user in users[:12] + users[80:92]:
                shard = server.get("/users/" + user).json["shard"]
                self.assertEqual(shard, int(placed[user]), user)

    def test_messages_without_an_event_are_kept_apart(self):
        self.broker.topic("mixed", 1)
        self.broker.topic("mixed.dead", 1)
        bad = ["k1\tnot json", "k2\t{\"user\":\"u\"}", "k3\t[{\"user\":\"u\",\"item\":\"\"}]"]
        good = lines(0, 50)
        send(self.broker, "mixed", good[:25] + bad + good[25:])
        with Server(config=settings(self.broker, "mixed",
                                    dead_letter_topic="mixed.dead")) as server:
            wait_read(server, "mixed", 53)
            self.check_seen(server, 0, 50)
            self.assertEqual(partitions(server, "mixed")[0]["dead_letters"], 3)
            self.assertEqual(ingested(server)["dead_letters"], 3)
            letters = read_all(self.broker, "mixed.dead", "%k|%s|%h")
            self.assertEqual(len(letters), 3)
            for letter, line, offset in zip(letters, bad, (25, 26, 27)):
                key, payload, headers = letter.split("|", 2)
                self.assertEqual("%s\t%s" % (key, payload), line)
                self.assertIn("seendb.topic=mixed,seendb.partition=0,seendb.offset=%d,"
                              "seendb.reason=" % offset, headers)
            self.assertIn("at /item", letters[1])
            self.assertIn("at /0/item", letters[2])

    def test_dead_letters_keep_the_headers(self):
        self.broker.topic("headed", 1)
        self.broker.topic("headed.dead", 1)
        subprocess.run(["kcat", "-P", "-b", self.broker.address, "-t", "headed", "-H", "uid=u",
                        "-H", "trace=1", "-H", "uid=w"], input=b"not json", check=True)
        with Server(config=settings(self.broker, "headed", dead_letter_topic="headed.dead")) as server:
            wait_read(server, "headed", 1)
            letter, = read_all(self.broker, "headed.dead", "%s|%h")
            self.assertTrue(letter.startswith("not json|uid=u,trace=1,uid=w,seendb.topic=headed,"),
                            letter)

    def test_ids_and_times_as_producers_write_them(self):
        at = now_ms() - 60_000
        text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at / 1000))
        self.broker.topic("forms", 1)
        send(self.broker, "forms", [
            "u1\t" + json.dumps({"item": "micros", "at": at * 1000}),
            '"u1"\t' + json.dumps({"item": "zoned", "at": text + "Z"}),
            "u1\t" + json.dumps({"item": "local", "at": text}),
            "u2\t" + json.dumps([{"item": "a", "at": at * 1000 + 0.5}, {"item": "b", "at": at * 1000}])])
        self.broker.topic("changes", 1)
        subprocess.run(["kcat", "-b", self.broker.address, "-P", "-t", "changes", "-Z", "-K", "\t",
                        "-H", "uid=old", "-H", "uid=u3"], check=True, input="".join(line + "\n" for line in (
                            "k1\t" + json.dumps({"after": {"id": "row"}, "op": "c"}), "k1\t",
                            "k2\t" + json.dumps({"after": None, "op": "d"}))).encode())
        topics = [{"topic": "forms", "user": "@key", "at": "at", "at_unit": "us",
                   "time_zone": "Etc/GMT-5"},
                  {"topic": "changes", "user": "@header:uid", "item": "/after/id"}]
        with Server(config=settings(self.broker, *topics)) as server:
            wait_read(server, "forms", 4)
            wait_read(server, "changes", 3)
            counts = ingested(server)
            self.assertEqual((counts["plays_accepted"], counts["plays_refused"],
                              counts["dead_letters"]), (6, 0, 0))
            for user, items in (("u1", ["micros", "zoned", "local"]), ("u2", ["a", "b"]),
                                ("u3", ["row"])):
                answer = server.post("/filter", {"user": user, "items": items + ["other"]}).json
                self.assertEqual(answer["unseen"], ["other"], user)

    def test_a_topic_of_which_nothing_is_taken_is_named(self):
        self.broker.topic("unfit", 1)
        send(self.broker, "unfit", ["k\t" + json.dumps({"uid": "u1", "item": "v"})] * 3)
        topic = {"topic": "unfit"}
        with Server(config=settings(self.broker, topic)) as server:
            wait(lambda: self.alarms(server, "unfit") == ["nothing_taken"], server)
            (problem,) = wait(lambda: server.get("/readyz").json["problems"], server)
            self.assertIn("nothing of topic unfit is taken", problem)
            self.assertIn("missing field at /user", problem)
            send(self.broker, "unfit", ["k\t" + json.dumps({"user": "u1", "item": "v"})])
            wait(lambda: not server.get("/readyz").json.get("problems"), server)

    def test_impressions_nested_members_and_arrays(self):
        self.broker.topic("served", 2)
        served = {"who": {"id": "u1"}, "what": [1], "item": {"video": {"id": 7}}}
        more = {"who": {"id": "u1"}, "item": {"video": {"id": "v8"}}}
        send(self.broker, "served", ["u1\t" + json.dumps(served), "u1\t" + json.dumps([more, more])])
        topic = {"topic": "served", "collection": "video", "kind": "impressions",
                 "user": "/who/id", "item": "/item/video/id"}
        with Server(config=settings(self.broker, topic)) as server:
            wait(lambda: partitions(server, "served") and
                 all("no_collection" in row["alarms"] and "video" in row["held"]
                     for row in partitions(server, "served").values()), server)
            self.assertEqual(server.put("/collections/video", {}).status, 200)
            wait_read(server, "served", 2)
            for facts, unseen in ((["impressions"], ["v9"]), (["plays"], ["7", "v8", "v9"])):
                answer = server.post("/filter", {"user": "u1", "items": ["7", "v8", "v9"],
                                                 "collection": "video", "facts": facts}).json
                self.assertEqual(answer["unseen"], unseen, facts)
            self.assertEqual(ingested(server)["impressions_accepted"], 3)

    def test_exposures_and_marks(self):
        at = now_ms()
        self.broker.topic("exposed", 2)
        self.broker.topic("marks", 1)
        send(self.broker, "exposed", ["u1\t" + json.dumps(
            {"user": "u1", "item": item, "at": at, "page": page})
            for item, page in (("v1", "home"), ("v2", None))])
        send(self.broker, "marks", ["u1\t" + json.dumps(mark) for mark in (
            {"user": "u1", "group": "channel:9", "until": at},
            {"user": "u1", "group": "channel:9", "until": at - 5},
            {"user": "u1", "group": "", "until": 1})])
        config = settings(self.broker, {"topic": "exposed", "fact": "exposed", "at": "at",
                                        "surface": "page"}, {"topic": "marks", "fact": "mark"})
        with Server(config=config) as server:
            wait_read(server, "exposed", 2)
            wait_read(server, "marks", 3)
            for entry, unseen in (({"surface": "home"}, ["v2"]), ({}, [])):
                answer = server.post("/filter", {"user": "u1", "items": ["v1", "v2"], "not": [
                    dict(entry, fact="exposed", within="1d")]}).json
                self.assertEqual(answer["unseen"], unseen, entry)
            self.assertEqual(ingested(server)["exposures_accepted"], 2)
            marks = server.get("/users/u1/marks").json["marks"]
            self.assertEqual([(mark["group"], mark["until"]) for mark in marks],
                             [("channel:9", at)])
            self.assertEqual(partitions(server, "marks")[0]["dead_letters"], 1)

    def test_topics_and_partitions_that_come_later_begin_at_their_beginning(self):
        config = settings(self.broker, "later", start="latest")
        with Server(config=config) as server:
            wait(lambda: '"event":"ingest_topic_absent"' in server.log_text(), server)
            self.broker.topic("later", 1)
            send(self.broker, "later", lines(0, 60))
            wait_read(server, "later", 60)
            self.broker.grow_topic("later", 3)
            send(self.broker, "later", lines(60, 90), partition=1)
            send(self.broker, "later", lines(90, 120), partition=2)
            wait_read(server, "later", 120)
            self.check_seen(server, 0, 120)
            self.assertEqual(ingested(server)["plays_accepted"], 120)
            self.assertEqual([row["alarms"] for row in partitions(server, "later").values()],
                             [[], [], []])

    def test_a_range_that_retention_took_is_an_alarm(self):
        self.broker.topic("short", 1)
        send(self.broker, "short", lines(0, 100))
        with Server(config=settings(self.broker, "short")) as server:
            wait_read(server, "short", 100)
            self.assertEqual(server.terminate(), 0)
            send(self.broker, "short", lines(100, 200))
            self.broker.truncate("short", 0, 130)
            server.start()
            wait_read(server, "short", 200)
            row = partitions(server, "short")[0]
            self.assertEqual((row["alarms"], row["lost"]), (["truncated"], 30))
            self.assertEqual(ingested(server)["plays_accepted"], 170)
            metrics = server.get("/metrics").body.decode()
            self.assertIn('seendb_ingest_alarm{topic="short",partition="0",kind="truncated"} 1',
                          metrics)
            self.assertIn('seendb_ingest_lost_total{topic="short",partition="0"} 30', metrics)
            self.assertIn('"event":"ingest_alarm"', server.log_text())
            server.restart()
            wait_read(server, "short", 200)
            self.assertEqual(self.alarms(server, "short"), [], "it was told of, and is stored")

    def test_a_stored_offset_beyond_the_end_is_an_alarm(self):
        self.broker.topic("anew", 1)
        send(self.broker, "anew", lines(0, 100))
        with Server(config=settings(self.broker, "anew")) as server:
            wait_read(server, "anew", 100)
            self.assertEqual(server.terminate(), 0)
            self.broker.delete_topic("anew")
            real_kafka.eventually(lambda: "anew" not in topics_of(self.broker),
                                  timeout=real_kafka.PATIENCE_S)
            self.broker.topic("anew", 1)
            send(self.broker, "anew", lines(100, 130))
            server.start()
            wait(lambda: self.alarms(server, "anew") == ["beyond_end"], server)
            row = partitions(server, "anew")[0]
            self.assertIn("beyond", row["held"])
            self.assertEqual(row["applied_offset"], 100)
            self.assertEqual(ingested(server)["plays_accepted"], 100)
            # Nor by itself once the topic has grown, and not after a restart.
            send(self.broker, "anew", lines(130, 260))
            wait(lambda: partitions(server, "anew")[0]["high_watermark"] == 160, server)
            time.sleep(2)
            server.terminate()
            server.start()
            wait(lambda: self.alarms(server, "anew") == ["beyond_end"], server)
            time.sleep(2)
            self.assertEqual(partitions(server, "anew")[0]["applied_offset"], 100)
            self.assertEqual(server.terminate(), 0)
            tool("ingest", "--db", server.db, "--forget", "anew")
            server.start()
            wait_read(server, "anew", 160)
            self.check_seen(server, 0, 260)

    def test_a_topic_made_anew_is_known_though_it_is_longer(self):
        self.broker.topic("longer", 1)
        send(self.broker, "longer", lines(0, 100))
        with Server(config=settings(self.broker, "longer")) as server:
            wait_read(server, "longer", 100)
            self.assertEqual(server.terminate(), 0)
            self.broker.delete_topic("longer")
            real_kafka.eventually(lambda: "longer" not in topics_of(self.broker),
                                  timeout=real_kafka.PATIENCE_S)
            self.broker.topic("longer", 1)
            send(self.broker, "longer", lines(100, 250))
            server.start()
            wait(lambda: self.alarms(server, "longer") == ["beyond_end"], server)
            self.assertEqual(partitions(server, "longer")[0]["applied_offset"], 100)
            self.assertEqual(server.terminate(), 0)
            tool("ingest", "--db", server.db, "--forget", "longer")
            server.start()
            wait_read(server, "longer", 150)
            self.check_seen(server, 0, 250)

    def test_without_a_start_an_unknown_topic_is_an_error(self):
        self.broker.topic("unknown", 1)
        send(self.broker, "unknown", lines(0, 40))
        with Server(config=settings(self.broker, "unknown", start=None)) as server:
            wait(lambda: self.alarms(server, "unknown") == ["no_start"], server)
            row = partitions(server, "unknown")[0]
            self.assertEqual((row["applied_offset"], row["lag"], row["high_watermark"]),
                             (None, None, 40))
            self.assertEqual(ingested(server)["plays_accepted"], 0)

    def test_starting_with_the_latest_or_at_a_time(self):
        self.broker.topic("times", 1)
        send(self.broker, "times", lines(0, 40))
        time.sleep(0.05)
        begin_ms = now_ms()
        time.sleep(0.05)
        send(self.broker, "times", lines(40, 60))
        with Server(config=settings(self.broker, "times", start=begin_ms)) as server:
            wait_read(server, "times", 60)
            self.assertEqual(ingested(server)["plays_accepted"], 20)
        with Server(config=settings(self.broker, "times", start="latest")) as server:
            wait_read(server, "times", 60)
            send(self.broker, "times", lines(60, 70))
            wait_read(server, "times", 70)
            self.assertEqual(ingested(server)["plays_accepted"], 10)

    def test_the_tool_shows_what_is_consumed(self):
        self.broker.topic("shown", 2)
        send(self.broker, "shown", lines(0, 100))
        with Server(config=settings(self.broker, "shown", partitions=[1])) as server:
            wait(lambda: 1 in partitions(server, "shown") and
                 partitions(server, "shown")[1]["lag"] == 0, server)
            applied = partitions(server, "shown")[1]["applied_offset"]
            self.assertTrue(0 < applied < 100, applied)
            self.assertEqual(list(partitions(server, "shown")), [1], "the other is not owned")
            shown = json.loads(tool("ingest", "--url", server.url, "--json"))
            self.assertEqual(shown["topics"][0]["partitions"][0]["applied_offset"], applied)
            table = tool("ingest", "--url", server.url)
            self.assertIn("shown", table)
            self.assertIn("NEXT OFFSET", table.upper())
            self.assertEqual(server.terminate(), 0)
            folder = json.loads(tool("ingest", "--db", server.db, "--json"))
            self.assertEqual(folder["topics"][0]["partitions"][0]["applied_offset"], applied)


if __name__ == "__main__":
    real_kafka.require()
    unittest.main(verbosity=2)
