"""What packages_test does where no tree of Debian can be made: it says so, is skipped, and leaves nothing."""

import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


class UnavailableTest(unittest.TestCase):

    def leaves_nothing(self, said, programs):
        """Runs it with `programs` as its PATH; `said` is why there is no tree."""
        with tempfile.TemporaryDirectory() as folder:
            scratch, packages = os.path.join(folder, "scratch"), os.path.join(folder, "packages")
            for path in (scratch, packages):
                os.mkdir(path)
            environment = dict(os.environ, TMPDIR=scratch, XDG_CACHE_HOME=os.path.join(folder, "cache"),
                               SEENDB_PACKAGES=packages, SEENDB_PACKAGES_AGAIN=packages, PATH=programs)
            done = subprocess.run([sys.executable, "-B", os.path.join(HERE, "packages_test.py")], env=environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual((done.returncode, os.listdir(scratch)), (77, []), done.stdout + done.stderr)
            self.assertIn("NO PACKAGES TESTED: ", done.stdout)
            if os.geteuid() == 0:
                self.assertIn(said, done.stdout)

    def test_without_debootstrap(self):
        with tempfile.TemporaryDirectory() as empty:
            self.leaves_nothing("there is no debootstrap", empty)

    def test_where_debootstrap_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "debootstrap")
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\necho no mirror\nexit 1\n")
            os.chmod(path, 0o755)
            self.leaves_nothing("debootstrap: no mirror", folder + os.pathsep + os.environ["PATH"])


if __name__ == "__main__":
    unittest.main()
