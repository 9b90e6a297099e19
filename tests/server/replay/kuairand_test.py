"""KuaiRand replayed through the server by its own time, with restarts and crashes on the way.

Under the short-video policy (months) and, in the same run, under four 10-day buckets: every item
a user played within the window is filtered, the false positives stay within the policy, what
left the window comes back, and expired buckets are dropped. Prints sizes and speeds.
"""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))

import play_logs  # noqa: E402
from play_logs import DAY_MS, utc_ms  # noqa: E402
from seendb_client import Server  # noqa: E402

TEN_DAYS = "tendays"
NAMES = ("default", TEN_DAYS)
WINDOW = 4
FPR = 0.01
SEED = int(os.environ.get("SEENDB_SEED", "20220425"))
# After the first half of these days of the replay the server goes, gently or by kill -9.
RESTARTS = {4: "SIGTERM", 10: "kill -9", 17: "kill -9", 23: "SIGTERM", 29: "kill -9"}


def window_begin_ms(name, now_ms):
    if name == TEN_DAYS:
        return (now_ms // DAY_MS // 10 - WINDOW + 1) * 10 * DAY_MS
    return play_logs.month_begin_ms(play_logs.month_index(now_ms) - WINDOW + 1)


class KuairandTest(unittest.TestCase):

    def check(self, when, seed=SEED):
        """Zero misses over all users, and the false positives; both collections."""
        for name in NAMES:
            begin_ms = window_begin_ms(name, self.server.clock_ms)
            asked, missed = play_logs.count_misses(self.server, name,
                                                   self.facts.since(begin_ms).items())
            self.assertEqual(missed[:20], [], "%s, %s: %d of %d played items are not filtered" %
                             (when, name, len(missed), asked))
            others, positives = play_logs.count_seen(
                self.server, name, play_logs.never_played(self.facts, seed))
            print("%s, %s: %d users, %d played items filtered, 0 missed; %d of %d never-played "
                  "seen: FPR %.5f%% of at most %g%%" %
                  (when, name, len(self.facts.users), asked, positives, others,
                   100.0 * positives / others, 100 * FPR))
            self.assertLessEqual(positives / others, FPR, (when, name))

    def replay(self, plays):
        """Half a day at a time: the clock to its end, its plays, now and then a restart."""
        half = DAY_MS // 2
        at = 0
        begin_ms = plays[0][0] // half * half
        for step in range((plays[-1][0] - begin_ms) // half + 1):
            end_ms = begin_ms + (step + 1) * half
            until = at
            while until < len(plays) and plays[until][0] < end_ms:
                until += 1
            self.feed.move_clock(end_ms)
            self.feed.post(plays[at:until])
            self.facts.add(plays[at:until])
            today, at = plays[at:until], until
            how = RESTARTS.get(step // 2) if step % 2 == 0 else None
            if how:
                print("half-day %d, %s" % (step, self.feed.restart(how)))
                self.check_today(today, "%s on half-day %d" % (how, step))
        self.assertEqual(at, len(plays))

    def check_today(self, today, when):
        """What was staged when the server went, and its users' older plays, all filtered."""
        users = {user for _, user, _ in today}
        for name in NAMES:
            played = self.facts.since(window_begin_ms(name, self.server.clock_ms))
            asked, missed = play_logs.count_misses(
                self.server, name, ((user, played[user]) for user in users))
            self.assertEqual(missed[:20], [], "%s, %s: %d of %d" % (when, name, len(missed), asked))

    def check_gone(self, name, label, when):
        """A bucket was dropped, and what was only played before the window comes back."""
        self.assertNotIn(label, play_logs.bucket_labels(self.server, name), when)
        begin_ms = window_begin_ms(name, self.server.clock_ms)
        asked, seen = play_logs.count_seen(self.server, name,
                                           self.facts.only_before(begin_ms).items())
        print("%s, %s: bucket %s dropped; of %d items played only before the window %d are seen" %
              (when, name, label, asked, seen))
        self.assertGreater(asked, 1000)
        self.assertLessEqual(seen / asked, FPR, (when, name))

    def seal_and_measure(self):
        """Seals every bucket, the open ones too, compacts, and prints the sizes."""
        for name in NAMES:
            for label in play_logs.bucket_labels(self.server, name):
                self.feed.admin("seal", {"collection": name, "bucket": label})
        self.feed.admin("compact")
        for name in NAMES:
            forms = play_logs.representations(self.server.db, name)
            items = self.stored_items(name)
            rows = play_logs.bucket_labels(self.server, name).values()
            disk = sum(row["bytes"] for row in rows)
            values = sum(size for _, size in forms.values())
            print("%s sealed and compacted: %d items, %.2f bytes an item on disk, %.2f in values; "
                  "%s" % (name, items, disk / items, values / items, play_logs.forms_text(forms)))
            self.assertEqual({row["state"] for row in rows} & {"closed", "expired"}, set(), name)
            # A key, a header and six bytes an item of a list: no representation may lose to that.
            self.assertLess(values / items, 16, name)

    def stored_items(self, name):
        """Distinct (user, bucket, item) of the kept buckets."""
        index = ((lambda at_ms: at_ms // DAY_MS // 10) if name == TEN_DAYS
                 else play_logs.month_index)
        begin_ms = window_begin_ms(name, self.server.clock_ms)
        indexes = {}
        distinct = set()
        for at_ms, user, item in self.plays:
            if at_ms >= begin_ms:
                day = at_ms // DAY_MS
                if day not in indexes:
                    indexes[day] = index(at_ms)
                distinct.add((user, indexes[day], item))
        return len(distinct)

    def test_replay(self):
        self.plays = play_logs.kuairand_plays()
        self.facts = play_logs.Facts()
        with Server(clock_ms=self.plays[0][0] // DAY_MS * DAY_MS) as self.server:
            put = self.server.put("/collections/" + TEN_DAYS,
                                  {"bucket": "days:10", "window": WINDOW, "retention": WINDOW})
            self.assertEqual(put.status, 200, put)
            self.feed = play_logs.Replay(self.server, NAMES)
            self.replay(self.plays)
            print("%d plays in two collections: %.0f plays/s posted in bodies of up to %d; "
                  "%d clock moves with what fell due, %.0f ms each" %
                  (self.feed.plays, self.feed.plays / self.feed.posting_s,
                   play_logs.PLAYS_PER_BODY, self.feed.moves,
                   1000 * self.feed.moving_s / self.feed.moves))
            self.feed.move_clock(utc_ms(2022, 5, 9, 6))
            self.check("as it stands on 9 May")
            self.seal_and_measure()
            self.check("sealed", SEED + 1)
            print(self.feed.restart("kill -9"))
            self.feed.move_clock(utc_ms(2022, 5, 18, 6))
            self.check("18 May", SEED + 2)
            self.check_gone(TEN_DAYS, "2022-04-08", "18 May")
            self.check_months_pass()
            stats = self.server.get("/admin/stats").json
            for counter in ("damaged", "drain_failures", "background_errors", "busy"):
                self.assertEqual(stats[counter], 0, counter)
            self.assertEqual((stats["degraded"], stats["problems"]), (False, []))

    def check_months_pass(self):
        """April leaves the window in August and the disk in October; May is still filtered."""
        self.feed.move_clock(utc_ms(2022, 8, 1, 6))
        played = self.facts.since(window_begin_ms("default", self.server.clock_ms))
        asked, missed = play_logs.count_misses(self.server, "default", played.items())
        self.assertGreater(asked, 10_000)
        self.assertEqual(missed[:20], [], "in August, %d of %d" % (len(missed), asked))
        self.assertIn("2022-04", play_logs.bucket_labels(self.server, "default"))
        self.feed.move_clock(utc_ms(2022, 8, 31, 6))
        self.feed.move_clock(utc_ms(2022, 10, 1, 6))
        self.check_gone("default", "2022-04", "October")
        self.assertIn("2022-05", play_logs.bucket_labels(self.server, "default"))


if __name__ == "__main__":
    print("seed %d (SEENDB_SEED)" % SEED)
    play_logs.require_logs("kuairand_events.csv.zst", "kuairand_history.tsv.zst")
    unittest.main(verbosity=2)
