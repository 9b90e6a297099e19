"""The engine within this process, by the library that SEENDB_LIBRARY names: what a Client does, an Engine does
with a folder in place of a server."""

import asyncio
import concurrent.futures
import datetime
import gc
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import weakref

from support import Blocking, seendb
from seendb import _engine_abi
from test_conformance import Playing, scenarios
from test_server import ServerTest

try:
    import cffi
except ImportError:
    cffi = None

NEEDED = "SEENDB_LIBRARY names no library, or cffi is not there"
USABLE = bool(cffi and os.path.exists(os.environ.get("SEENDB_LIBRARY", "")))


# Forks, once for each argument: that is what the child does before it ends.
FORKS = """
import os, signal, sys
import seendb

def closed(call):
    try:
        call()
    except seendb.Error as error:
        assert error.code == "closed", error.code
    else:
        raise AssertionError("it did not raise")

engine = seendb.Engine(sys.argv[1], shards=2)
for ending in sys.argv[2:]:
    engine.record_plays([("u", "v")])
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        exec(ending)
        sys.exit(7)
    status = os.waitpid(child, 0)[1]
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 7, (ending, status)
else:
    engine.sync()
    print("unseen:", engine.filter("u", ["v"]).unseen)
    engine.close()
"""


class Opened:
    """An engine in a folder of its own, which goes with it."""
    make = seendb.Engine

    def __init__(self, _url=None, timeout=1.0, **options):
        self.folder = tempfile.mkdtemp(prefix="seendb-engine-")
        self.engine = self.make(os.path.join(self.folder, "db"), timeout=timeout, **options)

    def __getattr__(self, name):
        return getattr(self.engine, name)

    def close(self):
        self.engine.close()
        shutil.rmtree(self.folder)


class AsyncOpened(Opened):

    @staticmethod
    def make(*args, **options):
        return Blocking(*args, made=seendb.AsyncEngine, **options)


@unittest.skipUnless(USABLE, NEEDED)
class EngineAsClientTest(ServerTest):
    """The tests of a client, but for what a server alone has."""
    make = Opened

    def test_options_of_a_filter(self):
        self.c.record_plays([(self.user, "v1")])
        self.c.record_impressions(self.user, ["v2"])
        self.assertEqual(self.c.filter(self.user, ["v1", "v2"], facts=["plays"]).unseen, ["v2"])
        self.assertEqual(self.c.filter(self.user, ["v1", "v2"], facts=["impressions"]).unseen, ["v1"])
        self.assertTrue(self.c.filter(self.user, ["v9"], record=True).recorded)
        self.assertTrue(self.c.filter(self.user, [1, 2], record=True).recorded)
        self.assertEqual(self.c.filter(self.user, ["v9", 1, 3]).unseen, [3])
        for options, field in (({"explain": True}, "/explain"), ({"invalid": "skip"}, "/invalid"),
                               ({"facts": ["likes"]}, "/facts"), ({"limit": -1}, "/limit"),
                               ({"limit": 0}, "/limit"), ({"limit": False}, "/limit"),
                               ({"deadline_ms": -1}, "/deadline_ms"),
                               ({"on_error": "panic"}, "/on_error")):
            with self.assertRaises(seendb.Error) as raised:
                self.c.filter(self.user, ["v1"], **options)
            self.assertEqual((raised.exception.code, raised.exception.field), ("invalid_argument", field))

    def test_a_deadline_of_nothing_has_passed(self):
        self.c.record_plays([(self.user, "v1")])
        for deadline_ms in (0, 0.0001):
            self.assertTrue(self.c.filter(self.user, ["v1"], deadline_ms=deadline_ms).degraded)
        for deadline_ms in (1_000, 10**30, float("inf")):
            self.assertFalse(self.c.filter(self.user, ["v1"], deadline_ms=deadline_ms).degraded)

    def test_scenarios_of_clients(self):
        played = [Playing(self.c).play(row) for row in scenarios(False, ("ids.json", "pages.json", "history.json"))
                  if row["name"] != "an export"]
        self.assertGreater(len(played), 80)
        self.assertEqual([one for one in played if one], [])

    def test_the_time_0_is_no_present(self):
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        for at in (0, epoch):
            for call in (lambda: self.c.record_plays([(self.user, "v1", at)]),
                         lambda: self.c.record_impressions(self.user, ["v1"], at=at)):
                with self.assertRaises(seendb.Refused) as raised:
                    call()
                self.assertEqual((raised.exception.code, raised.exception.field),
                                 ("invalid_argument", "/events/0/at"))
                self.assertIn("older than retention", raised.exception.message)
        told = self.c.record_plays([(self.user, "v2", 0), (self.user, "v3")])
        self.assertEqual((told.accepted, told.refused, told.refusals[0].index), (1, 1, 0))
        self.assertEqual(self.c.filter(self.user, ["v1", "v2", "v3"]).unseen, ["v1", "v2"])

    def test_the_history_in_pages(self):
        self.with_history()
        now = int(time.time() * 1000)
        self.c.record_plays([{"user": self.user, "item": "h%d" % i, "at": now - i, "progress_s": i,
                              "duration_s": 100, "device": "tv", "fields": {"n": i}} for i in range(25)],
                            collection=self.collection)
        entries = list(self.c.history(self.user, collection=self.collection, limit=10))
        self.assertEqual([entry.item for entry in entries], ["h%d" % i for i in range(25)])
        self.assertEqual(entries[3], seendb.Entry(self.collection, "h3", now - 3, 3, 100, "tv", {"n": 3}))
        found = self.c.look_up_history(self.user, ["h7", "never"], collection=self.collection)
        self.assertEqual((list(found), found["h7"].progress_s), (["h7"], 7))
        self.c.delete_history(self.user, ["h7"], collection=self.collection)
        self.assertEqual(len(list(self.c.history(self.user, collection=[self.collection]))), 24)
        self.c.set_recording(self.user, False)
        self.assertTrue(self.c.inspect(self.user)["paused"])
        self.c.clear_history(self.user, collections=[self.collection])
        self.assertEqual(list(self.c.history(self.user)), [])
        self.assertFalse(self.c.history_page(self.user, collection="default").kept)
        with self.assertRaises(seendb.Error) as raised:
            self.c.history_page(self.user, collection="nowhere")
        self.assertEqual((raised.exception.code, raised.exception.field), ("not_found", "/collections/0"))

    def test_errors_name_the_field(self):
        cases = (
            (lambda: self.c.filter(self.user, ["v1", ""]), "invalid_argument", "/items/1"),
            (lambda: self.c.filter(self.user, [1, -1]), "invalid_argument", "/items/1"),
            (lambda: self.c.filter(self.user, ["\ud800"]), "invalid_argument", "/items/0"),
            (lambda: self.c.filter("", ["v"]), "invalid_argument", "/user"),
            (lambda: self.c.filter(self.user, ["v"], collection="nowhere"), "not_found", "/collection"),
            (lambda: self.c.filter(self.user, [1], collection="nowhere"), "not_found", "/collection"),
            (lambda: self.c.filter(self.user, ["v"], collection="a\0b"), "invalid_argument", "/collection"),
            (lambda: self.c.record_plays([(self.user,)]), "invalid_argument", "/events/0"),
            (lambda: self.c.record_plays([{"user": self.user, "item": "v", "fields": [1]}]),
             "invalid_argument", "/events/0/fields"),
            (lambda: self.c.record_plays([{"user": self.user, "item": "v", "progress_s": 2**31}]),
             "invalid_argument", "/events/0/progress_s"),
            (lambda: self.c.record_plays([(self.user, "v", 2**63)]), "invalid_argument", "/events/0/at"),
            (lambda: self.c.record_impressions(self.user, ["v"], at=-2**64), "invalid_argument", "/at"),
            (lambda: self.c.put_collection(self.collection, {"fpr": 2}), "invalid_argument", "/fpr"),
            (lambda: self.c.history_page(self.user, limit=0), "invalid_argument", "/limit"),
            (lambda: self.c.clear_history(self.user, collections=[]), "invalid_argument", "/collections"),
        )
        for number, (call, code, field) in enumerate(cases):
            with self.subTest(number), self.assertRaises(seendb.Error) as raised:
                call()
            self.assertEqual((raised.exception.code, raised.exception.field), (code, field))
            self.assertIn(raised.exception.message, str(raised.exception))


@unittest.skipUnless(USABLE, NEEDED)
class AsyncEngineAsClientTest(EngineAsClientTest):
    make = AsyncOpened

    def test_many_at_once(self):
        self.c.record_plays([(self.user, "v0")])
        found = self.c.together([("filter", (self.user, ["v0", "w%d" % i])) for i in range(100)])
        self.assertEqual([one.unseen for one in found], [["w%d" % i] for i in range(100)])


@unittest.skipUnless(USABLE, NEEDED)
class EngineTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="seendb-engine-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "db")

    def test_what_was_recorded_is_there_after_an_opening(self):
        with seendb.Engine(self.path, shards=1) as engine:
            engine.record_plays([("u1", "v1")])
            engine.sync()
            engine.checkpoint(os.path.join(self.folder, "copy"))
            engine.record_plays([("u1", "v2")])
            engine.drain()
            self.assertEqual(engine.stats()["plays_accepted"], 2)
        for path, unseen in ((self.path, ["v3"]), (os.path.join(self.folder, "copy"), ["v2", "v3"])):
            with seendb.Engine(path) as engine:
                self.assertEqual(engine.filter("u1", ["v1", "v2", "v3"]).unseen, unseen)

    def test_errors_of_opening(self):
        for options, code, field in (({"shards": "many"}, "invalid_argument", "/shards"),
                                     ({"chards": 1}, "invalid_argument", "/chards"),
                                     ({"create_if_missing": False}, "not_found", "")):
            with self.assertRaises(seendb.Error) as raised:
                seendb.Engine(self.path, **options)
            self.assertEqual((raised.exception.code, raised.exception.field), (code, field))
        with self.assertRaises(seendb.Error) as raised:
            seendb.Engine(self.path + "\0x")
        self.assertEqual(raised.exception.field, "/path")
        with seendb.Engine(self.path):
            with self.assertRaises(seendb.Error) as raised:
                seendb.Engine(self.path)
            self.assertEqual(raised.exception.code, "busy")

    def test_a_closed_engine_says_so(self):
        engine = seendb.Engine(self.path)
        engine.close()
        engine.close()
        for call in (lambda: engine.filter("u", ["v"]), engine.drain, lambda: engine.record_plays([("u", "v")])):
            with self.assertRaises(seendb.Error) as raised:
                call()
            self.assertEqual(raised.exception.code, "closed")

    def test_a_forked_child_leaves_it_alone(self):
        endings = ("", "del engine", "with engine: sys.exit(7)", "closed(engine.close)", "closed(engine.drain)",
                   "closed(lambda: engine.filter('u', ['v'], limit=1))")
        done = subprocess.run([sys.executable, "-W", "error", "-c", FORKS, self.path, *endings], capture_output=True,
                              text=True, timeout=120, check=False,
                              env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", "unseen: []\n"))

    def test_from_a_pool_of_threads_until_it_is_closed(self):
        engine = seendb.Engine(self.path)

        def work(thread):
            for item in range(200):
                engine.record_plays([(thread, item), (thread, "t%d" % item)])
                asked = engine.filter(thread, [item, item + 1])
                self.assertEqual(asked.unseen, [item + 1])
                self.assertEqual(engine.filter(thread, ["t%d" % item, "no"]).unseen, ["no"])
            return True
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(list(pool.map(work, range(8))), [True] * 8)

            def until_closed(thread):
                try:
                    while True:
                        engine.filter(thread, list(range(1_000)))
                except seendb.Error as error:
                    return error.code
            told = [pool.submit(until_closed, thread) for thread in range(8)]
            time.sleep(0.05)
            engine.close()
            self.assertEqual([one.result(60) for one in told], ["closed"] * 8)

    def test_what_it_needs_is_named(self):
        for name, message in (("/nowhere/libseendb.so", "package libseendb1 or `cmake"),
                              ("libc.so.6", "seendb_abi_version")):
            done = subprocess.run([sys.executable, "-c", "import seendb; seendb.Engine('x')"], capture_output=True,
                                  text=True, timeout=60, check=False,
                                  env=dict(os.environ, SEENDB_LIBRARY=name, PYTHONPATH=os.pathsep.join(sys.path)))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(message, done.stderr)

    def test_an_older_library_is_refused(self):
        before, seendb.engine._loaded = _engine_abi.VERSION, None
        try:
            for version in (before + 1, before + 0x10000):
                _engine_abi.VERSION = version
                with self.assertRaisesRegex(OSError, "version 0x"):
                    seendb.Engine(self.path)
        finally:
            _engine_abi.VERSION = before


class Held:
    """In place of a function of the library: it begins, and ends when it is let go. Its result: it did."""

    def __init__(self):
        self.begun, self.let_go, self.ended = threading.Event(), threading.Event(), False

    def __call__(self, _db, *_arguments):
        self.begun.set()
        self.let_go.wait(60)
        self.ended = True
        return 0


@unittest.skipUnless(USABLE, NEEDED)
class AsyncEngineTest(unittest.IsolatedAsyncioTestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="seendb-engine-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "db")

    async def begun(self, engine, held, kept=()):
        task = asyncio.ensure_future(engine._do(kept, held))
        while not held.begun.is_set():
            await asyncio.sleep(0.001)
        return task

    async def code_of(self, waited):
        with self.assertRaises(seendb.Error) as raised:
            await waited
        return raised.exception.code

    async def test_it_opens_and_closes(self):
        async with seendb.AsyncEngine(self.path, shards=1) as engine:
            with self.assertRaises(seendb.Error) as raised:
                seendb.Engine(self.path)
            self.assertEqual(raised.exception.code, "busy", "it is open")
            await engine.record_plays([("u1", "v1")])
            await engine.checkpoint(os.path.join(self.folder, "copy"))
            await engine.record_plays([("u1", "v2")])
            await engine.drain()
            await engine.sync()
            self.assertEqual((await engine.stats())["plays_accepted"], 2)
        for path, unseen in ((self.path, ["v3"]), (os.path.join(self.folder, "copy"), ["v2", "v3"])):
            engine = seendb.AsyncEngine(path)  # the first call opens it
            self.assertEqual((await engine.filter("u1", ["v1", "v2", "v3"])).unseen, unseen)
            await engine.close()
            await engine.close()
            self.assertEqual(await self.code_of(engine.drain()), "closed")
        await seendb.AsyncEngine(self.path).close()

    async def test_an_opening_that_fails_is_tried_again(self):
        with seendb.Engine(self.path) as other:
            other.record_plays([("u", "v")])
            engine = seendb.AsyncEngine(self.path)
            told = await asyncio.gather(*[engine.filter("u", ["v"]) for _ in range(5)], return_exceptions=True)
            self.assertEqual([one.code for one in told], ["busy"] * 5)
            self.assertEqual(await self.code_of(engine.__aenter__()), "busy")
        self.assertEqual((await engine.filter("u", ["v"])).unseen, [])
        await engine.close()
        engine = seendb.AsyncEngine(self.path, chards=1)
        self.assertEqual(await self.code_of(engine.sync()), "invalid_argument")
        await engine.close()

    async def test_the_loop_runs_during_a_call(self):
        async with seendb.AsyncEngine(self.path, threads=2) as engine:
            held = Held()
            task = await self.begun(engine, held)
            self.assertEqual((await engine.filter("u", ["v"])).unseen, ["v"], "by the other thread")
            held.let_go.set()
            await task

    async def test_a_call_that_has_begun_ends(self):
        async with seendb.AsyncEngine(self.path, threads=1) as engine:
            class Argument:
                pass
            held, later, argument = Held(), Held(), Argument()
            there = weakref.ref(argument)
            first = await self.begun(engine, held, [argument])
            second = asyncio.ensure_future(engine._do([], later))
            third = asyncio.ensure_future(engine.record_plays([("u", "v")]))
            await asyncio.sleep(0)
            first.cancel()
            second.cancel()
            del argument
            for task in (first, second):
                with self.assertRaises(asyncio.CancelledError):
                    await task
            self.assertFalse(held.ended, "its caller was told at once")
            self.assertIsNotNone(there(), "it has its arguments until it ends")
            held.let_go.set()
            self.assertEqual((await third).accepted, 1)
            self.assertEqual((held.ended, later.begun.is_set()), (True, False))
            first = second = task = None  # in Python 3.10 the errors of tasks keep their frames
            gc.collect()
            self.assertIsNone(there())

    async def test_it_begins_calls_in_their_order(self):
        async with seendb.AsyncEngine(self.path, threads=1) as engine:
            order = []
            await asyncio.gather(*[engine._do([], lambda *_, i=i: order.append(i) or 0) for i in range(100)])
            self.assertEqual(order, list(range(100)))

    async def test_close_waits_for_calls(self):
        engine, held = seendb.AsyncEngine(self.path, threads=1), Held()
        first = await self.begun(engine, held)
        second = asyncio.ensure_future(engine.record_plays([("u", "v")]))
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(engine.close())
        await asyncio.sleep(0.05)
        self.assertFalse(closing.done())
        self.assertEqual(await self.code_of(engine.filter("u", ["v"])), "closed")
        closing.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await closing
        held.let_go.set()
        await engine.close()
        self.assertTrue(first.done() and second.done())
        with seendb.Engine(self.path) as again:
            self.assertEqual(again.filter("u", ["v"]).unseen, [])

    async def test_the_wait_for_a_thread_is_of_a_filters_time(self):
        async with seendb.AsyncEngine(self.path, threads=1) as engine:
            await engine.record_plays([("u", "v")])
            held = Held()
            task = await self.begun(engine, held)
            late = asyncio.ensure_future(engine.filter("u", ["v"], deadline_ms=20))
            await asyncio.sleep(0.05)
            held.let_go.set()
            await task
            self.assertTrue((await late).degraded)
            self.assertFalse((await engine.filter("u", ["v"], deadline_ms=20_000)).degraded)

    async def test_an_argument_may_change_behind_a_call(self):
        async with seendb.AsyncEngine(self.path, threads=1) as engine:
            await engine.record_plays([("u", "v1")])
            for items in (["v1", "v2"], [1, 2]):
                before, held = list(items), Held()
                task = await self.begun(engine, held)
                asked = asyncio.ensure_future(engine.filter("u", items))
                await asyncio.sleep(0)
                items.reverse()
                held.let_go.set()
                await task
                self.assertEqual((await asked).unseen, [one for one in before if one != "v1"])

    async def test_a_forked_child_leaves_it_alone(self):
        script = FORKS.replace("engine = seendb.Engine(sys.argv[1], shards=2)", """
import asyncio
asynchronous = seendb.AsyncEngine(sys.argv[1], shards=2)
asyncio.run(asynchronous.sync())
engine = asynchronous._opening.result()
""").replace("    engine.close()\n", "    asyncio.run(asynchronous.close())\n")
        endings = ("", "del engine, asynchronous", "closed(lambda: asyncio.run(asynchronous.close()))",
                   "closed(lambda: asyncio.run(asynchronous.filter('u', ['v'])))")
        done = subprocess.run([sys.executable, "-W", "error", "-c", script, self.path, *endings], capture_output=True,
                              text=True, timeout=120, check=False,
                              env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", "unseen: []\n"))


del ServerTest  # it runs in test_server

if __name__ == "__main__":
    unittest.main()
