"""Lies that are told to the tool: by a server that answers it, and in the files that it reads."""

import gzip
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from player import MB, Listening, ProgramPlayer, Row

from fresh_seed import seed_of
from seendb_client import Server

SEED = seed_of("lies")
ANSWER_MOST = 64 * MB  # tools/seendb/http_client.h
TRUTH = b'{"entries":[],"degraded":false}'
HISTORY = ("history", "u")
# Each asks a server, and makes something of what it says.
COMMANDS = (HISTORY, ("inspect", "u"), ("check", "u", "a"), ("buckets",), ("ring",), ("stats",), ("top", "--once"), ("ready",),
            ("collections",), ("ingest",), ("export", "u"), ("drain",), ("seal",), ("compact",),
            ("degrade", "off"), ("checkpoint", "x"), ("erase", "u", "--yes"), ("cluster", "status"),
            ("redis", "status"), ("load", "-", "--format", "csv", "--no-header", "--now", "--retry", "0"))


def noise(size):
    return random.Random(SEED).randbytes(size)


def answer(body=TRUTH, status=200, headers=b"Connection: close\r\n", length=None):
    return (b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\n" % status + headers +
            b"Content-Length: %s\r\n\r\n" % (b"%d" % len(body) if length is None else length) + body)


class Liar(Listening):
    """A server that sends the pieces, `pause_s` behind each, to whoever asks it something."""

    def __init__(self, pieces, pause_s=0.0, asked=True):
        self.pieces, self.pause_s, self.asked = pieces, pause_s, asked
        super().__init__()
        self.url = "http://127.0.0.1:%d" % self.port

    def talk(self, peer):
        with peer:
            try:
                if self.asked:
                    peer.recv(65_536)
                for piece in self.pieces:
                    peer.sendall(piece)
                    time.sleep(self.pause_s)
                peer.shutdown(socket.SHUT_WR)
                while peer.recv(65_536):
                    pass
            except OSError:
                pass


class Answers(ProgramPlayer):
    reader = "answers of a server, to the tool"

    def ask(self, *pieces, command=HISTORY, **how):
        liar = Liar(pieces, **how)
        try:
            return self.run_tool(*command, "--url", liar.url, "--timeout", "2",
                                 stdin=b"u,i\n" if command[0] == "load" else None)
        finally:
            liar.close()

    def row(self, lie, name, says, *pieces, most=24 * MB, command=HISTORY, **how):
        return Row(lie, name, lambda: self.ask(*pieces, command=command, **how), says, most)

    def honest(self):
        self.assertRegex(self.ask(answer()), "^exit 0\n")

    def rows(self):
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            deep = opening * 500_000 + "1" + closing * 500_000
            for status, body in ((200, '{"entries":[{"fields":%s}]}' % deep), (400, '{"error":%s}' % deep)):
                yield self.row("too_deep", "%d %s" % (status, opening), "exit [1-9]",
                               answer(body.encode(), status))
        yield self.row("too_deep", "a hundred lists", "exit 7.*64 levels", answer(b"[" * 100))
        yield self.row("too_long", "an answer", "exit 7.*body limit", answer(b" " * (ANSWER_MOST + 1)),
                       most=2 * ANSWER_MOST)
        yield self.row("too_long", "a head", "exit 7.*header", b"HTTP/1.1 200 OK\r\nX: " + b"y" * MB)
        yield self.row("too_long", "an error", "exit [1-9]", most=3 * ANSWER_MOST, *[
            answer(b'{"error":{"message":"%s"}}' % (b"\\u001b" * 10 * MB), 400)])
        yield self.row("dense", "lists", "exit 7", most=2 * ANSWER_MOST, *[
            answer(b'{"entries":[' + b"[]," * (ANSWER_MOST // 3 - 99) + b"[]]}")])
        yield self.row("dense", "objects", "exit 7", most=3 * ANSWER_MOST, *[
            answer(b'{"entries":[' + b"{}," * (ANSWER_MOST // 3 - 99) + b"{}]}")])
        yield self.row("dense", "members", "exit 7", most=3 * ANSWER_MOST, *[
            answer(b"{" + b'"":0,' * (ANSWER_MOST // 5 - 99) + b'"":0}')])
        bucket = (b'{"collection":"%s","bucket":"2025-11","state":"open","begin_ms":1761955200000,'
                  b'"end_ms":1764547200000,"bytes":8192,"in_window":true}' % (b"c" * 20))
        yield self.row("dense", "1,000 collections of 128 buckets", "^exit 0", command=("buckets",), most=500 * MB, *[
            answer(b'{"buckets":[' + b",".join([bucket] * 128_000) + b"]}")])
        yield self.row("dense", "buckets of nothing", "exit 7", command=("buckets",), most=8 * ANSWER_MOST, *[
            answer(b'{"buckets":[' + b"[]," * (ANSWER_MOST // 3 - 99) + b"[]]}")])
        yield self.row("dense", "chunks", None, most=2 * ANSWER_MOST, *[
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n" * MB, b"0\r\n\r\n"])
        pick = random.Random(SEED)
        for command in COMMANDS:  # some of them each time: the tree's seed chooses
            for body in pick.sample((b"7", b"null", b'"x"', b"[7]", b"{}", b"", b"<html>",
                         b'{"entries":7,"user":[],"collections":{"a":1},"buckets":[7],"slots":[[]],"items":[7]}',
                         b'{"collections":[7],"nodes":[7],"shards":7,"topics":[7],"status":7,"reasons":7}'), 3):
                yield self.row("wrong_type", "%s: %r" % (command[0], body[:20]), "exit", answer(body),
                               command=command)
        yield self.row("wrong_type", "no HTTP", "exit 7", b"220 mail ESMTP\r\n")
        steering = json.dumps({"error": dict.fromkeys(("code", "message", "field"),
                                                      "\x1b]0;title\x07 \x9b2J \u202e \U000e0041")})
        for status in (400, 404, 503):
            yield Row("wrong_type", "what steers a terminal, %d" % status,
                      lambda s=status: self.plain(self.ask(answer(steering.encode(), s))),
                      r"exit [1-9].*\\x1b\]0;title")
            yield self.row("wrong_type", "the same as JSON, %d" % status, r'exit [1-9].*u001b\]0;title',
                           answer(steering.encode(), status), command=HISTORY + ("--json",))
        yield self.row("negative_length", "a body", "exit 7", answer(length=b"-1"))
        yield self.row("negative_length", "a chunk", "exit 7",
                       b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n{}")
        yield self.row("huge_length", "a body", "exit 7.*body limit", answer(length=b"%d" % (1 << 62)))
        yield self.row("huge_length", "a chunk", "exit 7",
                       b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n{}")
        yield self.row("huge_length", "a pause", "exit [1-9]", command=COMMANDS[-1], *[
            answer(b"{}", 503, b"Retry-After: 9223372036854775807\r\nConnection: close\r\n")])
        yield self.row("slow", "a head", "exit 7", *[b"H", b"T", b"T"] + [b"P"] * 100, pause_s=0.1)
        yield self.row("slow", "a body", "exit 7", answer(length=b"1000"), *[b" "] * 100, pause_s=0.1)
        yield self.row("slow", "nothing", "exit 7", *[b""] * 50, pause_s=0.1)
        yield self.row("cut", "a body", "exit 7", answer(length=b"99"))
        yield self.row("cut", "before a byte", "exit 7")
        yield self.row("twice", "a length", "exit 7", answer(headers=b"Content-Length: 1\r\n"))
        yield self.row("twice", "an answer", "exit 0", answer(headers=b"") + answer(b"7", headers=b""))
        yield self.row("twice", "an answer of 100", "exit [1-9]", b"HTTP/1.1 100 Continue\r\n\r\n" * 9)
        yield self.row("out_of_order", "an answer before the question", None, answer(), asked=False)
        yield self.row("out_of_order", "a body first", "exit 7", TRUTH + answer())
        yield self.row("swollen", "gzip that nobody asked for", "exit 7", answer(
            gzip.compress(b" " * 100 * MB), headers=b"Content-Encoding: gzip\r\nConnection: close\r\n"))
        yield self.row("noise", "of a megabyte", "exit 7", noise(MB))
        yield self.row("noise", "as a body", "exit 7", answer(noise(MB)))

    def plain(self, said):
        """What was said steers no terminal."""
        self.assertTrue(said.isascii() and said.replace("\n", "").isprintable(), said)
        return said


class LogFiles(ProgramPlayer):
    reader = "logs of plays"
    HONEST = b"user,item,at\nu,i,%d\n"

    @classmethod
    def setUpClass(cls):
        cls.server = Server(config={"threads": 1, "engine": {"shards": 1}})
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def load(self, name, data, *more, pipe=False):
        arguments = ("--url", self.server.url, "--max-refused", "50%", *more)
        if pipe:
            return self.run_tool("load", "-", "--format", name, *arguments, stdin=data)
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return self.run_tool("load", path, *arguments)

    def honest(self):
        self.assertRegex(self.load("honest.csv", self.HONEST % (time.time() * 1_000)), "^exit 0\n")

    def row(self, lie, name, says, file, data, *more, most=24 * MB, **how):
        return Row(lie, name, lambda: self.load(file, data, *more, **how), says, most)

    def rows(self):
        csv, line = b"user,item,at\n", b'{"user":"u","item":"i","at":1}\n'
        zstd = lambda data: subprocess.run(["zstd", "-qc"], input=data, capture_output=True, check=True).stdout
        deep = b'{"user":"u","item":"i","at":1,"fields":' + b"[" * 400_000 + b"]" * 400_000 + b"}\n"
        yield self.row("too_deep", "a line", "exit 8.*bad", "deep.ndjson", deep * 3)
        yield self.row("too_deep", "a list of lists", "exit [28]", "deep.json", b"[" * 5 * MB)
        yield self.row("too_deep", "quotes", "exit [28]", "quotes.csv", csv + b'"' * 5 * MB)
        yield self.row("too_long", "a row", "exit 8.*bad", "long.csv", csv + b"x" * 30 * MB + b"\nu,i,1\n")
        yield self.row("too_long", "a line", "exit 8.*bad", "long.ndjson", b'{"user":"' + b"x" * 30 * MB)
        yield self.row("too_long", "an element", "exit [28]", "long.json", b'[{"user":"' + b"x" * 30 * MB)
        yield self.row("too_long", "a quoted field", "exit 8.*bad", "quoted.csv",
                       csv + b'"' + b"x,y\n" * 5 * MB)
        yield self.row("dense", "fields", "exit [28]", "wide.csv", csv + b"," * 5 * MB + b"\n")
        yield self.row("dense", "a head", "exit [28]", "head.csv", b"," * 5 * MB + b"\nu,i\n")
        yield self.row("dense", "empty rows", "exit [0268]", "rows.csv", csv + b"\n" * 5 * MB)
        yield self.row("dense", "lists in a line", "exit 8", "dense.ndjson",
                       b'{"user":[' + b"[]," * 300_000 + b"[]]}\n", most=48 * MB)
        yield self.row("dense", "items in a row", "exit [08]", "items.csv", csv + b"u," + b"i;" * 400_000 + b",1\n",
                       "--item-separator", ";", most=120 * MB)
        yield self.row("wrong_type", "a picture", "exit [28]", "picture.csv", b"\x89PNG\r\n\x1a\n" + noise(1_000))
        yield self.row("wrong_type", "numbers", "exit 8", "numbers.ndjson", b"7\n[]\nnull\n" * 10)
        yield self.row("wrong_type", "an object", "exit [28]", "object.json", b'{"plays":7}')
        yield self.row("negative_length", "times", "exit [08]", "times.csv",
                       csv + b"u,i,-9223372036854775808\nu,i,-1\n" * 10)
        yield self.row("huge_length", "times", "exit 8", "late.csv", csv + b"u,i,%s\n" % (b"9" * 1_000) * 10)
        yield self.row("huge_length", "a zstd window", "exit 4", "window.csv.zst",
                       b"\x28\xb5\x2f\xfd\x00\xff\x01\x00\x00", most=140 * MB)
        for name, pack in (("gz", gzip.compress), ("zst", zstd)):
            yield self.row("swollen", "a row in " + name, "exit 8.*bad", "bomb.csv." + name,
                           pack(csv + b"x" * 200 * MB))
            yield self.row("swollen", "nothing in " + name, "exit [0268]", "empty.csv." + name,
                           pack(csv + b"\n" * 50 * MB))
            yield self.row("cut", "a file of " + name, "exit 4.*ends within", "cut.csv." + name,
                           pack(csv + b"u,i,1\n" * 1_000)[:-9])
            # Some noise is unpacked: its first line is a header without the columns.
            yield self.row("noise", "behind a head of " + name, "exit [24]", "noise.csv." + name,
                           pack(csv)[:8] + noise(MB))
            yield self.row("dense", "members of nothing of " + name, "exit [0268]", "many.csv." + name,
                           pack(b"") * 50_000)
        yield self.row("slow", "a row that never ends, of a pipe", "exit 8", "csv", csv + b"u,i", pipe=True)
        yield self.row("cut", "a line", "exit 8", "cut.ndjson", line[:-9])
        yield self.row("cut", "a list", "exit [28]", "cut.json", b"[" + line[:-1] + b",")
        yield self.row("twice", "a column", "exit [028]", "twice.csv", b"user,user,item,at\nu,v,i,1\n")
        yield self.row("twice", "a member", "exit [08]", "twice.ndjson", b'{"user":"u","user":"v","item":"i","at":1}\n')
        yield self.row("out_of_order", "a head at the end", "exit [28]", "last.csv", b"u,i,1\n" * 10 + csv)
        yield self.row("noise", "as csv", "exit [28]", "noise.csv", csv + noise(3 * MB))
        # Noise that begins with [ is read as an array, with an object's first byte as one over several lines.
        for name, begin in (("as ndjson", b""), ("as an array", b"["), ("as an object", b"{")):
            yield self.row("noise", name, "exit [28]", "noise.ndjson", begin + noise(3 * MB))


class SmallFiles(ProgramPlayer):
    reader = "small files of the tool"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.liar = Liar([answer()])
        self.addCleanup(self.liar.close)

    def write(self, data):
        path = os.path.join(self.folder, "file")
        with open(path, "wb") as file:
            file.write(data)
        os.chmod(path, 0o600)
        return path

    def token(self, path):
        return self.run_tool(*HISTORY, "--url", self.liar.url, "--token-file", path)

    def state(self, path):
        log = os.path.join(self.folder, "log.csv")
        with open(log, "wb") as file:
            file.write(b"user,item,at\n")
        return self.run_tool("load", log, "--url", self.liar.url, "--resume", path, "--retry", "0")

    def trusted(self, path):
        return self.run_tool(*HISTORY, "--url", self.liar.url.replace("http", "https"), "--ca", path)

    def properties(self, path):
        return self.run_tool("cluster", "status", "--brokers", "127.0.0.1:9", "--name", "x",
                             "--kafka-config", path)

    def honest(self):
        self.assertRegex(self.token(self.write(b"a-token\n")), "^exit 0\n")

    def rows(self):
        for name, tell in (("a token", self.token), ("a state", self.state), ("a CA", self.trusted),
                           ("properties", self.properties)):
            most = 48 * MB if name == "a state" else 24 * MB  # it may have 16 MB

            def row(lie, data, name=name, tell=tell, most=most):
                return Row(lie, name, lambda: tell(self.write(data)), "exit [1-9]", most)
            yield row("too_long", b"x" * 60 * MB)
            yield row("wrong_type", b"\x00\x01\x02")
            yield row("noise", noise(MB))
            yield row("dense", b"\n" * 30 * MB)
            yield Row("huge_length", name + " without an end", lambda tell=tell: tell("/dev/zero"),
                      "exit [1-9]", most)
        yield Row("too_deep", "a state", lambda: self.state(self.write(b"[" * 3 * MB)), "exit 2")
        yield Row("cut", "a state", lambda: self.state(self.write(b'{"rows":')), "exit 2")
        yield Row("negative_length", "a state", lambda: self.state(self.write(
            b'{"rows":-1,"position":-5,"hash":7}')), "exit [1-9]")


if __name__ == "__main__":
    print("SEENDB_SEED=%d" % SEED, flush=True)
    unittest.main()
