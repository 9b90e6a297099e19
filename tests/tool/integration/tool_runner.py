"""Runs the seendb tool for black-box tests. Python 3 standard library only."""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

DATA = os.path.join(ROOT, "..", "shared", "data")

OK, FAILED, USAGE, INCOMPATIBLE, DAMAGE, BUSY, NOT_FOUND, UNAVAILABLE, ROWS = range(9)

DAY_MS = 86_400_000
NOW_MS = 1_700_000_000_000  # 2023-11-14 22:13:20 UTC
CLOCK = ["--clock", "manual:%d" % NOW_MS]


def tool_binary():
    """The path of the binary under test."""
    named = os.environ.get("SEENDB_TOOL")
    if named:
        return named
    found = sorted(glob.glob(os.path.join(ROOT, "build", "*", "bin", "seendb")),
                   key=os.path.getmtime)
    if not found:
        raise RuntimeError("no seendb: build it or set SEENDB_TOOL")
    return found[-1]


class Done:
    """How a run ended."""

    def __init__(self, code, out, err):
        self.code, self.raw, self.err = code, out, err.decode(errors="replace")

    @property
    def out(self):
        return self.raw.decode(errors="replace")

    @property
    def json(self):
        return json.loads(self.raw)

    @property
    def error(self):
        return json.loads(self.err)["error"]

    def __repr__(self):
        return "exit %d\n--- out\n%s\n--- err\n%s" % (self.code, self.out[-4000:], self.err[-4000:])


def run(*args, stdin=b"", timeout=300, env=None):
    """Runs the tool to its end, with `env` on top of the environment."""
    done = subprocess.run([tool_binary(), *map(str, args)], input=stdin, capture_output=True,
                          timeout=timeout, check=False, env=dict(os.environ, **(env or {})))
    return Done(done.returncode, done.stdout, done.stderr)


class ToolCase(unittest.TestCase):
    """A test with a folder of its own; `self.db` in it is no database yet."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="seendb-tool-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.db = self.path("db")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
        return path

    def tool(self, *args, code=OK, stdin=b""):
        """Runs the tool and expects its exit code."""
        done = run(*args, stdin=stdin)
        self.assertEqual(done.code, code, "%r\n%r" % (args, done))
        return done

    def in_db(self, *args, code=OK, stdin=b""):
        """The same with --db and a clock that stands."""
        return self.tool(args[0], "--db", self.db, *CLOCK, *args[1:], code=code, stdin=stdin)

    def load_plays(self, plays, *args):
        """Records (user, item, at_ms) into the folder."""
        rows = "".join(json.dumps({"user": u, "item": i, "at": at}) + "\n" for u, i, at in plays)
        done = self.in_db("load", "-", "--format", "ndjson", "--json", *args, stdin=rows.encode())
        self.assertEqual(done.json["accepted"], len(plays), done)

    def seen(self, user, *items, args=None):
        """{item: reason} of the seen ones among `items`."""
        report = self.in_db("check", user, *items, "--json", *(args or [])).json
        return {row["item"]: row["reason"] for row in report["items"] if row["seen"]}
