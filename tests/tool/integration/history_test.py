"""seendb history and seendb export, in a folder, beside a server and through it."""

import json
import unittest

from tool_runner import BUSY, DAY_MS, NOT_FOUND, NOW_MS, USAGE, ToolCase
from seendb_client import Server

POLICY = '{"bucket":"days:10","window":4,"retention":12,"history":{"enabled":true}}'


class HistoryTest(ToolCase):
    """One server with some history, drained and staged."""

    def setUp(self):
        super().setUp()
        self.server = Server(clock_ms=NOW_MS)
        self.addCleanup(self.server.close)
        self.addCleanup(lambda: self.server.forget_clients())  # pylint: disable=unnecessary-lambda
        self.folder_flags = ["--db", self.server.db, "--clock", "manual:%d" % NOW_MS]
        self.url_flags = ["--url", self.server.url]
        for name in ("video", "comic"):
            self.assertEqual(self.server.put("/collections/" + name, POLICY).status, 200)
        self.play("video", {"user": "u/1", "item": "v1", "at": NOW_MS - 5, "progress_s": 95,
                            "duration_s": 3_600, "device": "tv", "fields": {"a": [1, "é"]}},
                  {"user": "u/1", "item": "v2", "at": NOW_MS - DAY_MS, "progress_s": -1})
        self.assertEqual(self.server.post("/admin/drain").status, 200)
        self.play("video", {"user": "u/1", "item": 3, "at": NOW_MS - 3})
        self.play("comic", {"user": "u/1", "item": "k", "at": NOW_MS - 4})

    def play(self, collection, *events):
        answer = self.server.post("/plays", {"collection": collection, "events": events})
        self.assertEqual(answer.json["accepted"], len(events), answer)

    def both(self, *args):
        """The JSON of a command by folder and by server, which must not differ."""
        by_folder = self.tool(*args, "--json", *self.folder_flags)
        by_server = self.tool(*args, "--json", *self.url_flags)
        self.assertEqual(by_folder.out, by_server.out, args)
        self.assertEqual(self.tool(*args, *self.folder_flags).out,
                         self.tool(*args, *self.url_flags).out)
        return by_server.json

    def items(self, *args):
        return [entry["item"] for entry in self.both("history", "u/1", *args)["entries"]]

    def test_pages(self):
        page = self.both("history", "u/1")
        self.assertEqual([e["item"] for e in page["entries"]], ["3", "k", "v1", "v2"])
        self.assertEqual(page["entries"][2], {
            "collection": "video", "item": "v1", "at": NOW_MS - 5, "progress_s": 95,
            "duration_s": 3_600, "device": "tv", "fields": {"a": [1, "é"]}})
        self.assertEqual((page["degraded"], "cursor" in page), (False, False))
        self.assertEqual(self.items("--collection", "video"), ["3", "v1", "v2"])
        self.assertEqual(self.items("--collection", "comic,video", "--limit", "2"), ["3", "k"])
        cursor = self.both("history", "u/1", "--limit", "3")["cursor"]
        self.assertEqual(self.items("--limit", "3", "--cursor", cursor), ["v2"])
        self.assertEqual(self.both("history", "nobody"), {"entries": [], "degraded": False})

    def test_for_people(self):
        text = self.tool("history", "u/1", "--limit", "3", *self.folder_flags).out
        lines = text.splitlines()
        self.assertEqual(lines[0].split(),
                         ["AT", "COLLECTION", "ITEM", "PROGRESS", "OF", "DEVICE", "FIELDS"])
        self.assertRegex(lines[3], r"^2023-11-14 22:13:19\.995 +video +v1 +1 min 35 s +1 h 0 min "
                                   r"+tv +14 B$")
        self.assertRegex(lines[4], r"^more: --cursor \S+$")
        self.assertIn("finished", self.tool("history", "u/1", *self.url_flags).out)
        self.assertEqual(self.tool("history", "nobody", *self.url_flags).out, "nothing\n")

    def test_look_up(self):
        found = self.both("history", "u/1", "v2", "none", "3", "--collection", "video")
        self.assertEqual([e["item"] for e in found["entries"]], ["v2", "3"])
        self.both("history", "u/1", "lookup", "--collection", "video")

    def test_deletes_and_clears_through_the_server(self):
        self.play("video", {"user": "u/1", "item": "-odd", "at": NOW_MS - 9})
        done = self.tool("history", "--delete", "--collection", "video", *self.url_flags,
                         "--", "u/1", "v1", "3", "-odd")
        self.assertRegex(done.out, "^deleted in ")
        self.assertEqual(self.items(), ["k", "v2"])
        self.assertEqual(self.tool("history", "u/1", "--clear", "--collection", "comic", "--json",
                                   *self.url_flags).json["ok"], True)
        self.assertEqual(self.items(), ["v2"])
        self.tool("history", "u/1", "--clear", *self.url_flags)
        self.assertEqual(self.items(), [])
        inspect = ["inspect", "u/1", *self.url_flags]
        self.assertNotIn("forgotten_at_ms", self.tool(*inspect, "--json").json)
        done = self.tool("history", "u/1", "--clear", "--filter", "--collection", "video",
                         *self.url_flags)
        self.assertRegex(done.out, "^cleared the history and the filter of u/1 in ")
        self.assertEqual(list(self.tool(*inspect, "--json").json["forgotten_at_ms"]), ["video"])
        self.assertIn(", filter of video cleared 2023-11-14 22:13:20",
                      self.tool(*inspect).out)

    def test_writes_in_the_folder(self):
        for args in (["--clear"], ["--pause"], ["--resume"],
                     ["v1", "--delete", "--collection", "video"]):
            self.tool("history", "u/1", *args, *self.folder_flags, code=BUSY)
        self.server.terminate()
        read = ["history", "u/1", "--json", *self.folder_flags]
        self.tool("history", "u/1", "v1", "--delete", "--collection", "video", *self.folder_flags)
        self.assertEqual([e["item"] for e in self.tool(*read).json["entries"]], ["3", "k", "v2"])
        self.tool("history", "u/1", "--pause", *self.folder_flags)
        self.assertEqual(self.tool(*read, "--recording").json,
                         {"paused": True, "since_ms": NOW_MS})
        self.assertEqual(self.tool("history", "u/1", "--recording", *self.folder_flags).out,
                         "paused since 2023-11-14 22:13:20\n")
        self.tool("history", "u/1", "--resume", *self.folder_flags)
        self.tool("history", "u/1", "--clear", "--collection", "video", *self.folder_flags)
        self.assertEqual([e["item"] for e in self.tool(*read).json["entries"]], ["k"])
        self.tool("history", "u/1", "--clear", "--filter", "--collection", "video",
                  *self.folder_flags)
        self.assertEqual(list(self.tool("inspect", "u/1", "--json",
                                        *self.folder_flags).json["forgotten_at_ms"]), ["video"])
        self.server.start()
        self.assertEqual([e["item"] for e in
                          self.server.get("/users/u%2F1/history").json["entries"]], ["k"])
        self.assertEqual(self.server.get("/users/u%2F1/recording").json,
                         {"paused": False, "since_ms": NOW_MS})

    def test_inspect_tells_of_it(self):
        self.tool("history", "u/1", "--pause", *self.url_flags)
        for flags in (self.folder_flags, self.url_flags):
            report = self.tool("inspect", "u/1", "--json", *flags).json
            self.assertEqual([(h["collection"], h["bucket"], h["items"])
                              for h in report["history"]], [("video", "2023-11-09", 2)])
            self.assertTrue(report["paused"])
            text = self.tool("inspect", "u/1", *flags).out
            self.assertIn(", history paused\n", text)
            self.assertRegex(text, r"video +2023-11-09 +2 +0 +2 +\d+ B")

    def test_pauses_through_the_server(self):
        self.assertEqual(self.both("history", "u/1", "--recording"),
                         {"paused": False, "since_ms": 0})
        self.assertRegex(self.tool("history", "u/1", "--pause", *self.url_flags).out,
                         "^paused the history of u/1 in ")
        self.play("video", {"user": "u/1", "item": "unseen", "at": NOW_MS})
        self.assertEqual(self.items(), ["3", "k", "v1", "v2"])
        self.tool("history", "u/1", "--resume", *self.url_flags)
        self.assertEqual(self.both("history", "u/1", "--recording")["paused"], False)

    def test_refusals(self):
        for flags in (self.folder_flags, self.url_flags):
            for args in (["--delete"], ["--clear", "--pause"], ["v1", "--clear"], ["--filter"],
                         ["--pause", "--filter"],
                         # An empty variable of a script is not every collection, nor the first page.
                         ["--clear", "--collection", ""], ["--collection="], ["--cursor", ""],
                         ["--limit", "0"], ["--limit", "1001"], ["--cursor", "nonsense"]):
                self.tool("history", "u/1", *args, *flags, code=USAGE)
            self.tool("history", "x" * 256, *flags, code=USAGE)
            for args in ([], ["v1"], ["v1", "--delete"]):
                done = self.tool("history", "u/1", *args, "--collection", "nope", "--json",
                                 *self.url_flags, code=NOT_FOUND)
                self.assertEqual(done.error["field"], "/collection")
            for args in ([], ["v1"]):  # where no history is kept
                self.tool("history", "u/1", *args, "--collection", "default", *flags, code=NOT_FOUND)
            self.tool("export", "u/1", "--collection", "video", *flags, code=USAGE)
            self.tool("export", "x" * 256, *flags, code=USAGE)

    def test_export(self):
        rows = [{"user": "u/1", "item": i, "at": NOW_MS - 1_000 - i} for i in range(250)]
        self.server.ndjson("/plays?collection=comic", rows)
        self.assertEqual(self.server.post("/admin/drain").status, 200)
        # What it keeps is part of it still.
        self.assertEqual(self.server.put("/collections/comic",
                                         {"history": {"enabled": False}}).status, 200)
        served = self.server.get("/users/u%2F1/export").lines
        by_server = [json.loads(line) for line in
                     self.tool("export", "u/1", *self.url_flags).out.splitlines()]
        self.assertEqual(by_server, served)
        self.assertEqual([line["type"] for line in served],
                         ["user"] + 3 * ["collection"] + 254 * ["history"] + ["end"])
        self.assertEqual(served[-1], {"type": "end", "collections": 3, "entries": 254,
                                      "degraded": False})
        # What the short-term store still holds in the server is no part of a folder's ring.
        by_folder = [json.loads(line) for line in
                     self.tool("export", "u/1", *self.folder_flags).out.splitlines()]
        for line in by_folder + by_server:
            line.pop("ring", None)
        self.assertEqual(by_folder, by_server)


if __name__ == "__main__":
    unittest.main()
