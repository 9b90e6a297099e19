"""pip installs the Python client into an environment of its own, and its tests pass there with numpy and with
the engine for C."""

import os
import subprocess
import sys

from language_case import ROOT, LanguageCase, main

sys.path.insert(0, os.path.join(ROOT, "tests", "c", "integration"))
from library import LIBRARY, unusable  # noqa: E402

PINS = os.path.join(ROOT, "tests", "support", "python_client_requirements.txt")


class InstalledTest(LanguageCase):

    def test_installed_with_numpy_and_the_engine(self):
        environment = os.path.join(self.folder, "environment")
        subprocess.run([sys.executable, "-m", "venv", environment], check=True, timeout=120)
        python = os.path.join(environment, "bin", "python")
        pip = [python, "-m", "pip", "install", "-q"]
        fetched = self.attempt("python", [*pip, "--require-hashes", "-r", PINS])
        if fetched.returncode != 0:
            self.assertNotIn("DO NOT MATCH", fetched.stderr)
            self.skipTest("pip can't install here: " + fetched.stderr[-500:])
        self.run_there("python", [*pip, "--no-index", "--no-build-isolation", ".[numpy,engine]"])
        # All but test_conformance.py, which python_test.py runs.
        engine = {} if unusable() else {"SEENDB_LIBRARY": LIBRARY}
        tests = os.path.join(ROOT, "clients", "python", "tests")
        done = self.run_there("python", [python, "-B", "-m", "unittest", "discover", "-p", "test_[!c]*.py", "-s", tests],
                              {"SEENDB_INSTALLED": "1", **engine})
        if engine:
            self.assertNotIn("skipped", done.stderr)


if __name__ == "__main__":
    main()
