"""What the tests of clients share: a copy of the client's folder, a server, and the language's own tools."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from seendb_client import ROOT, Server  # noqa: E402

SKIPPED = 77


def skip_without(*programs):
    """Ends the test as skipped where a program is not there (tools/setup clients installs them)."""
    for program in programs:
        if shutil.which(program) is None:
            print("SKIPPED: %s is not there: the client is not tested (tools/setup clients)" % program)
            sys.exit(SKIPPED)


def main():
    """unittest.main() of a file whose one test may skip itself: then ctest takes the file as skipped."""
    result = unittest.main(exit=False).result
    for _, why in result.skipped:
        print("SKIPPED: " + why)
    sys.exit(1 if not result.wasSuccessful() else SKIPPED if result.skipped else 0)


class LanguageCase(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="seendb-client-")  # tools write beside their sources
        self.addCleanup(shutil.rmtree, self.folder)
        self.server = Server()
        self.addCleanup(self.server.close)

    def sources(self, language):
        path = os.path.join(self.folder, language)
        if not os.path.exists(path):
            shutil.copytree(os.path.join(ROOT, "clients", language), path,
                            ignore=shutil.ignore_patterns("node_modules", "dist", "target", "build"))
        return path

    def attempt(self, language, command, environment=None):
        """How the command ends in a copy of the client's folder."""
        return subprocess.run(command, cwd=self.sources(language), capture_output=True, text=True,
                              env=dict(os.environ, SEENDB_URL="http://127.0.0.1:%d" % self.server.port,
                                       **(environment or {})), timeout=600, check=False)

    def run_there(self, language, command, environment=None):
        done = self.attempt(language, command, environment)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-8000:])
        return done
