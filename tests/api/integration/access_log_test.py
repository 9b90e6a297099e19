"""The access log: which requests have a line, what is in it, and the metrics beside it."""

import json
import os
import re
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer
from seendb_client import Server, eventually

NOW = 1_700_000_000_000  # 14 November 2023
KEY = "000102030405060708090a0b0c0d0e0f"
USER = "anna-the-user"


def server_with(**access_log):
    return Server(clock_ms=NOW, config={"access_log": access_log})


def lines_of(server):
    """The lines of the log about requests, once the server has ended."""
    server.terminate()
    lines = [json.loads(line) for line in server.log_text().splitlines()]  # each is JSON
    return [line for line in lines if "request" in line["event"]]


def value_of(server, name):
    """The value of a metric; None: it has none."""
    found = re.search("^%s (.+)$" % re.escape(name), server.get("/metrics").body.decode(), re.M)
    return float(found.group(1)) if found else None


class AccessLogTest(unittest.TestCase):
    def test_all(self):
        with server_with(mode="all", slow_ms=3_600_000, user_key=KEY) as server:
            body = json.dumps({"user": USER, "items": [1, 2]})
            filtered = server.post("/filter", body, {"X-Request-Id": "id-1"})
            self.assertEqual(filtered.status, 200)
            self.assertEqual(server.get("/users/%s" % USER).status, 200)
            self.assertEqual(server.post("/plays", {"events": [
                {"user": USER, "item": 1}, {"user": USER, "item": 2}]}).status, 200)
            self.assertEqual(server.post("/plays", {"events": [
                {"user": USER, "item": 1}, {"user": "b", "item": 2}]}).status, 200)
            self.assertEqual(server.post("/impressions", {"user": USER, "items": [5]}).status, 200)
            self.assertEqual(server.request("HEAD", "/healthz").status, 200)
            self.assertEqual(server.post("/filter", {"user": USER}).status, 400)
            self.assertEqual(server.get("/nope/" + USER).status, 404)
            lines = lines_of(server)
            told = [(line["method"], line["route"], line["status"], line.get("error"),
                     "user" in line) for line in lines]
            self.assertEqual(told, [
                ("POST", "POST /filter", 200, None, True),
                ("GET", "GET /users/{user}", 200, None, True),
                ("POST", "POST /plays", 200, None, True),
                ("POST", "POST /plays", 200, None, False),  # of two users
                ("POST", "POST /impressions", 200, None, True),
                ("HEAD", "GET /healthz", 200, None, False),
                ("POST", "POST /filter", 400, "invalid_argument", False),
                ("GET", "", 404, "not_found", False)])
            self.assertEqual(len({line["user"] for line in lines if "user" in line}), 1)
            self.assertNotIn(USER, server.log_text())
            first = lines[0]
            self.assertEqual((first["event"], first["level"], first["request_id"]),
                             ("request", "info", "id-1"))
            self.assertGreater(first["bytes_in"], len(body))
            self.assertGreater(first["bytes_out"], len(filtered.body))
            for line in lines:
                self.assertGreaterEqual(line["took_us"], line["waited_us"] + line["worked_us"] - 2)
            worker = lines[1]  # by kEngine
            self.assertGreater(worker["worked_us"], 0)

    def test_the_trace_of_a_request(self):
        trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
        whole = "00-%s-%s-01" % (trace, parent)
        with server_with(mode="all", slow_ms=3_600_000) as server:
            ignored = ["00-%s-%s-01" % (trace.upper(), parent), whole + "-more", "ff" + whole[2:], "x" * 8_000, ""]
            for given in [whole, "cc" + whole[2:] + "-more"] + ignored:
                answer = server.get("/collections", {"traceparent": given, "tracestate": "a=1"})
                self.assertEqual(answer.status, 200, given)
            lines = lines_of(server)
            self.assertEqual([(line.get("trace_id"), line.get("parent_id")) for line in lines],
                             [(trace, parent)] * 2 + [(None, None)] * len(ignored))
            spans = {line["span_id"] for line in lines if "span_id" in line}
            self.assertEqual(len(spans), 2)
            for span in spans:
                self.assertRegex(span, "^[0-9a-f]{16}$")

    def test_a_hash_is_the_same_with_the_same_key_only(self):
        def hash_of(**key):
            with server_with(mode="all", **key) as server:
                server.get("/users/%s" % USER)
                line = lines_of(server)[0]
                self.assertRegex(line["user"], "^[0-9a-f]{16}$")
                return line["user"]
        self.assertEqual(hash_of(user_key=KEY), hash_of(user_key=KEY))
        self.assertNotEqual(hash_of(), hash_of())

    def test_off_and_the_default_say_nothing_of_quick_requests(self):
        for config in ({"mode": "off", "slow_ms": 0}, {"slow_ms": 3_600_000}):
            with server_with(**config) as server:
                server.get("/users/%s" % USER)
                self.assertEqual(lines_of(server), [])

    def test_slow(self):
        with server_with(mode="slow", slow_ms=0) as server:
            server.get("/users/%s" % USER)
            self.assertEqual(value_of(server, "seendb_access_log_lines_total"), 1)
            lines = lines_of(server)
            self.assertEqual([(line["event"], line["level"], line["route"]) for line in lines],
                             [("slow_request", "warn", "GET /users/{user}"),
                              ("slow_request", "warn", "GET /metrics")])

    def test_sampled(self):
        for share, expected in ((0, 0), (1, 20)):
            with server_with(mode="sampled", sample=share, slow_ms=3_600_000) as server:
                for _ in range(20):
                    server.get("/healthz")
                self.assertEqual(len(lines_of(server)), expected)

    def test_lines_beyond_the_limit_are_left_out_and_counted(self):
        with server_with(mode="all", lines_per_s=1, slow_ms=3_600_000) as server:
            requests = 0

            def left_out():
                nonlocal requests
                requests += 2
                server.get("/healthz")
                return value_of(server, "seendb_access_log_left_out_total")
            eventually(left_out)
            # The line that says so comes with the first line of another second.
            eventually(lambda: server.get("/healthz") and
                       "requests_not_logged" in server.log_text())
            self.assertGreaterEqual(value_of(server, "seendb_access_log_lines_total"), 1)
            told = [line for line in lines_of(server) if line["event"] == "requests_not_logged"]
            self.assertGreater(told[0]["lines"], 0)

    def test_no_line_can_be_forged(self):
        forged = '\r\n{"ts":"x","level":"info","event":"ready"}\r\n'
        with server_with(mode="all") as server:
            for path in ("/%0a%0d{}", "/users/a%0ab%1b%5b31m%c2%9b", "/users/%00%e2%80%a8"):
                server.get(path)
            server.post("/filter", {"user": "a\n\x1b[31m" + forged, "items": [1]})
            for value in (b"a\x1b[31mb", b"a\x7fb", b"\xc2\x9b31m", b"a\x00b"):
                server.raw(b"GET /healthz HTTP/1.1\r\nHost: h\r\nX-Request-Id: " + value +
                           b"\r\nConnection: close\r\n\r\n", timeout=5)
            server.raw(b"G\x1bT /\x07 HTTP/1.1\r\nHost: h\r\n\r\n", timeout=5)
            lines = lines_of(server)  # each line is one JSON object
            self.assertGreaterEqual(len(lines), 4)
            self.assertTrue(re.fullmatch(r"[\n\x20-\x7e]*", server.log_text()))
            for line in lines:
                self.assertNotIn("request_id", line)

    def test_a_bad_setting_is_named(self):
        server = Server(config={"access_log": {"mode": "loud"}}, start=False)
        try:
            server.start(wait=False)
            self.assertEqual(server.wait_exit(), 2)
            self.assertIn("/access_log/mode: must be off, sampled, slow or all", server.log_text())
        finally:
            server.close()


class MetricsTest(unittest.TestCase):
    def setUp(self):
        self.server = CheckedServer(clock_ms=NOW, args=["--shards", "2"])
        self.addCleanup(self.server.close)

    def refused(self, reason):
        return value_of(self.server, 'seendb_http_refused_total{reason="%s"}' % reason)

    def test_refused_requests_by_reason(self):
        self.assertEqual(self.refused("invalid_argument"), 0)
        self.server.post("/filter", {"user": "u"})
        self.server.get("/nope")
        self.server.put("/filter", {})
        self.server.request("POST", "/plays", "x", {"Content-Type": "text/plain"})
        self.server.request("POST", "/filter?user=u&ids=u64", b"",
                            {"Content-Type": "application/octet-stream", "Accept": "image/png"})
        self.server.post("/plays", {"events": [{"user": "u", "item": 1, "at": 1}]})
        for reason in ("invalid_argument", "not_found", "method_not_allowed",
                       "unsupported_media_type", "not_acceptable", "all_refused"):
            self.assertEqual(self.refused(reason), 1, reason)
        self.assertEqual(self.refused("other"), 0)
        self.assertEqual(value_of(self.server, 'seendb_plays_refused_by_reason_total'
                                  '{collection="default",reason="too_old"}'), 1)

    def test_waits_for_workers(self):
        def waits(executor):
            return value_of(self.server,
                            'seendb_http_queue_wait_seconds_count{executor="%s"}' % executor)
        before = waits("engine")
        threads = [threading.Thread(target=lambda: self.server.client().request("GET", "/users/u"))
                   for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(waits("engine"), before + 5)
        self.server.post("/admin/drain")
        self.assertEqual(waits("slow"), 1)
        self.assertGreater(waits("probe"), 0)  # the scrapes themselves
        buckets = value_of(self.server,
                           'seendb_http_queue_wait_seconds_bucket{executor="slow",le="+Inf"}')
        self.assertEqual(buckets, 1)


if __name__ == "__main__":
    unittest.main()
