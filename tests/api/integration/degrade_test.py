"""What load takes from answers, set by hand; whose requests are refused; settings that are read anew."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer
from seendb_client import Server, eventually

ITEMS = list(range(1, 101))


def metric(server, name):
    for line in server.get("/metrics").body.decode().splitlines():
        if line.startswith(name + " "):
            return float(line.split()[-1])
    return None


class DegradeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="seendb-degrade-")
        self.addCleanup(shutil.rmtree, self.folder)

    def test_a_level_by_hand(self):
        with CheckedServer() as server:
            policy = {"on_load": {"min_share": 0.5, "verify": "drop"}}
            self.assertEqual(server.put("/collections/default", policy).json["on_load"],
                             policy["on_load"])
            ask = {"user": "u", "items": ITEMS}
            whole = server.post("/filter", ask).json
            self.assertEqual((whole["examined"], whole["degraded"]), (100, False))
            order = {"level": 3, "refuse": ["low"], "for_s": 60}
            self.assertEqual(server.post("/admin/degrade", order).json,
                             {"level": 3, "by_hand": True, "refuse": ["low"], "for_s": 60})
            part = server.post("/filter", ask).json
            self.assertEqual((part["examined"], part["missing"]), (70, ["load"]))
            self.assertEqual(part["unseen"], ITEMS[:70])
            high = server.post("/filter", ask, {"SeenDB-Priority": "high"}).json
            self.assertEqual(high["examined"], 90)
            refused = server.post("/filter", ask, {"SeenDB-Priority": "low"})
            self.assertEqual((refused.status, refused.error["code"]), (503, "overloaded"))
            self.assertGreaterEqual(int(refused.headers["retry-after"]), 1)
            self.assertEqual(server.get("/healthz", {"SeenDB-Priority": "low"}).status, 200)
            self.assertTrue(eventually(lambda: metric(server, "seendb_degraded_total") == 2, pause=0.2))
            self.assertEqual(metric(server, "seendb_degrade_level"), 3)
            name = 'seendb_refused_total{reason="by_hand",priority="low",at="head"}'
            self.assertEqual(metric(server, name), 1)

    def test_the_tool_sets_it(self):
        with Server() as server:
            def tool(*words):
                line = [os.environ["SEENDB_TOOL"], "degrade", *words, "--url", server.url]
                done = subprocess.run(line, capture_output=True, text=True, timeout=60)
                return done.returncode, done.stdout, done.stderr
            self.assertEqual(tool("4", "--refuse", "low", "--for", "90")[:2],
                             (0, "level 4 for 90 s; refuses low\n"))
            self.assertEqual(tool("auto")[0], 0)
            code, _, said = tool("7")
            self.assertNotEqual(code, 0)
            self.assertIn("level", said)

    def test_a_token_has_a_rate(self):
        tokens = os.path.join(self.folder, "tokens.json")
        entry = {"name": "a", "sha256": hashlib.sha256(b"a-token").hexdigest(), "role": "write",
                 "requests_per_s": 3}
        with open(tokens, "w", encoding="utf-8") as file:
            json.dump([entry], file)
        os.chmod(tokens, 0o600)
        with Server(config={"tokens_file": tokens}) as server:
            answers = []

            def ask():
                answers.append(server.post("/filter", {"user": "u", "items": [1]},
                                           {"Authorization": "Bearer a-token"}))
                return answers[-1].status == 429
            eventually(ask, pause=0)  # a slow machine asks for longer: the rate gives more by and by
            late = answers.pop()
            self.assertGreaterEqual(len(answers), 3)
            self.assertEqual({answer.status for answer in answers}, {200})
            self.assertEqual(late.error["code"], "rate_limited")
            self.assertGreaterEqual(int(late.headers["retry-after"]), 1)

    def test_settings_are_read_anew(self):
        path = os.path.join(self.folder, "settings.json")

        def write(settings):
            with open(path, "w", encoding="utf-8") as file:
                json.dump(settings, file)
        write({"admission": {"burst_ms": 200}})
        with Server(args=["--config", path]) as server:
            write({"admission": {"burst_ms": 0, "target_ms": 5}})
            os.kill(server.process.pid, signal.SIGHUP)
            self.assertTrue(eventually(lambda: "admission_settings" in server.log_text()))
            write({"admission": {"burst_ms": -1}})
            os.kill(server.process.pid, signal.SIGHUP)
            self.assertTrue(eventually(lambda: "settings_refused" in server.log_text()))
            self.assertIn("/admission/burst_ms", server.log_text())


if __name__ == "__main__":
    unittest.main()
