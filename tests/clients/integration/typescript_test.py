"""The TypeScript client's own tests, against a real server."""

import unittest

from language_case import LanguageCase, skip, skip_without


class TypeScriptClientTest(LanguageCase):

    def test_its_own_tests(self):
        installed = self.attempt("typescript", ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        if installed.returncode != 0:
            skip("npm can't install here: " + installed.stderr[-500:])
        done = self.run_there("typescript", ["npm", "test"])
        self.assertIn("what was played is seen", done.stdout)
        self.assertRegex(done.stdout, r"# fail 0\n")
        self.assertRegex(done.stdout, r"# skipped 0\n")


if __name__ == "__main__":
    skip_without("node", "npm")
    unittest.main()
