"""KuaiRand as a player tells it: of every play a heartbeat at its begin and one at its end, with
the time played as progress, out of order and some of them twice, with restarts and crashes on the
way. Then every user's timeline and look-ups are what the log says, from the ring and from disk.
"""

import json
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))

import play_logs  # noqa: E402
from play_logs import DAY_MS, NDJSON  # noqa: E402
from seendb_client import Server  # noqa: E402

SEED = int(os.environ.get("SEENDB_SEED", "20220425"))
FINISHED = -1
PER_BODY = 20_000
# After so many half-days the server goes.
RESTARTS = {5: "kill -9", 12: "SIGTERM", 20: "kill -9"}


def heartbeats():
    """(at_ms, user, item, progress_s, duration_s), by the time of their play."""
    for line in play_logs.lines_of("kuairand_events.csv.zst"):
        begin, user, item, played, duration = line.split(",", 5)[:5]
        begin_ms, played_ms, duration_ms = int(begin), int(played), int(duration)
        duration_s = duration_ms // 1000
        yield begin_ms, user, item, 0, duration_s
        progress_s = FINISHED if played_ms >= duration_ms else played_ms // 1000
        yield begin_ms + played_ms, user, item, progress_s, duration_s


def joined(one, other):
    """The later report; of one time the larger of each number, finished above all."""
    if one[0] != other[0]:
        return max(one, other)
    progress_s = FINISHED if FINISHED in (one[1], other[1]) else max(one[1], other[1])
    return one[0], progress_s, max(one[2], other[2])


class KuairandHistoryTest(unittest.TestCase):

    def feed_all(self):
        beats = sorted(heartbeats())
        self.assertGreater(len(beats), 400_000)
        half = DAY_MS // 2
        at, step = 0, 0
        while at < len(beats):
            end_ms = (beats[0][0] // half + 1 + step) * half
            until = at
            while until < len(beats) and beats[until][0] < end_ms:
                until += 1
            self.feed.move_clock(end_ms)
            self.post(beats[at:until])
            at, step = until, step + 1
            if step in RESTARTS:
                print(self.feed.restart(RESTARTS[step]))
                self.check_users(self.chance.sample(sorted(self.states), 100), "after a restart")

    def post(self, beats):
        for at_ms, user, item, progress_s, duration_s in beats:
            items = self.states.setdefault(user, {})
            state = (at_ms, progress_s, duration_s)
            items[item] = joined(items.get(item, state), state)
        beats = beats + self.chance.sample(beats, len(beats) // 20)
        self.chance.shuffle(beats)
        for begin in range(0, len(beats), PER_BODY):
            part = beats[begin:begin + PER_BODY]
            body = "".join('{"user":"%s","item":"%s","at":%d,"progress_s":%d,"duration_s":%d}\n' %
                           (user, item, at_ms, progress_s, duration_s)
                           for at_ms, user, item, progress_s, duration_s in part)
            said = self.server.post("/plays?collection=video", body, NDJSON).json
            self.assertEqual((said["accepted"], said["refused"]), (len(part), 0), said)

    def check_users(self, users, when):
        """Pages of any size, then look-ups, of items nobody played too."""
        entries = 0
        for user in users:
            expected = sorted(((-at_ms, item, progress_s, duration_s) for
                               item, (at_ms, progress_s, duration_s) in self.states[user].items()))
            listed = self.pages(user, self.chance.choice([3, 20, 1000]))
            self.assertEqual([(-one["at"], one["item"], one["progress_s"], one["duration_s"])
                              for one in listed], expected, (when, user))
            asked = sorted(self.states[user])[:900] + ["nobody-played-%d" % i for i in range(3)]
            self.chance.shuffle(asked)
            found = self.server.post("/users/%s/history/lookup" % user,
                                     {"collection": "video", "items": asked}).json["entries"]
            self.assertEqual({one["item"]: (one["at"], one["progress_s"], one["duration_s"])
                              for one in found},
                             {item: state for item, state in self.states[user].items()
                              if item in set(asked)}, (when, user))
            entries += len(listed)
        print("%s: %d entries of %d users as in the log" % (when, entries, len(users)), flush=True)

    def pages(self, user, limit):
        listed, cursor = [], ""
        while True:
            answer = self.server.get("/users/%s/history?limit=%d%s" % (user, limit, cursor))
            self.assertEqual(answer.status, 200, answer)
            page = json.loads(answer.body)
            self.assertFalse(page["degraded"], answer)
            listed += page["entries"]
            if "cursor" not in page:
                return listed
            self.assertEqual(len(page["entries"]), limit)
            cursor = "&cursor=" + page["cursor"]

    def test_replay(self):
        self.chance = random.Random(SEED)
        self.states = {}  # user -> item -> (at_ms, progress_s, duration_s)
        with Server(clock_ms=play_logs.utc_ms(2022, 4, 24)) as self.server:
            put = self.server.put("/collections/video", {
                "bucket": "days:7", "window": 4, "retention": 4, "history": {"enabled": True}})
            self.assertEqual(put.status, 200, put)
            self.feed = play_logs.Replay(self.server, ["video"])
            self.feed_all()
            users = sorted(self.states)
            self.check_users(self.chance.sample(users, 1000), "staged and drained")
            self.feed.admin("drain")
            self.check_users(users, "drained")
            self.feed.admin("seal")
            self.feed.admin("compact")
            print(self.feed.restart("kill -9"))
            self.check_users(self.chance.sample(users, 1000), "sealed and compacted")
            stats = self.server.get("/admin/stats").json
            for counter in ("damaged", "drain_failures", "background_errors", "busy"):
                self.assertEqual(stats[counter], 0, counter)
            self.assertEqual((stats["degraded"], stats["problems"]), (False, []))


if __name__ == "__main__":
    print("seed %d (SEENDB_SEED)" % SEED)
    play_logs.require_logs("kuairand_events.csv.zst")
    unittest.main(verbosity=2)
