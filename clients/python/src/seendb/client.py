"""The client. What waits is named in ../../generate_async.py, which makes async_client.py of this."""

import json
import urllib.parse

from . import answers, ids, times
from .bulk import Bulk, note_recorded
from .caller import Caller
from .errors import Error, Refused
from .events import EXPOSURE, PLAY, Candidate, candidate_of, dump, event_of, id_of, update_of
from .pages import Pages

BINARY = "application/octet-stream"
JSON = "application/json"


class Client(Pages):
    """A SeenDB server, or a cluster of them.

    urls          "http://host:port", "https://host:port", "unix:/path", or a list of them: the next one
                  is asked where one can't be
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
        answer = self._caller.ask(method, path, query=query, timeout=timeout, user=user,
                                  body=None if body is None else dump(body),
                                  content_type=None if body is None else JSON,
                                  repeat=method in ("GET", "HEAD", "PUT", "DELETE"))
        if answer.headers.get("content-type", "").startswith(JSON):
            return answers.load(answer, kind=object)
        return answer.body.decode()

    # ---- What was seen ----

    def record_plays(self, plays, *, collection=None, timeout=None):
        """Records plays: (user, item), (user, item, at), or dicts of user, item, at, progress_s,
        duration_s, device, fields. One without a time gets the present, before the first try, so that a
        second one counts once. Durable as the collection's policy says once this returns. Raises Refused
        where every one is refused; of some: Recorded.refusals."""
        return self._record("plays", PLAY, plays, collection, timeout)

    def record_exposures(self, exposures, *, collection=None, timeout=None):
        """Records what was really on users' screens: (user, item), (user, item, at), (user, item, at, surface),
        or dicts of them; `surface` says where, such as "home". Times, errors and what is returned are those of
        record_plays. They make an item seen where a filter asks for them (`not_`), or the collection's policy says
        `exposed_is_seen`."""
        return self._record("exposures", EXPOSURE, exposures, collection, timeout)

    def _record(self, name, kind, told, collection, timeout):
        now = times.now_ms()
        events = [event_of(one, "/events/%d" % i, now, kind) for i, one in enumerate(told)]
        body = {"events": [dict(event, user=ids.to_json(event["user"]), item=ids.to_json(event["item"]))
                           for event in events]}
        if collection is not None:
            body["collection"] = collection
        users = [event["user"] for event in events]
        answer = self._caller.ask("POST", "/" + name, body=dump(body), content_type=JSON, user=_only(users),
                                  timeout=timeout, name="record_" + name)
        return self._recorded(answer, users)

    def record_impressions(self, user, items, *, at=None, collection=None, timeout=None):
        """Records that the user was served the items."""
        body = {"user": ids.to_json(ids.check(user, "/user")),
                "items": [ids.to_json(one) for one in ids.check_all(items, "/items")],
                "at": times.now_ms() if at is None else times.to_ms(at, "/at")}
        if collection is not None:
            body["collection"] = collection
        answer = self._caller.ask("POST", "/impressions", body=dump(body), content_type=JSON, user=user,
                                  timeout=timeout, name="record_impressions")
        return self._recorded(answer, [user])

    def bulk(self, kind="plays", *, collection=None, batch=2_000, patience=60.0):
        """Many events: a Bulk. `kind`: "plays", "impressions" or "exposures". `patience`: seconds for a batch to be taken."""
        return Bulk(self._caller, kind, collection, batch, patience)

    def _recorded(self, answer, users, where="/events/%d"):
        recorded = note_recorded(self._caller, answer, users)
        if answer.status != 422:
            return recorded
        first = recorded.refusals[0]
        field = (where % first.index if "%" in where else where) + first.field
        raise Refused(Error(first.code, first.message, field, 422), recorded)

    # ---- What was not ----

    def filter(self, user, items, *, collection=None, limit=None, exclude=(), record=False,
               explain=False, verify=False, facts=None, not_=None, on_error=None, deadline_ms=None, invalid=None,
               timeout=None):
        """Which of the items the user has not seen: Filtered. `items`: a list or another iterable of ids and
        Candidates, or a numpy array of numbers, whose answer has a mask. Ints alone go in binary by themselves.

        limit        stop once so many unseen ones are found
        exclude      ids that are never unseen
        record       record the unseen as served, in the same step
        explain      say why an item is seen
        verify       look plays up in the history: none is falsely called seen
        facts        ("plays", "impressions") or one of them; None: both
        not_         in place of facts, what makes an item seen: a list of dicts, each with a "fact" ("played", "served",
                     "exposed") and maybe "window" (newest buckets), "within" ("7d", "10m"), "last" (newest entries)
                     and "surface"; one event has to meet all of one dict
        on_error     "fail": an Error where an answer would be degraded
        deadline_ms  the server answers within it, degraded at worst; None: four fifths of the call's
                     timeout
        invalid      "skip": pass over what is no id (None, "", too long)
        """
        items, exclude = ids.listed(items, "/items"), ids.listed(exclude, "/exclude")
        if deadline_ms is None:
            deadline_ms = max(1, int(800 * (self.timeout if timeout is None else timeout)))
        query = {"collection": collection, "limit": limit, "on_error": on_error,
                 "deadline_ms": deadline_ms}
        query = {name: value for name, value in query.items() if value is not None}
        if record:
            query["record"] = True
        if verify:
            query["verify"] = True
        packed = None if explain or facts or not_ or invalid else _packed(items, exclude)
        if packed is not None:
            target = {"user": str(ids.check(user, "/user")), "ids": "u64", "count": len(packed) // 8}
            target.update((name, "true" if value is True else value) for name, value in query.items())
            if len(exclude):
                target["exclude"] = len(exclude)
            answer = self._caller.ask("POST", "/filter", query=target, body=packed, content_type=BINARY,
                                      user=user, timeout=timeout, name="filter", hedge=not record)
            return answers.filtered_of_bits(items if ids.is_numpy(items) else list(items), answer.body,
                                            answer.headers, record)
        if ids.is_numpy(items):
            items = items.tolist()
        def written(values, field):
            return [ids.to_json(one) for one in (values if invalid else ids.check_all(values, field))]
        body = dict(query, user=ids.to_json(ids.check(user, "/user")))
        if Candidate in set(map(type, items)):
            body["items"] = [candidate_of(one, "/items/%d" % i, not invalid) for i, one in enumerate(items)]
            items = [id_of(one) for one in items]
        else:
            body["items"] = written(items, "/items")
        if len(exclude):
            body["exclude"] = written(exclude, "/exclude")
        for name, value in (("explain", explain), ("facts", facts), ("not", not_), ("invalid", invalid)):
            if value:
                body[name] = list(value) if name in ("facts", "not") else value
        answer = self._caller.ask("POST", "/filter", body=dump(body), content_type=JSON, user=user,
                                  headers=_user_header(user), timeout=timeout, name="filter", hedge=not record)
        return answers.filtered_of_json(answers.load(answer, needs=("unseen",)), items, record)

    # ---- Marks ----

    def mark(self, user, group, until, *, at=None, timeout=None):
        """Marks all of a group ("channel:9") as seen: what was published up to `until` (a time, itself included), or
        "always" all of it. The mark that reaches furthest counts, in all collections, for candidates that name the
        group (Candidate.of). `at`: when it is said; None: the present, before the first try. A mark that is said no
        later than an unmark does not count."""
        body = {"group": group, "until": until if until == "always" else times.to_ms(until, "/until"),
                "at": times.now_ms() if at is None else times.to_ms(at, "/at")}
        answer = self._caller.ask("POST", _of_user(user, "/marks"), body=dump(body), content_type=JSON, user=user,
                                  timeout=timeout, name="mark")
        self._recorded(answer, [user], "")

    def marks(self, user, *, limit=100, cursor=None, timeout=None):
        """Reads what the user marked, by group: MarksPage. `limit`: 1,000 at most."""
        query = {"limit": limit, "cursor": cursor} if cursor else {"limit": limit}
        answer = self._caller.ask("GET", _of_user(user, "/marks"), query=query, user=user, timeout=timeout,
                                  name="marks", hedge=True)
        return answers.marks_of_json(answers.load(answer, needs=("marks",)))

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
        answer = self._caller.ask("POST", "/items/get", body=dump(body), content_type=JSON, timeout=timeout,
                                  name="get_items", hedge=True)
        return answers.items_of_json(answers.load(answer, needs=("items",)), asked)

    def put_items(self, updates, *, timeout=None):
        """Updates items: dicts of id, version and set (values by field), unset (names), replace, delete, expires_at.
        Free of order, and harmless when repeated: each field keeps the value with the highest version. Recorded, whose
        `stale` counts fields that had a higher version. A malformed update is an Error, and nothing is taken; raises
        Refused where every one is refused."""
        body = {"items": [update_of(one, "/items/%d" % i) for i, one in enumerate(updates)]}
        answer = self._caller.ask("POST", "/items", body=dump(body), content_type=JSON, timeout=timeout,
                                  name="put_items")
        return self._recorded(answer, [], "")

    def put_item_schema(self, fields, *, timeout=None):
        """Makes these the fields that items may have: dicts of name, type (bool, i64, f32, text, list_i64, list_text)
        and maybe column. One whose name is missing is removed with its values. What the server says: a dict."""
        return self._write("PUT", "/items/schema", {"fields": list(fields)}, None, timeout)

    # ---- The watch history ----

    def history_page(self, user, *, collection=None, limit=100, cursor=None, timeout=None):
        """Entries, newest first: HistoryPage. `collection`: a name, or a list of them; None: all."""
        query = {"limit": limit}
        if collection is not None:
            query["collection"] = collection if isinstance(collection, str) else ",".join(collection)
        if cursor:
            query["cursor"] = cursor
        answer = self._caller.ask("GET", _of_user(user, "/history"), query=query, user=user,
                                  timeout=timeout, name="history_page", hedge=True)
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
        body = {"items": [ids.to_json(one) for one in ids.check_all(items, "/items")]}
        if collection is not None:
            body["collection"] = collection
        answer = self._caller.ask("POST", _of_user(user, "/history/lookup"), body=dump(body),
                                  content_type=JSON, user=user, timeout=timeout, name="look_up_history",
                                  hedge=True)
        return {entry.item: entry for entry in answers.page_of_json(answers.load(answer)).entries}

    def delete_history(self, user, items, *, collection=None, timeout=None):
        """Takes the items out of the history."""
        body = {"items": [ids.to_json(one) for one in ids.check_all(items, "/items")]}
        if collection is not None:
            body["collection"] = collection
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
        query = {"collection": collection} if collection is not None else None
        answer = self._caller.ask("GET", _of_user(user), query=query, user=user, timeout=timeout,
                                  name="inspect", hedge=True)
        return answers.load(answer)

    def export(self, user, *, timeout=60.0):
        """Everything held about a user: a list of dicts, the last of type "end"."""
        answer = self._caller.ask("GET", _of_user(user, "/export"), user=user, timeout=timeout,
                                  name="export")
        return [json.loads(line) for line in answer.body.splitlines() if line.strip()]

    def erase(self, user, *, timeout=None):
        """Forgets a user, for good."""
        return self._write("DELETE", _of_user(user), None, user, timeout)

    # ---- Collections ----

    def collections(self, *, timeout=None):
        """Names and policies: a list of dicts."""
        answer = self._caller.ask("GET", "/collections", timeout=timeout, name="collections")
        return answers.load(answer)["collections"]

    def put_collection(self, name, policy=None, *, timeout=None):
        """Makes a collection, or changes its policy: what is not named stays."""
        return self._write("PUT", "/collections/" + _quoted(name), policy or {}, None, timeout)

    def delete_collection(self, name, *, timeout=None):
        """Deletes a collection with all that it holds."""
        answer = self._caller.ask("DELETE", "/collections/" + _quoted(name), query={"confirm": name},
                                  timeout=timeout, name="delete_collection")
        return answers.load(answer)

    def _write(self, method, path, body, user, timeout):
        answer = self._caller.ask(method, path, body=None if body is None else dump(body),
                                  content_type=None if body is None else JSON, user=user, timeout=timeout)
        position = answer.headers.get("seendb-position")
        if position is not None and user is not None:
            self._caller.positions.note([user], position)
        return answers.load(answer)


def _quoted(text):
    return urllib.parse.quote(str(text), safe="")


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
