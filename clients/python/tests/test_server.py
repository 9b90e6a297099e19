"""The client against the server that SEENDB_URL names, which has the role admin for everybody."""

import asyncio
import datetime
import itertools
import threading
import time
import unittest
import uuid

from support import URL, Blocking, seendb

try:
    import numpy
except ImportError:
    numpy = None


class ServerTest(unittest.TestCase):
    make = seendb.Client

    def setUp(self):
        self.c = self.make(URL, timeout=30)
        self.addCleanup(self.c.close)
        self.user = "user-" + uuid.uuid4().hex
        self.collection = "c-" + uuid.uuid4().hex[:12]

    def with_history(self):
        self.c.put_collection(self.collection, {"history": {"enabled": True}})
        self.addCleanup(lambda: self.c.delete_collection(self.collection))

    def test_what_was_played_is_seen(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        recorded = self.c.record_plays([(self.user, "v1"), (self.user, 7, now),
                                        {"user": self.user, "item": "v3", "at": now, "device": "tv"}])
        self.assertEqual((recorded.accepted, recorded.refused, recorded.pending), (3, 0, False))
        found = self.c.filter(self.user, ["v1", "v2", "7", 8, "v3"])
        self.assertEqual(found.unseen, ["v2", 8])
        self.assertEqual((found.seen, found.examined, found.degraded, found.mask), (3, 5, False, None))

    def test_ids_are_what_they_are(self):
        ids = [2**53 + 1, 2**64 - 1, "007", "caf\u00e9", "cafe\u0301", "a+b", "a b", "a/b", "\U0001f600",
               "x" * 255, '"quoted\\']
        for user in ids:
            self.c.erase(user)
            time.sleep(0.002)  # what was played in the millisecond of an erasure is erased
            self.c.record_plays([(user, item) for item in ids[:5]])
            self.assertEqual(self.c.filter(user, ids).unseen, ids[5:], user)
            self.assertEqual(self.c.inspect(user)["user"], str(user))
            self.assertTrue(self.c.erase(user)["known"])

    def test_what_can_be_gone_through_once_comes_back_as_it_was(self):
        ids = [2**53 + 1, 3, "text"]
        self.assertEqual(self.c.filter(self.user, iter(ids)).unseen, ids)
        self.assertEqual(self.c.filter(self.user, iter(ids), exclude=iter([3])).unseen, [ids[0], "text"])
        page = self.c.fill_page(self.user, range(2500), need=2400, exclude=iter([7, 1500, 2100]))
        self.assertEqual(page, [n for n in range(2500) if n not in (7, 1500, 2100)][:2400])

    def test_a_text_is_no_list_of_its_letters(self):
        for call in (lambda: self.c.filter(self.user, "v1"),
                     lambda: self.c.filter(self.user, ["v1"], exclude="v1"),
                     lambda: self.c.fill_page(self.user, "v1"),
                     lambda: self.c.record_impressions(self.user, "v1"),
                     lambda: self.c.delete_history(self.user, b"v1"),
                     lambda: self.c.record_plays(("u1", "v1")),
                     lambda: self.c.record_plays({"user": self.user, "item": "v1"})):
            with self.assertRaises(seendb.Error) as raised:
                call()
            self.assertEqual(raised.exception.code, "invalid_argument")

    def test_numbers_go_in_binary_and_say_the_same(self):
        self.c.record_plays([(self.user, n) for n in range(0, 100, 3)])
        numbers = list(range(100))
        unseen = [n for n in numbers if n % 3]
        self.assertEqual(self.c.filter(self.user, numbers).unseen, unseen)
        self.assertEqual(self.c.filter(self.user, tuple(numbers)).unseen, unseen)
        mixed = self.c.filter(self.user, numbers + ["text"])
        self.assertEqual(mixed.unseen, unseen + ["text"])
        limited = self.c.filter(self.user, numbers, limit=5, exclude=[1, 2])
        self.assertEqual((limited.unseen, limited.excluded), ([4, 5, 7, 8, 10], 2))
        again = self.c.filter(self.user, [1, 1, 2])
        self.assertEqual((again.unseen, again.duplicates), ([1, 2], 1))
        self.assertEqual(self.c.filter(self.user, []).unseen, [])

    @unittest.skipUnless(numpy, "numpy is not there")
    def test_arrays_have_a_mask(self):
        self.c.record_plays([(self.user, n) for n in range(0, 100, 3)])
        for dtype in ("u8", "i8", "u4", "i2", "f8", ">u8"):
            items = numpy.arange(100).astype(dtype)
            found = self.c.filter(self.user, items, exclude=numpy.array([1], dtype="u8"))
            expected = (numpy.arange(100) % 3 != 0) & (numpy.arange(100) != 1)
            self.assertTrue((found.mask == expected).all(), dtype)
            self.assertEqual(found.unseen, items[expected].tolist())
        for bad, at in ((numpy.array([1, -1]), 1), (numpy.array([0.5]), 0), (numpy.array([1e300]), 0)):
            with self.assertRaises(seendb.Error) as raised:
                self.c.filter(self.user, bad)
            self.assertEqual(raised.exception.field, "/items/%d" % at)

    def test_a_page_is_filled_once(self):
        served = [self.c.fill_page(self.user, ["p%d" % i for i in range(50)], need=20) for _ in range(3)]
        self.assertEqual(sum(served, []), ["p%d" % i for i in range(50)])
        taken = itertools.count()
        page = self.c.fill_page(self.user, ("q%d" % next(taken) for _ in range(10_000)), need=3)
        self.assertEqual(page, ["q0", "q1", "q2"])
        self.assertLess(next(taken), 2_000, "no more is taken than the page needs")

    def test_a_search_is_asked_for_more(self):
        self.c.record_plays([(self.user, "s%d" % i) for i in range(30)])
        asked = []

        def search(count):
            asked.append(count)
            return ["s%d" % i for i in range(min(count, 100))]
        self.assertEqual(self.c.search_unseen(search, self.user, 5), ["s%d" % i for i in range(30, 35)])
        self.assertEqual(asked[0], 10, "half are taken for seen")
        self.assertLessEqual(len(asked), 3)
        asked.clear()
        self.assertEqual(self.c.search_unseen(search, self.user, 5), ["s%d" % i for i in range(30, 35)])
        self.assertGreater(asked[0], 10, "by then it is known that more of them are")

    def test_options_of_a_filter(self):
        self.c.record_plays([(self.user, "v1")])
        self.c.record_impressions(self.user, ["v2"])
        explained = self.c.filter(self.user, ["v1", "v2", "v3"], explain=True)
        self.assertEqual(explained.reasons, {"v1": "ring", "v2": "impression"})
        self.assertEqual(self.c.filter(self.user, ["v1", "v2"], facts=["plays"]).unseen, ["v2"])
        skipped = self.c.filter(self.user, ["", None, "v3"], invalid="skip")
        self.assertEqual((skipped.unseen, skipped.more["invalid"]), (["v3"], 2))
        self.assertTrue(self.c.filter(self.user, ["v9"], record=True).recorded)
        self.assertTrue(self.c.filter(self.user, [1, 2], record=True).recorded)
        self.assertEqual(self.c.filter(self.user, ["v9", 1, 3]).unseen, [3])

    def test_the_history_in_pages(self):
        self.with_history()
        now = int(time.time() * 1000)
        self.c.record_plays([{"user": self.user, "item": "h%d" % i, "at": now - i, "progress_s": i,
                              "duration_s": 100, "fields": {"n": i}} for i in range(25)],
                            collection=self.collection)
        entries = list(self.c.history(self.user, collection=self.collection, limit=10))
        self.assertEqual([entry.item for entry in entries], ["h%d" % i for i in range(25)])
        self.assertEqual((entries[3].progress_s, entries[3].duration_s, entries[3].fields, entries[3].at),
                         (3, 100, {"n": 3}, now - 3))
        found = self.c.look_up_history(self.user, ["h7", "never"], collection=self.collection)
        self.assertEqual((list(found), found["h7"].progress_s), (["h7"], 7))
        self.c.delete_history(self.user, ["h7"], collection=self.collection)
        self.assertEqual(len(list(self.c.history(self.user, collection=[self.collection]))), 24)
        self.c.set_recording(self.user, False)
        self.assertTrue(self.c.call("GET", "/users/%s/recording" % self.user)["paused"])
        self.c.clear_history(self.user, collections=[self.collection])
        self.assertEqual(list(self.c.history(self.user)), [])
        self.assertFalse(self.c.history_page(self.user, collection="default").kept)
        self.assertEqual(self.c.export(self.user)[-1]["type"], "end")

    def test_errors_name_the_field(self):
        cases = (
            (lambda: self.c.filter(self.user, ["v1", ""]), "invalid_argument", "/items/1"),
            (lambda: self.c.filter(self.user, [1, -1]), "invalid_argument", "/items/1"),
            (lambda: self.c.filter(self.user, [2**64]), "invalid_argument", "/items/0"),
            (lambda: self.c.filter(self.user, [1.5]), "invalid_argument", "/items/0"),
            (lambda: self.c.filter(self.user, [True]), "invalid_argument", "/items/0"),
            (lambda: self.c.filter(self.user, ["x" * 256]), "invalid_argument", "/items/0"),
            (lambda: self.c.filter(self.user, ["\ud800"]), "invalid_argument", "/items/0"),
            (lambda: self.c.filter("", ["v"]), "invalid_argument", "/user"),
            (lambda: self.c.filter(self.user, ["v"], collection="nowhere"), "not_found", "/collection"),
            (lambda: self.c.filter(self.user, [1], collection="nowhere"), "not_found", "/collection"),
            (lambda: self.c.record_plays([(self.user,)]), "invalid_argument", "/events/0"),
            (lambda: self.c.record_plays([(self.user, "v", datetime.datetime(2026, 1, 1))]),
             "invalid_argument", "/events/0/at"),
            (lambda: self.c.put_collection(self.collection, {"fpr": 2}), "invalid_argument", "/fpr"),
            (lambda: self.c.call("GET", "/nowhere"), "not_found", ""),
        )
        for number, (call, code, field) in enumerate(cases):
            with self.subTest(number), self.assertRaises(seendb.Error) as raised:
                call()
            self.assertEqual((raised.exception.code, raised.exception.field), (code, field))
            self.assertIn(raised.exception.message, str(raised.exception))
            self.assertIn(field, str(raised.exception))

    def test_plays_that_are_all_refused_raise(self):
        with self.assertRaises(seendb.Refused) as raised:
            self.c.record_plays([(self.user, "v", 1_700_000_000)])  # seconds
        self.assertEqual((raised.exception.status, raised.exception.field), (422, "/events/0/at"))
        self.assertEqual(raised.exception.recorded.refused, 1)
        some = self.c.record_plays([(self.user, "v", 1_700_000_000), (self.user, "w")])
        self.assertEqual((some.accepted, some.refusals[0].index, some.refusals[0].field), (1, 0, "/at"))


class AsyncServerTest(ServerTest):
    make = Blocking

    def test_many_at_once(self):
        self.c.record_plays([(self.user, "v0")])
        found = self.c.together([("filter", (self.user, ["v0", "w%d" % i])) for i in range(100)])
        self.assertEqual([one.unseen for one in found], [["w%d" % i] for i in range(100)])

    def test_a_list_may_change_behind_a_call(self):
        async def asked(items):
            waits = asyncio.ensure_future(self.c._client.filter(self.user, items))
            await asyncio.sleep(0)
            items.reverse()
            return (await waits).unseen
        for items in (["v1", "v2"], [1, 2], [1, "v2"]):
            self.assertEqual(self.c.run(asked(items)), items[::-1])


class ThreadsTest(unittest.TestCase):

    def test_one_client_for_all_threads(self):
        with seendb.Client(URL, timeout=30, connections=3) as c:
            failures = []

            def work(number):
                try:
                    user = "thread-%s-%d" % (uuid.uuid4().hex, number)
                    for i in range(20):
                        c.record_plays([(user, i)])
                        if c.filter(user, list(range(40))).unseen != list(range(i + 1, 40)):
                            failures.append((number, i))
                except Exception as error:  # the thread's, told by the test
                    failures.append(error)
            threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(failures, [])


if __name__ == "__main__":
    unittest.main()
