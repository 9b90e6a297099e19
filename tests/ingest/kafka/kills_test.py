"""kill -9 of the server, of the broker, of both, at random moments while plays are produced and
consumed: at the end every play is filtered, each message of the topic counts once, and each user's
first play of the day was told.

    SEENDB_KILLS=300 SEENDB_SEED=7 python3 tests/ingest/kafka/kills_test.py
"""

import json
import os
import random
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import play_logs
import real_kafka
from fresh_seed import seed_of
from real_kafka import (Broker, Server, ingested, partitions, produce, read_all, settings, wait,
                        wait_read, write_log)

SEED = seed_of("ingest_kills")
KILLS = int(os.environ.get("SEENDB_KILLS", "32"))
USERS = 400
CHUNK = 1_500
ALIVE_S = 0.5  # the server lives up to so long after it is ready
# What is killed besides the server, by the round modulo its key's.
BROKER_EVERY, BOTH_EVERY = 11, 13


class Producer(threading.Thread):
    """Sends chunk after chunk until told to stop; what was sent, the broker has."""

    def __init__(self, broker, folder):
        super().__init__(daemon=True)
        self.broker, self.path = broker, os.path.join(folder, "chunk.ndjson")
        self.chance = random.Random("%d/plays" % SEED)
        self.plays, self.stop, self.failure = [], threading.Event(), None

    def run(self):
        try:
            while not self.stop.is_set():
                at_ms = int(time.time() * 1000) - 60_000
                chunk = [(at_ms, "u%d" % self.chance.randrange(USERS),
                          "i%d" % self.chance.randrange(1_000_000)) for _ in range(CHUNK)]
                write_log(self.path, chunk)
                produce(self.broker, "plays", self.path, wait_s=300)  # it is killed, too
                self.plays += chunk
        except BaseException as failure:  # pylint: disable=broad-except
            self.failure = failure


class KillsTest(unittest.TestCase):

    def one_round(self, number):
        """The server starts, works for a moment, is killed; now and then the broker is."""
        if number % 4 == 3:  # while it opens
            self.server.start(wait=False)
            time.sleep(self.chance.uniform(0, 0.3))
        else:
            self.server.start()
            time.sleep(self.chance.uniform(0, ALIVE_S))
        if number % BROKER_EVERY == BROKER_EVERY - 1:
            self.broker.kill()
            time.sleep(self.chance.uniform(0, ALIVE_S))
            self.broker.start()
            time.sleep(self.chance.uniform(0, ALIVE_S))
        if number % BOTH_EVERY == BOTH_EVERY - 1:
            self.broker.kill()
            self.server.kill()
            self.broker.start()
            return
        self.server.kill()

    def test_kills(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.chance = random.Random("%d/main" % SEED)
        with Broker() as self.broker:
            self.broker.topic("plays", 4)
            self.broker.topic("firsts", 1)
            producer = Producer(self.broker, folder.name)
            config = settings(self.broker, {"topic": "plays", "at": "at",
                                            "first_of_day_topic": "firsts"}, batch_messages=500)
            with Server(config=config) as self.server:
                self.server.put("/collections/default", {"first_of_day": True})
                self.server.kill()
                producer.start()
                for number in range(KILLS):
                    self.one_round(number)
                producer.stop.set()
                producer.join(real_kafka.PATIENCE_S)
                self.assertFalse(producer.is_alive(), "the producer hangs")
                if producer.failure:
                    raise producer.failure
                self.check(producer.plays)

    def check(self, plays):
        self.server.start()
        # With idempotence the topic has each of them once; a tool that died could not say so.
        wait_read(self.server, "plays", len(plays))
        rows = partitions(self.server, "plays").values()
        self.assertEqual(sum(row["high_watermark"] for row in rows), len(plays))
        self.assertEqual([row["alarms"] for row in rows], [[]] * len(rows))
        self.assertEqual(ingested(self.server)["plays_accepted"], len(plays))
        facts = play_logs.Facts()
        facts.add(plays)
        asked, missed = play_logs.count_misses(self.server, "default", facts.since(0).items())
        self.assertEqual(missed[:20], [], "%d of %d" % (len(missed), asked))
        wait(lambda: self.server.get("/admin/stats").json["outbox_rows"] == 0, self.server)
        told = [json.loads(line) for line in read_all(self.broker, "firsts", "%s")]
        self.assertEqual({first["user"] for first in told}, {user for _, user, _ in plays})
        self.assertEqual({first["collection"] for first in told}, {"default"})
        stats = self.server.get("/admin/stats").json
        self.assertEqual((stats["degraded"], stats["problems"]), (False, []))
        print("%d kills: %d plays, %d of them different, all filtered, each counted once; "
              "%d first plays told" % (KILLS, len(plays), asked, len(told)))
        self.assertEqual(self.server.terminate(), 0)


if __name__ == "__main__":
    print("seed %d (SEENDB_SEED)" % SEED)
    real_kafka.require()
    unittest.main(verbosity=2)
