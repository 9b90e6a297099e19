"""POST /admin/checkpoint: a copy that opens and holds what was acknowledged before the call."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer
from play_logs import tool_binary
from seendb_client import Server, eventually

PLAYERS = 2


class Player(threading.Thread):
    """Plays item after item until stopped; `acknowledged` counts from the first on."""

    def __init__(self, server, user):
        super().__init__(daemon=True)
        self.client = server.client()
        self.user = user
        self.acknowledged = 0
        self.failure = None
        self.over = threading.Event()

    def run(self):
        try:
            while not self.over.is_set():
                number = self.acknowledged
                events = [{"user": self.user, "item": "%s-%d" % (self.user, number)}]
                answer = self.client.request("POST", "/plays", json.dumps({"events": events}))
                if answer.status != 200 or answer.json["accepted"] != 1:
                    raise AssertionError("refused: %r" % answer)
                self.acknowledged = number + 1
        except Exception as error:  # pylint: disable=broad-except
            self.failure = error
        finally:
            self.client.close()


class CheckpointTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="seendb-test-")
        self.addCleanup(self.folder.cleanup)
        self.db = os.path.join(self.folder.name, "db")
        self.checkpoints = os.path.join(self.folder.name, "far", "checkpoints")
        self.server = CheckedServer(db=self.db, config={"checkpoints": self.checkpoints},
                                    args=["--shards", "3"])
        self.addCleanup(self.server.close)

    def checkpoint(self, name, status=200):
        answer = self.server.post("/admin/checkpoint", {"name": name})
        self.assertEqual(answer.status, status, answer)
        return answer

    def unseen(self, server, user, count):
        items = ["%s-%d" % (user, i) for i in range(count)]
        found = []
        for begin in range(0, count, 5_000):
            body = {"user": user, "items": items[begin:begin + 5_000]}
            found += server.post("/filter", body).json["unseen"]
        return found

    def test_the_folder_is_made_at_the_start(self):
        self.assertEqual(os.listdir(self.checkpoints), [])

    def test_what_was_acknowledged_before_is_in_it_while_plays_go_on(self):
        players = [Player(self.server, "p%d" % i) for i in range(PLAYERS)]
        for player in players:
            player.start()
        before = {}
        for name in ["first", "second", "third"]:
            begin = sum(p.acknowledged for p in players)
            self.assertTrue(eventually(
                lambda b=begin: sum(p.acknowledged for p in players) >= b + 300
                or any(p.failure for p in players)))
            if name == "second":
                self.server.post("/admin/drain")  # part in tables, part in logs
            before[name] = {p.user: p.acknowledged for p in players}
            report = self.checkpoint(name).json
            self.assertEqual((report["ok"], report["name"], report["shards"]), (True, name, 3))
            self.assertGreater(report["files_linked"] + report["files_copied"], 0)
            self.assertGreaterEqual(report["bytes"], report["bytes_copied"])
        last = sum(p.acknowledged for p in players)
        self.assertTrue(eventually(lambda: sum(p.acknowledged for p in players) > last))
        for player in players:
            player.over.set()
            player.join()
            self.assertIsNone(player.failure)
        self.assertEqual(sorted(os.listdir(self.checkpoints)), ["first", "second", "third"])

        for name, counts in before.items():
            with Server(db=os.path.join(self.checkpoints, name)) as copy:
                for user, count in counts.items():
                    self.assertGreater(count, 0)
                    self.assertEqual(self.unseen(copy, user, count), [], (name, user))
                # The copy is a database of its own.
                copy.post("/plays", {"events": [{"user": "only", "item": "only-0"}]})
                self.assertEqual(self.unseen(copy, "only", 1), [])
        for player in players:
            self.assertEqual(self.unseen(self.server, player.user, player.acknowledged), [])
        self.assertEqual(self.unseen(self.server, "only", 1), ["only-0"])

    def test_what_comes_after_is_not_in_it(self):
        self.server.post("/plays", {"events": [{"user": "u", "item": "u-0"}]})
        self.checkpoint("a")
        self.server.post("/plays", {"events": [{"user": "u", "item": "u-1"}]})
        with Server(db=os.path.join(self.checkpoints, "a")) as copy:
            self.assertEqual(self.unseen(copy, "u", 2), ["u-1"])

    def test_names_and_bodies(self):
        for name in ["", ".", "..", ".a", "a/b", "../a", "/tmp/a", "a b", "\u00e9", "a\0", "a.tmp",
                     "x" * 65]:
            error = self.checkpoint(name, 400).error
            self.assertEqual((error["code"], error["field"]), ("invalid_argument", "/name"), name)
        for body, field in [({}, "/name"), ({"name": 1}, "/name"),
                            ({"name": "a", "to": "b"}, "/to")]:
            answer = self.server.post("/admin/checkpoint", body)
            self.assertEqual((answer.status, answer.error["field"]), (400, field))
        self.assertEqual(self.server.post("/admin/checkpoint", b"").status, 400)
        self.assertEqual(os.listdir(self.checkpoints), [])
        for name in ["x" * 64, "-", "_a.B-9"]:
            self.checkpoint(name)
            self.assertTrue(os.path.isfile(os.path.join(self.checkpoints, name, "SEENDB")))

    def test_a_name_is_taken_once(self):
        self.assertNotIn("seendb_last_checkpoint_seconds", self.server.get("/metrics").body.decode())
        began = time.time()
        self.checkpoint("a")
        error = self.checkpoint("a", 409).error
        made = re.search(r"^seendb_last_checkpoint_seconds (\S+)$",
                         self.server.get("/metrics").body.decode(), re.M)
        self.assertGreaterEqual(float(made.group(1)), began - 1)
        self.assertEqual((error["code"], error["field"]), ("incompatible", "/name"))
        with open(os.path.join(self.checkpoints, "file"), "w", encoding="utf-8"):
            pass
        os.symlink("nowhere", os.path.join(self.checkpoints, "link"))
        self.checkpoint("file", 409)
        self.checkpoint("link", 409)

        statuses = []
        calls = [threading.Thread(target=lambda: statuses.append(
            self.server.post("/admin/checkpoint", {"name": "same"}).status)) for _ in range(4)]
        for call in calls:
            call.start()
        for call in calls:
            call.join()
        self.assertEqual(sorted(statuses), [200, 409, 409, 409])

    def test_a_folder_of_somebody_else_is_in_the_way(self):
        strange = os.path.join(self.checkpoints, "a.tmp")
        os.mkdir(strange)
        with open(os.path.join(strange, "file"), "w", encoding="utf-8"):
            pass
        os.symlink(strange, os.path.join(self.checkpoints, "b.tmp"))
        for name in ("a", "b"):
            error = self.checkpoint(name, 409).error
            self.assertEqual((error["code"], error["field"]), ("incompatible", "/name"))
        self.assertTrue(os.path.exists(os.path.join(strange, "file")))
        # What a killed checkpoint left goes.
        with open(os.path.join(strange, "UNFINISHED"), "w", encoding="utf-8"):
            pass
        self.checkpoint("a")
        self.assertEqual(sorted(os.listdir(self.checkpoints)), ["a", "b.tmp"])

    def test_by_the_tool(self):
        self.server.post("/plays", {"events": [{"user": "u", "item": "u-0"}]})
        command = [tool_binary(), "--url", self.server.url, "--json", "checkpoint"]
        run = subprocess.run(command + ["monday"], capture_output=True, text=True, timeout=60,
                             check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(json.loads(run.stdout)["shards"], 3)
        run = subprocess.run([c for c in command if c != "--json"] + ["tuesday"],
                             capture_output=True, text=True, timeout=60, check=False)
        self.assertRegex(run.stdout, r"^3 shards, \d+ files linked and \d+ copied, ")
        run = subprocess.run(command + ["monday"], capture_output=True, text=True, timeout=60,
                             check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("there already", run.stderr)
        with Server(db=os.path.join(self.checkpoints, "monday")) as copy:
            self.assertEqual(self.unseen(copy, "u", 1), [])


class SettingTest(unittest.TestCase):
    def test_without_the_setting_the_call_names_it(self):
        with CheckedServer() as server:
            answer = server.post("/admin/checkpoint", {"name": "a"})
            self.assertEqual((answer.status, answer.error["code"]), (404, "not_found"))
            self.assertIn('"checkpoints"', answer.error["message"])

    def test_a_folder_that_cannot_be_ends_the_start(self):
        with tempfile.TemporaryDirectory(prefix="seendb-test-") as folder:
            db = os.path.join(folder, "db")
            in_the_way = os.path.join(folder, "file")
            with open(in_the_way, "w", encoding="utf-8"):
                pass
            for checkpoints, code in [(os.path.join(db, "copies"), 2), (db, 2), (in_the_way, 1)]:
                with Server(db=db, args=["--checkpoints", checkpoints], wait=False) as server:
                    self.assertEqual(server.wait_exit(), code)
                    self.assertIn("checkpoints", server.log_text())
            self.assertEqual(os.listdir(folder), ["file"])


if __name__ == "__main__":
    unittest.main()
