"""The TypeScript client's own tests, against a real server."""

import glob
import os
import shutil
import subprocess
import tempfile
import unittest

from language_case import ROOT, LanguageCase, skip, skip_without


class TypeScriptClientTest(LanguageCase):
    installed = ""  # a copy of the client's folder with its compiler

    def sources(self, language):
        return os.path.join(self.installed, language)

    def test_its_own_tests(self):
        self.run_there("typescript", ["npm", "run", "build"])
        tests = sorted(glob.glob(os.path.join(self.sources("typescript"), "dist", "test", "*.test.js")))
        self.assertEqual(len(tests), 2)
        done = self.run_there("typescript", ["node", "--test", "--test-reporter=tap", *tests])
        self.assertIn("what was played is seen", done.stdout)
        self.assertRegex(done.stdout, r"# fail 0\n")
        self.assertRegex(done.stdout, r"# skipped 0\n")


def install(folder):
    """Copies the client there and fetches its compiler; ends as skipped where npm can't."""
    there = os.path.join(folder, "typescript")
    shutil.copytree(os.path.join(ROOT, "clients", "typescript"), there,
                    ignore=shutil.ignore_patterns("node_modules", "dist"))
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=there,
                          capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        skip("npm can't install here: " + done.stderr[-500:])


if __name__ == "__main__":
    skip_without("node", "npm")
    with tempfile.TemporaryDirectory(prefix="seendb-client-") as made:
        install(made)
        TypeScriptClientTest.installed = made
        unittest.main()
