"""The watch history over HTTP: what players report, pages, look-ups, deletions, pauses, export; from
the ring, from the families and after a crash."""

import json
import os
import random
import sys
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer

DAY = 86_400_000
NOW = 1_700_000_000_000
HISTORY = {"bucket": "days:10", "window": 4, "retention": 12, "history": {"enabled": True}}


class HistoryCase(unittest.TestCase):
    """A server of its own: deletions and the clock change what others would read."""

    def setUp(self):
        self.server = CheckedServer(clock_ms=NOW)
        self.addCleanup(self.server.close)
        for name in ("video", "comic"):
            answer = self.server.put("/collections/" + name, HISTORY)
            self.assertEqual(answer.status, 200, answer)

    def play(self, *events, collection="video"):
        answer = self.server.post("/plays", {"collection": collection, "events": [
            dict(zip(("user", "item", "at"), event)) if isinstance(event, tuple) else event
            for event in events]})
        self.assertEqual((answer.status, answer.json["refused"]), (200, 0), answer)

    def page(self, user, query=""):
        answer = self.server.get("/users/%s/history%s" % (urllib.parse.quote(user, ""), query))
        self.assertEqual(answer.status, 200, answer)
        self.assertFalse(answer.json["degraded"], answer)
        return answer.json

    def items(self, user, query="?limit=1000"):
        return [entry["item"] for entry in self.page(user, query)["entries"]]

    def found(self, user, items, collection="video"):
        answer = self.server.post("/users/%s/history/lookup" % user,
                                  {"collection": collection, "items": items})
        self.assertEqual(answer.status, 200, answer)
        return {entry["item"]: entry for entry in answer.json["entries"]}

    def drain(self):
        self.assertEqual(self.server.post("/admin/drain").status, 200)

    def crash(self):
        self.server.kill()
        self.server.start()

    def at_each_place(self, check):
        """The same from the ring, from the journal after a crash, and from the families."""
        check("ring")
        self.crash()
        check("replayed")
        self.drain()
        check("drained")
        self.crash()
        check("reopened")


class ReadingTest(HistoryCase):

    def test_what_was_reported_comes_back_from_everywhere(self):
        fields = {"list": [1, {"a": None}], "text": "é\n\"", "n": 1e9}
        self.play({"user": "u", "item": "v1", "at": NOW - 5, "progress_s": 95, "duration_s": 240,
                   "device": "tv é", "fields": fields},
                  {"user": "u", "item": 2, "at": NOW - 4, "progress_s": -1},
                  ("u", "v3", NOW - 6), ("other", "v1", NOW))

        def check(place):
            self.assertEqual(self.page("u")["entries"], [
                {"collection": "video", "item": "2", "at": NOW - 4, "progress_s": -1,
                 "duration_s": 0},
                {"collection": "video", "item": "v1", "at": NOW - 5, "progress_s": 95,
                 "duration_s": 240, "device": "tv é", "fields": fields},
                {"collection": "video", "item": "v3", "at": NOW - 6, "progress_s": 0,
                 "duration_s": 0}], place)
            self.assertNotIn("cursor", self.page("u"))
            self.assertEqual(set(self.found("u", ["v1", "x", "2", "v3", "y"])), {"v1", "2", "v3"})
            one = self.server.get("/v1/users/u/history/v1?collection=video").json
            self.assertEqual((one["progress_s"], one["degraded"]), (95, False))
            self.assertEqual(self.items("nobody"), [])

        self.at_each_place(check)

    def test_fields_come_back_as_they_came(self):
        text = '{ "b":1.50,  "a":"\\u00e9",\t"b":2 }'
        body = ('{"collection":"video","events":[{"user":"u","item":"v","fields":%s}]}' % text)
        self.assertEqual(self.server.post("/plays", body).status, 200)
        self.drain()
        self.assertIn(('"fields":%s}' % text).encode(), self.server.get("/users/u/history").body)

    def test_the_newest_state_counts_whatever_the_order(self):
        seconds = list(range(0, 300, 5))
        dice = random.Random(7)
        for round_ in range(4):
            dice.shuffle(seconds)
            rows = [{"user": "u", "item": "v%d" % (round_ % 2), "at": NOW - 1_000_000 + s * 1_000,
                     "progress_s": s, "fields": {"s": s}} for s in seconds]
            answer = self.server.ndjson("/plays?collection=video", rows)
            self.assertEqual(answer.json["accepted"], len(rows), answer)
            if round_ % 2:
                self.drain()

        def check(place):
            entries = self.page("u")["entries"]
            self.assertEqual([e["item"] for e in entries], ["v0", "v1"], place)
            for entry in entries:
                self.assertEqual((entry["progress_s"], entry["fields"]), (295, {"s": 295}), place)

        self.at_each_place(check)

    def test_what_a_report_does_not_say_stays(self):
        self.play({"user": "u", "item": "v", "at": NOW - 60_000, "progress_s": 1200,
                   "duration_s": 3000, "device": "tv", "fields": {"a": 1}})
        self.play({"user": "u", "item": "v", "at": NOW - 5, "device": ""},
                  {"user": "u", "item": "v", "at": NOW - 9, "progress_s": None},
                  {"user": "u", "item": "w", "at": NOW - 5, "progress_s": 64},
                  {"user": "u", "item": "w", "at": NOW - 5, "progress_s": 63})

        def check(place):
            self.assertEqual(self.page("u")["entries"], [
                {"collection": "video", "item": "v", "at": NOW - 5, "progress_s": 1200,
                 "duration_s": 3000, "device": "tv", "fields": {"a": 1}},
                {"collection": "video", "item": "w", "at": NOW - 5, "progress_s": 64,
                 "duration_s": 0}], place)

        self.at_each_place(check)

    def test_pages_are_stable_while_plays_arrive(self):
        for i in range(60):
            collection = "comic" if i % 3 == 0 else "video"
            self.play(("u", "i%02d" % i, NOW - 50 * DAY + i // 2 * DAY), collection=collection)
            if i == 30:
                self.drain()
        at_first = [(e["at"], e["collection"], e["item"])
                    for e in self.page("u", "?limit=1000")["entries"]]
        self.assertEqual(at_first, sorted(at_first, key=lambda e: (-e[0], e[1], e[2])))
        self.assertEqual(len(at_first), 60)
        got, query, pages = [], "?limit=7", 0
        while query:
            page = self.page("u", query)
            got += [(e["at"], e["collection"], e["item"]) for e in page["entries"]]
            pages += 1
            self.play(("u", "new%d" % pages, NOW - 100 + pages))
            if pages == 4:
                self.drain()
            cursor = page.get("cursor")
            query = cursor and "?limit=7&cursor=" + urllib.parse.quote(cursor, "")
        self.assertEqual(got, at_first)
        self.assertEqual(len(self.items("u", "?collection=comic&limit=1000")), 20)
        both = self.items("u", "?collection=comic,video&limit=1000")
        self.assertEqual(len(both), 60 + pages)

    def test_a_cursor_is_a_place_whatever_became_of_its_entry(self):
        self.play(*[(user, "v%d" % i, NOW - i) for i in range(8) for user in ("u", "w")])
        self.play(*[("u", "k%d" % i, NOW - i) for i in range(8)], collection="comic")
        cursor = self.page("u", "?limit=5")["cursor"]  # k0 v0 k1 v1 k2

        def behind(user="u", query=""):
            return self.items(user, "?limit=2&cursor=" + cursor + query)

        self.assertEqual(behind(), ["v2", "k3"])
        self.assertEqual(behind("w"), ["v2", "v3"], "another user's place is one as well")
        self.assertEqual(behind(query="&collection=comic"), ["k3", "k4"])
        self.assertEqual(behind(query="&collection=video,video"), ["v2", "v3"])
        for broken in (cursor[:-1], cursor[:-2], cursor + "00", cursor.upper(), " " + cursor):
            answer = self.server.get("/users/u/history?cursor=" + urllib.parse.quote(broken))
            self.assertEqual((answer.status, answer.error["field"]), (400, "/cursor"), broken)
        self.server.post("/users/u/history/delete", {"collection": "comic", "items": ["k2", "k3"]})
        self.assertEqual(behind(), ["v2", "v3"])
        self.server.post("/users/u/history/clear", {"collections": ["video"]})
        self.assertEqual(behind(), ["k4", "k5"])
        self.server.delete("/users/u")
        self.assertEqual(behind(), [])

    def test_an_id_is_one_however_it_is_written(self):
        self.play({"user": 7, "item": 42, "progress_s": 5, "at": NOW - 9},
                  {"user": "7", "item": "42", "progress_s": 6, "at": NOW - 8})
        self.assertEqual(self.items("7"), ["42"])
        asked = {"collection": "video", "items": ["42", 42, "042", "no", 42]}
        found = self.server.post("/users/7/history/lookup", asked).json["entries"]
        self.assertEqual([(e["item"], e["progress_s"]) for e in found], [("42", 6)] * 3)
        self.assertEqual(self.found("7", []), {})
        self.server.post("/users/7/history/delete", {"collection": "video", "items": [42]})
        self.assertEqual(self.items("7"), [])

    def test_an_item_watched_again_moves_up(self):
        self.play(("u", "a", NOW - 40 * DAY), ("u", "b", NOW - 30 * DAY), ("u", "c", NOW - 20 * DAY))
        self.drain()
        self.play(("u", "a", NOW - 5))
        self.assertEqual(self.items("u"), ["a", "c", "b"])
        page = self.page("u", "?limit=1")
        self.assertEqual([e["item"] for e in page["entries"]], ["a"])
        self.at_each_place(lambda place: self.assertEqual(self.items("u"), ["a", "c", "b"], place))

    def test_ids_that_need_escaping(self):
        for user, item in [("a/b?c", "d%e f"), ("é\n", "lookup"), ("123", "history")]:
            self.play((user, item, NOW))
            self.assertEqual(self.items(user), [item])
            target = "/users/%s/history/%s?collection=video" % (
                urllib.parse.quote(user, ""), item.replace("lookup", "%6Cookup")
                if item == "lookup" else urllib.parse.quote(item, ""))
            self.assertEqual(self.server.get(target).json["item"], item)
        self.assertEqual(self.server.get("/users/u/history/lookup").status, 405)


class RefusalTest(HistoryCase):

    def test_every_limit_is_refused_by_name(self):
        event = {"user": "u", "item": "v"}
        for more, field in [({"progress_s": -2}, "progress_s"), ({"progress_s": 1.5}, "progress_s"),
                            ({"progress_s": 2**31}, "progress_s"), ({"duration_s": -1}, "duration_s"),
                            ({"duration_s": "9"}, "duration_s"), ({"device": "d" * 65}, "device"),
                            ({"device": 7}, "device"), ({"fields": []}, "fields"),
                            ({"fields": {"k": "v" * 1020}}, "fields"), ({"progress": 1}, "progress")]:
            answer = self.server.post("/plays", {"events": [event, dict(event, **more)]})
            self.assertEqual((answer.status, answer.error["field"]), (400, "/events/1/" + field))
            refusal = self.server.ndjson("/plays", [dict(event, **more)]).json["refusals"][0]
            self.assertEqual(refusal["error"]["field"], "/" + field)
        longest = dict(event, device="d" * 64, fields={"k": "v" * 1015})
        self.assertEqual(len(json.dumps(longest["fields"])), 1024)
        self.play(longest)
        for query, field in [("limit=0", "/limit"), ("limit=1001", "/limit"), ("limit=x", "/limit"),
                             ("cursor=nonsense", "/cursor"), ("cursor=", "/cursor"),
                             ("from=1", "/from"), ("limit=1&limit=1", "/limit")]:
            answer = self.server.get("/users/u/history?" + query)
            self.assertEqual((answer.status, answer.error["field"]), (400, field), query)
        cursor = "?limit=1&cursor=" + "A" * 3000
        self.assertEqual(self.server.get("/users/u/history" + cursor).error["field"], "/cursor")
        many = {"collection": "video", "items": list(range(1001))}
        for route in ("lookup", "delete"):
            answer = self.server.post("/users/u/history/" + route, many)
            self.assertEqual((answer.status, answer.error["field"]), (400, "/items"))
            answer = self.server.post("/users/u/history/" + route,
                                      {"collection": "video", "items": ["a", "b" * 256]})
            self.assertEqual((answer.status, answer.error["field"]), (400, "/items/1"))
            self.assertEqual(self.server.post("/users/u/history/" + route,
                                              dict(many, items=many["items"][1:])).status, 200)
        for user in ("u" * 256, "%FF"):
            for path in ("history", "history/i", "recording", "export"):
                answer = self.server.get("/users/%s/%s" % (user, path))
                self.assertEqual((answer.status, answer.error["field"]), (400, "/user"), path)

    def test_collections_without_history(self):
        for name in ("default", "nope"):
            for answer in (self.server.get("/users/u/history?collection=video," + name),
                           self.server.get("/users/u/history/i?collection=" + name),
                           self.server.post("/users/u/history/delete",
                                            {"items": [1], "collection": name})):
                self.assertEqual((answer.status, answer.error["field"]), (404, "/collection"), name)
            answer = self.server.post("/users/u/history/clear", {"collections": ["video", name]})
            self.assertEqual((answer.status, answer.error["field"]), (404, "/collections/1"), name)
        self.play({"user": "u", "item": "v", "progress_s": 7}, collection="default")
        self.assertEqual(self.items("u"), [])

    def test_a_collection_that_keeps_none_says_so(self):
        none = {"entries": [], "degraded": False, "kept": False}
        self.assertEqual(self.server.get("/users/u/history?collection=default").json, none)
        asked = {"items": [1], "collection": "default"}
        self.assertEqual(self.server.post("/users/u/history/lookup", asked).json, none)
        self.assertEqual(self.server.get("/users/u/history?collection=nope").status, 404)
        asked["collection"] = "nope"
        self.assertEqual(self.server.post("/users/u/history/lookup", asked).status, 404)
        self.assertEqual(self.server.get("/users/u/history?collection=default&limit=0").status, 400)
        self.assertNotIn("kept", self.page("nobody"))

    def test_without_any_history(self):
        with CheckedServer(clock_ms=NOW) as bare:
            self.assertEqual(bare.get("/users/u/history").json,
                             {"entries": [], "degraded": False, "kept": False})
            self.assertEqual(bare.post("/users/u/history/clear").json, {"cleared": True})
            lines = bare.get("/users/u/export").lines
            self.assertEqual([line["type"] for line in lines], ["user", "collection", "end"])

    def test_impressions_never_enter_it(self):
        answer = self.server.put("/collections/comic", {"served_is_seen": True})
        self.assertEqual(answer.status, 200)
        self.server.post("/impressions", {"user": "u", "items": ["s"], "collection": "comic"})
        self.assertEqual(self.items("u"), [])


class DeletingTest(HistoryCase):

    def unseen(self, items):
        return self.server.post("/filter", {"user": "u", "items": items,
                                            "collection": "video"}).json["unseen"]

    def test_deleted_items_stay_away(self):
        self.play(("u", "a", NOW - 9), ("u", "b", NOW - 8), ("u", "c", NOW - 7),
                  ("u", "d", NOW + 1_000))
        self.drain()
        self.play(("u", "e", NOW - 6))
        answer = self.server.post("/users/u/history/delete",
                                  {"collection": "video", "items": ["a", "d", "e", "unheard"]})
        self.assertEqual((answer.status, answer.json), (200, {"deleted": True}))
        self.assertEqual(self.items("u"), ["c", "b"])
        # What comes late, or again, brings nothing back: not even at the newest time known.
        self.play(("u", "a", NOW - 1), ("u", "d", NOW + 1_000), ("u", "e", NOW - 6),
                  ("u", "unheard", NOW - 5), ("u", "a", NOW))

        def check(place):
            self.assertEqual(self.items("u"), ["c", "b"], place)
            self.assertEqual(set(self.found("u", ["a", "b", "c", "d", "e"])), {"b", "c"}, place)
            self.assertEqual(self.unseen(["a", "b", "e", "z"]), ["z"], "deleted items stay seen")

        self.at_each_place(check)
        self.play(("u", "a", NOW + 1), ("u", "d", NOW + 1_001))
        self.assertEqual(self.items("u"), ["d", "a", "c", "b"])

    def test_cleared_is_cleared(self):
        self.play(("u", "a", NOW - 9), ("u", "b", NOW + 50), ("w", "a", NOW))
        self.play(("u", "k", NOW - 3), collection="comic")
        self.drain()
        self.play(("u", "c", NOW - 2))
        answer = self.server.post("/users/u/history/clear", {"collections": ["video"]})
        self.assertEqual((answer.status, answer.json), (200, {"cleared": True}))
        self.play(("u", "a", NOW - 1), ("u", "b", NOW + 50), ("u", "x", NOW - DAY))

        def check(place):
            self.assertEqual(self.items("u"), ["k"], place)
            self.assertEqual(self.items("w"), ["a"], place)
            self.assertEqual(self.unseen(["a", "b", "c", "z"]), ["z"])

        self.at_each_place(check)
        self.assertEqual(self.server.post("/users/u/history/clear").status, 200)
        self.assertEqual(self.items("u"), [])
        self.play(("u", "a", NOW + 51))
        self.assertEqual(self.items("u"), ["a"])

    def test_cleared_with_its_filter(self):
        """What the filter knew is unseen again, for that user and collection alone."""
        items = ["a", "b", "served", "z"]
        for collection in ("video", "comic"):
            self.play(("u", "a", NOW - 9), ("w", "a", NOW - 9), collection=collection)
        self.drain()
        self.play(("u", "b", NOW + 50))
        self.server.post("/impressions", {"collection": "video", "user": "u", "items": ["served"]})
        self.assertEqual(self.unseen(items), ["z"])
        answer = self.server.post("/users/u/history/clear",
                                  {"collections": ["video"], "filter": True})
        self.assertEqual((answer.status, answer.json), (200, {"cleared": True}))
        late = self.server.post("/plays", {"collection": "video", "events": [
            {"user": "u", "item": "a", "at": NOW}, {"user": "w", "item": "z", "at": NOW}]})
        self.assertEqual((late.json["accepted"], late.json["refused"]), (1, 1), late)

        def check(place):
            self.assertEqual(self.unseen(items), items, place)
            self.assertEqual(self.items("u"), ["a"], place)
            self.assertEqual(self.server.get("/users/u").json["forgotten_at_ms"],
                             {"video": NOW}, place)
            others = self.server.post("/filter", {"user": "w", "items": items,
                                                  "collection": "video"}).json["unseen"]
            self.assertEqual(others, ["b", "served"], place)

        self.at_each_place(check)
        self.play(("u", "a", NOW + 1))
        self.assertEqual(self.unseen(items), items[1:])
        # A collection that keeps no history has a filter, too.
        self.server.put("/collections/plain", {})
        plain = {"collections": ["plain"]}
        self.assertEqual(self.server.post("/users/u/history/clear", plain).status, 404)
        plain["filter"] = True
        self.assertEqual(self.server.post("/users/u/history/clear", plain).status, 200)

    def test_erasing_a_user_takes_the_history(self):
        self.play(("u", "a", NOW - 9), ("w", "a", NOW - 9))
        self.drain()
        self.play(("u", "b", NOW - 8))
        self.assertEqual(self.server.delete("/users/u").status, 200)

        def check(place):
            self.assertEqual(self.items("u"), [], place)
            self.assertEqual(self.items("w"), ["a"], place)
            self.assertEqual(self.found("u", ["a", "b"]), {}, place)

        self.at_each_place(check)


class PausingTest(HistoryCase):

    def pause(self, paused):
        answer = self.server.put("/users/u/recording", {"paused": paused})
        self.assertEqual(answer.json, {"paused": paused, "since_ms": self.server.clock_ms}, answer)

    def test_a_pause_keeps_plays_out_however_late(self):
        self.assertEqual(self.server.get("/users/u/recording").json,
                         {"paused": False, "since_ms": 0})
        self.play(("u", "before", NOW - 10))
        self.server.move_clock(NOW + 1_000)
        self.pause(True)
        self.server.move_clock(NOW + 2_000)
        self.play(("u", "within", NOW + 1_500), ("u", "late", NOW + 999))
        self.server.move_clock(NOW + 3_000)
        self.pause(False)
        self.play(("u", "within2", NOW + 2_999), ("u", "after", NOW + 3_000),
                  ("u", "within", NOW + 1_600))

        def check(place):
            self.assertEqual(self.items("u"), ["after", "late", "before"], place)
            self.assertEqual(self.server.get("/users/u/recording").json,
                             {"paused": False, "since_ms": NOW + 3_000}, place)
            answer = self.server.post("/filter", {"user": "u", "collection": "video",
                                                  "items": ["within", "within2", "z"]})
            self.assertEqual(answer.json["unseen"], ["z"], "the filter learns")

        self.server.clock_ms = NOW + 3_000
        self.at_each_place(check)

    def test_the_filter_may_ignore_them(self):
        answer = self.server.put("/collections/video", {"history": {"when_paused": "filter_ignores"}})
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.json["history"]["enabled"], True)
        self.pause(True)
        self.play(("u", "within", NOW))
        answer = self.server.post("/filter", {"user": "u", "items": ["within"],
                                              "collection": "video"})
        self.assertEqual(answer.json["unseen"], ["within"])
        for body, field in [({}, "/paused"), ({"paused": 1}, "/paused"),
                            ({"paused": True, "until": 1}, "/until")]:
            answer = self.server.put("/users/u/recording", body)
            self.assertEqual((answer.status, answer.error["field"]), (400, field))


class ExportTest(HistoryCase):

    def test_everything_is_in_it(self):
        rows = [{"user": "a/b", "item": i, "at": NOW - i, "fields": {"i": i, "pad": "x" * 500}}
                for i in range(3_000)]
        self.assertEqual(self.server.ndjson("/plays?collection=video", rows).json["accepted"], 3_000)
        self.drain()
        self.play(("a/b", "k", NOW), collection="comic")
        self.server.post("/impressions", {"user": "a/b", "items": ["s"]})
        answer = self.server.get("/users/a%2Fb/export")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["content-type"], "application/x-ndjson")
        self.assertEqual(answer.headers.get("transfer-encoding"), "chunked")
        lines = answer.lines
        self.assertEqual(lines[0], {"type": "user", "user": "a/b",
                                    "recording": {"paused": False, "since_ms": 0}})
        self.assertEqual([line["collection"] for line in lines[1:4]], ["comic", "default", "video"])
        for line in lines[1:4]:
            line.pop("type")
            name = line.pop("collection")
            self.assertEqual(line,
                             self.server.get("/users/a%2Fb?collection=" + name).json)
        entries = lines[4:-1]
        self.assertEqual([e["item"] for e in entries], ["k"] + [str(i) for i in range(3_000)])
        self.assertTrue(all(e.pop("type") == "history" for e in entries))
        self.assertEqual(entries[:1000], self.page("a/b", "?limit=1000")["entries"])
        self.assertEqual(lines[-1], {"type": "end", "collections": 3, "entries": 3_001,
                                     "degraded": False})

    def test_what_is_kept_of_a_history_switched_off_is_in_it(self):
        self.play(("u", "a", NOW - 9))
        self.drain()
        self.play(("u", "b", NOW - 8))
        self.play(("u", "k", NOW - 7), collection="comic")
        answer = self.server.put("/collections/video", {"history": {"enabled": False}})
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(self.items("u"), ["k"])

        def check(place):
            lines = self.server.get("/users/u/export").lines
            self.assertEqual([line["item"] for line in lines if line["type"] == "history"],
                             ["k", "b", "a"], place)
            self.assertEqual(lines[-1]["entries"], 3, place)

        self.at_each_place(check)
        self.assertEqual(self.server.delete("/users/u").status, 200)
        self.assertEqual(self.server.get("/users/u/export").lines[-1]["entries"], 0)

    def test_head_and_the_connection_afterwards(self):
        client = self.server.client()
        for method, lines in [("GET", 5), ("HEAD", 0), ("GET", 5)]:
            answer = client.request(method, "/users/u/export")
            self.assertEqual((answer.status, len(answer.lines)), (200, lines))
        self.assertEqual(client.request("GET", "/healthz").status, 200)
        client.close()

    def test_a_reader_who_goes_away(self):
        rows = [{"user": "u", "item": i, "at": NOW - i, "fields": {"pad": "x" * 1000}}
                for i in range(5_000)]
        self.server.ndjson("/plays?collection=video", rows)
        for _ in range(5):
            with self.server.socket() as peer:
                peer.sendall(b"GET /users/u/export HTTP/1.1\r\nHost: h\r\n\r\n")
                self.assertTrue(peer.recv(1000).startswith(b"HTTP/1.1 200"))
        self.assertEqual(len(self.server.get("/users/u/export").lines), 5_000 + 5)


if __name__ == "__main__":
    unittest.main()
