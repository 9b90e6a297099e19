"""The scenarios of clients/conformance are what a server answers now."""

import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from seendb_client import ROOT  # noqa: E402


class ConformanceTest(unittest.TestCase):

    def test_the_scenarios_are_what_the_script_makes(self):
        script = os.path.join(ROOT, "clients", "conformance", "make.py")
        done = subprocess.run([sys.executable, "-B", script, "--check"], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr[-3000:])


if __name__ == "__main__":
    unittest.main()
