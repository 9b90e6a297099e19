"""seendb sets: the sets of a server, and of a folder."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from seendb_client import Server
from tool_runner import NOT_FOUND, OK, run


class SetsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def tool(self, *args, code=OK, stdin=""):
        done = run(*args, "--url", self.server.url, stdin=stdin.encode())
        self.assertEqual(done.code, code, done)
        return done

    def test_from_put_to_verify(self):
        self.tool("sets", "get", "large", code=NOT_FOUND)
        ids = ["v%06d" % i for i in range(25_000)]
        said = self.tool("sets", "put", "large", "-", stdin="\n".join(ids) + "\n\nv000000\n").out
        self.assertIn("25,000 ids", said)
        self.assertEqual(self.tool("sets", "get", "large").out.split(), ids)
        self.assertEqual(self.tool("sets", "get", "large", "--limit", "3").out.split(), ids[:3])
        page = json.loads(self.tool("sets", "get", "large", "--json").out)
        self.assertEqual((page["items"], page["count"]), (ids, 25_000))
        self.assertNotIn("cursor", page)
        self.tool("sets", "put", "a/b \x1b[1m", "-", stdin="\x1b[1m\n42\n")
        listed = self.tool("sets").out
        self.assertIn("25,000", listed)
        self.assertNotIn("\x1b", listed)
        self.assertNotIn("\x1b", self.tool("sets", "get", "a/b \x1b[1m").out)
        self.tool("sets", "put", "none", "-")
        self.assertEqual(self.tool("sets", "get", "none").out, "")
        self.tool("sets", "delete", "none")
        self.tool("sets", "delete", "none", code=NOT_FOUND)
        done = run("sets", "put", "large", "-", "--url", self.server.url, stdin=b"a\n" + b"x" * 256)
        self.assertIn("id 2 is longer than 255 bytes", done.err)
        self.assertEqual(len(json.loads(self.tool("sets", "list", "--json").out)["sets"]), 2)

        self.server.terminate()
        done = run("sets", "verify", "--db", self.server.db, "--json")
        self.assertEqual(json.loads(done.out), {"sets": 2, "damaged": []})
        done = run("sets", "verify", "--db", os.path.dirname(self.server.db))
        self.assertEqual(done.code, NOT_FOUND, done)


if __name__ == "__main__":
    unittest.main()
