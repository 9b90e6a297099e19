#!/usr/bin/env python3
"""What of .github/workflows/release.yml can be told without running it."""

import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def text_of(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


WORKFLOW = text_of(".github", "workflows", "release.yml")


def scripts():
    """The shell scripts of the steps."""
    found = []
    for block in re.findall(r"^        run: \|\n((?:          .*\n|\n)+)", WORKFLOW, re.M):
        found.append(re.sub(r"(?m)^ {10}", "", block))
    return found


class ReleaseTest(unittest.TestCase):

    def test_every_step_is_a_script_that_bash_takes(self):
        self.assertEqual(len(scripts()), WORKFLOW.count("- name:"))
        for script in scripts():
            inner = re.findall(r"bash -euc '\n(.*?)\n *' ", script, re.S)
            for one in [script, *inner]:
                done = subprocess.run(["bash", "-n"], input=one, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), one)

    def test_what_it_names_is_there(self):
        named = {path for script in scripts()
                 for path in re.findall(r"(?<![\w./-])(?:/src/)?((?:tools|docker|tests|cmake)/[\w./-]+)", script)}
        self.assertGreaterEqual(len(named), 5)
        for path in named:
            self.assertTrue(os.path.exists(os.path.join(ROOT, path)), path)
        for preset in re.findall(r"--preset (\w+)", WORKFLOW):
            self.assertIn('"name": "%s"' % preset, text_of("CMakePresets.json"))

    def test_the_version_is_found(self):
        expression = re.search(r"sed -n '([^']*)' CMakeLists.txt", WORKFLOW)[1]
        found = subprocess.run(["sed", "-n", expression, os.path.join(ROOT, "CMakeLists.txt")], capture_output=True,
                               text=True, check=True).stdout
        self.assertRegex(found, r"^\d+\.\d+\.\d+\n$")

    def test_it_tests_before_it_publishes(self):
        order = [WORKFLOW.index(text) for text in ("docker/pin --check", "packages_test.py", "sha256sum",
                                                   "seendb ready", "docker push", "gh release create")]
        self.assertEqual(order, sorted(order))

    def test_the_image_is_of_the_digests_that_the_commit_has(self):
        calls = re.findall(r"docker/pin\b *(\S*)", re.sub(r"(^|\s)#.*", "", "\n".join(scripts())))
        self.assertEqual(calls, ["--check"])

    def test_checksums_name_the_files_as_they_are_published(self):
        [script] = [script for script in scripts() if "sha256sum" in script]
        self.assertRegex(WORKFLOW, r"gh release create [^|]* assets/\*\n")
        made = ("bookworm/seendb_0.1.0-1~deb12_amd64.deb", "trixie/seendb_0.1.0-1~deb13_amd64.deb",
                "trixie/seendb_0.1.0_trixie.cdx.json")

        def publish(*paths):
            with tempfile.TemporaryDirectory() as folder:
                for path in paths:
                    os.makedirs(os.path.join(folder, "out", os.path.dirname(path)), exist_ok=True)
                    with open(os.path.join(folder, "out", path), "w", encoding="utf-8") as file:
                        file.write(path)
                done = subprocess.run(["bash", "-eo", "pipefail", "-c", script], cwd=folder, capture_output=True,
                                      text=True, check=False)
                assets = os.path.join(folder, "assets")
                return done, sorted(os.listdir(assets)), subprocess.run(
                    ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=assets, capture_output=True, text=True,
                    check=False)

        done, files, checked = publish(*made)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(files, ["SHA256SUMS"] + sorted(os.path.basename(path).replace("~", ".") for path in made))
        self.assertEqual((checked.returncode, checked.stdout.count(": OK\n")), (0, 3), checked.stderr)
        for line in done.stdout.splitlines():
            self.assertRegex(line, r"^[0-9a-f]{64}  [\w.+-]+$")
        self.assertEqual(publish("bookworm/a~1", "trixie/a.1")[0].returncode, 1)

    def test_code_of_others_is_named_by_a_hash(self):
        for action in re.findall(r"uses: *(\S+)", WORKFLOW):
            self.assertRegex(action, r"@[0-9a-f]{40}$")

    def test_the_readme_runs_the_image_that_it_publishes(self):
        image = re.search(r"^  IMAGE: (\S+)$", WORKFLOW, re.M)[1]
        self.assertIn(" %s\n" % image, text_of("README.md"))


if __name__ == "__main__":
    unittest.main()
