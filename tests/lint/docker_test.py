#!/usr/bin/env python3
"""What of docker/ can be told without building the image; docker/check does the rest."""

import fnmatch
import glob
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
from seendb_client import without_settings

DOCKER = os.path.join(ROOT, "docker")
SERVER, TOOL = os.environ.get("SEENDB_SERVER"), os.environ.get("SEENDB_TOOL")
UNAVAILABLE = 7
BOARDS = ("overview", "cluster", "migration")


def text_of(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def instructions():
    """The Dockerfile's instructions: (name, rest)."""
    joined = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text_of("docker", "Dockerfile"), flags=re.M))
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def argument_of(name):
    """What follows the only instruction of this name."""
    found = [rest for instruction, rest in instructions() if instruction == name]
    assert len(found) == 1, (name, found)
    return found[0]


class DockerTest(unittest.TestCase):

    def check_config(self, name):
        """The settings, checked with a folder in place of the volume."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text_of("docker", "config", name).replace(argument_of("VOLUME"), folder))
            done = subprocess.run([SERVER, "--config", path, "--check-config"], capture_output=True,
                                  text=True, check=False, env=without_settings(os.environ))
        self.assertEqual((done.returncode, done.stderr), (0, ""), name)
        return json.loads(text_of("docker", "config", name))

    def test_the_server_takes_the_settings(self):
        volume = argument_of("VOLUME")
        for name in ("seendb.json", "demo.json"):
            settings = self.check_config(name)
            self.assertTrue(settings["db"].startswith(volume + "/"), name)
            self.assertTrue(settings["checkpoints"].startswith(volume + "/"), name)
            self.assertEqual(settings["listen"], "0.0.0.0:" + argument_of("EXPOSE"), name)

    def test_the_health_check_is_a_command_of_the_tool(self):
        command = json.loads(argument_of("HEALTHCHECK").split("CMD", 1)[1])
        self.assertEqual(command[0], "seendb")
        with socket.socket() as bound:  # not listening: connections are refused
            bound.bind(("127.0.0.1", 0))
            url = "http://127.0.0.1:%d" % bound.getsockname()[1]
            done = subprocess.run([TOOL, *command[1:]], capture_output=True, text=True,
                                  env=dict(os.environ, SEENDB_URL=url), check=False)
        self.assertEqual(done.returncode, UNAVAILABLE, done.stderr)

    def test_what_is_copied_is_there_and_gets_to_the_builder(self):
        ignored = text_of(".dockerignore").splitlines()
        self.assertIn("*", ignored)
        let_in = [line[1:] for line in ignored if line.startswith("!")]
        for instruction, rest in instructions():
            if instruction != "COPY" or rest.startswith("--from"):
                continue
            for source in rest.split()[:-1]:
                self.assertTrue(os.path.exists(os.path.join(ROOT, source)), source)
                self.assertTrue(any(fnmatch.fnmatch(source, path) or source.startswith(path + "/")
                                    for path in let_in), source)
        for path in let_in:
            self.assertTrue(glob.glob(os.path.join(ROOT, path)), path)
        self.assertFalse([path for path in let_in if fnmatch.fnmatch(path, "build*")])

    def test_every_document_of_the_package_gets_to_the_builder(self):
        sys.path.insert(0, os.path.join(ROOT, "cmake"))
        from documents import DOCUMENTS  # pylint: disable=import-outside-toplevel
        copied = [os.path.normpath(source) for instruction, rest in instructions()
                  if instruction == "COPY" and not rest.startswith("--from") for source in rest.split()[:-1]]
        for document in DOCUMENTS:
            self.assertTrue(any(document == path or document.startswith(path + "/") for path in copied), document)

    def test_alerts_and_dashboards_name_metrics_of_the_server(self):
        rooms = os.path.join(ROOT, "server", "ops")
        sources = "".join(text_of("server", "ops", name) for name in sorted(os.listdir(rooms)))
        sources += text_of("engine", "include", "seendb", "counters.def")
        for path in ("alerts.yml", *(os.path.join("grafana", name + ".json") for name in BOARDS)):
            named = set(re.findall(r"seendb_\w+", text_of("docker", "config", path)))
            self.assertGreater(len(named), 10)
            for name in named:
                counted = re.fullmatch("seendb_migration_(\\w+)_total", name)  # rows of kMigrationCounts
                self.assertIn('"%s"' % (counted[1] if counted else re.sub("_bucket$", "", name)), sources)

    def test_dashboards_are_as_grafana_wants_them(self):
        mounted = text_of("docker", "compose.yaml")
        for name in BOARDS:
            self.assertIn("/%s.json:ro" % name, mounted)
            board = json.loads(text_of("docker", "config", "grafana", name + ".json"))
            self.assertEqual(board["uid"], "seendb-" + name)
            numbers = [panel["id"] for panel in board["panels"]]
            self.assertEqual(len(set(numbers)), len(numbers), name)
            places = set()
            for panel in board["panels"]:
                at = panel["gridPos"]
                taken = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
                self.assertLessEqual(at["x"] + at["w"], 24, panel["title"])
                self.assertFalse(taken & places, panel["title"])
                places |= taken
                if panel["type"] != "row":
                    self.assertEqual(panel["datasource"]["uid"], "${datasource}", panel["title"])
                    self.assertTrue(panel["fieldConfig"]["defaults"]["unit"], panel["title"])
                    letters = [target["refId"] for target in panel["targets"]]
                    self.assertEqual(len(set(letters)), len(letters), panel["title"])

    def test_compose_mounts_files_that_are_there(self):
        mounted = re.findall(r"^ +- (\./\S+?):", text_of("docker", "compose.yaml"), re.M)
        self.assertGreaterEqual(len(mounted), 3)
        for path in mounted:
            self.assertTrue(os.path.isfile(os.path.join(DOCKER, path)), path)

    def test_every_service_is_confined(self):
        text = text_of("docker", "compose.yaml").split("\nservices:\n")[1].split("\nvolumes:\n")[0]
        services = dict(re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", text, re.M))
        self.assertEqual(sorted(services), ["grafana", "kafka", "producer", "prometheus", "seendb", "topic"])
        for name, lines in services.items():
            for wanted in ("cap_drop: [ALL]", 'security_opt: ["no-new-privileges:true"]'):
                self.assertIn("    %s\n" % wanted, lines, name)
            self.assertRegex(lines, r"(?m)^    pids_limit: \d+$", name)
            self.assertRegex(lines, r"limits: \{memory: \d+[MG]\}", name)
            if name not in ("kafka", "topic"):  # these write beside their programs
                self.assertIn("    read_only: true\n", lines, name)
        self.assertRegex(services["seendb"], r"(?m)^      core: 0\b")

    def test_pin_writes_digests_and_renews_them(self):
        def pin(*options, env=None):
            return subprocess.run([os.path.join(DOCKER, "pin"), "--folder", folder, *options],
                                  capture_output=True, text=True, env=env, check=False)

        def images():
            both = "".join(text_of(folder, name) for name in ("Dockerfile", "compose.yaml"))
            return re.findall(r"^ARG BASE=(\S+)|^ +image: (\S+)", both, re.M)

        with tempfile.TemporaryDirectory() as folder:
            for name in ("Dockerfile", "compose.yaml"):
                text = re.sub("@sha256:[0-9a-f]{64}", "", text_of("docker", name))
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            unpinned = pin("--check")
            self.assertEqual(unpinned.returncode, 1)
            self.assertIn("pin: debian:trixie-slim has no digest", unpinned.stderr)
            self.assertNotIn("seendb:local", unpinned.stderr)
            before = images()
            for digit in "ab":
                registry = os.path.join(folder, "skopeo")
                with open(registry, "w", encoding="utf-8") as file:
                    file.write("#!/bin/sh\nprintf 'sha256:%%064d\n' 0 | tr 0 %s\n" % digit)
                os.chmod(registry, 0o755)
                done = pin(env=dict(os.environ, PATH=folder + ":" + os.environ["PATH"]))
                self.assertEqual(done.returncode, 0, done.stderr)
                wanted = [tuple(one if one in ("", "seendb:local") else one + "@sha256:" + 64 * digit
                                for one in pair) for pair in before]
                self.assertEqual(images(), wanted)
                self.assertEqual(pin("--check").returncode, 0)
            with open(registry, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\necho no such image >&2\nexit 1\n")
            failed = pin(env=dict(os.environ, PATH=folder + ":" + os.environ["PATH"]))
            self.assertEqual(failed.returncode, 1)
            self.assertIn("no such image", failed.stderr)
            self.assertEqual(images(), wanted)

    def test_one_version_of_kafka(self):
        demo = re.findall(r"image: apache/kafka:([^\s@]+)", text_of("docker", "compose.yaml"))
        tested = re.search(r"<artifactId>kafka_[^<]*</artifactId>\s*<version>([^<]*)<",
                           text_of("tools", "demo", "kafka", "pom.xml")).group(1)
        self.assertEqual(set(demo), {tested})


if __name__ == "__main__":
    unittest.main()
