"""Damaged requests in random pieces: the server answers or closes, never fails, and goes on.

The seed is printed, and SEENDB_SEED=N repeats them.
"""

import os
import random
import re
import socket
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from fresh_seed import seed_of
from openapi_check import CheckedServer

ROUNDS = 4_000
BODIES = [b'{"user":"u","items":["a",1,"b"],"explain":true}',
          b'{"events":[{"user":"u","item":"v","at":1}]}', b'{"user":"u","item":"v"}\n{}\nx\n',
          b'{"user":"u","items":["a"]}\n', b'{"bucket":"days:10","window":4}', b""]
PATHS = [b"/filter", b"/plays", b"/impressions", b"/users/u", b"/collections/c", b"/admin/drain",
         b"/admin/seal", b"/metrics", b"/readyz", b"/openapi.json", b"/v1/filter", b"/nope"]
HEADERS = [b"Content-Type: application/json", b"Content-Type: application/x-ndjson",
           b"Expect: 100-continue", b"Connection: close", b"Transfer-Encoding: chunked",
           b"Content-Encoding: gzip", b"Content-Length: 3", b"X: y", b"Host: h"]
PIECES = [b"\r\n", b"\n", b"\r\n\r\n", b"\x00", b"\xff", b": ", b"HTTP/1.0", b"%", b"{", b'"', b"0",
          b"ffffffff", b"-", b" ", b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", b"a" * 5_000]


def request(pick):
    body = pick.choice(BODIES)
    method, path = pick.choice([b"GET", b"POST", b"PUT", b"DELETE", b"HEAD"]), pick.choice(PATHS)
    if pick.randrange(3):
        method, path = b"POST", pick.choice(PATHS[:3])
    lines = [method + b" " + path + b" HTTP/1.1", b"Host: h"]
    lines += pick.sample(HEADERS, pick.randrange(3))
    if b"Transfer-Encoding: chunked" in lines:
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    else:
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def damaged(data, pick):
    data = bytearray(data)
    for _ in range(pick.randrange(4)):
        at = pick.randrange(len(data) + 1)
        kind = pick.randrange(3)
        if kind == 0:
            data[at:at] = pick.choice(PIECES)
        elif kind == 1:
            del data[at:at + pick.randrange(1, 9)]
        elif at < len(data):
            data[at] = pick.randrange(256)
    return bytes(data)


class HostileTest(unittest.TestCase):
    def test_damaged_requests(self):
        seed = seed_of("hostile")
        print("SEENDB_SEED=%d" % seed, flush=True)
        pick = random.Random(seed)
        with CheckedServer(config={"limits": {"header_ms": 300, "idle_ms": 2_000}}) as server:
            counts = {}
            for number in range(ROUNDS):
                data = b"".join(damaged(request(pick), pick) for _ in range(pick.randrange(1, 4)))
                try:
                    received = self.exchange(server, data, pick)
                except OSError as error:
                    self.fail("seed %d, request %d %r: %r; %s" %
                              (seed, number, data, error, server.obituary()))
                for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", received):
                    counts[int(status)] = counts.get(int(status), 0) + 1
                    self.assertIn(int(status), (100, 200, 400, 403, 404, 405, 408, 409, 413, 415, 422,
                                                431),
                                  (seed, number, data))
                if number % 100 == 0:
                    answer = server.post("/filter", {"user": "w", "items": [1]})
                    self.assertEqual(answer.status, 200)
            print(counts)
            self.assertGreater(counts[200], 100)
            self.assertGreater(counts[400], 100)
            self.assertEqual(server.terminate(), 0)

    @staticmethod
    def exchange(server, data, pick):
        """Sends in pieces, then half-closes; returns what came."""
        received = b""
        with server.socket() as peer:
            try:
                while data:
                    cut = pick.choice([1, 10, 100, 100_000])
                    peer.sendall(data[:cut])
                    data = data[cut:]
                peer.shutdown(socket.SHUT_WR)
                while piece := peer.recv(65536):
                    received += piece
            except (ConnectionResetError, BrokenPipeError):
                pass
        return received


if __name__ == "__main__":
    unittest.main()
