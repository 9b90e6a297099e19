"""Online Retail replayed through the server over its year: months come, leave the window and are
dropped, under the default policy and, in the same run, in a collection that keeps lists for ever.

At every month's end: what a user bought within the window is filtered, what was bought only
before it comes back, and no expired bucket is left. The exact collection makes no error at all.
"""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))

import play_logs  # noqa: E402
from play_logs import DAY_MS, month_begin_ms, month_index, month_label  # noqa: E402
from seendb_client import Server  # noqa: E402

EXACT = "exact"
NAMES = ("default", EXACT)
WINDOW, RETENTION = 4, 6
FPR = {"default": 0.01, EXACT: 0.0}
DAYS_AT_ONCE = 4
SEED = int(os.environ.get("SEENDB_SEED", "20101201"))
# In the middle of these months (0: December 2010) the server goes.
RESTARTS = {1: "kill -9", 4: "SIGTERM", 7: "kill -9", 10: "kill -9"}


class RetailTest(unittest.TestCase):

    def window_begin_ms(self):
        return month_begin_ms(month_index(self.server.clock_ms) - WINDOW + 1)

    def check_played(self, when):
        played = self.facts.since(self.window_begin_ms())
        for name in NAMES:
            asked, missed = play_logs.count_misses(self.server, name, played.items())
            self.assertGreater(asked, 0)
            self.assertEqual(missed[:20], [], "%s, %s: %d of %d bought items are not filtered" %
                             (when, name, len(missed), asked))
        return asked

    def check_unseen(self, when):
        """What was bought only before the window, and what was never bought."""
        begin_ms = self.window_begin_ms()
        texts = []
        for name in NAMES:
            old, back = play_logs.count_seen(self.server, name,
                                             self.facts.only_before(begin_ms).items())
            never, positives = play_logs.count_seen(
                self.server, name, play_logs.never_played(self.facts, SEED + begin_ms))
            self.assertLessEqual(back, old * FPR[name], (when, name))
            self.assertLessEqual(positives, never * FPR[name], (when, name))
            texts.append("%s: %d of %d before the window and %d of %d never bought seen "
                         "(FPR %.4f%%)" % (name, back, old, positives, never,
                                           100.0 * (back + positives) / (old + never)))
        return "; ".join(texts)

    def check_buckets(self, when):
        """The months within retention are there, older ones are gone, closed ones are sealed."""
        now = month_index(self.server.clock_ms)
        first = month_index(self.plays[0][0])
        for name in NAMES:
            rows = play_logs.bucket_labels(self.server, name)
            kept = {month_label(i) for i in range(max(first, now - RETENTION + 1), now + 1)}
            self.assertLessEqual(kept, set(rows), (when, name))
            for label, row in rows.items():
                self.assertGreater(label, month_label(now - RETENTION), (when, name))
                self.assertEqual(row["in_window"], label > month_label(now - WINDOW),
                                 (when, name, row))
                # Nothing is late here but by the few days posted together.
                closed = label < month_label(now)
                self.assertEqual(row["state"] == "sealed", closed, (when, name, row))
        return len(rows)

    def replay_month(self, plays):
        """A few days at a time; in the middle of some months with a restart. The clock ends up at
        06:00 of the next month's first day, when the maintenance window's work is done."""
        month = month_index(plays[0][0])
        how = RESTARTS.get(month - month_index(self.plays[0][0]))
        at = 0
        while at < len(plays):
            end_ms = min((plays[at][0] // DAY_MS + DAYS_AT_ONCE) * DAY_MS,
                         month_begin_ms(month + 1))
            until = at
            while until < len(plays) and plays[until][0] < end_ms:
                until += 1
            self.feed.move_clock(end_ms - 1)
            self.feed.post(plays[at:until])
            self.facts.add(plays[at:until])
            at = until
            if how and at * 2 > len(plays):
                print(month_label(month), self.feed.restart(how))
                self.check_played("%s in %s" % (how, month_label(month)))
                how = None
        self.feed.move_clock(month_begin_ms(month + 1) + DAY_MS // 4)

    def months(self):
        """The log cut by months."""
        begin = 0
        while begin < len(self.plays):
            month = month_index(self.plays[begin][0])
            end = begin
            while end < len(self.plays) and month_index(self.plays[end][0]) == month:
                end += 1
            yield month, self.plays[begin:end]
            begin = end

    def test_year(self):
        self.plays = play_logs.retail_plays()
        self.facts = play_logs.Facts()
        with Server(clock_ms=self.plays[0][0] // DAY_MS * DAY_MS) as self.server:
            put = self.server.put("/collections/" + EXACT, {"representation": "exact"})
            self.assertEqual(put.status, 200, put)
            self.feed = play_logs.Replay(self.server, NAMES)
            for month, plays in self.months():
                self.replay_month(plays)
                label = month_label(month)
                asked = self.check_played("after " + label)
                unseen = self.check_unseen("after " + label)
                buckets = self.check_buckets("after " + label)
                print("after %s: %d buckets, %d items in the window, 0 missed; %s" %
                      (label, buckets, asked, unseen))
            self.finish()

    def finish(self):
        print("%d plays in two collections, %.0f plays/s posted; %d clock moves of %.0f ms" %
              (self.feed.plays, self.feed.plays / self.feed.posting_s, self.feed.moves,
               1000 * self.feed.moving_s / self.feed.moves))
        stats = self.server.get("/admin/stats").json
        for counter in ("damaged", "drain_failures", "background_errors", "busy"):
            self.assertEqual(stats[counter], 0, counter)
        self.assertEqual((stats["degraded"], stats["problems"]), (False, []))
        for name in NAMES:
            for label in play_logs.bucket_labels(self.server, name):
                self.feed.admin("seal", {"collection": name, "bucket": label})
        self.feed.admin("compact")
        items = self.stored_items()
        for name in NAMES:
            forms = play_logs.representations(self.server.db, name)
            disk = sum(row["bytes"] for row in play_logs.bucket_labels(self.server, name).values())
            values = sum(size for _, size in forms.values())
            print("%s, %d months: %d items, %.2f bytes an item on disk, %.2f in values; %s" %
                  (name, RETENTION, items, disk / items, values / items,
                   play_logs.forms_text(forms)))
            if name == EXACT:
                self.assertFalse([form for form in forms if "Bloom" in form or form == "layers"])
        self.check_played("sealed")
        print("sealed:", self.check_unseen("sealed"))
        self.inspect_heaviest()

    def stored_items(self):
        """Distinct (user, month, item) within retention."""
        begin_ms = month_begin_ms(month_index(self.server.clock_ms) - RETENTION + 1)
        return len({(user, month, item) for month, plays in self.months()
                    for at_ms, user, item in plays if at_ms >= begin_ms})

    def inspect_heaviest(self):
        begin_ms = month_begin_ms(month_index(self.server.clock_ms) - RETENTION + 1)
        events = {}
        for at_ms, user, _ in self.plays:
            if at_ms >= begin_ms:
                events[user] = events.get(user, 0) + 1
        heaviest = max(events, key=events.get)
        report = self.server.get("/users/%s?collection=default" % heaviest).json
        print("heaviest user %s, %d events in %d months: %s" % (
            heaviest, events[heaviest], RETENTION,
            ", ".join("%s %d items in %d bytes" % (bucket["bucket"], bucket["items"],
                                                   bucket["bytes"])
                      for bucket in report["buckets"])))
        per_month = {}
        for at_ms, user, item in self.plays:
            if user == heaviest and at_ms >= begin_ms:
                per_month.setdefault(month_label(month_index(at_ms)), set()).add(item)
        said = {bucket["bucket"]: bucket["items"] for bucket in report["buckets"]}
        self.assertEqual(set(said), set(per_month))
        for label, items in per_month.items():
            self.assertLessEqual(said[label], len(items), label)  # a false positive isn't counted
            self.assertGreaterEqual(said[label], len(items) * 0.98, label)


if __name__ == "__main__":
    print("seed %d (SEENDB_SEED)" % SEED)
    play_logs.require_logs("online_retail.csv.zst")
    unittest.main(verbosity=2)
