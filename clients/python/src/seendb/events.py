"""Events, candidates and updates of items as the server takes them."""

import dataclasses
import datetime
import json
from typing import Sequence, Union

from . import ids, times

GROUPS = ("of", "same_as")
WATCH = ("progress_s", "duration_s", "device", "fields", *GROUPS)
# The kinds of events: name, members in a tuple, members that a dict may have besides.
PLAY = ("play", ("user", "item", "at"), WATCH)
EXPOSURE = ("exposure", ("user", "item", "at", "surface"), GROUPS)


@dataclasses.dataclass(frozen=True)
class Candidate:
    """An item and its groups: those that it belongs to, for the user's marks, counts and caps, and those that are one with it
    for the user: it is seen if something of them is. At most 16 together. It comes back as its id."""

    id: Union[str, int]
    of: Sequence[str] = ()                            #: such as "channel:9"
    at: Union[int, datetime.datetime, None] = None    #: when it was published; None: only a mark for ever counts
    same_as: Sequence[str] = ()                       #: such as "src:9", which its original and all reposts name


def dump(body):
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()


def event_of(told, at, now, kind=PLAY):
    """`at`: where it is in the body."""
    name, order, more = kind
    if isinstance(told, dict):
        event = dict(told)
        if set(event) - {*order, *more} or not {"user", "item"} <= set(event):
            raise ids.refuse("%s %s has %s" % ("an" if name[0] == "e" else "a", name, ", ".join(order + more)), at)
    else:
        if isinstance(told, (str, bytes)) or not 2 <= len(told) <= len(order):
            raise ids.refuse("%s %s is (user, item) or (%s)" % ("an" if name[0] == "e" else "a", name, ", ".join(order)), at)
        event = {member: value for member, value in zip(order, told) if value is not None or member in ("user", "item")}
    event["user"] = ids.check(event["user"], at + "/user")
    event["item"] = ids.check(event["item"], at + "/item")
    time = event.get("at")
    event["at"] = now if time is None else times.to_ms(time, at + "/at")
    for member in GROUPS:
        if event.get(member) is not None:
            event[member] = list(ids.many(event[member], at + "/" + member))
    return event


def id_of(candidate):
    return candidate.id if isinstance(candidate, Candidate) else candidate


def candidates_of(items, field, checked=True, dated=True):
    """Candidates for JSON: the items themselves, where all are texts. Not `checked`: the server passes over what is no id; not `dated`: without their times."""
    if checked and ids.are_texts(items):
        return items
    if Candidate not in set(map(type, items)):
        return [ids.to_json(one) for one in (ids.check_all(items, field) if checked else items)]
    return [_candidate_of(one, "%s/%d" % (field, i), checked, dated) for i, one in enumerate(items)]


def _candidate_of(one, field, checked, dated):
    own = id_of(one)
    if own is one:
        return ids.to_json(ids.check(one, field) if checked else one)
    told = {"id": ids.to_json(ids.check(own, field + "/id") if checked else own)}
    for member in GROUPS:
        if getattr(one, member):
            told[member] = list(ids.many(getattr(one, member), field + "/" + member))
    if one.at is not None and dated:
        told["at"] = times.to_ms(one.at, field + "/at")
    return told


def update_of(told, at):
    """An update of an item."""
    if not isinstance(told, dict) or "id" not in told:
        raise ids.refuse("an update is a dict with id and version", at)
    update = dict(told, id=ids.to_json(ids.check(told["id"], at + "/id")))
    if update.get("expires_at") is not None:
        update["expires_at"] = times.to_ms(update["expires_at"], at + "/expires_at")
    return update
