"""Collections, users, clock, admin calls, statistics, metrics."""

import json
import os
import re
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer

DAY = 86_400_000
NOW = 1_700_000_000_000  # 14 November 2023

SHORT_VIDEO = {"bucket": "month", "window": 4, "retention": 6, "fpr": 0.01, "impressions": 100,
               "served_is_seen": False, "representation": "bloom", "durability": "interval",
               "max_future": "24h", "utc_offset": "+00:00"}


class AdminTest(unittest.TestCase):
    def setUp(self):
        self.server = CheckedServer(clock_ms=NOW, args=["--shards", "2"])
        self.addCleanup(self.server.close)

    def filter(self, user, items, **more):
        return self.server.post("/filter", dict(user=user, items=items, **more)).json

    def play(self, user, *items, **more):
        events = [dict(user=user, item=item, **more) for item in items]
        return self.server.post("/plays", {"events": events}).json

    def test_collections(self):
        listed = self.server.get("/collections").json["collections"]
        self.assertEqual([c["name"] for c in listed], ["default"])
        self.assertEqual({k: listed[0][k] for k in SHORT_VIDEO}, SHORT_VIDEO)
        made = self.server.put("/collections/article", {
            "bucket": "days:10", "window": 4, "retention": 4, "fpr": 0.02, "impressions": 7,
            "served_is_seen": True, "representation": "exact", "max_filter_bytes": 100_000,
            "durability": "sync", "max_future": "1h", "utc_offset": "+08:00"})
        self.assertEqual(made.status, 200, made)
        self.assertEqual(made.json["utc_offset"], "+08:00")
        changed = self.server.put("/collections/article", {"impressions": 8, "durability": "none"})
        self.assertEqual((changed.json["impressions"], changed.json["durability"],
                          changed.json["representation"]), (8, "none", "exact"))
        same = self.server.put("/collections/article", {"window": 4, "bucket": "days:10"})
        self.assertEqual(same.status, 200)
        self.server.post("/plays", {"events": [{"user": "u", "item": 1}], "collection": "article"})
        for patch, field in [({"window": 3}, "window"), ({"bucket": "month"}, "bucket"),
                             ({"fpr": 0.5}, "fpr"), ({"utc_offset": "+00:00"}, "utc_offset"),
                             ({"representation": "bloom"}, "representation")]:
            answer = self.server.put("/collections/article", patch)
            self.assertEqual((answer.status, answer.error["code"]), (409, "incompatible"))
            self.assertIn(field, answer.error["message"])
        for patch, field in [({"window": 0}, "/window"), ({"retention": 129}, "/retention"),
                             ({"window": 7, "retention": 6}, None), ({"windows": 1}, "/windows"),
                             ({"bucket": "week"}, "/bucket"), ({"fpr": 2}, "/fpr"),
                             ({"durability": "maybe"}, "/durability"),
                             ({"max_future": "soon"}, "/max_future"),
                             ({"utc_offset": "8"}, "/utc_offset")]:
            answer = self.server.put("/collections/other", patch)
            self.assertEqual(answer.status, 400, (patch, answer))
            if field:
                self.assertEqual(answer.error["field"], field)
        for name in ["Video", "-a", "a%20b", "a" * 65, "_"]:
            self.assertEqual(self.server.put("/collections/" + name, {}).error["field"], "/name")
        self.assertEqual(self.server.put("/collections/" + "a" * 64).status, 200)
        self.server.restart()
        listed = {c["name"]: c for c in self.server.get("/collections").json["collections"]}
        self.assertEqual(set(listed), {"default", "article", "a" * 64})
        self.assertEqual(listed["article"], changed.json)

    def test_collections_do_not_see_each_other(self):
        self.server.put("/collections/comic", {})
        self.server.post("/plays", {"events": [{"user": "u", "item": 1}], "collection": "comic"})
        self.assertEqual(self.filter("u", [1])["unseen"], [1])
        self.assertEqual(self.filter("u", [1], collection="comic")["unseen"], [])

    def test_served_is_seen(self):
        self.server.put("/collections/s", {"served_is_seen": True, "impressions": 2})
        self.server.post("/impressions", {"user": "u", "items": [1, 2, 3, 4], "collection": "s"})
        self.assertEqual(self.filter("u", [1, 2, 3, 4, 5], collection="s")["unseen"], [5])
        self.assertEqual(self.filter("u", [1, 2, 3, 4], collection="s", facts=["impressions"])
                         ["seen"], 2)

    def test_served_items_by_their_ids(self):
        self.server.post("/impressions", {"user": "w", "items": ["before"]})
        self.server.put("/collections/default", {"impression_ids": True})
        self.server.post("/admin/clock", {"now_ms": self.server.clock_ms + 1})
        self.server.post("/impressions", {"user": "w", "items": ["v1", 42]})
        for line in (self.server.get("/users/w").json,
                     json.loads(self.server.get("/users/w/export").body.splitlines()[1])):
            self.assertEqual([one.get("item") for one in line["impressions"][0]["entries"]],
                             ["42", "v1", None])

    def test_users(self):
        self.play("u/1 \u00e9", "a", "b")
        self.server.post("/admin/drain")
        self.play("u/1 \u00e9", "c")
        self.server.post("/impressions", {"user": "u/1 \u00e9", "items": ["d"]})
        path = "/users/u%2F1%20%C3%A9"
        report = self.server.get(path).json
        self.assertEqual(report["user"], "u/1 \u00e9")
        self.assertEqual([(b["bucket"], b["items"]) for b in report["buckets"]], [("2023-11", 2)])
        self.assertEqual([s["items"] for s in report["ring"] if not s["drained"]], [1])
        self.assertEqual(len(report["impressions"][0]["entries"]), 1)
        self.assertEqual(self.server.get(path + "?collection=default").status, 200)
        answer = self.server.get(path + "?collection=nope")
        self.assertEqual((answer.status, answer.error["field"]), (404, "/collection"))
        self.assertEqual(self.server.delete(path).json, {"erased": True, "known": True, "until_ms": NOW})
        self.assertEqual(self.filter("u/1 \u00e9", ["a", "b", "c", "d"])["seen"], 0)
        self.assertEqual(self.play("u/1 \u00e9", "e", at=NOW - 1)["refused"], 1)
        self.server.restart()
        self.assertEqual(self.filter("u/1 \u00e9", ["a", "b", "c", "d", "e"])["seen"], 0)
        self.server.move_clock(NOW + 1)
        self.assertEqual(self.play("u/1 \u00e9", "f")["accepted"], 1)
        self.assertEqual(self.server.get("/users/nobody").json["buckets"], [])
        for bad in ["%FF", "x" * 256]:
            self.assertEqual(self.server.get("/users/" + bad).error["field"], "/user")
            self.assertEqual(self.server.delete("/users/" + bad).error["field"], "/user")

    def test_erasing_an_unknown_user_writes_nothing(self):
        for _ in range(2):
            self.assertEqual(self.server.delete("/users/nobody").json,
                             {"erased": True, "known": False})
        self.assertNotIn("erased_at_ms", self.server.get("/users/nobody").json)
        self.assertEqual(self.play("nobody", "v", at=NOW - DAY)["accepted"], 1)
        self.assertIs(self.server.delete("/users/nobody").json["known"], True)
        self.assertEqual(self.play("nobody", "v", at=NOW - DAY)["refused"], 1)
        self.assertIs(self.server.delete("/users/nobody").json["known"], True)

    def test_too_many_collections_are_a_conflict(self):
        with CheckedServer(config={"engine": {"max_column_families": 60}}) as server:
            answer = server.put("/collections/long", {"bucket": "days:1", "retention": 100})
            self.assertEqual((answer.status, answer.error["field"]),
                             (409, "/engine/max_column_families"), answer)

        with CheckedServer(config={"engine": {"max_collections": 2}}) as server:
            self.assertEqual(server.put("/collections/a", {}).status, 200)
            answer = server.put("/collections/b", {})
            self.assertEqual((answer.status, answer.error["field"]),
                             (409, "/engine/max_collections"), answer)

    def test_a_collection_is_shown_and_deleted(self):
        self.assertEqual(self.server.get("/collections/article").status, 404)
        self.server.put("/collections/article", {"bucket": "days:10"})
        shown = self.server.get("/collections/article")
        self.assertEqual((shown.status, shown.json["name"], shown.json["bucket"]),
                         (200, "article", "days:10"), shown)
        self.server.post("/plays", {"collection": "article", "events": [{"user": "u", "item": "v"}]})
        refused = self.server.put("/collections/article", {"bucket": "days:7"})
        self.assertEqual((refused.status, refused.error["field"]), (409, "/bucket"), refused)
        for query in ["", "?confirm=", "?confirm=default"]:
            answer = self.server.delete("/collections/article" + query)
            self.assertEqual((answer.status, answer.error["field"]), (409, "/confirm"), answer)
        self.assertEqual(self.filter("u", ["v"], collection="article")["seen"], 1)
        answer = self.server.delete("/collections/article?confirm=article")
        self.assertEqual((answer.status, answer.json),
                         (200, {"deleted": True, "name": "article"}), answer)
        self.assertEqual(self.server.delete("/collections/article?confirm=article").status, 404)
        self.assertEqual(self.server.post("/filter", {"user": "u", "items": ["v"],
                                                      "collection": "article"}).status, 404)
        self.server.put("/collections/article", {"bucket": "days:7"})
        self.assertEqual(self.filter("u", ["v"], collection="article")["seen"], 0)
        self.server.restart()
        self.assertEqual(self.filter("u", ["v"], collection="article")["seen"], 0)
        self.play("u", "v")
        answer = self.server.delete("/collections/default?confirm=default")
        self.assertEqual((answer.status, answer.error["field"]), (409, "/collection"), answer)

    def test_a_new_database_takes_the_default_policy(self):
        policy = {"bucket": "days:10", "window": 3, "retention": 3}
        with CheckedServer(config={"default_policy": policy}) as server:
            shown = server.get("/collections/default").json
            self.assertEqual((shown["bucket"], shown["window"]), ("days:10", 3))
            server.restart()
            self.assertEqual(server.get("/collections/default").json["window"], 3)
            self.assertIn("default_policy_ignored", server.log_text())

    def test_the_clock_drives_buckets(self):
        self.assertEqual(self.play("u", "v")["accepted"], 1)
        for months in range(1, 8):
            self.server.move_clock(NOW + months * 31 * DAY)
            seen = self.filter("u", ["v"])["seen"]
            self.assertEqual(seen, 1 if months < 4 else 0, months)
        labels = [b["bucket"] for b in self.server.get("/admin/buckets").json["buckets"]]
        self.assertNotIn("2023-11", labels)
        self.assertGreater(self.server.get("/admin/stats").json["drained_plays"], 0)
        self.assertEqual(self.play("u", "w", at=NOW)["refused"], 1)
        for body, status, field in [({"now_ms": NOW}, 400, "/now_ms"), ({}, 400, "/now_ms"),
                                    ({"now_ms": -1}, 400, "/now_ms"), ({"now": 1}, 400, "/now"),
                                    ({"now_ms": self.server.clock_ms}, 200, None)]:
            answer = self.server.post("/admin/clock", body)
            self.assertEqual(answer.status, status, answer)
            if field:
                self.assertEqual(answer.error["field"], field)

    def test_seal_and_drop(self):
        self.play("u", *range(100), at=NOW - 40 * DAY)
        self.play("u", "now")
        answer = self.server.post("/admin/seal", {"collection": "default", "bucket": "2023-10"})
        self.assertEqual((answer.json["ok"], answer.json["buckets_sealed"]), (True, 1), answer)
        states = {b["bucket"]: b["state"] for b in
                  self.server.get("/admin/buckets").json["buckets"]}
        self.assertEqual(states["2023-10"], "sealed")
        self.assertEqual(self.server.post("/admin/seal", {"bucket": "2023-11"}).status, 200)
        self.play("u", "later", at=NOW - 40 * DAY)  # into a sealed bucket
        self.server.post("/admin/drain")
        self.assertEqual(self.filter("u", list(range(100)) + ["now", "later"])["unseen"], [])
        self.assertEqual(self.server.post("/admin/seal").json["ok"], True)
        self.assertEqual(self.server.post("/admin/drop-expired").json["buckets_dropped"], 0)
        self.assertEqual(self.server.post("/admin/compact").json["ok"], True)
        for body, status, field in [({"bucket": "1999-01"}, 404, None),
                                    ({"collection": "default"}, 400, "/bucket"),
                                    ({"collection": "no", "bucket": "2023-11"}, 404, "/collection"),
                                    ({"bucket": 5}, 400, "/bucket"), ({"x": 5}, 400, "/x")]:
            answer = self.server.post("/admin/seal", body)
            self.assertEqual(answer.status, status, (body, answer))
            if field:
                self.assertEqual(answer.error["field"], field)

    def test_empty_admin_bodies(self):
        for path in ["/admin/drain", "/admin/seal", "/admin/compact", "/admin/drop-expired"]:
            for request in [b"POST %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
                            b"POST %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                            b"Content-Length: 0\r\nContent-Type: application/json\r\n\r\n",
                            b"POST %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                            b"Content-Length: 2\r\n\r\n{}"]:
                said = self.server.raw(request % path.encode())
                self.assertIn(b" 200 OK", said)
                self.assertIn(b'{"ok":true,', said)
            said = self.server.raw(b"POST %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                                   b"Content-Length: 0\r\nContent-Type: text/plain\r\n\r\n"
                                   % path.encode())
            self.assertIn(b" 415 ", said)
            self.assertEqual(self.server.post(path, {"force": True}).error["field"], "/force")

    def test_stats_buckets_and_ring(self):
        self.play("u", "a", "b")
        self.filter("u", ["a", "c"])
        stats = self.server.get("/admin/stats").json
        self.assertEqual((stats["plays_accepted"], stats["ring_plays"], stats["shards"]), (2, 2, 2))
        self.assertEqual((stats["candidates"], stats["candidates_seen"]), (2, 1))
        slots = self.server.get("/admin/ring").json["slots"]
        self.assertEqual({s["shard"] for s in slots}, {0, 1})
        self.assertEqual(sum(s["plays"] for s in slots), 2)
        buckets = self.server.get("/admin/buckets").json["buckets"]
        self.assertEqual([b["bucket"] for b in buckets if b["state"] == "open"], ["2023-11"])

    def test_metrics(self):
        self.play("a-user", "a", "b")
        self.filter("a-user", ["a", "c", "d"])
        self.server.post("/filter", {})
        answer = self.server.get("/metrics")
        self.assertTrue(answer.headers["content-type"].startswith("text/plain; version=0.0.4"))
        text = answer.body.decode()
        for line in ['seendb_http_requests_total{route="POST /filter",code="200"} 1',
                     'seendb_http_requests_total{route="POST /filter",code="400"} 1',
                     'seendb_http_request_seconds_count{route="POST /filter"} 2',
                     'seendb_filter_candidates_total{collection="default"} 3',
                     'seendb_filter_seen_total{collection="default"} 1',
                     'seendb_plays_accepted_total{collection="default"} 2', "seendb_ready 1",
                     "seendb_shards 2", "seendb_degraded 0"]:
            self.assertIn(line + "\n", text)
        for name in ["seendb_ring_bytes{", "seendb_ring_age_seconds{", "seendb_operands_per_read ",
                     "seendb_layers_dropped_total ", "seendb_history_recorded_total ",
                     "seendb_history_evicted_total ", "seendb_disk_bytes ", "seendb_fpr_estimate",
                     "seendb_drain_seconds_total ", "seendb_pending_compaction_bytes "]:
            self.assertIn(name.replace("seendb_fpr", "seendb_filter_fpr"), text)
        self.assertNotIn("a-user", text)
        for line in text.splitlines():
            if not line.startswith("#"):
                self.assertRegex(line, r'^(?:seendb|process)_[a-z_]+(\{([a-z]+="[^"]*",?)+\})? [-+.e0-9]+$')
        for name in re.findall(r"# TYPE (\S+) counter", text):
            self.assertTrue(name.endswith("_total"), name)


class SystemClockTest(unittest.TestCase):
    def test_no_route_moves_the_machines_clock(self):
        with CheckedServer() as server:
            answer = server.post("/admin/clock", {"now_ms": 1})
            self.assertEqual((answer.status, answer.error["code"]), (404, "not_found"))
            answer = server.post("/admin/clock/confirm")
            self.assertEqual((answer.status, answer.json["confirmed"]), (200, True))

    def in_doubt(self, server):
        metrics = server.get("/metrics").body.decode()
        self.assertIn("seendb_clock_in_doubt ", metrics)
        return "\nseendb_clock_in_doubt 1\n" in metrics

    def test_a_clock_in_doubt(self):
        # Each start finds the clock later than it was noted.
        with CheckedServer(config={"engine": {"clock_jump_ms": 0}}) as server:
            self.assertFalse(self.in_doubt(server), "a new database is believed")
            old = {"events": [{"user": "u", "item": "a", "at": 1_000_000_000_000}]}
            self.assertEqual(server.post("/plays", old).json["refused"], 1)
            server.restart()
            self.assertTrue(self.in_doubt(server))
            ready = server.get("/readyz").json
            self.assertTrue(ready["degraded"])
            self.assertIn("the clock is in doubt", ready["problems"][0])
            self.assertTrue(server.get("/admin/stats").json["clock_in_doubt"])
            answer = server.post("/filter", {"user": "u", "items": ["a"]}).json
            self.assertEqual((answer["degraded"], answer["missing"]), (True, ["clock"]))
            for path, body in [("/plays", old), ("/impressions", {"user": "u", "items": ["a"],
                                                                   "at": 1_000_000_000_000})]:
                refused = server.post(path, body)
                self.assertEqual((refused.status, refused.error["code"]), (503, "unavailable"))
            self.assertEqual(server.post("/admin/drop-expired").error["code"], "unavailable")
            now = {"events": [{"user": "u", "item": "a"}]}
            self.assertEqual(server.post("/plays", now).json["accepted"], 1)
            confirmed = server.post("/admin/clock/confirm")
            self.assertEqual(set(confirmed.json), {"confirmed", "now_ms"})
            self.assertLess(abs(confirmed.json["now_ms"] - time.time() * 1000), 60_000)
            self.assertFalse(self.in_doubt(server))
            self.assertEqual(server.get("/readyz").json["problems"], [])
            self.assertEqual(server.post("/plays", old).json["refused"], 1)
            self.assertFalse(server.post("/filter", {"user": "u", "items": ["a"]}).json["degraded"])
            self.assertEqual(server.post("/admin/clock/confirm", {"now": 1}).status, 400)
            server.restart()
            self.assertTrue(self.in_doubt(server))
            server.args.append("--confirm-clock")
            server.restart()
            self.assertFalse(self.in_doubt(server))


if __name__ == "__main__":
    unittest.main()
