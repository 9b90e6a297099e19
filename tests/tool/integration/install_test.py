"""`cmake --install` into a fresh prefix: programs that run, documents whose links lead somewhere, man
pages that have every flag of --help, completions."""

import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from tool_runner import tool_binary
from seendb_client import server_binary

LINK = re.compile(r"\[[^\[\]]*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)
FLAG = re.compile(r"^  (?:-\w,)?(--[\w-]+)", re.M)
CODE = re.compile(r"^```.*?^```", re.M | re.S)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def anchors_of(path):
    """Of a document's headings, as web sites that show Markdown make them."""
    names = [re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
             for heading in HEADING.findall(CODE.sub("", read(path)))]
    return set(names)


class InstallTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        staged = tempfile.mkdtemp(prefix="seendb-staged-")
        cls.addClassCleanup(shutil.rmtree, staged)
        build = os.path.dirname(os.path.dirname(os.path.abspath(server_binary())))
        for _ in range(2):  # the second time over the first, as packagers and users do
            subprocess.run(["cmake", "--install", build, "--prefix", "/opt/seen db"], check=True,
                           env=dict(os.environ, DESTDIR=staged), stdout=subprocess.DEVNULL, timeout=600)
        cls.prefix = os.path.join(staged, "opt", "seen db")
        cls.documents = os.path.join(cls.prefix, "share", "doc", "seendb")

    def test_every_link_of_every_document_leads_somewhere(self):
        documents = glob.glob(os.path.join(self.documents, "**", "*.md"), recursive=True)
        self.assertGreater(len(documents), 15)
        checked = 0
        for document in documents:
            for link in LINK.findall(CODE.sub("", read(document))):
                if "://" in link:
                    continue
                name, _, anchor = link.partition("#")
                path = os.path.normpath(os.path.join(os.path.dirname(document), name)) if name else document
                with self.subTest(document=os.path.relpath(document, self.documents), link=link):
                    self.assertTrue(os.path.exists(path))
                    if anchor:
                        self.assertIn(anchor, anchors_of(path))
                checked += 1
        self.assertGreater(checked, 50)

    def test_every_document_that_the_readme_links_is_there(self):
        source = os.path.join(os.path.dirname(__file__), "..", "..", "..")
        for link in LINK.findall(CODE.sub("", read(source, "README.md"))):
            if link.split("#")[0].endswith(".md"):
                self.assertTrue(os.path.exists(os.path.join(self.documents, link.split("#")[0])), link)

    def test_programs_run_and_the_api_is_described(self):
        for name in ("seendb", "seendb-server"):
            done = subprocess.run([os.path.join(self.prefix, "bin", name), "--version"],
                                  capture_output=True, text=True, timeout=60, check=True)
            self.assertRegex(done.stdout, r"\d\.\d\.\d")
        self.assertIn("/admin/stats", json.loads(
            read(self.documents, "examples", "openapi_admin.json"))["paths"])
        description = json.loads(read(self.documents, "examples", "openapi.json"))
        self.assertIn("/filter", description["paths"])

    @unittest.skipUnless(shutil.which("dpkg-query"), "no Debian")
    def test_the_bill_of_materials_is_of_the_programs(self):
        bill = json.loads(read(self.documents, "sbom.cdx.json"))
        for name in ("seendb", "seendb-server"):
            with open(os.path.join(self.prefix, "bin", name), "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            one = next(one for one in bill["components"] if one["bom-ref"] == name)
            self.assertEqual(one["hashes"], [{"alg": "SHA-256", "content": digest}])

    def test_completions(self):
        share = os.path.join(self.prefix, "share")
        self.assertIn("complete ", read(share, "bash-completion", "completions", "seendb"))
        self.assertTrue(read(share, "zsh", "site-functions", "_seendb").startswith("#compdef seendb"))

    @unittest.skipUnless(shutil.which("help2man"), "help2man is not there")
    def test_man_pages_have_every_flag(self):
        pages = os.path.join(self.prefix, "share", "man", "man1")
        for words in (["seendb-server"], ["seendb"], ["seendb", "load"], ["seendb", "redis", "import"],
                      ["seendb", "cluster", "move"]):
            program = server_binary() if words == ["seendb-server"] else tool_binary()
            help_text = subprocess.run([program, *words[1:], "--help"], capture_output=True, text=True,
                                       timeout=60, check=True).stdout
            page = read(pages, "-".join(words) + ".1").replace("\\-", "-").replace("\\fR", "")
            self.assertRegex(page, r"(?m)^\.SH NAME\n%s " % "-".join(words).replace("-", r"\\?-"))
            flags = FLAG.findall(help_text)
            self.assertGreater(len(flags), 2, words)
            for flag in flags:
                self.assertIn(flag, page, words)


if __name__ == "__main__":
    unittest.main()
