"""Input and output for asyncio: the names of _io.py."""

import asyncio
import inspect
import time

from ._io import left
from .errors import Error

sleep = asyncio.sleep


async def _within(deadline, waited, why):
    try:
        return await asyncio.wait_for(waited, left(deadline))
    except (asyncio.TimeoutError, TimeoutError):
        raise Error("timeout", why) from None


class Stream:
    """A connection."""

    def __init__(self, reader, writer):
        self._reader, self._writer = reader, writer

    @classmethod
    async def connect(cls, address, tls, deadline):
        if address.path:
            opening = asyncio.open_unix_connection(address.path)
        else:
            opening = asyncio.open_connection(address.host, address.port,
                                              ssl=tls if address.secure else None)
        try:
            return cls(*await _within(deadline, opening, "no connection in time"))
        except (OSError, Error) as error:
            why = error.message if isinstance(error, Error) else error
            raise Error("unavailable", "%s: %s" % (address, why), unsent=True) from error

    async def send(self, data, deadline):
        try:
            self._writer.write(data)
            await _within(deadline, self._writer.drain(),
                          "the server did not read the request in time")
        except OSError as error:
            raise Error("unavailable", "the connection broke: %s" % error) from error

    async def receive(self, deadline):
        """Some bytes; none at the end."""
        try:
            return await _within(deadline, self._reader.read(256 << 10), "no answer in time")
        except OSError as error:
            raise Error("unavailable", "the connection broke: %s" % error) from error

    def close(self):
        self._writer.close()


async def answered(event, deadline):
    """Waits for a thread's answer, or for the deadline."""
    if not event.is_set():
        await asyncio.to_thread(event.wait, max(0, deadline - time.monotonic()))


async def given(search, count):
    """What a search gives, which may be a coroutine."""
    found = search(count)
    return await found if inspect.isawaitable(found) else found


class Places:
    """So many may be held at once."""

    def __init__(self, count):
        self._semaphore = asyncio.Semaphore(count)

    async def enter(self, deadline):
        await _within(deadline, self._semaphore.acquire(), "every connection is in use")

    def leave(self):
        self._semaphore.release()


async def hedged(first, second, wait_s, may):
    """What the first of two calls gives that is answered well; the second begins after `wait_s`, if it may."""
    running = {asyncio.ensure_future(first())}
    try:
        done, _ = await asyncio.wait(running, timeout=wait_s)
        if not done and may():
            running.add(asyncio.ensure_future(second()))
        ended = []
        while running:
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            ended += done
            for one in done:
                if one.exception() is None and one.result().status < 429:
                    return one.result()
        return min(ended, key=lambda one: one.exception() is not None).result()
    finally:
        for one in running:
            one.cancel()
