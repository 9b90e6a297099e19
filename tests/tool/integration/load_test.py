"""Loading logs into a folder: formats, columns, bad rows, resuming."""

import base64
import fcntl
import gzip
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from tool_runner import (CLOCK, Done, DAMAGE, DATA, DAY_MS, NOT_FOUND, NOW_MS, OK, ROWS, USAGE, ToolCase, run,
                         tool_binary)
from seendb_client import eventually


def waits_for_input(process):
    """Whether a tool has taken all of its pipe, and sleeps until more comes."""
    left = struct.unpack("i", fcntl.ioctl(process.stdin, termios.FIONREAD, b"\0" * 4))[0]
    for _ in range(20):
        with open("/proc/%d/stat" % process.pid, encoding="ascii") as file:
            state = file.read().rsplit(")", 1)[1].split()[0]
        if left or state != "S":
            return False
        time.sleep(0.01)
    return True


class LoadTest(ToolCase):

    def load(self, *args, code=OK, stdin=b""):
        done = self.in_db("load", *args, "--json", code=code, stdin=stdin)
        return done.json if code in (OK, ROWS) else done

    def load_text(self, name, text, *args, code=OK):
        return self.load(self.write(name, text), *args, code=code)

    def assert_seen(self, user, *items):
        self.assertEqual(set(self.seen(user, *items)), set(items))

    def test_csv_columns_are_found_by_name(self):
        report = self.load_text("a.csv", "time_ms,user_id,video_id,is_like\r\n"
                                "%d,7,v1,0\r\n%d,\"u,\"\"8\",\"v\n2\",1\r\n" % (NOW_MS, NOW_MS))
        self.assertEqual((report["rows"], report["accepted"], report["bad"]), (2, 2, 0))
        self.assert_seen("7", "v1")
        self.assert_seen('u,"8', "v\n2")

    def test_columns_by_flags(self):
        self.load_text("a.tsv", "when\twhat\twho\n%d\tv1\tu1\n" % (NOW_MS // 1000),
                       "--user-column", "who", "--item-column", "what", "--time-column", "when")
        self.assert_seen("u1", "v1")
        self.load_text("b.csv", "v2,%d,u1\n" % NOW_MS, "--no-header", "--user-column", "3",
                       "--item-column", "1", "--time-column", "2")
        self.assert_seen("u1", "v1", "v2")
        self.load_text("c.csv", "user,item\nu1,v3\n", "--now")
        self.assert_seen("u1", "v3")
        refused = self.load_text("d.csv", "user,item\nu1,v3\n", code=USAGE)
        self.assertIn("no time column", refused.error["message"])

    def test_ndjson(self):
        rows = [{"user": "u1", "item": 18446744073709551615, "at": NOW_MS, "more": {"a": [1]}},
                {"uid": 5, "video_id": "é\"\\", "ts": NOW_MS // 1000},
                {"user": "u1", "item": "v1", "at": "2023-11-14T22:13:20Z"}]
        report = self.load_text("a.ndjson", "".join(json.dumps(row) + "\n" for row in rows))
        self.assertEqual(report["accepted"], 3)
        self.assert_seen("u1", "18446744073709551615", "v1")
        self.assert_seen("5", "é\"\\")

    def test_facts(self):
        rows = "".join(json.dumps({"user": "u1", "item": item, "at": NOW_MS, "progress_s": 5}) + "\n"
                       for item in ("v1", "v2"))
        served = self.load_text("served.ndjson", rows, "--fact", "served")
        self.assertEqual((served["accepted"], served["refused"]), (2, 0))
        self.assertIn("impressions_per_s", served)
        exposed = self.load_text("exposed.ndjson", rows, "--fact", "exposed", "--surface", "home")
        self.assertEqual((exposed["accepted"], exposed["refused"]), (2, 0))
        held = self.in_db("inspect", "u1", "--json").json
        self.assertEqual([len(one["entries"]) for one in held["impressions"]], [2])
        self.assertEqual([entry["surface"] for entry in held["exposures"][0]["entries"]],
                         ["home", "home"])

    def test_facts_that_are_refused(self):
        for flags in (["--fact", "liked"], ["--surface", "home"],
                      ["--fact", "served", "--surface", "home"],
                      ["--fact", "exposed", "--surface", "x" * 33],
                      ["--fact", "exposed", "--progress-column", "p"]):
            self.load_text("a.ndjson", "", *flags, code=USAGE)

    def test_rejects(self):
        old = NOW_MS - 900 * DAY_MS
        rows = ["u%d,v%d,%d" % (i, i, old if i % 2 else NOW_MS) for i in range(500)]
        rows[100] = "u100,\u00e9\"x,no time"
        text = "user,item,at\n\n" + "\n".join(rows) + "\n"
        path, rejects = self.write("a.csv", text), self.path("rejects")
        report = self.load(path, "--rejects", rejects, code=ROWS)
        self.assertEqual((report["accepted"], report["refused"], report["bad"]), (249, 250, 1))
        with open(rejects, encoding="utf-8") as file:
            found = {one["row"]: one for one in map(json.loads, file)}
        self.assertEqual(len(found), 251)
        for row, one in found.items():
            self.assertEqual((one["line"], one["text"]), (row + 2, rows[row - 1]))
        self.assertIn("not a time", found[101]["why"])
        self.assertIn("older than retention", found[2]["why"])
        state = self.path("state")
        with open(path, "ab") as file:
            file.write(b"\xff,v,%d\n" % NOW_MS)
        self.load(path, "--rejects", rejects, "--skip", "500", code=ROWS)
        with open(rejects, encoding="utf-8") as file:
            one = [json.loads(line) for line in file][-1]  # a load that goes on adds
        self.assertEqual((one["row"], base64.b64decode(one["text_base64"])),
                         (501, b"\xff,v,%d" % NOW_MS))
        for row in (b"u,v\n", b"u\n"):
            with open(path, "ab") as file:
                file.write(row)
            self.load(path, "--rejects", rejects, "--resume", state, code=ROWS)
        with open(rejects, encoding="utf-8") as file:
            found = [json.loads(line)["row"] for line in file]
        self.assertEqual((len(found), found[-1]), (254, 503))
        self.assertTrue({101, 501, 502} < set(found))

    def test_dates_without_a_zone_are_of_the_collection_or_as_told(self):
        self.in_db("collections", "put", "la", '{"utc_offset":"-08:00","history":{"enabled":true}}')
        rows = "user,item,date\n%s,v1,2023-11-14 10:00:00\n%s,v2,2023-11-14T10:00:00Z\n"
        at = NOW_MS // DAY_MS * DAY_MS + 10 * 3_600_000
        for user, more, east in (("u1", [], -8), ("u2", ["--time-zone", "Asia/Tokyo"], 9),
                                 ("u3", ["--time-zone", "UTC"], 0)):
            path = self.write("a.csv", rows % (user, user))
            report = self.load(path, "--collection", "la", *more)
            self.assertEqual(report["local_times"], 1)
            self.assertEqual(report["time_zone"], more[-1] if more else "-08:00")
            self.assertEqual({item: entry["at"] for item, entry in self.history(user).items()},
                             {"v1": at - east * 3_600_000, "v2": at})
        text = self.in_db("load", path, "--collection", "la").out
        self.assertIn("1 times name no zone: taken for -08:00\n", text)
        self.assertIn("is no time zone of this system",
                      self.load(path, "--time-zone", "Mars/Olympus", code=USAGE).err)

    def history(self, user):
        """{item: the entry without its names}"""
        page = self.in_db("history", user, "--limit", "1000", "--json").json
        self.assertNotIn("cursor", page)
        return {entry.pop("item"): entry for entry in page["entries"] if entry.pop("collection")}

    def keep_history(self):
        self.in_db("collections", "put", "default", '{"history":{"enabled":true}}')

    def test_what_players_say(self):
        self.keep_history()
        rows = [{"user": "u1", "item": "v1", "at": NOW_MS, "progress_s": 95, "duration_s": 240,
                 "device": "tv é", "fields": {"list": [1, None], "text": "}\""}},
                {"user": "u1", "item": "v2", "at": NOW_MS, "progress_s": -1},
                {"user": "u1", "item": "v3", "at": NOW_MS, "device": None, "other": "x" * 2000}]
        report = self.load_text("a.ndjson", "".join(json.dumps(row) + "\n" for row in rows))
        self.assertEqual((report["accepted"], report["bad"]), (3, 0))
        plain = {"at": NOW_MS, "progress_s": 0, "duration_s": 0}
        whole = {"v1": dict(plain, progress_s=95, duration_s=240, device="tv é",
                            fields={"list": [1, None], "text": "}\""}),
                 "v2": dict(plain, progress_s=-1), "v3": plain}
        self.assertEqual(self.history("u1"), whole)
        self.load_text("a.csv", "user,item,at,device,fields,progress_s,duration_s\n"
                       'u2,v1,%d,tv é,"{""list"":[1,\nnull],""text"":""}\\""""}",95,240\n'
                       "u2,v2,%d,,,-1,\n"
                       "u2,v3,%d,,,,\n" % (NOW_MS, NOW_MS, NOW_MS))
        self.assertEqual(self.history("u2"), whole)

    def test_what_players_say_wrongly_is_a_bad_row(self):
        self.keep_history()
        report = self.load_text("a.csv", "user,item,at,progress_s,device\n" + "".join(
            "u1,v%d,%d,%s\n" % (i, NOW_MS, end) for i, end in enumerate(
                ["5,tv", "x,tv", "-2,tv", "5," + "x" * 65, "7,web"])), code=ROWS)
        self.assertEqual((report["accepted"], report["bad"]), (2, 3))
        self.assertEqual([row["row"] for row in report["bad_rows"]], [2, 3, 4])
        self.assertEqual({item: entry["progress_s"] for item, entry in self.history("u1").items()},
                         {"v0": 5, "v4": 7})

    def test_heartbeats_of_the_generator(self):
        self.keep_history()
        path = self.path("log.csv.zst")
        self.tool("generate", "--users", "5", "--plays-per-user-median", "20", "--days", "2",
                  "--start-ms", NOW_MS - 3 * DAY_MS, "--progress", "15", "--out", path)
        lines = subprocess.run(["zstd", "-dcq", path], capture_output=True,
                               check=True).stdout.decode().splitlines()[1:]
        self.assertEqual(self.load(path)["accepted"], len(lines))
        newest = {}
        for line in lines:
            user, item, at, progress, duration, device = line.split(",")
            newest.setdefault(user, {}).setdefault(item, []).append(
                {"at": int(at), "progress_s": int(progress), "duration_s": int(duration),
                 "device": device})
        self.assertEqual(len(newest), 5)
        for user, items in newest.items():
            found = self.history(user)
            self.assertEqual(set(found), set(items))
            for item, states in items.items():
                last = max(state["at"] for state in states)
                self.assertIn(found[item], [state for state in states if state["at"] == last])

    def test_compressed_and_standard_input(self):
        plain = self.write("a.csv", "user,item,at\nu1,v1,%d\n" % NOW_MS)
        packed = self.path("a.csv.zst")
        subprocess.run(["zstd", "-q", plain, "-o", packed], check=True)
        self.assertEqual(self.load(packed)["accepted"], 1)
        with open(packed, "rb") as file:
            data = file.read()
        self.assertEqual(self.load("-", "--format", "csv", stdin=data)["accepted"], 1)
        self.assert_seen("u1", "v1")
        self.load("-", code=USAGE, stdin=data)
        self.load(self.write("cut.csv.zst", data[:-3]), code=DAMAGE)
        self.load(self.path("none.csv"), code=NOT_FOUND)

    def test_plays_outside_the_window_are_told(self):
        old = NOW_MS - 150 * DAY_MS
        text = "user,item,at\nu1,v1,%d\nu1,v2,%d\n" % (old, NOW_MS)
        report = self.load_text("a.csv", text)
        self.assertEqual((report["accepted"], report["outside_window"]), (2, 1))
        self.assertEqual(set(self.seen("u1", "v1", "v2")), {"v2"})
        said = self.in_db("load", self.write("b.csv", text)).out
        self.assertIn("1 of the accepted are older than the policy's window", said)
        report = self.load_text("c.csv", "user,item,at\nu1,v2,%d\n" % NOW_MS)
        self.assertNotIn("outside_window", report)

    def test_time_units_and_shift(self):
        day = NOW_MS // DAY_MS * DAY_MS
        self.load_text("a.csv", "user,item,at\nu1,v1,%d\n" % (day // 1000), "--time-unit", "s")
        # The same number as milliseconds is 1970: far outside retention.
        report = self.load_text("b.csv", "user,item,at\nu1,v2,%d\n" % (day // 1000),
                                "--time-unit", "ms", code=ROWS)
        self.assertEqual((report["accepted"], report["refused"]), (0, 1))
        self.assertEqual(report["refusals"][0]["row"], 1)
        self.load_text("c.csv", "user,item,at\nu1,v3,%d\n" % (day - 4000 * DAY_MS),
                       "--shift", "4000d")
        self.assert_seen("u1", "v1", "v3")
        self.assertNotIn("v2", self.seen("u1", "v2"))
        self.load_text("d.csv", "user,item,at\n", "--shift", "soon", code=USAGE)
        self.load_text("d.csv", "user,item,at\n", "--shift", "4000", code=USAGE)  # of what unit?

    def test_a_log_that_ended_long_ago_names_the_shift(self):
        path = self.write("old.csv", "user,item,at\nu1,v1,%d\n" %
                          (time.time() * 1000 - 400.5 * DAY_MS))
        db = self.db + ".of_today"
        said = self.tool("load", "--db", db, path, code=ROWS).out
        self.assertIn("the newest play is 400 days old; --shift 400d would", said)
        shifted = self.tool("load", "--db", db, path, "--shift", "400d").out
        self.assertNotIn("days old", shifted)
        self.assertRegex(shifted, r"first row: .* UTC, before --shift\n")

    def test_bad_and_refused_rows_are_named(self):
        text = ("user,item,at\n"
                "u1,v1,%d\n"
                "u1,v2\n"
                "u1,v3,never\n"
                ",v4,%d\n"
                "u1,old,1000000000\n"
                "%s\n"
                "u1,v5,%d\n") % (NOW_MS, NOW_MS, "x" * (2 << 20), NOW_MS)
        path = self.write("a.csv", text)
        report = self.load(path, code=ROWS)
        self.assertEqual((report["rows"], report["accepted"], report["refused"], report["bad"]),
                         (7, 2, 1, 4))
        self.assertEqual([bad["row"] for bad in report["bad_rows"]], [2, 3, 4, 6])
        self.assertEqual([one["row"] for one in report["refusals"]], [5])
        self.assert_seen("u1", "v1", "v5")
        done = self.in_db("load", path, code=ROWS)
        text = done.out
        self.assertEqual(done.err, "seendb: 5 of 7 rows were refused or bad (71.4%; --max-refused "
                         "allows 0%)\n")
        self.assertIn("7 rows: 2 plays accepted, 1 refused, 4 bad rows", text)
        self.assertRegex(text, r"(?m)^  row 3: not a time: \"never\" \(ISO 8601 or a number\)$")

    def test_only_the_first_ten_are_named(self):
        report = self.load_text("a.csv", "user,item,at\n" + "bad\n" * 25, code=ROWS)
        self.assertEqual((report["bad"], len(report["bad_rows"])), (25, 10))
        self.assertIn("and 15 more", self.in_db("load", self.path("a.csv"), code=ROWS).out)

    def test_as_many_wrong_rows_as_are_allowed(self):
        path = self.write("a.csv", "user,item,at\n" + "u1,v1,%d\n" % NOW_MS * 97 +
                          "bad\nu1,old,1000000000\nbad\n")
        for allowed, code in ((None, ROWS), ("0", ROWS), ("2.9%", ROWS), ("3%", OK), ("3", OK),
                              ("100%", OK)):
            flags = ["--max-refused", allowed] if allowed else []
            report = self.load(path, *flags, code=code)
            self.assertEqual((report["accepted"], report["refused"], report["bad"]), (97, 1, 2))
        error = self.in_db("load", path, "--json", code=ROWS).error
        self.assertEqual(error["code"], "rows_refused")
        self.assertIn("3 of 100 rows", error["message"])
        for wrong in ("-1%", "101%", "x", "", "5%%", "nan"):
            self.load(path, "--max-refused=" + wrong, code=USAGE)
        self.assertEqual(self.load(self.write("b.csv", "user,item,at\n"))["rows"], 0)

    def test_a_bad_row_fails_the_load_that_read_it(self):
        good = "u1,v1,%d\n" % NOW_MS
        path = self.write("a.csv", "user,item,at\n" + good + "u1,v2,soon\n" + good)
        state, rejects = self.path("state.json"), self.path("rejects")
        self.load(path, "--resume", state, "--rejects", rejects, code=ROWS)
        again = self.load(path, "--resume", state, "--rejects", rejects)
        self.assertEqual((again["rows"], again["bad"]), (3, 1))
        with open(path, "a", encoding="ascii") as file:
            file.write(good + good)
        self.load(path, "--resume", state, "--rejects", rejects)
        with open(path, "a", encoding="ascii") as file:
            file.write(good + "u1,v3,later\n")
        error = self.in_db("load", path, "--resume", state, "--rejects", rejects, "--json",
                           code=ROWS).error
        self.assertIn("1 of 2 rows", error["message"])
        self.load(path, "--resume", state, "--rejects", rejects)
        with open(rejects, encoding="utf-8") as file:
            self.assertEqual([json.loads(line)["row"] for line in file], [2, 7])

    def test_a_stopped_load_is_judged_with_what_comes_after(self):
        path = self.write("a.csv", "user,item,at\nu1,v1,soon\n" + "".join(
            "u1,v%d,%d\n" % (i, NOW_MS) for i in range(6)) + "u1,v9,later\n")
        state = self.path("state.json")
        self.load(path, "--resume", state, code=ROWS)
        with open(state, encoding="utf-8") as file:
            judged = json.load(file)
        self.assertEqual((judged["judged_accepted"], judged["judged_wrong"]), (6, 2))
        judged.update(judged_accepted=0, judged_wrong=0)  # as where it was stopped before its end
        with open(state, "w", encoding="utf-8") as file:
            json.dump(judged, file)
        error = self.in_db("load", path, "--resume", state, "--json", code=ROWS).error
        self.assertIn("2 of 8 rows", error["message"])

    def test_files_that_are_none(self):
        path = self.write("a.csv", "user,item,at\nu1,v1,%d\n" % NOW_MS)
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        for flags, words in ((["--resume", self.folder], "is a folder; name a file"),
                             (["--resume", fifo], "is no file; name one"),
                             (["--resume", self.path("a.csv/state")], "Not a directory"),
                             (["--resume", self.path("no/state")], "can't write"),
                             (["--resume", ""], "--resume: is empty"),
                             (["--rejects", self.folder], "Is a directory"),
                             (["--rejects", path], "that is the log itself")):
            done = run("load", path, "--db", self.db, *flags, *CLOCK, timeout=20)
            self.assertNotEqual(done.code, OK, flags)
            self.assertIn(words, done.err, flags)
            self.assertNotIn("accepted", done.out, flags)
        state = self.path("state.json")
        self.load(path, "--resume", state)
        self.load(path, "--resume", state, "--rejects", state, code=USAGE)

    def test_dates_in_the_order_that_is_said(self):
        path = self.write("a.csv", "user,item,at\nu1,v1,01/11/2023\nu1,v2,13/11/23 9:05 PM\n")
        report = self.load(path, code=ROWS)
        self.assertEqual([row["error"] for row in report["bad_rows"]],
                         ['not a time: "01/11/2023"; --date-order dmy or mdy read it',
                          'not a time: "13/11/23 9:05 PM"; --date-order dmy or ymd read it'])
        report = self.load(path, "--date-order", "dmy")
        self.assertEqual((report["accepted"], report["local_times"]), (2, 2))
        self.assertIn("2023-11-01 00:00:00", report["first_row"])
        state = self.path("state.json")
        self.load(path, "--date-order", "dmy", "--resume", state)
        self.load(path, "--date-order", "mdy", "--resume", state, code=USAGE)
        self.load(path, "--date-order", "d", code=USAGE)

    def test_a_unit_that_is_wrong_is_no_reason_to_shift(self):
        for at, flags in (("20231314", []), ("46000.5", []), ("1700000000", ["--time-unit", "ms"])):
            path = self.write("a.csv", "user,item,at\nu1,v1,%s\n" % at)
            done = run("load", path, "--db", self.db, *flags)
            self.assertEqual(done.code, ROWS)
            self.assertIn("is the column of times, or --time-unit, another?", done.out)
            self.assertNotIn("--shift", done.out)
        path = self.write("a.csv", "user,item,at\nu1,v1,2020-01-01\n")
        self.assertIn("--shift", run("load", path, "--db", self.db).out)

    def test_exports_in_their_short_forms(self):
        report = self.load_text("a.csv", 'Title,Date\n"Dark: ""Secrets""","11/13/23"\n', "--like",
                                "netflix", "--user", "ann", "--date-order", "mdy")
        self.assertEqual((report["accepted"], report["time_zone"]), (1, "UTC"))
        self.assert_seen("ann", 'Dark: "Secrets"')
        rows = [{"endTime": "2023-11-13 12:34", "artistName": "A", "trackName": "B", "msPlayed": 9}]
        self.load_text("StreamingHistory_music_0.json", json.dumps(rows, indent=2), "--like",
                       "spotify", "--user", "ann")
        self.assert_seen("ann", "A - B")

    def test_skip(self):
        path = self.write("a.csv", "user,item,at\n" + "".join(
            "u1,v%d,%d\n" % (i, NOW_MS) for i in range(5)))
        report = self.load(path, "--skip", "3")
        self.assertEqual((report["resumed_after_row"], report["rows"], report["accepted"]), (3, 5, 2))
        self.assertEqual(set(self.seen("u1", *["v%d" % i for i in range(5)])), {"v3", "v4"})
        self.load(path, "--skip", "5")
        self.load(path, "--skip", "6", code=USAGE)
        state = self.path("state.json")
        self.load(path, "--skip", "4", "--resume", state)
        self.assertEqual(self.load(path, "--skip", "1", "--resume", state)["resumed_after_row"], 5)

    def stopped(self, process):
        """The answer of an interrupted load."""
        out, err = process.communicate(timeout=60)
        return Done(process.returncode, out, err)

    def pasted(self, message):
        """Runs the command that a message offers, in a shell."""
        command = message[message.index(tool_binary()):].rstrip()
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False)
        return Done(done.returncode, done.stdout, done.stderr)

    def wait_for_rows(self, db, user):
        """Until a load that runs has recorded its first row, of item v0."""
        deadline = time.monotonic() + 60
        while True:
            done = run("check", user, "v0", "--db", db, *CLOCK, "--json")
            if done.code == OK and done.json["items"][0]["seen"]:
                return
            self.assertLess(time.monotonic(), deadline, done)

    def test_an_interrupted_load_says_how_to_go_on(self):
        count = 100
        lines = ["user,item,at\n"] + ["u1,v%d,%d\n" % (i, NOW_MS) for i in range(count)]
        path = self.path("it's a log.csv")
        for sent, state in ((signal.SIGINT, None), (signal.SIGTERM, self.path("state.json"))):
            flags = ["--resume", state] if state else ["--skip=0"]
            db = self.path("db-%d" % sent)
            os.mkfifo(path)  # of which half can be read, however fast the machine is
            process = subprocess.Popen(
                [tool_binary(), "load", path, "--db", db, *CLOCK, "--batch", "5", *flags],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(process.kill)
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(lines[:count // 2])
                file.flush()
                self.wait_for_rows(db, "u1")
                process.send_signal(sent)
                done = self.stopped(process)
            os.remove(path)
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(lines)
            self.assertEqual(done.code, 128 + sent, done)
            self.assertIn("plays accepted", done.out)
            found = re.search(r"interrupted after row ([\d,]+); what was accepted stays\. To go on: ",
                              done.err)
            rows = int(found.group(1).replace(",", ""))
            self.assertTrue(0 < rows < count, rows)
            if not state:
                self.assertIn(" --skip %d\n" % rows, done.err)
                self.assertNotIn("--skip=0", done.err)
            done = self.pasted(done.err)
            self.assertEqual(done.code, OK, done)
            self.assertIn("went on after row %s\n" % found.group(1), done.out)
            self.assertIn("%s rows: " % format(count, ","), done.out)
            os.remove(path)

    def test_an_interrupted_load_of_a_pipe(self):
        rows = ["u1,v%d,%d\n" % (i, NOW_MS) for i in range(7)]
        process = subprocess.Popen(
            [tool_binary(), "load", "-", "--format", "csv", "--db", self.db, *CLOCK, "--batch", "5",
             "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        process.stdin.write(("user,item,at\n" + "".join(rows) + "u1,cut").encode())
        process.stdin.flush()
        eventually(lambda: waits_for_input(process))
        process.send_signal(signal.SIGTERM)
        code = process.wait(60)
        done = Done(code, process.stdout.read(), process.stderr.read())
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()
        self.assertEqual(done.code, 128 + signal.SIGTERM, done)
        self.assertEqual((done.json["rows"], done.json["accepted"], done.json["interrupted"]),
                         (7, 7, True))
        self.assertEqual(done.error["code"], "interrupted")
        self.assertIn("To go on, with the same input from its beginning: ", done.error["message"])
        self.assertTrue(done.error["message"].endswith(" --skip 7"), done)
        items = ["v%d" % i for i in range(7)] + ["cut"]
        self.assertEqual(set(self.seen("u1", *items)), set(items[:7]), "no half row is taken")

    def test_gzip_by_content(self):
        text = "user,item,at\nu1,v1,%d\nu1,v2,%d\n" % (NOW_MS, NOW_MS)
        half = len(text) - 10
        packed = gzip.compress(text[:half].encode()) + gzip.compress(text[half:].encode())
        self.assertEqual(self.load(self.write("a.csv.gz", packed))["accepted"], 2)
        self.assertEqual(self.load(self.write("b.csv", packed))["accepted"], 2)
        self.assertEqual(self.load("-", "--format", "csv", stdin=packed)["accepted"], 2)
        self.assertEqual(self.load(self.write("c.csv.gz", text))["accepted"], 2)
        self.load(self.write("cut.csv.gz", packed[:-9]), code=DAMAGE)
        self.load(self.write("bad.csv.gz", packed[:20] + b"\xff\xff" + packed[22:]), code=DAMAGE)

    def test_other_delimiters(self):
        rows = [("user", "item", "at"), ("u1", "v;1", NOW_MS), ("u1", "v|2", NOW_MS)]
        def text(between):
            return "".join(between.join('"%s"' % cell for cell in row) + "\n" for row in rows)
        for name, flag, between in (("a.csv", ";", ";"), ("b.txt", "|", "|"), ("c.csv", "tab", "\t"),
                                    ("d.csv", "\\t", "\t")):
            report = self.load_text(name, text(between), "--delimiter", flag)
            self.assertEqual((report["accepted"], report["bad"]), (2, 0), name)
        self.assert_seen("u1", "v;1", "v|2")
        self.load_text("e.tsv", "user;item;at\nu1;v3;%d\n" % NOW_MS, "--delimiter", ";")
        self.assert_seen("u1", "v3")
        for flag in ("", "ab", '"', "é"):
            self.load(self.path("a.csv"), "--delimiter", flag, code=USAGE)
        self.load_text("f.ndjson", "", "--delimiter", ";", code=USAGE)

    def test_headers_with_blanks(self):
        row = "u1,v%%d,%d\n" % NOW_MS
        self.load_text("a.csv", "User ID,Video Id,Event Time\n" + row % 1)
        self.load_text("b.csv", "user, item, at\n" + row % 2)
        self.load_text("c.csv", "Who was it,The Item, When \n" + row % 3, "--user-column",
                       "Who was it", "--item-column=The Item", "--time-column", "When")
        self.assert_seen("u1", "v1", "v2", "v3")
        refused = self.load_text("d.csv", "Who was it,item,at\n" + row % 4, code=USAGE)
        self.assertIn("no user column in the header (Who was it, item, at)",
                      refused.error["message"])

        refused = self.load_text("e.csv", "user;item;at\nu1;v5;%d\n" % NOW_MS, code=USAGE)
        self.assertIn("by --delimiter ';'", refused.error["message"])

    def test_strict_stops(self):
        done = self.load_text("a.csv", "user,item,at\nu1,v1,%d\nbad\nu1,v2,%d\n" % (NOW_MS, NOW_MS),
                              "--strict", code=USAGE)
        self.assertIn("row 2", done.error["message"])
        self.assertEqual(set(self.seen("u1", "v1", "v2")), {"v1"})

    def test_resume_goes_on_where_it_stopped(self):
        state = self.path("state.json")
        rows = ["u1,v%d,%d\n" % (i, NOW_MS) for i in range(10)]
        path = self.write("a.csv", "user,item,at\n" + "".join(rows[:6]) + "bad\n")
        done = self.load(path, "--resume", state, "--strict", "--batch", "2", code=USAGE)
        self.assertEqual(done.json["accepted"], 6)
        # The bad row is mended and the log has grown.
        self.write("a.csv", "user,item,at\n" + "".join(rows))
        report = self.load(path, "--resume", state)
        self.assertEqual((report["resumed_after_row"], report["rows"], report["accepted"]),
                         (6, 10, 10))
        self.assert_seen("u1", *["v%d" % i for i in range(10)])
        again = self.load(path, "--resume", state)
        self.assertEqual((again["resumed_after_row"], again["rows"], again["plays_per_s"]),
                         (10, 10, 0))
        with open(state, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["rows"], 10)
        self.assertEqual([name for name in os.listdir(self.folder) if "part" in name], [])

    def test_resume_refuses_another_log(self):
        state = self.path("state.json")
        path = self.write("a.csv", "user,item,at\nu1,v1,%d\n" % NOW_MS)
        self.load(path, "--resume", state)
        self.load(self.write("b.csv", "user,item,at\n"), "--resume", state, code=USAGE)
        self.load(path, "--resume", path, code=USAGE)
        self.write("a.csv", "user,item,at\n")
        self.load(path, "--resume", state, code=USAGE)

    def test_resume_knows_its_log(self):
        """New rows on top, or other columns: the state is of another log, and is left as it is."""
        state, old = self.path("state.json"), "".join("u1,v%d,%d\n" % (i, NOW_MS) for i in range(5))
        path = self.write("a.csv", "user,item,at\n" + old)
        self.load(path, "--resume", state)
        self.write("a.csv", "user,item,at\nu1,new,%d\n" % NOW_MS + old)
        done = self.load(path, "--resume", state, code=USAGE)
        self.assertIn("without --resume", done.error["message"])
        self.assertEqual(self.load(path)["accepted"], 6)
        self.write("a.csv", "user,item,at\n" + old + "u1,more,%d\n" % NOW_MS)
        done = self.load(path, "--resume", state, "--item-column", "user", code=USAGE)
        self.assertIn("other columns", done.error["message"])
        self.assertEqual(self.load(path, "--resume", state)["resumed_after_row"], 5)
        self.assert_seen("u1", "new", "more")

    def test_a_half_written_row_waits(self):
        forms = {"a.csv": "user,item,at\nu1,%s,%d", "a.tsv": "user\titem\tat\nu1\t%s\t%d",
                 "a.ndjson": '{"user":"u1","item":"%s","at":%d}'}
        for name, row in forms.items():
            state, text = self.path(name + ".state"), row % ("whole-" + name, NOW_MS)
            path = self.write(name, text[:-4])
            self.assertTrue(self.load(path, "--resume", state)["last_row_waits"])
            self.write(name, text + "\n")
            report = self.load(path, "--resume", state)
            self.assertEqual((report["rows"], report["last_row_waits"]), (1, False))
            self.assert_seen("u1", "whole-" + name)

    def test_a_quote_without_its_pair_costs_one_row(self):
        rows = ["u1,v%d,%d" % (i, NOW_MS) for i in range(30)]
        rows[3] = 'u1,"v3,%d' % NOW_MS
        rows[8] = 'u1,v8",%d' % NOW_MS
        path = self.write("a.csv", "user,item,at\n" + "\n".join(rows) + "\n")
        report = self.load(path, "--max-refused", "10%")
        self.assertEqual((report["rows"], report["bad"]), (30, 1))
        self.assertEqual([(one["kind"], one["row"]) for one in report["odd_ids"]], [("quote", 9)])
        self.assert_seen("u1", *["v%d" % i for i in range(30) if i not in (3, 8)])

    def test_exports_of_one_person(self):
        day = time.strftime("%Y-%m-%d", time.gmtime(NOW_MS // 1000))
        path = self.write("viewing.csv", 'Title,Date\r\nA film,%s\r\n"One: ""Two""",%s\r\n' % (day, day))
        self.assertIn("--user", self.load(path, "--item-column", "Title", code=USAGE).error["message"])
        self.load(path, "--item-column", "Title", "--user", "u1")
        self.assert_seen("u1", "A film", 'One: "Two"')
        rows = [{"at": NOW_MS, "track": {"id": "t%d" % i}} for i in range(3)]
        path = self.write("history.json", json.dumps(rows, indent=2))
        self.assertEqual(self.load(path, "--item-column", "/track/id", "--user", "u1")["accepted"], 3)
        self.assert_seen("u1", "t0", "t2")
        done = self.load(self.write("z.csv", "PK\x03\x04"), code=USAGE)
        self.assertIn("a zip archive", done.error["message"])

    def test_an_array_that_is_cut_short_is_told(self):
        rows = ",\n".join('{"user":"u1","item":"v%d","at":%d}' % (i, NOW_MS) for i in range(3))
        done = self.load(self.write("cut.json", "[" + rows + ","), code=USAGE)
        self.assertIn("a JSON array that ends before its ]", done.error["message"])
        self.assert_seen("u1", "v0", "v1", "v2")
        self.assertEqual(self.load(self.write("none.json", "[]\n"))["rows"], 0)

    def test_the_summary_says_how_rows_were_understood(self):
        path = self.write("a.tsv", "1\tu1\tx\tN1 N2 N3\n")
        flags = ["--no-header", "--user-column", "2", "--item-column", "4", "--now"]
        out = self.in_db("load", path, *flags).out
        self.assertIn("read: user from column 2, item from column 4, all played now\n", out)
        self.assertIn('first row: user "u1", item "N1 N2 N3", now\n', out)
        self.assertIn("--item-separator", out)
        self.assertEqual(self.load(path, *flags, "--item-separator", " ")["accepted"], 3)
        self.assert_seen("u1", "N1", "N2", "N3")

    def test_refusals_before_anything_is_loaded(self):
        path = self.write("a.csv", "user,item,at\nu1,v1,%d\n" % NOW_MS)
        self.load(path, "--collection", "nope", code=NOT_FOUND)
        self.load(path, "--format", "xml", code=USAGE)
        self.load(path, "--time-unit", "weeks", code=USAGE)
        self.load(self.write("plain", "user,item,at\n"), code=USAGE)
        self.load(self.write("empty.csv", ""), code=USAGE)

    def rows_of(self, state):
        """Rows that a state counts; a load writes its state before the first row, too."""
        if not os.path.exists(state):
            return 0
        with open(state, encoding="utf-8") as file:
            return json.load(file)["rows"]

    def test_a_killed_load_resumes_without_loss(self):
        count = 200_000
        path = self.path("a.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("user,item,at\n")
            for i in range(count):
                file.write("u%d,v%d,%d\n" % (i % 7, i, NOW_MS))
        state = self.path("state.json")
        command = [tool_binary(), "load", path, "--db", self.db, *CLOCK, "--resume", state,
                   "--batch", "100"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and self.rows_of(state) == 0:
            time.sleep(0.001)
        process.kill()
        process.wait()
        rows = self.rows_of(state)
        self.assertGreater(rows, 0)
        report = self.load(path, "--resume", state)
        self.assertGreaterEqual(report["resumed_after_row"], rows)
        self.assertEqual((report["rows"], report["accepted"]), (count, count))
        for user in range(7):
            items = ["v%d" % i for i in range(user, count, 7)][::97]
            self.assert_seen("u%d" % user, *items)

    def test_progress_is_drawn_on_a_terminal_only(self):
        path = self.path("a.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("user,item,at\n" + "u1,v1,%d\n" % NOW_MS * 20_000)
        self.assertEqual(self.in_db("load", path).err, "")
        master, slave = pty.openpty()
        process = subprocess.Popen([tool_binary(), "load", path, "--db", self.db, *CLOCK],
                                   stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        drawn = b""
        while True:
            ready, _, _ = select.select([master], [], [], 60)
            self.assertTrue(ready, "no end in sight")
            try:
                piece = os.read(master, 4096)
            except OSError:
                break
            if not piece:
                break
            drawn += piece
        os.close(master)
        self.assertEqual(process.wait(), OK)
        self.assertRegex(drawn.decode(), r"\[=*>? *\] +\d+%  [\d,]+ rows")
        self.assertTrue(drawn.endswith(b"\r\x1b[K"), "wiped off at the end")


@unittest.skipUnless(os.path.isdir(DATA), "the real logs are not here (../shared/data)")
class RealLogTest(ToolCase):

    def load_at(self, name, now_ms):
        done = self.tool("load", os.path.join(DATA, name), "--db", self.db, "--json", "--clock",
                         "manual:%d" % now_ms, "--max-refused", "90%")
        return done.json

    def test_kuairand_events(self):
        # 8 May 2022, the last day of the log.
        report = self.load_at("kuairand_events.csv.zst", 1_652_054_400_000)
        self.assertEqual((report["rows"], report["bad"], report["refused"]), (228_329, 0, 0))
        self.assertEqual(report["accepted"], 228_329)

    def test_kuairand_into_the_history(self):
        now_ms = 1_652_054_400_000
        clock = ["--clock", "manual:%d" % now_ms]
        self.tool("collections", "put", "default", '{"history":{"enabled":true}}', "--db", self.db,
                  *clock)
        log = os.path.join(DATA, "kuairand_events.csv.zst")
        done = self.tool("load", log, "--db", self.db, "--json", *clock, "--progress-column",
                         "play_time_ms", "--duration-column", "duration_ms", "--span-unit", "ms")
        self.assertEqual((done.json["accepted"], done.json["bad"]), (228_329, 0))
        states = {}
        lines = subprocess.run(["zstd", "-dcq", log], capture_output=True, check=True).stdout
        for line in lines.decode().splitlines()[1:]:
            at, user, item, played, duration = line.split(",", 5)[:5]
            states.setdefault(user, {}).setdefault(item, []).append(
                (int(at), int(played) // 1000, int(duration) // 1000))
        for number, user in enumerate(sorted(states)[::500]):
            if number == 2:  # the first from the log alone, which each opening reads again
                for command in ("drain", "compact"):
                    self.tool(command, "--db", self.db, *clock)
            page = self.tool("history", user, "--limit", "1000", "--json", "--db", self.db, *clock)
            found = {entry["item"]: (entry["at"], entry["progress_s"], entry["duration_s"])
                     for entry in page.json["entries"]}
            self.assertEqual(set(found), set(states[user]))
            for item, state in found.items():
                newest = max(at for at, _, _ in states[user][item])
                self.assertIn(state, [one for one in states[user][item] if one[0] == newest])

    def test_online_retail(self):
        # 10 Dec 2011; what is older than six months is refused by the policy.
        report = self.load_at("online_retail.csv.zst", 1_323_475_200_000)
        self.assertEqual((report["rows"], report["bad"]), (406_829, 0))
        self.assertEqual(report["accepted"] + report["refused"], 406_829)
        self.assertGreater(report["accepted"], 200_000)
        self.assertGreater(report["refused"], 100_000)


if __name__ == "__main__":
    unittest.main()
