"""What calls return."""

import dataclasses
import itertools
import json
from typing import Any, Dict, List, Optional, Union

from .errors import Error

Id = Union[str, int]

_BITS = [bytes(byte >> bit & 1 for bit in range(8)) for byte in range(256)]


def load(answer, kind=dict, needs=()):
    """The answer's JSON: an object with what it `needs`."""
    try:
        told = json.loads(answer.body)
        sound = isinstance(told, kind) and all(name in told for name in needs)
    except ValueError:
        sound = False
    if not sound:
        raise Error("protocol", "the answer is not the JSON that was asked for: %r" % answer.body[:100],
                    status=answer.status)
    return told


def as_given(told, asked, texts=False):
    """The ids of an answer as the call had them. `texts`: these were nothing but texts."""
    try:
        if texts and isinstance(told, list) and set(asked).issuperset(told):
            return told
        given = {str(one): one for one in reversed(asked)}
        return [given[str(one)] for one in told]
    except (KeyError, TypeError):
        raise Error("protocol", "the answer names what was not asked about") from None


def made(kind, told):
    """A dataclass of those members of an answer that it has."""
    try:
        return kind(**{one.name: told[one.name] for one in dataclasses.fields(kind) if one.name in told})
    except TypeError:
        raise Error("protocol", "the answer is no %s: %r" % (kind.__name__, told)) from None


_MEMBERS = {"seen": int, "examined": int, "degraded": bool, "missing": list, "excluded": int, "duplicates": int,
            "recorded": type(None), "reasons": type(None), "undated": int, "coarse": list, "beyond": list,
            "repeats": list, "fields": dict, "fields_left_out": int, "more": dict}


class Filtered:
    """What a user has not seen of the candidates.

    unseen           the unseen candidates, in their order, each once, as they were given (a list)
    mask             of a numpy array of candidates: an array of bool, True where unseen; else None
    seen             how many are seen
    examined         how many were decided; those behind them, where `limit` ended the work, were not
    unseen_share     how dry the page runs: the unseen divided by the examined; 1.0 where none was examined
    degraded         something could not be read: items may be called unseen that were seen
    missing          the names of what could not be read
    excluded         how many of the examined were excluded, by `exclude`, sets, caps and rules on items
    duplicates       how many of the examined came before
    recorded         with record: whether the unseen were recorded as served; None without
    reasons          with explain: why an item is seen or was dropped, by its text
    undated          candidates without a time of a group that is marked up to a time
    coarse           with not_: facts of which more counted than was asked for ("played" by the bucket)
    beyond           with not_: facts of which less is kept than was asked for
    repeats          with when_short: seen candidates that come back, the one seen longest ago first
    fields           with fields: those of the unseen that the server knows, by the item's text: dicts
    fields_left_out  unseen items whose fields did not fit into the answer (16 MiB)
    more             all other members of the answer
    """

    __slots__ = ("_unseen", "_candidates", "mask", *_MEMBERS)

    def __init__(self, unseen=None, candidates=None, mask=None, **told):
        self._unseen, self._candidates, self.mask = unseen, candidates, mask
        for name, kind in _MEMBERS.items():
            setattr(self, name, told[name] if name in told else kind())

    @property
    def unseen(self) -> List[Id]:
        if self._unseen is None:
            self._unseen = self._candidates[self.mask].tolist()
        return self._unseen

    @property
    def unseen_share(self) -> float:
        return len(self.unseen) / self.examined if self.examined else 1.0

    def __repr__(self):
        return "Filtered(%d unseen, %d seen of %d%s)" % (
            len(self.unseen), self.seen, self.examined, ", degraded" if self.degraded else "")


def filtered_of_json(answer, items, record, texts=False):
    """`items`: the candidates as they were given: so they come back."""
    answer["unseen"] = as_given(answer["unseen"], items, texts)
    if answer.get("repeats"):
        answer["repeats"] = as_given(answer["repeats"], items, texts)
    answer.pop("unseen_share", None)
    told = {name: answer.pop(name) for name in ("unseen", *_MEMBERS) if name in answer}
    told["recorded"] = told.get("recorded", True) if record else None
    return Filtered(more=answer, **told)


def filtered_of_bits(candidates, body, headers, record):
    """`candidates`: a list or a numpy array."""
    missing = headers.get("seendb-missing", "")
    if len(body) != (len(candidates) + 7) // 8 or "seendb-seen" not in headers:
        raise Error("protocol", "the answer is no bitmap of the candidates")
    counts = {
        "seen": int(headers["seendb-seen"]), "examined": int(headers["seendb-examined"]),
        "degraded": headers["seendb-degraded"] != "0",
        "missing": missing.split(", ") if missing else [],
        "excluded": int(headers.get("seendb-excluded", 0)),
        "duplicates": int(headers.get("seendb-duplicates", 0)),
        "recorded": headers.get("seendb-recorded") == "true" if record else None,
    }
    if isinstance(candidates, list):
        bits = b"".join(map(_BITS.__getitem__, body))
        return Filtered(list(itertools.compress(candidates, bits)), **counts)
    import numpy

    mask = numpy.unpackbits(numpy.frombuffer(body, dtype=numpy.uint8), count=len(candidates),
                            bitorder="little").astype(bool)
    return Filtered(candidates=candidates, mask=mask, **counts)


@dataclasses.dataclass(frozen=True)
class Refusal:
    """An event that was not taken."""

    index: int     #: in the call
    code: str
    message: str
    field: str


@dataclasses.dataclass(frozen=True)
class Recorded:
    """What became of a call's events."""

    accepted: int
    refused: int
    refusals: List[Refusal]          #: at most 100 of them
    pending: bool = False            #: in a cluster: in the log, and not applied yet
    stale: int = 0                   #: of put_items: fields that the items had with a higher version
    more: Dict[str, Any] = dataclasses.field(default_factory=dict)  #: all other members of the answer


def recorded_of_json(answer, pending=False):
    refusals = [Refusal(one["index"], one["error"]["code"], one["error"]["message"],
                        one["error"].get("field", "")) for one in answer.pop("refusals", [])]
    return Recorded(answer.pop("accepted", 0), answer.pop("refused", 0), refusals, pending, answer.pop("stale", 0), answer)


@dataclasses.dataclass(frozen=True)
class Entry:
    """An item of a user's watch history."""

    collection: str
    item: Id
    at: int                    #: ms since 1970
    progress_s: int = 0        #: -1: finished
    duration_s: int = 0
    device: str = ""
    fields: Optional[dict] = None


@dataclasses.dataclass(frozen=True)
class HistoryPage:
    """Some entries, newest first."""

    entries: List[Entry]
    cursor: str = ""           #: of the next page; empty: this is the last
    kept: bool = True          #: False: none of the collections keeps history
    degraded: bool = False
    missing: List[str] = dataclasses.field(default_factory=list)


def page_of_json(answer):
    entries = [made(Entry, {"collection": "", **one}) for one in answer.get("entries", []) if one]
    return made(HistoryPage, dict(answer, entries=entries))


@dataclasses.dataclass(frozen=True)
class Mark:
    """A group of items that a user marked as seen."""

    group: str
    until: Union[int, str]     #: ms since 1970, or "always"
    at: int = 0                #: when it was said


@dataclasses.dataclass(frozen=True)
class MarksPage:
    """A page of marks, by group."""

    marks: List[Mark]
    cursor: str = ""           #: of the next page; empty: this is the last
    degraded: bool = False     #: marks may be missing
    missing: List[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Item:
    """An item as the server knows it."""

    id: Id                     #: as it was asked for
    version: int               #: the highest that it was updated with
    fields: Dict[str, Any]


@dataclasses.dataclass(frozen=True)
class ItemSet:
    """A named set of items."""

    name: str
    count: int                 #: of its ids
    bytes: int                 #: of the server's memory
    at: int                    #: when it was put, ms since 1970
    damaged: bool = False      #: part of it can't be read: put it again
    items: List[str] = dataclasses.field(default_factory=list)  #: of get_set: some ids as text, in the order of their bytes
    cursor: str = ""           #: of the next page; empty: this is the last


@dataclasses.dataclass(frozen=True)
class GroupCounts:
    """How often a user was served, exposed to and played what belongs to a group: events by span ("1h", "1d", "7d", "30d")."""

    key: str                   #: the group
    served: Dict[str, int]
    exposed: Dict[str, int]
    played: Dict[str, int]
    at_least: bool = False     #: there may have been more than are kept (255 of a group and fact)


@dataclasses.dataclass(frozen=True)
class CountsPage:
    """The counts of a kind of groups, those with the newest events first."""

    counts: List[GroupCounts]
    more: bool = False         #: the user has more than 1,000 groups of the kind
    degraded: bool = False     #: counts may be missing
    missing: List[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Reserved:
    """What became of the items of a reservation, as they were given."""

    reserved: List[Id]
    refused: List[Id]          #: a cap leaves no room for them
