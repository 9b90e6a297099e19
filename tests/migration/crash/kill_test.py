"""A migration under kill -9, of users whose keys are trimmed to a cap (tests/support/migration_kills.py
says what must hold)."""

import os
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
import real_redis  # noqa: E402
from migration_kills import MigrationKills  # noqa: E402

USERS, PAST, PLAYS, CAP = 400, 30, 25, 40
SAFE = CAP - PLAYS  # a user's newest of the past, which are never trimmed
DAY_S = 86_400


class KillTest(MigrationKills, unittest.TestCase):

    def test_nothing_is_missing(self):
        begin_s = int(time.time()) - 3 * 3_600
        past = {str(user): {"past%d" % number: begin_s - DAY_S - (PAST - number) * 1_000 - user
                            for number in range(PAST)} for user in range(USERS)}
        plays = [(begin_s + number * USERS // 20 + number + user // 20, str(user), "new%d" % number)
                 for number in range(PLAYS) for user in range(USERS)]
        self.begin(past, plays, CAP,
                   lambda _: ["past%d" % number for number in range(PAST - SAFE, PAST)])
        self.migrate()


if __name__ == "__main__":
    real_redis.require()
    unittest.main()
