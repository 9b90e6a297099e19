"""seendb ready: what it says of a server, and how long it asks."""

import http.server
import json
import os
import socket
import threading
import unittest

from tool_runner import NOW_MS, NOT_FOUND, OK, UNAVAILABLE, USAGE, ToolCase, run
from seendb_client import Server


class Peer(http.server.BaseHTTPRequestHandler):
    """Answers /readyz with `server.answers` in turn, the last for ever."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):  # pylint: disable=invalid-name
        answers = self.server.answers
        status, body = answers.pop(0) if len(answers) > 1 else answers[0]
        self.server.asked.append(self.path)
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


OPENING = (503, {"error": {"code": "unavailable", "message": "the database is being opened"}})
READY = (200, {"status": "ready", "degraded": False, "problems": []})


class ReadyTest(ToolCase):

    def peer(self, *answers):
        """The URL of a server that answers so, and what it was asked."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Peer)
        server.daemon_threads = True
        server.answers, server.asked = list(answers), []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        return "http://127.0.0.1:%d" % server.server_address[1], server.asked

    def test_a_real_server(self):
        with Server(clock_ms=NOW_MS) as server:
            self.assertEqual(self.tool("ready", "--url", server.url).out, "ready\n")
            self.assertEqual(self.tool("--url", server.url, "ready").out, "ready\n")
            report = self.tool("ready", "--json", "--url", server.url).json
            self.assertEqual(report, {"status": "ready", "degraded": False, "overloaded": False,
                                      "problems": []})

    def test_the_variable_counts_where_there_is_no_flag(self):
        url, asked = self.peer(READY)
        self.assertEqual(run("ready", env={"SEENDB_URL": url}).code, OK)
        self.assertEqual(asked, ["/readyz"])
        other, asked_of_other = self.peer(OPENING)
        self.assertEqual(run("ready", "--url", other, env={"SEENDB_URL": url}).code, UNAVAILABLE)
        self.assertEqual((asked, asked_of_other), (["/readyz"], ["/readyz"]))
        self.assertEqual(run("ready", env={"SEENDB_URL": "nowhere"}).code, USAGE)

    def test_not_yet(self):
        url, asked = self.peer(OPENING)
        done = self.tool("ready", "--url", url, code=UNAVAILABLE)
        self.assertIn("the database is being opened", done.err)
        self.assertEqual(len(asked), 1)
        self.tool("ready", "--url", url, "--wait", "1", code=UNAVAILABLE)

    def test_wait_ends_when_it_is_ready(self):
        url, asked = self.peer(OPENING, OPENING, OPENING, READY)
        self.assertEqual(self.tool("ready", "--url", url, "--wait", "600").out, "ready\n")
        self.assertEqual(len(asked), 4)

    def test_degraded_is_ready_and_says_why(self):
        url, _ = self.peer((200, {"status": "ready", "degraded": True,
                                  "problems": ["shard 1: disk full", "shard 2: \x1b[2J"]}))
        self.assertEqual(self.tool("ready", "--url", url).out.splitlines()[:2],
                         ["ready, degraded", "shard 1: disk full"])
        self.assertNotIn("\x1b", self.tool("ready", "--url", url).out)

    def test_nobody_and_somebody_else(self):
        with socket.socket() as bound:  # not listening: connections are refused
            bound.bind(("127.0.0.1", 0))
            self.tool("ready", "--url", "http://127.0.0.1:%d" % bound.getsockname()[1],
                      code=UNAVAILABLE)
        url, _ = self.peer((404, {}))
        self.tool("ready", "--url", url, "--wait", "600", code=NOT_FOUND)
        self.tool("ready", "--url", url, "--db", self.db, code=USAGE)
        self.tool("--db", self.db, "ready", "--url", url, code=USAGE)
        self.assertFalse(os.path.exists(self.db))


if __name__ == "__main__":
    unittest.main()
