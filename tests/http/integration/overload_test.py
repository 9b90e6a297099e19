"""More than a server can answer: what is refused is told quickly, probes are answered, what was
promised holds, and afterwards all is as before."""

import json
import os
import re
import selectors
import statistics
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer
from seendb_client import Client, eventually

ITEMS = ",".join('"item-%d"' % i for i in range(4_000))


def request(path, body, *headers):
    lines = ["POST %s HTTP/1.1" % path, "Host: h", "Content-Length: %d" % len(body)]
    return ("\r\n".join(lines + list(headers)) + "\r\n\r\n" + body).encode()


class Crowd:
    """Connections that each ask again as soon as they are answered."""

    def __init__(self, server, count, asked):
        self.server, self.asked = server, asked
        self.statuses, self.texts, self.turned_away = {}, {}, 0
        self.waits_s = {200: [], 503: []}
        self.selector = selectors.DefaultSelector()
        self.peers = []
        for _ in range(count):
            state = {"out": b"", "in": b"", "began": 0.0}
            self.peers.append(state)
            self.connect(state)
            self.ask(state)

    def connect(self, state):
        state["peer"] = self.server.socket()
        state["peer"].setblocking(False)
        self.selector.register(state["peer"], selectors.EVENT_READ, state)

    def ask(self, state):
        state.update(out=self.asked, began=time.monotonic())
        state["in"] = b""
        self.selector.modify(state["peer"], selectors.EVENT_READ | selectors.EVENT_WRITE, state)

    def run(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for key, events in self.selector.select(0.1):
                try:
                    self.go_on(key.data, events)
                except (ConnectionResetError, BrokenPipeError):  # turned away at the door
                    self.turned_away += 1
                    self.reconnect(key.data)

    def go_on(self, state, events):
        if events & selectors.EVENT_WRITE and state["out"]:
            sent = state["peer"].send(state["out"])
            state["out"] = state["out"][sent:]
            if not state["out"]:
                self.selector.modify(state["peer"], selectors.EVENT_READ, state)
        if events & selectors.EVENT_READ:
            self.read(state)

    def reconnect(self, state):
        self.selector.unregister(state["peer"])
        state["peer"].close()
        self.connect(state)
        self.ask(state)

    def read(self, state):
        piece = state["peer"].recv(1 << 18)
        state["in"] += piece
        head, found, body = state["in"].partition(b"\r\n\r\n")
        length = int(re.search(rb"Content-Length: (\d+)", head).group(1)) if found else 0
        if not piece:
            raise AssertionError("a connection broke: %r" % head[:200])
        if not found or len(body) < length:
            return
        if state["out"] and b"Connection: close" not in head:
            return
        status = int(head[9:12])
        self.statuses[status] = self.statuses.get(status, 0) + 1
        self.texts[status] = (head, body)
        self.waits_s.setdefault(status, []).append(time.monotonic() - state["began"])
        if b"Connection: close" in head:  # a flood
            self.reconnect(state)
        else:
            self.ask(state)

    def close(self):
        for state in self.peers:
            state["peer"].close()


class Probes(threading.Thread):
    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.over, self.failure, self.waits_s = server, False, None, []
        self.start()

    def run(self):
        try:
            while not self.over:
                for path in ("/healthz", "/readyz"):
                    began = time.monotonic()
                    client = Client(self.server.host, self.server.port)
                    answer = client.request("GET", path)
                    client.close()
                    self.waits_s.append(time.monotonic() - began)
                    if answer.status != 200:
                        raise AssertionError("%s: %r" % (path, answer))
                time.sleep(0.02)
        except Exception as error:  # pylint: disable=broad-except
            self.failure = error


class OverloadTest(unittest.TestCase):
    def serve(self, **kwargs):
        server = CheckedServer(args=["--threads", "1"], **kwargs)
        self.addCleanup(server.close)
        return server

    def test_a_crowd_is_shed_and_probes_are_answered(self):
        server = self.serve()
        body = '{"user":"u","items":[%s],"explain":true}' % ITEMS
        crowd = Crowd(server, 600, request("/filter", body))
        self.addCleanup(crowd.close)
        probes = Probes(server)
        crowd.run(3)
        probes.over = True
        probes.join()
        self.assertIsNone(probes.failure)
        # At once, while the crowd waits; one may meet a machine that stands still.
        self.assertLess(statistics.median(probes.waits_s), 1)
        self.assertLess(max(probes.waits_s), 20)
        print("\n  %r, %d turned away, probes at most %.0f ms" %
              (crowd.statuses, crowd.turned_away, 1e3 * max(probes.waits_s)))
        self.assertEqual(set(crowd.statuses), {200, 503})
        head, text = crowd.texts[503]
        self.assertEqual(json.loads(text)["error"]["code"], "overloaded")
        self.assertRegex(head, rb"\r\nRetry-After: \d+")
        self.assertRegex(head, rb"\r\nSeenDB-Retry-After-Ms: \d+")
        self.assertEqual(len(json.loads(crowd.texts[200][1])["unseen"]), 4_000)
        self.assertIn('seendb_http_refused_total{reason="overloaded"}',
                      server.get("/metrics").body.decode())
        crowd.close()
        eventually(lambda: server.post("/filter", {"user": "u", "items": [1]}).status == 200)

    def test_a_token_has_its_rate(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "tokens.json")
        digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"  # of "test"
        with open(path, "w", encoding="ascii") as file:
            json.dump([{"name": "slow", "sha256": digest, "role": "write", "requests_per_s": 1}],
                      file)
        os.chmod(path, 0o600)
        server = CheckedServer(config={"tokens_file": path}, args=["--threads", "1"])
        self.addCleanup(server.close)
        token = {"Authorization": "Bearer test"}
        statuses = []

        def ask():
            statuses.append(server.post("/filter", {"user": "u", "items": [1]}, token).status)
            return statuses[-1] == 429
        eventually(ask, pause=0)  # a slow machine asks for longer: the rate gives more by and by
        self.assertEqual(set(statuses[:-1]), {200}, statuses)
        self.assertEqual(server.get("/healthz").status, 200)

    def tell_late(self, server, asked):
        """The answer to a request whose last bytes come 400 ms after the others."""
        with server.socket() as peer:
            peer.sendall(asked[:-10])
            time.sleep(0.4)
            peer.sendall(asked[-10:])
            told = b""
            while piece := peer.recv(65_536):
                told += piece
        return told

    def test_a_deadline_counts_from_the_first_byte(self):
        server = self.serve()
        body = '{"user":"u","items":[1],"deadline_ms":200}'
        told = self.tell_late(server, request("/filter", body, "Connection: close"))
        self.assertIn(b"HTTP/1.1 200 ", told)
        self.assertIn(b'"missing":["deadline"]', told)

    def test_a_timeout_is_refused_where_it_has_passed(self):
        server = self.serve()
        told = self.tell_late(server, request("/filter", '{"user":"u","items":[1]}',
                                              "Connection: close", "SeenDB-Timeout-Ms: 100"))
        self.assertIn(b"HTTP/1.1 503 ", told)
        self.assertIn(b'"code":"timeout"', told)


if __name__ == "__main__":
    unittest.main()
