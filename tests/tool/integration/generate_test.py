"""The generator as its users run it: the same log everywhere, in every format."""

import hashlib
import json
import os
import subprocess
import unittest

from tool_runner import DAY_MS, NOW_MS, USAGE, ToolCase, run

SMALL = ["--users", "20", "--plays-per-user-median", "30", "--days", "3", "--items", "500",
         "--start-ms", str(NOW_MS), "--seed", "42"]
# Of the CSV the flags above give, on any machine. Another digest is another generator: old seeds
# would no longer reproduce old runs.
SMALL_SHA256 = "b0fb62f51b464526b1e493b4078a8ee665c46fa04b53a97641e7276f520ae724"


def generate(*args):
    return run("generate", *SMALL, *args)


class GenerateTest(ToolCase):

    def test_the_seed_alone_decides(self):
        first = generate()
        self.assertEqual(hashlib.sha256(first.raw).hexdigest(), SMALL_SHA256)
        self.assertEqual(generate().raw, first.raw)
        self.assertNotEqual(generate("--seed", "43").raw, first.raw)

    def test_rows(self):
        lines = generate().out.splitlines()
        self.assertEqual(lines[0], "user,item,at")
        rows = [line.split(",") for line in lines[1:]]
        times = [int(at) for _, _, at in rows]
        self.assertEqual(times, sorted(times))
        self.assertGreaterEqual(times[0], NOW_MS)
        self.assertLess(times[-1], NOW_MS + 3 * DAY_MS)
        self.assertEqual({user for user, _, _ in rows}, {"u%d" % i for i in range(20)})
        for _, item, _ in rows:
            self.assertRegex(item, r"^v\d{1,3}$")

    def test_formats_hold_the_same_plays(self):
        csv = [line.split(",") for line in generate().out.splitlines()[1:]]
        rows = [json.loads(line) for line in generate("--format", "ndjson").out.splitlines()]
        self.assertEqual([[r["user"], r["item"], str(r["at"])] for r in rows], csv)

    def test_progress(self):
        """Every play of the plain log begins, and its reports go on by the period."""
        lines = generate("--progress", "20").out.splitlines()
        self.assertEqual(lines[0], "user,item,at,progress_s,duration_s,device")
        rows = [line.split(",") for line in lines[1:]]
        times = [int(row[2]) for row in rows]
        self.assertEqual(times, sorted(times))
        begins = sorted(tuple(row[:3]) for row in rows if row[3] == "0")
        plays = sorted(tuple(line.split(",")) for line in generate().out.splitlines()[1:])
        self.assertEqual(begins, plays)
        at = {tuple(row[:3]) for row in rows}
        for user, item, at_ms, progress, duration, device in rows:
            self.assertIn(device, ("phone", "tv", "web", "tablet"))
            position = int(duration) if progress == "-1" else int(progress)
            begin = int(at_ms) - 1000 * position
            self.assertIn((user, item, str(begin)), at)
        self.assertGreater(sum(row[3] == "-1" for row in rows), len(plays) // 5)
        ndjson = [json.loads(line) for line in
                  generate("--progress", "20", "--format", "ndjson").out.splitlines()]
        self.assertEqual([[str(value) for value in row.values()] for row in ndjson], rows)
        done = generate("--progress", "20", "--out", self.path("log.csv"), "--json").json
        self.assertEqual((done["plays"], done["rows"]), (len(plays), len(rows)))

    def test_files_by_their_names(self):
        for name in ("log.csv", "log.ndjson"):
            plain, packed = self.path(name), self.path(name + ".zst")
            done = generate("--out", plain, "--json")
            self.assertEqual(done.code, 0, done)
            self.assertEqual(generate("--out", packed).code, 0)
            with open(plain, "rb") as file:
                data = file.read()
            unpacked = subprocess.run(["zstd", "-dcq", packed], capture_output=True, check=True)
            self.assertEqual(unpacked.stdout, data)
            self.assertLess(os.path.getsize(packed), len(data))
            rows = data.count(b"\n") - (1 if name.endswith(".csv") else 0)
            self.assertEqual((done.json["plays"], done.json["rows"]), (rows, rows))
            self.assertEqual((done.json["users"], done.json["seed"]), (20, 42))
            self.assertEqual(done.json["end_ms"], NOW_MS + 3 * DAY_MS)

    def test_by_default_the_log_ends_now(self):
        done = run("generate", "--users", "2", "--plays-per-user-median", "5", "--days", "2",
                   "--out", self.path("log.csv"), "--json").json
        self.assertEqual(done["end_ms"] - done["start_ms"], 2 * DAY_MS)
        self.assertLess(abs(done["end_ms"] - os.stat(self.path("log.csv")).st_mtime * 1000), 60_000)

    def test_refusals(self):
        for args in (["--users", "0"], ["--days", "0"], ["--items", "0"], ["--format", "tsv"],
                     ["--plays-per-user-median", "0"], ["--users", "many"], ["--format", "xml"],
                     ["--progress", "0"], ["--out", self.path("log.parquet")]):
            self.assertEqual(generate(*args).code, USAGE, args)
        self.assertEqual(generate("--out", self.path("none/log.csv")).code, 1)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
