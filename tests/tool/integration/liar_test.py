"""The tool beside a server that is none: nothing that it says steers the terminal, or ends the tool by a
signal."""

import json
import socket
import threading
import unittest

from tool_runner import run

UNAVAILABLE = 5


def lying(status, body, sent=None):
    """Serves one answer; gives its address. `sent`: the length that is announced."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            head = ("HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
                    "Connection: close\r\n\r\n" % (status, len(body) if sent is None else sent))
            try:
                connection.sendall(head.encode() + body)
            except OSError:
                pass
        listener.close()
    threading.Thread(target=serve, daemon=True).start()
    return "http://127.0.0.1:%d" % listener.getsockname()[1]


class LiarTest(unittest.TestCase):

    def test_errors_steer_no_terminal(self):
        steering = "\x1b]0;title\x07 \x9b2J \u202e \u200b \U000e0041"
        error = {"error": {"code": steering, "message": steering, "field": steering}}
        for status in (400, 404, 503):
            done = run("history", "u", "--url", lying(status, json.dumps(error).encode()))
            self.assertNotEqual(done.code, 0)
            self.assertTrue(done.err.isascii(), done.err)
            self.assertTrue(done.err.rstrip("\n").isprintable(), done.err)
            self.assertIn("\\x1b]0;title", done.err)
            done = run("history", "u", "--json", "--url", lying(status, json.dumps(error).encode()))
            self.assertEqual(json.loads(done.err)["error"]["message"], steering)
            self.assertTrue(done.err.isascii(), done.err)

    def test_deep_answers_are_none(self):
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            deep = opening * 500_000 + "1" + closing * 500_000
            for status, body in ((200, '{"entries":[{"fields":%s}]}' % deep), (400, '{"error":%s}' % deep)):
                done = run("history", "u", "--url", lying(status, body.encode()))
                self.assertGreater(done.code, 0, done)
        self.assertIn("64 levels", run("history", "u", "--url", lying(200, b"[" * 100)).err)

    def test_answers_have_a_limit(self):
        done = run("history", "u", "--url", lying(200, b"{}", sent=1 << 40))
        self.assertGreater(done.code, 0)
        self.assertIn("body limit", done.err)


if __name__ == "__main__":
    unittest.main()
