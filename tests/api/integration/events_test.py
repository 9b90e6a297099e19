"""POST /plays and POST /impressions, as one document and as NDJSON."""

import json
import os
import re
import socket
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer
from seendb_client import eventually

DAY = 86_400_000
NOW = 1_700_000_000_000


def resident_bytes(pid):
    with open("/proc/%d/statm" % pid, encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


class EventsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer(clock_ms=NOW)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def unseen(self, user, items, **more):
        return self.server.post("/filter", dict(user=user, items=items, **more)).json["unseen"]

    def test_plays_with_times(self):
        answer = self.server.post("/plays", {"events": [
            {"user": "t", "item": "now"}, {"user": "t", "item": "then", "at": NOW - 60 * DAY},
            {"user": "t", "item": "ancient", "at": NOW - 400 * DAY},
            {"user": "t", "item": "soon", "at": NOW + DAY},
            {"user": "t", "item": "late", "at": NOW + DAY + 1}], "collection": "default"})
        said = answer.json
        self.assertEqual((said["accepted"], said["refused"]), (3, 2))
        self.assertEqual([r["index"] for r in said["refusals"]], [2, 4])
        self.assertEqual(said["refusals"][0]["error"]["code"], "invalid_argument")
        self.assertEqual({one["error"]["field"] for one in said["refusals"]}, {"/at"})
        self.assertEqual(self.unseen("t", ["now", "then", "ancient", "soon", "late"]),
                         ["ancient", "late"])

    def test_served_items_beyond_the_cap_are_told(self):
        items = ["v%d" % i for i in range(300)]
        said = self.server.post("/impressions", {"user": "cap", "items": items}).json
        self.assertEqual((said["accepted"], said["beyond_cap"]), (300, 200))
        self.assertEqual(self.unseen("cap", items), items[:200])
        lines = [{"user": "cap-lines", "item": item} for item in items]
        self.assertEqual(self.server.ndjson("/impressions", lines).json["beyond_cap"], 200)
        ask = {"user": "cap-record", "items": items, "record": True}
        self.assertEqual(self.server.post("/filter", ask).json["beyond_cap"], 200)
        few = {"user": "cap-few", "items": items[:100] + items[:100]}
        self.assertNotIn("beyond_cap", self.server.post("/impressions", few).json)
        self.server.put("/collections/kept", {"served_is_seen": True})
        kept = {"user": "cap", "items": items, "collection": "kept"}
        self.assertNotIn("beyond_cap", self.server.post("/impressions", kept).json)
        self.assertEqual(self.unseen("cap", items, collection="kept"), [])
        metrics = self.server.get("/metrics").body.decode()
        evicted = re.search(r"^seendb_impressions_evicted_total (\d+)$", metrics, re.M)
        self.assertGreaterEqual(int(evicted.group(1)), 600)

    def test_events_outside_the_window_are_told(self):
        old = {"user": "old", "item": "v", "at": NOW - 150 * DAY}
        said = self.server.post("/plays", {"events": [old, {"user": "old", "item": "w"}]}).json
        self.assertEqual((said["accepted"], said["outside_window"]), (2, 1))
        self.assertEqual(self.unseen("old", ["v", "w"]), ["v"])
        self.assertEqual(self.server.ndjson("/plays", [old, old]).json["outside_window"], 2)
        served = {"user": "old", "items": ["x"], "at": old["at"]}
        self.assertEqual(self.server.post("/impressions", served).json["outside_window"], 1)
        self.assertNotIn("outside_window", self.server.post("/plays", {"events": [
            {"user": "old", "item": "w"}]}).json)

    def test_refusals_are_counted_by_reason(self):
        too_old = {"user": "why", "item": "v", "at": NOW - 400 * DAY}
        seconds, good = dict(too_old, at=NOW // 1000), {"user": "why", "item": "w"}
        said = self.server.post("/plays", {"events": [too_old, seconds, too_old, good]}).json
        self.assertEqual(said["refused_by"], {"too_old": 2, "seconds": 1})
        said = self.server.ndjson("/plays", [too_old, {"user": "why"}, good] * 150).json
        self.assertEqual(said["refused_by"], {"too_old": 150, "malformed": 150})
        self.assertEqual(len(said["refusals"]), 100)
        self.assertNotIn("refused_by", self.server.post("/plays", {"events": [good]}).json)

    def test_a_call_of_which_nothing_is_taken_is_422(self):
        seconds = {"user": "s", "item": "v", "at": NOW // 1000}
        for answer in (self.server.post("/plays", {"events": [seconds]}),
                       self.server.ndjson("/plays", [seconds]),
                       self.server.post("/impressions", {"user": "s", "items": ["v"],
                                                         "at": NOW // 1000})):
            said = answer.json
            self.assertEqual((answer.status, said["accepted"], said["refused"]), (422, 0, 1))
            self.assertIn("looks like seconds: `at` is milliseconds",
                          said["refusals"][0]["error"]["message"])
        self.assertEqual(self.server.ndjson("/plays", [b"bad"]).status, 422)
        for answer in (self.server.post("/plays", {"events": []}), self.server.ndjson("/plays", []),
                       self.server.post("/plays", {"events": [seconds, {"user": "s", "item": "w"}]})):
            self.assertEqual(answer.status, 200)
        self.assertRegex(self.server.get("/metrics").body.decode(),
                         r'seendb_plays_refused_by_reason_total\{collection="default",'
                         r'reason="seconds"\} [1-9]')
        eventually(lambda: '"event":"plays_refused"' in self.server.log_text())
        lines = [json.loads(line) for line in self.server.log_text().splitlines()
                 if '"plays_refused"' in line]
        self.assertIn("seconds", {line["reason"] for line in lines})

    def test_one_ill_formed_event_refuses_the_document(self):
        for event, field in [({"user": "x"}, "/events/1/item"), ({"item": "v"}, "/events/1/user"),
                             ({"user": "x", "item": ""}, "/events/1/item"),
                             ({"user": "x", "item": "v", "at": -1}, "/events/1/at"),
                             ({"user": "x", "item": "v", "at": 1.5}, "/events/1/at"),
                             ({"user": "x", "item": "v", "at": 2**63}, "/events/1/at"),
                             ({"user": "x", "item": "v", "length": 1}, "/events/1/length"),
                             ("v", "/events/1")]:
            answer = self.server.post("/plays", {"events": [{"user": "x", "item": "good"}, event]})
            self.assertEqual((answer.status, answer.error["field"]), (400, field), answer)
        self.assertEqual(self.unseen("x", ["good"]), ["good"])
        self.assertEqual(self.server.post("/plays", {"events": []}).json["accepted"], 0)
        self.assertEqual(self.server.post("/plays", {}).error["field"], "/events")
        self.assertEqual(self.server.post("/plays", {"events": [], "collection": "no"}).status, 404)

    def test_first_plays_of_the_day(self):
        policy = {"first_of_day": True, "utc_offset": "+08:00"}
        self.assertIs(self.server.put("/collections/daily", policy).json["first_of_day"], True)

        def record(*events, ask="/plays"):
            return self.server.post(ask, {"collection": "daily", "events": [
                dict(event, item="v") for event in events]})

        first = record({"user": "a"}, {"user": "b"}, {"user": "a"}, {"user": 7}).json
        today = first["day"]
        self.assertEqual(today, "2023-11-15", "06:13 there")
        self.assertEqual(first["first_today"], [0, 1, 3])
        again = record({"user": "b"}, {"user": "c", "day": today}, {"user": "c", "day": ""}).json
        self.assertEqual(again["first_today"], [2])
        none = record({"user": "c", "day": "2023-11-14"}).json
        self.assertEqual((none["day"], none["first_today"]), (today, []))
        self.assertEqual(record().json["first_today"], [])
        for day in ("2023-11-31", "yesterday", 20231115):
            answer = record({"user": "x"}, {"user": "x", "day": day})
            self.assertEqual((answer.status, answer.error["field"]), (400, "/events/1/day"), day)
        self.assertEqual(self.server.get("/users/a").json["last_active_day"], {"daily": today})
        rows = [json.loads(line) for line in
                self.server.get("/users/a/export").body.decode().splitlines()]
        self.assertIn({"daily": today}, [row.get("last_active_day") for row in rows])
        self.assertNotIn("day", self.server.post("/plays", {"events": [
            {"user": "a", "item": "v", "day": today}]}).json, "the default policy is silent")
        self.assertEqual(self.server.delete("/users/a").status, 200)
        self.assertNotIn("last_active_day", self.server.get("/users/a").json)

    def test_first_plays_of_the_day_by_line(self):
        self.server.put("/collections/lines", {"first_of_day": True})
        rows = [{"user": "u", "item": 1}, b"bad", {"user": "w", "item": 1, "day": "2023-11-14"},
                {"user": "v", "item": 1}, {"user": "u", "item": 2, "day": "2023-13-14"}]
        said = self.server.ndjson("/plays?collection=lines", rows).json
        self.assertEqual((said["accepted"], [one["index"] for one in said["refusals"]]),
                         (3, [1, 4]))
        self.assertEqual(said["refusals"][1]["error"]["field"], "/day")
        self.assertEqual((said["day"], said["first_today"], said["first_today_count"]),
                         ("2023-11-14", [0, 3], 2))
        many = [{"user": "many%d" % i, "item": 1} for i in range(9_000)]
        said = self.server.ndjson("/plays?collection=lines", many).json
        self.assertEqual((said["first_today"], said["first_today_count"]),
                         (list(range(1_000)), 9_000))
        said = self.server.ndjson("/plays?collection=lines", []).json
        self.assertEqual((said["day"], said["first_today"], said["first_today_count"]),
                         ("2023-11-14", [], 0))
        self.assertNotIn("day", self.server.ndjson("/plays", [{"user": "u", "item": 1}]).json)
        refused = self.server.ndjson("/impressions?collection=lines",
                                     [{"user": "u", "item": 1, "day": "2023-11-14"}]).json
        self.assertEqual(refused["refused"], 1)
        self.assertNotIn("day", refused)

    def test_ndjson_takes_the_good_lines(self):
        rows = [{"user": "n", "item": i} for i in range(5)]
        answer = self.server.ndjson("/plays", rows[:2] + [
            b"", b"bad", b'{"user":"n"}', {"user": "n", "item": "old", "at": 1},
            b'{"user":"n","item":"' + b"x" * (1 << 20) + b'"}',
            b'{"user":"n","item":"\xff"}', b'{"user":"n","item":"a"} {"user":"n","item":"b"}',
        ] + rows[2:])
        said = answer.json
        self.assertEqual((answer.status, said["accepted"], said["refused"]), (200, 5, 6), answer)
        self.assertEqual([r["index"] for r in said["refusals"]], [3, 4, 5, 6, 7, 8])
        self.assertEqual(said["refusals"][1]["error"]["field"], "/item")
        self.assertEqual(self.unseen("n", [0, 1, 2, 3, 4, "a", "b"]), ["a", "b"])

    def test_ndjson_names_its_collection(self):
        self.server.put("/collections/nd", {"bucket": "days:10", "window": 4, "retention": 4})
        answer = self.server.ndjson("/plays?collection=nd", [{"user": "c", "item": 1}])
        self.assertEqual(answer.json["accepted"], 1)
        self.assertEqual(self.unseen("c", [1], collection="nd"), [])
        self.assertEqual(self.unseen("c", [1]), [1])
        answer = self.server.ndjson("/plays", [{"user": "c", "item": 1, "collection": "nd"}])
        self.assertEqual(answer.json["refusals"][0]["error"]["field"], "/collection")
        answer = self.server.ndjson("/plays?collection=nope", [{"user": "c", "item": 1}])
        self.assertEqual((answer.status, answer.error["field"]), (404, "/collection"))

    def test_refusals_are_described_up_to_a_hundred(self):
        rows = [b"x" if i % 2 else {"user": "h", "item": i} for i in range(1_000)]
        said = self.server.ndjson("/plays", rows).json
        self.assertEqual((said["accepted"], said["refused"]), (500, 500))
        self.assertEqual([r["index"] for r in said["refusals"]], list(range(1, 200, 2)))

    def test_impressions(self):
        answer = self.server.post("/impressions", {"user": "i", "items": ["a", 2], "at": NOW - 5})
        self.assertEqual(answer.json, {"accepted": 2, "refused": 0, "refusals": []})
        answer = self.server.ndjson("/impressions", [{"user": "i", "item": "b"}, b"bad"])
        self.assertEqual((answer.json["accepted"], answer.json["refused"]), (1, 1))
        self.assertEqual(self.unseen("i", ["a", "b", 2, "c"]), ["c"])
        self.assertEqual(self.unseen("i", ["a"], facts=["plays"]), ["a"])
        for body, field in [({"user": "i"}, "/items"), ({"items": []}, "/user"),
                            ({"user": "i", "items": ["a", ""]}, "/items/1"),
                            ({"user": "i", "items": [], "at": "now"}, "/at"),
                            ({"user": "i", "items": [], "events": []}, "/events")]:
            answer = self.server.post("/impressions", body)
            self.assertEqual((answer.status, answer.error["field"]), (400, field), answer)

    def test_many_events_in_bounded_memory(self):
        line = 0

        def pieces():
            nonlocal line
            for _ in range(300):
                rows = []
                for _ in range(1_000):
                    rows.append(b'{"user":"m%d","item":"item-%d"}\n' % (line % 5_000, line))
                    line += 1
                rows.append(b"not json\n")
                yield b"".join(rows)

        self.server.post("/admin/drain")
        before = resident_bytes(self.server.process.pid)
        answer = self.server.post("/plays", pieces(), {"Content-Type": "application/x-ndjson"})
        self.assertEqual((answer.json["accepted"], answer.json["refused"]), (300_000, 300))
        grown = resident_bytes(self.server.process.pid) - before
        # 300,000 staged plays take some; the 10 MB of text must not be among it several times.
        self.assertLess(grown, 120 << 20)
        self.assertEqual(self.unseen("m7", ["item-7", "item-5007", "item-8"]), ["item-8"])

    def test_a_slow_sender_is_recorded_as_it_goes(self):
        with self.server.socket() as peer:
            peer.sendall(b"POST /plays HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
                         b"Content-Type: application/x-ndjson\r\n\r\n")

            def send(item):
                row = b'{"user":"slow","item":%d}\n' % item
                peer.sendall(b"%x\r\n%s\r\n" % (len(row), row))

            sent = [0]

            def recorded():
                send(sent[0])
                sent[0] += 1
                return self.unseen("slow", [0]) == []

            eventually(recorded, pause=0.05)
            peer.sendall(b"0\r\n\r\n")
            received = b""
            while b'"refusals":[]}' not in received:
                received += peer.recv(4096)
            self.assertIn(b'{"accepted":%d,' % sent[0], received)

    def test_a_broken_connection_leaves_whole_lines(self):
        with self.server.socket() as peer:
            body = b"".join(b'{"user":"gone","item":%d}\n' % i for i in range(20_000))
            peer.sendall(b"POST /plays HTTP/1.1\r\nHost: h\r\nContent-Length: 10000000\r\n"
                         b"Content-Type: application/x-ndjson\r\n\r\n" + body + b'{"user":"gone"')
            peer.shutdown(socket.SHUT_RDWR)
        # Part may be recorded; repeating is safe.
        answer = self.server.post("/plays", body, {"Content-Type": "application/x-ndjson"})
        self.assertEqual(answer.json["accepted"], 20_000)
        self.assertEqual(self.unseen("gone", list(range(0, 20_000, 500))), [])

    def test_a_large_document(self):
        events = [{"user": "u%d" % (i % 97), "item": "big-%d" % i} for i in range(100_000)]
        answer = self.server.post("/plays", {"events": events})
        self.assertEqual(answer.json["accepted"], 100_000, answer.status)
        self.assertEqual(self.unseen("u5", ["big-5", "big-6"]), ["big-6"])
        too_large = json.dumps({"events": events * 3}).encode()
        self.assertGreater(len(too_large), 8 << 20)
        self.assertEqual(self.server.post("/plays", too_large).status, 413)


if __name__ == "__main__":
    unittest.main()
