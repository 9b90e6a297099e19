"""Declares every test to ctest, each with the labels of the folder it lies in.

    declare.py --tests FOLDER --output FILE --programs FOLDER --part NAME ... [--set NAME=VALUE ...]

A test lies in tests/PART/KIND/, or in tests/PART/ where a part has one kind only. NAME_test.cc is
compiled into the part's program PART_tests, whose cases are PART.Suite.Case. NAME_test.py runs by
itself, finds the programs by SEENDB_SERVER and SEENDB_TOOL, exits with 77 to be skipped, and is
PART.NAME.py. ctest runs this script whenever it starts; a program that is not built has no cases.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile
import zlib

# The folder below a part: its labels, and the seconds after which a test in it has failed.
KINDS = {
    "unit": (["unit"], 300),
    "property": (["property"], 600),
    "integration": (["integration"], 900),
    "faults": (["crash"], 900),  # of disks: operations that fail, power that goes away
    "rot": (["rot"], 900),
    "crash": (["crash"], 900),
    "kafka": (["integration", "real_kafka"], 900),
    "replay": (["integration", "real_log"], 1500),
    "clients": (["integration"], 900),  # made from the OpenAPI document, compiled and run
    "lint": ([], 120),
    "simulation": ([], 600),
    "packages": (["integration"], 1800),  # the first one on a machine makes a Debian by debootstrap
}

# The label of what only `tools/test --all` runs.
LONG = "long"

# What takes more than some seconds in a dev build, by the beginning of its name. ctest starts these
# first, so that none is left to run alone at the end.
SECONDS = {
    "packages.packages.py": 120, "console.console.py": 90, "console.running.py": 50, "console.nodes.py": 35,
    "transfer.moves.py": 26, "ingest.kills.py": 85, "server.kuairand.py": 80, "server.kuairand_history.py": 45,
    "server.retail.py": 43, "lint.sbom.py": 12, "ingest.broker.py": 47, "cluster.commands.py": 25, "cluster.nodes.py": 25,
    "replica.nodes_apply.py": 40, "router.any_node.py": 50, "router.tls.py": 25, "router.faults.py": 40, "router.campaign.py": 90, "router.cuts.py": 130, "router.kills.py": 200, "router.local_cluster.py": 20, "router.ReadsTest": 4, "replica.ReplicasTest": 5,
    "cluster.ShardsSimulation": 8, "replica.ApplierSimulation": 8, "server.history_kill.py": 40,
    "lies.http.py": 19, "lies.old_store.py": 18, "lies.tool.py": 20, "lies.files.py": 8, "lies.folder.py": 8, "lies.memory.py": 12, "lies.topics.py": 130,
    "ops.alerts.py": 6, "ops.dashboards.py": 45,
    "server.kill.py": 33, "http.load.py": 38, "tool.load.py": 31, "tool.redis.py": 30, "migration.kill.py": 25, "migration.dual_write.py": 15, "migration.migration.py": 15, "tool.redis_import.py": 90, "tool.redis_keys.py": 25, "tool.help.py": 19, "tool.produce.py": 17, "tool.repair.py": 15,
    "tool.folder.py": 13, "tool.history.py": 10, "tool.server.py": 8, "http.slow_peers.py": 18,
    "http.protocol.py": 11, "http.tls.py": 9, "api.access.py": 8, "http.compression.py": 15, "api.schemathesis.py": 20,
    "api.history.py": 15, "api.export_memory.py": 15, "clients.java.py": 60, "clients.typescript.py": 40, "clients.go.py": 25, "clients.cpp.py": 60, "clients.python.py": 50, "clients.conformance.py": 11, "clients.python_install.py": 35, "clients.python_example.py": 60, "clients.python_engine.py": 25, "c.program.py": 8, "c.abi.py": 3, "api.java_client.py": 40, "api.go_client.py": 20, "api.pages.py": 30,
    "engine.PagesConcurrencyTest": 15, "server.process.py": 10, "ingest.IngestMock": 12,
    "engine.Every/HistoryRotTest": 20, "engine.HistoryRotTest": 20, "recovery.VerifyFilesTest": 20,
    "engine.PowerCutTest": 20, "recovery.Every/RepairTest": 16, "engine.PowerOrderTest": 15,
    "engine.IngestFaults": 10, "engine.Every/RotTest": 7, "engine.Each/HealTest": 5,
    "engine.Each/EveryIoTest": 5,
}

# Tests in which the processors mostly wait: for a broker, a deadline, a disk, slow peers. ctest gives
# them one place, those that compute two (`-j` is three times the processors).
WAITING = ("packages.packages.py", "backup.", "console.nodes.py", "ops.dashboards.py", "lies.http.py", "lies.old_store.py", "lies.topics.py", "ingest.", "transfer.moves.py", "replica.", "router.", "cluster.commands.py", "cluster.nodes.py", "cluster.Follower", "http.slow_peers.py", "http.protocol.py", "server.process.py", "server.kill.py",
           "server.history_kill.py", "clients.python.py", "clients.go.py", "clients.cpp.py", "tool.ready.py", "api.checkpoint.py", "lint.docker.py",
           "tool.load.py", "tool.redis.py", "migration.", "tool.produce.py", "http.HTTP", "http.Listener")

# Scripts whose clients ask three nodes as fast as they can and hold limits of time against the answers
# (cluster_load.py). ctest gives each four places: no two of them run at once.
CLUSTERS = ("router.any_node.py", "router.campaign.py", "router.cuts.py", "router.faults.py", "router.kills.py")

# What only `tools/test --all` runs, by the beginning of its name.
ONLY_ALL = ("packages.packages.py", "console.running.py", "console.nodes.py", "ops.dashboards.py", "console.console.py", "lies.topics.py", "router.kills.py", "router.cuts.py", "router.campaign.py", "api.java_client.py", "api.python_client.py", "api.go_client.py", "connect.clients.py", "clients.python_install.py", "clients.python_example.py", "clients.cluster_client.py", "clients.typescript.py", "clients.java.py", "ingest.kills.py",
            "server.retail.py", "server.kuairand_history.py", "tool.redis_import.py", "migration.logs.py")

# What takes most of the time under the address sanitizer, with every script: there each is run on every
# third day (tools/test), as its label turn0, turn1 or turn2 says. The dev build runs all of them always.
TURNS = ("admission.LaneModelTest", "admission.OverloadTest", "cluster.EmptyStartSimulation",
         "cluster.FollowerTest", "cluster.ShardsSimulation", "engine.ApartHealingTest", "engine.AttachTest",
         "engine.BucketLifeTest", "engine.CheckpointTest", "engine.ClockBackTest",
         "engine.CollectionDeletionTest", "engine.CollectionsOfShardsTest", "engine.DeletionFaultTest",
         "engine.Each/", "engine.ErasePiecesTest", "engine.ErasureExpiryTest", "engine.Every/",
         "engine.FaultsTest", "engine.FirstOfDay", "engine.FullDiskTest", "engine.HistoryCapTest",
         "engine.HistoryConcurrencyTest", "engine.HistoryPropertyTest", "engine.HistoryRotTest",
         "engine.HistoryTest", "engine.HistoryWordsTest", "engine.IngestFaults", "engine.LostDeletesTest",
         "engine.OwnWayTest", "engine.PagesConcurrencyTest", "engine.PinTest", "engine.PoisonTest",
         "engine.PoliciesTest", "engine.PowerOrderTest", "engine.ReopenTest", "engine.Times/",
         "engine.TwinsTest", "engine.VerifyPropertyTest.Nor", "engine.VerifyPropertyTest.NoSeen",
         "engine.VerifyTest", "engine.WindowFprTest", "filter.FilterKernels.MeasuredRate",
         "http.ListenerLimitTest", "ingest.ForgottenTest", "ingest.IngestMockTest", "ingest.PublisherTest",
         "ingest.TopicAnewTest", "recovery.Every/", "recovery.RepairTest", "recovery.VerifyFilesTest",
         "replica.ApplierSimulation", "replica.LogCutsSimulation", "replica.ReplicasTest",
         "router.StaleViewsSimulation", "simulation.SimulationTest.ASeed",
         "simulation.SimulationTest.Catches", "transfer.MoveTest", "transfer.SnapshotsTest",
         "transfer.TransferLiesTest", "wire.FilterJsonTest.Agrees")


# What takes most of the time in the dev build, nearly all of it on a real Kafka, on real logs or with
# tools of other languages: `tools/test --all` runs each on every third day, as its label day0, day1 or
# day2 says; `ctest --test-dir build/dev -L '^day'` runs all.
DAYS = ("router.cuts.py", "router.kills.py", "ingest.kills.py",
        "router.campaign.py", "replica.nodes_apply.py", "ingest.broker.py",
        "replica.topics.py", "server.kuairand_history.py", "server.kuairand.py",
        "tool.redis_import.py", "migration.logs.py", "server.retail.py",
        "api.java_client.py", "api.go_client.py", "api.python_client.py",
        "clients.java.py", "clients.typescript.py", "clients.go.py", "connect.clients.py")


class Declared:
    """Labels, time limit and expected cost of the tests of one source of a part."""

    def __init__(self, part, source):  # a compiler may have been given `source` as a relative path
        folder, name = source.split(os.sep)[-2:]
        labels, self.timeout_s = KINDS[folder]
        self.labels = [part] + [label for label in labels if label != part]
        if "concurrency" in name:
            self.labels.append("tsan")

    def lines(self, name, command, environment, working_folder):
        cost_s = next((time for begin, time in SECONDS.items() if name.startswith(begin)), 0)
        labels = self.labels + ([LONG] if name.startswith(ONLY_ALL) else [])
        labels += ["day%d" % (i % 3) for i, begin in enumerate(DAYS) if name.startswith(begin)]
        if name.endswith(".py") or name.startswith(TURNS):
            labels.append("turn%d" % (zlib.crc32(name.encode()) % 3))
        return ["add_test([==[%s]==] %s)" % (name, " ".join("[==[%s]==]" % a for a in command)),
                "set_tests_properties([==[%s]==] PROPERTIES LABELS [==[%s]==] TIMEOUT %d COST %d "
                "PROCESSORS %d SKIP_RETURN_CODE 77 WORKING_DIRECTORY [==[%s]==] "
                "ENVIRONMENT [==[%s]==])" %
                (name, ";".join(labels), self.timeout_s, cost_s,
                 4 if name.startswith(CLUSTERS) else 1 if name.startswith(WAITING) else 2, working_folder, ";".join(environment))]


def cases_of(program):
    """(name, source) of each case of a GoogleTest program."""
    if not os.path.exists(program):
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tests.json")
        subprocess.run([program, "--gtest_list_tests", "--gtest_output=json:" + path],
                       stdout=subprocess.DEVNULL, check=True, timeout=60)
        with open(path, encoding="utf-8") as file:
            suites = json.load(file)["testsuites"]
    return [(suite["name"] + "." + case["name"], case["file"])
            for suite in suites for case in suite["testsuite"]]


def declare(given):
    lines = []
    programs = {part: os.path.join(given.programs, part + "_tests") for part in given.part}
    home = os.path.dirname(given.tests)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for part, cases in zip(programs, pool.map(cases_of, programs.values())):
            for name, source in cases:
                command = [programs[part], "--gtest_filter=" + name]
                lines += Declared(part, source).lines(part + "." + name, command, given.set, home)
    for part in given.part:
        scripts = glob.glob(os.path.join(given.tests, part, "**", "*_test.py"), recursive=True)
        for script in sorted(scripts):
            name = "%s.%s.py" % (part, os.path.basename(script)[:-len("_test.py")])
            lines += Declared(part, script).lines(name, [sys.executable, "-B", script], given.set,
                                                home)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tests", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--part", action="append", default=[])
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    text = "\n".join(declare(given)) + "\n"
    with open(given.output, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
