"""Compressed bodies and answers: what comes and goes compressed means the same as it does plain, and
a few bytes that stand for many take no more memory than many bytes do.
"""

import gzip
import http.client
import json
import os
import struct
import subprocess
import sys
import threading
import unittest
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from neighbour import Neighbour
from openapi_check import CheckedServer
from process_memory import Memory
from protocol_test import ANSWER, FILTER, answers, post, sent_one_by_one
from seendb_client import Answer

MB = 1 << 20
NDJSON = {"Content-Type": "application/x-ndjson"}
CODINGS = ("gzip", "zstd")


def run_zstd(data, *flags):
    return subprocess.run(["zstd", "-qc", *flags], input=data, capture_output=True, check=True).stdout


def encode(coding, data):
    return gzip.compress(data) if coding == "gzip" else run_zstd(data)


def decode(coding, data):
    return gzip.decompress(data) if coding == "gzip" else run_zstd(data, "-d")


def zstd_spaces(blocks, plain=0):
    """A frame with a window of 8 MB: 4 bytes for each 128 KB of spaces, and `plain` spaces as they
    are behind each of them."""
    block = struct.Struct("<I")
    run = (128 << 10) << 3 | 1 << 1
    between = block.pack(plain << 3)[:3] + b" " * plain if plain else b""
    body = b"".join((between if number else b"") +
                    block.pack(run | (number + 1 == blocks))[:3] + b" " for number in range(blocks))
    return b"\x28\xb5\x2f\xfd\x00\x68" + body


def chunked(data, size):
    pieces = [data[at:at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


class CompressedServer(CheckedServer):
    """Compresses bodies where told, and decodes answers before they are checked."""

    def ask(self, method, path, body=None, coding=None, accept=None, headers=None):
        headers = dict(headers or {})
        if body is not None:
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        if coding:
            headers["Content-Encoding"] = coding
            body = encode(coding, body)
        if accept is not None:
            headers["Accept-Encoding"] = accept
        client = self.client()
        try:
            answer = client.request(method, path, body, headers)
        finally:
            client.close()
        packed = answer.headers.get("content-encoding")
        if packed and method != "HEAD":
            answer = Answer(answer.status, answer.headers, decode(packed, answer.body))
        self.checker.check(method, path, answer)
        return answer


class BodyTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = CompressedServer(config={"limits": {"body_bytes": MB, "line_bytes": 4_096,
                                                         "inflight_bytes": 64 * MB},
                                              "threads": 1, "core_dumps": True})  # for Memory
        said = cls.server.put("/collections/video", {"history": {"enabled": True}})
        assert said.status == 200, said

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def test_every_kind_of_body(self):
        for coding in CODINGS:
            user = "kinds-" + coding
            said = self.server.ask("POST", "/plays?collection=video",
                                   {"events": [{"user": user, "item": "a"}]}, coding)
            self.assertEqual((said.status, said.json["accepted"]), (200, 1), said)
            rows = b"".join(b'{"user":"%s","item":"i%d"}\n' % (user.encode(), i)
                            for i in range(20_000))
            said = self.server.ask("POST", "/plays?collection=video", rows, coding, headers=NDJSON)
            self.assertEqual((said.status, said.json["accepted"]), (200, 20_000), said)
            asked = {"user": user, "items": ["a", "b", "i7"], "collection": "video"}
            said = self.server.ask("POST", "/filter", asked, coding)
            self.assertEqual(said.json["unseen"], ["b"])
            lines = (json.dumps(asked) + "\n").encode() * 3_000  # more than one piece
            said = self.server.ask("POST", "/filter", lines, coding, headers=NDJSON)
            self.assertEqual([line["unseen"] for line in said.lines], [["b"]] * 3_000)
            said = self.server.ask("POST", "/filter?user=u&ids=u64", struct.pack("<2Q", 1, 2), coding,
                                   headers={"Content-Type": "application/octet-stream"})
            self.assertEqual(said.body, b"\x03")
            said = self.server.ask("POST", "/users/%s/history/lookup" % user,
                                   {"collection": "video", "items": ["a"]}, coding)
            self.assertEqual(said.status, 200, said)
            said = self.server.ask("PUT", "/users/%s/recording" % user, {"paused": True}, coding)
            self.assertEqual(said.status, 200, said)
            said = self.server.ask("POST", "/admin/drain", b"{}", coding)
            self.assertEqual(said.status, 200, said)

    def test_names_of_encodings(self):
        for name, coding in [("x-gzip", "gzip"), ("GZIP", "gzip"), ("Zstd", "zstd")]:
            data = post(b"/filter", encode(coding, FILTER), b"Content-Encoding: " + name.encode(),
                        b"Connection: close")
            self.assertEqual([g[2] for g in answers(self.server.raw(data))], [ANSWER], name)
        self.assertEqual(self.server.ask("POST", "/filter", FILTER,
                                         headers={"Content-Encoding": "identity"}).body, ANSWER)
        for name in ["br", "deflate", "compress", "gzip, gzip", "gzip, identity", "gzip;q=1"]:
            said = self.server.ask("POST", "/filter", gzip.compress(FILTER),
                                   headers={"Content-Encoding": name})
            self.assertEqual((said.status, said.error["message"]),
                             (415, "Content-Encoding must be one of gzip, zstd and identity"), name)
        twice = post(b"/filter", FILTER, b"Content-Encoding: gzip", b"Content-Encoding: gzip",
                     b"Connection: close")
        self.assertEqual([g[0] for g in answers(self.server.raw(twice))], [415])

    def test_bodies_in_any_pieces(self):
        for coding in CODINGS:
            packed = encode(coding, FILTER)
            head = (b"Content-Encoding: " + coding.encode(), b"Connection: close")
            for size in (1, 7, 1_000):
                data = post(b"/filter", chunked(packed, size), b"Transfer-Encoding: chunked", *head)
                self.assertEqual([g[2] for g in answers(self.server.raw(data))], [ANSWER])
            received = sent_one_by_one(self.server, post(b"/filter", packed, *head))
            self.assertTrue(received.endswith(ANSWER), received)

    def test_pipelined_requests_are_answered_in_order(self):
        data = b""
        for i in range(300):
            body = b'{"user":"u","items":[%d]}' % i
            coding = (None, "gzip", "zstd" if i < 20 else "gzip")[i % 3]
            packed = encode(coding, body) if coding else body
            headers = (b"Content-Encoding: " + coding.encode(),) if coding else ()
            if i % 2:
                packed, headers = chunked(packed, 9), headers + (b"Transfer-Encoding: chunked",)
            data += post(b"/filter", packed, *headers)
        got = answers(self.server.raw(data + post(b"/filter", FILTER, b"Connection: close")))
        self.assertEqual([json.loads(g[2])["unseen"] for g in got], [[i] for i in range(300)] + [[1]])

    def test_expect_continue(self):
        packed = gzip.compress(FILTER)
        with self.server.socket() as peer:
            peer.sendall(post(b"/filter", b"", b"Expect: 100-continue", b"Content-Encoding: gzip",
                              b"Content-Length: %d" % len(packed)))
            self.assertEqual(peer.recv(4_096), b"HTTP/1.1 100 Continue\r\n\r\n")
            peer.sendall(packed)
            self.assertTrue(peer.recv(4_096).endswith(ANSWER))
        refused = post(b"/filter", b"", b"Expect: 100-continue", b"Content-Encoding: br",
                       b"Content-Length: 5")
        self.assertEqual([g[0] for g in answers(self.server.raw(refused))], [415])

    def test_a_stream_is_answered_while_it_is_sent(self):
        packer = zlib.compressobj(wbits=31)
        with self.server.socket() as peer:
            peer.sendall(post(b"/filter", b"", b"Transfer-Encoding: chunked",
                              b"Content-Encoding: gzip", b"Content-Type: application/x-ndjson"))
            for i in range(3):
                packed = packer.compress(FILTER + b"\n") + packer.flush(zlib.Z_SYNC_FLUSH)
                peer.sendall(b"%x\r\n%s\r\n" % (len(packed), packed))
                received = b""
                while not received.endswith(ANSWER + b"\n\r\n"):
                    piece = peer.recv(4_096)
                    self.assertTrue(piece, (i, received))
                    received += piece
            end = packer.flush()
            peer.sendall(b"%x\r\n%s\r\n0\r\n\r\n" % (len(end), end))
            self.assertEqual(peer.recv(4_096), b"0\r\n\r\n")

    def broken(self, body, coding, *message, path=b"/filter", status=400, headers=(), more=b""):
        """Sends it in both framings; the statuses of all answers."""
        head = (b"Content-Encoding: " + coding.encode(),) + headers
        if not more:
            head += (b"Connection: close",)
        statuses = []
        for data in (post(path, body, *head),
                     post(path, chunked(body, 11), b"Transfer-Encoding: chunked", *head)):
            got = answers(self.server.raw(data + more))
            error = json.loads(got[0][2])["error"]
            self.assertEqual(got[0][0], status, error)
            for text in message:
                self.assertIn(text, error["message"])
            statuses.append([g[0] for g in got])
        return statuses

    def test_broken_bodies(self):
        more = post(b"/filter", FILTER, b"Connection: close")
        for coding in CODINGS:
            whole = encode(coding, FILTER)
            for cut in (1, 5, len(whole) - 1):
                statuses = self.broken(whole[:cut], coding, "Content-Encoding " + coding,
                                       "at byte %d of" % cut, more=more)
                self.assertEqual(statuses, [[400, 200]] * 2)  # the connection stays
            self.broken(whole + b"!", coding, "behind its end, at byte %d of" % len(whole))
            self.broken(whole + b"{}" * 50_000, coding, "behind its end, at byte %d of" % len(whole))
            self.broken(FILTER, coding, "Content-Encoding " + coding, "at byte ")
            self.broken(whole[:-3] + b"xyz", coding, "Content-Encoding " + coding)
            self.broken(encode(coding, b"nonsense"), coding, "JSON")
        self.broken(gzip.compress(FILTER) + b"\0" * 100, "gzip", "behind its end")
        self.broken(run_zstd(FILTER), "gzip", "incorrect header check")
        big_window = b"\x28\xb5\x2f\xfd\x00\x70" + b"\x01\x00\x00"
        self.broken(big_window, "zstd", "too much memory")

    def test_a_body_without_its_end_records_nothing(self):
        for coding in CODINGS:
            rows = {"events": [{"user": "cut-" + coding, "item": "a"}]}
            self.broken(encode(coding, json.dumps(rows).encode())[:-1], coding, "its end is missing",
                        path=b"/plays")
            said = self.server.ask("POST", "/filter", {"user": "cut-" + coding, "items": ["a"]})
            self.assertEqual(said.json["unseen"], ["a"])

    def test_broken_streams(self):
        kind = (b"Content-Type: application/x-ndjson",)
        play = b'{"user":"broken","item":"a"}\n'
        for coding in CODINGS:
            self.broken(encode(coding, play)[:-1], coding, "its end is missing", path=b"/plays",
                        headers=kind)
            self.broken(encode(coding, play) + b"!", coding, "behind its end", path=b"/plays",
                        headers=kind)
        # An answer that has begun has the error as its last line, and no end.
        packed = encode("gzip", (FILTER + b"\n") * 5_000)
        data = post(b"/filter", packed + b"!", b"Content-Encoding: gzip", *kind)
        received = self.server.raw(data)
        self.assertTrue(received.startswith(b"HTTP/1.1 200 "))
        self.assertIn(b'"code":"invalid_argument"', received[-300:])
        self.assertFalse(received.endswith(b"0\r\n\r\n"))

    def test_the_limit_is_of_what_comes_out(self):
        for coding in CODINGS:
            fits = FILTER + b" " * (MB - len(FILTER))
            self.assertEqual(self.server.ask("POST", "/filter", fits, coding).body, ANSWER)
            self.broken(encode(coding, fits + b" "), coding, "over %d bytes" % MB, status=413)
        # Bytes that can't be compressed may be a little more when they come.
        noise = os.urandom(MB)
        for coding in CODINGS:
            packed = encode(coding, noise)
            self.assertGreater(len(packed), MB)
            self.broken(packed, coding, "JSON")
            self.broken(encode(coding, noise + b"!"), coding, "over %d bytes" % MB, status=413)
        self.broken(gzip.compress(b"") * 60_000, "gzip", "over %d bytes" % (MB + 2_048), status=413)

    def test_small_bodies_that_stand_for_large_ones(self):
        bombs = [("gzip", gzip.compress(b" " * (100 * MB))), ("zstd", zstd_spaces(8 * 1_024)),
                 ("gzip", gzip.compress(FILTER + b"\0" * (100 * MB)))]
        neighbour = Neighbour(self.server, "honest")
        neighbour.start()
        memory = Memory(self.server.process.pid)

        def send(coding, bomb, path, headers, statuses):
            client = self.server.client(timeout=300)
            try:
                said = client.request("POST", path, bomb,
                                      dict(headers, **{"Content-Encoding": coding})).status
            except http.client.IncompleteRead:
                said = "cut off"
            client.close()
            self.checked.append(said in statuses or said)

        self.checked = []
        senders = []
        for coding, bomb in bombs * 4:
            # A body: 413. A stream of one line without an end: that line is refused, and the stream
            # is once it holds 16 MB; an answer that has begun then stays without an end.
            for path, headers, statuses in (("/filter", {}, (413, 503)), ("/plays", {}, (413, 503)),
                                            ("/plays", NDJSON, (413, 503)),
                                            ("/filter", NDJSON, ("cut off", 413, 503))):
                senders.append(threading.Thread(target=send, args=(coding, bomb, path, headers,
                                                                   statuses)))
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        self.assertEqual(self.checked, [True] * len(senders))
        print(neighbour.stop(self), memory.check(self, 150 * MB), sep="; ", flush=True)

    def test_other_connections_have_their_turn(self):
        # One thread; 17 MB that stand for 1.5 GB, which is just not too much.
        bomb = zstd_spaces(12 * 1_024, plain=1_400)
        with self.server.socket(timeout=120) as peer, self.server.socket(timeout=120) as other:
            other.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
            other.recv(4_096)
            peer.sendall(post(b"/plays", bomb, b"Content-Encoding: zstd",
                              b"Content-Type: application/x-ndjson"))
            other.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
            self.assertIn(b"200 OK", other.recv(4_096))
            peer.setblocking(False)
            with self.assertRaises(BlockingIOError):
                peer.recv(1)
            peer.settimeout(120)
            self.assertIn(b"422", peer.recv(4_096))


class AnswerTest(unittest.TestCase):

    ITEMS = ["item-%06d" % i for i in range(5_000)]

    @classmethod
    def setUpClass(cls):
        cls.server = CompressedServer()
        cls.server.put("/collections/video", {"history": {"enabled": True}})
        rows = [{"user": "u", "item": "film-%d" % i, "fields": {"pad": "x" * 50}}
                for i in range(1_000)]
        cls.server.ndjson("/plays?collection=video", rows)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def check_pair(self, path, coding="gzip"):
        plain, packed = self.server.ask("GET", path), self.server.ask("GET", path, accept=coding)
        self.assertNotIn("content-encoding", plain.headers)
        self.assertEqual(packed.headers["content-encoding"], coding)
        self.assertEqual([plain.headers["vary"], packed.headers["vary"]], ["Accept-Encoding"] * 2)
        self.assertEqual(plain.headers["content-type"], packed.headers["content-type"])
        return plain, packed

    def test_answers_of_get(self):
        for coding in CODINGS:
            for path in ("/openapi.json", "/users/u/history?limit=100"):
                plain, packed = self.check_pair(path, coding)
                self.assertEqual(plain.body, packed.body, path)
                self.assertLess(int(packed.headers["content-length"]), len(plain.body) // 3, path)
            self.assertIn(b"seendb_http_requests_total", self.check_pair("/metrics", coding)[1].body)

    def test_what_is_not_asked_for_or_small_stays(self):
        for accept in (None, "", "identity", "br, deflate", "gzip;q=0", "*;q=0", "gzip;q=0, *",
                       "identity, gzip;q=0.1"):
            said = self.server.ask("GET", "/openapi.json", accept=accept)
            self.assertNotIn("content-encoding", said.headers, accept)
        for accept in ("gzip;q=0.5, br", "deflate, x-gzip", "*"):
            said = self.server.ask("GET", "/openapi.json", accept=accept)
            self.assertEqual(said.headers["content-encoding"], "gzip", accept)
        for path in ("/healthz", "/readyz", "/", "/nope"):
            self.assertNotIn("content-encoding", self.server.ask("GET", path, accept="gzip").headers)

    def test_head_is_get_without_the_body(self):
        for path in ("/openapi.json", "/users/u/history?limit=100", "/users/u/export", "/healthz"):
            for accept in (None, "gzip", "zstd"):
                client = self.server.client()
                get = client.request("GET", path, headers={"Accept-Encoding": accept or "identity"})
                head = client.request("HEAD", path, headers={"Accept-Encoding": accept or "identity"})
                client.close()
                self.assertEqual(head.body, b"")
                for name in ("content-encoding", "content-length", "vary", "content-type",
                             "transfer-encoding"):
                    self.assertEqual(get.headers.get(name), head.headers.get(name), (path, accept))

    def test_exports(self):
        for coding in CODINGS:
            plain, packed = self.check_pair("/users/u/export", coding)
            self.assertEqual(plain.body, packed.body)
            self.assertEqual(packed.lines[-1]["entries"], 1_000)
        # Of HTTP/1.0 it ends with the connection.
        received = self.server.raw(b"GET /users/u/export HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n")
        head, _, body = received.partition(b"\r\n\r\n")
        self.assertIn(b"Content-Encoding: gzip", head)
        self.assertEqual(gzip.decompress(body), plain.body)

    def test_answers_of_other_routes(self):
        said = self.server.ask("POST", "/users/u/history/lookup",
                               {"items": ["film-%d" % i for i in range(100)], "collection": "video"},
                               accept="gzip")
        self.assertEqual(said.headers["content-encoding"], "gzip")
        rows = [{"user": "u", "item": "x", "at": 1}] * 100
        said = self.server.ask("POST", "/plays", {"events": rows}, accept="gzip")
        self.assertGreater(len(said.body), 1_024)
        self.assertNotIn("content-encoding", said.headers)

    def test_filters_need_the_setting(self):
        asked = {"user": "v", "items": self.ITEMS}
        plain = self.server.ask("POST", "/filter", asked, accept="gzip")
        self.assertGreater(len(plain.body), 10_000)
        self.assertNotIn("content-encoding", plain.headers)
        self.assertNotIn("vary", plain.headers)
        with CompressedServer(config={"compress_filter": True}) as server:
            many = {"user": "v", "items": ["item-%06d" % i for i in range(50_000)]}  # off the I/O thread
            for body in (asked, many):
                for coding in CODINGS:
                    packed = server.ask("POST", "/filter", body, accept=coding)
                    self.assertEqual(packed.headers["content-encoding"], coding)
                    self.assertEqual(packed.body, server.ask("POST", "/filter", body).body)
            ids = struct.pack("<20000Q", *range(20_000))
            kind = {"Content-Type": "application/octet-stream"}
            packed = server.ask("POST", "/filter?user=v&ids=u64", ids, "gzip", "gzip", kind)
            self.assertEqual(packed.headers["content-encoding"], "gzip")
            self.assertEqual((packed.headers["seendb-seen"], packed.body), ("0", b"\xff" * 2_500))
            small = server.ask("POST", "/filter", FILTER, accept="gzip")
            self.assertNotIn("content-encoding", small.headers)
            self.check_stream(server)

    def check_stream(self, server):
        """Answers of a stream can be read as they come."""
        with server.socket() as peer:
            peer.sendall(post(b"/filter", b"", b"Transfer-Encoding: chunked", b"Accept-Encoding: gzip",
                              b"Content-Type: application/x-ndjson"))
            unpacker, received, lines = zlib.decompressobj(wbits=31), b"", b""
            for count in range(1, 4):
                peer.sendall(b"%x\r\n%s\n\r\n" % (len(FILTER) + 1, FILTER))
                while lines.count(b"\n") < count:
                    received += peer.recv(4_096)
                    if b"\r\n\r\n" in received[:1_000] and received.startswith(b"HTTP/"):
                        head, _, received = received.partition(b"\r\n\r\n")
                        self.assertIn(b"Content-Encoding: gzip", head)
                    size, _, rest = received.partition(b"\r\n")
                    if rest and len(rest) >= int(size, 16) + 2:
                        lines += unpacker.decompress(rest[:int(size, 16)])
                        received = rest[int(size, 16) + 2:]
            peer.sendall(b"0\r\n\r\n")
            while not received.endswith(b"\r\n0\r\n\r\n"):
                received += peer.recv(4_096)
            size, _, rest = received.partition(b"\r\n")
            lines += unpacker.decompress(rest[:int(size, 16)])
        self.assertEqual((lines, unpacker.eof), ((ANSWER + b"\n") * 3, True))


if __name__ == "__main__":
    unittest.main()
