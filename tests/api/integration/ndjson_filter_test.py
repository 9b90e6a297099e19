"""POST /filter as NDJSON: answered line by line, in order, with back-pressure."""

import json
import os
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer
from events_test import resident_bytes

HEAD = (b"POST /filter HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
        b"Content-Type: application/x-ndjson\r\n\r\n")


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


class NdjsonFilterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer()
        cls.server.post("/plays", {"events": [{"user": "u", "item": "v1"}]})

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def test_each_line_has_its_answer(self):
        answer = self.server.ndjson("/filter", [
            {"user": "u", "items": ["v1", "v2"]}, b"", {"user": "u", "items": [1], "explain": True},
            b"nonsense", {"user": "u"}, {"user": "u", "items": [], "collection": "no"},
            {"user": "u", "items": ["v1"]}])
        self.assertEqual(answer.headers["content-type"], "application/x-ndjson")
        said = answer.lines
        self.assertEqual([line.get("unseen") for line in said],
                         [["v2"], [1], None, None, None, []])
        self.assertEqual([line["error"]["code"] for line in said if "error" in line],
                         ["invalid_argument", "invalid_argument", "not_found"])
        for line in said:
            name = "Error" if "error" in line else "FilterResult"
            self.server.checker.fit(line, {"$ref": "#/components/schemas/" + name}, "line")

    def test_no_lines_no_answers(self):
        answer = self.server.ndjson("/filter", [])
        self.assertEqual((answer.status, answer.body), (200, b""))

    def test_a_line_over_the_limit_is_an_error_and_the_rest_goes_on(self):
        answer = self.server.ndjson("/filter", [
            {"user": "u", "items": ["v1"]}, b"x" * ((8 << 20) + 1), {"user": "u", "items": [5]}])
        self.assertEqual([line.get("unseen") for line in answer.lines], [[], None, [5]])
        self.assertEqual(answer.lines[1]["error"]["code"], "too_large")

    def test_answers_come_while_the_request_goes_on(self):
        with self.server.socket() as peer:
            peer.sendall(HEAD)
            for i in range(20):
                peer.sendall(chunk(b'{"user":"u","items":["v1",%d]}\n' % i))
                received = b""
                while b'"unseen":[%d]' % i not in received:
                    piece = peer.recv(4096)
                    self.assertTrue(piece)
                    received += piece
            peer.sendall(b"0\r\n\r\n")
            received = b""
            while b"0\r\n\r\n" not in received:
                received += peer.recv(4096)

    def test_a_peer_that_does_not_read_is_not_read_from(self):
        line = json.dumps({"user": "u", "items": ["candidate-%d" % i for i in range(2_000)]})
        data = chunk(line.encode() + b"\n")
        lines = 4_000  # 150 MB each way
        before = resident_bytes(self.server.process.pid)
        with self.server.socket(60) as peer:
            sent = [0]

            def send():
                peer.sendall(HEAD)
                for _ in range(lines):
                    peer.sendall(data)
                    sent[0] += 1
                peer.sendall(b"0\r\n\r\n")

            sender = threading.Thread(target=send, daemon=True)
            sender.start()
            last = -1
            while sent[0] != last:  # until nothing moves any more
                last = sent[0]
                time.sleep(0.5)
            self.assertLess(sent[0], lines)
            self.assertLess(resident_bytes(self.server.process.pid) - before, 64 << 20)
            # Others are served meanwhile.
            self.assertEqual(self.server.post("/filter", {"user": "u", "items": [1]}).status, 200)
            answers, tail = 0, b""
            while not tail.endswith(b"\r\n0\r\n\r\n"):
                piece = peer.recv(1 << 20)
                self.assertTrue(piece)
                answers += piece.count(b'"examined":')
                # A word cut in two is counted with the next piece.
                answers += (tail[-10:] + piece[:10]).count(b'"examined":')
                tail = (tail + piece)[-20:]
            sender.join(60)
            self.assertEqual(answers, lines)
            self.assertLess(resident_bytes(self.server.process.pid) - before, 64 << 20)


if __name__ == "__main__":
    unittest.main()
