"""seendb token: tokens that are made, listed and revoked in the file that a server reads."""

import hashlib
import json
import os
import re
import stat
import subprocess
import time
import unittest

from tool_runner import NOT_FOUND, OK, USAGE, ToolCase, run, tool_binary
from seendb_client import Server, eventually


class TokenTest(ToolCase):

    def setUp(self):
        super().setUp()
        self.file = self.path("tokens.json")

    def new(self, name, role="read", *flags):
        return run("token", "new", "--file", self.file, "--name", name, "--role", role, *flags)

    def entries(self):
        with open(self.file, encoding="utf-8") as file:
            return json.load(file)

    def test_a_new_token_is_shown_once_and_kept_nowhere(self):
        made = self.new("page", "write", "--collections", "video", "article", "--requests-per-s",
                        "500", "--decoded-bytes-per-s", "1e6", "--work-ms-per-s", "250",
                        "--priority", "low", "--share", "2", "--expires",
                        "2999-01-31T00:00:00+08:00")
        self.assertEqual(made.code, OK, made)
        self.assertRegex(made.out, r"\A[A-Za-z0-9_-]{43}\n\Z")
        token = made.out.strip()
        self.assertNotIn(token, made.err)
        self.assertIn("within 5 seconds, or at once by SIGHUP", made.err)
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o600)
        self.assertEqual(self.entries(), [{
            "name": "page", "sha256": hashlib.sha256(token.encode()).hexdigest(), "role": "write",
            "collections": ["video", "article"], "expires": "2999-01-31T00:00:00+08:00",
            "requests_per_s": 500.0, "decoded_bytes_per_s": 1e6, "work_ms_per_s": 250.0,
            "priority": "low", "share": 2.0}])
        report = self.new("other", "read", "--days", "30", "--json")
        self.assertEqual((report.code, report.err), (OK, ""))
        self.assertEqual(self.entries()[1]["sha256"],
                         hashlib.sha256(report.json["token"].encode()).hexdigest())
        ends = time.time() + 30 * 86_400
        self.assertIn(self.entries()[1]["expires"], [
            time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ends - late)) for late in range(60)])
        self.assertEqual(os.listdir(self.folder), ["tokens.json"])

    def test_the_list_tells_no_digest(self):
        self.new("page", "write", "--collections", "video", "--days", "30")
        self.new("operator", "admin")
        entries = self.entries() + [{"name": "old", "sha256": "ab" * 32, "role": "read",
                                     "expires": "2020-01-01T00:00:00Z", "requests_per_s": 0.5,
                                     "decoded_bytes_per_s": 1 << 20, "work_ms_per_s": 50}]
        with open(self.file, "w", encoding="utf-8") as file:
            json.dump(entries, file)
        text = run("token", "list", "--file", self.file).out
        rows = [re.split(r"  +", line) for line in text.splitlines()]
        self.assertEqual(rows[0], ["NAME", "ROLE", "COLLECTIONS", "EXPIRES", "STATE", "LIMITS",
                                   "SHA256"])
        self.assertEqual(rows[1][:3] + rows[1][4:6], ["page", "write", "video", "valid", "none"])
        self.assertEqual(rows[2][:6], ["operator", "admin", "all", "never", "valid", "none"])
        self.assertEqual(rows[3], ["old", "read", "all", "2020-01-01 00:00:00", "expired",
                                   "0.5/s requests, 1.0 MiB/s, 50/s ms of work", "abababab"])
        report = run("token", "list", "--file", self.file, "--json")
        self.assertEqual([(one["name"], one["expired"]) for one in report.json["tokens"]],
                         [("page", False), ("operator", False), ("old", True)])
        self.assertEqual(report.json["tokens"][2]["expires"], "2020-01-01T00:00:00Z")
        for one in entries:
            self.assertNotIn(one["sha256"][:9], text + report.out)

    def test_what_is_refused_changes_nothing(self):
        self.new("page")
        before = self.entries()
        for flags, said in ((("page",), "has a token of the name page already"),
                            (("a b",), "without spaces"),
                            (("x", "owner"), "owner"),
                            (("x", "read", "--collections", "?"), "/1/collections/0"),
                            (("x", "read", "--expires", "2999-01-31T00:00:00"), "its zone"),
                            (("x", "read", "--expires", "2020-01-31T00:00:00Z"), "in the past"),
                            (("x", "read", "--days", "3", "--expires", "2999-01-31T00:00:00Z"),
                             "one of them"),
                            (("x", "read", "--days", "0"), "--days")):
            refused = self.new(*flags)
            self.assertEqual((refused.code, refused.out), (USAGE, ""), flags)
            self.assertIn(said, refused.err)
        gone = run("token", "revoke", "--file", self.file, "--name", "nobody")
        self.assertEqual(gone.code, NOT_FOUND)
        os.chmod(self.file, 0o620)
        for words in (("new", "--name", "x", "--role", "read"), ("revoke", "--name", "page"),
                      ("list",)):
            refused = run("token", words[0], "--file", self.file, *words[1:])
            self.assertEqual(refused.code, USAGE)
            self.assertIn("chmod go-w", refused.err)
        self.assertEqual(self.entries(), before)

    def test_a_token_that_nobody_could_be_shown_is_told_of(self):
        with open("/dev/full", "wb") as full:
            failed = subprocess.run(
                [tool_binary(), "token", "new", "--file", self.file, "--name", "page", "--role",
                 "read"], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(failed.returncode, 1)
        self.assertIn(b"seendb token revoke --name page", failed.stderr)

    def test_a_server_takes_changes_over_by_itself(self):
        token = self.new("page").out.strip()
        config = {"tokens_file": self.file, "limits": {"failed_tokens_per_minute": 0}}
        with Server(config=config) as server:
            ask = lambda shown: server.get(
                "/collections", {"Authorization": "Bearer " + shown}).status
            self.assertEqual(ask(token), 200)
            other = self.new("other").out.strip()
            eventually(lambda: ask(other) == 200, timeout=60)
            revoked = run("token", "revoke", "--file", self.file, "--name", "page")
            self.assertEqual(revoked.code, OK)
            self.assertIn("within 5 seconds, or at once by SIGHUP", revoked.out)
            eventually(lambda: ask(token) == 401, timeout=60)
            self.assertEqual(ask(other), 200)


if __name__ == "__main__":
    unittest.main()
