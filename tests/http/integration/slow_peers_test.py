"""Clients that send or read slowly, or not at all: closed in time, their memory counted, and
nobody else the worse for it."""

import itertools
import os
import socket
import sys
import time
import unittest
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from neighbour import Neighbour
from openapi_check import CheckedServer
from process_memory import Memory
from seendb_client import eventually

MB = 1 << 20
LIMITS = {"header_ms": 700, "idle_ms": 20_000, "transfer_ms": 1_500, "inflight_bytes": 32 * MB,
          "answer_bytes": 32 * MB,
          "connections": 400}


def head(path, *headers):
    return b"\r\n".join([b"POST " + path + b" HTTP/1.1", b"Host: h"] + list(headers)) + b"\r\n\r\n"


def open_connections(server):
    text = server.get("/metrics").body.decode()
    return int(next(line for line in text.splitlines()
                    if line.startswith("seendb_http_connections ")).split()[1])


class SlowPeersTest(unittest.TestCase):
    def setUp(self):
        self.server = CheckedServer(config={"limits": LIMITS, "core_dumps": True})  # for Memory
        self.addCleanup(self.server.close)
        self.neighbour = Neighbour(self.server)
        self.neighbour.start()

    def trickle(self, begin, drop, count=50, seconds=60):
        """Many connections that send `begin`, then `drop` again and again; what each was told."""
        peers = [self.server.socket() for _ in range(count)]
        told = [b""] * count
        for peer in peers:
            self.addCleanup(peer.close)
            peer.sendall(begin)
            peer.setblocking(False)
        until = time.monotonic() + seconds
        alive = set(range(count))
        while alive and time.monotonic() < until:
            for i in list(alive):
                try:
                    peers[i].send(drop)
                    piece = peers[i].recv(65_536)
                    told[i] += piece
                    if not piece:
                        alive.discard(i)
                except BlockingIOError:
                    pass
                except (ConnectionResetError, BrokenPipeError):
                    alive.discard(i)
            time.sleep(0.1)
        self.assertEqual(alive, set(), "still open after %g s" % seconds)
        print("  " + self.neighbour.stop(self))
        return told

    def timed_out(self, told):
        for one in told:
            self.assertTrue(one == b"" or one.startswith(b"HTTP/1.1 408 "), one[:200])
        self.assertGreater(sum(one != b"" for one in told), len(told) // 2)

    def test_heads_that_trickle(self):
        self.timed_out(self.trickle(b"POST /filter HTTP/1.1\r\nHost: h\r\n", b"X: y\r\n"))

    def test_bodies_that_trickle(self):
        self.timed_out(self.trickle(head(b"/filter", b"Content-Length: 5000000") + b"{", b" "))

    def test_chunked_bodies_that_trickle(self):
        self.timed_out(self.trickle(head(b"/filter", b"Transfer-Encoding: chunked") + b"1\r\n{\r\n",
                                    b"1\r\n \r\n"))

    def test_lines_that_trickle(self):
        self.timed_out(self.trickle(
            head(b"/plays", b"Transfer-Encoding: chunked", b"Content-Type: application/x-ndjson") +
            b'18\r\n{"user":"u","item":"i"}\n\r\n', b"1\r\n{\r\n"))

    def test_a_stream_may_pause_between_lines(self):
        # Each line comes later than a body might, and the whole takes longer.
        with self.server.socket() as peer:
            peer.sendall(head(b"/plays", b"Transfer-Encoding: chunked",
                              b"Content-Type: application/x-ndjson"))
            for _ in range(4):
                peer.sendall(b'18\r\n{"user":"u","item":"i"}\n\r\n')
                time.sleep(1.7)
            peer.sendall(b"0\r\n\r\n")
            self.assertIn(b'{"accepted":4,', peer.recv(65_536))
        print("  " + self.neighbour.stop(self))

    def test_long_answers_that_nobody_reads(self):
        # More than the system's socket buffers take.
        items = ",".join('"%05d-%s"' % (i, "x" * 60) for i in range(95_000))
        body = ('{"user":"u","items":[%s]}' % items).encode()
        memory = Memory(self.server.process.pid)
        for _ in range(60):
            peer = socket.socket()
            self.addCleanup(peer.close)
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            peer.settimeout(5)
            peer.connect((self.server.host, self.server.port))
            try:
                peer.sendall(head(b"/filter", b"Content-Length: %d" % len(body)) + body)
            except OSError:
                pass  # refused before it was read
        # Such requests are dear: workers make as many answers at once as there are workers.
        # Each finds repeated candidates by a table of its own.
        made = max(8, 4 * os.cpu_count()) * (len(body) + 16 * 95_000)
        print("  60 answers of %d MB; %s" % (len(body) >> 20,
                                             memory.check(self, 32 * MB + 32 * MB + 64 * MB + made)))
        eventually(lambda: open_connections(self.server) <= 3)
        print("  " + self.neighbour.stop(self))

    def test_idle_connections_keep_no_memory_from_others(self):
        # Each leaves as much behind as a connection keeps between requests.
        body = b'{"user":"u","items":[1]}' + b" " * 220_000
        clients = [self.server.client() for _ in range(300)]
        for client in clients:
            self.addCleanup(client.close)
            self.assertEqual(client.request("POST", "/filter", body).status, 200)
        body = b'{"user":"u","items":[1]}' + b" " * 7 * MB
        self.assertEqual(self.server.post("/filter", body).status, 200)
        print("  " + self.neighbour.stop(self))


def pieces_of_nothing():
    """A gzip body of one line, which goes on and never holds another byte."""
    packer = zlib.compressobj(wbits=31)
    yield packer.compress(b'{"user":"nothing","item":"i"}\n') + packer.flush(zlib.Z_SYNC_FLUSH)
    while True:
        yield b"\x00\x00\x00\xff\xff"


class NothingButFramesTest(unittest.TestCase):
    """Bytes that bring nothing hold a connection no longer than limits.idle_ms."""

    def serve(self, idle_ms):
        server = CheckedServer(config={"limits": {"idle_ms": idle_ms}})
        self.addCleanup(server.close)
        return server

    @staticmethod
    def held_s(server, begin, drops, every_s):
        """How long the server reads on; 30 s at the most."""
        began = time.monotonic()
        with server.socket() as peer:
            peer.sendall(begin)
            peer.settimeout(every_s)
            while time.monotonic() - began < 30:
                try:
                    peer.sendall(next(drops))
                    if not peer.recv(65_536):
                        break
                except socket.timeout:
                    pass
                except (ConnectionResetError, BrokenPipeError):
                    break
        return time.monotonic() - began

    def test_what_brings_nothing_holds_no_connection(self):
        server = self.serve(1_000)
        stream = (b"/plays", b"Content-Type: application/x-ndjson")
        chunked = head(*stream, b"Transfer-Encoding: chunked")
        packed = head(*stream, b"Transfer-Encoding: chunked", b"Content-Encoding: gzip")
        for name, begin, drops, every_s in (
                ("empty lines before a head", b"", itertools.repeat(b"\r\n"), 0.9),
                ("them in halves", b"", itertools.cycle([b"\r", b"\n"]), 0.6),
                ("empty lines of a stream", chunked, itertools.repeat(b"2\r\n\r\n\r\n"), 0.3),
                ("a chunk's extension", chunked + b"1;", itertools.repeat(b"a"), 0.3),
                ("a trailer", chunked + b"0\r\n", itertools.repeat(b"a"), 0.3),
                ("a compressed nothing", packed,
                 (b"%x\r\n%s\r\n" % (len(one), one) for one in pieces_of_nothing()), 0.3)):
            with self.subTest(name):
                self.assertLess(self.held_s(server, begin, drops, every_s), 20)

    def test_lines_that_come_slowly_are_heard(self):
        with self.serve(4_000).socket() as peer:
            peer.sendall(head(b"/plays", b"Content-Type: application/x-ndjson",
                              b"Transfer-Encoding: chunked"))
            line = b'{"user":"slow","item":"i"}\n'
            for _ in range(6):
                peer.sendall(b"%x\r\n%s\r\n" % (len(line), line))
                time.sleep(1)
            peer.sendall(b"0\r\n\r\n")
            self.assertTrue(peer.recv(65_536).startswith(b"HTTP/1.1 200 "))


if __name__ == "__main__":
    unittest.main()
