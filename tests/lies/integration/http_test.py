"""Lies that are told to the server's listeners: heads, bodies of every kind, TLS."""

import gzip
import itertools
import json
import os
import random
import ssl
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from player import MB, Row, ServerPlayer, exchange

from certificates import Authority
from fresh_seed import seed_of
from seendb_client import Server

SEED = seed_of("lies")
LIMITS = {"header_ms": 600, "transfer_ms": 800, "idle_ms": 1_200}
BODY_MOST = 8 * MB  # limits.body_bytes
LINE_MOST = 1 * MB  # limits.line_bytes
EVENT = b'{"user":"u","item":"i"}'
KINDS = {"json": b"application/json", "ndjson": b"application/x-ndjson",
         "binary": b"application/octet-stream"}


def noise(size, seed=0):
    return random.Random(SEED + seed).randbytes(size)


def zstd(data, *flags):
    return subprocess.run(["zstd", "-qc", *flags], input=data, capture_output=True, check=True).stdout


def post(path, body, *headers, kind="json", length=None):
    """A request whose Content-Length is that of the body, or `length`."""
    lines = [b"POST " + path + b" HTTP/1.1", b"Host: h", b"Connection: close",
             b"Content-Type: " + KINDS[kind], *headers]
    if length != b"":
        lines.append(b"Content-Length: " + (b"%d" % len(body) if length is None else length))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def chunk(piece):
    return b"%x\r\n%s\r\n" % (len(piece), piece)


class HttpPlayer(ServerPlayer):

    config = {}
    tls = None

    @classmethod
    def setUpClass(cls):
        if cls.reader is None:
            raise unittest.SkipTest("a class that others are made of")
        cls.server = Server(config=dict({"limits": LIMITS, "core_dumps": True, "threads": 1,
                                         "engine": {"shards": 1}},
                                        **cls.config), tls=cls.tls)
        cls.addClassCleanup(cls.server.close)

    def say(self, *pieces, **how):
        return exchange((self.server.host, self.server.port), pieces, **how)

    def row(self, lie, name, says, *pieces, most=24 * MB, **how):
        return Row(lie, name, lambda: self.say(*pieces, **how), says, most)

    def honest(self):
        answer = self.server.post("/plays", {"events": [{"user": "honest", "item": "a"}]})
        self.assertEqual((answer.status, answer.json["accepted"]), (200, 1), answer)
        answer = self.server.post("/filter", {"user": "honest", "items": ["a", "b"]})
        self.assertEqual(answer.json["unseen"], ["b"], answer)


class Heads(HttpPlayer):
    reader = "HTTP heads"

    def rows(self):
        head = b"GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
        chunked = post(b"/plays", b"", b"Transfer-Encoding: chunked", length=b"")
        deep = b"[" * 15_000
        yield self.row("too_deep", "ids in a path", "HTTP/1.1 (404|431) ",
                       b"GET " + b"/x" * 7_000 + b" HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        yield self.row("too_deep", "a position as JSON", "HTTP/1.1 400 .*|HTTP/1.1 200 ",
                       head + b"SeenDB-Position: " + deep + b"\r\n\r\n")
        yield self.row("too_long", "a target", "HTTP/1.1 431 .*header_bytes|HTTP/1.1 431 ",
                       b"GET /" + b"a" * 5 * MB + b" HTTP/1.1\r\n\r\n")
        yield self.row("too_long", "a header", "HTTP/1.1 431 ", head + b"X: " + b"a" * 5 * MB)
        yield self.row("dense", "headers", "HTTP/1.1 431 ", head + b"a:b\r\n" * MB)
        yield self.row("dense", "empty lines", None, b"\r\n" * MB)
        yield self.row("dense", "chunks of a byte", "HTTP/1.1 400 .*empty",
                       chunked + chunk(b" ") * MB + b"0\r\n\r\n")
        yield self.row("wrong_type", "no HTTP", "HTTP/1.1 400 ", b"\x16\x03\x01 HELO you\r\n\r\n")
        yield self.row("wrong_type", "a method", "HTTP/1.1 (400|405) ",
                       b"BREW / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        yield self.row("wrong_type", "a host", "HTTP/1.1 400 .*[Hh]ost|HTTP/1.1 400 ",
                       b"GET / HTTP/1.1\r\nHost: a b/c@d\r\nConnection: close\r\n\r\n")
        yield self.row("negative_length", "of a body", "HTTP/1.1 400 ", post(b"/plays", b"", length=b"-1"))
        yield self.row("negative_length", "of a chunk", "HTTP/1.1 400 ", chunked + b"-5\r\nabc\r\n")
        yield self.row("huge_length", "of a body", "HTTP/1.1 413 ",
                       post(b"/plays", b"{", length=b"9223372036854775807"))
        yield self.row("huge_length", "beyond any number", "HTTP/1.1 400 ",
                       post(b"/plays", b"{", length=b"9" * 40))
        yield self.row("huge_length", "of a chunk", "HTTP/1.1 (400|413) ",
                       chunked + b"7fffffffffffffff\r\n{")
        yield self.row("slow", "a head", "HTTP/1.1 408 ", *([b"GET / HTTP/1.1\r\n"] + [b"X: y\r\n"] * 50),
                       pause_s=0.1)
        yield self.row("slow", "empty lines", None, *[b"\r\n"] * 100, pause_s=0.1)
        yield self.row("slow", "nothing at all", None, b"", pause_s=5)
        yield self.row("slow", "a chunk's extension", "HTTP/1.1 408 ", *([chunked + b"1;"] + [b"a"] * 99),
                       pause_s=0.1)
        yield self.row("cut", "a head", None, head)
        yield self.row("twice", "a length", "HTTP/1.1 400 ",
                       post(b"/plays", b"{}", b"Content-Length: 3"))
        yield self.row("twice", "a host", "HTTP/1.1 400 ", head + b"Host: other\r\n\r\n")
        yield self.row("twice", "a length and chunks", "HTTP/1.1 400 ",
                       post(b"/plays", b"0\r\n\r\n", b"Transfer-Encoding: chunked", length=b"3"))
        yield self.row("out_of_order", "a body first", "HTTP/1.1 400 ", EVENT + head + b"\r\n")
        yield self.row("out_of_order", "a version first", "HTTP/1.1 400 ",
                       b"HTTP/1.1 GET /healthz\r\nHost: h\r\n\r\n")
        yield self.row("noise", "of a megabyte", "HTTP/1.1 (400|431) ", b"x" + noise(MB))


class JsonBodies(HttpPlayer):
    reader = "HTTP bodies: JSON"

    def rows(self):
        deep = ((b'{"a":' * 500_000, b"1" + b"}" * 500_000), (b"[" * 3 * MB, b"]" * 3 * MB))
        for path, before, behind in ((b"/plays", b'{"events":[{"user":"u","item":"i","fields":', b"}]}"),
                                     (b"/filter", b'{"user":"u","items":', b"}"),
                                     (b"/filter", b'{"surplus":', b"}")):
            for opening, closing in deep:
                for end in (closing + behind, b""):
                    yield self.row("too_deep", "in " + path.decode(), "HTTP/1.1 4(00|22) .*error",
                                   post(path, before + opening + end), most=6 * BODY_MOST)
        yield self.row("too_long", "a body", "HTTP/1.1 413 .*",
                       post(b"/plays", b'{"events":[' + b" " * BODY_MOST + b"]}"), most=2 * BODY_MOST)
        yield self.row("too_long", "an id", "HTTP/1.1 400 |refused", most=5 * BODY_MOST, *[post(
            b"/plays", b'{"events":[{"user":"%s","item":"i"}]}' % (b"u" * (BODY_MOST - 99)))])
        yield self.row("too_long", "a list of items", "HTTP/1.1 400 .*|candidates", post(
            b"/filter", b'{"user":"u","items":[' + b"1," * 3 * MB + b"1]}"), most=5 * BODY_MOST)
        yield self.row("dense", "events", "HTTP/1.1 (400|200) ", post(
            b"/plays", b'{"events":[' + b"{}," * (BODY_MOST // 3 - 50) + b"{}]}"), most=12 * BODY_MOST)
        yield self.row("dense", "members", "HTTP/1.1 400 ", post(
            b"/filter", b"{" + b'"":0,' * (BODY_MOST // 5 - 50) + b'"":0}'), most=5 * BODY_MOST)
        for name, body in (("a number", b"7"), ("a text", b'"x"'), ("nothing", b""), ("null", b"null"),
                           ("events that are a number", b'{"events":7}'),
                           ("a user that is a list", b'{"events":[{"user":[1],"item":{}}]}')):
            yield self.row("wrong_type", name, "HTTP/1.1 400 |refused|\"invalid\"", post(b"/plays", body))
        yield self.row("negative_length", "a time", "HTTP/1.1 (400|200) ", post(
            b"/plays", b'{"events":[{"user":"u","item":"i","at":-9223372036854775808}]}'))
        yield self.row("negative_length", "a limit", "/limit|limit", post(
            b"/filter", b'{"user":"u","items":[1],"limit":-1}'))
        yield self.row("huge_length", "numbers", "HTTP/1.1 400 ", post(
            b"/filter", b'{"user":"u","items":[1],"limit":1e308,"deadline_ms":1e999}'))
        yield self.row("huge_length", "digits", "HTTP/1.1 400 ", most=5 * BODY_MOST, *[post(
            b"/filter", b'{"user":"u","items":[%s]}' % (b"9" * 7 * MB))])
        yield self.row("slow", "a body", "HTTP/1.1 408 ", *([post(b"/filter", b"{", length=b"5000000")] +
                                                            [b" "] * 99), pause_s=0.1)
        yield self.row("cut", "a body", None, post(b"/plays", EVENT, length=b"5000"))
        yield self.row("cut", "the JSON", "HTTP/1.1 400 ", post(b"/plays", b'{"events":[{"user":"u","it'))
        yield self.row("twice", "a member", "HTTP/1.1 400 .*twice|HTTP/1.1 400 ", post(
            b"/filter", b'{"user":"u","user":"v","items":[1]}'))
        yield self.row("noise", "of a megabyte", "HTTP/1.1 400 ", post(b"/plays", noise(MB)))


class NdjsonBodies(HttpPlayer):
    reader = "HTTP bodies: NDJSON"

    def lines(self, path, body):
        return post(path, body, kind="ndjson")

    def rows(self):
        whole = "HTTP/1.1 200 .*"
        for path in (b"/plays", b"/filter"):
            yield self.row("too_deep", path.decode(), "levels|deep|\"error\"|refused", self.lines(
                path, b'{"user":"u","item":"i","items":[1],"fields":' + b"[" * (LINE_MOST // 2) + b"\n"))
        yield self.row("too_long", "a line", "line_bytes|bytes|refused", self.lines(
            b"/plays", b'{"user":"' + b"u" * 3 * LINE_MOST + b'"}\n' + EVENT + b"\n"))
        yield self.row("too_long", "a line without an end", "HTTP/1.1 413 |bytes", self.lines(
            b"/plays", b"x" * 20 * MB), most=40 * MB)
        yield self.row("dense", "empty objects", "refused", self.lines(b"/plays", b"{}\n" * (2 * MB)),
                       most=40 * MB)
        yield self.row("dense", "empty lines", whole, self.lines(b"/plays", b"\n" * (4 * MB)), most=40 * MB)
        yield self.row("wrong_type", "lists and numbers", "refused", self.lines(
            b"/plays", b'[]\n7\nnull\n"x"\nx\n'))
        yield self.row("negative_length", "a time", "must be a time", self.lines(
            b"/plays", b'{"user":"u","item":"i","at":-1}\n'))
        yield self.row("huge_length", "a time", "refused", self.lines(
            b"/plays", b'{"user":"u","item":"i","at":1e308}\n{"user":"u","item":"i","at":%s}\n' % (b"9" * MB)))
        chunked = post(b"/plays", b"", b"Transfer-Encoding: chunked", kind="ndjson", length=b"")
        yield self.row("slow", "a line", "HTTP/1.1 408 ", *([chunked + chunk(b"{")] + [chunk(b" ")] * 99),
                       pause_s=0.1)
        yield self.row("slow", "empty lines", "HTTP/1.1 408 ", *([chunked] + [chunk(b"\n")] * 99),
                       pause_s=0.1)
        yield self.row("cut", "a line", "refused|HTTP/1.1 200 ", self.lines(b"/plays", EVENT + b'\n{"user":"u'))
        yield self.row("cut", "the chunks", None, chunked + chunk(EVENT + b"\n"))
        yield self.row("twice", "a member", "refused", self.lines(
            b"/plays", b'{"user":"u","user":"v","item":"i"}\n'))
        yield self.row("noise", "of two megabytes", "refused|HTTP/1.1 4", self.lines(b"/plays", noise(2 * MB)))


class BinaryBodies(HttpPlayer):
    reader = "HTTP bodies: binary"

    def ids(self, path, body, **how):
        return post(path, body, kind="binary", **how)

    def rows(self):
        texts, numbers = b"/filter?user=u&ids=string", b"/filter?user=u&ids=u64"
        yield self.row("too_long", "an id", "255|HTTP/1.1 400 ",
                       self.ids(texts, struct.pack("<I", 5_000) + b"x" * 5_000))
        yield self.row("too_long", "a list", "candidates|100000|HTTP/1.1 400 ",
                       self.ids(numbers, b"\1\0\0\0\0\0\0\0" * 1_000_000), most=5 * BODY_MOST)
        yield self.row("too_long", "the shortest ids", "HTTP/1.1 400 ",
                       self.ids(texts, (struct.pack("<I", 1) + b"x") * 1_600_000), most=5 * BODY_MOST)
        yield self.row("wrong_type", "JSON", "HTTP/1.1 400 ", self.ids(numbers, b'{"items":[1,2,3]}'))
        yield self.row("negative_length", "of an id", "HTTP/1.1 400 ", self.ids(texts, b"\xff\xff\xff\xff"))
        yield self.row("negative_length", "a count", "HTTP/1.1 400 ",
                       self.ids(numbers + b"&count=-1", b"\0" * 8))
        yield self.row("huge_length", "of an id", "HTTP/1.1 400 ",
                       self.ids(texts, b"\xff\xff\xff\x7fabc"))
        yield self.row("huge_length", "a count", "HTTP/1.1 400 ",
                       self.ids(numbers + b"&count=4611686018427387904", b"\0" * 8))
        yield self.row("huge_length", "excluded", "HTTP/1.1 400 ",
                       self.ids(numbers + b"&exclude=18446744073709551615", b"\0" * 8))
        yield self.row("slow", "ids", "HTTP/1.1 408 ",
                       *([self.ids(numbers, b"\0", length=b"80000")] + [b"\0"] * 99), pause_s=0.1)
        yield self.row("cut", "an id", "HTTP/1.1 400 ", self.ids(numbers, b"\1" * 13))
        yield self.row("cut", "a row", "HTTP/1.1 400 ", self.ids(b"/plays?ids=u64", b"\1" * 23))
        yield self.row("twice", "an id", "HTTP/1.1 200 .*SeenDB-Duplicates|HTTP/1.1 200 ",
                       self.ids(numbers, b"\1\0\0\0\0\0\0\0" * 2))
        yield self.row("twice", "a parameter", "HTTP/1.1 400 ",
                       self.ids(numbers + b"&ids=string", b"\0" * 8))
        yield self.row("out_of_order", "an id before its length", "HTTP/1.1 400 ",
                       self.ids(texts, b"abcd" + struct.pack("<I", 4)))
        yield self.row("noise", "of a megabyte", "HTTP/1.1 400 ", self.ids(texts, noise(MB)))


class CodedBodies(HttpPlayer):
    reader = "HTTP bodies: compressed"

    def coded(self, coding, body, *headers, **how):
        return post(b"/plays", body, b"Content-Encoding: " + coding, *headers, **how)

    def rows(self):
        pack = {b"gzip": gzip.compress, b"zstd": zstd}
        for coding, packed in pack.items():
            name = coding.decode()
            yield self.row("too_long", name, "HTTP/1.1 413 ", self.coded(coding, packed(noise(BODY_MOST + 1))),
                           most=4 * BODY_MOST)
            yield self.row("swollen", name, "HTTP/1.1 413 ", self.coded(coding, packed(b" " * 100 * MB)),
                           most=4 * BODY_MOST)
            yield self.row("swollen", name + " lines", "refused", most=60 * MB, *[self.coded(
                coding, packed(b"{}\n" * 3 * MB), kind="ndjson")])
            yield self.row("dense", name + " members of nothing", "HTTP/1.1 (400|413) ",
                           self.coded(coding, packed(b"") * 100_000), most=4 * BODY_MOST)
            yield self.row("cut", name, "HTTP/1.1 400 .*|end is missing",
                           self.coded(coding, packed(EVENT * 100)[:-3]))
            yield self.row("twice", name + " in itself", "HTTP/1.1 (400|415) ",
                           self.coded(coding, packed(packed(EVENT))))
            yield self.row("twice", name + " named twice", "HTTP/1.1 (400|415) ",
                           self.coded(coding + b", " + coding, packed(packed(EVENT))))
            yield self.row("out_of_order", name + "'s end first", "HTTP/1.1 400 ",
                           self.coded(coding, packed(EVENT * 100)[::-1]))
            yield self.row("noise", name, "HTTP/1.1 400 ", self.coded(coding, packed(EVENT)[:10] + noise(MB)))
            chunked = self.coded(coding, b"", b"Transfer-Encoding: chunked", length=b"")
            yield self.row("slow", name, "HTTP/1.1 408 ", pause_s=0.1, *(
                [chunked] + [chunk(bytes([one])) for one in packed(noise(2_000))[:200]]))
        yield self.row("huge_length", "a window of zstd", "HTTP/1.1 400 ",
                       self.coded(b"zstd", b"\x28\xb5\x2f\xfd\x00\xff\x01\x00\x00"))
        yield self.row("huge_length", "a content of zstd", "HTTP/1.1 (400|413) ",
                       self.coded(b"zstd", b"\x28\xb5\x2f\xfd\xe0" + b"\xff" * 8 + b"\x01\x00\x00"))


class Tls(HttpPlayer):
    reader = "TLS of clients"

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        authority = Authority(folder.name)
        certificate, key = authority.make("server")
        cls.config = {"tls": {"certificate": certificate, "key": key}}
        cls.tls = ssl.create_default_context(cafile=authority.path)
        super().setUpClass()

    @staticmethod
    def hello():
        """The first record of an honest client."""
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        try:
            ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="h").do_handshake()
        except ssl.SSLWantReadError:
            pass
        return outgoing.read()

    def rows(self):
        hello = self.hello()
        yield self.row("too_long", "a record", None, b"\x16\x03\x01\xff\xff" + b"\x01" + b"x" * 65_534)
        yield self.row("too_long", "a hello of many records", None, *[
            b"\x16\x03\x01\x40\x00" + (b"\x01\xff\xff\xff" + b"x" * 16_380 if not i else b"x" * 16_384)
            for i in range(1_000)])
        yield self.row("wrong_type", "HTTP", "HTTP/1.1 400 ", post(b"/plays", EVENT))
        yield self.row("negative_length", "of a record", None, b"\x16\x03\x01\xff\xfe" + hello[5:])
        yield self.row("huge_length", "of a hello", None, hello[:6] + b"\xff\xff\xff" + hello[9:])
        yield self.row("slow", "a hello", None, *[hello[i:i + 1] for i in range(60)], pause_s=0.1)
        yield self.row("slow", "a hello, then nothing", None, hello, end=False, seconds=6)
        yield self.row("cut", "a hello", None, hello[:40])
        yield self.row("twice", "a hello", None, hello + hello)
        yield self.row("out_of_order", "data before the hello", None, b"\x17\x03\x03\x00\x05hello" + hello)
        yield self.row("noise", "of a megabyte", None, b"\x16\x03\x01" + noise(MB))
        yield self.row("noise", "behind a hello", None, hello + noise(MB))


if __name__ == "__main__":
    print("SEENDB_SEED=%d" % SEED, flush=True)
    unittest.main()
