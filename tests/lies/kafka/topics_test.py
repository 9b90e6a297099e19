"""Lies in the topics of a real Kafka: messages of a business, what a cluster is (X.meta) and what happened
to its users (X.log). And a member of a cluster that lies to the other nodes."""

import http.server
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from player import MB, Row, ServerPlayer

import real_kafka
from cluster_nodes import PARTITIONS, SECRET, ClusterNodes
from fresh_seed import seed_of
from log_writer import LogWriter, header
from peer_proof import ask
from real_kafka import PATIENCE_S, Broker, partitions, settings
from seendb_client import Server, eventually

SEED = seed_of("lies")
MESSAGE_MOST = 900_000  # below the broker's own limit of a batch
SWOLLEN = 100 * MB


def noise(size):
    return random.Random(SEED).randbytes(size)


def send(broker, topic, message, *more):
    """One message, as it is."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(message)
        file.flush()
        subprocess.run(["kcat", "-b", broker.address, "-P", "-t", topic, "-p", "0", *more, file.name], check=True,
                       timeout=PATIENCE_S)


class Messages(ServerPlayer):
    reader = "messages of a topic"

    @classmethod
    def setUpClass(cls):
        cls.broker = Broker()
        cls.addClassCleanup(cls.broker.stop)
        cls.broker.topic("t", 1)
        cls.broker.topic("swollen", 1)
        config = dict(settings(cls.broker, {"topic": "t"}, {"topic": "swollen"}), engine={"shards": 1}, core_dumps=True)
        cls.server = Server(config=config)
        cls.addClassCleanup(cls.server.close)
        cls.sent = cls.letters = 0

    def read(self):
        """Waits until all that was sent is read."""
        eventually(lambda: (partitions(self.server, "t")[0]["applied_offset"] or 0) >= self.sent and
                   partitions(self.server, "t")[0]["lag"] == 0, timeout=60)

    def lied_to(self, message, *more):
        before = partitions(self.server, "t").get(0, {}).get("dead_letters", 0)
        send(self.broker, "t", message, *more)
        type(self).sent += 1
        self.read()
        return "%d dead letters more" % (partitions(self.server, "t")[0]["dead_letters"] - before)

    def stopped_by(self, size):
        """A zstd batch of which librdkafka takes nothing, in a topic of its own: nothing is passed over, and it is
        said."""
        send(self.broker, "swollen", b" " * size, "-z", "zstd", "-X", "message.max.bytes=300000000")
        return eventually(lambda: " ".join(self.server.get("/readyz").json["problems"]), timeout=60)

    def honest(self):
        item = "honest%d" % self.sent
        send(self.broker, "t", json.dumps({"user": "u", "item": item}).encode())
        type(self).sent += 1
        self.read()
        self.assertEqual(self.server.post("/filter", {"user": "u", "items": [item, "x"]}).json["unseen"], ["x"],
                         self.server.get("/admin/ingest").json)

    def rows(self):
        self.honest()

        def row(lie, name, message, *more, says="^1 ", most=24 * MB):
            return Row(lie, name, lambda: self.lied_to(message, *more), says, most, within_s=60)
        event = b'{"user":"u","item":"i"}'
        half = MESSAGE_MOST // 2
        yield row("too_deep", "lists", b"[" * half + b"]" * half)
        yield row("too_deep", "fields", b'{"user":"u","item":"i","fields":' + b"[" * half + b"]" * (half - 99) + b"}",
                  says=None)
        yield row("too_long", "an id", b'{"user":"%s","item":"i"}' % (b"u" * (MESSAGE_MOST - 99)))
        yield row("dense", "events of nothing", b"[" + b"{}," * (MESSAGE_MOST // 3 - 9) + b"{}]")
        yield row("dense", "events", b"[" + (event + b",") * (MESSAGE_MOST // 24 - 9) + event + b"]", says=None,
                  most=60 * MB)
        for body in (b"7", b"null", b'"x"', b"{}", b"\0", b'{"user":[],"item":{}}', b"[[]]", b"<html>"):
            yield row("wrong_type", repr(body), body)
        yield row("negative_length", "a time", b'{"user":"u","item":"i","at":-9223372036854775808}', says=None)
        yield row("huge_length", "a time", b'{"user":"u","item":"i","at":%s}' % (b"9" * MESSAGE_MOST), says=None)
        yield row("cut", "an event", event[:-5])
        yield row("cut", "everything", b" ")
        yield row("twice", "a member", b'{"user":"u","user":"v","item":"i"}', says=None)
        yield row("noise", "of a message", noise(MESSAGE_MOST))
        for codec, size in (("gzip", SWOLLEN), ("zstd", SWOLLEN // 2), ("lz4", SWOLLEN // 2), ("snappy", 10 * MB)):
            # librdkafka unpacks a batch as a whole; the broker's limit is of what it stores.
            yield row("swollen", codec, b" " * size, "-z", codec, "-X", "message.max.bytes=300000000",
                      most=4 * SWOLLEN)
        yield Row("swollen", "zstd beyond receive.message.max.bytes", lambda: self.stopped_by(SWOLLEN),
                  "topic swollen can't be read, partition 0: .*receive.message.max.bytes", most=SWOLLEN, within_s=60)


class Nodes(ClusterNodes):
    """A cluster `X` of one node with one partition, at `server`."""

    def setUpNode(self, name):
        self.name = name
        self.make(name, "--replicas", "1")
        server = self.node(name, "n1")
        self.wait_up(server)
        self.rebalance(name)
        self.wait_serving(server, count=PARTITIONS)
        return server


class Meta(ServerPlayer, Nodes):
    reader = "records of a cluster: X.meta"

    def setUp(self):
        self.server = self.setUpNode("m")
        self.count = 0

    def lied_to(self, record, more):
        send(self.broker, "m.meta", record, *more)
        self.honest()
        return self.server.log_text()[-20_000:]

    def honest(self):
        self.count += 1
        name = "c%d" % (self.count % 20)
        send(self.broker, "m.meta", json.dumps({"v": 1, "kind": "collection", "name": name, "at_ms": 1,
                                                "patch": {"window": 1 + self.count % 5}}).encode())
        eventually(lambda: (answer := self.server.get("/collections/" + name)).status == 200 and
                   answer.json["window"] == 1 + self.count % 5, timeout=30)
        answer = self.server.post("/plays", {"events": [{"user": "u", "item": "i%d" % self.count}]})
        self.assertEqual((answer.status, answer.json["accepted"]), (200, 1), answer)

    def rows(self):
        def row(lie, name, record, says="record_refused", most=24 * MB, more=()):
            return Row(lie, name, lambda: self.lied_to(record, more), says, most, within_s=40)
        half = 450_000
        begin = b'{"v":1,"kind":"collection","name":"d","at_ms":1,"patch":'
        yield row("too_deep", "a patch", begin + b"[" * half + b"]" * half + b"}")
        yield row("too_deep", "objects", b'{"a":' * (half // 3) + b"1" + b"}" * (half // 3))
        yield row("too_long", "a record", b'{"v":1,"kind":"collection","name":"%s"}' % (b"n" * 1_000_000),
                  more=("-X", "message.max.bytes=2000000"))
        yield row("dense", "members", b"{" + b'"":0,' * 190_000 + b'"":0}', most=60 * MB)
        yield row("dense", "a placement", b'{"v":1,"kind":"placement","base":0,"assign":[' + b"[]," * 300_000 + b"[]]}",
                  most=90 * MB)
        for body in (b"7", b"[]", b"null", b"\0", b"<html>",
                     b'{"v":1,"kind":"member","node":7,"url":[],"zone":{},"weight":"x","build":0}',
                     b'{"v":1,"kind":"placement","base":-1,"assign":7}',
                     b'{"v":1,"kind":"collection","name":"d","at_ms":1,"patch":{"window":"x"}}'):
            yield row("wrong_type", repr(body[:40]), body)
        yield row("negative_length", "a weight",
                  b'{"v":1,"kind":"member","node":"n9","url":"http://h:1","zone":"z","weight":-1,"build":"x"}')
        yield row("huge_length", "a version", b'{"v":1,"kind":"log_version","version":18446744073709551616}')
        yield row("cut", "a record", begin[:-20])
        yield row("twice", "an init", json.dumps({"v": 1, "kind": "init", "uuid": "x", "partitions": 1, "replicas": 1,
                                                  "hash": 1, "at_ms": 0}).encode(), says=None)
        yield row("twice", "a member of an object", b'{"v":1,"v":1,"kind":"leave","node":"n7"}', says=None)
        yield row("out_of_order", "a placement on none", b'{"v":1,"kind":"placement","base":99999,"assign":[["n1"]]}',
                  says=None)
        yield row("out_of_order", "a leave of nobody", b'{"v":1,"kind":"leave","node":"n7"}', says=None)
        yield row("noise", "of a record", noise(MESSAGE_MOST))


class Log(ServerPlayer, Nodes):
    reader = "records of a cluster: X.log"

    def setUp(self):
        self.server = self.setUpNode("l")
        self.writer = LogWriter(self.broker.address, "l.log")
        self.addCleanup(self.writer.close)

    def lied_to(self, value, kind=1, head=None, key=b"u"):
        for partition in range(4):
            self.writer.write(partition, head if head is not None else header(kind), key=key, value=value)
        self.honest()
        return self.server.log_text()[-20_000:]

    def honest(self):
        answer = self.server.post("/plays", {"events": [{"user": "honest", "item": "i"}]})
        self.assertEqual((answer.status, answer.json["accepted"]), (200, 1), answer)
        answer = eventually(lambda: (got := self.server.post("/filter", {"user": "honest", "items": ["i", "x"]})).status
                            == 200 and got)
        self.assertEqual(answer.json["unseen"], ["x"])

    def rows(self):
        def row(lie, name, value, kind=1, head=None, key=b"u", says="log_record_refused", most=40 * MB):
            return Row(lie, name, lambda: self.lied_to(value, kind, head, key), says, most, within_s=30)
        half = 250_000
        bodies = {1: b'{"events":[%s]}', 2: b'{"user":"u","items":[%s]}', 4: b'{"items":[%s]}', 5: b'{"a":%s}',
                  6: b'{"paused":%s}', 7: b'{"topic":%s}', 9: b'{"collection":"default","key":"k","users":[%s]}'}
        for kind, body in bodies.items():
            yield row("too_deep", "kind %d" % kind, body % (b"[" * half + b"]" * half), kind)
            yield row("dense", "kind %d" % kind, body % (b"{}," * 170_000 + b"{}"), kind, says=None)
            for value in (b"7", b"[]", b"", b"\0", b"null", body % b'{"user":[]}'):
                yield row("wrong_type", "kind %d: %r" % (kind, value), value, kind, says=None)
            yield row("cut", "kind %d" % kind, (body % b'{"user":"u"')[:-3], kind)
            yield row("noise", "kind %d" % kind, noise(500_000), kind)
            yield row("twice", "kind %d" % kind, (body % b"") * 2, kind)
        for kind in (3, 8):  # their records have no value
            yield row("wrong_type", "kind %d with a value" % kind, noise(10_000), kind, says=None)
        yield row("noise", "a key", b"", kind=3, key=noise(200), says=None)
        yield row("too_long", "a value", b'{"events":[' + b" " * 600_000 + b"]}")
        yield row("too_long", "a user", b"", kind=3, key=b"u" * 5_000)
        yield row("wrong_type", "a user of no text", b"", kind=3, key=b"\xff\xfe")
        yield row("negative_length", "a time", b'{"events":[{"user":"u","item":"i","at":-5}]}', says=None)
        yield row("negative_length", "an offset", b'{"topic":"t","partition":-1,"offset":-9}', kind=7)
        # A damaged header stops its partition and is named, by design: the record may be an erasure.
        yield row("huge_length", "a partition", b'{"topic":"t","partition":18446744073709551616,"offset":1}', kind=7)
        yield row("huge_length", "a time", b'{"events":[{"user":"u","item":"i","at":%s}]}' % (b"9" * 400_000))
        yield row("out_of_order", "a told without its plays", b'{"topic":"plays","partition":3,"offset":12}', kind=7,
                  says=None)


class LyingMember(http.server.ThreadingHTTPServer):
    """A member that answers what `answers` says: bytes, a pause in seconds, None (it hangs up)."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), LyingMember.Handler)
        self.answers, self.asked = [], 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.server.asked += 1
            self.close_connection = True
            try:
                for piece in self.server.answers:
                    if isinstance(piece, bytes):
                        self.wfile.write(piece)
                        self.wfile.flush()
                    else:
                        time.sleep(piece)
            except OSError:
                pass

        do_POST = do_DELETE = do_GET

        def log_message(self, *_):
            pass


def answered(body, status=200, length=None, more=b""):
    return (b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %s\r\n" %
            (status, b"%d" % len(body) if length is None else length) + more + b"\r\n" + body)


class Member(ServerPlayer, Nodes):
    reader = "answers of a node, to another"

    def setUp(self):
        self.server = self.setUpNode("p")
        self.liar = LyingMember()
        self.addCleanup(self.liar.server_close)
        self.addCleanup(self.liar.shutdown)
        url = "http://127.0.0.1:%d" % self.liar.server_address[1]
        send(self.broker, "p.meta", json.dumps({"v": 1, "kind": "member", "node": "n2", "url": url, "zone": "z2",
                                                "weight": 1, "build": "x", "log_version": 2}).encode())
        eventually(lambda: "n2" in self.states(self.server), timeout=30)

    def lied_to(self, *answers):
        """The probes of some rounds get this."""
        self.liar.answers, before = answers, self.liar.asked
        eventually(lambda: self.liar.asked >= before + 2, timeout=20)
        said = "n2 is " + self.states(self.server)["n2"]
        self.liar.answers = [answered(b"{}", 503)]
        return said

    def honest(self):
        answer = self.server.post("/plays", {"events": [{"user": "honest", "item": "i"}]})
        self.assertEqual((answer.status, answer.json["accepted"]), (200, 1), answer)
        self.assertEqual(self.states(self.server)["n1"], "up")

    def rows(self):
        answer, _ = ask(self.server, SECRET, "n1", "GET", "/internal/status")
        report = answer.body  # what an honest node says of itself
        self.assertIn(b'"n1"', report)
        other = report.replace(b'"n1"', b'"n2"')

        def row(lie, name, *answers, most=40 * MB):
            return Row(lie, name, lambda: self.lied_to(*answers), "n2 is ", most, within_s=25)
        yield row("too_deep", "lists", answered(b"[" * 3 * MB + b"]" * 3 * MB))
        yield row("too_deep", "in a report", answered(other[:-1] + b',"x":' + b"[" * MB + b"]" * MB + b"}"))
        yield row("too_long", "a report", answered(other + b" " * 70 * MB), most=140 * MB)
        yield row("too_long", "a head", b"HTTP/1.1 200 OK\r\nX: " + b"y" * MB)
        yield row("dense", "lists", answered(b"[" + b"[]," * 20 * MB + b"[]]"), most=200 * MB)
        for body in (b"7", b"[]", b"null", b"{}", b"<html>", b'{"node":7}', b'{"node":"n2","replicas":7}',
                     other.replace(b":", b":-"), other.replace(b'"', b"")):
            yield row("wrong_type", repr(body[:30]), answered(body))
        yield row("negative_length", "a body", answered(other, length=b"-1"))
        yield row("huge_length", "a body", answered(other, length=b"9223372036854775807"))
        yield row("slow", "a head", b"HTTP/1.1 ", 5)
        yield row("slow", "a body", answered(other, length=b"%d" % (len(other) + 99)), *([b" ", 0.5] * 10))
        yield row("cut", "a report", answered(other[:len(other) // 2]))
        yield row("cut", "before a byte")
        yield row("twice", "an answer", answered(other) * 2)
        yield row("twice", "another's report", answered(report))
        yield row("out_of_order", "a report of yesterday", answered(other))
        yield row("swollen", "gzip that nobody asked for", answered(
            b"\x1f\x8b\x08" + b"\0" * 999, more=b"Content-Encoding: gzip\r\n"))
        yield row("noise", "of a megabyte", noise(MB))
        yield row("noise", "as a report", answered(noise(MB)))


del Nodes, ClusterNodes  # they hold no test of their own

if __name__ == "__main__":
    real_kafka.require()
    print("SEENDB_SEED=%d" % SEED, flush=True)
    unittest.main()
