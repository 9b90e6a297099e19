"""Made by generate_async.py of caller.py: change that."""

import itertools
import json
import os
import threading
import time
import urllib.parse

from . import address as addresses
from ._async_io import sleep
from .budget import Budget, wait_of
from .errors import Error
from .http import request_head
from .async_pool import Pool
from .routing import Map, Positions

MAP_S = 30       # a map of a cluster is asked for again after so long
LATER_S = 0.05   # the server ends the wait, and the connection stays usable


class Caller:
    """What all clients of a process share. Threads: any."""

    def __init__(self, urls="http://127.0.0.1:7373", *, token=None, token_file=None, ca=None,
                 certificate=None, timeout=1.0, retries=1, connections=16, cluster=False, on_call=None):
        urls = [urls] if isinstance(urls, str) else list(urls)
        self._addresses = [addresses.parse(url) for url in urls]
        if not self._addresses:
            raise ValueError("no server is named")
        if token is not None and token_file is not None:
            raise ValueError("token and token_file: one of them")
        self._tls_files = (ca, certificate)
        self._token, self._token_file, self._token_seen = token, token_file, None
        self.timeout, self.retries = timeout, retries
        self._connections = connections
        self._cluster, self._map, self._map_until = cluster, None, 0.0
        self._on_call = on_call
        self._pools, self._lock = {}, threading.Lock()
        self._turn = itertools.count()
        self._budget = Budget()
        self.positions = Positions()
        self._closed = False

    # ---- Where ----

    def _pool(self, address):
        with self._lock:
            if self._closed:
                raise Error("closed", "the client is closed")
            pool = self._pools.get(address)
            if pool is None:
                tls = addresses.tls_context(*self._tls_files) if address.secure else None
                pool = self._pools[address] = Pool(address, tls, self._connections)
            return pool

    def _where(self, user):
        """The addresses to try, in order, and whether the first is said to have the user."""
        if user is not None and self._map is not None:
            direct = [addresses.parse(url) for url in self._map.urls_of(user)]
            if direct:
                return direct, True
        turn = next(self._turn) % len(self._addresses)
        return self._addresses[turn:] + self._addresses[:turn], False

    async def _learn(self, deadline):
        """Asks for the map where it is old; a node that can't be asked leaves the former one."""
        if not self._cluster or time.monotonic() < self._map_until:
            return
        self._map_until = time.monotonic() + MAP_S
        try:
            answer = await self._once(self._where(None)[0][0], "GET", "/cluster", {}, None, deadline)
            if answer.status == 200:
                self._map = Map(json.loads(answer.body))
        except (Error, ValueError, KeyError):
            self._map_until = time.monotonic() + 1

    def _authorization(self):
        if self._token_file is None:
            return self._token
        changed = os.stat(self._token_file).st_mtime_ns
        if self._token_seen != changed:
            with open(self._token_file, encoding="ascii") as file:
                self._token = file.readline().strip()
            self._token_seen = changed
        return self._token

    # ---- One try ----

    async def _once(self, address, method, target, headers, body, deadline):
        pool = self._pool(address)
        token = self._authorization()
        if token is not None:
            headers["Authorization"] = "Bearer " + token
        left_ms = int((deadline - time.monotonic()) * 1000)
        if left_ms < 1:
            raise Error("timeout", "no answer in time")
        headers["SeenDB-Timeout-Ms"] = str(left_ms)
        length = len(body) if body is not None else 0 if method in ("POST", "PUT") else None
        request = request_head(method, target, address.host, headers, length) + (body or b"")
        return await pool.exchange(method, request, deadline + LATER_S)

    # ---- A call ----

    async def ask(self, method, path, *, query=None, headers=None, body=None, content_type=None, user=None,
            timeout=None, repeat=True, name=None):
        """The answer of 2xx or 422. `repeat`: the call may be made twice. `user`: whom it is about.
        Raises Error."""
        began = time.monotonic()
        deadline = began + (self.timeout if timeout is None else timeout)
        target = path + ("?" + urllib.parse.urlencode(query, quote_via=urllib.parse.quote)
                         if query else "")
        given = dict(headers or {})
        if content_type:
            given["Content-Type"] = content_type
        position = self.positions.of(user) if user is not None else None
        if position is not None:
            given["SeenDB-Position"] = position
        await self._learn(deadline)
        self._budget.first()
        attempt, answer, failure = 0, None, None
        places, direct = self._where(user)
        try:
            while True:
                place = places[attempt % len(places)]
                sent = dict(given)
                if attempt:
                    sent["SeenDB-Attempt"] = str(attempt)
                if direct and attempt == 0:
                    sent["SeenDB-Route"] = "direct"
                answer, failure, asked_s = None, None, None
                try:
                    answer = await self._once(place, method, target, sent, body, deadline)
                except Error as error:
                    failure = error
                if answer is not None:
                    if answer.status < 300 or answer.status == 422:
                        return answer
                    failure = error_of(answer)
                    if answer.status == 421:  # the map is old
                        self._map_until = 0.0
                    asked_s = retry_after_s(answer)
                if not self._again(answer, failure, attempt, repeat):
                    raise failure
                wait_s = 0.0 if moves_on(answer, places) else wait_of(attempt, asked_s)
                if time.monotonic() + wait_s >= deadline:
                    raise failure
                if wait_s:
                    await sleep(wait_s)
                attempt += 1
                if answer is not None and answer.status == 421:
                    await self._learn(deadline)
                    places, direct = self._where(user)
        finally:
            if self._on_call is not None:
                self._on_call(name or method + " " + path, time.monotonic() - began,
                              answer.status if answer is not None else 0, attempt + 1)

    def _again(self, answer, failure, attempt, repeat):
        """Whether there is another try."""
        if answer is not None and answer.status == 421:
            return attempt == 0  # nothing was done
        if not repeat or attempt >= self.retries:
            return False
        may = answer.status in (429, 503) if answer is not None else failure.code == "unavailable"
        return may and self._budget.second()

    def close(self):
        with self._lock:
            self._closed = True
            pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            pool.close()


def moves_on(answer, places):
    """Whether the next try is elsewhere and needs no wait."""
    return answer is None and len(places) > 1 or answer is not None and answer.status == 421


def retry_after_s(answer):
    """What the server asked for; None: nothing."""
    ms = answer.headers.get("seendb-retry-after-ms")
    if ms is not None and ms.isdecimal():
        return int(ms) / 1000
    seconds = answer.headers.get("retry-after", "")
    return float(seconds) if seconds.isdecimal() else None


def error_of(answer):
    try:
        told = json.loads(answer.body)["error"]
        return Error(told["code"], told["message"], told.get("field", ""), answer.status)
    except (ValueError, KeyError, TypeError):
        return Error("protocol", "HTTP %d, and not in SeenDB's words: %r" % (answer.status, answer.body[:100]),
                     status=answer.status)
