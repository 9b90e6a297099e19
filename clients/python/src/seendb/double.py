"""A client for the tests of whoever calls SeenDB: no server, all in memory."""

import json
import struct
import urllib.parse

from .async_client import AsyncClient
from .client import Client
from .errors import Error
from .forms import BINARY
from .http import Answer
from .routing import Positions


class Memory:
    """Answers in place of a server, and forgets nothing: plays, impressions, exposures, marks, filters, histories, erasures,
    collections, items, sets. Of `not_` it goes by facts and surfaces, and not by times. What it does not know, counts and
    caps, `same_as`, several collections and rules on items among it, it refuses."""

    def __init__(self):
        self.timeout, self.positions = 1.0, Positions()
        self.collections = {"default": {}}
        self.seen = {}       # (collection, user): {item: {"play", "impression" or "exposed": surfaces}}
        self.marks = {}      # user: {group: mark}
        self.items = {}      # item: {field: (version, value)}; field "": what it had below that version is gone
        self.sets = {}       # name: the texts of ids
        self.entries = {}    # (collection, user): {item: entry}
        self.calls = []      # names, as on_call is told them
        self.failures = []   # codes of the next calls' errors
        self.degraded = False

    def ask(self, method, path, *, query=None, body=None, content_type=None, name=None, **_):
        self.calls.append(name or method + " " + path)
        if self.failures:
            raise Error(self.failures.pop(0), "the test wants it so")
        query, rest = dict(query or {}), path.strip("/").split("/")
        if "?" in rest[-1]:
            rest[-1] = rest[-1].partition("?")[0]
        told = self._told(body, content_type) if content_type != BINARY else _rows(query, body) if path == "/plays" else {}
        for name in ("events", "items"):
            for i, one in enumerate(told.get(name) or ()):
                if isinstance(one, dict) and "same_as" in one:
                    raise Error("invalid_argument", "the double knows no such groups", "/%s/%d/same_as" % (name, i), 400)
        answer = getattr(self, "_%s_%s" % (method.lower(), rest[0]), None)
        if answer is None:
            raise Error("not_found", "the double has no " + path, status=404)
        return answer([urllib.parse.unquote(part) for part in rest[1:]], dict(query, **told), body)

    @staticmethod
    def _told(body, content_type):
        if content_type == "application/x-ndjson":
            lines = [json.loads(line) for line in body.splitlines()]
            return {"events": lines, "items": [one for line in lines for one in line.get("items", ())]}
        return json.loads(body) if body else {}

    def _of(self, kept, told, user):
        name = told.get("collection") or "default"
        if name not in self.collections:
            raise Error("not_found", "no collection %r" % name, "/collection", 404)
        return kept.setdefault((name, str(user)), {})

    def _post_plays(self, _rest, told, _body):
        for event in told["events"]:
            self._note(told, event, "play")
            if self.collections[told.get("collection") or "default"].get("history", {}).get("enabled"):
                entry = dict(event, item=str(event["item"]), collection=told.get("collection", "default"))
                self._of(self.entries, told, event["user"])[entry["item"]] = entry
        return _said({"accepted": len(told["events"]), "refused": 0, "refusals": []})

    def _post_impressions(self, _rest, told, _body):
        events = told.get("events") or [{"user": told["user"], "item": item} for item in told["items"]]
        for event in events:
            self._note(told, event, "impression")
        return _said({"accepted": len(events), "refused": 0, "refusals": []})

    def _post_exposures(self, _rest, told, _body):
        for event in told["events"]:
            self._note(told, event, "exposed")
        return _said({"accepted": len(told["events"]), "refused": 0, "refusals": []})

    def _note(self, told, event, fact):
        item = self._of(self.seen, told, event["user"]).setdefault(str(event["item"]), {})
        item.setdefault(fact, set()).add(event.get("surface"))

    def _asked(self, told):
        """The facts that make an item seen, each with a surface; None: any."""
        if told.get("not"):
            return [(FACTS[one["fact"]], one.get("surface")) for one in told["not"]]
        asked = [(FACTS[one], None) for one in told.get("facts") or ("plays", "impressions")]
        exposed = self.collections[told.get("collection") or "default"].get("exposed_is_seen")
        return [*asked, ("exposed", None)] if exposed else asked

    def _post_filter(self, _rest, told, body):
        for name in UNKNOWN & set(told):
            raise Error("invalid_argument", "the double knows no such filter", "/" + name)
        packed = told.get("ids") == "u64"
        if packed:
            listed = struct.unpack("<%dQ" % (len(body) // 8), body)
            count = len(listed) - int(told.get("exclude", 0))
            told = dict(told, items=listed[:count], exclude=listed[count:])
        seen, limit = self._of(self.seen, told, told["user"]), int(told.get("limit", 1 << 60))
        asked, marks, reasons = self._asked(told), self.marks.get(str(told["user"]), {}), {}
        excluded, met, unseen, bits = {str(one) for one in told.get("exclude", ())}, set(), [], bytearray((len(told["items"]) + 7) // 8)
        names = told.get("exclude_sets", ())
        names = names.split(",") if isinstance(names, str) else names
        sets = [(name, self._set(name, "/exclude_sets/%d" % i)) for i, name in enumerate(names)]
        answer = {"seen": 0, "examined": 0, "excluded": 0, "duplicates": 0}
        if any(isinstance(one, dict) for one in told["items"]):
            answer["undated"] = 0
        for at, one in enumerate(told["items"]):
            if len(unseen) == limit:
                break
            groups = one if isinstance(one, dict) else {"id": one}
            item, until = groups["id"], [marks[group]["until"] for group in groups.get("of", ()) if group in marks]
            why = next((fact for fact, there in seen.get(str(item), {}).items() for name, surface in asked
                        if fact == name and (surface is None or surface in there)), None)
            within = next(("set:" + name for name, members in sets if str(item) in members), None)
            why = why or next(("mark:" + group for group in groups.get("of", ()) if group in marks
                               and (marks[group]["until"] == "always" or groups.get("at", 2**63) <= marks[group]["until"])), None)
            answer["examined"] += 1
            if until and "at" not in groups and "always" not in until:
                answer["undated"] += 1
            if str(item) in met:
                answer["duplicates"] += 1
            elif str(item) in excluded or within:
                answer["excluded"] += 1
                reasons.update({str(item): within} if within else {})
            elif why:
                answer["seen"] += 1
                reasons[str(item)] = why
            else:
                unseen.append(item)
                bits[at // 8] |= 1 << at % 8
            met.add(str(item))
        if told.get("explain"):
            answer["reasons"] = reasons
        for item in unseen if told.get("record") else ():
            self._note(told, {"user": told["user"], "item": item}, "impression")
        answer.update(degraded=self.degraded, missing=["double"] if self.degraded else [])
        if not packed:
            return _said(dict(answer, unseen=[str(one) for one in unseen]))
        headers = {"seendb-" + name: str(int(answer[name])) for name in ("seen", "examined", "excluded", "duplicates", "degraded")}
        headers.update({"seendb-missing": ", ".join(answer["missing"]), "seendb-recorded": "true" if told.get("record") else "false"})
        return _said(bytes(bits), headers)

    # ---- A user ----

    def _get_users(self, rest, told, _body):
        if rest[1:] == ["marks"]:
            return self._marks_page(rest[0], int(told.get("cursor", 0)), int(told.get("limit", 100)))
        if not rest[1:]:
            return _said({"user": rest[0]})
        if rest[1:] != ["history"]:
            raise Error("not_found", "the double has no " + rest[1], status=404)
        own = [name for name, kept in self.collections.items() if kept.get("history", {}).get("enabled")
               and name in told.get("collection", name).split(",")]
        entries = [one for name in own for one in self._of(self.entries, {"collection": name}, rest[0]).values()]
        entries.sort(key=lambda one: -one["at"])
        begin = int(told.get("cursor", 0))
        end = begin + int(told.get("limit", 100))
        more = {"cursor": str(end)} if end < len(entries) else {}
        return _said(dict(more, entries=entries[begin:end], kept=bool(own), degraded=False))

    def _marks_page(self, user, begin, limit):
        marks = sorted(self.marks.get(user, {}).items())
        more = {"cursor": str(begin + limit)} if begin + limit < len(marks) else {}
        return _said(dict(more, marks=[mark for _, mark in marks[begin:begin + limit]]))

    def _post_users(self, rest, told, _body):
        if rest[1:] == ["marks"]:
            marks = self.marks.setdefault(rest[0], {})
            before = marks.get(told["group"], told)["until"]
            if told["until"] == "always" or before != "always" and before <= told["until"]:
                marks[told["group"]] = told
            return _said({"accepted": 1, "refused": 0, "refusals": []})
        entries = self._of(self.entries, told, rest[0])
        if rest[-1] == "lookup":
            return _said({"entries": [entries.get(str(one)) for one in told["items"]]})
        for name in told.get("collections", self.collections) if rest[-1] == "clear" else ():
            self.entries.pop((name, rest[0]), None)
        for item in told.get("items", ()):
            entries.pop(str(item), None)
        return _said({})

    def _delete_users(self, rest, _told, _body):
        if len(rest) > 1:
            return _said({"deleted": self.marks.get(rest[0], {}).pop(rest[2], None) is not None})
        known = [key for key in self.seen if key[1] == rest[0]]
        for key in known:
            self.seen.pop(key)
            self.entries.pop(key, None)
        marked = self.marks.pop(rest[0], None)
        return _said({"erased": True, "known": bool(known) or marked is not None})

    # ---- Sets ----

    def _set(self, name, field=""):
        if name not in self.sets:
            raise Error("not_found", "no set %r" % name, field, 404)
        return self.sets[name]

    def _put_sets(self, rest, told, _body):
        self.sets[rest[0]] = {str(one) for one in told["items"]}
        return _said(self._info(rest[0]))

    def _info(self, name):
        return {"name": name, "count": len(self._set(name)), "bytes": 0, "at": 0}

    def _get_sets(self, rest, told, _body):
        if not rest:
            return _said({"sets": [self._info(name) for name in sorted(self.sets)]})
        ids, begin, end = sorted(self._set(rest[0])), int(told.get("cursor", 0)), int(told.get("cursor", 0)) + int(told["limit"])
        return _said(dict(self._info(rest[0]), items=ids[begin:end], **({"cursor": str(end)} if end < len(ids) else {})))

    def _delete_sets(self, rest, _told, _body):
        self._set(rest[0])
        return _said({"deleted": self.sets.pop(rest[0]) is not None})

    # ---- Items ----

    def _put_items(self, _rest, told, _body):
        return _said(told)

    def _post_items(self, rest, told, _body):
        if rest:
            found = [dict(self._item(one, told.get("fields")), id=one) for one in told["ids"] if self._item(one, None)]
            return _said({"items": found})
        stale = 0
        for one in told["items"]:
            kept, version = self.items.setdefault(str(one["id"]), {"": (0, None)}), one["version"]
            for field, value in [*one.get("set", {}).items(), *dict.fromkeys(one.get("unset", ())).items()]:
                if kept.get(field, kept[""])[0] > version:
                    stale += 1
                else:
                    kept[field] = (version, value)
            if one.get("replace") or one.get("delete"):
                kept.update({field: (version, None) for field, (known, _) in kept.items() if known < version})
        return _said({"accepted": len(told["items"]), "stale": stale, "refused": 0, "refusals": []})

    def _item(self, one, fields):
        """None: there is none, or nothing is left of it."""
        kept = self.items.get(str(one), {})
        there = {field: value for field, (_, value) in kept.items() if value is not None}
        return {"version": max(version for version, _ in kept.values()),
                "fields": {field: there[field] for field in fields or there if field in there}} if there else None

    # ---- Collections ----

    def _get_collections(self, _rest, _told, _body):
        return _said({"collections": [dict(policy, name=name) for name, policy in self.collections.items()]})

    def _put_collections(self, rest, told, _body):
        self.collections.setdefault(rest[0], {}).update(told)
        return _said(dict(told, name=rest[0]))

    def _delete_collections(self, rest, _told, _body):
        if self.collections.pop(rest[0], None) is None:
            raise Error("not_found", "no collection %r" % rest[0], "/name", 404)
        return _said({"deleted": True, "name": rest[0]})

    def close(self):
        self.failures = ["closed"] * (1 << 20)


UNKNOWN = {"collections", "caps", "where", "at_most", "unknown", "fields", "when_short"}
FACTS = {"plays": "play", "impressions": "impression", "played": "play", "served": "impression", "exposed": "exposed"}


class AsyncMemory(Memory):

    async def ask(self, *args, **options):
        return super().ask(*args, **options)


class Double(Client):
    """A Client without a server: what it is told stays in memory, and no time is too old for it. `memory` has what it was asked
    (`calls`) and says what goes wrong: `memory.failures = ["timeout"]`, `memory.degraded = True`."""

    def __init__(self, memory=None):
        self.memory = self._caller = memory or Memory()
        self.timeout = self.memory.timeout
        self._begin_pages()


class AsyncDouble(AsyncClient):
    """A Double for asyncio."""

    def __init__(self):
        self.memory = self._caller = AsyncMemory()
        self.timeout = self.memory.timeout
        self._begin_pages()


def _rows(query, body):
    """Plays of a Bulk, in binary."""
    events, at = [], 0

    def taken(size):
        nonlocal at
        at += size
        return body[at - size:at]

    def number(size=8):
        return int.from_bytes(taken(size), "little")
    for _ in range(query["count"]):
        user, item = [number() if query["ids"] == "u64" else taken(number(4)).decode() for _ in range(2)]
        events.append({"user": user, "item": item, "at": number()})
    return {"events": events}


def _said(body, headers=None):
    answer = Answer(200, dict(headers or {}, **{"content-type": "application/json"}))
    answer.body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return answer
