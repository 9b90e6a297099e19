"""Connections to one server. What waits is named in ../../generate_async.py."""

import collections
import time

from ._io import Places, Stream
from .errors import Error
from .http import Reader

IDLE_S = 50  # the server closes what was idle for 75 s (limits.idle_ms)


class Pool:
    """At most `count` connections; each carries one request at a time."""

    def __init__(self, address, tls, count):
        self.address = address
        self._tls = tls
        self._places = Places(count)
        self._idle = collections.deque()  # (stream, since)
        self._closed = False

    def exchange(self, method, request, deadline, repeat):
        """Sends a request, whole; the answer. With `repeat` a connection that the server closed while
        it was idle is opened anew. A third of the time is for opening one."""
        self._places.enter(deadline)
        try:
            stream = self._take()
            if stream is not None:
                answer = self._try(stream, method, request, deadline, repeat)
                if answer is not None:
                    return answer
            now = time.monotonic()
            stream = Stream.connect(self.address, self._tls, now + (deadline - now) / 3)
            return self._try(stream, method, request, deadline, False)
        finally:
            self._places.leave()

    def _take(self):
        """The one that was used last; those that were idle for too long go."""
        try:
            while time.monotonic() - self._idle[0][1] >= IDLE_S:
                self._idle.popleft()[0].close()
            return self._idle.pop()[0]
        except IndexError:
            return None

    def _try(self, stream, method, request, deadline, used):
        """None where a connection that was `used` before turns out to be closed."""
        reader = Reader(method)
        kept = False
        try:
            stream.send(request, deadline)
            done = False
            while not done:
                data = stream.receive(deadline)
                done = reader.feed(data)
            kept = not reader.answer.closes and not self._closed
            return reader.answer
        except Error as error:
            if used and not reader.begun and error.code == "unavailable":
                return None
            raise
        finally:
            if kept:
                self._idle.append((stream, time.monotonic()))
            else:
                stream.close()

    def close(self):
        self._closed = True
        while self._idle:
            self._idle.pop()[0].close()
