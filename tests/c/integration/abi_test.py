"""The binary interface of libseendb.so is the one that is noted (tests/c/libseendb.abi), and a change of it
is noticed (tools/abi)."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from library import LIBRARY, ROOT, SKIPPED, unusable

NOTED = os.path.join(ROOT, "tests", "c", "libseendb.abi")


def check(*options):
    return subprocess.run([os.path.join(ROOT, "tools", "abi"), "check", LIBRARY, *options],
                          capture_output=True, text=True, timeout=600, check=False)


class AbiTest(unittest.TestCase):

    def test_it_is_the_noted_one(self):
        done = check()
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_change_is_noticed(self):
        with open(NOTED, encoding="utf-8") as file:
            noted = file.read()
        self.assertNotRegex(noted, r"(?i)path=|/(?:home|root|usr|tmp)/")
        changes = {
            "a call that is gone": (r"seendb_stats", "seendb_status"),
            "another number of a code": (r"(name='SEENDB_BUSY' value=')5", r"\g<1>15"),
            "a shorter structure": (r"(class-decl name='seendb_filtered' size-in-bits=')\d+", r"\g<1>1024"),
        }
        for what, (pattern, other) in changes.items():
            changed = re.sub(pattern, other, noted)
            self.assertNotEqual(changed, noted, what)
            with self.subTest(what), tempfile.NamedTemporaryFile("w", suffix=".abi") as file:
                file.write(changed)
                file.flush()
                done = check("--noted", file.name)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("tools/abi --help", done.stderr)


if __name__ == "__main__":
    if unusable():
        print("SKIPPED: " + unusable())
        sys.exit(SKIPPED)
    if not shutil.which("abidiff"):
        print("SKIPPED: abidiff is not there (tools/setup test installs Debian's abigail-tools)")
        sys.exit(SKIPPED)
    unittest.main()
