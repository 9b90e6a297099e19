"""The tool beside a running server, and through it."""

import json
import socket
import subprocess
import threading
import time
import unittest

from tool_runner import (BUSY, INCOMPATIBLE, NOT_FOUND, NOW_MS, OK, ROWS, UNAVAILABLE, USAGE, ToolCase,
                         run, tool_binary)
from seendb_client import Server, eventually, free_port


def start_server(case):
    """A server with a fresh database, which ends with the test."""
    server = Server(clock_ms=NOW_MS)

    def close():
        client = getattr(server.local, "client", None)
        if client:
            client.close()
        server.close()

    case.addCleanup(close)
    return server


WRITING = (["drain"], ["seal"], ["seal", "--bucket", "2023-11"], ["compact"], ["drop-expired"],
           ["erase", "u9"])


class BesideTest(ToolCase):
    """One server with some plays, staged ones and drained ones."""

    def setUp(self):
        super().setUp()
        self.server = start_server(self)
        self.folder_flags = ["--db", self.server.db, "--clock", "manual:%d" % NOW_MS]
        self.url_flags = ["--url", self.server.url]
        self.play("u1", "v1", "v2")
        self.assertEqual(self.server.post("/admin/drain").status, 200)
        self.play("u1", "v3")
        self.server.post("/impressions", {"user": "u1", "items": ["v4"], "at": NOW_MS})

    def play(self, user, *items):
        answer = self.server.post("/plays", {"events": [{"user": user, "item": item, "at": NOW_MS}
                                                        for item in items]})
        self.assertEqual(answer.json["accepted"], len(items), answer)

    def both(self, *args):
        """The JSON of a command by folder and by server, which must not differ."""
        by_folder = self.tool(*args, "--json", *self.folder_flags).json
        by_server = self.tool(*args, "--json", *self.url_flags).json
        self.assertEqual(by_folder, by_server, args)
        self.assertEqual(self.tool(*args, *self.folder_flags).out,
                         self.tool(*args, *self.url_flags).out)
        return by_server

    def test_folder_and_server_say_the_same(self):
        report = self.both("check", "u1", "v1", "v3", "v4", "v5")
        self.assertEqual([item.get("reason") for item in report["items"]],
                         ["play:2023-11", "ring", "impression", None])
        self.both("collections")

    def test_the_variable_names_the_server(self):
        check = ["check", "u1", "v1", "v5", "--json"]
        by_flag = self.tool(*check, *self.url_flags).json
        self.assertEqual(run(*check, env={"SEENDB_URL": self.server.url}).json, by_flag)
        nobody = {"SEENDB_URL": "http://127.0.0.1:%d" % free_port()}
        self.assertEqual(run(*check, *self.url_flags, env=nobody).json, by_flag, "the flag wins")
        self.assertEqual(run(*check, *self.folder_flags, env=nobody).json, by_flag, "--db wins")
        for args in (["stats"], ["drain"], ["load", "-", "--format", "csv"]):
            done = run(*args, stdin=b"user,item,at\n", env=nobody)
            self.assertEqual(done.code, UNAVAILABLE, done)
            self.assertIn("(named by SEENDB_URL)", done.err)
        done = run("stats", env={"SEENDB_URL": "nowhere"})
        self.assertEqual(done.code, USAGE)
        self.assertIn("SEENDB_URL nowhere: ", done.err)

    def test_the_admin_listener_has_a_variable(self):
        with Server(config={"admin_listen": "127.0.0.1:0"}) as server:
            admin = server.next_line().split()[-1]
            env = {"SEENDB_URL": server.url, "SEENDB_ADMIN_URL": admin}
            self.assertGreater(run("stats", "--json", env=env).json["shards"], 0)
            self.assertEqual(run("check", "u", "v", env=env).code, 0)
            for done in (run("stats", env={"SEENDB_URL": server.url}),
                         run("stats", "--url", server.url, env=env)):  # that one, and no other
                self.assertEqual(done.code, NOT_FOUND)
                self.assertIn("SEENDB_ADMIN_URL", done.err)
            self.assertEqual(run("stats", "--url", admin).code, 0)
            done = run("stats", env=dict(env, SEENDB_ADMIN_URL="nowhere"))
            self.assertEqual(done.code, USAGE)
            self.assertIn("SEENDB_ADMIN_URL nowhere: ", done.err)

    def test_inspect(self):
        # What the short-term store still holds in the server is no part of a folder's ring.
        def undrained(report):
            return dict(report, ring=[(s["collection"], s["bucket"], s["items"])
                                      for s in report["ring"] if not s["drained"]])
        by_folder = self.tool("inspect", "u1", "--json", *self.folder_flags).json
        by_server = self.tool("inspect", "u1", "--json", *self.url_flags).json
        self.assertEqual(undrained(by_folder), undrained(by_server))
        self.assertEqual(by_server["buckets"][0]["items"], 2)
        self.assertEqual(undrained(by_server)["ring"], [("default", "2023-11", 1)])
        self.assertEqual(len(by_server["impressions"][0]["entries"]), 1)
        text = self.tool("inspect", "u1", *self.url_flags).out
        self.assertRegex(text, r"default +2023-11 +list +2 ")
        strange = self.tool("inspect", "a/b?c d%é", "--json", *self.url_flags).json
        self.assertEqual(strange["user"], "a/b?c d%é")

    def test_a_load_of_which_nothing_is_taken_is_reported_at_once(self):
        before = self.server.get("/metrics").body.decode().count('code="422"')
        report = self.tool("load", "-", "--format", "csv", "--time-unit", "ms", "--json",
                           *self.url_flags, stdin=b"user,item,at\nu1,v1,1700000000\n",
                           code=ROWS).json
        self.assertEqual((report["accepted"], report["refused"], before), (0, 1, 0))
        self.assertIn("looks like seconds", report["refusals"][0]["error"])
        self.assertIn('route="POST /plays",code="422"} 1\n',
                      self.server.get("/metrics").body.decode(), "it was not repeated")

    def test_buckets_ring_stats(self):
        for flags in (self.folder_flags, self.url_flags):
            buckets = self.tool("buckets", "--json", *flags).json["buckets"]
            self.assertIn(("default", "2023-11", "open", True),
                          [(b["collection"], b["bucket"], b["state"], b["in_window"])
                           for b in buckets])
            self.assertIn("2023-11", self.tool("buckets", *flags).out)
            slots = self.tool("ring", "--json", *flags).json["slots"]
            self.assertEqual(sum(s["plays"] for s in slots
                                 if s["state"] in ("current", "closed")), 1, slots)
            self.assertIn("in memory", self.tool("ring", *flags).out)
            stats = self.tool("stats", "--json", *flags).json
            self.assertEqual((stats["ring_plays"], stats["shards"]), (1, 4))
            self.assertIn("ring_plays", self.tool("stats", *flags).out)

    def test_scan_verify_ldb_beside_the_server(self):
        rows = self.tool("scan", "--prefix", "seen/", "--json", *self.folder_flags).out
        self.assertEqual([json.loads(row)["key"] for row in rows.splitlines()], ["u1"])
        self.assertEqual(self.tool("verify", "--json", *self.folder_flags).json["damaged"], 0)
        shard = self.tool("inspect", "u1", "--json", *self.url_flags).json["shard"]
        self.assertIn("u1", self.tool("ldb", "--db", self.server.db, "--shard", shard, "scan",
                                      "--column_family=seen/default/2023-11", "--no_value").out)
        # The server goes on as before.
        self.play("u1", "v6")
        self.assertEqual(self.server.post("/filter", {"user": "u1", "items": ["v6", "v7"]})
                         .json["unseen"], ["v7"])

    def test_a_reader_sees_what_was_acknowledged_before_it_began(self):
        for i in range(10):
            self.play("u2", "w%d" % i)
            report = self.tool("check", "u2", "w%d" % i, "--json", *self.folder_flags).json
            self.assertTrue(report["items"][0]["seen"], i)

    def test_writing_in_the_folder_is_refused_while_the_server_has_it(self):
        for args in WRITING:
            done = self.tool(*args, "--json", *self.folder_flags, code=BUSY)
            self.assertEqual(done.error["code"], "busy")
            self.assertIn("--url", done.error["message"])
        self.tool("collections", "put", "x", *self.folder_flags, code=BUSY)
        path = self.write("a.csv", "user,item,at\n")
        self.tool("load", path, *self.folder_flags, code=BUSY)
        self.assertEqual(self.tool("check", "u1", "v1", "--json", *self.url_flags)
                         .json["items"][0]["reason"], "play:2023-11")

    def test_writing_through_the_server(self):
        self.play("u9", "v1")
        drained = self.tool("drain", "--json", *self.url_flags).json
        self.assertEqual((drained["ok"], drained["drained_plays"]), (True, 2))
        self.tool("seal", "--collection", "default", "--bucket", "2023-11", *self.url_flags)
        self.tool("seal", *self.url_flags)
        form = self.tool("inspect", "u1", "--json", *self.url_flags).json["buckets"][0]["form"]
        self.assertEqual(form, "sealed")
        self.tool("compact", *self.url_flags)
        self.tool("drop-expired", *self.url_flags)
        self.assertRegex(self.tool("erase", "u9", *self.url_flags).out, "^erased u9")
        self.assertRegex(self.tool("erase", "nobody", *self.url_flags).out,
                         "^erased nobody, of whom nothing was held, in ")
        self.assertEqual(self.server.post("/filter", {"user": "u9", "items": ["v1"]})
                         .json["unseen"], ["v1"])
        self.tool("seal", "--bucket", "2001-01", *self.url_flags, code=NOT_FOUND)

    def test_collections_through_the_server(self):
        put = ["collections", "put", *self.url_flags]
        self.tool(*put, "article", '{"bucket":"days:10","window":4,"retention":4}')
        self.server.post("/plays", {"collection": "article", "events": [{"user": "u", "item": 1}]})
        self.tool(*put, "article", '{"bucket":"month"}', code=INCOMPATIBLE)
        self.tool(*put, "article", '{"retention":0}', code=USAGE)
        self.tool(*put, "plain")
        self.assertEqual([c["name"] for c in self.both("collections")["collections"]],
                         ["article", "default", "plain"])

    def test_errors_of_the_server(self):
        self.tool("check", "u1", "v1", "--collection", "nope", *self.url_flags, code=NOT_FOUND)
        self.tool("inspect", "u1", "--collection", "nope", *self.url_flags, code=NOT_FOUND)
        done = self.tool("check", "u1", "x" * 256, "--json", *self.url_flags, code=USAGE)
        self.assertEqual(done.error["field"], "/items/0")
        self.tool("stats", "--url", self.server.url + "/elsewhere", code=NOT_FOUND)


class LoadThroughServerTest(ToolCase):

    def setUp(self):
        super().setUp()
        self.server = start_server(self)

    def load(self, *args, code=OK, url=None):
        return self.tool("load", *args, "--json", "--url", url or self.server.url, code=code)

    def seen_by(self, user, items):
        unseen = set(self.server.post("/filter", {"user": user, "items": items}).json["unseen"])
        return [item for item in items if item not in unseen]

    def test_a_generated_log(self):
        path = self.path("log.csv.zst")
        made = run("generate", "--users", "30", "--plays-per-user-median", "200", "--days", "10",
                   "--start-ms", NOW_MS - 10 * 86_400_000, "--out", path, "--json").json
        report = self.load(path).json
        self.assertEqual((report["accepted"], report["refused"], report["bad"]),
                         (made["plays"], 0, 0))
        self.assertGreater(report["plays_per_s"], 0)
        text = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
        items = {}
        for line in text.decode().splitlines()[1:]:
            user, item, _ = line.split(",")
            items.setdefault(user, set()).add(item)
        for user, played in items.items():
            self.assertEqual(set(self.seen_by(user, sorted(played))), played)

    def test_odd_ids_arrive_as_they_are(self):
        ids = ['q"uote', "back\\slash", "tab\there", "new\nline", "é日本", "0123", "+1", "\x01"]
        path = self.write("a.ndjson", "".join(
            json.dumps({"user": "u1", "item": item, "at": NOW_MS}) + "\n" for item in ids))
        self.assertEqual(self.load(path).json["accepted"], len(ids))
        self.assertEqual(self.seen_by("u1", ids), ids)
        self.assertEqual(self.seen_by("u1", ["123", "1"]), [])

    def test_what_players_say(self):
        self.server.put("/collections/video", {"history": {"enabled": True}})
        fields = '{ "n": 1e9, "text": "\\u00e9" }'
        path = self.write("a.ndjson", '{"user":"u1","item":"v1","at":%d,"played":95500,"screen":"tv"'
                                      ',"duration_s":240,"fields":%s}\n' % (NOW_MS, fields))
        self.load(path, "--collection", "video", "--progress-column", "played", "--device-column",
                  "screen", "--span-unit", "ms")
        answer = self.server.get("/users/u1/history?collection=video")
        self.assertIn(fields.encode(), answer.body, "as it is written")
        entry = answer.json["entries"][0]
        self.assertEqual((entry["progress_s"], entry["duration_s"], entry["device"]), (95, 0, "tv"))

    def test_refused_and_bad_rows_keep_their_numbers(self):
        rows = ["u1,v%d,%d" % (i, NOW_MS) for i in range(20)]
        rows[4] = "u1,old,1000000000"
        rows[9] = "bad"
        rows[15] = "u1,future,%d" % (NOW_MS + 40 * 86_400_000)
        path = self.write("a.csv", "user,item,at\n" + "\n".join(rows) + "\n")
        report = self.load(path, "--batch", "3", code=ROWS).json
        self.assertEqual((report["accepted"], report["refused"], report["bad"]), (17, 2, 1))
        self.assertEqual([one["row"] for one in report["refusals"]], [5, 16])
        self.assertEqual([one["row"] for one in report["bad_rows"]], [10])
        for one in report["refusals"]:
            self.assertTrue(one["error"], one)

    def test_into_a_collection(self):
        self.server.put("/collections/comic", {"bucket": "days:1", "window": 7, "retention": 7})
        path = self.write("a.csv", "user,item,at\nu1,v1,%d\n" % NOW_MS)
        self.load(path, "--collection", "comic")
        self.assertEqual(self.seen_by("u1", ["v1"]), [])
        answer = self.server.post("/filter", {"user": "u1", "items": ["v1"], "collection": "comic"})
        self.assertEqual(answer.json["seen"], 1)
        self.load(path, "--collection", "nope", code=NOT_FOUND)

    def test_goes_on_when_the_server_comes_back(self):
        port = free_port()
        self.server.terminate()
        self.server.start(port=port)
        state = self.path("state.json")
        process = subprocess.Popen(
            [tool_binary(), "load", "-", "--format", "csv", "--json", "--url", self.server.url,
             "--batch", "10", "--resume", state, "--retry", "60"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)

        def feed(numbers):
            rows = "".join("u1,v%d,%d\n" % (i, NOW_MS) for i in numbers)
            process.stdin.write(rows.encode())
            process.stdin.flush()

        def rows_done():
            try:
                with open(state, encoding="utf-8") as file:
                    return json.load(file)["rows"]
            except FileNotFoundError:
                return 0

        process.stdin.write(b"user,item,at\n")
        feed(range(10))
        eventually(lambda: rows_done() == 10)
        self.server.kill()
        feed(range(10, 20))
        time.sleep(0.5)
        self.assertIsNone(process.poll(), "it waits")
        self.assertEqual(rows_done(), 10)
        self.server.start(port=port)
        eventually(lambda: rows_done() == 20)
        process.stdin.close()
        out = process.stdout.read()
        self.assertEqual(process.wait(60), OK)
        self.assertEqual(json.loads(out)["accepted"], 20)
        self.assertEqual(self.seen_by("u1", ["v%d" % i for i in range(20)]),
                         ["v%d" % i for i in range(20)])

    def test_a_server_that_is_gone_for_long(self):
        path = self.write("a.csv", "user,item,at\n" + "".join(
            "u1,v%d,%d\n" % (i, NOW_MS) for i in range(50_000)))
        process = subprocess.Popen([tool_binary(), "load", path, "--url", self.server.url, "--batch",
                                    "10", "--retry", "1"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        eventually(lambda: self.seen_by("u1", ["v0"]))
        self.server.kill()
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, UNAVAILABLE, err)
        self.assertRegex(err.decode(), r"rows after [\d,]+ are not loaded: .*\. To go on: .*/seendb "
                         r"load .* --skip \d+\n")

    def test_nobody_there(self):
        path = self.write("a.csv", "user,item,at\nu1,v1,%d\n" % NOW_MS)
        began = time.monotonic()
        self.load(path, code=UNAVAILABLE, url="http://127.0.0.1:%d" % free_port())
        self.assertLess(time.monotonic() - began, 30, "a wrong address is no reason to wait")
        self.tool("stats", "--url", "http://127.0.0.1:%d" % free_port(), code=UNAVAILABLE)


class SilentServerTest(ToolCase):

    def test_a_server_that_never_answers_is_given_up(self):

        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            held = []
            threading.Thread(target=lambda: held.append(listener.accept()), daemon=True).start()
            began = time.monotonic()
            self.tool("stats", "--timeout", "1", "--url",
                      "http://127.0.0.1:%d" % listener.getsockname()[1], code=UNAVAILABLE)
            self.assertLess(time.monotonic() - began, 30)
            for connection, _ in held:
                connection.close()


if __name__ == "__main__":
    unittest.main()
