"""The running server against its own OpenAPI documents, by Schemathesis, which is given both as one:
requests made from them, sound and broken, and sequences of requests. No answer is a server's fault, has
an undeclared status, type or header, or a body that does not fit its schema; what the documents forbid
is refused.

Not checked: that everything the documents allow is accepted. They can't say all that is refused (1.0
is an integer to JSON Schema; a bucket's label depends on the policy). A 503 is declared: it is the
only 5xx taken.

Needs Schemathesis in build/venv (tools/setup test); SEENDB_SCHEMATHESIS names another. Without it
the test is skipped. SEENDB_SEED repeats a run, SEENDB_LONG=1 makes it long.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from fresh_seed import seed_of
from openapi_check import whole_document
from seendb_client import ROOT, Server

PROGRAM = os.environ.get("SEENDB_SCHEMATHESIS",
                         os.path.join(ROOT, "build", "venv", "bin", "schemathesis"))
LONG = bool(os.environ.get("SEENDB_LONG"))
# An optional member of a request may be null, which the document says in words: "or null" of each
# spoils the clients that are generated from it. Here it is said of each. Ids are taken as numbers up
# to 64 bits, which the document gives 63 for the same reason.
HOOKS = '''
import schemathesis

def allow_nulls(node):
    if isinstance(node, list):
        for element in node:
            allow_nulls(element)
    if not isinstance(node, dict):
        return
    for member in node.values():
        allow_nulls(member)
    properties = node.get("properties")
    if node.get("type") != "object" or not isinstance(properties, dict):
        return
    node.pop("dependentRequired", None)  # it counts a null as there
    for name in set(properties) - set(node.get("required", [])):
        properties[name] = {"anyOf": [properties[name], {"type": "null"}]}

@schemathesis.hook
def before_load_schema(context, raw_schema):
    allow_nulls(raw_schema)
    del raw_schema["paths"]["/admin/tail"]  # an answer takes as long as it is asked to: tail_test.py
    for name in ("Id", "Candidate", "ServedItem"):
        for kind in raw_schema["components"]["schemas"][name]["anyOf"]:
            if kind.get("type") == "integer":
                kind["maximum"] = 2**64 - 1
'''
SETTINGS = """
hooks = "seendb_hooks"

[checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "503"]
positive_data_acceptance.enabled = false
"""
SERVER = {"engine": {"shards": 1, "max_column_families": 60}}


class SchemathesisTest(unittest.TestCase):
    """Each run has a server and a database of its own."""

    def run_against(self, server, *options):
        seed = str(seed_of("schemathesis"))
        with tempfile.TemporaryDirectory(prefix="seendb-schemathesis-") as folder:
            settings = os.path.join(folder, "schemathesis.toml")
            with open(settings, "w", encoding="utf-8") as file:
                file.write(SETTINGS)
            with open(os.path.join(folder, "seendb_hooks.py"), "w", encoding="utf-8") as file:
                file.write(HOOKS)
            document = os.path.join(folder, "openapi.json")
            with open(document, "w", encoding="utf-8") as file:
                json.dump(whole_document(server.request), file)
            command = [PROGRAM, "--config-file", settings, "run", document, "--url", server.url,
                       "--seed", str(int(seed) % (1 << 32)), "--no-color",
                       "--continue-on-failure", "--max-examples", "1000" if LONG else "25",
                       "--request-timeout", "60", *options]
            ended = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=False,
                                   env={**os.environ, "PYTHONPATH": folder},
                                   stderr=subprocess.STDOUT, timeout=3000 if LONG else 400)
        said = ended.stdout.decode(errors="replace")
        self.assertEqual(ended.returncode, 0, "SEENDB_SEED=%s\n%s\n%s" %
                         (seed, said[-12000:], server.obituary()))
        self.assertIsNone(server.process.poll())
        print([line for line in said.splitlines() if "generated" in line], flush=True)

    def test_requests_and_sequences(self):
        with tempfile.TemporaryDirectory(prefix="seendb-copies-") as copies:
            with Server(config=dict(SERVER, checkpoints=copies)) as server:
                server.put("/collections/default", {"history": {"enabled": True}})
                self.run_against(server)

    def test_a_clock_that_moves(self):
        with Server(config=SERVER, clock_ms=1_700_000_000_000) as server:
            self.run_against(server, "--include-path-regex", "clock|plays|filter|seal|collections|history|recording",
                             "--phases", "fuzzing,stateful")


if __name__ == "__main__":
    if not os.access(PROGRAM, os.X_OK):
        print("SKIPPED: no Schemathesis at %s: run tools/setup test where there is a network" %
              PROGRAM)
        sys.exit(77)
    unittest.main()
