"""What the tests of clients share: a copy of the client's folder, a server, and the language's own tools."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from seendb_client import ROOT, Server  # noqa: E402

SKIPPED = 77


def skip_without(*programs):
    """Ends the test as skipped where a program is not there (tools/setup clients installs them)."""
    for program in programs:
        if shutil.which(program) is None:
            print("SKIPPED: %s is not there: the client is not tested (tools/setup clients)" % program)
            sys.exit(SKIPPED)


def main():
    """unittest.main() of a file whose one test may skip itself: then ctest takes the file as skipped."""
    result = unittest.main(exit=False).result
    for _, why in result.skipped:
        print("SKIPPED: " + why)
    sys.exit(1 if not result.wasSuccessful() else SKIPPED if result.skipped else 0)


class LanguageCase(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="seendb-client-")  # tools write beside their sources
        self.addCleanup(shutil.rmtree, self.folder)
        self.server = Server()
        self.addCleanup(self.server.close)

    def sources(self, language):
        """A copy of the client's folder, or of an example's ("examples/go")."""
        path = os.path.join(self.folder, language)
        if not os.path.exists(path):
            shutil.copytree(os.path.join(ROOT, "clients", language), path,
                            ignore=shutil.ignore_patterns("node_modules", "dist", "target", "build"))
        return path

    def attempt(self, language, command, environment=None):
        """How the command ends in a copy of the client's folder."""
        return subprocess.run(command, cwd=self.sources(language), capture_output=True, text=True,
                              env=dict(os.environ, SEENDB_URL="http://127.0.0.1:%d" % self.server.port,
                                       SEENDB_CONFORMANCE=os.path.join(ROOT, "clients", "conformance"),
                                       **(environment or {})), timeout=600, check=False)

    def run_there(self, language, command, environment=None):
        done = self.attempt(language, command, environment)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-8000:])
        return done

    # ---- The example ----

    def try_example(self, language, source, command, environment=None):
        """The feed of an example: pages without repeats, and a page when SeenDB is gone."""
        with open(os.path.join(self.sources("examples/" + language), source), encoding="utf-8") as file:
            self.assertLess(len(file.readlines()), 100)
        environment = dict(os.environ, SEENDB_URL=self.server.url, PORT="0", **(environment or {}))
        feed = subprocess.Popen(command, cwd=self.sources("examples/" + language), env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(lambda: (feed.kill(), feed.communicate()))
        line = feed.stdout.readline().strip()
        self.assertTrue(line.startswith("listening on "), line)
        url = line[len("listening on "):]

        def page(user):
            with urllib.request.urlopen(url + "/feed?user=" + urllib.parse.quote(user, safe=""), timeout=60) as answer:
                return json.load(answer)["items"]
        for user in ("u1", "\u00fc/+ 1"):
            page(user)  # the first call opens connections, and may be too late for a page
            items = [item for _ in range(3) for item in page(user)]
            self.assertEqual((len(items), len(set(items))), (60, 60), items)
            watched = "video-4999"
            asked = urllib.parse.urlencode({"user": user, "item": watched}, quote_via=urllib.parse.quote)
            urllib.request.urlopen(url + "/watched?" + asked, b"", timeout=60).close()
            answer = self.server.post("/filter", {"user": user, "items": [watched]})
            self.assertEqual(answer.json["seen"], 1)
        with self.assertRaises(urllib.error.HTTPError) as raised:
            page("")
        self.assertEqual(raised.exception.code, 400)
        raised.exception.close()
        last = page("u2")
        self.server.close()
        without = page("u2")
        self.assertEqual((len(last), len(without), set(last) & set(without)), (20, 20, set()))
