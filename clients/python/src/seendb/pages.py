"""The decision "is it seen", made for a page: what Client and Engine have in common. What waits is named
in ../../generate_async.py, which makes async_pages.py of this."""

import itertools
import math
import time

from . import ids
from ._io import given
from .errors import Error
from .events import id_of
from .recent import Recent, Shares

CHUNK = 1_000       # candidates of a page that are asked about at once
SHARE = 0.5         # of a search's candidates that are taken for seen, of a user who is not known yet
FETCHED_MOST = 10_000
AWAY = ("timeout", "unavailable", "overloaded", "busy", "rate_limited")
CHOICES = ("fail_open", "fail_closed", "last_known")
RULES = {"not_", "collections", "exclude_sets", "caps", "where", "at_most", "unknown"}  # of a filter, that pages and searches take


class Pages:
    """Needs filter() and record_impressions() of whoever inherits it."""

    def _begin_pages(self):
        self._recent, self._shares = Recent(), Shares(SHARE)

    def fill_page(self, user, candidates, need=20, *, collection=None, exclude=(), record=True,
                  when_degraded="fail_open", timeout=None, **rules):
        """Up to `need` unseen candidates, best first, recorded as served in the same step: a list.

        candidates     in order, any iterable; no more of it is taken than the page needs
        rules          not_, collections, exclude_sets, caps, where, at_most and unknown, as of filter; at_most holds for each
                       1,000 candidates
        when_degraded  where the answer is degraded, or there is none in time:
                       "fail_open": what it says is unseen, or, without an answer, the first candidates;
                       "fail_closed": an Error;
                       "last_known": the same as "fail_open", but for what this client itself has
                       recorded for the user within the last hour (of the last 10,000 users)
        timeout        seconds for the whole page; None: the client's

        Where an answer was lost, what it had recorded is not on the page, and counts as served. Candidates that are
        served without an answer were judged by no rule: "fail_closed" is for sets that must hold.
        """
        _check(rules)
        if when_degraded not in CHOICES:
            raise ValueError("when_degraded is one of " + ", ".join(CHOICES))
        seconds = self.timeout if timeout is None else timeout
        deadline = time.monotonic() + seconds
        exclude = list(ids.listed(exclude, "/exclude"))
        page, taken = [], iter(ids.many(candidates, "/items"))
        while len(page) < need:
            chunk = list(itertools.islice(taken, CHUNK))
            if not chunk:
                break
            try:
                found = self.filter(user, chunk, collection=collection, limit=need - len(page),
                                    exclude=list(exclude) + page, record=record,
                                    on_error="fail" if when_degraded == "fail_closed" else None, **rules,
                                    timeout=max(0.001, deadline - time.monotonic()))
            except Error as error:
                if when_degraded == "fail_closed" or error.code not in AWAY:
                    raise
                known = {str(one) for one in itertools.chain(exclude, page)}
                if when_degraded == "last_known":
                    known |= self._recent.of(user)
                left = map(id_of, itertools.chain(chunk, taken))
                page += itertools.islice((one for one in left if str(one) not in known),
                                         need - len(page))
                break
            unseen = found.unseen
            if found.degraded and when_degraded == "fail_closed":  # for all its on_error=fail
                raise Error("unavailable", "the answer is degraded: " + ", ".join(found.missing))
            if found.degraded and when_degraded == "last_known":
                known = self._recent.of(user)
                unseen = [one for one in unseen if str(one) not in known]
            page += unseen[:need - len(page)]
        if record:
            self._recent.note(user, page)
        return page

    def search_unseen(self, search, user, k=20, *, collection=None, timeout=None, **rules):
        """Up to `k` unseen ids of a search that knows no users: search(count) returns the best `count`
        ids, in order. It is asked for k / (1 - s) of them, where s is the share of its candidates that
        this user has seen, as learned so far, and for more until enough are unseen. A list. `rules`: as of fill_page."""
        _check(rules)
        count = math.ceil(k / (1 - self._shares.of(user)))
        while True:
            count = min(max(count, k), FETCHED_MOST)
            found = given(search, count)
            found = list(found)
            filtered = self.filter(user, found, collection=collection, timeout=timeout, **rules)
            unseen = filtered.unseen
            if found:
                self._shares.learn(user, 1 - len(unseen) / len(found))
            if len(unseen) >= k or len(found) < count or count >= FETCHED_MOST:
                return unseen[:k]
            count = max(count * 2, math.ceil(k / (1 - self._shares.of(user))))


def _check(rules):
    if not RULES.issuperset(rules):
        raise TypeError("no such rules of a page: " + ", ".join(sorted(set(rules) - RULES)))
