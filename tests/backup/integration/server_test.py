"""Backups of a running server, over HTTP."""

import glob
import hashlib
import json
import os
import re
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))

from tool_runner import DAMAGE, ToolCase, run  # noqa: E402
from seendb_client import Server  # noqa: E402

FORBIDDEN, USAGE, UNAVAILABLE = 9, 2, 7


def play(server, user, items):
    now_ms = int(time.time() * 1000)
    answer = server.post("/plays", {"events": [
        {"user": user, "item": item, "at": now_ms} for item in items]})
    assert answer.status == 200, answer


def unseen(server, user, items):
    return server.post("/filter", {"user": user, "items": items}).json["unseen"]


def stock(server, version):
    """Items and a set, all of this version."""
    updates = [{"id": "i%d" % item, "version": version, "set": {"author": "a%d of %d" % (item, version)}}
               for item in range(500)]
    for path, body in (("/items/schema", {"fields": [{"name": "author", "type": "text"}]}),
                       ("/sets/blocked", {"items": ["b%d" % (item * version) for item in range(300)]})):
        answer = server.put(path, body)
        assert answer.status in (200, 201), answer
    answer = server.post("/items", {"items": updates})
    assert answer.status == 200 and answer.json["accepted"] == len(updates), answer


def stocked(server):
    """All that stock put, as it is now."""
    items = server.post("/items/get", {"ids": ["i%d" % item for item in range(500)]}).json["items"]
    return items, server.get("/sets/blocked").json["items"]


def metric(server, name):
    found = re.search(r"(?m)^%s (\S+)$" % name, server.get("/metrics").body.decode())
    return float(found.group(1)) if found else None


class ServerTest(ToolCase):

    def setUp(self):
        super().setUp()
        self.backups = self.path("backups")

    def create(self, server, *args, code=0):
        return self.tool("backup", "create", self.backups, "--url", server.url, "--json", *args, code=code)

    def test_a_running_server_is_backed_up_and_restored(self):
        with Server(config={"engine": {"shards": 3}}) as server:
            server.put("/collections/video", {"bucket": "days:10", "window": 4, "retention": 4})
            for user in range(30):
                play(server, "u%d" % user, ["v%d" % item for item in range(20)])
            server.post("/admin/drain")
            server.post("/admin/compact")
            self.assertIsNone(metric(server, "seendb_last_backup_seconds"))
            first = self.create(server).json
            self.assertEqual((first["id"], first["shards"]), (1, 3))
            play(server, "late", ["v1"])
            second = self.create(server).json
            self.assertLess(second["new_bytes"], second["bytes"])
            play(server, "later", ["v1"])
            self.assertEqual(glob.glob(os.path.join(server.db, "tmp", "*")), [])
            state = server.get("/admin/backup").json
            self.assertEqual(state["last"]["id"], 2)
            self.assertEqual(state["last"]["bytes"], second["bytes"])
            self.assertEqual(metric(server, "seendb_last_backup_bytes"), second["bytes"])
            self.assertEqual(metric(server, "seendb_last_backup_new_bytes"), second["new_bytes"])
            told = metric(server, "seendb_last_backup_seconds")
            self.assertLess(abs(told - time.time()), 60)
            server.terminate()
            server.start()
            self.assertEqual(metric(server, "seendb_last_backup_seconds"), told)
            self.assertGreaterEqual(metric(server, "seendb_last_backup_duration_seconds"), 0)
        self.assertEqual(self.tool("backup", "verify", self.backups, "--json").json["damages"], [])
        self.tool("backup", "restore", self.backups, self.path("new"))
        self.tool("verify", "--db", self.path("new"))
        with Server(db=self.path("new")) as server:
            for user in range(30):
                self.assertEqual(unseen(server, "u%d" % user, ["v%d" % item for item in range(20)]), [])
            self.assertEqual(unseen(server, "late", ["v1"]), [])
            self.assertEqual(unseen(server, "later", ["v1"]), ["v1"])
            self.assertEqual({one["name"] for one in server.get("/collections").json["collections"]},
                             {"default", "video"})
            self.assertIsNone(metric(server, "seendb_last_backup_seconds"))

    def test_items_and_sets_are_in_it(self):
        wanted = {}
        with Server(config={"engine": {"shards": 2}}) as server:
            play(server, "u1", ["i1"])
            self.assertEqual(self.create(server).json["stores"], [])
            stock(server, 1)
            wanted["2"] = stocked(server)
            second = self.create(server).json
            self.assertEqual(second["stores"], ["items", "sets"])
            third = self.create(server).json
            self.assertLess(third["new_bytes"], second["new_bytes"])
            stock(server, 2)
            wanted["3"], wanted["4"] = wanted["2"], stocked(server)
            self.assertNotEqual(wanted["3"], wanted["4"])
            self.assertEqual(glob.glob(os.path.join(server.db, "tmp", "*")), [])
            server.terminate()
            fourth = self.tool("backup", "create", self.backups, "--db", server.db, "--json").json
            self.assertEqual((fourth["id"], fourth["stores"]), (4, ["items", "sets"]))
            self.tool("checkpoint", self.path("checkpoint"), "--db", server.db)
        listed = self.tool("backup", "list", self.backups, "--json").json["backups"]
        self.assertEqual([one["stores"] for one in listed], [[]] + 3 * [["items", "sets"]])
        self.assertIn("items, sets", self.tool("backup", "list", self.backups).out)
        self.assertEqual(self.tool("backup", "verify", self.backups, "--json").json["damages"], [])
        self.tool("backup", "restore", self.backups, self.path("1"), "--id", "1")
        self.assertFalse(os.path.exists(os.path.join(self.path("1"), "items")))
        for number in wanted:
            self.tool("backup", "restore", self.backups, self.path(number), "--id", number)
        for name, want in list(wanted.items()) + [("checkpoint", wanted["4"])]:
            checked = self.tool("verify", "--db", self.path(name), "--json").json
            self.assertEqual(checked["stores"]["stores"], ["items", "sets"])
            self.assertGreater(checked["stores"]["rows"], 500)
            with Server(db=self.path(name)) as server:
                self.assertEqual(stocked(server), want, name)
                self.assertEqual(unseen(server, "u1", ["i1", "i2"]), ["i2"])
        pruned = self.tool("backup", "prune", self.backups, "--keep", "1d", "--json").json
        self.assertEqual(pruned["kept"], [4])
        self.tool("backup", "restore", self.backups, self.path("again"))
        self.lose_items(self.path("again"), wanted["4"])

    def lose_items(self, db, want):
        """A damaged file of the items is named; a repair keeps the other items, and serves none that differs."""
        tables = glob.glob(os.path.join(db, "items", "*.sst"))
        table = max(tables, key=os.path.getsize)
        with open(table, "r+b") as file:
            file.seek(os.path.getsize(table) // 3)
            file.write(b"spoilt")
        name = "items/" + os.path.basename(table)
        self.assertIn(name, self.tool("verify", "--db", db, code=DAMAGE).out)
        repaired = self.tool("repair", "--db", db, "--json").json
        self.assertEqual([one["file"] for one in repaired["files"]], [name])
        self.assertEqual(self.tool("verify", "--db", db, "--json").json["stores"]["damaged"], 0)
        with Server(db=db) as server:
            items, members = stocked(server)
            self.assertEqual(members, want[1])
            self.assertLess(len(items), 500)
            self.assertEqual([one for one in items if one not in want[0]], [])

    def test_tables_are_brought_once(self):
        with Server(config={"engine": {"shards": 2}}) as server:
            for user in range(40):
                play(server, "u%d" % user, ["v%d" % item for item in range(50)])
            server.post("/admin/drain")
            server.post("/admin/compact")
            self.create(server)
            tables = {path for path in glob.glob(os.path.join(self.backups, "files", "*", "*"))}
            second = self.create(server).json
            added = set(glob.glob(os.path.join(self.backups, "files", "*", "*"))) - tables
            self.assertEqual(sum(os.path.getsize(path) for path in added), second["new_bytes"])
            for path in added:  # a table ends with RocksDB's magic number
                with open(path, "rb") as file:
                    self.assertFalse(file.read().endswith(b"\xf7\xcf\xf4\x85\xb7\x41\xe2\x88"), path)

    def test_only_an_admin_may(self):
        entries = [{"name": role, "role": role,
                    "sha256": hashlib.sha256((role + "-token").encode()).hexdigest()} for role in ("admin", "write")]
        tokens = self.write("tokens.json", json.dumps(entries))
        os.chmod(tokens, 0o600)
        admin, writer = self.write("admin", "admin-token"), self.write("writer", "write-token")
        with Server(config={"tokens_file": tokens}) as server:
            self.create(server, "--token-file", writer, code=FORBIDDEN)
            self.assertFalse(os.path.exists(self.backups))
            self.create(server, "--token-file", admin)

    def test_what_is_refused(self):
        with Server() as server:
            self.tool("backup", "create", self.backups, "--url", server.url, "--db", "db", code=USAGE)
            for body, field in (({}, "/id"), ({"id": 1, "bytes": 1, "new_bytes": -1, "took_ms": 1}, "/new_bytes"),
                                ({"id": 1, "bytes": 1, "new_bytes": 1, "took_ms": 1 << 63}, "/took_ms")):
                refused = server.post("/admin/backup", body)
                self.assertEqual((refused.status, refused.error["field"]), (400, field))
            self.assertNotIn("last", server.get("/admin/backup").json)
            self.assertEqual(server.post("/admin/backup/shards/x", {}).error["field"], "/partition")
            state = server.get("/admin/backup").json
            body = {"node": "backup-1", "run": "1", "format": state["format"], "uuid": "another",
                    "shards": state["shards"], "hash": state["hash"]}
            self.assertEqual(server.post("/admin/backup/shards/0", body).status, 409)
            self.assertEqual(state["stores"], [])
            body["uuid"] = state["uuid"]
            self.assertEqual(server.post("/admin/backup/shards/items", body).status, 404)
            self.assertEqual(server.post("/internal/shards/0/snapshot", body).status, 403)
        done = run("backup", "create", self.backups, "--url", "http://127.0.0.1:1", "--timeout", "1")
        self.assertEqual(done.code, UNAVAILABLE)

    def test_another_run_of_a_backup_ends_the_copies_of_the_one_before(self):
        with Server(config={"engine": {"shards": 3}}) as server:
            state = server.get("/admin/backup").json
            body = {"node": "backup-1", "run": "1", "sha256": True, "format": state["format"],
                    "uuid": state["uuid"], "shards": state["shards"], "hash": state["hash"]}
            first = server.post("/admin/backup/shards/0", body).json
            self.assertEqual(server.post("/admin/backup/shards/0", body).json["id"], first["id"])
            self.assertTrue(all(len(one["sha256"]) == 64 for one in first["files"]))
            second = server.post("/admin/backup/shards/1", dict(body, run="2"))
            self.assertEqual(second.status, 200)
            gone = server.request("GET", "/admin/backup/shards/0/%s/CURRENT" % first["id"],
                                  headers={"Range": "bytes=0-9"})
            self.assertEqual(gone.status, 404)
            fresh = server.post("/admin/backup/shards/0", dict(body, run="2")).json
            self.assertNotEqual(fresh["id"], first["id"])
            piece = server.request("GET", "/admin/backup/shards/0/%s/CURRENT" % fresh["id"],
                                   headers={"Range": "bytes=0-7"})
            self.assertEqual((piece.status, piece.body), (206, b"MANIFEST"))
            other = server.post("/admin/backup/shards/2", dict(body, node="backup-2", run="9"))
            self.assertEqual(other.status, 429)
            plain = dict(body, run="2")
            del plain["sha256"]
            for one in (fresh, second.json):
                ended = server.delete("/admin/backup/shards/%d/%s" % (one["partition"], one["id"]))
                self.assertEqual(ended.status, 200)
            self.assertNotIn("sha256", server.post("/admin/backup/shards/2", plain).json["files"][0])


if __name__ == "__main__":
    unittest.main()
