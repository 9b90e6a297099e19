"""The Python client as a caller of a cluster on a real Kafka: its questions go to the node that has their user, see
what it wrote before, and go on when a node is killed."""

import itertools
import os
import sys
import unittest
from urllib.parse import quote

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "clients", "python", "src"))
import real_kafka
import seendb
from cluster_nodes import PARTITIONS, ClusterNodes
from seendb_client import eventually

USERS = ["user %d" % i for i in range(40)]
ITEMS = ["v%d" % i for i in range(6)]


class ClusterClientTest(ClusterNodes):

    def setUp(self):
        self.make("clients")
        self.nodes = self.three_nodes("clients")
        self.calls = []
        self.c = seendb.Client(self.url(self.nodes[0]), cluster=True, timeout=10, retries=0,
                               on_call=lambda *call: self.calls.append(call))
        self.addCleanup(self.c.close)

    @staticmethod
    def url(server):
        return "http://127.0.0.1:%d" % server.port

    def whole(self, call):
        """The whole answer; nothing where there is none yet."""
        try:
            answer = call()
        except seendb.Error as error:
            self.assertIn(error.code, ("unavailable", "busy", "timeout", "overloaded"), error)
            return None
        return None if getattr(answer, "degraded", False) else answer

    def recorded(self, user, item):
        answer = self.whole(lambda: self.c.record_plays([(user, item)]))
        return answer is not None and answer.accepted == 1

    def unseen(self, user):
        answer = self.whole(lambda: self.c.filter(user, ITEMS))
        return None if answer is None else (answer.unseen,)

    def test_as_a_caller_does(self):
        for number, user in enumerate(USERS):
            item = ITEMS[number % len(ITEMS)]
            eventually(lambda: self.recorded(user, item), timeout=60)
            self.assertEqual(eventually(lambda: self.unseen(user)), ([v for v in ITEMS if v != item],))

        # Each is asked where its user is: no node says that it is another's (421), which would be a second try.
        own = self.c._caller._map
        self.assertEqual(own.partitions, PARTITIONS)
        self.assertEqual({url for user in USERS for url in own.urls_of(user)}, {self.url(n) for n in self.nodes})
        eventually(self.all_at_first, timeout=60)
        for server in self.nodes:  # whichever has the user
            self.filters_travel(server)

        self.calls.clear()
        asked = self.c._caller._map.urls_of(USERS[0])[0]
        next(node for node in self.nodes if self.url(node) == asked).kill()
        for number, user in enumerate(USERS):
            expected = [v for v in ITEMS if v != ITEMS[number % len(ITEMS)]]
            self.assertEqual(eventually(lambda: self.unseen(user), timeout=60), (expected,))
        self.assertGreater(max(tries for _, _, _, tries in self.calls), 1)  # of the first user, at least

    def filters_travel(self, server):
        """The node gives the filters of all users, with one key, and the ids of those who have history."""
        path = "/users/%s/filter"
        with seendb.Client(self.url(server), timeout=20, retries=0) as client:
            for user, item in zip(USERS[:8], itertools.cycle(ITEMS)):
                local = eventually(lambda: self.whole(lambda: client.local_filter(user)), timeout=60)
                self.assertEqual(local.filter(ITEMS).unseen, [v for v in ITEMS if v != item])
                first = server.get(path % quote(user))
                self.assertEqual((first.status, first.body[:6]), (200, b"SeenFD"), first)
                again = server.get(path % quote(user), {"If-None-Match": first.headers["etag"]})
                self.assertEqual((again.status, again.body), (304, b""), again)
                refused = server.get(path % quote(user) + "?format=ids")
                self.assertEqual(refused.status, 409, refused)  # the collection keeps no history

    def all_at_first(self):
        """Whether every question was answered at its first try, as a direct one."""
        self.calls.clear()
        for user in USERS:
            self.unseen(user)
        return {(status, tries) for _, _, status, tries in self.calls} == {(200, 1)}


if __name__ == "__main__":
    real_kafka.require()
    unittest.main()
