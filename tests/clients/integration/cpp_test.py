"""The C++ client plays the scenarios of clients/conformance, and its README's program and its example run."""

import os
import re
import shutil
import subprocess
import sys
import unittest

from language_case import ROOT, SKIPPED, LanguageCase

BUILD = os.path.dirname(os.environ.get("SEENDB_BIN") or os.path.join(ROOT, "build", "dev", "bin"))
RUNNER = os.path.join(BUILD, "test", "client_conformance")
DOUBLE = os.path.join(BUILD, "test", "client_double")
LIBRARY = os.path.join(BUILD, "clients", "cpp", "libseendb_client.a")
CONFORMANCE = os.path.join(ROOT, "clients", "conformance")
FOLDER = os.path.join(ROOT, "clients", "cpp")


class CppClientTest(LanguageCase):

    def test_the_scenarios(self):
        liar = subprocess.Popen([sys.executable, "-B", os.path.join(CONFORMANCE, "liar.py")], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(liar.communicate)  # it ends with its input
        environment = dict(os.environ, SEENDB_URL=self.server.url, SEENDB_LIAR=liar.stdout.readline().strip())
        done = subprocess.run([RUNNER, CONFORMANCE], env=environment, capture_output=True, text=True,
                              timeout=600, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])
        told = re.search(r"(\d+) scenarios of a server, (\d+) of a liar, (\d+) of a double, (\d+) differ", done.stdout)
        played, lied, doubled, differ = map(int, told.groups())
        self.assertEqual((played > 170, lied > 80, doubled > 90, differ), (True, True, True, 0))

    def test_the_double(self):
        done = subprocess.run([DOUBLE], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def compiled(self, source):
        """A program of the source and the library."""
        compiler = shutil.which(os.environ.get("CXX", "c++"))
        if compiler is None or not os.path.exists(LIBRARY):
            self.skipTest("no compiler, or no " + LIBRARY)
        with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
            if re.search(r"^SEENDB_(?:SANITIZE:\w+=.+|COVERAGE:\w+=ON)$", file.read(), re.M):
                self.skipTest("the library needs what the build is instrumented with")
        program = os.path.join(self.folder, "program")
        subprocess.run([compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(FOLDER, "include"), source, LIBRARY,
                        "-lssl", "-lcrypto", "-pthread", "-o", program], check=True, timeout=300)
        return program

    def test_its_readme(self):
        with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as file:
            example = re.search(r"```cpp\n(#include.*?)```", file.read(), re.S).group(1)
        source = os.path.join(self.folder, "readme.cc")
        with open(source, "w", encoding="utf-8") as file:
            file.write(example.replace("http://127.0.0.1:7373", self.server.url))
        done = subprocess.run([self.compiled(source)], capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(done.stdout, "v2\nv2 v3\n")

    def test_the_example(self):
        program = self.compiled(os.path.join(ROOT, "clients", "examples", "cpp", "feed.cc"))
        self.try_example("cpp", "feed.cc", [program])


if __name__ == "__main__":
    if not os.path.exists(RUNNER):
        print("SKIPPED: %s is not built" % RUNNER)
        sys.exit(SKIPPED)
    unittest.main()
