"""`seendb cluster` on a real Kafka: clusters are made, shown and changed by records of X.meta."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
import real_kafka
from real_kafka import PATIENCE_S, Broker, read_all, topics_of
from tool_runner import (DAMAGE, INCOMPATIBLE, NOT_FOUND, OK, UNAVAILABLE, USAGE, run, tool_binary)


def member(node, zone=None, weight=1):
    return {"v": 1, "kind": "member", "node": node, "url": "http://%s:7373" % node,
            "zone": zone or node, "weight": weight, "build": "test"}


def setUpModule():
    ClusterCase.broker = Broker()
    unittest.addModuleCleanup(ClusterCase.broker.stop)
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    ClusterCase.folder = folder.name


class ClusterCase(unittest.TestCase):
    broker, folder = None, None  # of all tests

    def cluster(self, command, name, *more, code=OK):
        done = run("cluster", command, *more, "--brokers", self.broker.address, "--name", name)
        self.assertEqual(done.code, code, (command, more, done))
        return done

    def make(self, name, partitions=8, replicas=2, members=()):
        self.cluster("init", name, "--partitions", partitions, "--replicas", replicas,
                     "--replication-factor", 1)
        for one in members:
            self.append(name, member(one) if isinstance(one, str) else one)

    def append(self, name, record):
        """Writes a record as a node would."""
        subprocess.run(["kcat", "-b", self.broker.address, "-P", "-t", name + ".meta", "-p", "0"],
                       input=json.dumps(record).encode(), check=True, timeout=PATIENCE_S)

    def status(self, name):
        return self.cluster("status", name, "--json").json

    def lists(self, name):
        return [[one["node"] for one in shard["replicas"]] for shard in self.status(name)["shards"]]


class UpgradeTest(ClusterCase):

    def test_the_logs_version_is_raised_once_all_members_read_it(self):
        self.make("newest")
        self.assertEqual(self.status("newest")["log_version"], 3)
        init = json.loads(subprocess.run(
            ["kcat", "-b", self.broker.address, "-C", "-t", "newest.meta", "-e", "-q"],
            stdout=subprocess.PIPE, check=True, timeout=PATIENCE_S).stdout)
        del init["log_version"]  # as older software made it
        self.broker.topic("before.meta", 1)
        self.append("before", init)
        self.append("before", dict(member("n1"), log_version=3))
        self.append("before", member("n2"))
        shown = self.cluster("upgrade", "before", "--json").json
        self.assertEqual(shown, {"log_version": 1, "read_by_all": 1, "raised": False})
        refused = self.cluster("upgrade", "before", "--finish", code=INCOMPATIBLE)
        self.assertIn("n2", refused.err)
        self.assertNotIn("n1", refused.err)
        self.append("before", dict(member("n2"), log_version=3))
        self.assertNotIn("before.sets", topics_of(self.broker))
        raised = self.cluster("upgrade", "before", "--finish", "--json").json
        self.assertIn("before.sets", topics_of(self.broker))
        self.assertEqual(raised, {"log_version": 3, "read_by_all": 3, "raised": True})
        again = self.cluster("upgrade", "before", "--finish", "--json").json
        self.assertEqual(again, {"log_version": 3, "read_by_all": 3, "raised": False})


class MakingTest(ClusterCase):

    def test_a_cluster_is_made_once(self):
        done = self.cluster("init", "once", "--partitions", 8, "--replication-factor", 1)
        self.assertIn("for trials only", done.out)
        self.assertLessEqual({"once.log", "once.meta", "once.sets"}, set(topics_of(self.broker)))
        record = json.loads(read_all(self.broker, "once.meta", "%s")[0])
        self.assertEqual({key: record[key] for key in ("kind", "partitions", "replicas", "hash")},
                         {"kind": "init", "partitions": 8, "replicas": 2, "hash": 2})
        self.assertRegex(record["key"], "^[0-9a-f]{32}$")
        self.assertRegex(record["uuid"], "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
        self.cluster("init", "other", "--partitions", 8, "--replication-factor", 1)
        other = json.loads(read_all(self.broker, "other.meta", "%s")[0])
        self.assertNotEqual(record["key"], other["key"])
        self.assertNotEqual(record["uuid"], other["uuid"])
        again = self.cluster("init", "once", "--partitions", 8, "--replication-factor", 1,
                             code=INCOMPATIBLE)
        self.assertIn("there is a cluster once already", again.err)
        wider = self.cluster("init", "once", "--partitions", 16, "--replication-factor", 1,
                             code=INCOMPATIBLE)
        self.assertIn("once.log has 8 partitions, not 16", wider.err)
        self.assertEqual(len(read_all(self.broker, "once.meta", "%s")), 1)

    def test_the_topics_keep_what_must_be_kept(self):
        self.make("kept")
        text = self.broker.run("kafka.admin.ConfigCommand", "--bootstrap-server",
                               self.broker.address, "--entity-type", "topics", "--describe")
        settings = {}
        for about in text.split("Dynamic configs for topic ")[1:]:
            topic = about.split(" ", maxsplit=1)[0]
            settings[topic] = dict(re.findall(r"(?m)^ *([a-z.]+)=([^ ]+) sensitive", about))
        self.assertEqual(settings["kept.log"], {
            "cleanup.policy": "delete", "retention.ms": "259200000", "retention.bytes": "-1",
            "message.timestamp.type": "CreateTime", "min.insync.replicas": "1",
            "unclean.leader.election.enable": "false"})
        self.assertEqual(settings["kept.meta"], {
            "cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1",
            "min.insync.replicas": "1", "unclean.leader.election.enable": "false"})
        self.assertEqual(settings["kept.sets"], {
            "cleanup.policy": "compact", "segment.bytes": "104857600",
            "min.insync.replicas": "1", "unclean.leader.election.enable": "false"})

    def test_copies_that_the_brokers_can_not_keep(self):
        done = self.cluster("init", "safe", "--partitions", 4, code=UNAVAILABLE)
        self.assertIn("replication factor", done.err.lower())

    def test_a_database_joins(self):
        db = os.path.join(self.folder, "joining")
        for name, policy in (("default", '{"window":3}'), ("video", '{"bucket":"days:5"}')):
            done = run("collections", "put", name, policy, "--db", db)
            self.assertEqual(done.code, OK, done)
        with open(os.path.join(db, "SEENDB"), encoding="utf-8") as file:
            identity = json.load(file)
        wrong = self.cluster("init", "taken", "--from", db, "--partitions", 64,
                             "--replication-factor", 1, code=INCOMPATIBLE)
        self.assertIn("has 4 shards", wrong.err)
        self.cluster("init", "taken", "--from", db, "--replication-factor", 1)
        records = [json.loads(line) for line in read_all(self.broker, "taken.meta", "%s")]
        init, video = records
        self.assertEqual((init["uuid"], init["hash"], init["key"], init["partitions"], init["at_ms"]),
                         (identity["id"], 2, identity["hash_key"], identity["shards"], 0))
        self.assertEqual(init["default_policy"]["window"], 3)
        self.assertEqual((video["name"], video["patch"]["bucket"], video["at_ms"]),
                         ("video", "days:5", 0))

    def test_what_can_not_be_reached_is_named(self):
        done = run("cluster", "status", "--brokers", "127.0.0.1:1", "--name", "feed")
        self.assertEqual(done.code, UNAVAILABLE)
        self.assertIn("can't reach Kafka at 127.0.0.1:1", done.err)
        self.assertIn("there is no cluster nobody",
                      self.cluster("status", "nobody", code=NOT_FOUND).err)
        self.cluster("status", "a/b", code=USAGE)

    def test_settings_of_librdkafka_come_from_a_file(self):
        self.make("tuned")
        path = os.path.join(self.folder, "kafka.properties")
        for text, code, said in (("# ours\n\nclient.id=me\n", OK, ""),
                                 ("no.such.property=1\n", USAGE, "no.such.property"),
                                 ("acks=1\n", USAGE, "acks is not for others to set"),
                                 ("enable.idempotence=false\n", USAGE, "enable.idempotence"),
                                 ("client.id\n", USAGE, ":1: write NAME=VALUE")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = self.cluster("status", "tuned", "--kafka-config", path, code=code)
            self.assertIn(said, done.err)


class ChangingTest(ClusterCase):

    def test_shards_follow_the_members(self):
        self.make("moving")
        empty = self.cluster("rebalance", "moving", "--yes", code=INCOMPATIBLE)
        self.assertIn("no node is a member", empty.err)
        for node in ("n1", "n2", "n3"):
            self.append("moving", member(node))
        self.assertEqual(self.status("moving")["placement_offset"], -1)
        refused = self.cluster("rebalance", "moving", code=USAGE)
        self.assertIn("nothing is written without --yes", refused.err)
        self.assertIn("replicas that nodes get: 16", refused.out)
        self.assertEqual(self.lists("moving"), [])
        self.cluster("rebalance", "moving", "--yes")
        lists = self.lists("moving")
        self.assertEqual({len(set(one)) for one in lists}, {2})
        held = sorted(sum(node in one for one in lists) for node in ("n1", "n2", "n3"))
        self.assertEqual(held, [5, 5, 6])
        self.assertIn("nothing moves", self.cluster("rebalance", "moving", "--yes").out)
        self.append("moving", member("n4"))
        self.assertEqual(self.lists("moving"), lists)  # until somebody asks for it
        added = self.cluster("add", "moving", "n4", "--yes", "--json").json
        self.assertEqual({one["node"] for one in added["moves"] if one["change"] == "added"},
                         {"n4"})
        self.assertEqual(sum("n4" in one for one in self.lists("moving")), 4)
        self.cluster("remove", "moving", "n1", "--yes")
        self.assertEqual(sum("n1" in one for one in self.lists("moving")), 0)
        self.assertTrue([one for one in self.status("moving")["nodes"]
                         if one["node"] == "n1"][0]["leaving"])
        self.assertIn("n1 (leaving)", self.cluster("status", "moving").out)
        self.assertIn("nothing moves", self.cluster("rebalance", "moving", "--yes").out)
        self.cluster("remove", "moving", "n1", "--yes")
        self.assertNotIn("n1", [one["node"] for one in self.status("moving")["nodes"]])
        self.cluster("remove", "moving", "n1", "--yes", code=NOT_FOUND)

    def test_a_removal_is_taken_back(self):
        self.make("back", members=("n1", "n2"))
        self.cluster("rebalance", "back", "--yes")
        self.cluster("remove", "back", "n2", "--yes")
        self.cluster("add", "back", "n2", "--yes")
        self.assertEqual(sum("n2" in one for one in self.lists("back")), 8)
        self.assertNotIn("leaving", self.status("back")["nodes"][1])
        self.cluster("remove", "back", "n1", "--yes")
        last = self.cluster("remove", "back", "n2", "--yes", code=INCOMPATIBLE)
        self.assertIn("n2 is the last node", last.err)

    def test_one_replica_is_moved(self):
        self.make("hand", partitions=1, replicas=1, members=("n1", "n2"))
        self.cluster("rebalance", "hand", "--yes")
        self.assertEqual(self.lists("hand"), [["n1"]])
        move = ["--partition", 0, "--from", "n1", "--to", "n2", "--yes"]
        self.cluster("move", "hand", *move)
        self.assertEqual(self.lists("hand"), [["n2"]])
        self.cluster("move", "hand", *move, code=USAGE)

    def test_of_two_placements_at_once_one_wins(self):
        self.make("race", members=("n1", "n2"))
        command = [tool_binary(), "cluster", "rebalance", "--brokers", self.broker.address,
                   "--name", "race", "--yes"]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for _ in range(2)]
        codes = sorted([one.wait(PATIENCE_S) for one in both])
        for one in both:
            one.communicate()
        self.assertEqual(codes[0], OK)
        self.assertIn(codes[1], (OK, INCOMPATIBLE))
        records = [json.loads(line) for line in read_all(self.broker, "race.meta", "%s")]
        placed = [at for at, one in enumerate(records) if one["kind"] == "placement"]
        self.assertEqual(self.status("race")["placement_offset"], placed[0])

    def test_a_record_that_is_not_known_is_not_passed_over(self):
        self.make("newer", members=("n1",))
        self.append("newer", {"v": 1, "kind": "lease", "node": "n1"})
        self.append("newer", member("n2"))
        for command in ("status", "rebalance"):
            done = self.cluster(command, "newer", code=INCOMPATIBLE)
            self.assertIn("newer.meta, offset 2", done.err)
            self.assertIn("lease", done.err)

    def test_records_that_are_gone_are_not_passed_over(self):
        self.make("gone", members=("n1", "n2"))
        self.broker.truncate("gone.meta", 0, 2)
        done = self.cluster("status", "gone", code=DAMAGE)
        self.assertIn("begins at offset 2; the records from 0 on are gone", done.err)

    def test_rubbish_does_not_count(self):
        self.make("rubbish", members=("n1",))
        self.append("rubbish", {"hello": "world"})
        self.append("rubbish", {"v": 1, "kind": "placement", "base": -1, "assign": [["n9"]] * 8})
        self.append("rubbish", member("n2"))
        self.assertEqual([one["node"] for one in self.status("rubbish")["nodes"]], ["n1", "n2"])
        self.assertEqual(self.lists("rubbish"), [])

    def test_every_example_of_the_help_works(self):
        db = os.path.join(self.folder, "db")
        self.assertEqual(run("collections", "put", "default", "--db", db).code, OK)
        os.symlink(os.path.abspath(tool_binary()), os.path.join(self.folder, "seendb"))
        lines = []
        for name in ("init", "status", "add", "remove", "rebalance", "move"):
            text = run("cluster", name, "--help").out
            lines += [(name, line) for line in re.findall(r"(?m)^ *(seendb cluster .*)$", text)]
        self.assertGreaterEqual(len(lines), 7)
        order = ("init", "status", "rebalance", "add", "move", "remove")
        for name, line in sorted(lines, key=lambda one: order.index(one[0])):
            done = subprocess.run(
                line.replace("localhost:9092", self.broker.address), shell=True, cwd=self.folder,
                env=dict(os.environ, PATH=self.folder + ":" + os.environ["PATH"]),
                stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, check=False)
            self.assertEqual(done.returncode, OK, (line, done))
            if "feed" in line and name == "init":
                for node in ("n1", "n2"):
                    self.append("feed", member(node))
            if name == "rebalance":
                self.append("feed", member("n3"))
            if name == "add":  # the example moves partition 0 from n1 to n3
                self.append("feed", {"v": 1, "kind": "placement",
                                     "base": self.status("feed")["placement_offset"],
                                     "assign": [["n1", "n2"]] * 64})


if __name__ == "__main__":
    real_kafka.require()
    unittest.main()
