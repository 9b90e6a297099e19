"""What a client remembers by itself, of the users it met last. Threads: any."""

import threading
import time

USERS = 10_000
HOUR_S = 3_600


class LastUsers:
    """The last so many users, and something of each."""

    def __init__(self, most=USERS):
        self._most, self._of, self._lock = most, {}, threading.Lock()

    def _put(self, user, value):
        self._of.pop(user, None)
        self._of[user] = value
        while len(self._of) > self._most:
            del self._of[next(iter(self._of))]


class Recent(LastUsers):
    """What was recorded for a user within the last hour."""

    def note(self, user, items, now=None):
        now = time.monotonic() if now is None else now
        with self._lock:
            kept = [(at, item) for at, item in self._of.get(str(user), []) if at > now - HOUR_S]
            self._put(str(user), kept + [(now, str(item)) for item in items])

    def of(self, user, now=None):
        """The items' texts."""
        now = time.monotonic() if now is None else now
        with self._lock:
            return {item for at, item in self._of.get(str(user), []) if at > now - HOUR_S}


class Shares(LastUsers):
    """The share of a search's candidates that a user has seen, a moving mean."""

    MOST = 0.95
    WEIGHT = 0.5  # of the newest

    def __init__(self, first, most=USERS):
        super().__init__(most)
        self._first = first

    def of(self, user):
        with self._lock:
            return self._of.get(str(user), self._first)

    def learn(self, user, share):
        with self._lock:
            before = self._of.get(str(user), share)
            self._put(str(user), min(self.MOST, before + self.WEIGHT * (share - before)))
