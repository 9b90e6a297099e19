"""seendb top: what it says of a server once, and how it draws that on a terminal until it is interrupted."""

import hashlib
import http.client
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
import unittest
from fcntl import ioctl

from tool_runner import OK, UNAVAILABLE, USAGE, ToolCase, tool_binary
from seendb_client import Server, free_port

ROWS, COLUMNS = 30, 70


class TopTest(ToolCase):

    def load(self, server):
        """Asks and plays until it is stopped."""
        ended = threading.Event()

        def run():
            client = server.client()
            while not ended.is_set():
                try:
                    client.request("POST", "/filter", {"user": "u", "items": ["v", "w"]})
                    client.request("POST", "/plays", {"events": [{"user": "u", "item": "v"}]})
                except (OSError, http.client.HTTPException):  # the server is away
                    client.close()
                time.sleep(0.01)
            client.close()
        thread = threading.Thread(target=run)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(ended.set)

    def test_once(self):
        with Server() as server:
            server.post("/plays", {"events": [{"user": "u", "item": "v"}]})
            self.load(server)
            report = self.tool("top", "--json", "--url", server.url).json
            self.assertGreater(report["filters_per_s"], 0)
            self.assertGreater(report["plays_per_s"], 0)
            self.assertAlmostEqual(report["candidates_per_s"], 2 * report["filters_per_s"], delta=0.01)
            self.assertAlmostEqual(report["seen_share"], 0.5, delta=0.01)
            self.assertEqual((report["state"], report["problems"]), ("ready", []))
            self.assertEqual([one["state"] for one in report["slots"]], ["current"])
            self.assertEqual(report["buckets"][0]["collection"], "default")
            text = self.tool("top", "--once", "--url", server.url).out
            self.assertRegex(text, r"\ASeenDB [\d.]+, up .*, ready\n")
            self.assertRegex(text, r"candidates +[\d.,]+/s, seen 50")
            self.assertRegex(text, r"(?m)^current +4 ")
            self.assertIn("default", text)
            self.assertNotIn("\x1b", text)

    def test_another_role_sees_the_rest(self):
        path = self.path("tokens.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump([{"name": "support", "role": "read", "sha256": hashlib.sha256(b"a-token-of-a-test").hexdigest()}], file)
        os.chmod(path, 0o600)
        token = self.path("token")
        with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write("a-token-of-a-test\n")
        with Server(config={"tokens_file": path}) as server:
            text = self.tool("top", "--once", "--url", server.url, "--token-file", token).out
            self.assertIn("slots and buckets are shown to a token of the role admin", text)

    def test_what_it_refuses(self):
        self.tool("top", "--url", "http://127.0.0.1:1", code=USAGE)  # no terminal
        self.tool("top", "--once", "--url", "http://127.0.0.1:%d" % free_port(), code=UNAVAILABLE)

    def test_it_draws_until_it_is_interrupted(self):
        with Server() as server:
            self.load(server)
            master, slave = pty.openpty()
            ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
            process = subprocess.Popen([tool_binary(), "top", "--url", server.url], stdout=slave, stderr=slave)
            os.close(slave)
            self.addCleanup(os.close, master)
            drawn = self.read_until(master, b"", lambda text: text.count(b"\x1b[H") >= 2)
            last = re.sub(rb"\x1b\[[?\d]*[a-zA-Z]", b"", drawn.split(b"\x1b[H")[-2]).decode().split("\r\n")
            self.assertLessEqual(len(last), ROWS)
            self.assertLessEqual(max(map(len, last)), COLUMNS)
            self.assertRegex(last[0], r"\ASeenDB .*, ready\Z")
            port = server.port
            server.kill()
            drawn = self.read_until(master, drawn, lambda text: b"asked again" in text)
            begun = len(drawn)
            server.start(port=port)
            drawn = self.read_until(master, drawn, lambda text: b", ready" in text[begun:])
            process.send_signal(signal.SIGINT)
            drawn = self.read_until(master, drawn, lambda text: text.endswith(b"\x1b[?1049l"))
            self.assertEqual(process.wait(60), OK)
            self.assertTrue(drawn.startswith(b"\x1b[?1049h"))

    def read_until(self, master, drawn, done):
        until = time.monotonic() + 60
        while not done(drawn):
            self.assertLess(time.monotonic(), until, drawn[-2000:])
            if select.select([master], [], [], 1)[0]:
                drawn += os.read(master, 4096)
        return drawn


if __name__ == "__main__":
    unittest.main()
