"""pip installs the Python client into an environment of its own, and its tests pass there with numpy."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from seendb_client import ROOT, Server  # noqa: E402

FOLDER = os.path.join(ROOT, "clients", "python")
SKIPPED = 77


class InstalledTest(unittest.TestCase):

    def test_installed_with_numpy(self):
        with tempfile.TemporaryDirectory() as folder, Server() as server:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=120)
            python = os.path.join(folder, "bin", "python")
            sources = os.path.join(folder, "sources")  # setuptools writes beside what it builds
            subprocess.run(["cp", "-r", FOLDER, sources], check=True)
            installed = subprocess.run([python, "-m", "pip", "install", "-q", sources + "[numpy]"],
                                       capture_output=True, text=True, timeout=600, check=False)
            if installed.returncode != 0:
                self.skipTest("pip can't install here: " + installed.stderr[-500:])
            environment = dict(os.environ, SEENDB_URL="http://127.0.0.1:%d" % server.port,
                               SEENDB_INSTALLED="1")
            done = subprocess.run([python, "-B", "-m", "unittest", "discover", "-p", "test_*.py"],
                                  cwd=os.path.join(FOLDER, "tests"), env=environment,
                                  capture_output=True, text=True, timeout=600, check=False)
            self.assertEqual(done.returncode, 0, done.stderr[-8000:])
            self.assertNotIn("skipped", done.stderr)


if __name__ == "__main__":
    ended = unittest.main(exit=False).result
    sys.exit(1 if not ended.wasSuccessful() else SKIPPED if ended.skipped else 0)
