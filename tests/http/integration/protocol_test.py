"""HTTP itself: what is broken, ambiguous, over a limit, unusual but right."""

import json
import os
import re
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer
from seendb_client import Server

FILTER = b'{"user":"u","items":[1]}'
ANSWER = b'{"unseen":[1],"seen":0,"examined":1,"unseen_share":1,"degraded":false}'


def post(path, body, *headers):
    lines = [b"POST " + path + b" HTTP/1.1", b"Host: h"] + list(headers)
    if not any(h.lower().startswith((b"content-length", b"transfer-encoding")) for h in headers):
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def sent_one_by_one(server, data):
    """What comes back for bytes of which each is sent alone."""
    with server.socket() as peer:
        for at in range(len(data)):
            peer.sendall(data[at:at + 1])
        received = b""
        while piece := peer.recv(4096):
            received += piece
    return received


def answers(received):
    """Splits what a connection said into (status, headers, body)."""
    found = []
    while received:
        head, _, rest = received.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        headers = dict(line.lower().split(b": ", 1) for line in lines[1:])
        length = int(headers.get(b"content-length", 0))
        found.append((int(lines[0].split()[1]), headers, rest[:length]))
        received = rest[length:]
    return found


class ProtocolTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer(config={"limits": {"header_ms": 2_000, "idle_ms": 4_000}})

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def refused(self, data, status, field=b"error"):
        """Sends bytes; one error answer must come, and the connection must close."""
        began = time.monotonic()
        got = answers(self.server.raw(data))
        self.assertLess(time.monotonic() - began, 60)
        self.assertEqual([status], [g[0] for g in got], (data[:200], got))
        self.assertEqual(got[0][1][b"connection"], b"close", data[:200])
        error = json.loads(got[0][2])["error"]
        self.assertEqual(set(error), {"code", "message", "field"})
        self.assertIn(field, got[0][2])

    def test_broken_http(self):
        for data in [b"nonsense\r\n\r\n", b"GET\r\n\r\n", b"GET /healthz\r\n\r\n",
                     b"GET /healthz HTTP/1.1\r\n\r\n", b"GET /healthz HTTP/3.0\r\nHost: h\r\n\r\n",
                     b"GET /healthz HTTP/1.1\r\nHost h\r\n\r\n",
                     b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                     b"GET /healthz HTTP/1.1\r\nHost: h\r\nX: \x00\r\n\r\n",
                     b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n" * 4,
                     b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]:
            self.refused(data, 400)

    def test_no_answer_is_to_be_taken_for_another_type(self):
        for target in ("/healthz", "/openapi.json", "/nowhere", "/users/u?collection=unknown"):
            answer = self.server.get(target)
            self.assertEqual(answer.headers.get("x-content-type-options"), "nosniff", target)

    def test_request_smuggling_shapes(self):
        smuggled = b"GET /admin/stats HTTP/1.1\r\nHost: h\r\n\r\n"
        chunked = b"0\r\n\r\n" + smuggled
        for headers in [(b"Content-Length: %d" % len(chunked), b"Transfer-Encoding: chunked"),
                        (b"Transfer-Encoding: chunked", b"Content-Length: 5"),
                        (b"Content-Length: 5", b"Content-Length: 6"),
                        (b"Content-Length: 0", b"Content-Length: 0"),
                        (b"Content-Length: 1, 1",), (b"Content-Length: +5",),
                        (b"Content-Length: 0x5",), (b"Content-Length : 5",),
                        (b"Transfer-Encoding: xchunked",), (b"Transfer-Encoding: gzip, chunked",),
                        (b"Transfer-Encoding: chunked, identity",),
                        (b"Transfer-Encoding : chunked",), (b"Transfer-Encoding: \x0bchunked",),
                        (b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked")]:
            self.refused(post(b"/filter", chunked, *headers), 400)
        for body in [b"zz\r\n", b"5\r\nabcdefg\r\n0\r\n\r\n", b"-5\r\nabcde\r\n0\r\n\r\n",
                     b"fffffffffffffffff\r\n"]:
            self.refused(post(b"/filter", body, b"Transfer-Encoding: chunked"), 400)

    def test_heads_that_readers_could_cut_differently(self):
        smuggled = b"GET /admin/stats HTTP/1.1\r\nHost: h\r\n\r\n"
        start = b"POST /filter HTTP/1.1\r\nHost: h\r\n"
        end = b"Content-Length: %d\r\n\r\n" % len(FILTER) + FILTER
        self.assertEqual(answers(self.server.raw(start + b"Connection: close\r\n" + end))[0][0],
                         200)  # what stands around each shape is right
        for shape in [
                # continued lines
                b"X: a\r\n b\r\n", b"X: a\r\n\tb\r\n", b"X: a\r\n \r\n", b"X:\r\n a\r\n",
                b"Transfer-Encoding:\r\n chunked\r\n", b"X: a\r\n Transfer-Encoding: chunked\r\n",
                b"Transfer-Encoding: chunked\r\n ,identity\r\n",
                # lines that end otherwise
                b"X: a\nContent-Length: 0\r\n", b"X: a\n", b"X: a\rContent-Length: 0\r\n",
                b"X: a\r\r\n", b"\nX: a\r\n", b"X: a\r\n\n", b"X: a\x00\r\n",
                # names that end otherwise
                b"X : a\r\n", b"X\t: a\r\n", b"Content-Length : 0\r\n", b" Content-Length: 0\r\n",
                b"Content-Length\r\n", b": a\r\n", b"Transfer-Encoding : chunked\r\n",
                b"Transfer-Encoding\x0b: chunked\r\n",
                # two lengths
                b"Transfer-Encoding: chunked\r\n", b"Content-Length: 0\r\n",
                b"Content-Length: %d\r\n" % len(FILTER), b"content-length: 1\r\n"]:
            self.refused(start + shape + end + smuggled, 400)
        for whole in [start.replace(b"\r\n", b"\n") + end, start + end.replace(b"\r\n", b"\n"),
                      (start + end).replace(b"\r\n", b"\n"), b"\n" + start + end,
                      start.replace(b" HTTP", b"\tHTTP") + end,
                      start.replace(b"HTTP/1.1\r\n", b"HTTP/1.1 \r\n") + end,
                      start.replace(b"\r\nHost", b"\r\n Host") + end]:
            self.refused(whole + smuggled, 400)

    def test_a_folded_line_is_refused_however_it_comes(self):
        data = b"GET /healthz HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n"
        for cut in range(1, len(data) - 4):
            with self.server.socket() as peer:
                peer.sendall(data[:cut])
                time.sleep(0.002)
                received = b""
                try:
                    peer.sendall(data[cut:])
                    while piece := peer.recv(4096):
                        received += piece
                except ConnectionResetError:
                    pass  # told, and closed, before the rest was sent
            self.assertEqual([g[0] for g in answers(received)], [400], cut)

    def test_pipelined_requests_are_answered_in_order(self):
        data = b"".join(post(b"/filter", b'{"user":"u","items":[%d]}' % i) for i in range(500))
        got = answers(self.server.raw(data + b"GET /nope HTTP/1.1\r\nHost: h\r\n"
                                             b"Connection: close\r\n\r\n"))
        self.assertEqual(len(got), 501)
        for i in range(500):
            self.assertEqual(json.loads(got[i][2])["unseen"], [i])
        self.assertEqual(got[500][0], 404)

    def test_errors_of_content_keep_the_connection(self):
        data = post(b"/filter", b"{") + post(b"/nope", FILTER) + post(b"/filter", FILTER) + \
            post(b"/metrics", b"x" * 1_000) + post(b"/filter", FILTER, b"Connection: close")
        self.assertEqual([g[0] for g in answers(self.server.raw(data))], [400, 404, 200, 405, 200])

    def test_bytes_may_come_one_by_one(self):
        data = b"\r\n" + post(b"/filter", FILTER, b"Connection: close")
        received = sent_one_by_one(self.server, data)
        self.assertTrue(received.endswith(ANSWER), received)

    def test_chunked_bodies(self):
        body = b"".join(b"%x;ext=\"v\"\r\n%s\r\n" % (1, FILTER[i:i + 1])
                        for i in range(len(FILTER))) + b"0\r\nTrailer: x\r\n\r\n"
        data = post(b"/filter", body, b"Transfer-Encoding: Chunked")
        got = answers(self.server.raw(data * 2 + post(b"/filter", FILTER, b"Connection: close")))
        self.assertEqual([g[2] for g in got], [ANSWER] * 3)

    def test_methods_and_allow(self):
        for method, path, allow in [("GET", "/filter", "POST"), ("DELETE", "/plays", "POST"),
                                    ("POST", "/users/u", "GET, HEAD, DELETE"),
                                    ("POST", "/collections", "GET, HEAD"),
                                    ("POST", "/collections/x", "GET, HEAD, DELETE, PUT"),
                                    ("PATCH", "/v1/healthz", "GET, HEAD"),
                                    ("OPTIONS", "/filter", "POST")]:
            answer = self.server.request(method, path)
            self.assertEqual((answer.status, answer.headers["allow"]), (405, allow), (method, path))
            self.assertEqual(answer.error["code"], "method_not_allowed")

    def test_head_is_get_without_the_body(self):
        for path in ["/healthz", "/readyz", "/metrics", "/collections", "/users/u",
                     "/admin/stats", "/openapi.json"]:
            answer = self.server.request("HEAD", path)
            self.assertEqual((answer.status, answer.body), (200, b""), path)
            self.assertGreater(int(answer.headers["content-length"]), 0)
        self.assertEqual(self.server.request("HEAD", "/nope").status, 404)

    def test_every_route_also_under_v1(self):
        for path in self.server.checker.document["paths"]:
            target = "/v1" + re.sub("{[a-z]+}", "x",
                                    path.replace("/collections/{name}", "/collections/default"))
            answer = self.server.get(target)
            self.assertNotIn(b"no such route", answer.body, target)
            may_be_404 = "{item}" in path or "{file}" in path or path == "/cluster" or path.endswith("/sets/{name}")
            self.assertTrue(answer.status != 404 or may_be_404, answer)
        self.assertEqual(self.server.get("/v1").status, 404)
        self.assertEqual(self.server.get("/v2/healthz").status, 404)

    def test_content_types(self):
        for kind in ["application/json", "Application/JSON; charset=utf-8", ""]:
            data = post(b"/filter", FILTER, *([b"Content-Type: " + kind.encode()] if kind else []),
                        b"Connection: close")
            self.assertEqual([g[2] for g in answers(self.server.raw(data))], [ANSWER])
        for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx",
                     "application/json; charset=utf-16"]:
            answer = self.server.post("/filter", FILTER, {"Content-Type": kind})
            self.assertEqual((answer.status, answer.error["code"]),
                             (415, "unsupported_media_type"), kind)
        answer = self.server.post("/admin/drain", b"{}\n", {"Content-Type": "application/x-ndjson"})
        self.assertEqual(answer.status, 415)
        answer = self.server.post("/filter", FILTER, {"Content-Encoding": "br"})
        self.assertEqual(answer.status, 415)
        answer = self.server.post("/filter", FILTER, {"Content-Encoding": "identity"})
        self.assertEqual(answer.status, 200)

    def test_expect_continue(self):
        with self.server.socket() as peer:
            peer.sendall(post(b"/filter", b"", b"Expect: 100-continue",
                              b"Content-Length: %d" % len(FILTER)))
            self.assertEqual(peer.recv(4096), b"HTTP/1.1 100 Continue\r\n\r\n")
            peer.sendall(FILTER)
            self.assertTrue(peer.recv(4096).endswith(ANSWER))
        for path, headers, status in [(b"/nope", (b"Content-Length: 5",), 404),
                                      (b"/filter", (b"Content-Length: 8388609",), 413),
                                      (b"/filter", (b"Content-Length: 5", b"Content-Type: a/b"),
                                       415)]:
            self.refused(post(path, b"", b"Expect: 100-continue", *headers), status)

    def test_limits_of_size(self):
        self.refused(b"GET /healthz HTTP/1.1\r\nHost: h\r\nX: " + b"x" * 20_000 + b"\r\n\r\n", 431)
        self.refused(b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: h\r\n\r\n", 431)
        self.refused(b"GET /healthz HTTP/1.1\r\nHost: h\r\n" + b"X: y\r\n" * 5_000 + b"\r\n", 431)
        self.refused(post(b"/filter", b"x" * 100, b"Content-Length: 8388609"), 413)
        self.refused(post(b"/filter", b"%x\r\n" % 8_388_609 + b" " * 8_388_609,
                          b"Transfer-Encoding: chunked"), 413)
        spaces = b" " * ((8 << 20) - len(FILTER))
        data = post(b"/filter", FILTER + spaces, b"Connection: close")
        self.assertEqual([g[2] for g in answers(self.server.raw(data))], [ANSWER])

    def test_slow_heads_and_idle_connections_are_closed(self):
        self.refused(b"POST /filter HTTP/1.1\r\nHo", 408)
        self.refused(post(b"/filter", b"{", b"Content-Length: 10"), 408)
        began = time.monotonic()
        self.assertEqual(self.server.raw(b""), b"")
        self.assertGreater(time.monotonic() - began, 1.5)

    def test_http_1_0(self):
        got = answers(self.server.raw(b"GET /healthz HTTP/1.0\r\n\r\n"))
        self.assertEqual((got[0][0], got[0][1][b"connection"]), (200, b"close"))
        got = answers(self.server.raw(b"GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
                                      b"GET /healthz HTTP/1.0\r\n\r\n"))
        self.assertEqual([g[0] for g in got], [200, 200])

    def test_targets(self):
        self.assertEqual(self.server.get("/filter/").status, 404)
        self.assertEqual(self.server.get("/healthz?x=1").error["field"], "/x")
        self.assertEqual(self.server.get("/users/%zz").status, 400)
        self.assertEqual(self.server.get("/users/a/b").status, 404)
        for host, status in ((b"anyhost", 200), (b"any.host", 403)):
            got = answers(self.server.raw(b"GET http://" + host + b"/healthz HTTP/1.1\r\nHost: h\r\n"
                                          b"Connection: close\r\n\r\n"))
            self.assertEqual(got[0][0], status)

    def test_every_answer_is_dated(self):
        answer = self.server.get("/healthz")
        self.assertRegex(answer.headers["date"], r"^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$")


class RefusedBodyTest(unittest.TestCase):
    def test_who_sends_all_before_it_reads_sees_the_refusal(self):
        """The rest of a body that nobody wants is read for two seconds: to close with bytes unread would take the
        answer away from the client."""
        size = 6 << 20
        chunked = b"%x\r\n" % size + b" " * size + b"\r\n0\r\n\r\n"
        with tempfile.NamedTemporaryFile("w") as tokens:
            json.dump([{"name": "a", "role": "admin", "sha256": "0" * 64}], tokens)
            tokens.flush()
            with Server(config={"tokens_file": tokens.name}) as server:
                for head, body in ((b"Content-Length: %d" % size, b" " * size),
                                   (b"Transfer-Encoding: chunked", chunked)):
                    with server.socket() as peer:
                        peer.sendall(post(b"/plays", body, b"Content-Type: application/json", head))
                        received = b""
                        while piece := peer.recv(65_536):
                            received += piece
                    (status, headers, _), = answers(received)
                    self.assertEqual((status, headers[b"connection"]), (401, b"close"))


class ConnectionLimitTest(unittest.TestCase):
    def test_connections_beyond_the_limit(self):
        with Server(config={"limits": {"connections": 20}}) as server:
            held = []
            for _ in range(19):
                peer = server.socket()
                self.addCleanup(peer.close)
                peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
                self.assertIn(b"200 OK", peer.recv(4096))
                peer.sendall(b"GET /openapi.json HT")  # of one that is idle another takes the place
                held.append(peer)
            self.assertEqual(server.get("/healthz").status, 200)  # the twentieth
            last, told = self.fill_last_place(server)
            self.addCleanup(last.close)
            self.assertTrue(told.startswith(b"HTTP/1.1 503 "), told)
            self.assertIn(b"Retry-After: 1\r\n", told)
            self.assertIn(b'"code":"busy"', told)
            for probe in (b"/healthz", b"/readyz", b"/metrics"):
                told = server.raw(b"GET " + probe + b" HTTP/1.1\r\nHost: h\r\n\r\n")
                self.assertTrue(told.startswith(b"HTTP/1.1 200 "), told)
            for peer in held:
                peer.close()
            self.assertEqual(server.get("/healthz").status, 200)
            text = server.get("/metrics").body.decode()
            self.assertIn("seendb_http_connections_refused_total 1\n", text)
            self.assertRegex(text, "seendb_http_connections_evicted_total [1-9]")

    def fill_last_place(self, server):
        """A connection that takes the place of the client's idle one, and what the next is told."""
        for pause in (0.1, 1, 5):  # before its bytes are read it may be taken for idle itself
            last = server.socket()
            last.sendall(b"GET /openapi.json HT")
            time.sleep(pause)
            told = server.raw(b"GET /collections HTTP/1.1\r\nHost: h\r\n\r\n")
            if told.startswith(b"HTTP/1.1 503 "):
                break
        return last, told


if __name__ == "__main__":
    unittest.main()
