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
        for user in ("a", "b", "a", "c"):
            positions.note([user], "of " + user)
        self.assertEqual([positions.of(user) for user in ("a", "b", "c")], ["of a", None, "of c"])


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
