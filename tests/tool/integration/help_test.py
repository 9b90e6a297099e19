"""Every example of every --help is run; the completions of bash and zsh are asked for real."""

import datetime
import gzip
import json
import os
import re
import shutil
import subprocess
import time
import unittest

from tool_runner import OK, ROOT, USAGE, ToolCase, run, tool_binary
import real_redis
from seendb_client import Server, server_binary


def commands_of(text):
    """The names under "Subcommands:" of a --help."""
    found = re.search(r"(?ms)^Subcommands:\n(.*?)(^\S|\Z)", text)
    return re.findall(r"(?m)^  ([a-z-]+)", found.group(1)) if found else []


def helps(path=()):
    """(path, text) of the --help of each command and all below it."""
    text = run(*path, "--help").out
    yield path, text
    for name in commands_of(text):
        yield from helps((*path, name))


def examples_of(text):
    found = re.search(r"(?ms)^Examples:\n(.*?)(^\S|\Z)", text)
    return [line.strip() for line in found.group(1).splitlines() if line.strip()] if found else []


class ExamplesTest(ToolCase):

    def setUp(self):
        super().setUp()
        self.now_ms = int(time.time() * 1000)
        rows = "".join("u1,v%d,%d\n" % (i, self.now_ms - i) for i in range(20))
        self.write("shown.ndjson", json.dumps({"user": "u1", "item": "v1", "at": int(time.time() * 1000)}) + "\n")
        self.write("plays.csv", "user,item,at\n" + rows)
        self.write("plays.csv.gz", gzip.compress(("user,item,at\n" + rows).encode()))
        self.write("log.txt", "User ID;item;at\nu1;v1;%d\n" % self.now_ms)
        self.write("items.txt", "v1\nv100\n")
        self.write("items.ndjson", '{"id":"v1","version":1,"set":{"author":"a3"}}\n')
        self.write("keys.txt", "watched:1\nwatched:2\n")
        self.redis = self.start_redis()
        os.symlink(os.path.abspath(tool_binary()), self.path("seendb"))
        self.month = datetime.datetime.fromtimestamp(
            self.now_ms / 1000, datetime.timezone.utc).strftime("%Y-%m")

    def start_redis(self):
        """A Redis with some users, and its dump in the folder; None where none is installed."""
        if not real_redis.programs():
            return None
        redis = real_redis.Redis()
        self.addCleanup(redis.close)
        real_redis.fill(redis, [(self.now_ms, str(user), "v1") for user in range(5)])
        redis.run("SAVE")
        shutil.copy(os.path.join(redis.folder, "dump.rdb"), self.path("dump.rdb"))
        return redis

    def run_example(self, line, url):
        if " redis " in line:
            if self.redis is None:
                return
            line = line.replace("redis://localhost", self.redis.url)
        line = line.replace("2026-11", self.month)
        if " produce " in line:  # librdkafka's own broker in place of the one that is named
            line = re.sub(r"( #.*)?$", " --property test.mock.num.brokers=1", line, count=1)
        environment = dict(os.environ, SEENDB_URL=url, PATH=self.folder + ":" + os.environ["PATH"])
        if " redis finish" in line:  # what a server moves in is a setting: tests/migration
            return
        done = subprocess.run(["bash", "-o", "pipefail", "-ec", line], cwd=self.folder,
                              env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, OK, (line, done))

    def test_every_example_of_every_help_works(self):
        items = '{"fields":[{"name":"author","type":"text"}]}'
        with Server(self.db) as server:  # the folder has items and sets, too
            self.tool("items", "schema", "--put", items, "--url", server.url)
            self.tool("sets", "put", "blocked", self.path("items.txt"), "--url", server.url)
        with Server(args=["--checkpoints", self.path("copies")]) as server:
            self.tool("items", "schema", "--put", items, "--url", server.url)
            for name in ("blocked", "old"):
                self.tool("sets", "put", name, self.path("items.txt"), "--url", server.url)
            history = '{"history":{"enabled":true}}'
            for flags in (["--db", self.db], ["--url", server.url]):
                self.tool("collections", "put", "default", history, *flags)
                self.tool("load", self.path("plays.csv"), *flags)
            seen = 0
            for path, text in helps():
                examples = examples_of(text)
                self.assertTrue(examples, "no examples: %s" % " ".join(path))
                for line in examples:
                    self.assertIn("seendb", line)
                    self.assertIn(path[-1] if path else "seendb", line)
                    if path[:1] == ("cluster",):
                        continue  # on a real Kafka: tests/cluster/kafka/commands_test.py
                    self.run_example(line, server.url)
                    seen += 1
            self.assertGreater(seen, 30)


class SampleConfigTest(unittest.TestCase):

    def test_the_sample_that_is_installed_is_in_order(self):
        subprocess.run([server_binary(), "--check-config", "--config",
                        os.path.join(ROOT, "cmake", "seendb.json")], check=True,
                       capture_output=True, timeout=60)


class CheckFromTest(ToolCase):

    def test_items_of_a_file_and_of_standard_input(self):
        now_ms = 1_700_000_000_000
        self.load_plays([("u1", "v%d" % i, now_ms) for i in range(0, 12_000, 2)])
        lines = "\n".join("v%d" % i for i in range(12_000)) + "\n"
        wanted = [i % 2 == 0 for i in range(12_000)]
        path = self.write("items.txt.gz", gzip.compress(lines.encode()))
        for source, stdin in ((path, b""), ("-", lines.replace("\n", "\r\n").encode())):
            report = self.in_db("check", "u1", "--from", source, "--json", stdin=stdin).json
            self.assertEqual([row["seen"] for row in report["items"]], wanted)
        report = self.in_db("check", "u1", "v1", "--from", "-", "--json", stdin=b"v2").json
        self.assertEqual([(row["item"], row["seen"]) for row in report["items"]],
                         [("v1", False), ("v2", True)])
        self.in_db("check", "u1", "--from", "-", stdin=b"\n", code=USAGE)
        self.in_db("check", "u1", code=USAGE)


class StatsUsersTest(ToolCase):

    def test_users_are_counted(self):
        now_ms = 1_700_000_000_000
        self.in_db("collections", "put", "other")
        self.load_plays([("u%d" % i, "v1", now_ms - (i % 2) * 40 * 86_400_000) for i in range(50)])
        self.load_plays([("u%d" % i, "v2", now_ms) for i in range(10)])
        self.load_plays([("u%d" % i, "v2", now_ms) for i in range(40, 60)], "--collection", "other")
        self.in_db("drain")
        self.load_plays([("late", "v1", now_ms)])
        users = self.in_db("stats", "--users", "--json").json["users"]
        self.assertEqual(users, {"total": 60, "by_collection": {"default": 50, "other": 20},
                                 "staged": 1})
        self.assertRegex(self.in_db("stats", "--users").out, r"(?m)^ *users.total +60$")
        self.assertNotIn("users", self.in_db("stats", "--json").json)
        with Server(db=self.db, clock_ms=now_ms) as server:
            refused = self.tool("stats", "--users", "--url", server.url, code=USAGE)
            self.assertIn("--db", refused.err)


def bash_completes(*words):
    """What bash offers for the last of the words, with the generated script."""
    script = """
eval "$("$0" completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_seendb
printf '%s\\n' "${COMPREPLY[@]}"
"""
    done = subprocess.run(["bash", "--norc", "-uc", script, tool_binary(), *words],
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout.decode().split("\n")[:-1]


class CompletionTest(ToolCase):

    def test_bash_commands_and_options(self):
        names = commands_of(run("--help").out)
        self.assertEqual(sorted(bash_completes("seendb", "")), sorted(names))
        self.assertEqual(bash_completes("seendb", "chec"), ["check", "checkpoint"])
        self.assertEqual(bash_completes("seendb", "--db", "x", "chec"), ["check", "checkpoint"])
        self.assertEqual(bash_completes("seendb", "collections", ""),
                         ["put", "get", "delete"])
        self.assertEqual(bash_completes("seendb", "load", "--max"), ["--max-refused"])
        self.assertEqual(bash_completes("seendb", "--json", "load", "--ti"),
                         ["--timeout", "--time-column", "--time-unit", "--time-zone"])
        for path, text in helps():
            if "ldb" in path:
                continue
            offered = bash_completes("seendb", *path, "--")
            for option in re.findall(r"(?m)^  (?:-\w,)?(--[a-z-]+)", text):
                self.assertIn(option, offered, path)

    def test_bash_values(self):
        self.assertEqual(bash_completes("seendb", "load", "--time-unit", ""), ["auto", "s", "ms", "us", "ns"])
        self.assertEqual(bash_completes("seendb", "load", "--time-unit", "=", "m"), ["ms"])
        self.assertEqual(bash_completes("seendb", "load", "--time-unit", "="), ["auto", "s", "ms", "us", "ns"])
        self.assertEqual(bash_completes("seendb", "completion", "z"), ["zsh"])
        os.mkdir(self.path("a folder"))
        self.write("a file", "")
        start = self.path("a")
        self.assertEqual(sorted(bash_completes("seendb", "load", start)),
                         [self.path("a file"), self.path("a folder")])
        self.assertEqual(bash_completes("seendb", "stats", "--db", start), [self.path("a folder")])
        self.assertEqual(bash_completes("seendb", "stats", "--url", ""), [""])

    def test_bash_completes_for_real(self):
        """`complete` has registered it under the command's name."""
        done = subprocess.run(["bash", "--norc", "-ec",
                               'source <("$0" completion bash); complete -p seendb', tool_binary()],
                              capture_output=True, check=False)
        self.assertEqual(done.stdout, b"complete -F _seendb seendb\n", done)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        def offered(*words):
            script = """
compdef() { : }
_describe() { local list=${@[-1]}; print -l -- ${(P)list} }
_files() { print -- files "$@" }
compadd() { print -l -- "${@[2,-1]}" }
eval "$($1 completion zsh)"
words=("${@[2,-1]}"); CURRENT=${#words}
_seendb
"""
            done = subprocess.run(["zsh", "-f", "-c", script, "zsh", tool_binary(), *words],
                                  capture_output=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, b""), done)
            return done.stdout.decode().splitlines()
        names = commands_of(run("--help").out)
        self.assertEqual([line.split(":")[0] for line in offered("seendb", "")], names)
        self.assertIn("put", offered("seendb", "collections", "")[0])
        self.assertIn("--max-refused:", "\n".join(offered("seendb", "load", "-")))
        self.assertEqual(offered("seendb", "load", "--time-unit", ""), ["auto", "s", "ms", "us", "ns"])
        self.assertEqual(offered("seendb", "load", "")[-1], "files")
        self.assertEqual(offered("seendb", "stats", "--db", ""), ["files -/"])

    def test_another_shell(self):
        self.tool("completion", "fish", code=USAGE)
        self.tool("completion", code=USAGE)


if __name__ == "__main__":
    unittest.main()
