"""pip installs the Python client into an environment of its own, and its tests pass there with numpy."""

import os
import subprocess
import sys

from language_case import ROOT, LanguageCase, main


class InstalledTest(LanguageCase):

    def test_installed_with_numpy(self):
        environment = os.path.join(self.folder, "environment")
        subprocess.run([sys.executable, "-m", "venv", environment], check=True, timeout=120)
        python = os.path.join(environment, "bin", "python")
        installed = self.attempt("python", [python, "-m", "pip", "install", "-q", ".[numpy]"])
        if installed.returncode != 0:
            self.skipTest("pip can't install here: " + installed.stderr[-500:])
        tests = os.path.join(ROOT, "clients", "python", "tests")
        done = self.run_there("python", [python, "-B", "-m", "unittest", "discover", "-p", "test_*.py", "-s", tests],
                              {"SEENDB_INSTALLED": "1"})
        self.assertNotIn("skipped", done.stderr)


if __name__ == "__main__":
    main()
