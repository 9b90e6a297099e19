"""The client. What waits is named in ../../generate_async.py, which makes async_client.py of this."""

import json
import urllib.parse

from . import answers, ids, times
from .caller import Caller
from .errors import Error, Refused
from .pages import Pages

BINARY = "application/octet-stream"
JSON = "application/json"
WATCH = ("progress_s", "duration_s", "device", "fields")


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
                                  body=None if body is None else _dump(body),
                                  content_type=None if body is None else JSON,
                                  repeat=method in ("GET", "HEAD", "PUT", "DELETE"))
        if answer.headers.get("content-type", "").startswith(JSON):
            return _load(answer)
        return answer.body.decode()

    # ---- What was seen ----

    def record_plays(self, plays, *, collection=None, timeout=None):
        """Records plays: (user, item), (user, item, at), or dicts of user, item, at, progress_s,
        duration_s, device, fields. One without a time gets the present, before the first try, so that a
        second one counts once. Durable as the collection's policy says once this returns. Raises Refused
        where every one is refused; of some: Recorded.refusals."""
        now = times.now_ms()
        events = [event_of(play, "/events/%d" % i, now) for i, play in enumerate(plays)]
        body = {"events": [dict(event, user=ids.to_json(event["user"]), item=ids.to_json(event["item"]))
                           for event in events]}
        if collection is not None:
            body["collection"] = collection
        answer = self._caller.ask("POST", "/plays", body=_dump(body), content_type=JSON,
                                  user=_only([event["user"] for event in events]), timeout=timeout,
                                  name="record_plays")
        return self._recorded(answer, [event["user"] for event in events])

    def record_impressions(self, user, items, *, at=None, collection=None, timeout=None):
        """Records that the user was served the items."""
        body = {"user": ids.to_json(ids.check(user, "/user")),
                "items": [ids.to_json(one) for one in ids.check_all(items, "/items")],
                "at": times.now_ms() if at is None else times.to_ms(at, "/at")}
        if collection is not None:
            body["collection"] = collection
        answer = self._caller.ask("POST", "/impressions", body=_dump(body), content_type=JSON, user=user,
                                  timeout=timeout, name="record_impressions")
        return self._recorded(answer, [user])

    def _recorded(self, answer, users):
        position = answer.headers.get("seendb-position")
        if position is not None:
            self._caller.positions.note(users, position)
        recorded = answers.recorded_of_json(_load(answer), answer.status == 202)
        if answer.status != 422:
            return recorded
        first = recorded.refusals[0]
        raise Refused(Error(first.code, first.message, "/events/%d%s" % (first.index, first.field), 422),
                      recorded)

    # ---- What was not ----

    def filter(self, user, items, *, collection=None, limit=None, exclude=(), record=False,
               explain=False, verify=False, facts=None, on_error=None, deadline_ms=None, invalid=None,
               timeout=None):
        """Which of the items the user has not seen: Filtered. `items`: a list or another iterable, or a
        numpy array of numbers, whose answer has a mask. Ints alone go in binary by themselves.

        limit        stop once so many unseen ones are found
        exclude      ids that are never unseen
        record       record the unseen as served, in the same step
        explain      say why an item is seen
        verify       look plays up in the history: none is falsely called seen
        facts        ("plays", "impressions") or one of them; None: both
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
        packed = None if explain or facts or invalid else _packed(items, exclude)
        if packed is not None:
            target = {"user": str(ids.check(user, "/user")), "ids": "u64", "count": len(packed) // 8}
            target.update((name, "true" if value is True else value) for name, value in query.items())
            if len(exclude):
                target["exclude"] = len(exclude)
            answer = self._caller.ask("POST", "/filter", query=target, body=packed, content_type=BINARY,
                                      user=user, timeout=timeout, name="filter")
            return answers.filtered_of_bits(items if ids.is_numpy(items) else list(items), answer.body,
                                            answer.headers, record)
        if ids.is_numpy(items):
            items = items.tolist()
        def written(values, field):
            return [ids.to_json(one) for one in (values if invalid else ids.check_all(values, field))]
        body = dict(query, user=ids.to_json(ids.check(user, "/user")), items=written(items, "/items"))
        if len(exclude):
            body["exclude"] = written(exclude, "/exclude")
        for name, value in (("explain", explain), ("facts", facts), ("invalid", invalid)):
            if value:
                body[name] = list(value) if name == "facts" else value
        answer = self._caller.ask("POST", "/filter", body=_dump(body), content_type=JSON, user=user,
                                  headers=_user_header(user), timeout=timeout, name="filter")
        return answers.filtered_of_json(_load(answer), items, record)

    # ---- The watch history ----

    def history_page(self, user, *, collection=None, limit=100, cursor=None, timeout=None):
        """Entries, newest first: HistoryPage. `collection`: a name, or a list of them; None: all."""
        query = {"limit": limit}
        if collection is not None:
            query["collection"] = collection if isinstance(collection, str) else ",".join(collection)
        if cursor:
            query["cursor"] = cursor
        answer = self._caller.ask("GET", _of_user(user, "/history"), query=query, user=user,
                                  timeout=timeout, name="history_page")
        return answers.page_of_json(_load(answer))

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
        answer = self._caller.ask("POST", _of_user(user, "/history/lookup"), body=_dump(body),
                                  content_type=JSON, user=user, timeout=timeout, name="look_up_history")
        return {entry.item: entry for entry in answers.page_of_json(_load(answer)).entries}

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
                                  name="inspect")
        return _load(answer)

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
        return _load(answer)["collections"]

    def put_collection(self, name, policy=None, *, timeout=None):
        """Makes a collection, or changes its policy: what is not named stays."""
        return self._write("PUT", "/collections/" + _quoted(name), policy or {}, None, timeout)

    def delete_collection(self, name, *, timeout=None):
        """Deletes a collection with all that it holds."""
        answer = self._caller.ask("DELETE", "/collections/" + _quoted(name), query={"confirm": name},
                                  timeout=timeout, name="delete_collection")
        return _load(answer)

    def _write(self, method, path, body, user, timeout):
        answer = self._caller.ask(method, path, body=None if body is None else _dump(body),
                                  content_type=None if body is None else JSON, user=user, timeout=timeout)
        position = answer.headers.get("seendb-position")
        if position is not None and user is not None:
            self._caller.positions.note([user], position)
        return _load(answer)


def _dump(body):
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()


def _load(answer):
    try:
        return json.loads(answer.body)
    except ValueError:
        raise Error("protocol", "the answer is no JSON: %r" % answer.body[:100],
                    status=answer.status) from None


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


def event_of(play, at, now):
    """`at`: where it is in the body."""
    if isinstance(play, dict):
        event = dict(play)
        unknown = set(event) - {"user", "item", "at", *WATCH}
        if unknown or not {"user", "item"} <= set(event):
            raise ids.refuse("a play has user, item, at and %s" % ", ".join(WATCH), at)
    else:
        if isinstance(play, (str, bytes)) or not 2 <= len(play) <= 3:
            raise ids.refuse("a play is (user, item) or (user, item, at)", at)
        event = dict(zip(("user", "item", "at"), play))
    event["user"] = ids.check(event["user"], at + "/user")
    event["item"] = ids.check(event["item"], at + "/item")
    time = event.get("at")
    event["at"] = now if time is None else times.to_ms(time, at + "/at")
    return event


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
