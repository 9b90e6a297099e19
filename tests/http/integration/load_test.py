"""Too much at once: connections, pipelines, bodies that lie, nests, streams with bad lines. Memory
stays within a stated bound, a neighbour is answered, and a SIGTERM in the middle of it loses
nothing acknowledged.

SEENDB_NDJSON_MB: the length of the streams, 64 unless told (1,024 with SEENDB_LONG, 16 where a
sample is asked for).
"""

import itertools
import json
import os
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from neighbour import Neighbour
from openapi_check import CheckedServer
from process_memory import Memory
from sample import sampled
from seendb_client import eventually

MB = 1 << 20
STREAM_MB = int(os.environ.get("SEENDB_NDJSON_MB") or
                (1024 if os.environ.get("SEENDB_LONG") else sampled(64, 16)))
NDJSON = {"Content-Type": "application/x-ndjson"}
CONFIG = {"core_dumps": True,  # for Memory, where the test is not root
          "limits": {"inflight_bytes": 32 * MB, "answer_bytes": 16 * MB, "connections": 200,
                     "transfer_ms": 30_000},
          "engine": {"shards": 2, "slot_ms": 500, "slot_bytes": 4 * MB, "short_term_bytes": MB,
                     "block_cache_bytes": 8 * MB, "write_buffer_bytes": 16 * MB}}
# inflight_bytes + answer_bytes + 200 connections of 144 KB + per shard (ring_slots * slot_bytes +
# short-term) + block cache + two write-buffer budgets + what allocators and threads keep.
BOUND = (32 + 16 + 28 + 2 * (6 * 4 + 1) + 8 + 2 * 16 + 64) * MB


def post(path, body, *headers):
    lines = [b"POST " + path + b" HTTP/1.1", b"Host: h"] + list(headers)
    if not any(h.lower().startswith((b"content-length", b"transfer-encoding")) for h in headers):
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


class LoadTest(unittest.TestCase):
    def setUp(self):
        self.server = CheckedServer(config=CONFIG)
        self.addCleanup(self.server.close)
        self.memory = Memory(self.server.process.pid)
        self.client = self.server.client(timeout=600)
        self.addCleanup(self.client.close)
        self.neighbour = Neighbour(self.server)
        self.neighbour.start()

    def finish(self):
        self.client.close()
        print("\n  " + self.neighbour.stop(self))
        print("  " + self.memory.check(self, BOUND))

    def accepted(self):
        told = self.server.raw(b"GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        return int(next(line for line in told.decode().splitlines()
                        if line.startswith("seendb_http_connections_total ")).split()[1])

    def test_connections_beyond_the_limit(self):
        told = {"held": 0, "refused": 0, "closed": 0}
        peers = []
        for _ in range(1_000):
            peer = socket.socket()
            peer.settimeout(60)
            peer.connect((self.server.host, self.server.port))
            peers.append(peer)
            self.addCleanup(peer.close)
        # Until the server has accepted all, each new one takes the place of another.
        eventually(lambda: self.accepted() > 1_000)
        for peer in peers:
            try:
                peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
                answer = peer.recv(4_096)
            except (ConnectionResetError, BrokenPipeError):
                answer = b""
            if answer.startswith(b"HTTP/1.1 200 "):
                told["held"] += 1
            elif answer.startswith(b"HTTP/1.1 503 "):
                told["refused"] += 1
                self.assertIn(b"Retry-After: ", answer)
            else:
                self.assertEqual(answer, b"")
                told["closed"] += 1
        print("\n  %r" % told)
        # The last ones have taken the places of those that were idle longest.
        self.assertGreater(told["held"], 200 - 10)
        self.assertLessEqual(told["held"], 200)
        self.assertGreater(told["closed"], 0)
        for peer in peers:
            peer.close()
        self.finish()
        self.assertEqual(self.server.get("/healthz").status, 200)

    def test_bodies_that_promise_too_much(self):
        # Far more is promised than memory is given; only what comes may cost any.
        peers = [self.server.socket() for _ in range(150)]
        for peer, head in zip(peers, itertools.cycle([
                post(b"/filter", b'{"user":', b"Content-Length: 8388608"),
                post(b"/filter", b"fffff\r\n{", b"Transfer-Encoding: chunked"),
                post(b"/plays", b'{"user":', b"Content-Length: 9007199254740993",
                     b"Content-Type: application/x-ndjson"),
                post(b"/filter", b'{"user":"', b"Content-Length: 8388608",
                     b"Content-Type: application/x-ndjson")])):
            self.addCleanup(peer.close)
            peer.sendall(head)
        time.sleep(0.5)
        self.assertLess(self.memory.grown(), BOUND)
        answer = self.server.post("/filter", b'{"user":"u","items":[1]}' + b" " * 8_000_000)
        self.assertEqual(answer.status, 200)  # there is room for a true one
        for peer in peers:
            peer.close()
        self.finish()

    def test_bodies_shorter_than_promised(self):
        # What is short swallows the beginning of the next request: never taken for a request.
        for short in (post(b"/plays", b'{"events":[]}', b"Content-Length: 60"),
                      post(b"/plays", b"ff\r\n{}\r\n0\r\n\r\n", b"Transfer-Encoding: chunked")):
            data = short + post(b"/plays", b'{"events":[{"user":"u","item":"smuggled"}]}')
            with self.server.socket() as peer:
                peer.sendall(data)
                peer.shutdown(socket.SHUT_WR)
                while peer.recv(65_536):
                    pass
        answer = self.server.post("/filter", {"user": "u", "items": ["smuggled"]})
        self.assertEqual(answer.json["unseen"], ["smuggled"])
        self.finish()

    def test_deep_pipelines(self):
        one = post(b"/filter", b'{"user":"u","items":[1,2,3]}')
        count = 20_000
        threads = [threading.Thread(target=self.pipeline, args=(one, count)) for _ in range(4)]
        # Two that send and never read: they are read no further than their answers go out.
        deaf = [self.server.socket(2) for _ in range(2)]
        for peer in deaf:
            self.addCleanup(peer.close)
        threads += [threading.Thread(target=self.send_all, args=(peer, one * 200_000))
                    for peer in deaf]
        self.answered = []
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.answered, [count] * 4)
        self.finish()

    @staticmethod
    def send_all(peer, data):
        try:
            peer.sendall(data)
        except OSError:
            pass

    def pipeline(self, one, count):
        with self.server.socket() as peer:
            sender = threading.Thread(target=self.send_all, args=(peer, one * count))
            sender.start()
            found, tail = 0, b""
            while found < count:
                piece = peer.recv(1 << 18)
                if not piece:
                    break
                tail += piece
                found += tail.count(b'"degraded":false}')
                tail = tail[-16:]
            sender.join()
            self.answered.append(found)

    def test_deep_nests(self):
        depth = 1_000_000
        for opening, closing in ((b"[", b"]"), (b'{"a":', b"}"), (b'{"events":[', b"]}")):
            nest = opening * (depth if len(opening) < 3 else depth // 10)
            for body in (nest, nest + b"1" + closing * (len(nest) // len(opening)),
                         b'{"user":"u","items":[%s' % nest, b'{"user":"u","x":%s' % nest,
                         b'{"user":%s' % nest):
                for path in ("/filter", "/plays", "/impressions", "/admin/seal"):
                    answer = self.server.post(path, body)
                    self.assertEqual(answer.status, 400, (path, body[:40]))
                answer = self.server.ndjson("/filter", [body, {"user": "u", "items": [1]}])
                self.assertEqual([set(line) for line in answer.lines],
                                 [{"error"},
                                  {"unseen", "seen", "examined", "unseen_share", "degraded"}])
        self.finish()

    # ---- Streams ----

    def rows(self, megabytes):
        """Pieces of about 60 KB: four good lines in five, all of the same few plays; and how many
        there are, good and bad."""
        bad = [b"\n".join([b"{", b"[1]", b'{"user":1}', b'{"user":1,"item":[]}', b"\xff\xfe", b"nil",
                           b'{"user":1,"item":2,"at":-1}', b'{"user":"","item":2}',
                           b'"' + b"x" * 2_000, b'{"user":1,"item":2}{}'])]
        good = b"\n".join(b'{"user":"stream-%d","item":"some-item-%d"}' % (i % 7, i)
                          for i in range(1_200))
        piece = b"\n".join(bad + [good]) + b"\n"
        count = megabytes * MB // len(piece) + 1
        return itertools.repeat(piece, count), 1_200 * count, 10 * count

    def test_long_streams_with_bad_lines(self):
        for path in ("/plays", "/impressions"):
            pieces, good, bad = self.rows(STREAM_MB)
            began = time.monotonic()
            answer = self.client.request("POST", path, pieces, NDJSON)
            self.assertEqual(answer.status, 200, answer)
            said = answer.json
            self.assertEqual((said["accepted"], said["refused"]), (good, bad))
            self.assertEqual(len(said["refusals"]), 100)
            self.assertEqual([r["index"] for r in said["refusals"][:10]], list(range(10)))
            print("\n  %d MB of %s in %.1f s; %d MB more memory" %
                  (STREAM_MB, path, time.monotonic() - began, self.memory.grown() >> 20))
        answer = self.server.post("/filter", {"user": "stream-3", "items": ["some-item-3", "x"]})
        self.assertEqual(answer.json["unseen"], ["x"])
        self.finish()

    def test_one_endless_line(self):
        for path, count in (("/plays", 1), ("/impressions", 1), ("/filter", 1)):
            pieces = itertools.chain([b'{"user":"'], itertools.repeat(b"x" * 65_536, 16 * STREAM_MB),
                                     [b"\n"])
            answer = self.client.request("POST", path, pieces, NDJSON)
            self.assertEqual(answer.status, 200 if path == "/filter" else 422, answer)
            if path == "/filter":
                self.assertEqual([line["error"]["code"] for line in answer.lines], ["too_large"])
            else:
                self.assertEqual((answer.json["accepted"], answer.json["refused"]), (0, count))
        self.finish()

    def test_a_long_filter_stream(self):
        items = ",".join(str(i) for i in range(200))
        line = ('{"user":"u","items":[%s],"explain":true}\n' % items).encode()
        piece = line * 60 + b"nonsense\n"
        count = STREAM_MB * MB // len(piece) // 2 + 1
        with self.server.socket(60) as peer:
            peer.sendall(post(b"/filter", b"", b"Transfer-Encoding: chunked",
                              b"Content-Type: application/x-ndjson"))
            framed = b"%x\r\n%s\r\n" % (len(piece), piece)
            sender = threading.Thread(target=self.send_stream, args=(peer, framed, count))
            sender.start()
            data, unseen, errors = b"", 0, 0
            while not data.endswith(b"\r\n0\r\n\r\n"):
                piece = peer.recv(1 << 18)
                if not piece:
                    break
                data = data[-40:] + piece
                unseen += data.count(b'"unseen"') - data[:40].count(b'"unseen"')
                errors += data.count(b'{"error"') - data[:40].count(b'{"error"')
            sender.join()
        self.assertTrue(data.endswith(b"\r\n0\r\n\r\n"), data[-200:])
        self.assertEqual((unseen, errors), (60 * count, count))
        self.finish()

    def send_stream(self, peer, framed, count):
        for _ in range(count):
            peer.sendall(framed)
        peer.sendall(b"0\r\n\r\n")

    # ---- The end ----

    def test_sigterm_in_the_middle(self):
        more = [Neighbour(self.server, "neighbour-%d" % i) for i in range(3)]
        for one in more:
            one.start()
        held = [self.server.socket() for _ in range(100)]
        for i, peer in enumerate(held):
            self.addCleanup(peer.close)
            peer.sendall([post(b"/filter", b"{", b"Content-Length: 500"), b"GET / HTT",
                          post(b"/plays", b"5\r\n{", b"Transfer-Encoding: chunked"), b""][i % 4])
        stream = threading.Thread(target=self.swallow, args=("/plays",))
        stream.start()
        all_neighbours = more + [self.neighbour]
        until = time.monotonic() + 60
        while (min(len(one.acknowledged) for one in all_neighbours) <= 20
               and time.monotonic() < until):
            time.sleep(0.05)
        for one in all_neighbours:
            one.leaving.set()
        # Half requests hold it for shutdown_ms, no longer.
        self.assertEqual(self.server.terminate(), 0, self.server.log_text()[-3_000:])
        stream.join(60)
        for one in all_neighbours:
            print("\n  " + one.stop(self), end="")
        self.server.start()
        for one in all_neighbours:
            answer = self.server.post("/filter", {"user": one.user, "items": one.acknowledged})
            self.assertEqual(answer.json["unseen"], [], one.user)
            self.assertGreater(len(one.acknowledged), 20)
        print("\n  %d acknowledged plays were kept" %
              sum(len(one.acknowledged) for one in all_neighbours))

    def swallow(self, path):
        """A stream that goes on until the server does not."""
        pieces, _, _ = self.rows(100_000)
        client = self.server.client()
        try:
            client.request("POST", path, pieces, NDJSON)
        except (OSError, EOFError, json.JSONDecodeError):
            pass
        finally:
            client.close()


if __name__ == "__main__":
    unittest.main()
