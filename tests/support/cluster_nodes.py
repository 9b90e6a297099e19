"""Servers that are nodes of a cluster on a real Kafka, for tests: one broker a class."""

import os
import tempfile
import unittest

from cluster_load import set_answer, set_question
from log_writer import partition_of
from openapi_check import CheckedServer
import peer_proof
from real_kafka import Broker
from seendb_client import Server, eventually, free_port
from tool_runner import OK, run

SECRET = "a-secret-of-the-nodes"
PARTITIONS = 4
FILTER_MOST = 1_500


class ClusterNodes(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.broker = cls.make_broker()
        cls.addClassCleanup(cls.broker.stop)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.secret_file = os.path.join(cls.folder, "secret")
        with open(os.open(cls.secret_file, os.O_CREAT | os.O_WRONLY, 0o600), "w",
                  encoding="utf-8") as file:
            file.write(SECRET + "\n")

    @classmethod
    def make_broker(cls):
        return Broker()

    def make(self, name, *more):
        done = run("cluster", "init", "--brokers", self.broker.address, "--name", name,
                   "--partitions", PARTITIONS, "--replication-factor", 1, *more)
        self.assertEqual(done.code, OK, done)

    def rebalance(self, name):
        done = run("cluster", "rebalance", "--brokers", self.broker.address, "--name", name,
                   "--yes")
        self.assertEqual(done.code, OK, done)

    def settings(self, name, node, port, /, certificate=None, kafka=None, **more):
        """`certificate`: the files (certificate, key) of a node that is reached by TLS; `kafka`: what it
        consumes beside the cluster's log; `more`: of `cluster`."""
        scheme = "https" if certificate else "http"
        given = {"brokers": self.broker.address, "name": name, "node": node,
                 "advertise": "%s://127.0.0.1:%d" % (scheme, port),
                 "secret_file": self.secret_file}
        given.update(more)
        tls = {"tls": dict(zip(("certificate", "key"), certificate))} if certificate else {}
        return {"cluster": given, "limits": {"shutdown_delay_ms": 0}, "core_dumps": True,  # for wire.owns
                **tls,
                **({"kafka": kafka} if kafka else {})}

    def node(self, name, node, tls=None, db=None, env=None, binary=None, **more):
        """A server that is a node; it is closed when the test ends. `tls`: an ssl.SSLContext for the
        clients of one that has a certificate; `db`: a folder that is there; the others: as of Server."""
        port = free_port()
        server = CheckedServer(config=self.settings(name, node, port, **more), start=False, tls=tls,
                               db=db, env=env, binary=binary)
        self.addCleanup(server.close)
        server.start(port=port)
        server.fixed_port = port
        server.node_name = node
        return server

    def refused(self, settings, db=None):
        """The exit code and the log of a server that does not start."""
        server = Server(config=settings, db=db, start=False)
        self.addCleanup(server.close)
        server.start(wait=False)
        code = server.process.wait(60)
        return code, server.log_text()

    def three_nodes(self, name, **more):
        """Three of them in zones of their own, that all serve, with two replicas of each partition."""
        return self.place(name, [self.node(name, "n%d" % i, zone="z%d" % i, **more)
                                 for i in (1, 2, 3)])

    def place(self, name, nodes, count=2 * PARTITIONS):
        self.wait_up(*nodes)
        self.rebalance(name)
        self.wait_serving(*nodes, count=count)
        return nodes

    def wait_up(self, *nodes):
        """Each of them sees all."""
        up = {"n%d" % i: "up" for i in range(1, len(nodes) + 1)}
        for server in nodes:
            eventually(lambda: self.states(server) == up, timeout=60)

    def replica_states(self, server):
        """(partition, node): state, as the server sees it."""
        return {(shard["partition"], one["node"]): one["state"]
                for shard in server.get("/cluster").json["shards"] for one in shard["replicas"]}

    def next_offset(self, server, partition, node):
        """How far a node has applied the log of a partition, as the server sees it."""
        replicas = server.get("/cluster").json["shards"][partition]["replicas"]
        return next(one["next_offset"] for one in replicas if one["node"] == node)

    def wait_serving(self, *nodes, count=1):
        """Each of them sees that all replicas serve, so many of them at least."""
        def serving(server):
            states = list(self.replica_states(server).values())
            return set(states) == {"serving"} and len(states) >= count
        for server in nodes:
            eventually(lambda: serving(server), timeout=90)

    def wait_applied(self, server):
        """Each replica has applied a record, a tick at least: restarted without Kafka, it is behind, and
        not one that may lack all."""
        def applied():
            shards = server.get("/cluster").json["shards"]
            return all(one["next_offset"] > 0 for shard in shards for one in shard["replicas"])
        eventually(applied, timeout=30)

    def expect_alike(self, nodes, users):
        """Each replica, asked alone, has what its users were acknowledged, and all have the same.
        `users`: User (cluster_load.py) by name."""
        by_name = dict(zip(("n%d" % i for i in range(1, len(nodes) + 1)), nodes))
        lists = [[one["node"] for one in shard["replicas"]]
                 for shard in nodes[0].get("/cluster").json["shards"]]
        for name, known in users.items():
            items, gone = known.names()[-FILTER_MOST:], known.gone[-FILTER_MOST:]
            whole = [*items, *gone, *known.open_items[-FILTER_MOST:], "never"]
            position = {"SeenDB-Position": known.position} if known.position else {}
            question = {"user": name, "items": whole}
            answers = {}
            for node in lists[partition_of(name, len(lists))]:
                answer = self.ask_alone(by_name[node], question, position)
                self.assertEqual(answer.status, 200, (node, answer))
                self.assertFalse(answer.json["degraded"], (node, answer))
                answers[node] = answer.json["unseen"]
                self.assertEqual(set(items) & set(answers[node]), set(), (node, name))
                self.assertEqual(set(gone) - set(answers[node]), set(), (node, name))
            self.assertEqual(len({tuple(unseen) for unseen in answers.values()}), 1, answers)
            if known.version is not None:
                for node in lists[partition_of(name, len(lists))]:
                    answer = self.ask_alone(by_name[node], set_question(name, known), position)
                    self.assertEqual((answer.status, answer.json.get("unseen")), (200, set_answer(known)), (node, answer))

    @staticmethod
    def ask_alone(server, question, headers=()):
        """What a node answers to a filter, as if another one passed it on: it asks nobody else."""
        passed_on = {"SeenDB-Hop": "1", "SeenDB-Caller": "anybody", **dict(headers)}
        return peer_proof.ask(server, SECRET, server.node_name, "POST", "/filter", question, passed_on)[0]

    def alone(self, server, user, items):
        """What the node itself says is unseen, nobody else asked; nothing where it does not say."""
        answer = self.ask_alone(server, {"user": user, "items": items})
        return answer.json["unseen"] if answer.status == 200 else None

    def states(self, server):
        answer = server.get("/cluster")
        self.assertEqual(answer.status, 200, answer)
        return {one["node"]: one["state"] for one in answer.json["nodes"]}
