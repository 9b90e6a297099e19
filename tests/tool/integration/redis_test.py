"""seendb redis: survey, import and compare on a real Redis of Debian's, alone, with a password, with
TLS and as a cluster."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import real_redis  # noqa: E402
from certificates import Authority  # noqa: E402
from real_redis import Cluster, Redis, fill  # noqa: E402
from seendb_client import Server, eventually, free_port  # noqa: E402
from tool_runner import (DAMAGE, DAY_MS, NOT_FOUND, OK, ROWS, UNAVAILABLE, USAGE, ToolCase,  # noqa: E402
                         run, tool_binary)

DENIED, MISSING = 9, 10
SECRET = "s3cret-of-redis"
FROM = ["--user-from", "watched:{user}"]


def now_ms():
    return int(time.time()) * 1000


def plays_of(users, items, days=60):
    """(at_ms, user, item): each user's items, spread over the days before now."""
    now = now_ms()
    return [(now - (user * 7919 + item * 104_729) % (days * DAY_MS) // 1000 * 1000, str(user),
             "v%d" % ((user * 37 + item) % 5_000)) for user in range(users) for item in range(items)]


class RedisCase(ToolCase):
    """A test with a Redis of its own class."""

    arguments, options = [], {}

    @classmethod
    def setUpClass(cls):
        cls.redis = Redis(*cls.arguments, **cls.options)

    @classmethod
    def tearDownClass(cls):
        cls.redis.close()

    def setUp(self):
        super().setUp()
        self.redis.run("FLUSHALL")

    def survey(self, *args, code=OK):
        return self.tool("redis", "survey", "--redis", self.redis.url, "--json", *args, code=code)

    def move(self, *args, code=OK, into=None):
        """redis import into the folder."""
        return self.tool("redis", "import", "--redis", self.redis.url, "--json", *FROM,
                         *(into or ["--db", self.db]), *args, code=code)

    def compare(self, *args, code=OK, into=None):
        return self.tool("redis", "compare", "--redis", self.redis.url, "--json", *FROM,
                         *(into or ["--db", self.db]), *args, code=code)


class SurveyTest(RedisCase):

    def test_counts_and_a_policy_that_takes_all(self):
        plays = plays_of(1_500, 4, days=340)
        fill(self.redis, plays)
        self.redis.run("SET", "watched:text", "a")
        self.redis.run("SET", "other:1", "x")
        report = self.survey("--match", "watched:*").json
        self.assertEqual((report["users"], report["members"]), (1_500, len(plays)))
        self.assertEqual(report["user_from"], "watched:{user}")
        self.assertEqual(report["other_keys"], {"string": 1})
        self.assertEqual(report["oldest_ms"], min(play[0] for play in plays))
        self.assertEqual(report["newest_ms"], max(play[0] for play in plays))
        self.assertEqual((report["score_unit"], report["integer_members"]), ("s", False))
        self.assertEqual(report["lengths"], {"p50": 4, "p90": 4, "p99": 4, "max": 4})
        self.assertGreater(report["memory_bytes"], 100 * 1_500)
        self.assertGreater(report["disk_bytes"], len(plays))
        self.tool("collections", "put", "default", json.dumps(report["policy"]), "--db", self.db)
        done = self.move("--max-refused", "1%")
        self.assertEqual((done.json["accepted"], done.json["outside_window"]), (len(plays), 0), done)
        self.assertEqual((done.json["refused"], done.json["bad_keys"]), (0, 1))
        text = self.tool("redis", "survey", "--redis", self.redis.url, "--match", "watched:*").out
        self.assertIn("1,500", text)
        self.assertIn("oldest score ", text)

    def test_units_and_kinds(self):
        for unit_ms, unit in ((1000, "s"), (1, "ms"), (0.001, "us")):
            self.redis.run("FLUSHALL")
            fill(self.redis, [(now_ms(), "1", 17)], unit_ms=unit_ms)
            report = self.survey("--match", "*").json
            self.assertEqual((report["score_unit"], report["integer_members"]), (unit, True))
        self.redis.run("FLUSHALL")
        self.redis.run("RPUSH", "watched:1", "a", "b", "c")
        self.redis.run("SADD", "watched:2", "a")
        report = self.survey(*FROM).json
        self.assertEqual((report["users"], report["members"]), (2, 4))
        self.assertEqual(report["types"], {"list": 1, "set": 1})
        self.assertEqual((report["score_unit"], report["policy"]), ("none", {"impressions": 3}))

    def test_nothing_and_nobody(self):
        self.assertEqual(self.survey().json["users"], 0)
        self.assertIn("write {user} once", self.survey("--user-from", "x", code=USAGE).err)
        done = self.tool("redis", "survey", "--redis", "redis://127.0.0.1:1", code=UNAVAILABLE)
        self.assertIn("can't reach redis://127.0.0.1:1", done.err)
        done = self.tool("redis", "survey", "--redis", "http://x", code=USAGE)
        self.assertIn("--redis: write redis://", done.err)
        self.tool("redis", "survey", code=USAGE)
        self.tool("redis", code=USAGE)


class ImportTest(RedisCase):

    def test_into_a_folder_and_nothing_is_missing(self):
        plays = plays_of(300, 40)
        fill(self.redis, plays)
        done = self.move("--state", self.path("state"))
        self.assertEqual((done.json["users"], done.json["members"], done.json["accepted"]),
                         (300, 12_000, 12_000), done)
        found = self.compare().json
        self.assertEqual((found["users"], found["checked"], found["missing"]), (300, 12_000, 0))
        self.assertGreater(found["others_checked"], 1_000)
        # The second run has nothing to do.
        again = self.move("--state", self.path("state"))
        self.assertEqual((again.json["members"], again.json["resumed_after_users"]), (12_000, 300))
        self.assertEqual(again.json["members_per_s"], 0)

    def test_what_is_missing_is_named(self):
        fill(self.redis, plays_of(20, 10))
        self.move()
        self.redis.run("ZADD", "watched:7", now_ms() // 1000, "lost")
        self.redis.run("ZADD", "watched:7", (now_ms() - 900 * DAY_MS) // 1000, "too old to count")
        found = self.compare(code=MISSING)
        self.assertEqual((found.json["missing"], found.json["outside_window"]), (1, 1))
        self.assertEqual([(one["user"], one["item"]) for one in found.json["missing_samples"]],
                         [("7", "lost")])
        self.assertEqual(found.error["code"], "missing")
        self.assertEqual(self.compare("--sample", "0", code=MISSING).json["users"], 20)
        sample = run("redis", "compare", "--redis", self.redis.url, "--json", "--db", self.db, *FROM,
                     "--sample", "3")  # its exit code depends on whether that user is in it
        self.assertLessEqual(sample.json["users"], 3)

    def test_old_plays_are_told_apart(self):
        now = now_ms()
        fill(self.redis, [(now, "1", "new"), (now - 150 * DAY_MS, "1", "old"),
                          (now - 900 * DAY_MS, "1", "gone"), (now - 901 * DAY_MS, "1", "gone too")])
        asked = self.move(code=USAGE)
        self.assertIn("1 of the first 1 keys have 1 members from before the window",
                      asked.error["message"])
        self.assertEqual(self.seen("1", "new", "old"), {})
        done = self.move("--yes", code=ROWS)
        self.assertEqual(done.error["code"], "rows_refused")
        self.assertEqual(done.json["refused_by"], {"too_old": 2})
        self.assertEqual((done.json["accepted"], done.json["outside_window"]), (2, 1))
        self.move("--yes", "--max-refused", "50%")
        self.move("--yes", "--max-refused", "49%", code=ROWS)
        with Server() as server:
            self.move(code=USAGE, into=["--url", server.url])
            through = self.move("--yes", code=ROWS, into=["--url", server.url])
            self.assertEqual(through.json["refused_by"], {"too_old": 2})
            self.compare(into=["--url", server.url])

    def test_a_window_that_holds_the_ages_asks_nothing(self):
        old = now_ms() - 150 * DAY_MS
        for unit_ms, unit in ((1000, "s"), (1, "ms"), (0.001, "us")):
            self.redis.run("FLUSHALL")
            fill(self.redis, [(old, "1", "old")], unit_ms=unit_ms)
            self.move("--score-unit", unit, code=USAGE)
        self.redis.run("RPUSH", "watched:2", "a")  # no sorted set: its members have the time of --at
        at = ["--at", str(old), "--score-unit", "none"]
        self.assertIn("--yes if it is meant", self.move(*at, code=USAGE).error["message"])
        self.move(*at, "--yes")
        self.move(*at, "--kind", "impressions", code=OK)
        self.redis.run("DEL", "watched:2")
        year = '{"bucket":"month","window":13,"retention":14}'
        self.tool("collections", "put", "year", year, "--db", self.db)
        self.move("--collection", "year")
        self.assertEqual(set(self.seen("1", "old", args=["--collection", "year"])), {"old"})

    def test_where_no_key_fits_nothing_is_proved(self):
        self.redis.run("ZADD", "seen:1", now_ms() // 1000, "v1")
        moved = self.move(code=NOT_FOUND)
        self.assertEqual(moved.json["users"], 0)
        self.assertRegex(moved.err, r"no key of .* was read as one of watched:\{user\}: are --user-from")
        self.assertIn("was read as one of watched:{user}", self.compare(code=NOT_FOUND).err)

    def test_strange_members_and_keys(self):
        now = now_ms() // 1000
        self.redis.run("ZADD", "watched:1", now, "good", now, "", now, b"\xff", now, "x" * 256)
        self.redis.run("ZADD", "watched:2", "inf", "never", "-inf", "always", now, "good")
        self.redis.run("HSET", "watched:3", "a", "b")
        self.redis.run("RPUSH", "watched:4", "a")
        self.redis.run("ZADD", "watched:" + "u" * 256, now, "good")
        done = self.move("--score-unit", "s", code=ROWS).json
        self.assertEqual((done["users"], done["accepted"], done["bad_keys"]), (2, 2, 3))
        self.assertEqual(done["refused_by"], {"malformed": 3, "no_time": 2})
        self.assertEqual(done["bad_by"], {"hash": 1, "no_times": 1, "no_user": 1})
        self.assertIn({"what": "watched:3", "why": "holds a hash: say --hashes"}, done["problems"])
        with_hashes = self.move("--score-unit", "s", "--hashes", code=ROWS).json
        self.assertEqual((with_hashes["bad_keys"], with_hashes["refused_by"]),
                         (2, {"malformed": 3, "no_time": 3}))
        self.assertIn({"what": "watched:4", "why": "has no times: say --at"}, done["problems"])
        guessed = self.move(code=ROWS).json
        self.assertEqual({name: guessed[name] for name in ("users", "refused_by", "bad_keys")},
                         {name: done[name] for name in ("users", "refused_by", "bad_keys")},
                         "what is odd decides nothing")

    def test_scores_that_are_no_times(self):
        now = now_ms()
        self.redis.run("ZADD", "watched:1", 1, "a", 2, "b", now, "c")
        self.assertIn("is no time in s, ms or us", self.move(code=USAGE).err)
        self.redis.run("ZADD", "watched:1", now, "a", now // 1000, "b")
        self.assertIn("times in different units", self.move(code=USAGE).err)

    def test_a_time_of_now_is_that_of_the_beginning(self):
        self.redis.run("SADD", "watched:1", "a", "b")
        state = self.path("state")
        begun = now_ms()
        done = self.move("--at", "now", "--state", state).json
        self.assertEqual(done["accepted"], 2)
        with open(state, encoding="utf-8") as file:
            at = json.load(file)["at"]
        self.assertTrue(begun <= at <= time.time() * 1000, at)
        self.move("--at", "now", "--state", state)
        self.assertIn("is the state of another import",
                      self.move("--at", str(at), "--state", state, code=USAGE).err)

    def test_lists_and_sets_with_a_time(self):
        served = ["v%d" % i for i in range(150)]
        self.redis.run("RPUSH", "watched:1", *served)
        self.redis.run("SADD", "watched:2", "a", "b")
        at = ["--at", str(now_ms()), "--kind", "impressions"]
        done = self.move(*at).json
        self.assertEqual((done["users"], done["accepted"]), (2, 152))
        # The policy keeps 100 impressions; the head of the list is the newest.
        asked = self.tool("check", "1", "v0", "v99", "v100", "v149", "--db", self.db, "--json").json
        self.assertEqual([one["seen"] for one in asked["items"]], [True, True, False, False])
        self.assertEqual(self.compare(*at).json["missing"], 0)

    def test_hashes_of_items_and_times(self):
        now = now_ms()
        for user in range(5):
            self.redis.run("HSET", "watched:%d" % user,
                           *[x for i in range(20) for x in ("v%d" % i, now - i * 1000)])
        self.redis.run("HSET", "watched:long",
                       *[x for i in range(6_000) for x in ("w%d" % i, now - i)])
        report = self.survey(*FROM).json
        self.assertEqual((report["users"], report["members"]), (6, 6_100))
        self.assertEqual(report["types"], {"hash": 6})
        self.assertEqual((report["score_unit"], report["newest_ms"]), ("ms", now))
        self.assertIn("--score-unit ms", report["import_command"])
        self.assertIn("--hashes", report["import_command"])
        done = self.move("--score-unit", "ms", code=ROWS).json
        self.assertEqual((done["users"], done["bad_keys"]), (0, 6), "unless they are asked for")
        done = self.move("--hashes").json
        self.assertEqual((done["users"], done["accepted"], done["refused"]), (6, 6_100, 0), done)
        found = self.compare("--hashes").json
        self.assertEqual((found["checked"], found["missing"], found["extra"]), (6_100, 0, 0), found)

    def test_keys_of_several_forms_are_asked_about(self):
        now = now_ms() // 1000
        for user in range(20):
            self.redis.run("ZADD", "watched:%d" % user, now, "v")
        self.redis.run("ZADD", "watched:{3}:x", now, "w")
        report = self.survey(*FROM).json
        self.assertEqual(report["forms"], [
            {"form": "*", "keys": 20, "example": report["forms"][0]["example"]},
            {"form": "{*}:*", "keys": 1, "example": "watched:{3}:x"}])
        self.assertIn("--form '*'", report["import_command"])
        refused = self.move(code=USAGE).err
        self.assertIn("1 as watched:{3}:x ({*}:*)", refused)
        self.assertIn("--form '*'", refused)
        state = self.path("state")
        self.assertIn("({*}:*)", self.compare(code=USAGE).err)
        done = self.move("--form", "*", "--state", state, code=ROWS).json
        found = self.compare("--form", "*").json
        self.assertEqual((found["checked"], found["missing"], found["keys_not_read"]), (20, 0, 1), found)
        self.assertEqual((done["users"], done["bad_keys"]), (20, 1), done)
        self.assertIn("would be of the user {3}:x", done["problems"][0]["why"])
        self.assertIn("another import: form was", self.move("--form", "{*}:*", "--state", state,
                                                            code=USAGE).err)
        self.assertEqual(self.move("--form", "any").json["users"], 21)

    def test_the_command_of_a_survey_imports(self):
        fill(self.redis, plays_of(30, 5))
        self.redis.run("PEXPIRE", "watched:0", 3_600_000)
        report = self.survey("--match", "watched:*").json
        self.assertGreater(report["expiring_share"], 0)
        command = shlex.split(report["import_command"])
        self.assertEqual(command[:3], ["seendb", "redis", "import"])
        command[command.index("--state") + 1] = self.path("state")
        done = self.tool(*command[1:], "--db", self.db, "--json").json
        self.assertEqual((done["users"], done["accepted"]), (30, 150), done)

    def test_keys_of_a_file(self):
        fill(self.redis, plays_of(50, 3))
        keys = self.write("keys.txt", "".join("watched:%d\n" % user for user in range(10, 60)))
        done = self.move("--keys", keys, "--state", self.path("state")).json
        self.assertEqual((done["users"], done["absent_keys"]), (40, 10))
        with open(keys, "a", encoding="utf-8") as file:  # which has grown since
            file.write("watched:1\nseen:2\n")
        done = self.move("--keys", keys, "--state", self.path("state"), code=ROWS).json
        self.assertEqual((done["users"], done["absent_keys"], done["bad_keys"]), (41, 10, 1))
        self.move("--keys", self.path("nowhere"), code=NOT_FOUND)
        done = self.move("--keys", keys, "--match", "*", code=USAGE)
        self.assertIn("exclude each other", done.err)

    def test_a_key_that_is_longer_than_a_piece(self):
        now = now_ms() // 1000
        items = ["v%d" % i for i in range(12_000)]
        self.redis.run("ZADD", "watched:1", *[word for item in items for word in (now, item)])
        self.redis.run("SADD", "watched:2", *items)
        self.redis.run("RPUSH", "watched:3", *items)
        done = self.move("--at", str(now_ms())).json
        self.assertEqual((done["users"], done["members"]), (3, 36_000))
        self.assertEqual(self.compare("--at", str(now_ms())).json["missing"], 0)

    def test_a_state_belongs_to_its_import(self):
        fill(self.redis, plays_of(5, 2))
        state = ["--state", self.path("state")]
        self.move(*state)
        done = self.move(*state, "--match", "watched:1*", code=USAGE)
        self.assertIn("is the state of another import: keys was", done.err)
        self.tool("collections", "put", "other", "--db", self.db)
        self.assertIn("collection was", self.move(*state, "--collection", "other", code=USAGE).err)
        self.assertIn("score_unit was", self.move(*state, "--score-unit", "ms", code=USAGE).err)
        # Where the database is does not matter.
        with Server() as server:
            self.assertEqual(self.move(*state, into=["--url", server.url]).json["members"], 10)
        self.assertIn("is not the state", self.move("--state", self.write("bad", "x"), code=USAGE).err)
        self.assertIn("is not the state of a redis import",
                      self.move("--state", self.write("load", '{"file":"x","rows":1}'),
                                code=USAGE).err)

    def test_the_rate_is_kept(self):
        fill(self.redis, plays_of(30, 100))
        begin = time.monotonic()
        self.move("--rate", "2000", "--parallel", "1")
        self.assertGreater(time.monotonic() - begin, 0.9)

    def test_interrupted_it_says_how_to_go_on(self):
        fill(self.redis, plays_of(2_000, 5))
        state = self.path("state")
        url = self.redis.url.replace("redis://", "redis://:%s@" % SECRET)
        self.redis.run("CONFIG", "SET", "requirepass", SECRET)
        self.addCleanup(self.redis.run, "CONFIG", "SET", "requirepass", "")
        # It would take 20 s.
        process = subprocess.Popen([tool_binary(), "redis", "import", "--redis", url, "--db", self.db,
                                    *FROM, "--state", state, "--rate", "500"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        eventually(lambda: os.path.exists(state))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, (out, err))
        self.assertIn(b"To go on: ", err)
        with open(state, "rb") as file:
            noted = file.read()
        for text in (out, err, noted):
            self.assertNotIn(SECRET.encode(), text)
        done = self.tool("redis", "import", "--redis", url, "--db", self.db, *FROM, "--state", state,
                         "--json").json
        self.assertEqual(done["members"], 10_000)
        self.assertGreater(done["resumed_after_users"], 0)


class KillTest(RedisCase):

    def test_killed_at_random_nothing_is_lost(self):
        """The importer, the server and Redis (with its dump) are killed while others play."""
        plays = plays_of(4_000, 12)
        fill(self.redis, plays)
        self.redis.run("SAVE")
        state = self.path("state")
        with Server(start=False) as server:
            server.start(port=free_port())
            command = ["redis", "import", "--redis", self.redis.url, *FROM, "--state", state,
                       "--json", "--url"]
            for turn in range(6):
                process = subprocess.Popen([tool_binary(), *command, server.url, "--rate", "20000"],
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(0.3 + 0.13 * turn)
                if turn == 5:  # on a slow machine none has come as far
                    eventually(lambda: os.path.exists(state) or process.poll() is not None)
                if turn % 3 != 1:
                    process.kill()
                if turn % 3 != 0:
                    server.kill()
                    server.start(port=server.port if turn != 5 else 0)
                if turn == 4:
                    self.redis.kill()
                    self.redis.start()
                if turn % 3 == 1:  # this one waits for the server, and is killed later
                    time.sleep(0.3)
                    process.kill()
                process.wait()
            self.assertTrue(os.path.exists(state))
            done = self.tool(*command, server.url).json
            self.assertGreater(done["resumed_after_users"], 0)
            self.assertGreaterEqual(done["users"], 4_000)
            self.assertEqual(done["refused"], 0)
            found = self.compare(into=["--url", server.url]).json
            self.assertEqual((found["users"], found["checked"], found["missing"]),
                             (4_000, 48_000, 0))

    def test_redis_restarts_under_a_scan(self):
        fill(self.redis, plays_of(4_000, 3))
        self.redis.run("SAVE")
        process = subprocess.Popen([tool_binary(), "redis", "import", "--redis", self.redis.url,
                                    "--db", self.db, *FROM, "--rate", "8000", "--json"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        eventually(lambda: "cmdstat_zrange" in str(self.redis.run("INFO", "commandstats")))
        self.redis.kill()
        self.redis.start()
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, OK, (out, err))
        self.assertEqual(self.compare().json["users"], 4_000)
        self.assertEqual(self.compare().json["missing"], 0)


class DumpTest(RedisCase):

    def test_a_dump_is_served_on_a_copy(self):
        fill(self.redis, plays_of(40, 5))
        self.redis.run("SAVE")
        dump = os.path.join(self.redis.folder, "dump.rdb")
        with open(dump, "rb") as file:
            before = file.read()
        temporary = self.path("tmp")
        os.mkdir(temporary)
        flags = ["--rdb", dump, "--db", self.db, *FROM, "--json"]
        env = {"TMPDIR": temporary}
        done = run("redis", "import", *flags, env=env)
        self.assertEqual((done.code, done.json["members"]), (OK, 200), done)
        self.assertEqual(run("redis", "compare", *flags, env=env).json["missing"], 0)
        self.assertEqual(os.listdir(temporary), [])
        with open(dump, "rb") as file:
            self.assertEqual(file.read(), before)
        broken = self.write("broken.rdb", b"REDIS0011" + b"\xfe" * 100)
        done = run("redis", "survey", "--rdb", broken, env=env)
        self.assertEqual(done.code, DAMAGE, done)
        self.assertIn("redis-server can't read the dump", done.err)
        self.assertEqual(os.listdir(temporary), [])
        self.assertEqual(run("redis", "survey", "--rdb", "/nowhere", env=env).code, NOT_FOUND)
        done = run("redis", "survey", "--rdb", dump, env=dict(env, PATH="/nowhere"))
        self.assertIn("needs the program redis-server", done.err)


class ConfinedDumpTest(RedisCase):
    """What the redis-server of --rdb is started with: a dump may be a stranger's."""

    def setUp(self):
        super().setUp()
        fill(self.redis, plays_of(40, 5))
        self.redis.run("SAVE")
        self.dump = os.path.join(self.redis.folder, "dump.rdb")
        # In the place of redis-server: it notes what it was given, and becomes the real one.
        os.mkdir(self.path("bin"))
        self.noted = self.path("noted")
        script = self.path("bin/redis-server")
        with open(script, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nfor word; do echo \"$word\"; done > %s\n"
                       "ulimit -v >> %s; ulimit -c >> %s\n"
                       "grep NoNewPrivs /proc/self/status >> %s\n"
                       "exec %s \"$@\"\n" % ((self.noted,) * 4 + (shutil.which("redis-server"),)))
        os.chmod(script, 0o755)

    def survey(self, *flags):
        env = {"PATH": self.path("bin") + ":" + os.environ["PATH"]}
        return run("redis", "survey", "--rdb", self.dump, *FROM, "--json", *flags, env=env)

    def test_it_has_limits(self):
        done = self.survey("--rdb-memory-mb", "64")
        self.assertEqual((done.code, done.json["users"]), (OK, 40), done)
        with open(self.noted, encoding="utf-8") as file:
            noted = file.read().split("\n")
        after = lambda word: noted[noted.index(word) + 1]
        self.assertEqual(after("--sanitize-dump-payload"), "yes")
        self.assertEqual(after("--maxmemory"), str(64 << 20))
        self.assertEqual(after("--port"), "0")
        self.assertEqual(noted[-4:-1], [str((64 + 512) << 10), "0", "NoNewPrivs:\t1"])

    def test_a_dump_that_takes_too_much_is_refused(self):
        for number in range(8):
            self.redis.run("SETRANGE", "large:%d" % number, str(90 << 20), "x")
        self.redis.run("SAVE")
        done = self.survey("--rdb-memory-mb", "64")
        self.assertEqual(done.code, DAMAGE, done)
        self.assertIn("more than 64 MB of memory (--rdb-memory-mb)", done.err)
        self.assertEqual(self.survey().code, OK)


class SecretTest(RedisCase):
    """A password, an ACL and TLS; none is shown."""

    options = {"password": SECRET}

    def hidden(self, done, code):
        self.assertEqual(done.code, code, done)
        self.assertNotIn(SECRET, done.out + done.err)
        return done

    def test_passwords(self):
        fill(self.redis, plays_of(3, 3))
        survey = ["redis", "survey", "--match", "watched:*", "--json", "--redis"]
        host = self.redis.url[len("redis://"):]
        with_password = "redis://:%s@%s" % (SECRET, host)
        wrong = "redis://:%sX@%s" % (SECRET, host)
        path = self.write("password", SECRET + "\n")
        self.assertEqual(self.hidden(run(*survey, with_password), OK).json["users"], 3)
        self.assertEqual(run(*survey, with_password).json["source"], self.redis.url)
        self.hidden(run(*survey, self.redis.url, "--redis-password-file", path), OK)
        self.hidden(run(*survey, self.redis.url, env={"SEENDB_REDIS_PASSWORD": SECRET}), OK)
        self.hidden(run(*survey[:-1], env={"SEENDB_REDIS": with_password}), OK)
        self.hidden(run(*survey, self.redis.unix_url, "--redis-password-file", path), OK)
        self.assertIn("NOAUTH", self.hidden(run(*survey, self.redis.url), DENIED).err)
        self.hidden(run(*survey, wrong), DENIED)
        self.hidden(run("redis", "survey", wrong), USAGE)
        self.hidden(run("redis", "survey", "--redis", with_password + ":x"), USAGE)

    def test_a_user_who_may_only_read(self):
        fill(self.redis, plays_of(3, 3))
        self.redis.run("ACL", "SETUSER", "reader", "on", ">" + SECRET, "~watched:*", "+@read",
                       "+info", "+ping", "+scan")
        url = "redis://reader:%s@%s" % (SECRET, self.redis.url[len("redis://"):])
        done = run("redis", "import", "--redis", url, *FROM, "--db", self.db, "--json")
        self.assertEqual(self.hidden(done, OK).json["members"], 9)
        self.redis.run("ACL", "SETUSER", "reader", "-zrange")
        done = run("redis", "import", "--redis", url, *FROM, "--db", self.db, "--score-unit", "s")
        self.assertIn("NOPERM", self.hidden(done, DENIED).err)


class TlsTest(ToolCase):

    def test_tls(self):
        authority = Authority(self.folder)
        with Redis(authority=authority, password=SECRET) as redis:
            fill(redis, plays_of(3, 3))
            env = {"SEENDB_REDIS_PASSWORD": SECRET}
            survey = ["redis", "survey", "--redis", redis.url, "--json"]
            done = run(*survey, "--redis-ca", authority.path, env=env)
            self.assertEqual((done.code, done.json["members"]), (OK, 9), done)
            stranger = Authority(self.folder, "stranger")
            done = run(*survey, "--redis-ca", stranger.path, env=env)
            self.assertEqual(done.code, UNAVAILABLE)
            self.assertIn("certificate is refused", done.err)
            self.assertEqual(run(*survey, "--redis-ca", "/nowhere", env=env).code, USAGE)


class ClusterTest(ToolCase):

    def test_a_cluster_of_three(self):
        with Cluster(password=SECRET) as cluster:
            plays = plays_of(300, 5)
            fill(cluster, plays, key="watched:{%s}")
            flags = ["--redis", cluster.url, "--db", self.db, "--user-from", "watched:{{user}}",
                     "--json"]
            env = {"SEENDB_REDIS_PASSWORD": SECRET}
            report = run("redis", "survey", "--redis", cluster.url, "--json", env=env).json
            self.assertEqual((report["users"], report["members"], report["user_from"]),
                             (300, 1_500, "watched:{{user}}"))
            done = run("redis", "import", *flags, env=env)
            self.assertEqual((done.code, done.json["users"], done.json["accepted"]),
                             (OK, 300, 1_500), done)
            # A slot on its way: its node says ASK for what has gone, and MOVED in the end.
            key, slot = "watched:{7}", cluster.run("CLUSTER", "KEYSLOT", "watched:{7}")
            source = cluster.node_of(key)
            target = next(node for node in cluster.nodes if node is not source)
            ids = {node: node.run("CLUSTER", "MYID").decode() for node in (source, target)}
            target.run("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source])
            source.run("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[target])
            source.run("MIGRATE", "127.0.0.1", target.port, key, 0, 5000, "AUTH", SECRET)
            keys = self.write("keys.txt", key + "\n")
            asked = run("redis", "compare", *flags, "--keys", keys, env=env)
            self.assertEqual((asked.code, asked.json["checked"]), (OK, 5), asked)
            for node in (source, target):
                node.run("CLUSTER", "SETSLOT", slot, "NODE", ids[target])
            done = run("redis", "compare", *flags, env=env)
            self.assertEqual((done.code, done.json["users"], done.json["missing"]), (OK, 300, 0), done)


@unittest.skipUnless("valkey-server" in real_redis.programs(), "valkey-server is not installed")
class ValkeyTest(ToolCase):

    def test_valkey(self):
        with Redis(program="valkey-server") as valkey:
            fill(valkey, plays_of(100, 30))
            flags = ["--redis", valkey.url, "--db", self.db, *FROM, "--json"]
            self.assertEqual(self.tool("redis", "import", *flags).json["accepted"], 3_000)
            self.assertEqual(self.tool("redis", "compare", *flags).json["missing"], 0)


if __name__ == "__main__":
    real_redis.require()
    unittest.main()
