"""A server whose collections move in from a real Redis: filters that ask it as well, plays that go to
both, comparisons, and what /admin/migration says."""

import concurrent.futures
import contextlib
import itertools
import os
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
import real_redis  # noqa: E402
from certificates import Authority  # noqa: E402
from openapi_check import CheckedServer  # noqa: E402
from real_redis import Cluster, Redis, fill  # noqa: E402
from seendb_client import eventually, server_binary, whole  # noqa: E402
from tool_runner import run  # noqa: E402

PASSWORD = "s3cret-of-redis"
BUDGET_MS = 3_000  # a busy machine's; but each step of Redis is given up after a second


def now_s():
    return int(time.time())


def settings(redis, **more):
    return dict({"redis": redis.url, "key": "watched:{user}", "budget_ms": BUDGET_MS}, **more)


class MigrationCase(unittest.TestCase):

    cluster = False
    program = "redis-server"

    @classmethod
    def setUpClass(cls):
        if cls.program not in real_redis.programs():
            raise unittest.SkipTest(cls.program + " is not installed")
        cls.redis = Cluster() if cls.cluster else Redis(program=cls.program)

    @classmethod
    def tearDownClass(cls):
        cls.redis.close()

    def setUp(self):
        if not self.cluster:
            self.redis.run("FLUSHALL")

    def another(self, *arguments):
        """A store of this test alone."""
        redis = Redis(*arguments, program=self.program)
        self.addCleanup(redis.close)
        return redis

    def serve(self, collection="default", redis=None, **more):
        server = CheckedServer(config={"migration": {
            collection: settings(redis or self.redis, **more)}})
        self.addCleanup(server.close)
        return server

    def state(self, server):
        answer = server.get("/admin/migration")
        self.assertEqual(answer.status, 200, answer)
        return answer.json["collections"][0]

    def ask(self, server, user, items, **more):
        answer = server.post("/filter", dict({"user": user, "items": items}, **more))
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def whole(self, server, user, items, **more):
        """The answer; nothing where it is degraded."""
        answer = self.ask(server, user, items, **more)
        return None if answer["degraded"] else answer

    def whole_lines(self, server, rows):
        """The answers to lines; nothing where one of them is degraded."""
        answers = server.ndjson("/filter", rows).lines
        return None if any(answer["degraded"] for answer in answers) else answers

    @contextlib.contextmanager
    def nobody_imported(self, server):
        """Imports wait: what is asked meanwhile, as often as it takes, the old store is asked too."""
        self.assertEqual(server.post("/admin/migration/pause").status, 200)
        yield
        self.assertEqual(server.post("/admin/migration/resume").status, 200)

    def watched(self, user, *items, age_s=60, redis=None):
        (redis or self.redis).run_all(
            [("ZADD", "watched:%s" % user, now_s() - age_s, item) for item in items])

    def members(self, user):
        """Its members with their scores, as Redis has them."""
        flat = self.redis.run("ZRANGE", "watched:%s" % user, 0, -1, "WITHSCORES")
        return [(flat[i].decode(), float(flat[i + 1])) for i in range(0, len(flat), 2)]


class OldStoreTest(MigrationCase):

    def test_a_user_who_was_not_imported_is_asked_about_and_imported(self):
        self.watched("u1", "v1", "v3", "17")
        server = self.serve()
        items = ["v1", "v2", "v3", 17, "v4"]
        with self.nobody_imported(server):
            answer = eventually(lambda: self.whole(server, "u1", items, explain=True))
        self.assertEqual((answer["unseen"], answer["seen"], answer["examined"]),
                         (["v2", "v4"], 3, 5))
        self.assertEqual(answer["reasons"],
                         {"v1": "old_store", "v3": "old_store", "17": "old_store"})
        eventually(lambda: self.state(server)["imported_users"] == 1)
        self.redis.run("FLUSHALL")  # from now on SeenDB knows it
        answer = self.ask(server, "u1", items, explain=True)
        self.assertEqual((answer["unseen"], answer["reasons"]["v1"]), (["v2", "v4"], "ring"))
        eventually(lambda: self.state(server)["imported"] == 1)
        state = self.state(server)
        self.assertEqual(state["lookups"] - state["lookups_failed"], 1)

    def test_what_an_import_can_t_record_is_counted(self):
        self.watched("u1", "v1", "")
        self.watched("u1", "ahead", age_s=-3 * 86_400)
        self.watched("u1", "old", age_s=400 * 86_400)
        self.redis.run("ZADD", "watched:u1", "inf", "never")
        server = self.serve()
        eventually(lambda: self.whole(server, "u1", ["v1", "ahead"]))
        eventually(lambda: self.state(server)["imported"] == 1)
        self.assertEqual(self.state(server)["import_refused"], 4)
        self.assertEqual(self.ask(server, "u1", ["v1", "ahead", "old", "never"])["unseen"],
                         ["ahead", "old", "never"])
        shown = run("redis", "status", "--url", server.url).out
        self.assertIn("4 members of users whom the server imported were not recorded", shown)

    def test_limit_exclude_and_record_count_what_the_old_store_has(self):
        server = self.serve()
        server.post("/admin/migration/pause")  # so that nobody is imported meanwhile
        self.watched("u1", "v1", "v2", "v4")
        items = ["v1", "v2", "v3", "v4", "v5", "v6"]
        answer = eventually(lambda: self.whole(server, "u1", items, limit=2, exclude=["v5"]))
        self.assertEqual((answer["unseen"], answer["seen"], answer["excluded"], answer["examined"]),
                         (["v3", "v6"], 3, 1, 6))
        items = ["v1", "v3", "v4", "v6"]
        users = itertools.count(2)

        def served():  # each time to another user: what a degraded answer has recorded counts
            user = "u%d" % next(users)
            self.watched(user, "v1", "v2", "v4")
            answer = self.whole(server, user, items, limit=1, record=True)
            return answer and (user, answer)
        user, answer = eventually(served)
        self.assertEqual((answer["unseen"], answer["seen"], answer["examined"]), (["v3"], 1, 2))
        answer = eventually(lambda: self.whole(server, user, items, explain=True))
        self.assertEqual(answer["unseen"], ["v6"], "v3 was served by the request before")
        self.assertEqual(answer["reasons"]["v3"], "impression")
        self.assertEqual(self.state(server)["phase"], "paused")

    def test_a_long_key_is_imported_in_pieces(self):
        members = 30_000
        self.redis.run_all([("ZADD", "watched:long", now_s() - number % 5_000, "v%d" % number)
                            for number in range(members)])
        self.watched("short", "v1")
        server = self.serve()
        rows = [{"user": user, "items": ["v1", "v29999", "x"]} for user in ("long", "short")]
        with self.nobody_imported(server):
            answers = eventually(lambda: self.whole_lines(server, rows))
        self.assertEqual([one["unseen"] for one in answers], [["x"], ["v29999", "x"]])
        eventually(lambda: self.state(server)["imported_users"] == 2)
        self.redis.run("FLUSHALL")
        for begin in range(0, members, 5_000):
            items = ["v%d" % number for number in range(begin, begin + 5_000)]
            self.assertEqual(self.ask(server, "long", items + ["x"])["unseen"], ["x"])

    def test_impressions_alone_don_t_ask(self):
        self.watched("u1", "v1")
        server = self.serve()
        self.assertEqual(self.ask(server, "u1", ["v1"], facts=["impressions"])["unseen"], ["v1"])
        self.assertEqual(self.state(server)["lookups"], 0)

    def test_lines_and_bytes_ask_too(self):
        server = self.serve()
        server.post("/admin/migration/pause")
        for user in range(5):
            self.watched(user, "%d" % (user * 2), "x%d" % user)
        rows = [{"user": user % 5, "items": [user % 5 * 2, user % 5 * 2 + 1]} for user in range(20)]
        answers = eventually(lambda: self.whole_lines(server, rows))
        self.assertEqual([one["unseen"] for one in answers],
                         [[user % 5 * 2 + 1] for user in range(20)])

        def asked():
            answer = server.request("POST", "/filter?user=3&ids=u64", struct.pack("<3Q", 5, 6, 7),
                                    {"Content-Type": "application/octet-stream",
                                     "Accept": "application/vnd.seendb.indexes"})
            self.assertEqual(answer.status, 200, answer)
            return answer if answer.headers["seendb-degraded"] == "0" else None
        self.assertEqual(struct.unpack("<2I", eventually(asked).body), (0, 2))

    def test_an_old_store_that_is_away_degrades_the_answer(self):
        redis = self.another("--appendonly", "yes", "--appendfsync", "always")
        server = self.serve(redis=redis, budget_ms=300)
        server.post("/plays", {"events": [{"user": "u1", "item": "v1"}]})
        redis.run("ZADD", "watched:u1", now_s(), "v2")
        redis.kill()
        answer = self.ask(server, "u1", ["v1", "v2"])
        self.assertEqual((answer["unseen"], answer["degraded"], answer["missing"]),
                         (["v2"], True, ["old_store"]))
        refused = server.post("/filter", {"user": "u1", "items": ["v1"], "on_error": "fail"})
        self.assertEqual(refused.status, 503)
        eventually(lambda: self.state(server)["problem"] != "")
        redis.start()  # with v2 from the first: the user is imported as soon as it answers
        answer = eventually(lambda: self.whole(server, "u1", ["v1", "v2"]))
        self.assertEqual(answer["unseen"], [])
        eventually(lambda: self.state(server)["imported_users"] == 1)
        others = itertools.count(2)  # who is imported asks the old store no more
        eventually(lambda: self.ask(server, "u%d" % next(others), ["v1"]) and
                   self.state(server)["problem"] == "")

    def test_one_that_hangs_costs_the_budget_and_no_more(self):
        redis = self.another()
        server = self.serve(redis=redis, budget_ms=50)
        self.ask(server, "first", ["v1"])

        def asked(number):
            begin = time.monotonic()
            answer = self.ask(server, "u%d" % number, ["v1"])
            self.assertEqual(answer["missing"], ["old_store"])
            return time.monotonic() - begin

        redis.process.send_signal(subprocess.signal.SIGSTOP)
        try:  # all at once: Redis itself is given up after a second
            with concurrent.futures.ThreadPoolExecutor(20) as pool:
                took_s = list(pool.map(asked, range(20)))
        finally:
            redis.process.send_signal(subprocess.signal.SIGCONT)
        self.assertLess(min(took_s), 0.7, took_s)
        self.assertGreaterEqual(self.state(server)["lookups_failed"], 20)

    def test_degraded_and_ignore(self):
        self.watched("u1", "v1")
        server = self.serve(until_migrated="degraded")
        server.post("/admin/migration/pause")
        answer = self.ask(server, "u1", ["v1", "v2"])
        self.assertEqual((answer["unseen"], answer["missing"]), (["v1", "v2"], ["old_store"]))
        server.post("/admin/migration/resume", {"collection": "default"})
        eventually(lambda: self.state(server)["imported_users"] == 1)
        self.assertEqual(self.ask(server, "u1", ["v1", "v2"])["unseen"], ["v2"])
        ignoring = self.serve(until_migrated="ignore")
        answer = self.ask(ignoring, "u1", ["v1"])
        self.assertEqual((answer["unseen"], answer["degraded"]), (["v1"], False))
        self.assertEqual(self.state(ignoring)["import_queue"], 0)

    def test_other_collections_and_no_collection(self):
        server = self.serve(collection="video")
        self.assertFalse(self.ask(server, "u1", ["v1"])["degraded"])
        self.assertEqual(server.post("/filter", {"user": "u", "items": ["v"],
                                                 "collection": "video"}).status, 404)
        server.put("/collections/video", {})
        self.watched("u1", "v1")
        with self.nobody_imported(server):
            answer = eventually(lambda: self.whole(server, "u1", ["v1"], collection="video"))
        self.assertEqual(answer["unseen"], [])

    def test_who_was_erased_stays_forgotten(self):
        self.watched("u1", "v1")
        server = self.serve(dual_write=True, cap=0)
        self.assertEqual(server.delete("/users/u1").status, 200)
        self.assertEqual(self.ask(server, "u1", ["v1"])["unseen"], ["v1"])
        eventually(lambda: self.redis.run("EXISTS", "watched:u1") == 0)


class NotedTest(MigrationCase):

    def test_the_tool_s_import_notes_its_users(self):
        fill(self.redis, [((now_s() - 60) * 1000, "u%d" % user, "v%d" % item)
                          for user in range(300) for item in range(5)])
        server = self.serve()
        done = run("redis", "import", "--redis", self.redis.url, "--user-from", "watched:{user}",
                   "--url", server.url, "--json")
        self.assertEqual((done.code, done.json["users_noted"]), (0, True), done)
        self.assertEqual(self.state(server)["imported_users"], 300)
        self.redis.run("FLUSHALL")
        self.assertEqual(self.ask(server, "u7", ["v0", "v9"])["unseen"], ["v9"])
        self.assertEqual(self.state(server)["lookups"], 0)
        server.kill()
        server.start()
        self.assertEqual(self.state(server)["imported_users"], 300)
        text = run("redis", "status", "--url", server.url)
        self.assertIn("running", text.out, text)
        self.assertIn("300", text.out)

    def test_an_import_of_other_keys_notes_nobody(self):
        self.redis.run("ZADD", "other:u1", now_s(), "v1")
        server = self.serve()
        done = run("redis", "import", "--redis", self.redis.url, "--user-from", "other:{user}",
                   "--url", server.url, "--json")
        self.assertEqual((done.code, done.json["users_noted"]), (0, False), done)
        self.assertEqual(self.state(server)["imported_users"], 0)

    def test_an_import_into_the_folder_is_known_to_the_server(self):
        self.watched("u1", "v1")
        server = self.serve()
        server.terminate()
        done = run("redis", "import", "--redis", self.redis.url, "--user-from", "watched:{user}",
                   "--db", server.db, "--json")
        self.assertEqual((done.code, done.json["users_noted"]), (0, True), done)
        server.start()
        self.assertEqual(self.state(server)["imported_users"], 1)
        self.assertEqual(self.ask(server, "u1", ["v1", "v2"])["unseen"], ["v2"])

    def test_notes_and_their_errors(self):
        server = self.serve()
        note = {"collection": "default", "key": "watched:{user}", "users": ["a", 7, "7"]}
        self.assertEqual(server.post("/admin/migration/imported", note).json, {"noted": 3})
        self.assertEqual(self.state(server)["imported_users"], 2)
        for change, status, field in (({"key": "w:{user}"}, 409, "/key"),
                                      ({"collection": "x"}, 404, "/collection"),
                                      ({"users": [""]}, 400, "/users/0"),
                                      ({"other": 1}, 400, "/other")):
            answer = server.post("/admin/migration/imported", dict(note, **change))
            self.assertEqual((answer.status, answer.error["field"]), (status, field), answer)

    def test_a_collection_that_is_deleted_has_nobody_s_past(self):
        server = self.serve(collection="video")
        server.put("/collections/video", {})
        self.watched("u1", "v1")
        server.post("/admin/migration/imported",
                    {"collection": "video", "key": "watched:{user}", "users": ["u1"]})
        self.assertEqual(self.ask(server, "u1", ["v1"], collection="video")["unseen"], ["v1"])
        self.assertEqual(server.delete("/collections/video?confirm=video").status, 200)
        server.put("/collections/video", {})
        answer = eventually(lambda: self.whole(server, "u1", ["v1"], collection="video"))
        self.assertEqual(answer["unseen"], [])

    def test_finish_waits_for_an_import_of_all(self):
        self.watched("u1", "v1")
        server = self.serve()
        keys = os.path.join(server.db, "keys")
        with open(keys, "w", encoding="utf-8") as file:
            file.write("watched:u1\n")
        some = run("redis", "import", "--redis", self.redis.url, "--user-from", "watched:{user}",
                    "--url", server.url, "--keys", keys)
        self.assertEqual(some.code, 0, some)
        self.assertEqual(run("redis", "finish", "--url", server.url).code, 3)
        self.assertFalse(self.state(server)["everybody_imported"])
        every = run("redis", "import", "--redis", self.redis.url, "--user-from", "watched:{user}",
                     "--url", server.url)
        self.assertEqual(every.code, 0, every)
        server.restart()
        self.assertTrue(self.state(server)["everybody_imported"])
        done = run("redis", "finish", "--url", server.url)
        self.assertEqual(done.code, 0, done)
        self.assertIn("default: finished; lost: 0 B", done.out)
        self.assertNotIn("not everybody", done.out)

    def test_a_state_of_another_server_notes_not_everybody(self):
        self.watched("u1", "v1")
        state = os.path.join(self.serve().db, "state")
        first, second = self.serve(), self.serve()
        for server, everybody in ((first, True), (second, False), (first, True)):
            done = run("redis", "import", "--redis", self.redis.url, "--user-from",
                       "watched:{user}", "--url", server.url, "--state", state)
            self.assertEqual(done.code, 0, done)
            self.assertEqual(self.state(server)["everybody_imported"], everybody)

    def test_finish_forgets_all_and_is_kept(self):
        self.watched("u1", "v1")
        server = self.serve(dual_write=True, cap=0)
        self.assertEqual(server.post("/admin/migration/finish", {"collection": "x"}).status, 404)
        refused = server.post("/admin/migration/finish")
        self.assertEqual((refused.status, refused.error["field"]), (409, "/force"))
        self.assertIn("has read all its keys to their end, with exit code 0", refused.error["message"])
        self.assertIn("(--force)", refused.error["message"])
        self.assertEqual(self.state(server)["phase"], "running")
        self.assertEqual(server.post("/admin/migration/pause", {"force": True}).status, 400)
        done = server.post("/admin/migration/finish", {"force": True})
        self.assertEqual(done.json["collections"][0]["dropped"],
                         {"queue_bytes": 0, "affected_users": 0, "import_queue": 0,
                          "not_everybody": True})
        self.assertEqual(done.json["collections"][0]["phase"], "finished")
        self.assertEqual(self.ask(server, "u1", ["v1"])["unseen"], ["v1"])
        self.assertEqual(server.post("/admin/migration/resume").status, 409)
        server.post("/plays", {"events": [{"user": "u1", "item": "v2"}]})
        server.restart()
        self.assertEqual(self.state(server)["phase"], "finished")
        self.assertEqual(sorted(os.listdir(os.path.join(server.db, "MIGRATION"))),
                         ["default.finished"])
        self.assertEqual(self.members("u1")[0][0], "v1")


class DualWriteTest(MigrationCase):

    def test_what_is_taken_is_written_as_the_old_service_would(self):
        cap = 5
        server = self.serve(dual_write=True, cap=cap)
        self.watched("u1", "old", age_s=1_000)
        base = now_s() - 500
        rows = [{"user": "u1", "item": "v%d" % (i % 8), "at": (base + i) * 1000} for i in range(20)]
        expected = {"old": now_s() - 1_000}
        for row in rows:  # as the old service did
            expected[row["item"]] = max(expected.get(row["item"], 0), row["at"] // 1000)
        newest = sorted(expected.items(), key=lambda one: one[1])[-cap:]
        refused = {"user": "u1", "item": "ancient", "at": 1_000_000_000_000}
        answer = server.ndjson("/plays", rows[:10] + [refused])
        self.assertEqual((answer.json["accepted"], answer.json["refused"]), (10, 1))
        server.post("/plays", {"events": rows[10:]})
        server.post("/plays", {"events": rows[3:4]})  # again: an older time changes nothing
        eventually(lambda: self.state(server)["written"] == 21)
        eventually(lambda: self.members("u1") == [(item, float(at)) for item, at in newest])
        eventually(lambda: self.state(server)["queue_bytes"] == 0)

    def test_nothing_is_lost_while_redis_or_the_server_is_away(self):
        redis = self.another("--appendonly", "yes", "--appendfsync", "always")
        server = self.serve(redis=redis, dual_write=True, cap=0)
        redis.kill()
        for number in range(50):
            answer = server.post("/plays", {"events": [{"user": "u%d" % (number % 7),
                                                        "item": "v%d" % number}]})
            self.assertEqual(answer.status, 200)
        self.assertGreater(self.state(server)["queue_bytes"], 0)
        server.kill()
        redis.start()
        server.start()
        eventually(lambda: sum(redis.run("ZCARD", "watched:u%d" % user) for user in range(7)) == 50)
        eventually(lambda: self.state(server)["queue_bytes"] == 0)
        self.assertEqual(self.state(server)["affected_count"], 0)

    def test_who_is_lacking_is_known(self):
        redis = self.another()
        server = self.serve(redis=redis, dual_write=True, cap=0, queue_bytes=1 << 20)
        redis.run("SET", "watched:odd", "no sorted set")
        server.post("/plays", {"events": [{"user": "odd", "item": "v1"}]})
        eventually(lambda: self.state(server)["affected_users"] == ["odd"])
        redis.kill()
        rows = [{"user": "u%d" % (i % 3), "item": "a-rather-long-item-%0200d" % i}
                for i in range(8_000)]
        self.assertEqual(server.ndjson("/plays", rows).json["accepted"], 8_000)
        state = self.state(server)
        self.assertGreater(state["not_written"], 1_000)
        self.assertLessEqual(state["queue_bytes"], 1 << 20)
        self.assertEqual(sorted(state["affected_users"]), ["odd", "u0", "u1", "u2"])
        server.kill()
        server.start()
        self.assertEqual(self.state(server)["affected_count"], 4)

    def test_deleted_history_leaves_the_old_store(self):
        server = self.serve(dual_write=True, cap=0)
        server.put("/collections/default",
                   {"history": {"enabled": True, "deleted_items": "recommend_again"}})
        server.post("/plays", {"events": [{"user": "u1", "item": item, "at": now_s() * 1000}
                                          for item in ("v1", "v2")]})
        eventually(lambda: len(self.members("u1")) == 2)
        server.post("/users/u1/history/delete", {"items": ["v1"]})
        eventually(lambda: [item for item, _ in self.members("u1")] == ["v2"])
        server.post("/users/u1/history/clear", {"filter": True})
        eventually(lambda: self.members("u1") == [])


class ShadowTest(MigrationCase):

    def test_differences_are_counted(self):
        server = self.serve(shadow=1, dual_write=True, cap=0)
        self.watched("u1", "v1", "v2")
        # It has the user imported. Excluded items are not compared: the import may be over before
        # this answer is.
        self.ask(server, "u1", ["v1"], exclude=["v1"])
        eventually(lambda: self.state(server)["imported_users"] == 1)
        self.watched("u1", "behind SeenDB's back")
        self.watched("u1", "of years ago", age_s=3 * 365 * 86_400)
        self.redis.run("ZREM", "watched:u1", "v2")
        items = ["v1", "v2", "v3", "behind SeenDB's back", "of years ago"]
        self.assertEqual(self.ask(server, "u1", items, exclude=["x"])["unseen"], items[2:])

        def counted():
            state = self.state(server)
            return ([state["shadow_" + name] for name in ("checked", "extra", "missing")] == [5, 1, 1] and
                    [one["item"] for one in state["missing_samples"]] == ["behind SeenDB's back"] and
                    state["extra_samples"] == [{"user": "u1", "item": "v2"}])
        eventually(counted)
        metrics = server.get("/metrics").body.decode()
        self.assertIn('seendb_migration_shadow_missing_total{collection="default"} 1', metrics)
        self.assertIn('seendb_migration_imported_users{collection="default"} 1', metrics)


class ValkeyOldStoreTest(OldStoreTest):
    program = "valkey-server"


class ValkeyDualWriteTest(DualWriteTest):
    program = "valkey-server"


class ValkeyShadowTest(ShadowTest):
    program = "valkey-server"


class TlsTest(unittest.TestCase):
    """rediss://, with a password: read, imported and written."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.authority = Authority(self.folder)
        self.redis = Redis(password=PASSWORD, authority=self.authority)
        self.addCleanup(self.redis.close)
        self.password = os.path.join(self.folder, "password")
        with open(self.password, "w", encoding="utf-8") as file:
            file.write(PASSWORD + "\n")

    def serve(self, authority, **more):
        server = CheckedServer(config={"migration": {"default": settings(
            self.redis, redis_ca=authority.path, redis_password_file=self.password,
            dual_write=True, cap=0, **more)}})
        self.addCleanup(server.close)
        return server

    def state(self, server):
        return server.get("/admin/migration").json["collections"][0]

    def test_is_read_imported_and_written(self):
        self.redis.run("ZADD", "watched:u1", now_s() - 60, "v1")
        server = self.serve(self.authority)
        self.assertTrue(self.state(server)["redis"].startswith("rediss://"), self.state(server))
        server.post("/admin/migration/pause")
        question = {"user": "u1", "items": ["v1", "v2"], "explain": True}
        answer = eventually(lambda: whole(server.post("/filter", question))).json
        self.assertEqual((answer["unseen"], answer["reasons"]), (["v2"], {"v1": "old_store"}))
        server.post("/admin/migration/resume")
        eventually(lambda: self.state(server)["imported_users"] == 1)
        at_s = now_s()
        server.post("/plays", {"events": [{"user": "u1", "item": "v3", "at": at_s * 1000}]})
        eventually(lambda: self.redis.run("ZSCORE", "watched:u1", "v3") == str(at_s).encode())
        eventually(lambda: self.state(server)["queue_bytes"] == 0)
        self.redis.kill()  # and once it is back, the connection is made anew
        server.post("/plays", {"events": [{"user": "u2", "item": "v4", "at": at_s * 1000}]})
        self.redis.start()
        eventually(lambda: self.redis.run("ZSCORE", "watched:u2", "v4") == str(at_s).encode())
        self.assertEqual(server.delete("/users/u2").status, 200)
        eventually(lambda: self.redis.run("EXISTS", "watched:u2") == 0)

    def test_one_that_others_signed_gets_nothing(self):
        self.redis.run("ZADD", "watched:u1", now_s() - 60, "v1")
        server = self.serve(Authority(self.folder, "others"), until_migrated="old_store")
        answer = server.post("/filter", {"user": "u1", "items": ["v1", "v2"]}).json
        self.assertEqual((answer["unseen"], answer["missing"]), (["v1", "v2"], ["old_store"]))
        server.post("/plays", {"events": [{"user": "u1", "item": "v3"}]})
        eventually(lambda: "certificate" in self.state(server)["problem"])
        self.assertGreater(self.state(server)["queue_bytes"], 0)
        self.assertEqual(self.redis.run("ZCARD", "watched:u1"), 1)
        self.assertNotIn(PASSWORD, server.log_text())


class ClusterTest(MigrationCase):

    cluster = True

    def test_all_of_it_on_a_redis_cluster(self):
        for user in range(30):
            self.watched(user, "v1")
        server = self.serve(dual_write=True, cap=3)
        rows = [{"user": user, "items": ["v1", "v2"]} for user in range(30)]
        with self.nobody_imported(server):
            answers = eventually(lambda: self.whole_lines(server, rows))
        self.assertEqual([one["unseen"] for one in answers], [["v2"]] * 30)
        eventually(lambda: self.state(server)["imported_users"] == 30)
        server.ndjson("/plays", [{"user": user, "item": "n%d" % number}
                                 for user in range(30) for number in range(4)])
        eventually(lambda: self.state(server)["written"] == 120)
        eventually(lambda: all(self.redis.run("ZCARD", "watched:%d" % user) == 3
                               for user in range(30)))


class SecretTest(unittest.TestCase):

    def test_the_password_is_nowhere(self):
        with Redis(password=PASSWORD) as redis:
            url = redis.url.replace("redis://", "redis://:%s@" % PASSWORD)
            config = {"migration": {"default": {"redis": url, "key": "watched:{user}",
                                                "budget_ms": BUDGET_MS}}}
            redis.run("ZADD", "watched:u1", now_s(), "v1")
            with CheckedServer(config=config) as server:
                question = {"user": "u1", "items": ["v1", "v2"]}
                answer = eventually(lambda: whole(server.post("/filter", question)))
                self.assertEqual(answer.json["unseen"], ["v2"])
                shown = server.get("/admin/migration").body + server.get("/metrics").body
                self.assertIn(b"redis://127.0.0.1:", shown)
                redis.run("CONFIG", "SET", "requirepass", "another")
                redis.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
                eventually(lambda: server.get("/admin/migration").json["collections"][0]["problem"]
                           or not server.post("/filter", {"user": "u2", "items": ["v"]}).json["seen"]
                           and None)
                shown += server.get("/admin/migration").body + server.log_text().encode()
                self.assertNotIn(PASSWORD.encode(), shown)

    def test_a_password_in_a_file(self):
        with Redis(password=PASSWORD) as redis:
            path = os.path.join(redis.folder, "password")
            with open(path, "w", encoding="utf-8") as file:
                file.write(PASSWORD + "\n")
            redis.run("ZADD", "watched:u1", now_s(), "v1")
            config = {"migration": {"default": {"redis": redis.url, "redis_password_file": path,
                                                "key": "watched:{user}", "budget_ms": BUDGET_MS}}}
            with CheckedServer(config=config) as server:
                question = {"user": "u1", "items": ["v1", "v2"]}
                answer = eventually(lambda: whole(server.post("/filter", question)))
                self.assertEqual(answer.json["unseen"], ["v2"])

    def test_settings_that_are_refused_say_where(self):
        good = {"redis": "redis://:%s@127.0.0.1:1" % PASSWORD, "key": "w:{user}"}
        for change, pointer in (({"redis": "http://:%s@h" % PASSWORD}, "/migration/video/redis"),
                                ({"key": "w"}, "/migration/video/key"),
                                ({"score_unit": "h"}, "/migration/video/score_unit"),
                                ({"until_migrated": "x"}, "/migration/video/until_migrated"),
                                ({"budget_ms": 0}, "/migration/video/budget_ms"),
                                ({"dual_write": True}, "/migration/video/cap"),
                                ({"shadow": 2}, "/migration/video/shadow"),
                                ({"shadows": 1}, "/migration/video/shadows")):
            with CheckedServer(config={"migration": {"video": dict(good, **change)}},
                               start=False) as server:
                done = subprocess.run(
                    [server_binary(), "--db", server.db, "--check-config", *server.args],
                    capture_output=True, check=False, timeout=60)
                said = done.stdout + done.stderr
                self.assertEqual(done.returncode, 2, said)
                self.assertIn(pointer.encode(), said)
                self.assertNotIn(PASSWORD.encode(), said)


if __name__ == "__main__":
    real_redis.require()
    unittest.main()
