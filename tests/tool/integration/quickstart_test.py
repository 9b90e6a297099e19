"""The part of tools/quickstart that talks to the server, on logs as newcomers have them."""

import os
import subprocess
import sys
import time
import unittest

from tool_runner import ROOT, ToolCase, tool_binary
from seendb_client import Server

DEMO = os.path.join(ROOT, "tools", "demo", "demo.py")


class QuickstartTest(ToolCase):

    def show(self, name, content):
        self.write(name, content)
        with Server() as server:
            done = subprocess.run([sys.executable, "-B", DEMO, "show", server.url, self.path(name),
                                   tool_binary()], capture_output=True, text=True, timeout=120,
                                  check=False)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def test_a_log_of_which_the_user_played_everything(self):
        now = int(time.time())
        out = self.show("small.csv", "user,item,at\nu1,v1,%d\nu1,v2,%d\n" % (now, now - 60))
        self.assertIn("2 accepted, 0 refused, 0 bad rows", out)
        self.assertRegex(out, r"v1 +SEEN")
        self.assertRegex(out, r"not-played +unseen")
        self.assertRegex(out, r"not-played +SEEN +impression")

    def test_lines_that_are_no_json_and_no_utf_8_are_bad_rows(self):
        now = int(time.time())
        out = self.show("messy.ndjson",
                        b'not json\n{"user":"u1","item":"v1","at":%d}\n[1]\n'
                        b'{"user":"u\xff","item":"v2","at":%d}\n' % (now, now))
        self.assertIn("1 accepted, 0 refused, 3 bad rows", out)
        self.assertIn("row 1: ", out)

    def test_a_log_without_a_play_is_told(self):
        for name, content in (("none.ndjson", ""), ("none.csv", "user,item,at\n")):
            self.write(name, content)
            done = subprocess.run([sys.executable, "-B", DEMO, "newest", self.path(name)],
                                  capture_output=True, text=True, timeout=120, check=False)
            self.assertNotEqual(done.returncode, 0, name)
            self.assertRegex(done.stderr, r"^quickstart: no (plays|JSON objects) in [^\n]*\n$")


if __name__ == "__main__":
    unittest.main()
