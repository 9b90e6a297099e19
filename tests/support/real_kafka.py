"""What the tests on a real Kafka share: the broker (tools/kafka), or a loud skip; the tool as a
producer; servers that consume; what is waited for."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tools", "demo", "kafka"))

import play_logs  # noqa: E402
from kafka import Broker, Unavailable, fetch  # noqa: E402
from seendb_client import Server, eventually  # noqa: E402

SKIPPED = 77
PATIENCE_S = 180


def require():
    """Ends the test as skipped, and says why, where no real Kafka can be had."""
    try:
        if shutil.which("kcat") is None:
            raise Unavailable("there is no kcat (Debian: kcat)")
        fetch()
    except Unavailable as why:
        print("SKIPPED: NO REAL KAFKA, NOTHING OF IT IS TESTED: %s" % why)
        sys.exit(SKIPPED)


class BrokerCase(unittest.TestCase):
    """Tests that share a broker and a folder."""

    @classmethod
    def setUpClass(cls):
        cls.broker = Broker()
        cls.addClassCleanup(cls.broker.stop)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name


def settings(broker, *topics, **more):
    """The server's settings to consume `topics` (names, or whole objects)."""
    listed = [{"topic": topic, "at": "at"} if isinstance(topic, str) else topic
              for topic in topics]
    kafka = {"brokers": broker.address, "start": "earliest", "topics": listed, "refresh_ms": 200,
             "commit_ms": 300, "batch_messages": 2000,
             "properties": {"reconnect.backoff.max.ms": "300"}}
    kafka.update(more)
    return {"kafka": {key: value for key, value in kafka.items() if value is not None},
            "engine": {"shards": 4}}


def tool(*arguments, expect=0, wait_s=0):
    """Runs the admin tool; its output. Where it reaches no broker, and so has done nothing, it is
    run again for `wait_s`."""
    until = time.monotonic() + wait_s
    while True:
        done = subprocess.run([play_logs.tool_binary()] + list(arguments), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        away = b"can't reach Kafka" in done.stderr or b"has no topic" in done.stderr
        if not away or time.monotonic() >= until:
            break
    assert done.returncode == expect, (arguments, done.returncode, done.stdout.decode(),
                                       done.stderr.decode())
    return done.stdout.decode()


def write_log(path, plays):
    """Plays (at_ms, user, item) as NDJSON."""
    with open(path, "w", encoding="utf-8") as file:
        for at_ms, user, item in plays:
            file.write(json.dumps({"user": user, "item": item, "at": at_ms}) + "\n")


def produce(broker, topic, path, wait_s=0):
    """Sends a log with the tool; how many messages went. A broker that is away when it begins is
    waited for."""
    summary = json.loads(tool("produce", path, "--brokers", broker.address, "--topic", topic,
                              "--json", wait_s=wait_s))
    assert summary["failed"] == 0, summary
    return summary["sent"]


def send(broker, topic, lines, partition=None):
    """Sends "key<TAB>payload" lines with kcat."""
    command = ["kcat", "-b", broker.address, "-P", "-t", topic, "-K", "\t",
               "-X", "partitioner=murmur2_random"]
    if partition is not None:
        command += ["-p", str(partition)]
    subprocess.run(command, input="".join(line + "\n" for line in lines).encode(), check=True,
                   timeout=PATIENCE_S)


def read_all(broker, topic, form):
    """Every message of a topic, by kcat's format, one per line."""
    done = subprocess.run(["kcat", "-b", broker.address, "-C", "-t", topic, "-e", "-q", "-f",
                           form + "\n"], stdout=subprocess.PIPE, check=True, timeout=PATIENCE_S)
    return done.stdout.decode().splitlines()


def topics_of(broker):
    """The names of a broker's topics."""
    done = subprocess.run(["kcat", "-b", broker.address, "-L", "-J"], stdout=subprocess.PIPE,
                          check=True, timeout=PATIENCE_S)
    return [topic["topic"] for topic in json.loads(done.stdout)["topics"]]


def ingested(server):
    return server.get("/admin/stats").json["ingested"]


def partitions(server, topic):
    """The partitions of a topic as the server shows them, by number."""
    for one in server.get("/admin/ingest").json["topics"]:
        if one["topic"] == topic:
            return {row["partition"]: row for row in one["partitions"]}
    raise AssertionError("no topic " + topic)


def wait(condition, server):
    """Waits for something of the server, patiently."""
    try:
        return eventually(condition, timeout=PATIENCE_S)
    except AssertionError:
        print("ingest: %s\n%s" % (server.get("/admin/ingest").json, server.obituary()))
        raise


def wait_read(server, topic, messages):
    """Waits until so many messages of the topic are applied, and nothing is left."""
    def done():
        rows = partitions(server, topic).values()
        applied = sum(row["applied_offset"] or 0 for row in rows)
        return applied >= messages and all(row["lag"] == 0 for row in rows)
    wait(done, server)
