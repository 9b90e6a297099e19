"""Servers by a name of DNS. What all clients do with one is in ../../conformance/names.json."""

import os
import sys
import tempfile
import time
import unittest

from support import Blocking, Liar, answer, seendb

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "tests", "support"))
from dns_stand_in import DnsStandIn  # noqa: E402
from seendb import dns  # noqa: E402
from seendb.srv import Named  # noqa: E402

UNSEEN = answer(200, b'{"unseen":["v"],"seen":0,"examined":1,"degraded":false}')
NAME = "srv+http://_seendb._tcp.liar.test"


def asked(records):
    name = Named(NAME, None, lambda _: records)
    name.refresh(True)
    name.answered.wait()
    return name


class NamesTest(unittest.TestCase):
    make = seendb.Client

    def test_a_resolver_in_place_of_a_name_server(self):
        liar, told = Liar(*[UNSEEN] * 3), []
        self.addCleanup(liar.close)

        def resolve(name):
            told.append(name)
            return [(0, 1, int(liar.url.rpartition(":")[2]), "127.0.0.1.")]
        c = self.make(NAME, resolver=resolve, timeout=10)
        self.addCleanup(c.close)
        for _ in range(3):
            self.assertEqual(c.filter("u", ["v"]).unseen, ["v"])
        self.assertEqual((told, liar.connections), (["_seendb._tcp.liar.test"], 1))

    def test_a_resolver_that_fails_or_is_slow(self):
        def slow(_):
            time.sleep(1.5)
            return []
        for resolver, why in ((lambda _: 1 / 0, "division by zero"), (slow, "no name server has answered yet")):
            calls = []
            c = self.make(NAME, resolver=resolver, timeout=1, on_call=lambda *one, calls=calls: calls.append(one[2:]))
            self.addCleanup(c.close)
            with self.assertRaisesRegex(seendb.Error, NAME.replace("+", r"\+") + ": " + why) as raised:
                c.filter("u", ["v"])
            self.assertEqual((raised.exception.code, calls), ("unavailable", [(0, 0)]))

    def test_connections_to_former_targets_end(self):
        liars = [Liar(UNSEEN), Liar(UNSEEN)]
        for liar in liars:
            self.addCleanup(liar.close)
        ports = [int(liar.url.rpartition(":")[2]) for liar in liars]
        c = self.make(NAME, resolver=lambda _: [(0, 0, ports[0], "127.0.0.1")], timeout=10)
        self.addCleanup(c.close)
        c.filter("u", ["v"])
        caller = getattr(c, "_client", c)._caller
        name = caller._names[0]
        name._resolve, name.asked = lambda _: [(0, 0, ports[1], "127.0.0.1")], float("-inf")
        name.refresh(False)
        name.answered.wait()
        c.filter("u", ["v"])
        self.assertEqual([address.port for address in caller._pools], ports[1:])


class AsyncNamesTest(NamesTest):
    make = Blocking


class RecordsTest(unittest.TestCase):

    def test_targets_are_chosen_by_priority_and_weight(self):
        name = asked([(20, 1, 7, "last"), (10, 1, 7, "seldom"), (10, 9, 7, "often"), (10, 0, 7, "hardly")])
        orders = [[(rank, address.host) for rank, address in name.ranked()] for _ in range(2_000)]
        self.assertEqual({tuple(sorted(one)) for one in orders}, {((0, "hardly"), (0, "often"), (0, "seldom"), (1, "last"))})
        first = [one[0][1] for one in orders]
        self.assertTrue(1_600 < first.count("often") < 1_950, first.count("often"))
        self.assertEqual({one[3] for one in orders}, {(1, "last")})

    def test_sixty_four_targets_at_most_each_once(self):
        name = asked([(n // 2, 0, 7, "h%d." % (n // 2)) for n in range(199, -1, -1)])
        self.assertEqual([(rank, address.host) for rank, address in name.ranked()], [(n, "h%d" % n) for n in range(64)])

    def test_records_that_are_wrong(self):
        for records in ([], [(0, 0, 0, "h")], [(0, 0, 65_536, "h")], [(0, 0, 7, "h/x")], [(0, 0, 7, ".")] * 2, [(0, -1, 7, "h")], [("0", 0, 7)], 7):
            name = asked(records)
            self.assertEqual(name.ranked(), [])
            self.assertNotEqual(name.error, "the service is not there", records)
        self.assertEqual(asked([(0, 0, 0, ".")]).error, "the service is not there")

    def test_urls_that_are_no_names(self):
        for url in ("srv+http://", "srv+ftp://h", "srv+unix:/s", "srv+http://h:80", "srv+http://h/x", "srv+http://[::1]"):
            with self.assertRaises(ValueError):
                seendb.Client(url)
        with self.assertRaises(ValueError):
            seendb.Client(NAME, dns=":53")

    def test_what_a_name_server_says(self):
        for says, why in (("refused", "it refuses"), ("malformed", "its answer is malformed"), ("a loop", "its answer is malformed"),
                          ("no such name", "there is no such name"), ([], "there is no such record"), ("another", "timed out")):
            with DnsStandIn([says]) as server, self.assertRaisesRegex((OSError, ValueError), why):
                dns.lookup(server.address)[0]("x.test")
        with DnsStandIn(["cut", [(1, 2, 3, "a.test")]]) as server:
            resolve, address = dns.lookup(server.address)
            self.assertEqual((resolve("x.test"), address("a.test")), ([(1, 2, 3, "a.test")], "127.0.0.1"))

    def test_the_systems_name_servers(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("# nameserver 1.1.1.1\nnameserver 10.0.0.1\nsearch x\nnameserver fe80::1%eth0\n")
            file.flush()
            self.assertEqual(dns._system(file.name), [("10.0.0.1", 53), ("fe80::1%eth0", 53)])
        self.assertEqual(dns._system("/nowhere"), [("127.0.0.1", 53)])


if __name__ == "__main__":
    unittest.main()
