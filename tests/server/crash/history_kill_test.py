"""Watch history under kill -9: what was deleted, cleared (from filters too, where that was asked)
or played in a pause never comes back, and nothing acknowledged is missing.

Viewers play, resume, report late, delete, clear, pause and look at their lists, each at users of
its own, while the ring drains, buckets are sealed and dropped and the clock crosses months. Of what
a kill left without an answer either outcome is right, and whichever it was must last.

    SEENDB_KILLS=300 SEENDB_SEED=7 SEENDB_SERVER=... python3 tests/server/crash/history_kill_test.py
"""

import os
import random
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "support")]

from history_kill_model import COLLECTIONS, ITEMS, Viewer, Watcher  # noqa: E402
from kill_model import ManualClock, Model  # noqa: E402
from kill_rounds import BEGIN_MS, SEED, SMALL, KillRounds  # noqa: E402
from kill_workers import Admin  # noqa: E402
from sample import sampled  # noqa: E402
from seendb_client import Server  # noqa: E402

KILLS = int(os.environ.get("SEENDB_KILLS") or sampled(26, 13))
# Exact filters: what is called seen was played.
POLICY = {"window": 2, "retention": 4, "durability": "interval", "max_future": "2400h",
          "representation": "exact",
          "history": {"enabled": True, "days": 1000}}


class Keeper(Admin):
    """Everything that is done to a database with history, but for copies."""

    def work(self):
        chosen = self.chance.choices(
            [self.move_clock, self.drain, self.seal_closed, self.seal_one, self.drop, self.compact,
             self.look], [8, 8, 1, 2, 2, 0.5, 1])[0]
        chosen()
        self.model.count(chosen.__name__)


class HistoryKillTest(KillRounds):

    NEEDED = ("plays", "deletions", "clears", "pauses", "drain", "checked entries",
              "checked filters")

    def test_history(self):
        self.model = Model(ManualClock(BEGIN_MS))
        self.watchers = [Watcher("w%d" % i) for i in range(12)]
        self.run_rounds(KILLS, Server(clock_ms=BEGIN_MS, config={"engine": SMALL}))

    def prepare(self):
        for name, bucket in COLLECTIONS.items():
            put = self.server.put("/collections/" + name, dict(POLICY, bucket=bucket))
            self.assertEqual(put.status, 200, put)

    def crew(self, ends, number):
        workers = []
        for i in range(3):
            chance = random.Random("%d/%d/v%d" % (SEED, number, i))
            worker = Viewer(self.model, self.server, ends, chance, "v%d.%d" % (i, number))
            worker.watchers = self.watchers[4 * i:4 * i + 4]
            workers.append(worker)
        chance = random.Random("%d/%d/keeper" % (SEED, number))
        return workers + [Keeper(self.model, self.server, ends, chance, "keeper.%d" % number)]

    def check(self, when, number):
        self.assertEqual(self.model.failures, [], "%s, seed %d" % (when, SEED))
        self.check_health(when)
        for watcher in self.watchers:
            where = "%s, seed %d, %s" % (when, SEED, watcher.user)
            recording = self.server.get("/users/%s/recording" % watcher.user).json
            listed = {name: {} for name in COLLECTIONS}
            for entry in self.pages(watcher.user, self.chance.choice([1, 7, 1000])):
                self.assertNotIn(entry["item"], listed[entry["collection"]], where)
                listed[entry["collection"]][entry["item"]] = (entry["at"], entry["progress_s"])
            wrong = watcher.settle(listed, recording, self.model.clock.target)
            self.assertEqual(wrong, [], where)
            for name in COLLECTIONS:
                found = self.server.post("/users/%s/history/lookup" % watcher.user,
                                         {"collection": name, "items": ITEMS}).json["entries"]
                self.assertEqual({one["item"]: (one["at"], one["progress_s"]) for one in found},
                                 listed[name], where)
                self.model.count("checked entries", len(found))
                unseen = self.server.post("/filter", {"user": watcher.user, "collection": name,
                                                      "items": ITEMS}).json["unseen"]
                gone = [item for item in ITEMS if (name, item) not in watcher.sent]
                self.assertEqual([item for item in gone if item not in unseen], [],
                                 where + ": cleared from the filter of " + name)
                self.model.count("checked filters", len(gone))

    def pages(self, user, limit):
        """All entries; they come in order."""
        path, cursor, last = "/users/%s/history?limit=%d" % (user, limit), "", None
        while True:
            answer = self.server.get(path + cursor)
            self.assertEqual((answer.status, answer.json["degraded"]), (200, False), answer)
            for entry in answer.json["entries"]:
                place = (-entry["at"], entry["collection"], entry["item"])
                self.assertTrue(last is None or place > last, (user, last, place))
                last = place
                yield entry
            if "cursor" not in answer.json:
                return
            cursor = "&cursor=" + answer.json["cursor"]


if __name__ == "__main__":
    print("seed %d (SEENDB_SEED), %d kills (SEENDB_KILLS)" % (SEED, KILLS), flush=True)
    unittest.main(verbosity=2)
