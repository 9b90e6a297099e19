"""The Python client's own tests, against a real server; then its README, as it stands there."""

import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from seendb_client import ROOT, Server  # noqa: E402

FOLDER = os.path.join(ROOT, "clients", "python")
EXPECTED = re.compile(r"^(.*?)\s+# (\[.*?\])(?:,.*)?$")


class PythonClientTest(unittest.TestCase):

    def test_its_own_tests(self):
        with Server() as server:
            environment = dict(os.environ, SEENDB_URL="http://127.0.0.1:%d" % server.port)
            done = subprocess.run([sys.executable, "-B", "-W", "error::ResourceWarning", "-m",
                                   "unittest", "discover", "-p", "test_*.py"],
                                  cwd=os.path.join(FOLDER, "tests"), env=environment,
                                  capture_output=True, text=True, timeout=600, check=False)
            self.assertEqual(done.returncode, 0, done.stderr[-8000:])
            self.assertRegex(done.stderr, r"Ran [5-9]\d tests|Ran \d{3} tests")

    def test_its_readme(self):
        sys.path.insert(0, os.path.join(FOLDER, "src"))
        with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as file:
            blocks = [one for one in re.findall(r"```python\n(.*?)```", file.read(), re.S)
                      if "Engine(" not in one]  # python_engine_test.py runs that
        self.assertEqual(len(blocks), 3)
        with Server() as server:
            names, checked = {}, 0
            for block in blocks:
                block = block.replace("127.0.0.1:7373", "127.0.0.1:%d" % server.port)
                lines = []
                for line in block.splitlines():
                    expected = EXPECTED.match(line)
                    if expected:
                        line = "assert %s == %s" % expected.groups()
                        checked += 1
                    lines.append(line)
                exec(compile("\n".join(lines), "README.md", "exec"), names)
            self.assertEqual(checked, 3)
            self.assertEqual(names["found"].unseen, ["v2"])
            self.assertEqual(names["taken"], 5_000)
            names["c"].close()


if __name__ == "__main__":
    unittest.main()
