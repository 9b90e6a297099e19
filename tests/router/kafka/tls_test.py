"""Three nodes on a real Kafka that reach each other by TLS: questions, plays and shards go over it; a
node whose certificate is another authority's, has ended or is for another name is as if it were away."""

import os
import ssl
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
import real_kafka
from certificates import Authority
from cluster_nodes import PARTITIONS, ClusterNodes
from seendb_client import eventually, whole
from tool_runner import USAGE

USERS = ["u%d" % i for i in range(16)]


class TlsTest(ClusterNodes):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ca = Authority(cls.folder)
        cls.tls = ssl.create_default_context(cafile=cls.ca.path)

    def secure(self, name, node, certificate=None, tls=None):
        return self.node(name, node, tls=tls or self.tls, ca=self.ca.path,
                         certificate=certificate or self.ca.make(name + node))

    @staticmethod
    def opened(server):
        """How many connections it has accepted."""
        lines = server.get("/metrics").body.decode().splitlines()
        return next(float(line.split()[1]) for line in lines
                    if line.startswith("seendb_http_connections_total"))

    def test_everything_between_nodes_goes_over_tls(self):
        self.make("feed")
        first = self.secure("feed", "n1")
        self.wait_up(first)
        self.rebalance("feed")
        self.wait_serving(first, count=PARTITIONS)
        self.play(first, "a")
        nodes = [first, self.secure("feed", "n2"), self.secure("feed", "n3")]
        self.wait_up(*nodes)
        self.rebalance("feed")
        self.wait_serving(*nodes, count=2 * PARTITIONS)
        fetched = sum(server.log_text().count('"shard_fetched"') for server in nodes[1:])
        self.assertGreaterEqual(fetched, PARTITIONS)
        for index, server in enumerate(nodes):
            self.play(server, "b%d" % index)
        items = ["a", "b0", "b1", "b2", "never"]
        for server in nodes:
            for user in USERS:
                question = {"user": user, "items": items}
                answer = eventually(lambda: whole(server.post("/filter", question)))
                self.assertEqual(answer.json["unseen"], ["never"], answer)

        before = [self.opened(server) for server in nodes]
        for user in USERS:  # two of three nodes pass the question on
            for server in nodes:
                self.assertEqual(server.post("/filter", {"user": user, "items": items}).status, 200)
        # Connections are kept, but for those on which a slow node was waited for in vain.
        opened = [self.opened(server) for server in nodes]
        self.assertLessEqual(sum(opened) - sum(before), len(USERS), (before, opened))

    def play(self, server, item):
        events = [{"user": user, "item": item} for user in USERS]
        eventually(lambda: server.post("/plays", {"events": events}).status == 200)

    def test_a_certificate_that_is_not_right_is_refused(self):
        self.make("strange")
        first = self.secure("strange", "n1")
        other = Authority(self.folder, "other")
        unchecked = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # the test's own client has to get in
        unchecked.check_hostname = False
        unchecked.verify_mode = ssl.CERT_NONE
        wrong = {"n2": (other.make("n2"), "unable to get local issuer certificate"),
                 "n3": (self.ca.make("wrong", "IP:127.0.0.2"), "IP address mismatch"),
                 "n4": (self.ca.make("ended", days=-1), "certificate has expired")}
        for node, (certificate, _) in wrong.items():
            self.secure("strange", node, certificate, unchecked)
        eventually(lambda: self.states(first) == {"n1": "up", **dict.fromkeys(wrong, "down")})
        for node, (_, why) in wrong.items():
            told = "node %s does not answer: TLS: the server's certificate is refused: %s" % (
                node, why)
            eventually(lambda: first.log_text().count(told))
        # Once, not with each probe; again where a slow probe failed otherwise meanwhile.
        lines = [line for line in first.log_text().splitlines() if "n2 does not answer: TLS" in line]
        over = sum('"problem_over"' in line for line in lines)
        self.assertLessEqual(len(lines) - over, over + 1, lines)

    def test_a_member_without_tls_is_not_asked(self):
        self.make("clear")
        first = self.secure("clear", "n1")
        clear = self.node("clear", "n2", ca=self.ca.path)
        eventually(lambda: self.states(first) == {"n1": "up", "n2": "down"})
        told = "node n2 does not answer: http://127.0.0.1:%d is not asked: " % clear.fixed_port
        eventually(lambda: told in first.log_text())
        eventually(lambda: any(told in one for one in first.get("/readyz").json["problems"]))
        eventually(lambda: self.states(clear) == {"n1": "up", "n2": "up"})  # it asks as it is told

    def test_settings_that_do_not_fit(self):
        own = self.ca.make("own")
        for more, field in (({"certificate": own, "ca": "/absent.pem"}, "/cluster/ca"),
                            ({"certificate": own, "advertise": "http://127.0.0.1:1"},
                             "/cluster/advertise"),
                            ({"advertise": "https://127.0.0.1:1"}, "/cluster/advertise")):
            code, log = self.refused(self.settings("any", "n1", 1, **more))
            self.assertEqual(code, USAGE, log)
            self.assertIn(field, log)


if __name__ == "__main__":
    real_kafka.require()
    unittest.main()
