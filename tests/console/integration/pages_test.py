"""What the server sends for its console, without a browser: which listener, headers, weight, other hosts."""

import gzip
import http.client
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
sys.path.insert(0, os.path.join(ROOT, "tests", "console"))
import pictures  # noqa: E402
from seendb_client import Server  # noqa: E402

MOST_BYTES = 150_000  # compressed, all files together
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


def ask(port, path, headers=None):
    """Status, headers as a list, body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, [(name.lower(), value) for name, value in answer.getheaders()], answer.read()
    finally:
        connection.close()


class PagesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)

    def get(self, path, headers=None):
        return ask(self.server.port, path, headers)

    def test_a_page_loads_nothing_of_others_and_runs_no_script_in_it(self):
        for status, pairs, body in (self.get("/console"), self.get("/", BROWSER)):
            headers = dict(pairs)
            self.assertEqual((status, headers["content-type"]), (200, "text/html; charset=utf-8"))
            policy = headers["content-security-policy"]
            self.assertTrue(policy.startswith("default-src 'none'; "), policy)
            self.assertNotIn("unsafe", policy)
            self.assertNotIn("*", policy)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertIn("require-trusted-types-for 'script'", policy)
            self.assertEqual(headers["cross-origin-opener-policy"], "same-origin")
            self.assertEqual(headers["cross-origin-embedder-policy"], "require-corp")
            self.assertEqual(headers["cross-origin-resource-policy"], "same-origin")
            self.assertEqual(headers["referrer-policy"], "no-referrer")
            self.assertEqual(re.findall(rb"https?:|//\w", body), [])
            self.assertEqual(re.findall(rb"<script(?![^>]* src=)|<style|\son\w+=", body), [])

    def test_the_root_is_json_for_programs(self):
        for headers in ({}, {"Accept": "*/*"}, {"Accept": "application/json"}, {"Accept": "text/htmlx"},
                        {"Accept": "application/json, text/html"}):
            status, pairs, body = self.get("/", headers)
            self.assertEqual(status, 200)
            self.assertIn(("content-type", "application/json"), pairs)
            self.assertIn(("vary", "Accept"), pairs)
            self.assertIn(b'"console":"/console"', body)

    def test_all_files_are_light_and_name_no_other_host(self):
        names, seen = ["/console"], {}
        while names:
            path = names.pop()
            if path in seen:
                continue
            status, pairs, body = self.get(path, {"Accept-Encoding": "gzip"})
            self.assertEqual(status, 200, path)
            headers = dict(pairs)
            self.assertEqual(headers["x-content-type-options"], "nosniff")
            sent = len(body)
            if headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            seen[path] = sent
            text = body.decode()
            hosts = set(re.findall(r"https?://[^\s\"')]+", text))
            self.assertLessEqual(hosts, {"http://www.w3.org/2000/svg"}, path)  # a name, not an address
            names += re.findall(r'(?:src|href)="(/console/[^"]+)"', text)
            names += ["/console/" + name for name in re.findall(r'from "\./([\w.]+)"', text)]
        self.assertGreaterEqual(len(seen), 15)
        sources = os.listdir(os.path.join(ROOT, "server", "console"))
        self.assertEqual({"/console/" + name for name in sources if not name.endswith(".html")},
                         set(seen) - {"/console"}, "every file is used")
        print("the console weighs %d bytes, compressed, in %d files" % (sum(seen.values()), len(seen)))
        self.assertLess(sum(seen.values()), MOST_BYTES)

    def test_the_pictures_of_the_readme_show_these_pages(self):
        with open(os.path.join(ROOT, "server", "doc", "console", "made_from"), encoding="ascii") as file:
            self.assertEqual(file.read().strip(), pictures.state(), "python3 -B tests/console/pictures.py")

    def test_names_lead_to_files_of_the_console_alone(self):
        for path in ("/console/nothing.js", "/console/..%2f..%2fSEENDB", "/console/%00", "/console/STYLE.CSS"):
            self.assertEqual(self.get(path)[0], 404, path)

    def test_a_link_of_another_site_leads_to_a_page_and_to_nothing_else(self):
        foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        self.assertEqual(self.get("/console", foreign)[0], 200)
        self.assertEqual(self.get("/", foreign)[0], 200)
        for path in ("/console/app.js", "/users/u1", "/metrics"):
            self.assertEqual(self.get(path, foreign)[0], 403, path)
        self.assertEqual(self.get("/console", dict(foreign, Origin="http://evil.example"))[0], 403)
        self.assertEqual(self.get("/console", {"Host": "evil.example"})[0], 403)

    def test_it_is_where_admin_is(self):
        with Server(config={"admin_listen": "127.0.0.1:0"}) as server:
            admin = int(server.next_line().rsplit(":", 1)[1])
            for path in ("/console", "/console/app.js"):
                self.assertEqual(ask(server.port, path)[0], 404)
                self.assertEqual(ask(admin, path)[0], 200)
            self.assertNotIn(b'href="/console', ask(server.port, "/", BROWSER)[2])
            self.assertIn(b"admin_listen", ask(server.port, "/", BROWSER)[2])
            self.assertIn(b'href="/console"', ask(admin, "/", BROWSER)[2])
            self.assertNotIn(b"/console", ask(server.port, "/")[2])

    def test_it_is_there_for_who_has_no_token_and_while_the_database_opens(self):
        # The pages hold no data: the API asks for the token.
        folder = self.server.folder
        path = os.path.join(folder, "tokens.json")
        with open(path, "w", encoding="ascii") as file:
            file.write("[]")
        os.chmod(path, 0o600)
        with Server(config={"tokens_file": path}) as server:
            self.assertEqual(ask(server.port, "/console")[0], 200)
            self.assertEqual(ask(server.port, "/collections")[0], 401)


if __name__ == "__main__":
    unittest.main()
