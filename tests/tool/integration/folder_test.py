"""Every command on a database's folder."""

import json
import os
import unittest

from tool_runner import (CLOCK, DAMAGE, DAY_MS, INCOMPATIBLE, NOT_FOUND, NOW_MS, OK,
                         ROWS, USAGE, ToolCase, run)

OCTOBER = NOW_MS - 30 * DAY_MS
NEWER_FILTER = "120000000000D346F42A"


class FolderTest(ToolCase):

    def setUp(self):
        super().setUp()
        self.load_plays([("u1", "v1", NOW_MS), ("u1", "v2", NOW_MS - 1), ("u1", 3, OCTOBER),
                         ("u2", "v1", NOW_MS), (77, "v9", NOW_MS)])

    def test_check(self):
        self.assertEqual(self.seen("u1", "v1", "3", "v9"), {"v1": "ring", "3": "ring"})
        self.in_db("drain")
        self.assertEqual(self.seen("u1", "v1", "3", "v9"),
                         {"v1": "play:2023-11", "3": "play:2023-10"})
        self.assertEqual(self.seen("77", "v9", "v1"), {"v9": "play:2023-11"})
        report = self.in_db("check", "u1", "v1", "v9", "--json").json
        self.assertEqual(report, {
            "user": "u1", "collection": "default",
            "items": [{"item": "v1", "seen": True, "reason": "play:2023-11"},
                      {"item": "v9", "seen": False}],
            "degraded": False, "missing": []})

    def test_check_for_people(self):
        lines = self.in_db("check", "u1", "v1", "v9").out.splitlines()
        self.assertEqual(lines[0].split(), ["ITEM", "VERDICT", "WHY"])
        self.assertEqual(lines[1].split(), ["v1", "seen", "ring"])
        self.assertEqual(lines[2].split(), ["v9", "unseen"])
        self.assertEqual(lines[3], "1 of 2 seen by u1")

    def test_check_refusals(self):
        self.in_db("check", "u1", code=USAGE)
        self.in_db("check", "u1", "x" * 256, code=USAGE)
        self.in_db("check", "", "v1", code=USAGE)
        self.in_db("check", "u1", "v1", "--collection", "nope", code=NOT_FOUND)

    def test_inspect_follows_a_user_through_ring_drain_and_seal(self):
        report = self.in_db("inspect", "u1", "--json").json
        self.assertEqual(report["user"], "u1")
        self.assertEqual(report["buckets"], [])
        self.assertEqual(sum(staged["items"] for staged in report["ring"]), 3)
        self.in_db("drain")
        report = self.in_db("inspect", "u1", "--json").json
        self.assertEqual([(b["bucket"], b["form"], b["items"]) for b in report["buckets"]],
                         [("2023-11", "list", 2), ("2023-10", "list", 1)])
        self.assertEqual([s for s in report["ring"] if not s["drained"]], [])
        self.assertEqual(self.in_db("seal", "--bucket", "2023-10", "--json").json["ok"], True)
        report = self.in_db("inspect", "u1", "--json").json
        self.assertEqual(report["buckets"][0]["form"], "list")
        self.assertEqual(self.seen("u1", "3"), {"3": "play:2023-10"})

    def test_inspect_shows_layers_once_there_are_any(self):
        self.load_plays([("heavy", "i%d" % i, NOW_MS) for i in range(6000)])
        self.in_db("drain")
        bucket = self.in_db("inspect", "heavy", "--json").json["buckets"][0]
        self.assertEqual(bucket["items"], 6000)
        self.assertEqual(bucket["form"], "layers")
        self.assertGreaterEqual(len(bucket["layers"]), 1)
        for layer in bucket["layers"]:
            self.assertGreater(layer["fill"], 0)
            self.assertLess(layer["fpr"], 0.01)
        text = self.in_db("inspect", "heavy").out
        self.assertIn("6,000", text)
        self.assertIn("Bloom layers", text)
        self.assertRegex(text, r"\d+\.\d KiB")

    def test_inspect_for_people(self):
        text = self.in_db("inspect", "u1").out
        self.assertIn("user u1, shard ", text)
        self.assertIn("no drained plays", text)
        self.assertRegex(text, r"default +2023-11 +\d+ +staged +2\n")
        stranger = self.in_db("inspect", "nobody").out
        self.assertIn("nothing staged", stranger)
        self.in_db("inspect", "u1", "--collection", "nope", code=NOT_FOUND)
        self.in_db("inspect", "x" * 256, code=USAGE)

    def test_collections(self):
        listed = self.in_db("collections", "--json").json["collections"]
        self.assertEqual([one["name"] for one in listed], ["default"])
        self.assertEqual(listed[0]["bucket"], "month")
        self.tool("collections", "put", "--db", self.db, *CLOCK, "article",
                  '{"bucket":"days:10","window":4,"retention":4,"served_is_seen":true}')
        article = self.in_db("collections", "--json").json["collections"][0]
        self.assertEqual((article["name"], article["bucket"], article["served_is_seen"]),
                         ("article", "days:10", True))
        text = self.in_db("collections").out
        self.assertRegex(text, r"article +days:10 +4 +4 +1\.00% +100 +yes +bloom")
        self.load_plays([("u1", "a1", NOW_MS)], "--collection", "article")
        self.tool("collections", "put", "--db", self.db, *CLOCK, "article", '{"first_of_day":true}')
        self.assertRegex(self.in_db("collections").out, r"FIRST OF DAY\narticle .* yes\ndefault .* -")
        self.load_plays([("u1", "a2", NOW_MS)], "--collection", "article")
        report = self.in_db("inspect", "u1", "--json").json
        self.assertEqual(list(report["last_active_day"]), ["article"])
        self.assertIn("last active in article " + report["last_active_day"]["article"],
                      self.in_db("inspect", "u1").out)
        self.assertEqual(self.seen("u1", "a1"), {})
        self.assertEqual(self.seen("u1", "a1", args=["--collection", "article"]), {"a1": "ring"})
        put = ["collections", "put", "--db", self.db, "--json"]
        self.tool(*put, "article", '{"bucket":"month"}', code=INCOMPATIBLE)
        self.tool(*put, "article", '{"window":0}', code=USAGE)
        self.tool(*put, "article", '{"unheard":1}', code=USAGE)
        self.tool(*put, "article", 'nonsense', code=USAGE)
        self.tool(*put, "Bad Name", '{}', code=USAGE)

    def test_a_message_is_skipped(self):
        self.in_db("ingest", "--skip", "plays/3@17")
        row = self.in_db("ingest", "--json").json["topics"][0]["partitions"][0]
        self.assertEqual((row["partition"], row["applied_offset"], row["dead_letters"]), (3, 18, 1))
        self.assertIn("goes on with offset 18",
                      self.in_db("ingest", "--skip", "plays/3@17", code=USAGE).err)
        self.in_db("ingest", "--skip", "plays/3@18")
        for place in ("plays", "plays@3", "plays/x@1", "/3@1", "plays/3@", "plays/3@-1"):
            self.assertIn("TOPIC/PARTITION@OFFSET",
                          self.in_db("ingest", "--skip", place, code=USAGE).err)

    def test_commands_of_all_collections_refuse_one(self):
        self.load_plays([("u5", "v1", NOW_MS)])
        for command in (["erase", "u5"], ["export", "u5"], ["scan"], ["stats"], ["ring"],
                        ["drain"], ["compact"], ["verify"]):
            said = self.in_db(*command, "--collection", "default", code=USAGE)
            self.assertIn("--collection", said.err)
        self.assertIn("v1", self.seen("u5", "v1"))

    def test_buckets(self):
        self.in_db("drain")
        rows = {b["bucket"]: b for b in self.in_db("buckets", "--json").json["buckets"]}
        self.assertEqual(rows["2023-11"]["state"], "open")
        self.assertTrue(rows["2023-11"]["in_window"])
        self.assertIn(rows["2023-10"]["state"], ("closed", "sealed"))
        self.assertRegex(self.in_db("buckets").out,
                         r"default +2023-11 +open +read +2023-11-01 00:00:00 +2023-12-01 00:00:00")
        none = self.in_db("buckets", "--collection", "nope", "--json").json["buckets"]
        self.assertEqual(none, [])

    def test_ring(self):
        slots = self.in_db("ring", "--json").json["slots"]
        self.assertEqual(sum(slot["plays"] for slot in slots), 5)
        self.assertEqual({slot["shard"] for slot in slots}, {0, 1, 2, 3})
        text = self.in_db("ring").out
        self.assertRegex(text.splitlines()[-1], r"^5 plays, [\d.]+ \w+ in memory$")

    def test_stats(self):
        stats = self.in_db("stats", "--json").json
        self.assertEqual(stats["ring_plays"], 5)
        self.assertEqual(stats["replayed_plays"], 5)
        self.assertEqual(stats["shards"], 4)
        self.assertRegex(self.in_db("stats").out, r"(?m)^  ring_plays +5$")

    def test_scan(self):
        self.in_db("drain")
        rows = [json.loads(line) for line in
                self.in_db("scan", "--prefix", "seen/default/2023-11", "--json").out.splitlines()]
        self.assertEqual(sorted(row["key"] for row in rows), ["77", "u1", "u2"])
        for row in rows:
            self.assertEqual(row["family"], "seen/default/2023-11")
            self.assertGreater(row["bytes"], 0)
        self.assertEqual(len(self.in_db("scan", "--limit", "2").out.splitlines()), 2)
        self.assertEqual(self.in_db("scan", "--prefix", "nothing").out, "")
        self.tool("scan", "--url", "http://127.0.0.1:1", code=USAGE)

    def test_verify_is_quiet_on_a_sound_database(self):
        self.in_db("drain")
        report = self.in_db("verify", "--json").json
        self.assertEqual((report["damaged"], report["damages"]), (0, []))
        self.assertGreater(report["keys"], 3)
        self.assertIn("all sound", self.in_db("verify").out)

    def test_verify_finds_what_was_spoilt(self):
        self.in_db("drain")
        shard = self.in_db("inspect", "u1", "--json").json["shard"]
        self.tool("ldb", "--db", self.db, "--shard", shard, "put",
                  "--column_family=seen/default/2023-11", "--value_hex", "u1", "0xDEADBEEF00")
        done = self.in_db("verify", "--json", code=DAMAGE)
        self.assertEqual(done.json["damaged"], 1)
        damage = done.json["damages"][0]
        self.assertEqual((damage["shard"], damage["family"], damage["key"]),
                         (shard, "seen/default/2023-11", "u1"))
        self.assertEqual(done.error["code"], "corruption")
        self.assertIn("u1", self.in_db("verify", code=DAMAGE).out)
        # A neighbour of the damaged value is read as before; the damaged one is admitted.
        self.assertEqual(self.seen("u2", "v1"), {"v1": "play:2023-11"})
        self.assertTrue(self.in_db("check", "u1", "v1", "--json").json["degraded"])
        self.assertIn("degraded", self.in_db("check", "u1", "v1").out)

    def test_verify_tells_newer_versions_from_damage(self):
        self.in_db("drain")
        shard = self.in_db("inspect", "u1", "--json").json["shard"]
        # An empty list under the next version's tag, with its checksum.
        self.tool("ldb", "--db", self.db, "--shard", shard, "put",
                  "--column_family=seen/default/2023-11", "--value_hex", "u1", "0x" + NEWER_FILTER)
        done = self.in_db("verify", "--json", code=INCOMPATIBLE)
        self.assertEqual((done.json["damaged"], done.json["newer"]), (0, 1))
        newer = done.json["damages"][0]
        self.assertEqual((newer["key"], newer["newer"], newer["reason"]),
                         ("u1", True, "seen filter version 2 is newer than this software (1)"))
        self.assertIn("0 damaged, 1 of newer versions", self.in_db("verify", code=INCOMPATIBLE).out)
        self.assertIn("nothing to repair", self.in_db("repair").out)
        self.in_db("verify", code=INCOMPATIBLE)

    def test_a_spoilt_value_in_a_table_file_is_admitted(self):
        # Read from the block cache, which must be let go of before the database is closed.
        self.in_db("drain")
        shard = self.in_db("inspect", "u1", "--json").json["shard"]
        ldb = ["ldb", "--db", self.db, "--shard", shard]
        family = "--column_family=seen/default/2023-10"
        self.tool(*ldb, "put", family, "--value_hex", "u1", "0x" + "DEADBEEF" * 40)
        self.tool(*ldb, "compact", family)
        report = self.in_db("check", "u1", "v1", "3", "--json").json
        self.assertEqual((report["degraded"], report["missing"]), (True, ["2023-10"]))
        self.assertEqual([item["seen"] for item in report["items"]], [True, False])
        bucket = self.in_db("inspect", "u1", "--json").json["buckets"][1]
        self.assertEqual((bucket["bucket"], bucket["readable"]), ("2023-10", False))
        self.in_db("verify", code=DAMAGE)

    def test_drain_seal_compact_drop(self):
        drained = self.in_db("drain", "--json").json
        self.assertEqual((drained["ok"], drained["drained_plays"]), (True, 5))
        self.assertEqual(self.in_db("drain", "--json").json["drained_plays"], 0)
        self.assertRegex(self.in_db("drain").out, r"^drained 0 plays in ")
        self.assertGreaterEqual(self.in_db("seal", "--json").json["buckets_sealed"], 0)
        sealed = self.in_db("seal", "--collection", "default", "--bucket", "2023-11", "--json")
        self.assertGreaterEqual(sealed.json["buckets_sealed"], 1)
        states = {b["bucket"]: b["state"] for b in self.in_db("buckets", "--json").json["buckets"]}
        self.assertEqual(states["2023-10"], "sealed")
        self.in_db("compact")
        self.assertEqual(self.seen("u1", "v1", "v2", "3", "v9"),
                         {"v1": "play:2023-11", "v2": "play:2023-11", "3": "play:2023-10"})
        later = ["--clock", "manual:%d" % (NOW_MS + 200 * DAY_MS)]
        dropped = self.tool("drop-expired", "--db", self.db, *later, "--json").json
        self.assertGreaterEqual(dropped["buckets_dropped"], 1)
        gone = self.tool("inspect", "u1", "--db", self.db, *later, "--json").json
        self.assertEqual(gone["buckets"], [])

    def test_checkpoint_is_a_database(self):
        copy = self.path("copy")
        taken = self.in_db("checkpoint", copy, "--json").json
        self.assertEqual(taken["shards"], 4)
        self.assertGreater(taken["files_linked"] + taken["files_copied"], 4)
        self.assertLessEqual(taken["bytes_copied"], taken["bytes"])
        self.load_plays([("u1", "after", NOW_MS)])
        self.assertRegex(self.in_db("checkpoint", self.path("again")).out, r"^4 shards, .* in ")
        self.db = copy
        self.assertEqual(self.seen("u1", "v1", "3", "after"), {"v1": "ring", "3": "ring"})
        self.in_db("verify")
        for target in (copy, self.path("none/copy"), os.path.join(self.db, "inside")):
            refused = self.in_db("checkpoint", target, "--json", code=USAGE)
            self.assertEqual(refused.error["field"], "/dir")

    def test_checkpoint_by_relative_paths(self):
        before = os.getcwd()
        folder, name = os.path.split(self.db)
        self.addCleanup(os.chdir, before)
        os.chdir(folder)
        self.tool("checkpoint", "--db", name, "near")
        self.tool("verify", "--db", os.path.join(folder, "near"))
        os.chdir(self.db)
        for target in ("inside", "./shard-0000/x", "../%s/inside" % name):
            refused = self.in_db("checkpoint", target, "--json", code=USAGE)
            self.assertIn("lies inside the database", refused.error["message"])
        self.assertFalse(os.path.exists("inside"))
        self.tool("checkpoint", "--db", ".", "../far")
        self.assertTrue(os.path.exists(os.path.join(folder, "far", "SEENDB")))

    def test_checkpoint_leaves_a_strange_folder_alone(self):
        os.makedirs(self.path("strange.tmp"))
        with open(self.path("strange.tmp/file"), "w", encoding="utf-8"):
            pass
        os.symlink(self.path("strange.tmp"), self.path("link.tmp"))
        for name in ("strange", "link"):
            refused = self.in_db("checkpoint", self.path(name), "--json", code=INCOMPATIBLE)
            self.assertEqual(refused.error["field"], "/dir")
        self.assertTrue(os.path.exists(self.path("strange.tmp/file")))

    def test_seal_refusals(self):
        self.in_db("seal", "--bucket", "2023-11", "--collection", "nope", code=NOT_FOUND)
        self.in_db("seal", "--bucket", "2020-01", code=NOT_FOUND)
        self.in_db("seal", "--bucket", "yesterday", code=USAGE)
        self.in_db("seal", "--collection", "default", code=USAGE)

    def test_erase(self):
        self.in_db("drain")
        self.load_plays([("u1", "v5", NOW_MS)])
        said = self.in_db("erase", "u1").out
        self.assertRegex(said, "^erased u1 in ")
        for left in ("checkpoints", "dead letters", "topics"):
            self.assertIn(left, said)
        self.assertEqual(self.seen("u1", "v1", "v2", "3", "v5"), {})
        self.assertEqual(self.seen("u2", "v1"), {"v1": "play:2023-11"})
        report = self.in_db("inspect", "u1", "--json").json
        self.assertEqual(report["erased_at_ms"], NOW_MS)
        refused = self.in_db("load", "-", "--format", "csv", "--json",
                             stdin=b"user,item,at\nu1,v1,%d\n" % NOW_MS, code=ROWS).json
        self.assertEqual((refused["accepted"], refused["refused"]), (0, 1))
        self.assertIs(self.in_db("erase", "u1", "--json").json["known"], True)
        self.in_db("erase", "", code=USAGE)

    def test_erasing_an_unknown_user(self):
        self.assertRegex(self.in_db("erase", "nobody").out,
                         "^erased nobody, of whom nothing was held, in ")
        self.assertIs(self.in_db("erase", "nobody", "--json").json["known"], False)
        self.load_plays([("nobody", "v5", NOW_MS)])
        self.assertEqual(set(self.seen("nobody", "v5")), {"v5"})

    def test_ldb_knows_our_families_and_operators(self):
        self.in_db("drain")
        shard = self.in_db("inspect", "u1", "--json").json["shard"]
        ldb = ["ldb", "--db", self.db, "--shard", shard]
        self.assertIn("seen/default/2023-11", self.tool(*ldb, "list_column_families").out)
        scan = self.tool(*ldb, "scan", "--column_family=seen/default/2023-11", "--no_value").out
        self.assertIn("u1", scan)
        # Operands are merged by our operator; the stock one would string them together.
        self.load_plays([("u1", "another", NOW_MS)])
        self.in_db("drain")
        self.tool(*ldb, "compact", "--column_family=seen/default/2023-11")
        self.assertEqual(set(self.seen("u1", "v1", "another", "v9")), {"v1", "another"})
        self.in_db("verify")
        self.tool("ldb", "--db", self.db, "--shard", "99", "scan", code=NOT_FOUND)
        self.tool("ldb", "scan", code=USAGE)

    def test_reading_changes_nothing(self):
        before = self.in_db("inspect", "u1", "--json").json
        for command in (["stats"], ["buckets"], ["ring"], ["verify"], ["scan"], ["collections"]):
            self.in_db(*command)
        self.assertEqual(self.in_db("inspect", "u1", "--json").json, before)


class UsageTest(ToolCase):

    def test_help_documents_the_exit_codes(self):
        for args in (["--help"], ["inspect", "--help"], ["load", "--help"]):
            done = run(*args)
            self.assertEqual(done.code, OK)
        text = run("--help").out
        for code in range(9):
            self.assertRegex(text, r"(?m)^  %d  " % code)
        for command in ("inspect", "check", "buckets", "ring", "stats", "collections", "scan",
                        "verify", "load", "generate", "seal", "compact", "drain", "drop-expired",
                        "erase", "ldb"):
            self.assertRegex(text, r"(?m)^  %s " % command)
        self.assertRegex(run("--version").out, r"^\d+\.\d+\.\d+ \(([0-9a-f]{12}|unknown)\)\n$")

    def test_usage_errors(self):
        for args in ([], ["unheard"], ["stats", "--unheard"], ["scan"], ["inspect", "--db", "x"],
                     ["stats", "--db", ""], ["stats", "--url", ""],
                     ["ingest", "--forget", "t"], ["--url", "http://127.0.0.1:1", "scan"],
                     ["stats", "--db", "x", "--url", "http://127.0.0.1:1"],
                     ["stats", "--url", "127.0.0.1:1"], ["stats", "--url", "ftp://127.0.0.1:1"],
                     ["stats", "--url", "http://127.0.0.1:1", "--clock", "manual:5"],
                     ["stats", "--db", self.db, "--clock", "yesterday"],
                     ["verify", "--url", "http://127.0.0.1:1"]):
            self.assertEqual(run(*args).code, USAGE, args)
        self.assertEqual(run("stats", "--unheard", "--json").error["code"], "invalid_argument")

    def test_typos_are_told_with_what_was_meant(self):
        for args, meant in ((["stast"], "`stats`"), (["chekc", "u", "v"], "`check`"),
                            (["check", "u", "v", "--colection", "x"], "`--collection`"),
                            (["collections", "ptu", "x"], "`put`"),
                            (["load", "-", "--usercolumn=x"], "`--user-column`")):
            done = self.tool(*args, code=USAGE)
            self.assertIn("did you mean %s?" % meant, done.err)
            self.assertIn("did you mean %s?" % meant,
                          self.tool(*args, "--json", code=USAGE).error["message"])
        self.assertNotIn("did you mean", self.tool("unheard", code=USAGE).err)

    def test_no_database(self):
        for args in (["stats"], ["inspect", "u"], ["check", "u", "v"], ["buckets"], ["ring"],
                     ["collections"], ["scan"], ["verify"], ["seal"], ["compact"], ["drain"],
                     ["drop-expired"], ["erase", "u"]):
            done = self.tool(args[0], "--db", self.db, *args[1:], "--json", code=NOT_FOUND)
            self.assertEqual(done.error["code"], "not_found", args)
            self.assertEqual(done.out, "", args)
        self.tool("ldb", "--db", self.db, "scan", code=NOT_FOUND)

    def test_common_flags_may_come_first(self):
        self.load_plays([("u1", "v1", NOW_MS)])
        done = self.tool("--db", self.db, *CLOCK, "--json", "check", "u1", "v1")
        self.assertEqual(done.json["items"][0]["reason"], "ring")


if __name__ == "__main__":
    unittest.main()
