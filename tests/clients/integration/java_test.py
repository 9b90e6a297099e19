"""The Java client's own tests, against a real server."""

import os
import pathlib
import re
import subprocess
import unittest

from language_case import ROOT, LanguageCase, skip, skip_without


class JavaClientTest(LanguageCase):

    def test_its_own_tests(self):
        self.run_there("java", ["mvn", "-q", "-B", "verify"])
        reports = os.path.join(self.sources("java"), "target", "surefire-reports")
        told = "".join(pathlib.Path(reports, name).read_text(encoding="utf-8")
                       for name in os.listdir(reports) if name.endswith(".txt"))
        counts = [tuple(map(int, one)) for one in
                  re.findall(r"Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)", told)]
        self.assertEqual(len(counts), 2)
        self.assertGreaterEqual(sum(run for run, *_ in counts), 30)
        self.assertEqual([rest for _, *rest in counts], [[0, 0, 0]] * 2)


def skip_without_libraries():
    """Ends the test as skipped where mvn can't fetch what the client needs, and has not done so before."""
    fetched = subprocess.run(["mvn", "-q", "-B", "dependency:go-offline"], cwd=os.path.join(ROOT, "clients", "java"),
                             capture_output=True, text=True, timeout=600, check=False)
    if fetched.returncode != 0 and not os.path.exists(os.path.expanduser("~/.m2/repository/com/fasterxml")):
        skip("mvn can't fetch here: " + (fetched.stdout + fetched.stderr)[-500:])


if __name__ == "__main__":
    skip_without("mvn", "javac")
    skip_without_libraries()
    unittest.main()
