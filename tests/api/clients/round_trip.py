"""Makes a client from the document of a running server, compiles it and lets it do a round trip: a
policy, plays with a time, a filter of mixed ids, the history, and two refusals. The program
that does is kept in the folder of its language; all three do the same.

What is needed is fetched by tools/setup clients into build/clients; without it a test is skipped.
"""

import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
from seendb_client import ROOT, Server

FETCHED = os.path.join(ROOT, "build", "clients")
COMMAND_S = 600


class RoundTrip(unittest.TestCase):
    """One language: `make` compiles a client and returns the command that runs the program."""

    document = "/openapi.json"

    def make(self, document, folder):
        raise NotImplementedError

    def run_command(self, command, folder, **environment):
        ended = subprocess.run(command, cwd=folder, env=dict(os.environ, **environment), check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=COMMAND_S)
        said = ended.stdout.decode(errors="replace")
        self.assertEqual(ended.returncode, 0, "%s\n%s" % (" ".join(command[:8]), said[-8000:]))
        return said

    def test_round_trip(self):
        config = {"engine": {"shards": 1, "max_column_families": 60}}
        with tempfile.TemporaryDirectory(prefix="seendb-client-") as folder, \
                Server(config=config) as server:
            document = os.path.join(folder, "openapi.json")
            answer = server.get(self.document)
            self.assertFalse([path for path in answer.json["paths"]
                              if path.startswith(("/admin", "/internal"))])
            with open(document, "wb") as file:
                file.write(answer.body)
            program = self.make(document, folder)
            user, at = "client 100% of x/y", int(time.time() * 1000) - 60_000
            self.run_command(program + [server.url, user, str(at)], folder)
            seen = server.post("/filter", {"user": user, "items": ["7", "film", "8"]}).json
            self.assertEqual(seen["unseen"], ["8"])


def main(language, pins, *programs):
    """Runs the tests, or leaves with 77 where what was fetched for `language` is not what is pinned."""
    installed = os.path.join(FETCHED, language, "installed")
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        print("SKIPPED: no %s: run tools/setup clients" % ", ".join(missing))
        sys.exit(77)
    if not os.path.exists(installed) or not filecmp.cmp(os.path.join(HERE, pins), installed, False):
        print("SKIPPED: the generator of %s clients was not fetched, or is not what %s pins: run "
              "tools/setup clients where there is a network" % (language, pins))
        sys.exit(77)
    unittest.main()
