"""Servers with the setting `cluster` on a real Kafka: they become members, see each other come and go,
and start without Kafka."""

import json
import os
import signal
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
import real_kafka
from clock_shift import ClockShift
from cluster_nodes import PARTITIONS, SECRET, ClusterNodes
from peer_proof import ask, prove, told
from seendb_client import Server, eventually, free_port, settled, whole
from tool_runner import OK, run

INCOMPATIBLE, USAGE = 3, 2


class NodesTest(ClusterNodes):

    def test_nodes_become_members_and_see_each_other(self):
        self.make("feed")
        nodes = [self.node("feed", "n%d" % i, zone="z%d" % i) for i in (1, 2, 3)]
        up = {"n1": "up", "n2": "up", "n3": "up"}
        for server in nodes:
            eventually(lambda: self.states(server) == up)
        # Any node says where the cluster's log is.
        self.assertEqual(run("cluster", "add", "n1", "--url", nodes[0].url, "--name", "feed").code, USAGE)
        placed = run("cluster", "rebalance", "--url", nodes[2].url, "--yes")
        self.assertEqual(placed.code, OK, placed)
        for server in nodes:
            eventually(lambda: len(server.get("/cluster").json["shards"]) == 4)
        report = nodes[0].get("/cluster").json
        self.assertEqual((report["name"], report["partitions"], report["replicas"]),
                         ("feed", 4, 2))
        self.assertEqual([one["zone"] for one in report["nodes"]], ["z1", "z2", "z3"])
        self.assertEqual({len(shard["replicas"]) for shard in report["shards"]}, {2})

        nodes[1].kill()
        for server in (nodes[0], nodes[2]):
            eventually(lambda: self.states(server) == dict(up, n2="down"))
        nodes[1].start(port=nodes[1].fixed_port)
        eventually(lambda: self.states(nodes[0]) == up)

    def status(self, server, secret=SECRET, **more):
        """The answer to a node, and the proof that was sent."""
        return ask(server, secret, "n1", "GET", "/internal/status", **more)

    def test_what_is_between_nodes_asks_for_a_proof(self):
        self.make("closed")
        server = self.node("closed", "n1")
        answer, proof = self.status(server)
        self.assertEqual((answer.status, answer.json["node"]), (200, "n1"))
        self.assertEqual(answer.json["replicas"], [])
        for wrong in ({}, {"Authorization": "Bearer " + SECRET}, {"SeenDB-Peer-Proof": ""},
                      {"SeenDB-Peer-Proof": proof + "0"}, {"SeenDB-Peer-Proof": proof[:-1] + "x"}):
            answer = server.get("/internal/status", headers=wrong)
            self.assertEqual((answer.status, answer.error["code"]), (403, "forbidden"), wrong)
        answer, _ = self.status(server, "another-secret-of-nodes")
        self.assertEqual(answer.status, 403)
        # It counts once, and in its time; the node says what time it is there.
        answer = server.get("/internal/status", headers={"SeenDB-Peer-Proof": proof})
        self.assertEqual((answer.status, answer.error["code"]), (401, "unauthorized"))
        for apart_s in (-86_400, 86_400):
            answer, proof = self.status(server, now_ms=int((time.time() + apart_s) * 1000))
            self.assertEqual(answer.status, 401)
            now_ms, _ = told(SECRET, proof, answer.headers["www-authenticate"])
            self.assertLess(abs(now_ms / 1000 - time.time()), 60)
            self.assertEqual(self.status(server, now_ms=now_ms)[0].status, 200)
        # One that was not taken before is for this process alone.
        answer, proof = self.status(server)
        _, session = told(SECRET, proof, server.get(
            "/internal/status", headers={"SeenDB-Peer-Proof": proof}).headers["www-authenticate"])
        kept = prove(SECRET, "n1", "GET", "/internal/status", to_session=session)
        server.kill()
        server.start(port=server.fixed_port)
        self.assertEqual(server.get("/internal/status", headers=kept).status, 401)
        self.assertEqual(self.status(server)[0].status, 200)

    def test_a_clock_that_is_apart_cuts_no_node_off(self):
        self.make("apart-clocks", "--replicas", 1)
        nodes = []
        for node, apart_ms in (("n1", 0), ("n2", 3_600_000)):
            clock = ClockShift(self.folder, "clock-" + node)
            clock.set(apart_ms)
            nodes.append(self.node("apart-clocks", node, env=clock.env))
        self.place("apart-clocks", nodes, count=PARTITIONS)
        for index, server in enumerate(nodes):  # each passes on what the other one has
            for user in ("u%d" % i for i in range(12)):
                play = {"events": [{"user": user, "item": "i%d" % index}]}
                eventually(lambda: server.post("/plays", play).status == 200)
                question = {"user": user, "items": ["i0", "i1"]}
                answer = eventually(lambda: whole(server.post("/filter", question)))
                self.assertNotIn("i%d" % index, answer.json["unseen"])
        self.assertIn("clock", " ".join(nodes[0].get("/readyz").json["problems"]))

    def test_secrets_are_changed_while_nodes_run(self):
        self.make("rotated")
        own = {}
        for node in ("n1", "n2"):
            own[node] = os.path.join(self.folder, "rotated-" + node)
            self.write_secrets(own[node], SECRET)
        nodes = {node: self.node("rotated", node, secret_file=own[node]) for node in own}
        up = {"n1": "up", "n2": "up"}
        for server in nodes.values():
            eventually(lambda: self.states(server) == up)
        fresh = "a-secret-of-tomorrow"
        for secrets in ((SECRET, fresh), (fresh, SECRET), (fresh,)):
            for node, server in nodes.items():
                loaded = server.log_text().count('"cluster_secret_loaded"')
                self.write_secrets(own[node], *secrets)
                server.process.send_signal(signal.SIGHUP)
                eventually(lambda: server.log_text().count('"cluster_secret_loaded"') > loaded)
                for secret in (SECRET, fresh):
                    self.assertEqual(self.status(nodes["n1"], secret)[0].status == 200,
                                     secret in open(own["n1"], encoding="utf-8").read())
                eventually(lambda: [self.states(one) for one in nodes.values()] == [up, up])
        for one in nodes.values():
            self.assertNotIn("does not answer: answers 403", one.log_text())
        # What is no secret leaves those of before.
        self.write_secrets(own["n1"], fresh, "short")
        nodes["n1"].process.send_signal(signal.SIGHUP)
        eventually(lambda: '"cluster_secret_refused"' in nodes["n1"].log_text())
        self.assertEqual(self.status(nodes["n1"], fresh)[0].status, 200)

    @staticmethod
    def write_secrets(path, *secrets):
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write("".join(secret + "\n" for secret in secrets))
        os.chmod(path + ".new", 0o600)
        os.rename(path + ".new", path)

    def test_another_secret_is_as_if_the_node_were_away(self):
        self.make("apart")
        other = os.path.join(self.folder, "other-secret")
        with open(other, "w", encoding="utf-8") as file:
            file.write("0123456789abcdef-another\n")
        first = self.node("apart", "n1")
        self.node("apart", "n2", secret_file=other)
        eventually(lambda: self.states(first) == {"n1": "up", "n2": "down"})
        eventually(lambda: "node n2 does not answer: answers 403" in first.log_text())

    def test_it_starts_without_kafka(self):
        self.make("alone")
        server = self.node("alone", "n1")
        eventually(lambda: self.states(server) == {"n1": "up"})
        self.assertEqual(server.terminate(), 0)
        path = os.path.join(self.folder, "away.json")
        given = self.settings("alone", "n1", server.fixed_port, brokers="127.0.0.1:1")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(given, file)
        server.args = ["--config", path]
        server.start(port=server.fixed_port)
        self.assertEqual(self.states(server), {"n1": "up"})
        eventually(lambda: "cluster: topic alone.meta" in server.log_text())

    def test_a_node_that_starts_lets_clients_wait(self):
        """Until it knows whom to ask: the first answer is the right one."""
        self.make("waits")
        nodes = self.place("waits", [self.node("waits", "n%d" % i) for i in (1, 2)])
        users = ["u%d" % i for i in range(20)]
        for user in users:
            play = {"events": [{"user": user, "item": "v"}]}
            answer = eventually(lambda: settled(nodes[1].post("/plays", play)))
            self.assertEqual(answer.status, 200, answer)
        for user in users[:5]:
            nodes[0].kill()
            nodes[0].start(port=nodes[0].fixed_port, wait=False)
            answer = self.first_answer(nodes[0], {"user": user, "items": ["v", "w"]})
            self.assertEqual((answer.status, answer.json["unseen"]), (200, ["w"]), answer)
            nodes[0].wait_ready()

    @staticmethod
    def first_answer(server, question):
        def ask():
            try:
                return server.post("/filter", question)
            except ConnectionError:
                server.forget_clients()
                return None
        return eventually(ask, timeout=15, pause=0.001)

    def test_a_cluster_that_is_made_later(self):
        port = free_port()
        server = Server(config=self.settings("later", "n1", port), start=False)
        self.addCleanup(server.close)
        server.start(port=port, wait=False)
        eventually(lambda: "topic later.meta" in server.log_text())
        self.make("later")
        server.wait_ready()
        eventually(lambda: self.states(server) == {"n1": "up"})

    def test_what_is_looked_at_by_hand(self):
        self.make("hand", "--replicas", 1)
        nodes = [self.node("hand", "n%d" % i) for i in (1, 2)]
        eventually(lambda: self.states(nodes[0]) == {"n1": "up", "n2": "up"})
        self.rebalance("hand")
        for server in nodes:
            eventually(lambda: list(self.replica_states(server).values()) == ["serving"] * 4, timeout=60)
        events = [{"user": "u%d" % i, "item": "a"} for i in range(40)]
        eventually(lambda: nodes[0].request("POST", "/plays", {"events": events}).status == 200)
        done = run("cluster", "status", "--url", nodes[0].url)
        self.assertEqual(done.code, OK, done)
        self.assertIn("all replicas are serving", done.out)
        self.assertRegex(done.out, r"n2 +n2 +up +2 +2 +2 ")
        self.assertEqual(run("cluster", "status", "--url", nodes[0].url, "--json").json["name"],
                         "hand")
        eventually(lambda: 250_000 < self.margin(nodes[0]) <= 3 * 86_400, timeout=60)
        self.assertIn("\nseendb_cluster_fetching 0\n", nodes[0].get("/metrics").body.decode())

        for server in nodes:  # each has two of the four shards
            kept = self.backups_of(server)
            done = run("backup", "create", kept, "--url", server.url, "--json")
            self.assertEqual((done.code, done.code or done.json["shards"]), (OK, 2), done)
            self.assertEqual(run("backup", "restore", kept, kept + "-restored").code, OK)
            done = run("verify", "--db", kept + "-restored")
            self.assertEqual(done.code, OK, done)
            self.assertIn(" of 4 shards", done.err)

        found = 0
        for server in nodes:
            self.assertEqual(server.terminate(), 0)
            for command in ("stats", "verify", "buckets", "ingest"):
                done = run(command, "--db", server.db)
                self.assertEqual(done.code, OK, done)
                self.assertIn("a node of a cluster, which has ", done.err)
                self.assertIn(" of 4 shards", done.err)
            done = run("ingest", "--db", server.db, "--json")
            self.assertEqual((done.code, done.err), (OK, ""))
            self.assertEqual(run("repair", "--db", server.db).out, "nothing to repair\n")
            copy = os.path.join(self.folder, "copy-" + os.path.basename(server.folder))
            self.assertEqual(run("checkpoint", copy, "--db", server.db).code, OK)
            done = run("backup", "create", self.backups_of(server), "--db", server.db, "--json")
            self.assertEqual((done.code, done.code or done.json["id"]), (OK, 2), done)
            codes = [run("inspect", one["user"], "--db", server.db).code for one in events[:8]]
            found += codes.count(OK)
            self.assertEqual(run("ingest", "--db", server.db, "--forget", "hand.log").code, OK)
        self.assertEqual(found, 8)

    def backups_of(self, server):
        return os.path.join(self.folder, "backups-" + os.path.basename(server.folder))

    @staticmethod
    def margin(server):
        for line in server.get("/metrics").body.decode().splitlines():
            if line.startswith("seendb_log_margin_seconds "):
                return float(line.split()[1])
        return 0

    def test_a_folder_that_is_another_databases_is_refused(self):
        self.make("home")
        db = os.path.join(self.folder, "foreign")
        self.assertEqual(run("collections", "put", "default", "--db", db).code, OK)
        code, log = self.refused(self.settings("home", "n1", free_port()), db)
        self.assertEqual(code, INCOMPATIBLE, log)
        self.assertIn("holds the database of somebody else", log)
        self.assertIn("reshard", log)
        status = run("cluster", "status", "--brokers", self.broker.address, "--name", "home",
                     "--json").json
        self.assertEqual(status["nodes"], [])  # it did not become a member

    def test_a_database_that_joined_is_taken(self):
        db = os.path.join(self.folder, "joins")
        self.assertEqual(run("collections", "put", "default", "--db", db).code, OK)
        done = run("cluster", "init", "--brokers", self.broker.address, "--name", "joins",
                   "--from", db, "--replication-factor", 1)
        self.assertEqual(done.code, OK, done)
        port = free_port()
        server = Server(config=self.settings("joins", "n1", port), db=db, start=False)
        self.addCleanup(server.close)
        server.start(port=port)
        eventually(lambda: self.states(server) == {"n1": "up"})

    def secrets(self, *secrets):
        path = os.path.join(self.folder, "secrets-%d-%d" % (len(secrets), len(secrets[0])))
        self.write_secrets(path, *secrets)
        return path

    def test_settings_that_no_node_can_have(self):
        for change, field in (({"advertise": "10.0.0.1:7373"}, "/cluster/advertise"),
                              ({"advertise": "https://h:1"}, "/cluster/advertise"),
                              ({"node": "a b"}, "/cluster/node"),
                              ({"zone": "a/b"}, "/cluster/zone"),
                              ({"name": "a/b"}, "/cluster/name"),
                              ({"secret_file": "/absent"}, "/cluster/secret_file"),
                              ({"secret_file": self.secrets("x" * 15)}, "/cluster/secret_file"),
                              ({"secret_file": self.secrets("x" * 16, "y")}, "/cluster/secret_file"),
                              ({"secret_file": self.secrets("x" * 16, "y" * 16, "z" * 16)},
                               "/cluster/secret_file"),
                              ({"properties": {"no.such": "1"}}, "/cluster/properties/no.such"),
                              ({"properties": {"acks": "1"}}, "/cluster/properties/acks"),
                              ({"properties": {"enable.idempotence": "false"}},
                               "/cluster/properties/enable.idempotence")):
            code, log = self.refused(self.settings("any", "n1", free_port(), **change))
            self.assertEqual(code, USAGE, (change, log))
            self.assertIn(field, log, change)


if __name__ == "__main__":
    real_kafka.require()
    unittest.main()
