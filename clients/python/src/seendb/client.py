"""The client. What waits is named in ../../generate_async.py, which makes async_client.py of this."""

import json
import urllib.parse

from . import answers, ids, times
from .bulk import Bulk, note_recorded
from .caller import Caller
from .errors import Error, Refused
from .events import EXPOSURE, PLAY, candidates_of, dump, event_of, id_of, update_of
from .forms import BINARY, NDJSON
from .local import Locals
from .pages import Pages

SET_LINE = 10_000  # ids of a line of NDJSON
JSON = "application/json"


class Client(Pages, Locals):
    """A SeenDB server, or a cluster of them.

    urls          "http://host:port", "https://host:port", "unix:/path", or a list of them: the next one
                  is asked where one can't be; "srv+http://name" or "srv+https://name": the targets of that SRV record
    token         a bearer token; or token_file, whose first line it is, read again when it changes
    ca            a file of certificates to trust (the system's); certificate: one of the caller's own
                  with its key, or a pair of files
    timeout       seconds for a whole call, second tries included; told to the server
    retries       second tries of what may be repeated, at 429, 503 and broken connections; one for ten
                  calls at most
    connections   per server
    cluster       nodes of one cluster: a question goes to the node that has its user
    hedge         seconds: a read that was not answered for so long is asked at another server too, and the
                  first good answer counts; of second tries, which have their budget; None: never
    dns           "host:port" of a name server that is asked in place of the system's; or resolver: a function of a
                  name that returns (priority, weight, port, target) of each SRV record, in a thread of its own
    on_call       called with (name, seconds, status, tries) after each call; status 0: no answer

    An id is a str of 1-255 bytes, or an int within 0..2^64-1; "42" and 42 are one id. A time is an int of
    ms since 1970, or a datetime with a time zone. Calls raise seendb.Error. Every call may be made from
    any thread.
    """

    def __init__(self, urls="http://127.0.0.1:7373", **options):
        self._caller = Caller(urls, **options)
        self.timeout = self._caller.timeout
        self._begin_pages()

    def close(self):
        """Closes the connections; calls raise Error("closed") from then on."""
        self._caller.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- Any route ----

    def call(self, method, path, body=None, *, query=None, timeout=None, user=None):
        """Any route of the server: the answer's JSON (its text, where it is none). `body`: as JSON."""
        answer = self._ask(method, path, body, query=query, timeout=timeout, user=user,
                           repeat=method in ("GET", "HEAD", "PUT", "DELETE"))
        if answer.headers.get("content-type", "").startswith(JSON):
            return answers.load(answer, kind=object)
        return answer.body.decode()

    def _ask(self, method, path, told=None, **more):
        """`told`: the body, as JSON."""
        if told is not None:
            more.update(body=dump(told), content_type=JSON)
        return self._caller.ask(method, path, **more)

    def _write(self, method, path, told, user, timeout, needs=(), **more):
        answer = self._ask(method, path, told, user=user, timeout=timeout, **more)
        position = answer.headers.get("seendb-position")
        if position is not None and user is not None:
            self._caller.positions.note([user], position)
        return answers.load(answer, needs=needs)

    # ---- What was seen ----

    def record_plays(self, plays, *, collection=None, timeout=None):
        """Records plays: (user, item), (user, item, at), or dicts of user, item, at, progress_s,
        duration_s, device, fields, of (groups that the item belongs to, by which it is counted), same_as (groups that are
        seen with it). One without a time gets the present, before the first try, so that a second one counts once.
        Durable as the collection's policy says once this returns. Raises Refused where every one is refused; of some:
        Recorded.refusals."""
        return self._record("plays", PLAY, plays, collection, timeout)

    def record_exposures(self, exposures, *, collection=None, timeout=None):
        """Records what was really on users' screens: (user, item), (user, item, at), (user, item, at, surface),
        or dicts of them, of and same_as; `surface` says where, such as "home". Times, errors and what is returned are those of
        record_plays. They make an item seen where a filter asks for them (`not_`), or the collection's policy says
        `exposed_is_seen`."""
        return self._record("exposures", EXPOSURE, exposures, collection, timeout)

    def _record(self, name, kind, told, collection, timeout):
        now = times.now_ms()
        events = [event_of(one, "/events/%d" % i, now, kind) for i, one in enumerate(told)]
        body = _with({"events": [dict(event, user=ids.to_json(event["user"]), item=ids.to_json(event["item"]))
                                 for event in events]}, collection=collection)
        users = [event["user"] for event in events]
        answer = self._ask("POST", "/" + name, body, user=_only(users), timeout=timeout, name="record_" + name)
        return self._recorded(answer, users)

    def record_impressions(self, user, items, *, at=None, collection=None, timeout=None):
        """Records that the user was served the items: ids, or Candidates, which are counted by their groups."""
        body = _with({"user": ids.to_json(ids.check(user, "/user")),
                      "items": candidates_of(ids.listed(items, "/items"), "/items", dated=False),
                      "at": times.now_ms() if at is None else times.to_ms(at, "/at")}, collection=collection)
        answer = self._ask("POST", "/impressions", body, user=user, timeout=timeout, name="record_impressions")
        return self._recorded(answer, [user])

    def bulk(self, kind="plays", *, collection=None, batch=2_000, patience=60.0, binary=True):
        """Many events: a Bulk. `kind`: "plays", "impressions" or "exposures". `patience`: seconds for a batch to be taken.
        `binary`: False for NDJSON alone."""
        return Bulk(self._caller, kind, collection, batch, patience, binary)

    def _recorded(self, answer, users, where="/events/%d"):
        recorded = note_recorded(self._caller, answer, users)
        if answer.status != 422:
            return recorded
        first = recorded.refusals[0]
        field = (where % first.index if "%" in where else where) + first.field
        raise Refused(Error(first.code, first.message, field, 422), recorded)

    # ---- What was not ----

    def filter(self, user, items, *, collection=None, limit=None, exclude=(), exclude_sets=(), record=False,
               explain=False, verify=False, facts=None, not_=None, collections=None, caps=None, where=None, at_most=None,
               unknown=None, fields=None, when_short=None, on_error=None, deadline_ms=None, invalid=None, timeout=None):
        """Which of the items the user has not seen: Filtered. `items`: a list or another iterable of ids and
        Candidates, or a numpy array of numbers, whose answer has a mask. Ints alone go in binary by themselves.

        limit        stop once so many unseen ones are found
        exclude      ids that are never unseen
        exclude_sets names of sets (put_set), 8 at most, whose members are never unseen
        record       record the unseen as served, in the same step
        explain      say why an item is seen
        verify       look plays up in the history: none is falsely called seen
        facts        ("plays", "impressions") or one of them; None: both
        not_         in place of facts, what makes an item seen: a list of dicts, each with a "fact" ("played", "served",
                     "exposed") and maybe "window" (newest buckets), "within" ("7d", "10m"), "last" (newest entries)
                     and "surface"; one event has to meet all of one dict
        collections  names, 8 at most: what was seen in any of them counts, in place of `collection` alone, whose policy
                     still says all else: what `record` writes, caps, when_short
        caps         a list of dicts of "of" (a kind of groups, "author"), "n" and "within" ("1m" to "30d"), maybe "fact"
                     ("served" without): a candidate is dropped if one of its groups of the kind has n events in the
                     span, those of the page before it included
        where        rules on items, all of which must hold: dicts of "field" and comparisons ("eq", "ne", "in", "ge",
                     "le", "any_of", "exists")
        at_most      {"field", "n"}: of the unseen with one value of the field, the first n
        unknown      "drop": what the server knows no item of
        fields       names of fields of items that the answer tells of the unseen
        when_short   {"need", "gap", "max"}: where fewer than need are unseen, up to max seen candidates come back
                     (Filtered.repeats) that were last seen at least gap ago ("14d")
        on_error     "fail": an Error where an answer would be degraded
        deadline_ms  the server answers within it, degraded at worst; None: four fifths of the call's
                     timeout
        invalid      "skip": pass over what is no id (None, "", too long)
        """
        items, exclude = ids.listed(items, "/items"), ids.listed(exclude, "/exclude")
        named = {"exclude_sets": list(ids.many(exclude_sets, "/exclude_sets")),
                 "collections": list(ids.many(collections or (), "/collections"))}
        if deadline_ms is None:
            deadline_ms = max(1, int(800 * (self.timeout if timeout is None else timeout)))
        query = _with({}, collection=collection, limit=limit, on_error=on_error, deadline_ms=deadline_ms,
                      record=record or None, verify=verify or None)
        rules = {"explain": explain, "facts": facts, "not": not_, "caps": caps, "where": where, "at_most": at_most,
                 "unknown": unknown, "fields": fields, "when_short": when_short, "invalid": invalid}
        rules = {name: value for name, value in rules.items() if value}
        plain = not rules and not any("," in name for names in named.values() for name in names)
        packed = _packed(items, exclude) if plain else None
        if packed is not None:
            given = items if ids.is_numpy(items) else list(items)
            target = {"user": str(ids.check(user, "/user")), "ids": "u64", "count": len(packed) // 8}
            target.update((name, "true" if value is True else value) for name, value in query.items())
            if len(exclude):
                target["exclude"] = len(exclude)
            target.update((name, ",".join(names)) for name, names in named.items() if names)
            answer = self._caller.ask("POST", "/filter", query=target, body=packed, content_type=BINARY,
                                      user=user, timeout=timeout, name="filter", hedge=not record)
            return answers.filtered_of_bits(given, answer.body, answer.headers, record)
        items = items.tolist() if ids.is_numpy(items) else list(items)
        written = candidates_of(items, "/items", not invalid)
        texts = written is items
        given = items if texts else [id_of(one) for one in items]
        body = dict(query, user=ids.to_json(ids.check(user, "/user")), items=written)
        if len(exclude):
            body["exclude"] = [ids.to_json(one) for one in (exclude if invalid else ids.check_all(exclude, "/exclude"))]
        body.update((name, names) for name, names in named.items() if names)
        for name, value in rules.items():
            body[name] = value if isinstance(value, (bool, str, dict)) else list(value)
        answer = self._ask("POST", "/filter", body, user=user, headers=_user_header(user), timeout=timeout,
                           name="filter", hedge=not record)
        return answers.filtered_of_json(answers.load(answer, needs=("unseen",)), given, record, texts)

    # ---- Sets, counts, reservations ----

    def put_set(self, name, items, *, timeout=None):
        """Makes these ids (a million at most) the set of all users, in place of those that it had: ItemSet. It is on the
        server's disk once this returns. `name`: 1-64 bytes. Raises Error("too_large") where all sets have no room."""
        checked = [ids.to_json(one) for one in ids.check_all(items, "/items")]
        lines = [dump({"items": checked[at:at + SET_LINE]}) for at in range(0, len(checked) or 1, SET_LINE)]
        answer = self._caller.ask("PUT", _of_set(name), body=b"\n".join(lines), content_type=NDJSON, timeout=timeout,
                                  name="put_set")
        return answers.made(answers.ItemSet, answers.load(answer))

    def get_set(self, name, *, limit=1_000, cursor=None, timeout=None):
        """Reads a set and a page of its ids: ItemSet. `limit`: 10,000 at most. Raises Error("not_found")."""
        answer = self._ask("GET", _of_set(name), query=_with({"limit": limit}, cursor=cursor or None), timeout=timeout,
                           name="get_set", hedge=True)
        return answers.made(answers.ItemSet, answers.load(answer, needs=("items",)))

    def delete_set(self, name, *, timeout=None):
        """Deletes a set: a filter that names it raises Error("not_found") from then on, and so does this."""
        self._write("DELETE", _of_set(name), None, None, timeout, name="delete_set")

    def sets(self, *, timeout=None):
        """All sets by name, without their ids: a list of ItemSet."""
        told = answers.load(self._ask("GET", "/sets", timeout=timeout, name="sets", hedge=True), needs=("sets",))
        return [answers.made(answers.ItemSet, one) for one in told["sets"]]

    def counts(self, user, of, *, collection=None, timeout=None):
        """Reads how often the user was served, exposed to and played what belongs to groups of a kind: CountsPage. `of`:
        "author" for it and all "author:...", as events named them (`of`)."""
        answer = self._ask("GET", _of_user(user, "/counts"), query=_with({"of": of}, collection=collection), user=user,
                           timeout=timeout, name="counts", hedge=True)
        told = answers.load(answer, needs=("counts",))
        return answers.made(answers.CountsPage, dict(told, counts=[answers.made(answers.GroupCounts, one) for one in told["counts"]]))

    def reserve(self, user, items, caps, *, expires_ms=60_000, at=None, collection=None, timeout=None):
        """Promises to serve items (ids and Candidates) as far as caps (of filter) leave room, checked and counted in one
        step: Reserved. A reservation counts as served until `expires_ms` have passed, or an impression of the item takes
        its place. `at`: when it is made; None: the present, before the first try, so that a second one counts once."""
        items = ids.listed(items, "/items")
        body = _with({"user": ids.to_json(ids.check(user, "/user")), "items": candidates_of(items, "/items"),
                      "caps": list(caps), "expires_ms": expires_ms,
                      "at": times.now_ms() if at is None else times.to_ms(at, "/at")}, collection=collection)
        told = self._write("POST", "/reserve", body, user, timeout, ("reserved", "refused"), name="reserve")
        return answers.Reserved(*[answers.as_given(told[name], [id_of(one) for one in items])
                                  for name in ("reserved", "refused")])

    # ---- Marks ----

    def mark(self, user, group, until, *, at=None, timeout=None):
        """Marks all of a group ("channel:9") as seen: what was published up to `until` (a time, itself included), or
        "always" all of it. The mark that reaches furthest counts, in all collections, for candidates that name the
        group (Candidate.of). `at`: when it is said; None: the present, before the first try. A mark that is said no
        later than an unmark does not count."""
        body = {"group": group, "until": until if until == "always" else times.to_ms(until, "/until"),
                "at": times.now_ms() if at is None else times.to_ms(at, "/at")}
        answer = self._ask("POST", _of_user(user, "/marks"), body, user=user, timeout=timeout, name="mark")
        self._recorded(answer, [user], "")

    def marks(self, user, *, limit=100, cursor=None, timeout=None):
        """Reads what the user marked, by group: MarksPage. `limit`: 1,000 at most."""
        answer = self._ask("GET", _of_user(user, "/marks"), query=_with({"limit": limit}, cursor=cursor or None), user=user,
                           timeout=timeout, name="marks", hedge=True)
        told = answers.load(answer, needs=("marks",))
        return answers.made(answers.MarksPage, dict(told, marks=[answers.made(answers.Mark, one) for one in told["marks"]]))

    def unmark(self, user, group, *, timeout=None):
        """Deletes the mark of a group; whether one counted. A repeat of it says False."""
        told = self._write("DELETE", _of_user(user, "/marks/" + _quoted(group)), None, user, timeout)
        return bool(told.get("deleted"))

    # ---- Items ----

    def get_items(self, item_ids, *, fields=None, timeout=None):
        """Reads items (1,000 at most): a list of Item, in their order; unknown ones are left out.
        `fields`: names; None: all."""
        asked = ids.check_all(item_ids, "/ids")
        body = {"ids": [ids.to_json(one) for one in asked]}
        if fields is not None:
            body["fields"] = list(ids.many(fields, "/fields"))
        answer = self._ask("POST", "/items/get", body, timeout=timeout, name="get_items", hedge=True)
        told = answers.load(answer, needs=("items",))["items"]
        own = answers.as_given([one.get("id") for one in told], asked)
        return [answers.made(answers.Item, dict(one, id=given)) for one, given in zip(told, own)]

    def put_items(self, updates, *, timeout=None):
        """Updates items: dicts of id, version and set (values by field), unset (names), replace, delete, expires_at.
        Free of order, and harmless when repeated: each field keeps the value with the highest version. Recorded, whose
        `stale` counts fields that had a higher version. A malformed update is an Error, and nothing is taken; raises
        Refused where every one is refused."""
        body = {"items": [update_of(one, "/items/%d" % i) for i, one in enumerate(updates)]}
        answer = self._ask("POST", "/items", body, timeout=timeout, name="put_items")
        return self._recorded(answer, [], "")

    def put_item_schema(self, fields, *, timeout=None):
        """Makes these the fields that items may have: dicts of name, type (bool, i64, f32, text, list_i64, list_text)
        and maybe column. One whose name is missing is removed with its values. What the server says: a dict."""
        return self._write("PUT", "/items/schema", {"fields": list(fields)}, None, timeout)

    # ---- The watch history ----

    def history_page(self, user, *, collection=None, limit=100, cursor=None, timeout=None):
        """Entries, newest first: HistoryPage. `collection`: a name, or a list of them; None: all."""
        names = collection if collection is None or isinstance(collection, str) else ",".join(collection)
        query = _with({"limit": limit}, collection=names, cursor=cursor or None)
        answer = self._ask("GET", _of_user(user, "/history"), query=query, user=user, timeout=timeout,
                           name="history_page", hedge=True)
        return answers.page_of_json(answers.load(answer, needs=("entries",)))

    def history(self, user, *, collection=None, limit=100, timeout=None):
        """All entries, newest first, page by page. Each page is a call."""
        cursor = None
        while True:
            page = self.history_page(user, collection=collection, limit=limit, cursor=cursor,
                                     timeout=timeout)
            for entry in page.entries:
                yield entry
            cursor = page.cursor
            if not cursor:
                return

    def look_up_history(self, user, items, *, collection=None, timeout=None):
        """Where the player is in the items: a dict of those that are in the history, by item."""
        body = _with({"items": [ids.to_json(one) for one in ids.check_all(items, "/items")]}, collection=collection)
        answer = self._ask("POST", _of_user(user, "/history/lookup"), body, user=user, timeout=timeout,
                           name="look_up_history", hedge=True)
        return {entry.item: entry for entry in answers.page_of_json(answers.load(answer)).entries}

    def delete_history(self, user, items, *, same_as=(), collection=None, timeout=None):
        """Takes the items out of the history. `same_as`: groups that may be recommended again with them, where the policy says
        so of deleted items."""
        body = _with({"items": [ids.to_json(one) for one in ids.check_all(items, "/items")]}, collection=collection,
                     same_as=list(ids.many(same_as, "/same_as")) or None)
        self._write("POST", _of_user(user, "/history/delete"), body, user, timeout)

    def clear_history(self, user, *, collections=None, filter=False, timeout=None):
        """Takes all entries out. `filter`: what was watched is unseen again."""
        body = {"filter": True} if filter else {}
        if collections is not None:
            body["collections"] = list(collections)
        self._write("POST", _of_user(user, "/history/clear"), body, user, timeout)

    def set_recording(self, user, recording, *, timeout=None):
        """Pauses the history (False), or goes on with it."""
        self._write("PUT", _of_user(user, "/recording"), {"paused": not recording}, user, timeout)

    # ---- A user ----

    def inspect(self, user, *, collection=None, timeout=None):
        """What is held about a user, as the server says it."""
        return answers.load(self._ask("GET", _of_user(user), query=_with({}, collection=collection), user=user,
                                      timeout=timeout, name="inspect", hedge=True))

    def export(self, user, *, timeout=60.0):
        """Everything held about a user: a list of dicts, the last of type "end"."""
        answer = self._ask("GET", _of_user(user, "/export"), user=user, timeout=timeout, name="export")
        return [json.loads(line) for line in answer.body.splitlines() if line.strip()]

    def erase(self, user, *, timeout=None):
        """Forgets a user, for good."""
        return self._write("DELETE", _of_user(user), None, user, timeout)

    # ---- Collections ----

    def collections(self, *, timeout=None):
        """Names and policies: a list of dicts."""
        return answers.load(self._ask("GET", "/collections", timeout=timeout, name="collections"))["collections"]

    def put_collection(self, name, policy=None, *, timeout=None):
        """Makes a collection, or changes its policy: what is not named stays."""
        return self._write("PUT", "/collections/" + _quoted(name), policy or {}, None, timeout)

    def delete_collection(self, name, *, timeout=None):
        """Deletes a collection with all that it holds."""
        return self._write("DELETE", "/collections/" + _quoted(name), None, None, timeout, query={"confirm": name},
                           name="delete_collection")


def _with(told, **more):
    """And what is said of the others."""
    told.update((name, value) for name, value in more.items() if value is not None)
    return told


def _quoted(text):
    return urllib.parse.quote(str(text), safe="")


def _of_set(name):
    return "/sets/" + _quoted(name)


def _of_user(user, rest=""):
    return "/users/" + _quoted(ids.check(user, "/user")) + rest


def _user_header(user):
    """So that a node of a cluster need not read the body to pass it on. Headers are ASCII."""
    text = str(user)
    return {"SeenDB-User": text} if text.isascii() and text.isprintable() and text.strip() == text else {}


def _only(users):
    """The user of all; None where there are several."""
    return users[0] if users and all(user == users[0] for user in users) else None


def packed_items(items):
    """Numbers alone as 8 bytes each; None for any other."""
    if ids.is_numpy(items):
        return ids.numpy_numbers(items, "/items")
    return ids.numbers(items) if isinstance(items, (list, tuple)) else None


def _packed(items, exclude):
    """Items and then what is excluded in binary; None where JSON is needed."""
    packed = packed_items(items)
    if packed is None or not len(exclude):
        return packed
    more = ids.numpy_numbers(exclude, "/exclude") if ids.is_numpy(exclude) else ids.numbers(list(exclude))
    return None if more is None else packed + more
