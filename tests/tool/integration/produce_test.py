"""seendb produce without a real Kafka: a broker that is not there, and librdkafka's own mock."""

import socket
import time
import unittest

from tool_runner import NOW_MS, ROWS, UNAVAILABLE, USAGE, ToolCase

MOCK = ["--brokers", "kafka:9092", "--topic", "plays", "--property", "test.mock.num.brokers=1"]


class ProduceTest(ToolCase):

    def setUp(self):
        super().setUp()
        self.log = self.write("a.csv", "user,item,at\n" + "u1,v1,%d\n" % NOW_MS * 9)

    def test_a_wrong_broker_fails_soon_with_one_line(self):
        with socket.socket() as bound:  # not listening: connections are refused
            bound.bind(("127.0.0.1", 0))
            for broker in ("127.0.0.1:%d" % bound.getsockname()[1], "no-such-host.invalid:9092"):
                began = time.monotonic()
                done = self.tool("produce", self.log, "--brokers", broker, "--topic", "plays",
                                 code=UNAVAILABLE)
                self.assertLess(time.monotonic() - began, 30)  # it waits for 8 s
                self.assertEqual(len(done.err.splitlines()), 1, done)
                self.assertIn("can't reach Kafka at %s: " % broker, done.err)
                self.assertEqual(done.out, "")

    def test_what_is_there_is_sent(self):
        report = self.tool("produce", self.log, *MOCK, "--json").json
        self.assertEqual((report["rows"], report["sent"], report["bad"]), (9, 9, 0))

    def test_bad_rows(self):
        with open(self.log, "a", encoding="utf-8") as file:
            file.write("bad\n")
        done = self.tool("produce", self.log, *MOCK, "--json", code=ROWS)
        self.assertEqual((done.json["sent"], done.json["bad"]), (9, 1))
        self.assertEqual([row["row"] for row in done.json["bad_rows"]], [10])
        self.assertEqual(done.error["code"], "rows_refused")
        self.tool("produce", self.log, *MOCK, "--max-refused", "9%", code=ROWS)
        self.tool("produce", self.log, *MOCK, "--max-refused", "10%")
        self.tool("produce", self.log, *MOCK, "--max-refused", "some", code=USAGE)


if __name__ == "__main__":
    unittest.main()
