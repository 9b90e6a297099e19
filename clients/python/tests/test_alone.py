"""What needs no server."""

import datetime
import json
import os
import subprocess
import sys
import unittest

from support import seendb
from seendb import address, answers, events, ids, routing, times

HERE = os.path.dirname(os.path.abspath(__file__))


class RoutingTest(unittest.TestCase):

    def test_murmur2_is_kafkas(self):
        for text, value in (("21", -973932308), ("foobar", -790332482),
                            ("a-little-bit-long-string", -985981536),
                            ("a-little-bit-longer-string", -1486304829),
                            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
                            ("abc", 479470107)):
            self.assertEqual(routing.murmur2(text.encode()), value & 0xFFFFFFFF, text)

    def test_numbers_and_their_texts_have_one_partition(self):
        self.assertEqual(routing.partition_of(42, 64), routing.partition_of("42", 64))

    def test_positions_are_of_the_last_users(self):
        positions = routing.Positions(most=2)
        for offset, user in enumerate(("a", "b", "a", "c")):
            positions.note([user], "0:%d" % offset)
        self.assertEqual([positions.of(user) for user in ("a", "b", "c")], ["0:2", None, "0:3"])

    def test_a_position_never_goes_back(self):
        positions = routing.Positions()
        for position in ("3:10", "3:9", "5:2", "no position", ""):
            positions.note(["a"], position)
        self.assertEqual(positions.of("a"), "3:10,5:2")
        for partition in (9, 8, 7, 6, 5, 4, 3, 2, 1):  # the newest is kept, whichever it is
            positions.note(["a"], "%d:20" % partition)
        self.assertEqual(positions.of("a"), ",".join("%d:20" % partition for partition in range(1, 9)))
        positions.note(["b"], ",".join("%d:1" % partition for partition in range(9)))
        self.assertIsNone(positions.of("b"))

    def test_nodes_that_are_up_come_first(self):
        view = {"nodes": [{"node": name, "url": "http://" + name, "state": state}
                          for name, state in (("n1", "down"), ("n2", "up"), ("n3", "up"))],
                "partitions": 1, "placement_offset": 1,
                "shards": [{"partition": 0, "replicas": [{"node": name} for name in ("n1", "n3", "n2")]}]}
        self.assertEqual(routing.Map(view).urls_of("u"), ["http://n3", "http://n2", "http://n1"])


class AddressTest(unittest.TestCase):

    def test_urls(self):
        self.assertEqual(address.parse("http://h").port, 7373)
        self.assertTrue(address.parse("https://[::1]:5").secure)
        self.assertEqual(address.parse("unix:/run/s").path, "/run/s")
        for url in ("h:7373", "ftp://h", "http://", "unix:", "http://h/path"):
            with self.assertRaises(ValueError, msg=url):
                address.parse(url)


class TimesTest(unittest.TestCase):

    def test_a_time_has_a_zone(self):
        zone = datetime.timezone(datetime.timedelta(hours=2))
        self.assertEqual(times.to_ms(datetime.datetime(2026, 1, 1, 2, tzinfo=zone), "/at"),
                         times.to_ms(1_767_225_600_000, "/at"))
        for bad in (datetime.datetime(2026, 1, 1), 1.5, "now", True):
            with self.assertRaises(seendb.Error):
                times.to_ms(bad, "/at")


class Index:
    """What stands for an integer, as numpy's do."""

    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


class IdsTest(unittest.TestCase):

    def test_numbers_are_packed(self):
        for numbers in ([0], [1, 0, 2**64 - 1], list(range(1_000)), [256 * n for n in range(1_000)], [0, 1] * 500, (7,)):
            self.assertEqual(ids.numbers(numbers), b"".join(n.to_bytes(8, "little") for n in numbers))
        self.assertEqual(ids.numbers([5, Index(6)]), ids.numbers([5, 6]))

    def test_what_is_no_number_is_not(self):
        for odd in (True, False, -1, 2**64, 1.0, "1", None, b"1", Index(-1)):
            for others in ([], [3], [0, 1] * 500, list(range(1_000))):
                for values in ([*others, odd], [odd, *others]):
                    self.assertIsNone(ids.numbers(values), values[-3:])
        self.assertIsNone(ids.numbers([]))

    def test_texts_are_judged_at_once_as_one_by_one(self):
        ascii_text, umlaut, emoji = "x", "\u00fc", "\U0001f600"
        for odd in ("", ascii_text * 255, ascii_text * 256, umlaut * 63, umlaut * 127, umlaut * 128, emoji * 63, emoji * 64, "\ud83d", "\ude00",
                    7, None, True, b"x", events.Candidate("v")):
            for others in ([], ["v1", "v2"], [umlaut], ["\ud83d"]):
                for values in ([*others, odd], [odd, *others]):
                    try:
                        one_by_one = [ids.check(one, "/%d" % i) for i, one in enumerate(values)]
                    except seendb.Error as error:
                        with self.assertRaises(seendb.Error) as raised:
                            ids.check_all(values, "")
                        self.assertEqual((raised.exception.field, raised.exception.message), (error.field, error.message))
                        self.assertFalse(ids.are_texts(values))
                    else:
                        self.assertEqual(ids.check_all(values, ""), one_by_one)

    def test_ids_come_back_as_they_were_given(self):
        for asked in (["a", "b", "c"], ["1", 2, "c"], [2, "2", "1"]):
            texts = ids.are_texts(asked)
            self.assertEqual(answers.as_given([str(one) for one in asked[:2]], asked, texts), [asked[0], asked[0] if asked[0] == 2 else asked[1]])
            for odd in (["d"], [["a"]], [None], [{}]):
                with self.assertRaises(seendb.Error) as raised:
                    answers.as_given(odd, asked, texts)
                self.assertEqual(raised.exception.code, "protocol")


class Column(list):
    """As pandas has one."""

    def tolist(self):
        return list(self)


class Frame(dict):
    columns = property(list)


class EventTest(unittest.TestCase):

    def refused(self, call, *args, **more):
        with self.assertRaises(seendb.Error) as raised:
            call(*args, **more)
        self.assertEqual(raised.exception.code, "invalid_argument")
        return raised.exception.field

    def test_what_is_no_exposure_is_refused(self):
        c = seendb.Double()
        c.record_exposures([("u", "a"), ("u", "b", datetime.datetime.now(datetime.timezone.utc)), ("u", "c", None, "home"),
                            {"user": "u", "item": "d", "surface": "home"}])
        home = [{"fact": "exposed", "surface": "home"}]
        self.assertEqual(c.filter("u", ["a", "b", "c", "d"], not_=home).unseen, ["a", "b"])
        for one in (("u",), ("u", "a", 1, "home", 2), "ua", {"user": "u"}, {"user": "u", "item": "a", "device": "tv"}):
            self.assertEqual(self.refused(c.record_exposures, [("u", "a"), one]), "/events/1")
        self.assertEqual(self.refused(c.record_exposures, [("u", None)]), "/events/0/item")
        self.assertEqual(self.refused(c.record_exposures, [("u", "a", "now")]), "/events/0/at")

    def test_exposures_have_the_time_of_the_first_try(self):
        asked = []

        class Memory(seendb.double.Memory):
            def ask(self, *args, **more):
                asked.append((json.loads(more["body"]), times.now_ms()))
                return super().ask(*args, **more)
        c = seendb.Double(Memory())
        before = times.now_ms()
        c.record_exposures([("u", "a"), ("u", "b", 7)])
        c.mark("u", "g", 5)
        (events, end), (mark, last) = asked
        self.assertEqual(events["events"][1]["at"], 7)
        self.assertTrue(before <= events["events"][0]["at"] <= end)
        self.assertEqual((mark["group"], mark["until"], before <= mark["at"] <= last), ("g", 5, True))

    def test_what_is_no_candidate_is_refused(self):
        c, zone = seendb.Double(), datetime.timezone.utc
        c.mark("u", "g", datetime.datetime(2026, 1, 1, tzinfo=zone))
        published = [seendb.Candidate("a", ["g"], datetime.datetime(2026, 1, 1, tzinfo=zone)), seendb.Candidate(7, ("g",), 1_800_000_000_000)]
        self.assertEqual(c.filter("u", published).unseen, [7])
        self.assertEqual(c.filter("u", published, invalid="skip").unseen, [7])
        for one, field in ((seendb.Candidate(""), "/items/1/id"), (seendb.Candidate("a", of="g"), "/items/1/of"),
                           (seendb.Candidate("a", at=datetime.datetime(2026, 1, 1)), "/items/1/at")):
            self.assertEqual(self.refused(c.filter, "u", [published[0], one]), field)
        self.assertEqual(self.refused(c.filter, "u", ["a"], exclude=published), "/exclude/0")
        for until in (datetime.datetime(2026, 1, 1), "for ever", None):
            self.assertEqual(self.refused(c.mark, "u", "g", until), "/until")

    def test_what_is_no_update_is_refused(self):
        c = seendb.Double()
        later = datetime.datetime(2027, 1, 1, tzinfo=datetime.timezone.utc)
        self.assertEqual(c.put_items([{"id": 7, "version": 1, "set": {"a": 2**63 - 1}, "expires_at": later}]).stale, 0)
        self.assertEqual(c.get_items(["8", "7"]), [seendb.Item("7", 1, {"a": 2**63 - 1})])
        for one, field in (("v", "/items/0"), ({"version": 1}, "/items/0"), ({"id": "", "version": 1}, "/items/0/id"),
                           ({"id": "v", "version": 1, "expires_at": "now"}, "/items/0/expires_at")):
            self.assertEqual(self.refused(c.put_items, [one]), field)
        self.assertEqual(self.refused(c.get_items, "v"), "/ids")
        self.assertEqual(self.refused(c.get_items, ["v"], fields="author"), "/fields")

    def test_a_frame_of_exposures(self):
        c = seendb.Double()
        with c.bulk("exposures") as bulk:
            bulk.add_frame(Frame(user=Column("uu"), item=Column("ab"), surface=Column(["home", None]), device=Column("xy")))
        self.assertEqual(bulk.accepted, 2)
        self.assertEqual(c.filter("u", ["a", "b"], not_=[{"fact": "exposed", "surface": "home"}]).unseen, ["b"])


    def test_what_is_no_set_and_no_reservation_is_refused(self):
        c = seendb.Double()
        self.assertEqual(c.put_set("s", range(25_000)).count, 25_000)
        self.assertEqual(c.filter("u", [24_999, 25_000], exclude_sets=["s"]).unseen, [25_000])
        self.assertEqual(self.refused(c.put_set, "s", "v"), "/items")
        self.assertEqual(self.refused(c.filter, "u", ["a"], exclude_sets="s"), "/exclude_sets")
        for name, value in (("caps", [{"of": "a", "n": 1, "within": "1d"}]), ("when_short", {"need": 1, "gap": "1d", "max": 1})):
            self.assertEqual(self.refused(c.filter, "u", ["a"], **{name: value}), "/" + name)
        self.assertEqual(self.refused(c.reserve, "u", ["a", ""], []), "/items/1")
        self.assertEqual(self.refused(c.record_plays, [{"user": "u", "item": "a", "of": "g"}]), "/events/0/of")
        with self.assertRaises(seendb.Error) as raised:
            c.counts("u", "author")
        self.assertEqual(raised.exception.code, "not_found")
        with self.assertRaises(TypeError):
            c.fill_page("u", ["a"], when_short={})


class DoubleTest(unittest.TestCase):

    def test_takes_batches_of_each_form(self):
        c = seendb.Double()
        with c.bulk(batch=2) as bulk:
            for event in ((1, 2**64 - 1), ("u", "caf\u00e9"), (1, 3), {"user": "u", "item": "b", "device": "tv"}, (1, 4)):
                bulk.add(event)
        self.assertEqual((bulk.accepted, c.memory.calls), (5, ["bulk"] * 3))
        self.assertEqual(c.filter(1, [2**64 - 1, 3, 4, 5]).unseen, [5])
        self.assertEqual(c.filter("u", ["caf\u00e9", "b", "c"]).unseen, ["c"])

    def test_takes_no_groups_that_are_the_same(self):
        c = seendb.Double()
        for call in (lambda: c.filter("u", [seendb.Candidate("a", same_as=["g"])]), lambda: c.filter("u", ["a"], collections=["default"]),
                     lambda: c.record_plays([{"user": "u", "item": "a", "same_as": ["g"]}])):
            self.assertRaises(seendb.Error, call)

    def test_what_it_was_asked_and_what_goes_wrong(self):
        c = seendb.Double()
        c.record_plays([("u", "a")])
        self.assertEqual(c.fill_page("u", ["a", "b", "c"], need=2), ["b", "c"])
        c.memory.failures = ["timeout", "busy"]
        self.assertEqual(c.fill_page("u", ["a", "b", "d"], need=2, when_degraded="last_known"), ["a", "d"])
        with self.assertRaises(seendb.Error) as raised:
            c.fill_page("u", ["a"], when_degraded="fail_closed")
        self.assertEqual(raised.exception.code, "busy")
        c.memory.degraded = True
        self.assertEqual(c.filter("u", [1]).missing, ["double"])
        self.assertEqual(c.memory.calls, ["record_plays", "filter", "filter", "filter", "filter"])
        c.close()
        with self.assertRaises(seendb.Error) as raised:
            c.filter("u", ["a"])
        self.assertEqual(raised.exception.code, "closed")

    def test_a_frame_is_added_row_by_row(self):
        c = seendb.Double()
        frame = Frame(user=Column(["u", "u", "w"]), item=Column([1, 2, 3]), at=Column([5, None, 7]), other=Column("xyz"),
                      progress_s=Column([float("nan"), 8.0, 9.0]))
        c.put_collection("default", {"history": {"enabled": True}})
        with c.bulk(batch=2) as bulk:
            bulk.add_frame(frame)
        self.assertEqual((bulk.accepted, c.memory.calls[1:]), (3, ["bulk", "bulk"]))
        self.assertEqual([(one.item, one.progress_s) for one in c.history("u")], [("2", 8), ("1", 0)])
        self.assertEqual(c.filter("u", [1, 2, 3]).unseen, [3])

    def test_what_fails_within_a_bulk_is_not_sent(self):
        c = seendb.Double()
        with self.assertRaises(KeyError):
            with c.bulk() as bulk:
                bulk.add(("u", "a"))
                raise KeyError
        self.assertEqual(c.memory.calls, [])
        c.memory.failures = ["busy"]
        with self.assertRaises(seendb.Error):
            bulk.flush()
        bulk.flush()  # it was kept
        self.assertEqual(bulk.accepted, 1)


class GeneratedTest(unittest.TestCase):

    def test_the_async_client_is_what_the_script_makes(self):
        script = os.path.join(HERE, "..", "generate_async.py")
        done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
