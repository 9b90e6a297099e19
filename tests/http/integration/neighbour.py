"""An honest client beside hostile ones."""

import threading
import time


class Neighbour(threading.Thread):
    """Plays and asks on a connection of its own until stopped; what it was told must hold."""

    def __init__(self, server, name="neighbour"):
        super().__init__(daemon=True)
        self.client = server.client(timeout=60)
        self.user = name
        self.acknowledged = []
        self.latencies_s = []
        self.failure = None
        self.leaving = threading.Event()  # the server was told to stop: it may go away
        self.over = threading.Event()

    def start(self):
        """Returns when it has been answered: it has its connection, whatever comes now."""
        super().start()
        while not self.latencies_s and self.is_alive():
            time.sleep(0.01)

    def run(self):
        number = 0
        try:
            while not self.over.is_set():
                number += 1
                item = "%s-%d" % (self.user, number)
                body = {"events": [{"user": self.user, "item": item}]}
                if self.timed("/plays", body).json["accepted"] != 1:
                    raise AssertionError("a play was refused")
                self.acknowledged.append(item)
                asked = self.acknowledged[-50:]
                unseen = self.timed("/filter", {"user": self.user, "items": asked}).json["unseen"]
                if unseen:
                    raise AssertionError("forgotten: %r" % unseen)
                time.sleep(0.002)
        except Exception as error:  # pylint: disable=broad-except
            if not self.leaving.is_set():
                self.failure = error
        finally:
            self.client.close()

    def timed(self, path, body):
        began = time.monotonic()
        answer = self.client.request("POST", path, body)
        self.latencies_s.append(time.monotonic() - began)
        if answer.status != 200:
            raise AssertionError("%s: %r" % (path, answer))
        return answer

    def stop(self, test):
        """Ends it, fails `test` for what it met, and says how long it waited."""
        until = time.monotonic() + 30
        while len(self.latencies_s) < 20 and self.is_alive() and time.monotonic() < until:
            time.sleep(0.01)
        self.over.set()
        self.join(60)
        test.assertIsNone(self.failure)
        test.assertFalse(self.is_alive(), "the neighbour waits for ever")
        times = sorted(self.latencies_s)
        test.assertGreater(len(times), 10)
        test.assertLess(times[-1], 30)
        return "neighbour: %d requests, p50 %.1f ms, p99 %.1f ms, at most %.1f ms" % (
            len(times), 1e3 * times[len(times) // 2], 1e3 * times[len(times) * 99 // 100],
            1e3 * times[-1])
