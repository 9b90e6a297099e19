#!/usr/bin/env python3
"""Links of documents lead to files and headings that exist, and so do the names of pages in sources. An entry of the
changelog is one line with a link."""

import functools
import os
import re
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINK = re.compile(r"\[[^\[\]]*\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)
CODE = re.compile(r"^```.*?^```", re.M | re.S)
PAGE = re.compile(r"\b((?:server|engine|tools|docker|perf|clients)/(?:[\w-]+/)*[\w-]+\.md)\b")
SHOWN_MAX = 280  # characters of a change, without the targets of its links


def files(*patterns):
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", *patterns],
                            capture_output=True, text=True, check=True).stdout.splitlines()
    return [path for path in listed if os.path.isfile(os.path.join(ROOT, path))]


@functools.lru_cache(maxsize=None)
def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


@functools.lru_cache(maxsize=None)
def anchors_of(text):
    """The anchors of a document's headings, as web sites that show Markdown make them."""
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
            for heading in HEADING.findall(CODE.sub("", text))}


def broken(page, text):
    """The links of a page that lead nowhere."""
    for link in LINK.findall(CODE.sub("", text)):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
        if target != page and not os.path.exists(os.path.join(ROOT, target)):
            yield link
        elif anchor and target.endswith(".md"):
            if anchor not in anchors_of(text if target == page else text_of(target)):
                yield link


class LinksTest(unittest.TestCase):

    def test_links_of_documents(self):
        pages = files("*.md")
        self.assertGreater(len(pages), 30)
        for page in pages:
            self.assertEqual(list(broken(page, text_of(page))), [], page)

    def test_pages_that_sources_name(self):
        for path in files("*.h", "*.cc", "*.def", "*.py", "*.yml", "*.json", "*.txt", "*.cmake", "*.md", "*.in"):
            if path == "tests/lint/structure_test.py":  # has invented trees
                continue
            for page in PAGE.findall(text_of(path)):
                there = (page, os.path.join(os.path.dirname(path), page))
                self.assertTrue(any(os.path.exists(os.path.join(ROOT, name)) for name in there),
                                "%s: %s" % (path, page))

    def test_a_change_is_a_line_with_a_link(self):
        section = re.search(r"^## (?!#).*?(?=^## (?!#)|\Z)", text_of("CHANGELOG.md"), re.M | re.S)[0]
        entries = re.findall(r"^- .*(?:\n  .*)*", section, re.M)
        self.assertTrue(entries)
        for entry in entries:
            self.assertNotIn("\n", entry)
            self.assertLessEqual(len(re.sub(r"\]\([^()\s]+\)", "]", entry)), SHOWN_MAX, entry)
            self.assertRegex(entry, LINK)

    def test_the_search_finds_what_it_is_for(self):
        text = ("# A page\n[a](README.md) [b](none.md) [c](#a-page) [d](#none) [e](https://x.example/none.md)\n"
                "```\n[f](none.md)\n```\n")
        self.assertEqual(list(broken("page.md", text)), ["none.md", "#none"])


if __name__ == "__main__":
    unittest.main()
