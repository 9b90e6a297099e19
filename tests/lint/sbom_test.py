#!/usr/bin/env python3
"""The bill of materials (tools/sbom): rules of CycloneDX 1.5, and whether it has everything."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SERVER, TOOL = os.environ.get("SEENDB_SERVER"), os.environ.get("SEENDB_TOOL")
TIME = 1_700_000_000
MEMBERS = {
    "bill": {"bomFormat", "specVersion", "serialNumber", "version", "metadata", "components", "dependencies"},
    "metadata": {"timestamp", "lifecycles", "tools", "component"},
    "component": {"type", "bom-ref", "name", "version", "scope", "hashes", "licenses", "purl", "properties"},
}
TYPES = {"application", "framework", "library", "container", "platform", "operating-system", "device",
         "device-driver", "firmware", "file", "machine-learning-model", "data"}
DIGITS = {"SHA-256": 64, "SHA-512": 128}
PURL = re.compile(r"pkg:(deb/\w+|pypi|npm|golang)/[\w./%+~-]+@[\w.%+~-]+(\?arch=\w+&distro=\w+-[\w.]+)?")


def run(*options, folder=None, epoch=TIME, **variables):
    environment = dict(os.environ, SOURCE_DATE_EPOCH=str(epoch), **variables)
    return subprocess.run([os.path.join(ROOT, "tools", "sbom"), "--bin", folder or os.path.dirname(SERVER), *options],
                          capture_output=True, text=True, env=environment, check=False)


def said(component, name):
    return [one["value"] for one in component.get("properties", []) if one["name"] == name]


def with_use(bill, use):
    return [one for one in bill["components"] if said(one, "seendb:use") == [use]]


class SbomTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        done = run("--tests")
        assert done.returncode == 0, done.stderr
        cls.text, cls.bill = done.stdout, json.loads(done.stdout)

    def check_component(self, one):
        self.assertLessEqual(set(one), MEMBERS["component"], one)
        self.assertIn(one["type"], TYPES)
        self.assertTrue(one["name"] and isinstance(one["name"], str), one)
        self.assertIn(one.get("scope", "required"), ("required", "optional", "excluded"))
        for digest in one.get("hashes", []):
            self.assertEqual(set(digest), {"alg", "content"})
            self.assertRegex(digest["content"], "^[0-9a-f]{%d}$" % DIGITS[digest["alg"]])
        for licence in one.get("licenses", []):
            self.assertEqual(list(licence), ["license"])
            self.assertIn(list(licence["license"]), (["id"], ["name"]))
        if "purl" in one:
            self.assertRegex(one["purl"], PURL)

    def test_it_keeps_the_rules_of_cyclonedx(self):
        bill = self.bill
        self.assertEqual((bill["bomFormat"], bill["specVersion"], bill["version"]), ("CycloneDX", "1.5", 1))
        self.assertEqual(set(bill), MEMBERS["bill"])
        self.assertEqual(set(bill["metadata"]), MEMBERS["metadata"])
        self.assertEqual(bill["metadata"]["timestamp"], "2023-11-14T22:13:20Z")
        self.assertRegex(bill["serialNumber"],
                         "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
        everything = [bill["metadata"]["component"], *bill["components"]]
        for one in everything:
            self.check_component(one)
        references = [one["bom-ref"] for one in everything]
        self.assertEqual(len(references), len(set(references)))
        of = [one["ref"] for one in bill["dependencies"]]
        self.assertEqual(len(of), len(set(of)))
        self.assertLessEqual(set(of), set(references))
        for one in bill["dependencies"]:
            self.assertLessEqual(set(one["dependsOn"]), set(references), one["ref"])
            self.assertEqual(len(one["dependsOn"]), len(set(one["dependsOn"])))
            self.assertNotIn(one["ref"], one["dependsOn"])

    def test_it_has_every_library_that_the_programs_load(self):
        names = {name for one in with_use(self.bill, "linked") for name in said(one, "seendb:library")}
        for program in (SERVER, TOOL):
            text = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
            needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", text))
            self.assertGreater(len(needed), 10)
            self.assertLessEqual(needed, names)
        # tests/support/runtime_packages finds them in another way.
        text = subprocess.run([os.path.join(ROOT, "tests", "support", "runtime_packages"), SERVER, TOOL], capture_output=True,
                              text=True, check=True).stdout
        self.assertEqual({one["name"] for one in with_use(self.bill, "linked")}, set(text.split()))

    def test_the_page_names_what_the_programs_are_linked_with(self):
        with open(os.path.join(ROOT, "server", "doc", "supply-chain.md"), encoding="utf-8") as file:
            rows = re.findall(r"^\| [^|]+ \| (\[`.*?) \| .* \| (.*) \|$", file.read(), re.M)
        families = {re.sub(r"-?[\d.]+$", "", name): how for names, how in rows
                    for name in re.findall(r"\[`([^`]+)`\]", names)}
        self.assertGreater(len(families), 10)
        with open(os.path.join(ROOT, "cmake", "seendb_dependencies.cmake"), encoding="utf-8") as file:
            asked = re.findall(r"^ *seendb_find\(\S+ (lib[\w.+-]+-dev|[\w-]+-dev)", file.read(), re.M)
        of = {one["name"]: one for one in self.bill["components"]}
        direct = {one["ref"]: one["dependsOn"] for one in self.bill["dependencies"]}
        shared = {one["name"] for one in with_use(self.bill, "linked")
                  if one["bom-ref"] in direct["seendb-server"] + direct["seendb"]}
        self.assertGreater(len(asked), 10)

        def family(name):
            return re.sub(r"-?(defaults|[\d.]+)$", "", said(of[name], "debian:source")[0].split()[0])

        for name in shared:
            self.assertIn("shared librar", families[family(name)], name)
        for name in set(asked) - {"libgtest-dev"}:
            self.assertIn(family(name), families, name)
            if "compiled in" in families[family(name)]:
                self.assertNotIn(family(name), {family(one) for one in shared}, name)

    def test_it_says_which_library_needs_which(self):
        on = {one["ref"]: set(one["dependsOn"]) for one in self.bill["dependencies"]}
        named = {one["name"]: one["bom-ref"] for one in self.bill["components"]}
        rocksdb = next(name for name in named if re.fullmatch(r"librocksdb[\d.]+", name))
        for program in ("seendb-server", "seendb"):
            self.assertIn(named[rocksdb], on[program])
            self.assertIn(named["nlohmann-json3-dev"], on[program])
        self.assertIn(named["libsnappy1v5"], on[named[rocksdb]])
        self.assertEqual(on["SeenDB"], {"seendb-server", "seendb"})

    def test_it_has_what_the_build_installs_with_its_version(self):
        with open(os.path.join(ROOT, "tools", "setup"), encoding="utf-8") as file:
            packages = re.search(r"^packages=\(([^)]*)\)", file.read(), re.M)[1].split()
        found = {one["name"]: one for one in self.bill["components"] if one.get("purl", "").startswith("pkg:deb/")}
        for name in packages:
            done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", name],
                                  capture_output=True, text=True, check=False)
            if done.stdout.startswith("installed "):
                self.assertEqual(found[name]["version"], done.stdout.split()[1])
                build = not name.endswith("-dev")
                self.assertEqual(said(found[name], "seendb:use"), ["build" if build else "headers"], name)
                self.assertEqual(found[name]["scope"], "excluded" if build else "required", name)
        self.assertIn({"license": {"id": "MIT"}}, found["nlohmann-json3-dev"]["licenses"])
        self.assertRegex(said(found["nlohmann-json3-dev"], "debian:source")[0], r"^nlohmann-json3? \S+$")

    def test_it_has_what_scripts_fetch_if_asked(self):
        found = with_use(self.bill, "tests")
        with open(os.path.join(ROOT, "tools", "demo", "kafka", "jars.sha256"), encoding="ascii") as file:
            digests = {line.split()[0] for line in file}
        told = {digest["content"] for one in found for digest in one.get("hashes", [])}
        self.assertGreater(len(digests), 50)
        self.assertEqual(digests - told, set())
        for name in ("schemathesis", "typescript", "numpy", "github.com/deepmap/oapi-codegen", "debian",
                     "prom/prometheus"):
            self.assertEqual({one["scope"] for one in found if one["name"] == name}, {"excluded"}, name)
        self.assertEqual(with_use(json.loads(run().stdout), "tests"), [])

    def test_the_same_build_gives_the_same_bytes(self):
        self.assertEqual(run("--tests").stdout, self.text)
        later = json.loads(run("--tests", epoch=TIME + 1).stdout)
        self.assertNotEqual(later["serialNumber"], self.bill["serialNumber"])
        self.assertEqual(later["components"], self.bill["components"])

    def test_a_library_of_no_package_is_told_by_its_hash(self):
        text = subprocess.run(["ldd", SERVER], capture_output=True, text=True, check=True).stdout
        name, path = re.search(r"(libhiredis\S+) => (\S+)", text).groups()
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(path, os.path.join(folder, name))
            bill = json.loads(run(LD_LIBRARY_PATH=folder).stdout)
            one = next(one for one in bill["components"] if one["bom-ref"] == "file:" + name)
            self.check_component(one)
            digest = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True).stdout
            self.assertEqual(one["hashes"], [{"alg": "SHA-256", "content": digest.split()[0]}])
            self.assertIn("file:" + name, next(d for d in bill["dependencies"] if d["ref"] == "seendb")["dependsOn"])

    def test_without_programs_it_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(folder=folder)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("seendb-server", done.stderr)


if __name__ == "__main__":
    missing = [name for name in ("dpkg-query", "readelf", "ldd") if shutil.which(name) is None]
    if missing:
        print("SKIPPED: there is no %s" % ", ".join(missing))
        sys.exit(77)
    unittest.main()
