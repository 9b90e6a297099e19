"""Backups of a database's folder, by the tool: made, listed, verified, restored, pruned."""

import glob
import os
import signal
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))

from tool_runner import (BUSY, CLOCK, DAMAGE, INCOMPATIBLE, NOT_FOUND, NOW_MS, USAGE,  # noqa: E402
                         ToolCase, tool_binary)


class LocalTest(ToolCase):

    def setUp(self):
        super().setUp()
        self.backups = self.path("backups")
        self.load_plays([("u%d" % user, "v%d" % item, NOW_MS - item)
                         for user in range(50) for item in range(20)])
        self.in_db("drain")
        self.in_db("compact")

    def create(self, *args, code=0):
        return self.tool("backup", "create", self.backups, "--db", self.db, *CLOCK, "--json", *args,
                         code=code)

    def files(self):
        return sorted(glob.glob(os.path.join(self.backups, "files", "*", "*")))

    def test_a_backup_is_restored_as_it_was(self):
        first = self.create().json
        self.assertEqual((first["id"], first["ok"]), (1, True))
        self.assertLessEqual(first["new_bytes"], first["bytes"])
        self.load_plays([("late", "v1", NOW_MS)])
        second = self.create().json
        self.assertEqual(second["id"], 2)
        self.assertLess(second["new_bytes"], second["bytes"])
        listed = self.tool("backup", "list", self.backups, "--json").json["backups"]
        self.assertEqual([(one["id"], one["shards"], one["bytes"], one["new_bytes"]) for one in listed],
                         [(one["id"], one["shards"], one["bytes"], one["new_bytes"])
                          for one in (first, second)])
        text = self.tool("backup", "list", self.backups).out
        self.assertEqual(text.split("\n")[0].split(),
                         ["ID", "BEGAN", "TOOK", "SHARDS", "STORES", "FILES", "SIZE", "NEW"])
        whole = self.tool("backup", "verify", self.backups, "--json").json
        self.assertEqual((whole["backups"], whole["damages"], whole["unlisted_files"]), (2, [], 0))
        self.assertIn("all sound", self.tool("backup", "verify", self.backups).out)
        self.tool("backup", "restore", self.backups, self.path("old"), "--id", "1")
        self.tool("backup", "restore", self.backups, self.path("new"))
        for name, late in (("old", {}), ("new", {"v1": "ring"})):
            self.tool("verify", "--db", self.path(name), *CLOCK)
            self.db = self.path(name)
            self.assertEqual(self.seen("late", "v1"), late)
            self.assertEqual(len(self.seen("u7", *["v%d" % item for item in range(20)])), 20)
            self.assertEqual(os.stat(self.db).st_mode & 0o007, 0)

    def test_files_are_named_by_their_checksum_for_everybody(self):
        self.create()
        for path in self.files():
            said = subprocess.run(["sha256sum", path], capture_output=True, check=True).stdout
            self.assertEqual(said.split()[0].decode(), os.path.basename(path))
            self.assertEqual(os.stat(path).st_mode & 0o077, 0)

    def test_what_is_refused(self):
        self.tool("backup", "list", self.backups, code=NOT_FOUND)
        self.create()
        self.tool("backup", "restore", self.backups, self.db, code=INCOMPATIBLE)
        os.mkdir(self.path("empty"))
        self.tool("backup", "restore", self.backups, self.path("empty"), code=INCOMPATIBLE)
        self.tool("backup", "restore", self.backups, self.path("x"), "--id", "9", code=NOT_FOUND)
        self.tool("backup", "create", os.path.join(self.db, "backups"), "--db", self.db, *CLOCK,
                  code=USAGE)
        self.assertFalse(os.path.exists(os.path.join(self.db, "backups")))
        self.tool("backup", "create", self.folder, "--db", self.db, *CLOCK, code=INCOMPATIBLE)
        self.tool("backup", "prune", self.backups, "--keep", "seven", code=USAGE)
        self.tool("backup", "prune", self.backups, code=USAGE)
        self.tool("backup", code=USAGE)
        self.db = self.path("another")
        self.load_plays([("u1", "v1", NOW_MS)])
        self.assertIn("of the database", self.create(code=INCOMPATIBLE).err)

    def test_a_changed_byte_is_named(self):
        self.create()
        sst = [path for path in self.files() if os.path.getsize(path) > 1000][0]
        with open(sst, "r+b") as file:
            file.seek(500)
            byte = file.read(1)
            file.seek(500)
            file.write(bytes([byte[0] ^ 1]))
        done = self.tool("backup", "verify", self.backups, "--json", code=DAMAGE)
        self.assertEqual([(one["file"], one["what"], one["backups"])
                          for one in done.json["damages"]], [(sst, "damaged", [1])])
        self.assertIn(sst, self.tool("backup", "verify", self.backups, code=DAMAGE).out)
        done = self.tool("backup", "restore", self.backups, self.path("new"), code=DAMAGE)
        self.assertIn(sst, done.err)
        self.assertFalse(os.path.exists(self.path("new")))

    def test_prune_keeps_the_newest(self):
        self.create()
        self.load_plays([("late", "v1", NOW_MS)])
        self.create()
        pruned = self.tool("backup", "prune", self.backups, "--keep", "7d,4w", "--json").json
        self.assertEqual((pruned["kept"], pruned["removed"]), ([2], [1]))
        self.assertGreater(pruned["files"], 0)
        self.assertEqual(self.tool("backup", "verify", self.backups, "--json").json["unlisted_files"],
                         0)
        self.tool("backup", "restore", self.backups, self.path("new"))
        self.assertEqual(self.create().json["id"], 3)

    def test_a_killed_one_goes_on(self):
        rows = [("k%d" % user, "w%d" % item, NOW_MS - item) for user in range(2000)
                for item in range(60)]
        self.load_plays(rows)
        self.in_db("drain")
        command = [tool_binary(), "backup", "create", self.backups, "--db", self.db, *CLOCK,
                   "--mb-per-s", "1"]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until = time.monotonic() + 60
        while not self.files() and time.monotonic() < until:
            time.sleep(0.05)
        busy = self.tool("backup", "create", self.backups, "--db", self.db, *CLOCK, code=BUSY)
        self.assertIn("seendb", busy.err)
        running.send_signal(signal.SIGKILL)
        running.communicate()
        kept = self.files()
        self.assertGreater(len(kept), 0)
        self.assertEqual(self.tool("backup", "list", self.backups, "--json").json["backups"], [])
        done = self.create("--mb-per-s", "0").json
        self.assertLess(done["new_bytes"], done["bytes"])
        self.assertLessEqual(set(kept), set(self.files()))
        self.assertEqual(self.tool("backup", "verify", self.backups, "--json").json["damages"], [])
        self.assertEqual(glob.glob(os.path.join(self.db, "tmp", "*")), [])

    def test_an_interrupted_one_says_so(self):
        command = [tool_binary(), "backup", "create", self.backups, "--db", self.db, *CLOCK,
                   "--mb-per-s", "1"]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until = time.monotonic() + 60
        while not self.files() and time.monotonic() < until:
            time.sleep(0.02)
        running.send_signal(signal.SIGTERM)
        _, err = running.communicate(timeout=60)
        if running.returncode != 0:  # it may have been done
            self.assertRegex(err.decode(), "interrupted")
            self.assertEqual(glob.glob(os.path.join(self.db, "tmp", "*")), [])


if __name__ == "__main__":
    unittest.main()
