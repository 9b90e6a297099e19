"""The feed of clients/examples/python, with FastAPI in an environment of its own."""

import os
import subprocess
import sys

from language_case import ROOT, LanguageCase, main

PINS = os.path.join(ROOT, "tests", "support", "python_example_requirements.txt")


class ExampleTest(LanguageCase):

    def test_the_example(self):
        environment = os.path.join(self.folder, "environment")
        subprocess.run([sys.executable, "-m", "venv", environment], check=True, timeout=120)
        python = os.path.join(environment, "bin", "python")
        fetched = self.attempt("examples/python", [python, "-m", "pip", "install", "-q", "--require-hashes", "-r", PINS])
        if fetched.returncode != 0:
            self.assertNotIn("DO NOT MATCH", fetched.stderr)
            self.skipTest("pip can't install here: " + fetched.stderr[-500:])
        self.try_example("python", "feed.py", [python, "-B", "feed.py"],
                         {"PYTHONPATH": os.path.join(ROOT, "clients", "python", "src")})


if __name__ == "__main__":
    main()
