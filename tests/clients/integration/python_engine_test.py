"""The engine within Python, against the library of the build: its tests, and its declarations."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

from language_case import ROOT, SKIPPED

sys.path.insert(0, os.path.join(ROOT, "tests", "c", "integration"))
from library import LIBRARY, unusable  # noqa: E402

FOLDER = os.path.join(ROOT, "clients", "python")


class PythonEngineTest(unittest.TestCase):

    def test_its_own_tests(self):
        environment = dict(os.environ, SEENDB_LIBRARY=LIBRARY)
        done = subprocess.run([sys.executable, "-B", "-W", "error::ResourceWarning", "-m", "unittest", "test_engine"],
                              cwd=os.path.join(FOLDER, "tests"), env=environment, capture_output=True, text=True,
                              timeout=600, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-8000:])
        self.assertRegex(done.stderr, r"Ran (1[5-9]|[2-9]\d) tests")

    def test_its_declarations_are_the_header(self):
        done = subprocess.run([sys.executable, "-B", os.path.join(FOLDER, "generate_engine.py"), "--check"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_its_readme(self):
        with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as file:
            section = file.read().partition("## Without a server\n")[2].partition("\n## ")[0]
        blocks = re.findall(r"```python\n(.*?)```", section, re.S)
        self.assertEqual(["AsyncEngine" in block for block in blocks], [False, True])
        for block in blocks:
            self.assertRegex(block, r"(?m)^ *left = .* # \[\"v2\"\]$")
            with tempfile.TemporaryDirectory() as folder:
                script = os.path.join(folder, "readme.py")
                with open(script, "w", encoding="utf-8") as file:
                    file.write(block.replace("/var/lib/app/seen", os.path.join(folder, "db")) +
                               "\nassert left == [\"v2\"]\n")
                environment = dict(os.environ, SEENDB_LIBRARY=LIBRARY, PYTHONPATH=os.path.join(FOLDER, "src"))
                subprocess.run([sys.executable, "-B", script], env=environment, check=True, timeout=60)


if __name__ == "__main__":
    if unusable():
        print("SKIPPED: " + unusable())
        sys.exit(SKIPPED)
    try:
        import cffi  # noqa: F401
    except ImportError:
        print("SKIPPED: cffi is not there (Debian's python3-cffi): the engine in Python is not tested")
        sys.exit(SKIPPED)
    unittest.main()
