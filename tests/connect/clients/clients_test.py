"""Stock clients of the Connect protocol: connectrpc of PyPI, @connectrpc/connect-node and connect-go, in
versions that are pinned beside this file. Debian 12 has Python 3.11 and Node 18, which take these; its
Go 1.19 takes no connect-go that can be had, and says so."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
from seendb_client import ROOT, Server

NOW = 1_700_000_000_000
PINS = os.path.join(HERE, "python", "requirements.txt")
PROTO = os.path.join(ROOT, "proto")
GO_LEAST, NODE_LEAST = (1, 22), (18, 14)


def version_of(*command):
    """The first two numbers that a program says; nothing where it can't be run."""
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout
    except OSError:
        return None
    found = re.search(r"(\d+)\.(\d+)", said)
    return found and (int(found[1]), int(found[2]))


class ConnectClientsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(clock_ms=NOW)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="seendb-connect-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.url = self.server.url
        self.descriptors = os.path.join(self.folder, "seendb.pb")

    def attempt(self, command, folder=None, **environment):
        return subprocess.run(command, cwd=folder or self.folder, env=dict(os.environ, **environment),
                              capture_output=True, text=True, check=False, timeout=600)

    def run_there(self, command, folder=None, **environment):
        done = self.attempt(command, folder, **environment)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-4000:])
        return done.stdout

    def describe(self):
        self.run_there(["protoc", "-I", PROTO, "--descriptor_set_out=" + self.descriptors,
                        "seendb/v1/seendb.proto"])

    def skip_unless(self, fetched, what):
        if fetched.returncode != 0:
            self.assertNotIn("DO NOT MATCH", fetched.stderr)
            self.assertNotIn("SECURITY ERROR", fetched.stderr)
            self.skipTest(what + " can't install here: " + fetched.stderr[-500:])

    def test_python(self):
        self.describe()
        subprocess.run([sys.executable, "-m", "venv", self.folder + "/venv"], check=True, timeout=120)
        python = os.path.join(self.folder, "venv", "bin", "python")
        self.skip_unless(self.attempt([python, "-m", "pip", "install", "-q", "--require-hashes", "-r", PINS]), "pip")
        said = self.run_there([python, "-B", os.path.join(HERE, "python", "call.py"), self.url, self.descriptors])
        self.assertIn("python: called", said)

    def test_node(self):
        version = version_of("node", "--version")
        if version is None or version < NODE_LEAST:
            self.skipTest("@connectrpc/connect-node needs Node %d.%d: there is %s" % (*NODE_LEAST, version))
        self.describe()
        there = os.path.join(self.folder, "node")
        shutil.copytree(os.path.join(HERE, "node"), there)
        self.skip_unless(self.attempt(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], there), "npm")
        self.assertIn("node: called", self.run_there(["node", "call.mjs", self.url, self.descriptors], there))

    def test_go(self):
        version = version_of("go", "env", "GOVERSION")
        if version is None or version < GO_LEAST:
            self.skipTest("connect-go needs Go %d.%d (Debian 12 has 1.19): there is %s" % (*GO_LEAST, version))
        there = os.path.join(self.folder, "go")
        shutil.copytree(os.path.join(HERE, "go"), there)
        settings = {"GOFLAGS": "-mod=readonly -modcacherw", "GOTOOLCHAIN": "local"}
        self.skip_unless(self.attempt(["go", "mod", "download"], there, **settings), "go")
        self.run_there(["go", "build", "-o", self.folder + "/protoc-gen-go",
                        "google.golang.org/protobuf/cmd/protoc-gen-go"], there, **settings)
        package = "connectclient/seendbv1"
        self.run_there(["protoc", "-I", PROTO, "--plugin=" + self.folder + "/protoc-gen-go", "--go_out=" + there,
                        "--go_opt=module=connectclient", "--go_opt=Mseendb/v1/seendb.proto=" + package,
                        "seendb/v1/seendb.proto"])
        self.assertIn("go: called", self.run_there(["go", "run", ".", self.url], there, **settings))


if __name__ == "__main__":
    if shutil.which("protoc") is None:
        print("skipped: there is no protoc, and so no Connect")
        sys.exit(77)
    unittest.main()
