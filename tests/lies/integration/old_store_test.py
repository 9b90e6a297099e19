"""Lies that an old store (Redis) tells: to a server that asks it about users, and to the tool."""

import os
import random
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from player import MB, Listening, ProgramPlayer, Row, ServerPlayer

from fresh_seed import seed_of
from seendb_client import Server, eventually

SEED = seed_of("lies")
NIL = b"$-1\r\n"


class Store(Listening):
    """A Redis of one command: answers `command` with the pieces that `lie` has, `pause_s` behind each, and
    tells the truth where that is None. A function as `lie` answers every command."""

    def __init__(self, command, truth):
        self.command, self.truth = command, truth
        self.lie, self.pause_s, self.greeting = None, 0.0, b""
        super().__init__()

    def talk(self, peer):
        with peer:
            try:
                peer.sendall(self.greeting)
                file = peer.makefile("rb")
                while words := self.read(file):
                    self.answer(peer, words)
            except (OSError, ValueError):
                pass

    @staticmethod
    def read(file):
        """The words of a command."""
        head = file.readline()
        words = []
        for _ in range(int(head[1:]) if head else 0):
            size = int(file.readline()[1:])
            words.append(file.read(size + 2)[:-2])
        return words

    def answer(self, peer, words):
        if callable(self.lie):
            peer.sendall(self.lie(words))
        elif words[0].upper() == b"DBSIZE":
            peer.sendall(b":7\r\n")
        elif words[0].upper() != self.command:
            peer.sendall(b"-ERR no such command\r\n")
        elif self.lie is None:
            peer.sendall(self.truth(words))
        else:
            for piece in self.lie:
                if piece is None:
                    raise OSError("it hangs up")
                peer.sendall(piece)
                time.sleep(self.pause_s)


def lies(count):
    """(lie, name, pieces, seconds between them) in place of an array of `count` elements."""
    begin = b"*%d\r\n" % count
    yield "too_deep", "arrays", [b"*1\r\n" * 500_000], 0
    yield "too_long", "a text", [begin + b"$300000000\r\n"] + [b"x" * MB] * 300, 0
    yield "too_long", "a line", [begin + b"+"] + [b"x" * MB] * 100, 0
    yield "too_long", "an error", [b"-ERR " + b"\x1b[2J" + b"x" * 10 * MB + b"\r\n"], 0
    yield "dense", "an array", [b"*10000000\r\n"] + [b":1\r\n" * 262_144] * 38, 0
    yield "dense", "arrays of nothing", [b"*10000000\r\n"] + [b"*0\r\n" * 262_144] * 38, 0
    yield "wrong_type", "a number", [b":1\r\n"], 0
    yield "wrong_type", "OK", [b"+OK\r\n"], 0
    yield "wrong_type", "HTTP", [b"HTTP/1.1 200 OK\r\n\r\n"], 0
    yield "wrong_type", "arrays within", [begin + b"*1\r\n:1\r\n" * count], 0
    yield "negative_length", "an array", [b"*-5\r\n"], 0
    yield "negative_length", "a text", [begin + b"$-7\r\n"], 0
    yield "huge_length", "an array", [b"*9223372036854775807\r\n"], 0
    yield "huge_length", "an array of 2^31", [b"*2147483647\r\n:1\r\n"], 0
    yield "huge_length", "a text", [begin + b"$9223372036854775806\r\nabc"], 0
    yield "huge_length", "beyond any number", [b"*" + b"9" * 99 + b"\r\n"], 0
    yield "slow", "bytes", [b"*", b"3", b"\r", b"\n"] + [b":"] + [b"1"] * 100, 0.1
    yield "slow", "nothing", [b""] * 50, 0.1
    yield "cut", "an array", [begin + NIL, None], 0
    yield "cut", "before a byte", [None], 0
    yield "out_of_order", "elements first", [NIL * count + begin], 0
    yield "noise", "of a megabyte", [b"*" + random.Random(SEED).randbytes(MB)], 0


def page(cursor, values=()):
    """A page of a scan."""
    return (b"*2\r\n$%d\r\n%s\r\n*%d\r\n" % (len(cursor), cursor, len(values)) +
            b"".join(b"$%d\r\n%s\r\n" % (len(value), value) for value in values))


def without_end(kind, length=6_000):
    """Has one key, of a kind, whose members go on for ever; of kind None keys that do."""
    def says(words):
        command = words[0].upper()
        if command == b"ZCARD" and kind != b"zset":
            return b"-WRONGTYPE it is none\r\n" if kind else b":0\r\n"
        if command == b"TYPE":
            return b"+%s\r\n" % kind
        if command in (b"ZCARD", b"LLEN", b"DBSIZE"):
            return b":%d\r\n" % length
        if command == b"LRANGE":
            return b"*1000\r\n" + b"$1\r\na\r\n" * 1_000
        if command in (b"SCAN", b"ZSCAN"):
            return page(b"%d" % (int(words[1 if command == b"SCAN" else 2]) + 1))
        return b"-ERR no such command\r\n"
    return says


class OfServer(ServerPlayer):
    reader = "answers of an old store, to the server"
    ITEMS = ["a", "b", "c"]

    @classmethod
    def setUpClass(cls):
        cls.store = Store(b"ZMSCORE", lambda words: b"*%d\r\n" % (len(words) - 2) +
                          b"".join(b"$1\r\n5\r\n" if word == b"a" else NIL for word in words[2:]))
        cls.addClassCleanup(cls.store.close)
        cls.server = Server(config={"core_dumps": True, "threads": 1, "engine": {"shards": 1}, "migration": {"default": {
            "redis": "redis://127.0.0.1:%d" % cls.store.port, "key": "watched:{user}", "budget_ms": 1_500}}})
        cls.addClassCleanup(cls.server.close)
        cls.server.post("/admin/migration/pause")

    def ask(self):
        answer = self.server.post("/filter", {"user": "u", "items": self.ITEMS})
        self.assertEqual(answer.status, 200, answer)
        return answer

    def lied_to(self, pieces, pause_s, greeting=b""):
        self.store.lie, self.store.pause_s, self.store.greeting = pieces, pause_s, greeting
        try:
            said = self.ask().body.decode()
            time.sleep(0.1)  # what still comes is read, or not
            return said
        finally:
            self.store.lie, self.store.greeting = None, b""

    def honest(self):
        """The store is believed again: it has "a" and nothing else."""
        def whole():
            answer = self.ask().json
            return None if answer["degraded"] else answer
        self.assertEqual(eventually(whole, timeout=8)["unseen"], ["b", "c"])

    def imported(self, lie):
        """The user's key is imported from one that lies."""
        def failed():
            return self.server.get("/admin/migration").json["collections"][0]["imports_failed"]
        before, self.store.lie = failed(), lie
        try:
            self.server.post("/admin/migration/resume")
            self.ask()
            eventually(lambda: failed() > before, timeout=15)
            return "%d imports failed" % (failed() - before)
        finally:
            self.server.post("/admin/migration/pause")
            self.store.lie = None

    def rows(self):
        yield Row("too_long", "a key without an end", lambda: self.imported(without_end(b"zset")), "^[1-9]")
        yield Row("huge_length", "a key", lambda: self.imported(without_end(b"zset", (1 << 63) - 1)), "^[1-9]")
        for lie, name, pieces, pause_s in lies(3):
            yield Row(lie, name, lambda p=pieces, s=pause_s: self.lied_to(p, s), '"missing":."old_store"')
        seen = b"*3\r\n" + b"$1\r\n5\r\n" * 3
        truth = b"*3\r\n$1\r\n5\r\n" + NIL * 2
        # What it says behind its answer is no answer to the next question.
        yield Row("twice", "an answer", lambda: self.lied_to([truth + seen], 0), None)
        yield Row("out_of_order", "an answer before the question",
                  lambda: self.lied_to([truth], 0, greeting=seen), None)


class OfTool(ProgramPlayer):
    reader = "answers of an old store, to the tool"

    def setUp(self):
        self.store = Store(b"SCAN", lambda words: b"*2\r\n$1\r\n0\r\n*0\r\n")
        self.addCleanup(self.store.close)

    def survey(self):
        return self.run_tool("redis", "survey", "--redis", "redis://127.0.0.1:%d" % self.store.port,
                             "--match", "watched:*", "--user-from", "watched:{user}", "--redis-timeout", "1")

    def lied_to(self, pieces, pause_s):
        self.store.lie, self.store.pause_s = pieces, pause_s
        try:
            return self.survey()
        finally:
            self.store.lie = None

    def imported(self, lie):
        """A key that is named, by a store that lies."""
        self.store.lie = lie
        try:
            with tempfile.TemporaryDirectory() as folder:
                return self.run_tool("redis", "import", "--db", os.path.join(folder, "db"), "--keys", "-", "--redis",
                                     "redis://127.0.0.1:%d" % self.store.port, "--user-from", "watched:{user}",
                                     "--score-unit", "ms", "--at", "now", "--retry", "0", "--redis-timeout", "1",
                                     stdin=b"watched:u\n")
        finally:
            self.store.lie = None

    def honest(self):
        said = self.survey()
        self.assertRegex(said, "^exit (0|6)\n")

    def rows(self):
        for lie, name, pieces, pause_s in lies(2):
            # A page of a scan may have 16 MB.
            yield Row(lie, name, lambda p=pieces, s=pause_s: self.lied_to(p, s), "exit [1-9].*[Rr]edis|127",
                      most=80 * MB)
        yield Row("too_long", "keys without an end", lambda: self.lied_to(without_end(None), 0),
                  "exit [1-9].*does not end")
        for kind in (b"list", b"zset"):
            yield Row("too_long", "a %s without an end" % kind.decode(),
                      lambda k=kind: self.imported(without_end(k)), "exit [1-9].*does not end", most=80 * MB)
            yield Row("huge_length", "a " + kind.decode(),
                      lambda k=kind: self.imported(without_end(k, (1 << 63) - 1)), "exit [1-9].*more members")
        yield Row("twice", "an answer", lambda: self.lied_to([page(b"0") * 2], 0), None)
        yield Row("twice", "a cursor", lambda: self.lied_to([page(b"7")], 0),
                  "exit [1-9].*does not go on", within_s=30)


if __name__ == "__main__":
    print("SEENDB_SEED=%d" % SEED, flush=True)
    unittest.main()
