"""What calls return."""

import dataclasses
import itertools
import json
from typing import Any, Dict, List, Optional, Union

from .errors import Error

Id = Union[str, int]

_BITS = [tuple(byte >> bit & 1 for bit in range(8)) for byte in range(256)]


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


class Filtered:
    """What a user has not seen of the candidates.

    unseen      the unseen candidates, in their order, each once, as they were given (a list)
    mask        of a numpy array of candidates: an array of bool, True where unseen; else None
    seen        how many are seen
    examined    how many were decided; those behind them, where `limit` ended the work, were not
    degraded    something could not be read: items may be called unseen that were seen
    missing     the names of what could not be read
    excluded    how many of the examined were excluded
    duplicates  how many of the examined came before
    recorded    with record: whether the unseen were recorded as served; None without
    reasons     with explain: why an item is seen, by its text
    undated     candidates without a time of a group that is marked up to a time
    coarse      with not_: facts of which more counted than was asked for ("played" by the bucket)
    beyond      with not_: facts of which less is kept than was asked for
    more        all other members of the answer
    """

    __slots__ = ("_unseen", "_candidates", "mask", "seen", "examined", "degraded", "missing", "excluded",
                 "duplicates", "recorded", "reasons", "undated", "coarse", "beyond", "more")

    def __init__(self, unseen=None, candidates=None, mask=None, **counts):
        self._unseen, self._candidates, self.mask = unseen, candidates, mask
        self.more = counts.pop("more", {})
        self.reasons = counts.pop("reasons", None)
        self.undated, self.coarse, self.beyond = 0, [], []
        for name, value in counts.items():
            setattr(self, name, value)

    @property
    def unseen(self) -> List[Id]:
        if self._unseen is None:
            self._unseen = self._candidates[self.mask].tolist()
        return self._unseen

    def __repr__(self):
        return "Filtered(%d unseen, %d seen of %d%s)" % (
            len(self.unseen), self.seen, self.examined, ", degraded" if self.degraded else "")


def filtered_of_json(answer, items, record):
    """`items`: the candidates as they were given: so they come back."""
    given = {}
    for item in items:
        given.setdefault(str(item), item)
    try:
        answer["unseen"] = [given[str(one)] for one in answer["unseen"]]
    except (KeyError, TypeError):
        raise Error("protocol", "the answer names what was not asked about") from None
    known = {name: answer.pop(name, default) for name, default in
             (("unseen", []), ("seen", 0), ("examined", 0), ("degraded", False), ("missing", []),
              ("excluded", 0), ("duplicates", 0), ("reasons", None), ("undated", 0), ("coarse", []), ("beyond", []))}
    recorded = answer.pop("recorded", True) if record else None
    return Filtered(recorded=recorded, more=answer, **known)


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
        "more": {},
    }
    if isinstance(candidates, list):
        bits = itertools.chain.from_iterable(map(_BITS.__getitem__, body))
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


def entry_of_json(answer):
    return Entry(answer.get("collection", ""), answer["item"], answer["at"],
                 answer.get("progress_s", 0), answer.get("duration_s", 0), answer.get("device", ""),
                 answer.get("fields"))


@dataclasses.dataclass(frozen=True)
class HistoryPage:
    """Some entries, newest first."""

    entries: List[Entry]
    cursor: str = ""           #: of the next page; empty: this is the last
    kept: bool = True          #: False: none of the collections keeps history
    degraded: bool = False
    missing: List[str] = dataclasses.field(default_factory=list)


def page_of_json(answer):
    return HistoryPage([entry_of_json(one) for one in answer.get("entries", []) if one],
                       answer.get("cursor", ""), answer.get("kept", True),
                       answer.get("degraded", False), answer.get("missing", []))


@dataclasses.dataclass(frozen=True)
class Mark:
    """A group of items that a user marked as seen."""

    group: str
    until: Union[int, str]     #: ms since 1970, or "always"
    at: int                    #: when it was said


@dataclasses.dataclass(frozen=True)
class MarksPage:
    """A page of marks, by group."""

    marks: List[Mark]
    cursor: str = ""           #: of the next page; empty: this is the last
    degraded: bool = False     #: marks may be missing
    missing: List[str] = dataclasses.field(default_factory=list)


def marks_of_json(answer):
    return MarksPage([Mark(one["group"], one["until"], one.get("at", 0)) for one in answer["marks"]], answer.get("cursor", ""),
                     answer.get("degraded", False), answer.get("missing", []))


@dataclasses.dataclass(frozen=True)
class Item:
    """An item as the server knows it."""

    id: Id                     #: as it was asked for
    version: int               #: the highest that it was updated with
    fields: Dict[str, Any]


def items_of_json(answer, asked):
    given = {str(one): one for one in reversed(asked)}
    try:
        return [Item(given[str(one["id"])], one["version"], one["fields"]) for one in answer["items"]]
    except (KeyError, TypeError):
        raise Error("protocol", "the answer names what was not asked about") from None
