"""The Java client's own tests, against a real server."""

import os
import pathlib
import re
import sys

from language_case import ROOT, LanguageCase, main, skip_without

sys.path.insert(0, os.path.join(ROOT, "tools", "demo", "kafka"))
import jars  # noqa: E402

FETCHED = os.path.expanduser("~/.m2/repository/com/fasterxml")  # where it is, mvn works without a network


class JavaClientTest(LanguageCase):

    def test_its_own_tests(self):
        fetched = self.attempt("java", ["mvn", "-q", "-B", "dependency:go-offline"])
        if fetched.returncode != 0 and not os.path.exists(FETCHED):
            self.skipTest("mvn can't fetch here: " + (fetched.stdout + fetched.stderr)[-500:])
        jars_there = os.path.join(self.folder, "jars")
        self.run_there("java", ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=" + jars_there])
        jars.check(os.path.join(ROOT, "clients", "java", "jars.sha256"), jars_there)
        self.run_there("java", ["mvn", "-q", "-B", "verify"])
        reports = os.path.join(self.sources("java"), "target", "surefire-reports")
        told = "".join(pathlib.Path(reports, name).read_text(encoding="utf-8")
                       for name in os.listdir(reports) if name.endswith(".txt"))
        counts = [tuple(map(int, one)) for one in
                  re.findall(r"Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)", told)]
        self.assertEqual(len(counts), 5)
        self.assertGreaterEqual(sum(run for run, *_ in counts), 40)
        self.assertEqual([rest for _, *rest in counts], [[0, 0, 0]] * 5)
        classes = [os.path.join(self.sources("java"), "target", "classes"), os.path.join(jars_there, "*")]
        self.try_example("java", "Feed.java", ["java", "-cp", os.pathsep.join(classes), "Feed.java"])


if __name__ == "__main__":
    skip_without("mvn", "javac")
    main()
