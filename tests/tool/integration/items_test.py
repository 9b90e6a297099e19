"""seendb items: the store of items of a server, and of a folder."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from seendb_client import Server
from tool_runner import INCOMPATIBLE, NOT_FOUND, OK, ROWS, run

SCHEMA = {"fields": [{"name": "author", "type": "text", "column": True},
                     {"name": "tags", "type": "list_text"}]}


class ItemsTest(unittest.TestCase):
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

    def test_from_schema_to_verify(self):
        self.assertIn("items schema --put", self.tool("items", code=INCOMPATIBLE).err)
        self.tool("items", "schema", "--put", json.dumps(SCHEMA))
        self.assertIn("list_text", self.tool("items", "schema").out)
        rows = [{"id": "v%d" % i, "version": 1, "set": {"author": "a%d" % (i % 7), "tags": ["\x1b[1m"]}}
                for i in range(20_000)]
        lines = "\n".join(json.dumps(row) for row in rows) + "\n\n"
        said = self.tool("items", "load", "-", stdin=lines).out
        self.assertIn("20,000 updates accepted, 0 refused", said)
        found = json.loads(self.tool("items", "get", "v8", "nobody", "--field", "author", "--json").out)
        self.assertEqual(found, {"items": [{"id": "v8", "version": 1, "fields": {"author": "a1"}}]})
        shown = self.tool("items", "get", "v8").out
        self.assertIn("author", shown)
        self.assertNotIn("\x1b", shown)
        self.assertIn("20,000", self.tool("items", "stats").out)

        # A line that is wrong is named by its number in the file; the others are taken.
        bad = '{"id":"w1","version":1}\n{"id":"w2","version":1,"set":{"author":7}}\n{"id":"w3","version":1}'
        done = self.tool("items", "load", "-", stdin=bad, code=ROWS)
        self.assertIn("line 2: /set/author: ", done.err)
        self.assertIn("2 updates accepted, 1 refused", done.out)

        self.server.terminate()
        done = run("items", "verify", "--db", self.server.db, "--json")
        self.assertEqual(json.loads(done.out), {"items": 20_002, "damaged": 0, "damaged_ids": []})
        done = run("items", "verify", "--db", os.path.dirname(self.server.db))
        self.assertEqual(done.code, NOT_FOUND, done)
        self.assertIn("there is no store of items", done.err)


if __name__ == "__main__":
    unittest.main()
