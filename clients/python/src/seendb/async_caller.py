"""Made by generate_async.py of caller.py: change that."""

import functools
import itertools
import json
import os
import threading
import time
import urllib.parse

from . import address as addresses
from ._async_io import answered, hedged, sleep
from .budget import Budget, wait_of
from .errors import Error
from .http import request_head
from .async_pool import Pool
from .routing import Map, Positions
from .srv import PREFIX, Named

MAP_S = 30       # a map of a cluster is asked for again after so long
SOON_S = 1       # and no sooner; as long a server that could not be reached comes last
LATER_S = 0.05   # the server ends the wait, and the connection stays usable


class Caller:
    """What all clients of a process share. Threads: any."""

    def __init__(self, urls="http://127.0.0.1:7373", *, token=None, token_file=None, ca=None,
                 certificate=None, timeout=1.0, retries=1, connections=16, cluster=False, on_call=None, hedge=None,
                 dns=None, resolver=None):
        urls = [urls] if isinstance(urls, str) else list(urls)
        self._addresses = [Named(url, dns, resolver) if url.startswith(PREFIX) else addresses.parse(url) for url in urls]
        self._names = [one for one in self._addresses if isinstance(one, Named)]
        if not self._addresses:
            raise ValueError("no server is named")
        if token is not None and token_file is not None:
            raise ValueError("token and token_file: one of them")
        self._tls_files = (ca, certificate)
        self._token, self._token_file, self._token_seen = token, token_file, None
        self.timeout, self.retries = timeout, retries
        self._connections = connections
        self._cluster, self._map, self._map_until = cluster, None, 0.0
        self._on_call, self._hedge = on_call, hedge
        self._pools, self._lock = {}, threading.Lock()
        self._away = {}  # until when a server comes last
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
            own = [addresses.parse(url) for url in self._map.urls_of(user)]
            if own and not self._is_away(own[0]):
                return own, True
        turn = next(self._turn) % len(self._addresses)
        turned = self._addresses[turn:] + self._addresses[:turn]
        ranked = [place for one in turned for place in (one.ranked() if isinstance(one, Named) else [(0, one)])]
        if not ranked:
            raise Error("unavailable", "; ".join("%s: %s" % (one.url, one.error) for one in self._names), unsent=True)
        return [place for _, place in sorted(ranked, key=lambda one: (self._is_away(one[1]), one[0]))], False

    def _is_away(self, address):
        return time.monotonic() < self._away.get(address, 0.0)

    async def _look_up(self, deadline):
        """Asks for the targets of names where that is due, behind this call. Where each of them has failed since, the call waits."""
        for name in self._names:
            none = all(self._away.get(address, 0.0) > name.asked for _, address in name.ranked())
            name.refresh(none)
            if none:
                now = time.monotonic()
                await answered(name.answered, now + (deadline - now) / 3)
            while name.gone:
                gone = name.gone.pop()
                self._away.pop(gone, None)
                with self._lock:
                    pool = self._pools.pop(gone, None)
                if pool is not None:
                    pool.close()

    async def _learn(self, deadline):
        """Asks for the map where it is old; a node that can't be asked leaves the former one."""
        if not self._cluster or time.monotonic() < self._map_until:
            return
        now = time.monotonic()
        self._map_until = now + MAP_S
        try:
            answer = await self._once(self._where(None)[0][0], "GET", "/cluster", {}, None,
                                now + (deadline - now) / 3, True)
            if answer.status == 200:
                self._map = Map(json.loads(answer.body))
        except (Error, ValueError, KeyError):
            self._map_until = time.monotonic() + SOON_S  # the former one goes on

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

    async def _once(self, address, method, target, headers, body, deadline, repeat):
        pool = self._pool(address)
        token = self._authorization()
        if token is not None:
            headers["Authorization"] = "Bearer " + token
        left_ms = int((deadline - time.monotonic()) * 1000)
        if left_ms < 1:
            raise Error("timeout", "no answer in time")
        headers["SeenDB-Timeout-Ms"] = str(left_ms)
        length = len(body) if body is not None else 0 if method in ("POST", "PUT") else None
        request = request_head(method, target, address.name, headers, length) + (body or b"")
        try:
            return await pool.exchange(method, request, deadline + LATER_S, repeat)
        except Error as error:
            if error.unsent:
                self._away[address] = time.monotonic() + SOON_S
            raise

    # ---- A call ----

    async def ask(self, method, path, *, query=None, headers=None, body=None, content_type=None, user=None,
            timeout=None, repeat=True, name=None, hedge=False, patient=False):
        """The answer of 2xx, 304 or 422. `repeat`: the call may be made twice; `hedge`: at two servers at once, too;
        `patient`: again and again, until its time is over. `user`: whom it is about. Raises Error."""
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
        self._budget.first()
        attempt, tries, answer = 0, 0, None
        at = 0  # in places
        try:
            await self._look_up(deadline)
            await self._learn(deadline)
            places, direct = self._where(user)
            while True:
                sent = dict(given)
                if attempt:
                    sent["SeenDB-Attempt"] = str(attempt)
                if direct:
                    sent["SeenDB-Route"] = "direct"
                answer, failure = None, None
                tries += 1
                try:
                    if hedge and self._hedge is not None and not attempt and len(places) > 1:
                        fired = []
                        again = dict(given, **{"SeenDB-Attempt": "1"})
                        calls = [functools.partial(self._once, place, method, target, head, body, deadline, repeat)
                                 for place, head in ((places[at], sent), (places[(at + 1) % len(places)], again))]
                        try:
                            answer = await hedged(*calls, self._hedge, lambda: self._budget.second() and not fired.append(1))
                        finally:
                            tries += len(fired)
                    else:
                        answer = await self._once(places[at], method, target, sent, body, deadline, repeat)
                except Error as error:
                    failure = error
                if answer is not None:
                    if answer.status < 300 or answer.status in (304, 422):
                        return answer
                    failure = error_of(answer)
                    if answer.status == 421 and direct:  # the map is old: any node passes it on
                        self._map_until = min(self._map_until, time.monotonic() + SOON_S)
                        (places, _), direct, at = self._where(None), False, 0
                        continue
                elif failure.unsent and at + 1 < len(places):  # nothing was done: the next one
                    at, direct = at + 1, False
                    continue
                wait_s = self._wait(answer, failure, attempt, repeat, patient)
                if wait_s is None or time.monotonic() + wait_s >= deadline or not (patient or self._budget.second()):
                    raise failure
                if len(places) > 1:
                    at, direct = (at + 1) % len(places), False
                if wait_s:
                    await sleep(wait_s)
                attempt += 1
        finally:
            if self._on_call is not None:
                self._on_call(name or method + " " + path, time.monotonic() - began,
                              answer.status if answer is not None else 0, tries)

    def _wait(self, answer, failure, attempt, repeat, patient):
        """Seconds before the second try; None: there is none."""
        if not repeat or attempt >= self.retries and not patient:
            return None
        if answer is not None:
            return wait_of(attempt, retry_after_s(answer)) if answer.status in (429, 503) else None
        return wait_of(attempt, None) if failure.code == "unavailable" else None

    def close(self):
        with self._lock:
            self._closed = True
            pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            pool.close()


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
        code = "unavailable" if answer.status in (502, 504) else "protocol"  # a proxy's
        return Error(code, "HTTP %d, and not in SeenDB's words: %r" % (answer.status, answer.body[:100]),
                     status=answer.status)
