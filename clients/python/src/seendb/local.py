"""A user's filter in the caller's process."""

import asyncio
import concurrent.futures
import contextlib
import threading
import time
import urllib.parse

from . import _local_library, answers, ids, times
from .dump import ALWAYS, Dump, Key
from .errors import Error
from .events import Candidate

REFRESHING = 2  # users of a process whose filters are asked for at once by threads
AGAIN_S = 1.0  # a refresh that failed is tried again, behind an answer, so much later
NOTED_MOST = 100_000  # beyond it the oldest is forgotten


class Local:
    """What LocalFilter and AsyncLocalFilter share: the dump, what was noted, and the question."""

    def __init__(self, client, user, *, key, collection=None, refresh=30.0, keep=600.0, timeout=None):
        self._caller, self._timeout = client._caller, timeout
        self._user, self._collection = ids.check(user, "/user"), collection
        self._refresh_s, self._keep_s = refresh, keep
        self._key = Key(key)
        self._lock = threading.Lock()
        self._noted = {}  # fingerprint -> until when, the oldest first
        self._dump, self._probe, self._taken, self._waiting, self.error = None, None, 0.0, False, None
        self._tried = 0.0

    # ---- The dump ----

    def _request(self, former):
        """Arguments of ask()."""
        return {"method": "GET", "path": "/users/%s/filter" % urllib.parse.quote(str(self._user), safe=""),
                "query": {"collection": self._collection} if self._collection else None,
                "headers": {"If-None-Match": former.etag} if former else None, "user": self._user, "timeout": self._timeout,
                "name": "local_filter"}

    def _take(self, answer, former):
        asked = time.monotonic()
        fresh = former if answer.status == 304 else Dump(answer.body, former)
        if (fresh.hash_version, fresh.key_id) != (self._key.version, self._key.id):
            raise Error("incompatible", "the dump's items are hashed by another key than the client has")
        probe = self._probe
        if fresh is not former and _local_library.is_found():
            probe = _local_library.Probe(self._key, answer.body, probe)
        with self._lock:
            self._dump, self._probe, self._taken, self._tried, self.error = fresh, probe, asked, asked, None

    def _failed(self, error):
        """Has `error` tell why a refresh failed."""
        with self._lock:
            self.error, self._tried = error, time.monotonic()

    def _refresh_where_due(self):
        """Behind the answer that is made now."""
        if self._refresh_s is None or self._waiting or self.age <= self._refresh_s:
            return
        if time.monotonic() - self._tried > min(self._refresh_s, AGAIN_S):
            self._waiting = True
            self._begin()

    @property
    def age(self):
        """Seconds since the server said that the dump is its state."""
        return time.monotonic() - self._taken

    @property
    def degraded(self):
        """The dump lacks something: items may be called unseen that were seen."""
        return self._dump.degraded

    # ---- What the caller did ----

    def note_served(self, items):
        """These count as seen from now on: they were just served."""
        self._note(items)

    def note_played(self, items):
        """These count as seen from now on: they were just played."""
        self._note(items)

    def _note(self, items):
        until = time.monotonic() + self._keep_s
        hashes = [self._key.of(one) for one in ids.check_all(items, "/items")]
        with self._lock:
            for item in hashes:
                self._noted.pop(item, None)  # the newest stands last
                self._noted[item] = until
            now, old = time.monotonic(), []
            for item, end in self._noted.items():
                if end > now and len(self._noted) - len(old) <= NOTED_MOST:
                    break
                old.append(item)
            for item in old:
                del self._noted[item]

    # ---- The question ----

    def filter(self, items, *, limit=None):
        """Which of the items the user has not seen: Filtered, with more["age_s"]. `items`: ids and Candidates."""
        items = ids.listed(items, "/items")
        if ids.is_numpy(items):
            items = items.tolist()
        self._refresh_where_due()
        with self._lock:
            dump, probe = self._dump, self._probe
        checked = [ids.check(one.id if isinstance(one, Candidate) else one, "/items/%d" % i)
                   for i, one in enumerate(items)]
        hashes, seen = probe.seen(checked) if probe else (None, None)
        unseen, met, now, noted = [], set(), time.monotonic(), self._noted
        counts = {"seen": 0, "duplicates": 0, "undated": 0, "examined": 0}
        for i, one in enumerate(items):
            if limit is not None and len(unseen) == limit:
                break
            counts["examined"] += 1
            text = str(checked[i])
            if text in met:
                counts["duplicates"] += 1
                continue
            met.add(text)
            item = hashes[i] if probe else self._key.of(checked[i])
            marked = False
            if isinstance(one, Candidate) and one.same_as:
                raise ids.refuse("a filter in the caller's process knows no groups that are the same", "/items/%d/same_as" % i)
            if isinstance(one, Candidate) and one.of:
                marked, undated = _marked(dump.marks, one, i)
                counts["undated"] += undated
            if marked or (seen[i] if probe else dump.seen(item)) or noted.get(item, now) > now:
                counts["seen"] += 1
            else:
                unseen.append(one.id if isinstance(one, Candidate) else one)
        return answers.Filtered(unseen, degraded=dump.degraded, missing=list(dump.missing),
                                more={"age_s": self.age}, **counts)


class LocalFilter(Local):
    """Answers what Client.filter answers for a plain question, without asking the server: by a dump of the user's filter,
    and by what was noted since. Client.local_filter makes it. Any thread may use it.

    refresh     seconds: an answer that is made by an older dump has a new one asked for, behind it; None: by refresh() alone
    keep        seconds for which what was noted counts, whatever later dumps say: as long as the server may take to learn it
    """

    _pool, _pool_made = None, threading.Lock()

    def __init__(self, client, user, **options):
        super().__init__(client, user, **options)
        self._asking = threading.Lock()
        self.refresh()

    def refresh(self):
        """Asks for the dump: the parts that differ. An Error of the server is raised; the former dump stays."""
        with self._asking:
            former = self._dump
            try:
                self._take(self._caller.ask(**self._request(former)), former)
            except Exception as error:
                self._failed(error)
                raise

    def _begin(self):
        with LocalFilter._pool_made:
            if LocalFilter._pool is None:
                LocalFilter._pool = concurrent.futures.ThreadPoolExecutor(REFRESHING, "seendb-local")
        LocalFilter._pool.submit(self._refresh_behind)

    def _refresh_behind(self):
        with contextlib.suppress(Exception):  # `error` tells
            self.refresh()
        self._waiting = False


class AsyncLocalFilter(Local):
    """A LocalFilter whose refresh() is awaited, and goes on behind an answer as a task of the running loop. AsyncClient.local_filter
    makes it. All else waits for nothing, and is called from within the loop."""

    def __init__(self, client, user, **options):
        super().__init__(client, user, **options)
        self._asking, self._task = asyncio.Lock(), None

    async def refresh(self):
        """Asks for the dump: the parts that differ. An Error of the server is raised; the former dump stays."""
        async with self._asking:
            former = self._dump
            try:
                self._take(await self._caller.ask(**self._request(former)), former)
            except Exception as error:
                self._failed(error)
                raise

    def _begin(self):
        self._task = asyncio.get_running_loop().create_task(self._refresh_behind())

    async def _refresh_behind(self):
        try:
            with contextlib.suppress(Exception):  # `error` tells
                await self.refresh()
        finally:
            self._waiting = False


class Locals:
    """What Client has of filters in its own process."""

    def local_filter(self, user, *, collection=None, key=None, refresh=30.0, keep=600.0, timeout=None):
        """The user's filter in this process: a LocalFilter. It needs a token of the role `filters`, and TLS, a unix socket or
        loopback. `key`: the answer of GET /admin/item-hash-key; None: it is asked for, once a client."""
        if key is None:
            key = self.__dict__.get("_item_hash_key") or self.call("GET", "/admin/item-hash-key")
            self._item_hash_key = key
        return LocalFilter(self, user, collection=collection, key=key, refresh=refresh, keep=keep, timeout=timeout)


class AsyncLocals:
    """What AsyncClient has of filters in its own process."""

    async def local_filter(self, user, *, collection=None, key=None, refresh=30.0, keep=600.0, timeout=None):
        """The user's filter in this process: an AsyncLocalFilter. Arguments and rights are those of Client.local_filter."""
        if key is None:
            key = self.__dict__.get("_item_hash_key") or await self.call("GET", "/admin/item-hash-key")
            self._item_hash_key = key
        local = AsyncLocalFilter(self, user, collection=collection, key=key, refresh=refresh, keep=keep, timeout=timeout)
        await local.refresh()
        return local


def _marked(marks, candidate, i):
    """Whether the candidate is marked, and whether its time would tell."""
    at = None if candidate.at is None else times.to_ms(candidate.at, "/items/%d/at" % i)
    undated = False
    for group in candidate.of:
        until = marks.get(group)
        if until is None:
            continue
        if until == ALWAYS if at is None else until >= at:
            return True, False
        undated = at is None
    return False, undated
