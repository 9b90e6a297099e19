"""The calls of an engine within the process, by its interface for C. What waits is named in ../../generate_async.py,
which makes async_engine_calls.py of this."""

import json
import os
import time

from . import answers, ids, times
from .client import packed_items
from .errors import Error, Refused
from .events import GROUPS, event_of
from .pages import Pages

DAY_MS = 24 * 3_600_000


class EngineCalls(Pages):
    """Needs `_ffi`, `_lib` and _do(kept, function, *arguments) of whoever inherits it, which calls the function with the
    database before the arguments and the error behind them, and raises that. `kept` is what the arguments point to: it
    lives until the function has returned, also where nobody waits for it any more."""

    # ---- What was seen ----

    def record_plays(self, plays, *, collection=None, timeout=None):
        """As Client.record_plays."""
        del timeout
        now = times.now_ms()
        events = [event_of(play, "/events/%d" % i, now) for i, play in enumerate(plays)]
        rows, kept = self._ffi.new("seendb_play[]", len(events)), []
        for i, event in enumerate(events):
            row, at = rows[i], "/events/%d" % i
            self._set_id(row.user, event["user"], kept)
            self._set_id(row.item, event["item"], kept)
            row.at_ms = _at(event["at"], at + "/at")
            for name, says in (("progress_s", self._lib.SEENDB_SAYS_PROGRESS),
                               ("duration_s", self._lib.SEENDB_SAYS_DURATION)):
                if event.get(name) is not None:
                    row.says |= says
                    setattr(row, name, _seconds(event[name], at + "/" + name))
            if event.get("device") is not None:
                row.device = self._text(event["device"], kept, at + "/device")
            for name in GROUPS:
                if event.get(name):
                    raise ids.refuse("the engine within a process takes no groups", at + "/" + name)
            if event.get("fields") is not None:
                row.fields = self._text(json.dumps(event["fields"], ensure_ascii=False), kept, at + "/fields")
        return self._record(kept, self._lib.seendb_record_plays, self._text(collection, kept), rows, len(rows))

    def record_impressions(self, user, items, *, at=None, collection=None, timeout=None):
        """As Client.record_impressions."""
        del timeout
        at_ms, kept = times.now_ms() if at is None else times.to_ms(at, "/at"), []
        rows = self._ids(ids.listed(items, "/items"), "/items", kept)
        return self._record(kept, self._lib.seendb_record_impressions, self._text(collection, kept),
                            self._id(user, kept), rows, len(rows), _at(at_ms, "/at"))

    def _record(self, kept, function, *arguments):
        recorded, refusals = self._sized("seendb_recorded"), self._text_out()
        try:
            self._do(kept, function, *arguments, recorded, refusals)
        except Error as error:
            if error.field.startswith("/plays/"):  # the server's name of the list
                raise Error(error.code, error.message, "/events" + error.field[len("/plays"):]) from None
            raise
        listed = [answers.Refusal(one["index"], one["code"], one["message"], one["field"])
                  for one in self._json(refusals, [])]
        told = answers.Recorded(recorded.accepted, recorded.refused, listed)
        if told.refused and not told.accepted:
            first = listed[0]
            raise Refused(Error(first.code, first.message, "/events/%d%s" % (first.index, first.field), 422), told)
        return told

    # ---- What was not ----

    def filter(self, user, items, *, collection=None, limit=None, exclude=(), record=False, verify=False,
               facts=None, on_error=None, deadline_ms=None, timeout=None, **more):
        """As Client.filter. It refuses what asks for more: `explain`, `invalid`, `not_`, sets, caps, rules, repeats."""
        for name in (name for name, value in more.items() if value):
            raise ids.refuse("the engine within a process knows no such filter", "/" + name.rstrip("_"))
        items, exclude = ids.listed(items, "/items"), ids.listed(exclude, "/exclude")
        kept, options = [], self._sized("seendb_filter_options")
        excluded = self._ids(exclude.tolist() if ids.is_numpy(exclude) else exclude, "/exclude", kept)
        kept.append(excluded)
        options.collection = self._text(collection, kept)
        options.exclude, options.exclude_count = excluded, len(excluded)
        options.limit = 0 if limit is None else _within(limit, "/limit", 1)
        options.flags = self._flags(record, verify, facts, on_error)
        if deadline_ms is None:
            deadline_ms = max(1, 1_000 * (self.timeout if timeout is None else timeout))
        begun, deadline_us = time.monotonic(), _deadline_us(deadline_ms)
        packed = packed_items(items)
        asked_for = items if ids.is_numpy(items) else list(items)  # who awaits this may change theirs meanwhile
        count = len(asked_for)
        bits, told = bytearray((count + 7) // 8), self._sized("seendb_filtered")
        if packed is None:
            function, asked = self._lib.seendb_filter, self._ids(items, "/items", kept)
        else:
            function, asked = self._lib.seendb_filter_u64, self._ffi.from_buffer("uint64_t[]", packed)

        def in_time(*arguments):  # the wait for a thread counts
            if deadline_us:
                options.deadline_us = max(1, deadline_us - int(1_000_000 * (time.monotonic() - begun)))
            return function(*arguments)
        self._do(kept, in_time, self._id(user, kept), asked, count, options,
                 self._ffi.from_buffer("uint8_t[]", bits), len(bits), told)
        missing = self._ffi.string(told.missing).decode(errors="replace")
        headers = {"seendb-seen": told.seen, "seendb-examined": told.examined, "seendb-missing": missing,
                   "seendb-degraded": str(told.degraded), "seendb-excluded": told.excluded,
                   "seendb-duplicates": told.duplicates, "seendb-recorded": "true" if told.recorded else "false"}
        return answers.filtered_of_bits(asked_for, bytes(bits), headers, record)

    def _flags(self, record, verify, facts, on_error):
        if on_error not in (None, "degrade", "fail"):
            raise ids.refuse('on_error is "degrade" or "fail"', "/on_error")
        counted = set(facts) if facts else {"plays", "impressions"}
        if not counted <= {"plays", "impressions"}:
            raise ids.refuse('facts are "plays" and "impressions"', "/facts")
        return (self._lib.SEENDB_FILTER_RECORD * bool(record) | self._lib.SEENDB_FILTER_VERIFY * bool(verify) |
                self._lib.SEENDB_FILTER_FAIL * (on_error == "fail") |
                self._lib.SEENDB_FILTER_NO_PLAYS * ("plays" not in counted) |
                self._lib.SEENDB_FILTER_NO_IMPRESSIONS * ("impressions" not in counted))

    # ---- The watch history ----

    def history_page(self, user, *, collection=None, limit=100, cursor=None, timeout=None):
        """As Client.history_page."""
        del timeout
        names, kept = [collection] if isinstance(collection, str) else list(collection or ()), []
        try:
            page = answers.page_of_json(self._give(
                kept, self._lib.seendb_history, self._id(user, kept), self._names(names, kept), len(names),
                _within(limit, "/limit"), self._text(cursor or None, kept)))
        except Error as error:
            if error.code != "not_found" or not self._keep_no_history(names):
                raise
            return answers.HistoryPage([], kept=False)
        if not page.entries and self._keep_no_history(names):
            return answers.HistoryPage([], kept=False)
        return page

    def _keep_no_history(self, names):
        """Whether all of the collections are there (none are named: all that are), and none keeps history."""
        policies = {one["name"]: one for one in self.collections()}
        asked = names or list(policies)
        return all(name in policies and not policies[name].get("history", {}).get("enabled")
                   for name in asked)

    def history(self, user, *, collection=None, limit=100, timeout=None):
        """As Client.history."""
        cursor = None
        while True:
            page = self.history_page(user, collection=collection, limit=limit, cursor=cursor, timeout=timeout)
            for entry in page.entries:
                yield entry
            cursor = page.cursor
            if not cursor:
                return

    def look_up_history(self, user, items, *, collection=None, timeout=None):
        """As Client.look_up_history."""
        del timeout
        kept = []
        rows = self._ids(ids.listed(items, "/items"), "/items", kept)
        told = self._give(kept, self._lib.seendb_look_up_history, self._id(user, kept), self._text(collection, kept),
                          rows, len(rows))
        return {entry.item: entry for entry in answers.page_of_json(told).entries}

    def delete_history(self, user, items, *, collection=None, timeout=None):
        """As Client.delete_history."""
        del timeout
        kept = []
        rows = self._ids(ids.listed(items, "/items"), "/items", kept)
        self._do(kept, self._lib.seendb_delete_history, self._id(user, kept), self._text(collection, kept), rows, len(rows))

    def clear_history(self, user, *, collections=None, filter=False, timeout=None):
        """As Client.clear_history."""
        del timeout
        names, kept = list(collections or ()), []
        if collections is not None and not names:
            raise ids.refuse("names none; leave it out to clear all", "/collections")
        self._do(kept, self._lib.seendb_clear_history, self._id(user, kept), self._names(names, kept), len(names),
                 bool(filter))

    def set_recording(self, user, recording, *, timeout=None):
        """As Client.set_recording."""
        del timeout
        kept = []
        self._do(kept, self._lib.seendb_set_recording, self._id(user, kept), not recording)

    # ---- A user ----

    def inspect(self, user, *, collection=None, timeout=None):
        """As Client.inspect."""
        del timeout
        kept = []
        return self._give(kept, self._lib.seendb_inspect, self._id(user, kept), self._text(collection, kept))

    def erase(self, user, *, timeout=None):
        """Forgets a user, for good: {"erased": True, "known": whether something was held}."""
        del timeout
        known, kept = self._ffi.new("int*"), []
        self._do(kept, self._lib.seendb_erase, self._id(user, kept), known)
        return {"erased": True, "known": bool(known[0])}

    # ---- Collections ----

    def collections(self, *, timeout=None):
        """As Client.collections."""
        del timeout
        told = self._give([], self._lib.seendb_collections)
        return told["collections"]

    def put_collection(self, name, policy=None, *, timeout=None):
        """As Client.put_collection."""
        del timeout
        kept = []
        self._do(kept, self._lib.seendb_put_collection, self._text(name, kept),
                 self._text(json.dumps(policy or {}), kept))
        there = self.collections()
        return next(one for one in there if one["name"] == name)

    def delete_collection(self, name, *, timeout=None):
        """As Client.delete_collection."""
        del timeout
        kept = []
        self._do(kept, self._lib.seendb_delete_collection, self._text(name, kept))
        return {"deleted": True, "name": name}

    # ---- Upkeep ----

    def drain(self):
        """Merges everything staged into the filters."""
        self._do([], self._lib.seendb_drain)

    def sync(self):
        """Makes everything recorded so far survive power loss."""
        self._do([], self._lib.seendb_sync)

    def checkpoint(self, path):
        """Makes in the new folder `path` a copy that can be opened."""
        self._do([], self._lib.seendb_checkpoint, encoded_path(path))

    def stats(self):
        """Counters and gauges: a dict."""
        return self._give([], self._lib.seendb_stats)

    def _give(self, kept, function, *arguments):
        """Calls a function that gives JSON: that."""
        text = self._text_out()
        self._do(kept, function, *arguments, text)
        return self._json(text, None)

    def _text_out(self):
        """Where the library puts a text, which is freed with this."""
        return self._ffi.gc(self._ffi.new("char**"), lambda text: self._lib.seendb_free(text[0]))

    def _json(self, text, default):
        """A text of the library; the default in place of NULL."""
        return default if text[0] == self._ffi.NULL else json.loads(self._ffi.string(text[0]))

    def _sized(self, name):
        new = self._ffi.new(name + "*")
        new.size = self._ffi.sizeof(name)
        return new

    def _text(self, value, kept, field="/collection"):
        """Bytes that end with zero; `kept` holds them while the call needs them. None is NULL."""
        if value is None:
            return self._ffi.NULL
        if not isinstance(value, str) or "\0" in value:
            raise ids.refuse("a text without zero bytes is asked for, not %r" % (value,), field)
        try:
            kept.append(self._ffi.new("char[]", value.encode()))
        except UnicodeEncodeError:
            raise ids.refuse("is not UTF-8", field) from None
        return kept[-1]

    def _names(self, names, kept):
        texts = [self._text(name, kept, "/collections/%d" % i) for i, name in enumerate(names)]
        return self._ffi.new("char*[]", texts)

    def _set_id(self, row, value, kept):
        """`value`: a checked id."""
        if isinstance(value, int):
            row.kind, row.number = self._lib.SEENDB_ID_NUMBER, value
            return
        text = value.encode()
        kept.append(self._ffi.from_buffer("char[]", text))  # holds the bytes
        row.kind, row.text, row.size = self._lib.SEENDB_ID_TEXT, kept[-1], len(text)

    def _id(self, value, kept):
        row = self._ffi.new("seendb_id*")
        self._set_id(row, ids.check(value, "/user"), kept)
        return row[0]

    def _ids(self, values, field, kept):
        checked = ids.check_all(values, field)
        rows = self._ffi.new("seendb_id[]", len(checked))
        for i, value in enumerate(checked):
            self._set_id(rows[i], value, kept)
        return rows


def _within(value, field, least=0, most=2**32 - 1):
    if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= value.__index__() <= most:
        raise ids.refuse("must be an integer within %d..%d" % (least, most), field)
    return value.__index__()


def _at(ms, field):
    """A time for C, where 0 is now: the next millisecond stands for it, which is as much too old."""
    return _within(ms, field, -2**63, 2**63 - 1) or 1


def _deadline_us(ms):
    """A deadline for C, where 0 is none: over a day is none, as over HTTP, and 0 has passed at once."""
    if not ms >= 0:
        raise ids.refuse("must be a number of at least 0", "/deadline_ms")
    return 0 if ms > DAY_MS else max(1, int(1_000 * ms))


def _seconds(value, field):
    return _within(value, field, -2**31, 2**31 - 1)


def encoded_path(path):
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ids.refuse("a path has no zero byte", "/path")
    return encoded
