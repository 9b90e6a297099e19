"""A migration under kill -9 of real logs: most of a log lies in Redis as sorted sets, the rest is played
while they are imported (tests/support/migration_kills.py says what must hold)."""

import collections
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
import play_logs  # noqa: E402
import real_redis  # noqa: E402
from migration_kills import MigrationKills  # noqa: E402

USERS = 300  # the first of each log: the rest costs minutes
REST = 4_000  # plays that come during the move
HOUR_MS = 3_600_000


class LogsTest(MigrationKills, unittest.TestCase):

    def of_log(self, log, policy):
        """Plays of the log's first users, in its order."""
        users = list(dict.fromkeys(user for _, user, _ in log))[:USERS]
        chosen = set(users)
        plays = [(at_ms // 1000, user, item) for at_ms, user, item in log if user in chosen]
        past = collections.defaultdict(dict)
        for at_s, user, item in plays[:-REST]:
            past[user][item] = at_s
        rest = [play for play in plays[-REST:] if play[1] in past]
        print("%d users, %d members, %d plays" %
              (len(past), sum(len(items) for items in past.values()), len(rest)))
        self.begin(dict(past), rest, clock_ms=plays[-1][0] * 1000 + HOUR_MS, policy=policy)
        self.migrate()

    def test_short_videos(self):
        self.of_log(play_logs.kuairand_plays(), None)

    def test_a_year_of_purchases(self):
        self.of_log(play_logs.retail_plays(), {"window": 14, "retention": 15})


if __name__ == "__main__":
    real_redis.require()
    play_logs.require_logs("kuairand_history.tsv.zst", "kuairand_events.csv.zst",
                           "online_retail.csv.zst")
    unittest.main()
