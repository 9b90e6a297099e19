"""How many second tries there may be."""

import random
import threading

DOUBLINGS_MOST = 7  # 1.3 s


class Budget:
    """One second try for ten first ones, and ten at once. Without a budget a server that answers half
    of what it is asked is asked twice as much. Threads: any."""

    SHARE, MOST = 0.1, 10.0

    def __init__(self):
        self._left = self.MOST
        self._lock = threading.Lock()

    def first(self):
        with self._lock:
            self._left = min(self.MOST, self._left + self.SHARE)

    def second(self):
        """Whether there may be one."""
        with self._lock:
            if self._left < 1:
                return False
            self._left -= 1
            return True


def wait_of(attempt, asked_s):
    """Seconds to wait before the second try: as the server asked, else a little more each time; longer
    by up to a half, so that callers who were refused together don't come back together."""
    seconds = asked_s if asked_s is not None else 0.01 * 2 ** min(attempt, DOUBLINGS_MOST)
    return seconds * (1 + random.random() / 2)
