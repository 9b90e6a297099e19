"""What every script of the harness does with its readers: it tells each lie of the table, and looks
what must hold afterwards. The process lives. It held no more memory than the row allows. It was done
in time, and said what was wrong. The next honest exchange works."""

import dataclasses
import functools
import mmap
import os
import re
import socket
import sys
import threading
import time
import typing
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in (("..", "support"), ("..", "tool", "integration")):
    sys.path.insert(0, os.path.join(HERE, *folder))

from process_memory import Memory, run_measured  # noqa: E402
from seendb_client import server_binary  # noqa: E402
from table import LIES, READERS  # noqa: E402
from tool_runner import tool_binary  # noqa: E402

MB = 1 << 20


@dataclasses.dataclass
class Row:
    """`tell` tells the lie and returns what the other side said, as text. `says`: a pattern of it; None
    where there is nobody to be told. `most`: bytes that the process may hold beside what it held before.
    `within_s`: how long it may take."""
    lie: str
    name: str
    tell: typing.Callable
    says: typing.Optional[str]
    most: int = 24 * MB
    within_s: float = 20


class Player(unittest.TestCase):
    """`reader` is the name of its row in READERS."""

    reader = None

    def rows(self):
        """The lies, each once or several times."""
        raise NotImplementedError

    def honest(self):
        """Fails unless an honest exchange works."""
        raise NotImplementedError

    def begin(self):
        """A lie is about to be told."""

    def go_on(self):
        """It was told."""

    def grown(self):
        """How much memory the process took for it; None where that can't be told."""
        raise NotImplementedError

    def test_lies(self):
        if self.reader is None:
            self.skipTest("a class that others are made of")
        cannot = next(one for one in READERS if one.name == self.reader).cannot
        told = set()
        for row in self.rows():
            told.add(row.lie)
            with self.subTest(lie=row.lie, name=row.name):
                self.play(row)
        self.honest()
        self.assertEqual(told | set(cannot), set(LIES))
        self.assertEqual(told & set(cannot), set())

    def play(self, row):
        self.begin()
        began = time.monotonic()
        said = row.tell()
        took_s, grown = time.monotonic() - began, self.grown()
        print("%s: %s, %s: %.2f s%s" % (self.reader, row.lie, row.name, took_s,
                                        "" if grown is None else ", %.1f MB" % (grown / MB)))
        self.go_on()
        if row.says is not None:
            self.assertRegex(said, re.compile(row.says, re.DOTALL))
        if grown is not None:
            self.assertLess(grown, row.most)
        self.assertLess(took_s, row.within_s)


class Listening:
    """Listens on a port of its own; `talk` has each connection on a thread of its own, until `close`."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(peer,), daemon=True).start()

    def talk(self, peer):
        raise NotImplementedError

    def close(self):
        self.listener.close()


class ServerPlayer(Player):
    """Lies to a server that runs: `server`, set by setUpClass."""

    server = None

    def begin(self):
        self.memory = Memory(self.server.process.pid)

    def go_on(self):
        self.honest()

    def grown(self):
        self.assertIsNone(self.server.process.poll(), self.server.obituary())
        return None if self.memory.sanitized() else self.memory.grown()


class ProgramPlayer(Player):
    """Each lie is told to a program of its own, which ends by itself and never by a signal. `floor` is
    what it holds where it is told the truth."""

    floor = None

    def run_program(self, command, stdin=None):
        """Its exit code and what it said."""
        code, out, err, self.peak = run_measured([str(word) for word in command], stdin)
        said = "exit %d\n%s\n%s" % (code, out[-4_000:].decode(errors="replace"),
                                    err[-4_000:].decode(errors="replace"))
        self.assertGreaterEqual(code, 0, said)
        return said

    def run_tool(self, *arguments, stdin=None):
        return self.run_program([tool_binary(), *arguments], stdin)

    def run_server(self, *arguments):
        return self.run_program([server_binary(), *arguments])

    def begin(self):
        if self.floor is None:
            self.honest()
            type(self).floor = self.peak

    def grown(self):
        return None if sanitized() else self.peak - self.floor


@functools.lru_cache(maxsize=None)
def sanitized():
    """Whether the programs are built with a sanitizer, which keeps what was freed."""
    with open(tool_binary(), "rb") as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as program:
            return program.find(b"__asan_init") >= 0


def exchange(address, pieces, pause_s=0.0, seconds=20, end=True, wrap=None):
    """Sends pieces to (host, port), `pause_s` behind each, until the other side has enough of them; ends
    its half; returns all that came, as text. `wrap`: of the socket, for TLS."""
    peer = socket.create_connection(address, timeout=seconds)
    received, over = [], threading.Event()

    def hear():
        try:
            while piece := peer.recv(65_536):
                received.append(piece)
        except OSError:
            pass
        over.set()

    try:
        if wrap:
            peer = wrap(peer)
        ear = threading.Thread(target=hear, daemon=True)
        ear.start()
        for piece in pieces:
            peer.sendall(piece)
            if pause_s and over.wait(pause_s):
                break
        if end:
            peer.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # it has had enough
    over.wait(seconds)
    peer.close()
    return b"".join(received).decode(errors="replace")
