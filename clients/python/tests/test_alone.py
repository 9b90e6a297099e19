"""What needs no server."""

import datetime
import os
import subprocess
import sys
import unittest

from support import seendb
from seendb import address, routing, times

HERE = os.path.dirname(os.path.abspath(__file__))


class RoutingTest(unittest.TestCase):

    def test_murmur2_is_kafkas(self):
        for text, value in (("21", -973932308), ("foobar", -790332482),
                            ("a-little-bit-long-string", -985981536),
                            ("a-little-bit-longer-string", -1486304829),
                            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
                            ("abc", 479470107)):
            self.assertEqual(routing.murmur2(text.encode()), value & 0xFFFFFFFF, text)

    def test_numbers_and_their_texts_have_one_partition(self):
        self.assertEqual(routing.partition_of(42, 64), routing.partition_of("42", 64))

    def test_positions_are_of_the_last_users(self):
        positions = routing.Positions(most=2)
        for offset, user in enumerate(("a", "b", "a", "c")):
            positions.note([user], "0:%d" % offset)
        self.assertEqual([positions.of(user) for user in ("a", "b", "c")], ["0:2", None, "0:3"])

    def test_a_position_never_goes_back(self):
        positions = routing.Positions()
        for position in ("3:10", "3:9", "5:2", "no position", ""):
            positions.note(["a"], position)
        self.assertEqual(positions.of("a"), "3:10,5:2")
        for partition in (9, 8, 7, 6, 5, 4, 3, 2, 1):  # the newest is kept, whichever it is
            positions.note(["a"], "%d:20" % partition)
        self.assertEqual(positions.of("a"), ",".join("%d:20" % partition for partition in range(1, 9)))
        positions.note(["b"], ",".join("%d:1" % partition for partition in range(9)))
        self.assertIsNone(positions.of("b"))

    def test_nodes_that_are_up_come_first(self):
        view = {"nodes": [{"node": name, "url": "http://" + name, "state": state}
                          for name, state in (("n1", "down"), ("n2", "up"), ("n3", "up"))],
                "partitions": 1, "placement_offset": 1,
                "shards": [{"partition": 0, "replicas": [{"node": name} for name in ("n1", "n3", "n2")]}]}
        self.assertEqual(routing.Map(view).urls_of("u"), ["http://n3", "http://n2", "http://n1"])


class AddressTest(unittest.TestCase):

    def test_urls(self):
        self.assertEqual(address.parse("http://h").port, 7373)
        self.assertTrue(address.parse("https://[::1]:5").secure)
        self.assertEqual(address.parse("unix:/run/s").path, "/run/s")
        for url in ("h:7373", "ftp://h", "http://", "unix:", "http://h/path"):
            with self.assertRaises(ValueError, msg=url):
                address.parse(url)


class TimesTest(unittest.TestCase):

    def test_a_time_has_a_zone(self):
        zone = datetime.timezone(datetime.timedelta(hours=2))
        self.assertEqual(times.to_ms(datetime.datetime(2026, 1, 1, 2, tzinfo=zone), "/at"),
                         times.to_ms(1_767_225_600_000, "/at"))
        for bad in (datetime.datetime(2026, 1, 1), 1.5, "now", True):
            with self.assertRaises(seendb.Error):
                times.to_ms(bad, "/at")


class GeneratedTest(unittest.TestCase):

    def test_the_async_client_is_what_the_script_makes(self):
        script = os.path.join(HERE, "..", "generate_async.py")
        done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
