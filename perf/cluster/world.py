"""What the cases of perf/cluster/run share: nodes on a Kafka of this machine, a server by itself beside
them, load, and processor time."""

import json
import os
import random
import shutil
import struct
import subprocess
import tempfile
import time

from kafka import Broker
from log_writer import partition_of
from seendb_client import Server, eventually, free_port

from .brokers import Brokers

NAME = "figures"
PARTITIONS = 12
REPLICAS = 2
SECRET = "the-secret-of-the-nodes"
START_S = 60
DAY_MS = 86_400_000


def post(target, body, content_type="application/json", headers=""):
    """A request as bytes."""
    if not isinstance(body, bytes):
        body = json.dumps(body, separators=(",", ":")).encode()
    head = ("POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\n%sContent-Length: %d\r\n\r\n" %
            (target, content_type, headers, len(body)))
    return head.encode() + body


def long_id(number):
    """An id of 25 characters, as catalogues have them."""
    return "item-%020d" % number


def cpu_seconds(server):
    """Processor time that a server has taken so far."""
    with open("/proc/%d/stat" % server.process.pid, encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class World:
    """Nodes n1 to n3, and `alone`, all with one I/O thread."""

    def __init__(self, build, brokers=1, nodes=3):
        self.build = build
        self.folder = tempfile.mkdtemp(prefix="seendb-figures-")
        self.servers = []
        self.brokers = None
        try:
            self.brokers = Broker(heap_mb=500) if brokers == 1 else Brokers(brokers)
            self.secret = os.path.join(self.folder, "secret")
            with open(self.secret, "w", encoding="utf-8") as file:
                file.write(SECRET + "\n")
            self.tool("init", "--partitions", PARTITIONS, "--replicas", min(REPLICAS, nodes),
                      "--replication-factor", brokers)
            self.alone = self._server(None)
            self.alone.start()
            self.nodes = {}
            for number in range(1, nodes + 1):
                self.add_node("n%d" % number)
            self.settle()
        except BaseException:
            self.close()
            raise

    def close(self):
        for server in self.servers:
            server.close()
        if self.brokers:
            self.brokers.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def tool(self, command, *arguments):
        done = subprocess.run([os.path.join(self.build, "bin", "seendb"), "cluster", command,
                               "--brokers", self.brokers.address, "--name", NAME,
                               *map(str, arguments)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stdout.decode(errors="replace"))

    def _server(self, settings):
        server = Server(config=settings, args=["--threads", "1"], start=False,
                        binary=os.path.join(self.build, "bin", "seendb-server"))
        self.servers.append(server)
        return server

    def add_node(self, name, **more):
        """Starts a node with an empty folder."""
        port = free_port()
        cluster = {"brokers": self.brokers.address, "name": NAME, "node": name,
                   "advertise": "http://127.0.0.1:%d" % port, "secret_file": self.secret, **more}
        node = self._server({"cluster": cluster})
        node.start(port=port)
        node.fixed_port = port
        node.name = name
        self.nodes[name] = node

    def replace(self, name, **more):
        """Ends a node, and starts it with an empty folder."""
        self.nodes.pop(name).close()
        self.add_node(name, **more)

    def settle(self):
        """Places the shards and waits until all serve."""
        eventually(lambda: all(
            [one["state"] for one in node.get("/cluster").json["nodes"]] == ["up"] * len(self.nodes)
            for node in self.nodes.values()), START_S)
        self.tool("rebalance", "--yes")
        self.wait_serving()

    def lists(self):
        """The names of each partition's nodes, the primary first."""
        return [[one["node"] for one in shard["replicas"]] for shard in
                next(iter(self.nodes.values())).get("/cluster").json["shards"]]

    def state(self, name, seen_by=None):
        """The states of a node's replicas by partition, as it sees them itself."""
        node = self.nodes[seen_by or name]
        return {shard["partition"]: one for shard in node.get("/cluster").json["shards"]
                for one in shard["replicas"] if one["node"] == name}

    def wait_serving(self):
        for node in self.nodes.values():
            eventually(lambda node=node: all(
                one["state"] == "serving" for shard in node.get("/cluster").json["shards"]
                for one in shard["replicas"]), START_S)

    def users_of(self, partitions, count, name="u"):
        """Users whose partition is among these."""
        found, number = [], 0
        while len(found) < count:
            user = "%s%d" % (name, number)
            if partition_of(user, PARTITIONS) in partitions:
                found.append(user)
            number += 1
        return found

    def load_plays(self, plays, collection, servers):
        """Plays as NDJSON to each of these; (user, item, at_ms)."""
        lines = [json.dumps({"user": user, "item": item, "at": at}).encode() + b"\n"
                 for user, item, at in plays]
        for server in servers:
            for begin in range(0, len(lines), 50_000):
                answer = server.post("/plays?collection=" + collection,
                                     b"".join(lines[begin:begin + 50_000]),
                                     {"Content-Type": "application/x-ndjson"})
                if answer.status != 200 or answer.json.get("refused"):
                    raise RuntimeError("plays were not taken: %r" % answer)

    def load(self, server, requests, seconds, connections):
        """Sends requests in turn; http_load's figures."""
        path = os.path.join(self.folder, "requests-%d" % random.getrandbits(32))
        with open(path, "wb") as file:
            for request in requests:
                file.write(struct.pack("<I", len(request)) + request)
        try:
            done = subprocess.run([os.path.join(self.build, "perf", "http_load"), str(server.port),
                                   str(seconds), str(connections), path],
                                  stdout=subprocess.PIPE, check=True)
        finally:
            os.remove(path)
        result = json.loads(done.stdout)
        if result["failures"]:
            raise RuntimeError("answered %(last_failure)d" % result)
        result["per_s"] = result["answers"] / result["seconds"]
        return result


class Figures:
    """Figures as driver/results.py collects them, told as they come."""

    def __init__(self, path, say):
        self.path, self.say = path, say

    def _write(self, one):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(one) + "\n")

    def add(self, scenario, case, peer, better="less", **values):
        for metric, value in values.items():
            self._write({"scenario": scenario, "case": case, "peer": peer, "metric": metric,
                         "better": better, "value": value})
        told = ", ".join("%s %.4g" % one for one in values.items())
        self.say("%s %s: %s: %s" % (scenario, " ".join(map(str, case.values())), peer, told))

    def note(self, scenario, text):
        self._write({"scenario": scenario, "note": text})


def now_ms():
    return int(time.time() * 1000)
