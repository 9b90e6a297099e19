#!/usr/bin/env python3
"""The site of documents: made without a warning, every page in it, and a search that needs no server."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPHINX = "/usr/bin/sphinx-build"
ANCHOR = re.compile(r'href="([^"#:?]*)#([^"]+)"')


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class SiteTest(unittest.TestCase):

    def test_the_site(self):
        with tempfile.TemporaryDirectory() as into:
            done = subprocess.run([os.path.join(ROOT, "tools", "doc", "site"), into], capture_output=True, text=True,
                                  check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for page in ("README", "server/README", "server/doc/requests", "server/doc/compatibility", "engine/doc/format",
                         "search"):
                self.assertTrue(os.path.exists(os.path.join(into, page + ".html")), page)
            self.assertIn("Search.setIndex(", text_of(os.path.join(into, "searchindex.js")))
            self.assertNotRegex(text_of(os.path.join(into, "search.html")), r'src="(https?:)?//')
            readme = text_of(os.path.join(into, "README.html"))
            anchors = [(page, anchor) for page, anchor in ANCHOR.findall(readme) if page.endswith(".html")]
            self.assertGreater(len(anchors), 3)
            for page, anchor in anchors:
                self.assertIn('id="%s"' % anchor, text_of(os.path.join(into, page)), page)


if __name__ == "__main__":
    if not os.access(SPHINX, os.X_OK):
        print("no Sphinx (tools/setup doc)")
        sys.exit(77)
    unittest.main()
