"""The C++ client plays the scenarios of clients/conformance, and its README's example runs."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from seendb_client import ROOT, Server  # noqa: E402

SKIPPED = 77
BUILD = os.path.dirname(os.environ.get("SEENDB_BIN") or os.path.join(ROOT, "build", "dev", "bin"))
RUNNER = os.path.join(BUILD, "test", "client_conformance")
LIBRARY = os.path.join(BUILD, "clients", "cpp", "libseendb_client.a")
CONFORMANCE = os.path.join(ROOT, "clients", "conformance")
FOLDER = os.path.join(ROOT, "clients", "cpp")


class CppClientTest(unittest.TestCase):

    def test_the_scenarios(self):
        liar = subprocess.Popen([sys.executable, "-B", os.path.join(CONFORMANCE, "liar.py")], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(liar.communicate)  # it ends with its input
        with Server() as server:
            environment = dict(os.environ, SEENDB_URL=server.url, SEENDB_LIAR=liar.stdout.readline().strip())
            done = subprocess.run([RUNNER, CONFORMANCE], env=environment, capture_output=True, text=True,
                                  timeout=600, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])
        played, lied, differ = map(int, re.search(r"(\d+) scenarios of a server, (\d+) of a liar, (\d+) differ",
                                                  done.stdout).groups())
        self.assertEqual((played > 170, lied > 80, differ), (True, True, 0))

    def test_its_readme(self):
        compiler = shutil.which(os.environ.get("CXX", "c++"))
        if compiler is None or not os.path.exists(LIBRARY):
            self.skipTest("no compiler, or no " + LIBRARY)
        with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
            if re.search(r"^SEENDB_(?:SANITIZE:\w+=.+|COVERAGE:\w+=ON)$", file.read(), re.M):
                self.skipTest("the library needs what the build is instrumented with")
        with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as file:
            example = re.search(r"```cpp\n(#include.*?)```", file.read(), re.S).group(1)
        with tempfile.TemporaryDirectory() as folder, Server() as server:
            source, program = os.path.join(folder, "example.cc"), os.path.join(folder, "example")
            with open(source, "w", encoding="utf-8") as file:
                file.write(example.replace("http://127.0.0.1:7373", server.url))
            subprocess.run([compiler, "-std=c++20", "-I", os.path.join(FOLDER, "include"), source, LIBRARY,
                            "-lssl", "-lcrypto", "-pthread", "-o", program], check=True, timeout=300)
            done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=True)
            self.assertEqual(done.stdout, "v2\nv2 v3\n")


if __name__ == "__main__":
    if not os.path.exists(RUNNER):
        print("SKIPPED: %s is not built" % RUNNER)
        sys.exit(SKIPPED)
    unittest.main()
