#!/usr/bin/env python3
"""Whatever a script of the project fetches is checked against the project's own checksums."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "demo", "kafka"))
import jars  # noqa: E402

# How a script fetches. Quotes and commas between words are left out before (a list of Python's).
FETCHERS = {
    "pip": r"\bpip3? (?:-\S+ )*(?:install|download)\b",
    "npm": r"\bnpm (?:ci|install|i|add|exec)\b|\bnpx ",
    "go": r"\bgo (?:install|get|run \S+@|mod download)\b",
    "maven": r"\bmvn -",
    "url": r"\b(?:curl|wget|aria2c) (?:-|\$|http)|\burlretrieve\b|\burlopen\b|\brequests\.get\b|\bgit clone http|"
           r"\bfile\(DOWNLOAD|\bFetchContent_|\bExternalProject_|\b(?:docker|podman) pull\b|^ADD http",
}
# Debian's packages (apt, debootstrap) are checked by apt: by the archive's signature.
# (script, fetcher): what it has to say, so that nothing unchecked is used, and the file of checksums.
CHECKED = {
    ("tools/setup", "pip"): ("--require-hashes -r $wanted", "tests/support/requirements.txt"),
    ("tools/demo/kafka/kafka.py", "maven"): ("jars.check(PINS", "tools/demo/kafka/jars.sha256"),
    ("tests/api/clients/fetch", "maven"): ("sha256sum --quiet -c $here/java/jars.sha256",
                                           "tests/api/clients/java/jars.sha256"),
    ("tests/api/clients/fetch", "pip"): ("--require-hashes -r $here/python/requirements.txt",
                                         "tests/api/clients/python/requirements.txt"),
    ("tests/api/clients/fetch", "go"): ("-mod=readonly", "tests/api/clients/go/go.sum"),
    ("tests/clients/integration/java_test.py", "maven"): ("jars.check(", "clients/java/jars.sha256"),
    ("tests/clients/integration/typescript_test.py", "npm"): ("npm ci --ignore-scripts",
                                                              "clients/typescript/package-lock.json"),
    ("tests/connect/clients/clients_test.py", "pip"): ("--require-hashes -r PINS",
                                                       "tests/connect/clients/python/requirements.txt"),
    ("tests/connect/clients/clients_test.py", "npm"): ("npm ci --ignore-scripts",
                                                       "tests/connect/clients/node/package-lock.json"),
    ("tests/connect/clients/clients_test.py", "go"): ("-mod=readonly", "tests/connect/clients/go/go.sum"),
    ("perf/languages.py", "maven"): ("jars.check(", "clients/java/jars.sha256"),
    ("perf/languages.py", "npm"): ("npm ci --ignore-scripts", "clients/typescript/package-lock.json"),
    ("perf/recipes/run", "pip"): ("--require-hashes -r PINS", "perf/recipes/requirements.txt"),
    ("tests/console/axe/fetch", "npm"): ("npm ci --ignore-scripts", "tests/console/axe/package-lock.json"),
    ("tests/model/quint/fetch", "npm"): ("npm ci --ignore-scripts", "tests/model/quint/package-lock.json"),
    ("tests/clients/integration/python_install_test.py", "pip"): (
        "--require-hashes -r PINS", "tests/support/python_client_requirements.txt"),
    ("tests/clients/integration/python_example_test.py", "pip"): (
        "--require-hashes -r PINS", "tests/support/python_example_requirements.txt"),
}
# These ask a server on this machine, or one that they were given.
LOCAL = {"clients/conformance/make.py", "clients/python/tests/test_conformance.py", "docker/compose.yaml", "docker/trial/http_client.py", "tools/demo/cluster/cluster.py", "tools/quickstart",
         "tests/clients/integration/language_case.py", "tests/api/integration/access_test.py", "tests/http/integration/tls_test.py"}
SCRIPT = re.compile(r"\.(py|sh|cmake|yaml|yml|in)$|(^|/)(CMakeLists\.txt|Dockerfile|[^./]+)$")


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def plain(text):
    """Without comments, ends of lines, quotes and commas: a command as a shell would have it."""
    text = re.sub(r"^\s*(#|<!--|\"\"\").*$", "", text, flags=re.M)
    return re.sub(r"[ \t]+", " ", re.sub(r"""["',\[\]]""", "", re.sub(r"\\\n", " ", text)))


def fetchers_of(text):
    return {name for name, pattern in FETCHERS.items() if re.search(pattern, plain(text), re.M)}


def scripts():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True,
                            text=True, check=True).stdout.splitlines()
    skipped = ("tests/fuzz/corpus/", "tests/golden/", "tests/lint/downloads_test.py")
    return [path for path in listed if SCRIPT.search(path) and not path.startswith(skipped)
            and os.path.isfile(os.path.join(ROOT, path))]


class DownloadsTest(unittest.TestCase):

    def test_every_fetch_is_known(self):
        found = set()
        for path in scripts():
            for fetcher in fetchers_of(text_of(path)):
                if fetcher != "url" or path not in LOCAL:
                    found.add((path, fetcher))
        self.assertEqual(found, set(CHECKED), "a script that fetches needs a row here, and checksums")

    def test_what_is_fetched_is_held_against_its_checksums(self):
        for (path, _), (said, pins) in CHECKED.items():
            self.assertIn(said, plain(text_of(path)), path)
            self.assertTrue(os.path.isfile(os.path.join(ROOT, pins)), pins)

    def test_the_search_finds_what_fetches(self):
        for fetcher, text in (("url", "curl -O $where"), ("url", "urllib.request.urlretrieve(a, b)"),
                              ("url", "wget \\\n  -q $there"), ("pip", '[venv, "-m", "pip", "install", "-q", "x"]'),
                              ("npm", '["npm", "install"]'), ("go", "go install x@latest"), ("maven", '["mvn", "-q"]'),
                              ("url", "FetchContent_Declare(x"), ("url", "ADD https://x.example/y /y")):
            self.assertEqual(fetchers_of(text), {fetcher}, text)
        self.assertEqual(fetchers_of("# curl -O x\napt-get install curl\n"), set())

    def test_pins_of_pip_have_hashes(self):
        for _, pins in CHECKED.values():
            if not pins.endswith("requirements.txt"):
                continue
            lines = [line for line in text_of(pins).replace("\\\n", " ").splitlines()
                     if line and not line.startswith(("#", "--"))]
            self.assertTrue(lines, pins)
            for line in lines:
                self.assertRegex(line, r"^[\w.-]+==\S+( ;.*?)?(\s+--hash=sha256:[0-9a-f]{64})+$", pins)

    def test_pins_of_npm_have_hashes(self):
        for lock in ("clients/typescript/package-lock.json", "tests/connect/clients/node/package-lock.json", "tests/console/axe/package-lock.json",
                     "tests/model/quint/package-lock.json"):
            packages = json.loads(text_of(lock))["packages"]
            self.assertGreater(len(packages), 1)
            for name, package in packages.items():
                if name:
                    self.assertRegex(package["integrity"], r"^sha512-", name)

    def test_pins_of_maven_have_what_the_projects_name(self):
        for pom, pins in (("tools/demo/kafka/pom.xml", "tools/demo/kafka/jars.sha256"),
                          ("tests/api/clients/java/pom.xml", "tests/api/clients/java/jars.sha256"),
                          ("clients/java/pom.xml", "clients/java/jars.sha256")):
            known = jars.pinned(os.path.join(ROOT, pins))
            for digest in known.values():
                self.assertRegex(digest, "^[0-9a-f]{64}$")
            tree = xml.etree.ElementTree.parse(os.path.join(ROOT, pom))
            named = [one for one in tree.iter() if one.tag.endswith("}dependency")]
            self.assertTrue(named, pom)
            for one in named:
                jar = "%s-%s.jar" % (one.find("{*}artifactId").text, one.find("{*}version").text)
                self.assertIn(jar, known, pom)

    def test_a_tool_of_go_is_taken_from_go_mod(self):
        fetch = plain(text_of("tests/api/clients/fetch"))
        self.assertNotRegex(fetch, r"go install \S+@")
        tool = re.search(r"go install (\S+)", fetch).group(1)
        self.assertIn('import _ "%s"' % tool, text_of("tests/api/clients/go/tools.go"))

    def test_other_jars_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            lib, pins = os.path.join(folder, "lib"), os.path.join(folder, "pins")
            os.mkdir(lib)

            def put(path, text):
                with open(path, "w", encoding="ascii") as file:
                    file.write(text)

            put(os.path.join(lib, "a.jar"), "abc")
            of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
            put(pins, of_abc + "  a.jar\n")
            jars.check(pins, lib)
            put(os.path.join(lib, "b.jar"), "abc")
            self.assertRaisesRegex(jars.Differs, "b.jar is not in", jars.check, pins, lib)
            put(pins, "%s  a.jar\n%s  b.jar\n" % (of_abc, of_abc))
            jars.check(pins, lib)
            put(os.path.join(lib, "a.jar"), "abd")
            self.assertRaisesRegex(jars.Differs, "a.jar is not the file", jars.check, pins, lib)
            os.remove(os.path.join(lib, "a.jar"))
            self.assertRaisesRegex(jars.Differs, "a.jar is not there", jars.check, pins, lib)


if __name__ == "__main__":
    unittest.main()
