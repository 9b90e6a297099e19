"""seendb verify and repair on damaged folders, as an operator meets them."""

import glob
import json
import os
import shutil
import unittest

from tool_runner import BUSY, CLOCK, DAMAGE, NOT_FOUND, NOW_MS, OK, USAGE, ToolCase, run

ITEMS = ["v%d" % i for i in range(30)]
USERS = ["u%d" % i for i in range(20)]


def listing(folder):
    """{path: (size, mtime)} of everything but RocksDB's diary."""
    found = {}
    for path in glob.glob(os.path.join(folder, "**"), recursive=True):
        if os.path.isfile(path) and not os.path.basename(path).startswith("LOG"):
            stat = os.stat(path)
            found[os.path.relpath(path, folder)] = (stat.st_size, stat.st_mtime_ns)
    return found


class RepairTest(ToolCase):

    def setUp(self):
        super().setUp()
        self.load_plays([(u, i, NOW_MS) for u in USERS for i in ITEMS])
        self.in_db("drain")
        self.in_db("compact")

    def files(self, pattern):
        return sorted(glob.glob(os.path.join(self.db, "shard-*", pattern)))

    def flip(self, path, at):
        with open(path, "r+b") as file:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 0x10]))

    def expect_right_answers(self, users=USERS):
        """Nothing seen is unseen, unless it says so; how many said so."""
        degraded = 0
        for user in users:
            answer = self.in_db("check", user, *ITEMS, "--json").json
            degraded += answer["degraded"]
            if not answer["degraded"]:
                self.assertTrue(all(row["seen"] for row in answer["items"]), answer)
        return degraded

    def test_sound(self):
        before = listing(self.db)
        self.assertIn("all sound", self.in_db("verify").out)
        self.assertEqual(self.tool("verify", self.db, "--json").json["files"]["damages"], [])
        self.assertEqual(self.in_db("repair").out, "nothing to repair\n")
        self.assertEqual(self.in_db("repair", "--json").json["files"], [])
        self.assertEqual(listing(self.db), before)

    def test_a_table(self):
        path = max(self.files("*.sst"), key=os.path.getsize)  # of the bucket
        self.flip(path, 100)
        name = os.path.relpath(path, self.db)
        damaged = listing(self.db)
        told = self.in_db("verify", code=DAMAGE)
        self.assertIn(name, told.out)
        self.assertIn(name, told.err)
        self.assertIn("seendb repair", told.err)
        report = self.in_db("verify", "--json", code=DAMAGE)
        self.assertEqual([d["file"] for d in report.json["files"]["damages"]], [name])
        self.assertEqual(report.error["code"], "corruption")
        plan = self.in_db("repair", "--dry-run")
        self.assertIn("nothing was changed", plan.out)
        self.assertIn(name, plan.out)
        self.assertEqual(listing(self.db), damaged)
        done = self.tool("repair", self.db, "--json", *CLOCK).json
        self.assertEqual(done["files"][0]["file"], name)
        self.assertTrue(os.path.exists(os.path.join(self.db, done["files"][0]["kept_as"])))
        self.assertTrue(done["losses"])
        self.in_db("verify")
        self.assertGreater(self.expect_right_answers(), 0)
        repaired = listing(self.db)
        self.assertEqual(self.in_db("repair").out, "nothing to repair\n")
        self.assertEqual(listing(self.db), repaired)

    def test_what_costs_nothing(self):
        for turn, pattern in enumerate(
                ("CURRENT", "MANIFEST-*", "OPTIONS-*", "IDENTITY", "SYNCED", "FILES")):
            with self.subTest(pattern):
                path = self.files(pattern)[-1]
                name = os.path.relpath(path, self.db)
                os.truncate(path, os.path.getsize(path) // 2)
                self.assertIn(name, self.in_db("verify", code=DAMAGE).out)
                self.assertIn(name, self.in_db("repair").out)
                self.in_db("verify")
                self.assertEqual(self.expect_right_answers(USERS[turn % 3::3]), 0)

    def test_the_identity(self):
        path = os.path.join(self.db, "SEENDB")
        for turn, text in enumerate(("", "{", '{"format":1}')):
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            refused = self.in_db("stats", code=DAMAGE)
            self.assertIn("SEENDB", refused.err)
            self.assertIn("seendb repair", refused.err)
            self.assertIn("SEENDB", self.in_db("verify", code=DAMAGE).out)
            self.in_db("repair")
            with open(path, encoding="ascii") as file:
                self.assertEqual(json.load(file)["shards"], 4)
            self.assertEqual(self.expect_right_answers(USERS[turn::3]), 0)

    def test_a_log(self):
        self.load_plays([(u, "late%d" % i, NOW_MS) for u in USERS for i in range(50)])
        path = max(self.files("*.log"), key=os.path.getsize)
        name = os.path.relpath(path, self.db)
        self.flip(path, os.path.getsize(path) // 2)
        self.assertIn(name, self.in_db("verify", code=DAMAGE).out)
        done = self.in_db("repair", "--json").json
        self.assertEqual(done["files"][0]["file"], name)
        self.assertGreater(done["files"][0]["salvaged"], 0)
        self.in_db("verify")
        self.assertGreater(self.expect_right_answers(), 0)

    def test_refusals(self):
        self.in_db("repair", "--unheard", code=USAGE)
        self.tool("repair", code=USAGE)
        self.tool("repair", self.path("nowhere"), code=NOT_FOUND)
        self.tool("verify", self.path("nowhere"), code=NOT_FOUND)
        os.mkdir(self.path("empty"))
        self.tool("repair", self.path("empty"), code=NOT_FOUND)
        with open(os.path.join(self.db, "SEENDB"), encoding="ascii") as file:
            newer = file.read().replace('"format": 2', '"format": 3')
        shutil.rmtree(os.path.join(self.path("empty")))
        os.mkdir(self.path("empty"))
        with open(os.path.join(self.path("empty"), "SEENDB"), "w", encoding="ascii") as file:
            file.write(newer)
        self.assertIn("format 3", self.tool("repair", self.path("empty"), code=3).err)
        for command in ("verify", "repair"):
            self.assertEqual(run(command, "--help").code, OK)

    def test_in_use(self):
        from seendb_client import Server
        server = Server(self.db, clock_ms=NOW_MS)
        self.addCleanup(server.close)
        self.tool("repair", self.db, code=BUSY)


if __name__ == "__main__":
    unittest.main()
