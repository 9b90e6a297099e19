"""What the kill test knows: every acknowledgement it got, and so what must hold afterwards.

Times: the server's present lies between the clock's `done` and `target`. What must be seen is
judged by `target` (an item may have left the window already), what must be refused by `done`.
"""

import threading
import time

from play_logs import DAY_MS, month_begin_ms, month_index

POLICIES = {
    "sync": {"bucket": "month", "window": 3, "retention": 4, "durability": "sync"},
    "interval": {"bucket": "days:2", "window": 3, "retention": 4, "durability": "interval"},
    "none": {"bucket": "days:7", "window": 4, "retention": 5, "durability": "none",
             "served_is_seen": True},
    "exact": {"bucket": "days:1", "window": 2, "retention": 3, "durability": "none",
              "representation": "exact"},
}
IMPRESSIONS_KEPT = 100


def bucket_begin_ms(collection, now_ms, back):
    """The first millisecond of the bucket `back` before the present one."""
    bucket = POLICIES[collection]["bucket"]
    if bucket == "month":
        return month_begin_ms(month_index(now_ms) - back)
    days = int(bucket.split(":")[1])
    return (now_ms // DAY_MS // days - back) * days * DAY_MS


def window_begin_ms(collection, now_ms):
    return bucket_begin_ms(collection, now_ms, POLICIES[collection]["window"] - 1)


def retention_begin_ms(collection, now_ms):
    return bucket_begin_ms(collection, now_ms, POLICIES[collection]["retention"] - 1)


class ManualClock:
    """`done` is the newest time the server said it reached, `target` the newest it was sent."""

    manual = True

    def __init__(self, now_ms):
        self.done = self.target = now_ms
        self.mutex = threading.Lock()

    @property
    def soon(self):
        """What is in the window by then is seen while the test looks: the clock stands still."""
        return self.target


class MachineClock:
    """The time of day, read by both sides."""

    manual = False

    @property
    def done(self):
        return int(time.time() * 1000) - 1

    @property
    def target(self):
        return int(time.time() * 1000) + 1

    @property
    def soon(self):
        """A bucket that leaves the window at midnight may go while the test looks."""
        return self.target + 10 * 60_000


class Acknowledged:
    """(collection, user) -> item -> newest acknowledged time. Threads: any."""

    def __init__(self):
        self.mutex = threading.Lock()
        self.users = {}
        self.count = 0

    def add(self, collection, events):
        """events: (user, item, at_ms)."""
        with self.mutex:
            for user, item, at_ms in events:
                items = self.users.setdefault((collection, user), {})
                items[item] = max(at_ms, items.get(item, at_ms))
            self.count += len(events)

    def pick(self, chance):
        """One (collection, user) and a copy of its items; None while there is none."""
        with self.mutex:
            if not self.users:
                return None
            key = chance.choice(list(self.users))
            return key, dict(self.users[key])

    def snapshot(self):
        """(collection, user) -> item -> time, of this moment."""
        with self.mutex:
            return {key: dict(items) for key, items in self.users.items()}

    def in_window(self, now_ms):
        """Forgets what left the window; (collection, user, items) of the rest."""
        kept = {}
        for (collection, user), items in self.users.items():
            begin_ms = window_begin_ms(collection, now_ms)
            items = {item: at_ms for item, at_ms in items.items() if at_ms >= begin_ms}
            if items:
                kept[collection, user] = items
        self.users = kept
        return [(collection, user, list(items)) for (collection, user), items in kept.items()]


class Erasable:
    """One user who is erased now and then. Used by one thread at a time.

    `kept`: (collection, item) -> at_ms, acknowledged since the last erasure: must be seen.
    `gone`: (collection, item), acknowledged before it: must be unseen, for ever.
    `doubtful`: an erasure was asked for and not acknowledged: all of `kept`, or nothing.
    """

    def __init__(self, user):
        self.user = user
        self.kept = {}
        self.gone = set()
        self.doubtful = False
        self.refused_to_ms = None  # events at or before it must be refused

    def erased(self, refused_to_ms):
        self.gone.update(self.kept)
        self.kept = {}
        self.refused_to_ms = refused_to_ms

    def kept_in_window(self, now_ms):
        """collection -> items."""
        kept = {}
        for (collection, item), at_ms in self.kept.items():
            if at_ms >= window_begin_ms(collection, now_ms):
                kept.setdefault(collection, []).append(item)
        return kept

    def gone_by_collection(self):
        gone = {}
        for collection, item in self.gone:
            gone.setdefault(collection, []).append(item)
        return gone


class Copies:
    """Checkpoints: what was acknowledged before each was asked for. One is made at a time."""

    def __init__(self):
        self.mutex = threading.Lock()
        self.number = 0
        self.made = []  # (name, plays)


class Model:
    """All of it, shared by the workers of every round."""

    def __init__(self, clock):
        self.clock = clock
        self.plays = Acknowledged()
        self.impressions = Acknowledged()
        self.erasables = []
        self.copies = Copies()
        self.collections = dict(POLICIES)  # name -> acknowledged fields
        self.failures = []
        self.counts = {}
        self.mutex = threading.Lock()

    def count(self, what, n=1):
        with self.mutex:
            self.counts[what] = self.counts.get(what, 0) + n

    def fail(self, *what):
        with self.mutex:
            self.failures.append(" ".join(str(one)[:600] for one in what))
