"""seendb tail: the requests of a server as they are answered, as text and as JSON, until it is to end."""

import hashlib
import json
import os
import signal
import subprocess
import threading
import unittest

from tool_runner import BUSY, OK, UNAVAILABLE, USAGE, ToolCase, tool_binary
from seendb_client import Server, free_port


FORBIDDEN = 9


class TailTest(ToolCase):

    def begin(self, server, *more):
        process = subprocess.Popen([tool_binary(), "tail", "--url", server.url, *more], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.kill)
        return process

    def ask_on(self, server, *asks):
        """Asks again and again until the test ends: nobody can know when the tool has begun to look."""
        ended = threading.Event()

        def run():
            client = server.client()
            while not ended.wait(0.02):
                for method, path, body in asks:
                    client.request(method, path, body)
            client.close()
        thread = threading.Thread(target=run)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(ended.set)

    def test_until_it_is_interrupted(self):
        with Server() as server:
            process = self.begin(server)
            self.ask_on(server, ("POST", "/filter", {"user": "anna", "items": [1]}),
                        ("POST", "/filter", {"user": "anna"}), ("GET", "/nope", None))
            text = b""
            while not all(part in text for part in (b"  200  ", b"invalid_argument", b"(no route)")):
                text += process.stdout.readline()
            self.assertRegex(text.decode(), r"(?m)^\d\d:\d\d:\d\d\.\d{3}  200 +[\d.]+ .?s  POST /filter +user [0-9a-f]{16}$")
            self.assertRegex(text.decode(), r"(?m)^\S+  404 .*  \(no route\) +not_found$")
            self.assertNotIn(b"anna", text)
            process.send_signal(signal.SIGINT)
            process.stdout.read()
            self.assertEqual(process.wait(60), OK)

    def test_as_json_for_a_second(self):
        with Server() as server:
            self.ask_on(server, ("POST", "/filter", {"user": "anna", "items": [1]}), ("GET", "/nope", None))
            lines = [json.loads(line) for line in
                     self.tool("tail", "--once", "--json", "--status", "404", "--url", server.url).out.splitlines()]
            rows = [line for line in lines if "route" in line]
            self.assertEqual({(row["route"], row["status"], row["reason"]) for row in rows}, {("", 404, "not_found")})
            self.assertEqual(sum(line.get("matched", 0) for line in lines), len(rows))
            text = self.tool("tail", "--seconds", "1", "--route", "POST /filter", "--url", server.url).out
            self.assertIn("POST /filter", text)
            self.assertNotIn("404", [line.split()[1] for line in text.splitlines()])
            self.tool("tail", "--once", "--sample", "0.000001", "--url", server.url)

    def test_what_it_refuses(self):
        with Server() as server:
            self.assertIn("route", self.tool("tail", "--route", "POST /nope", "--url", server.url, code=USAGE).err)
            self.assertIn("status", self.tool("tail", "--status", "9xx", "--url", server.url, code=USAGE).err)
            self.tool("tail", "--sample", "2", "--url", server.url, code=USAGE)
            self.tool("tail", "--seconds", "0", "--url", server.url, code=USAGE)
            self.tool("tail", "--db", self.db, code=USAGE)
            others = [self.begin(server, "--json") for _ in range(4)]
            for other in others:
                self.assertIn(b"matched", other.stdout.readline())  # it looks
            self.assertIn("watch already", self.tool("tail", "--url", server.url, code=BUSY).err)
        self.tool("tail", "--url", "http://127.0.0.1:%d" % free_port(), code=UNAVAILABLE)

    def test_another_role_may_not(self):
        tokens = self.path("tokens.json")
        with open(os.open(tokens, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            json.dump([{"name": "support", "role": "read", "sha256": hashlib.sha256(b"a-token-of-a-test").hexdigest()}], file)
        token = self.path("token")
        with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write("a-token-of-a-test\n")
        with Server(config={"tokens_file": tokens}) as server:
            done = self.tool("tail", "--once", "--url", server.url, "--token-file", token, code=FORBIDDEN)
            self.assertIn("role", done.err)

    def test_a_server_that_dies_is_told(self):
        with Server() as server:
            process = self.begin(server, "--json")
            self.assertIn(b"matched", process.stdout.readline())
            server.kill()
            process.stdout.read()
            self.assertIn(b"unavailable", process.stderr.read())
            self.assertEqual(process.wait(60), UNAVAILABLE)


if __name__ == "__main__":
    unittest.main()
