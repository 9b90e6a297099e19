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

from tool_runner import ToolCase, run  # noqa: E402
from seendb_client import Server  # noqa: E402

FORBIDDEN, USAGE, UNAVAILABLE = 9, 2, 7


def play(server, user, items):
    now_ms = int(time.time() * 1000)
    answer = server.post("/plays", {"events": [
        {"user": user, "item": item, "at": now_ms} for item in items]})
    assert answer.status == 200, answer


def unseen(server, user, items):
    return server.post("/filter", {"user": user, "items": items}).json["unseen"]


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
