#!/usr/bin/env python3
"""What counts as passed, and which failed tests are tried once more."""

import contextlib
import io
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "lint"))

import summary  # noqa: E402


class SummaryTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, **results):
        """A file of results; two underscores in a name stand for a point."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("<testsuite>%s</testsuite>" % "".join(
                '<testcase name="%s" status="%s"/>' % (test.replace("__", "."), status)
                for test, status in results.items()))
        return path

    def failed_saying(self, test, out):
        path = os.path.join(self.folder, "said.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write('<testsuite><testcase name="%s" status="fail"><system-out>%s</system-out>'
                       "</testcase></testsuite>" % (test, out))
        return path

    def said(self, *args):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(summary.main(list(args)), 0)
        return out.getvalue().splitlines()

    def test_counts(self):
        path = self.file("a.xml", engine__A__B="run", tool__load__py="fail", api__x__py="disabled")
        said = self.said(path, path + "-none")
        self.assertIn("FAILED tool.load.py", said)
        self.assertEqual(said[-1], "1 passed, 1 failed, 1 skipped")

    def test_a_second_try_counts_and_is_named(self):
        first = self.file("a.xml", tool__load__py="fail", api__x__py="fail", http__y__py="run")
        second = self.file("b.xml", tool__load__py="run", api__x__py="fail")
        said = self.said(first, second)
        self.assertEqual(said[-1], "2 passed, 1 failed, 0 skipped")
        self.assertIn("FAILED api.x.py", said)
        self.assertIn("SECOND TRY tool.load.py: failed beside others, passed alone", said)

    def test_few_scripts_are_tried_again(self):
        self.assertEqual(self.said("--again", self.file("a.xml", tool__load__py="fail", z="run")),
                         [r"^(tool\.load\.py)$"])

    def test_what_is_not_tried_again(self):
        for failed in ({"engine__A__B": "fail"}, {"server__kill__py": "fail"},
                       {"server__history_kill__py": "fail"}, {"ingest__kills__py": "fail"},
                       {"simulation__Campaign__Runs": "fail"},
                       {"tool__load__py": "fail", "engine__A__B": "fail"},
                       {"tool__%s__py" % name: "fail" for name in ("a", "b", "c", "d")}):
            self.assertEqual(self.said("--again", self.file("a.xml", **failed)), [""], failed)

    def test_of_clusters_what_waited_or_lacked_something_is_tried_again(self):
        waited, wrong = "AssertionError: still not so after 30 s", "AssertionError: wrong: ['v']"
        lacked = "AssertionError: not answered in full: seed 1, []"
        for name in ("cuts", "kills"):
            one = [r"^(router\.%s\.py)$" % name]
            for out, again in ((waited, one), (lacked, one), (wrong, [""]), ("", [""]),
                               (waited + "\n" + wrong, [""]), (lacked + "\n" + waited, one)):
                path = self.failed_saying("router.%s.py" % name, out)
                self.assertEqual(self.said("--again", path), again)

    def test_beside_a_broker_or_an_old_store_waiting_too_long_is_tried_again(self):
        waited = "AssertionError: still not so after 30 s"
        for name, again in (("ingest.broker", [r"^(ingest\.broker\.py)$"]), ("ingest.kills", [""]),
                            ("migration.migration", [r"^(migration\.migration\.py)$"]),
                            ("migration.kill", [""]), ("transfer.moves", [r"^(transfer\.moves\.py)$"])):
            self.assertEqual(self.said("--again", self.failed_saying(name + ".py", waited)), again)
        self.assertEqual(self.said("--again", self.failed_saying("ingest.broker.py", "AssertionError: 1 != 2")),
                         [""])

    def test_what_failed_shows_its_last_lines(self):
        path = self.failed_saying("tool.x.py", "\n".join("line %d" % i for i in range(100)))
        said = self.said(path)
        self.assertEqual(said[:2], ["FAILED tool.x.py", "    line 85"])
        self.assertEqual(said[-2:], ["    line 99", "0 passed, 1 failed, 0 skipped"])


if __name__ == "__main__":
    unittest.main()
