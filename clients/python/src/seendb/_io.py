"""Input and output that wait in the calling thread. _async_io.py has the same names for asyncio."""

import queue
import socket
import threading
import time

from .errors import Error

RECEIVE_MOST = 64 << 10  # a larger buffer comes from the system anew each time
sleep = time.sleep


def left(deadline):
    """Seconds to it; an Error once it is over."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise Error("timeout", "no answer in time")
    return seconds


class Stream:
    """A connection."""

    def __init__(self, sock):
        self._socket = sock

    @classmethod
    def connect(cls, address, tls, deadline):
        """By `deadline`, which leaves time for another server: a failure is one of that address."""
        sock = None
        try:
            if address.path:
                sock = socket.socket(socket.AF_UNIX)
                sock.settimeout(left(deadline))
                sock.connect(address.path)
            else:
                sock = socket.create_connection((address.host, address.port), left(deadline))
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if address.secure:
                sock.settimeout(left(deadline))
                sock = tls.wrap_socket(sock, server_hostname=address.host)
        except (OSError, Error) as error:
            if sock is not None:
                sock.close()
            why = "no connection in time" if isinstance(error, (TimeoutError, Error)) else error
            raise Error("unavailable", "%s: %s" % (address, why), unsent=True) from error
        return cls(sock)

    def send(self, data, deadline):
        self._socket.settimeout(left(deadline))
        try:
            self._socket.sendall(data)
        except TimeoutError:
            raise Error("timeout", "the server did not read the request in time") from None
        except OSError as error:
            raise Error("unavailable", "the connection broke: %s" % error) from error

    def receive(self, deadline):
        """Some bytes; none at the end."""
        self._socket.settimeout(left(deadline))
        try:
            return self._socket.recv(RECEIVE_MOST)
        except TimeoutError:
            raise Error("timeout", "no answer in time") from None
        except OSError as error:
            raise Error("unavailable", "the connection broke: %s" % error) from error

    def close(self):
        self._socket.close()


def answered(event, deadline):
    """Waits for a thread's answer, or for the deadline."""
    event.wait(max(0, deadline - time.monotonic()))


def given(search, count):
    """What a search gives."""
    return search(count)


class Places:
    """So many may be held at once."""

    def __init__(self, count):
        self._semaphore = threading.BoundedSemaphore(count)

    def enter(self, deadline):
        if not self._semaphore.acquire(timeout=left(deadline)):
            raise Error("timeout", "every connection is in use")

    def leave(self):
        self._semaphore.release()


def hedged(first, second, wait_s, may):
    """What the first of two calls gives that is answered well; the second begins after `wait_s`, if it may."""
    told = queue.SimpleQueue()

    def run(call):
        try:
            told.put((call(), None))
        except BaseException as error:  # is raised below
            told.put((None, error))

    threading.Thread(target=run, args=(first,), daemon=True).start()
    running = 1
    try:
        answer, error = told.get(timeout=wait_s)
    except queue.Empty:
        if may():
            threading.Thread(target=run, args=(second,), daemon=True).start()
            running = 2
        answer, error = told.get()
    if running == 2 and (answer is None or answer.status >= 429):
        later, failure = told.get()
        if answer is None or later is not None and later.status < 429:
            answer, error = later, failure
    if answer is None:
        raise error
    return answer
