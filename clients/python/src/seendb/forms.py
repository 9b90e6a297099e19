"""How the events of a Bulk are written, and how frames are read. Nothing here waits."""

import struct

from . import ids
from .events import dump

NDJSON = "application/x-ndjson"
BINARY = "application/octet-stream"
# The forms of a body: rows of numbers, rows of texts, lines of JSON. Each takes what those before it take.
NUMBERS, TEXTS, LINES = range(3)
IDS = {NUMBERS: "u64", TEXTS: "string"}
ROW = struct.Struct("<QQQ")


def form_of(told):
    """The first form that takes a checked event."""
    if len(told) != 3 or not 0 < told["at"] < 2**63:  # 0 is the server's present
        return LINES
    return NUMBERS if isinstance(told["user"], int) and isinstance(told["item"], int) else TEXTS


def _row_of_texts(told):
    user, item = str(told["user"]).encode(), str(told["item"]).encode()
    return b"".join((len(user).to_bytes(4, "little"), user, len(item).to_bytes(4, "little"), item,
                     told["at"].to_bytes(8, "little")))


def _line(told):
    return dump(dict(told, user=ids.to_json(told["user"]), item=ids.to_json(told["item"]))) + b"\n"


WRITERS = (lambda told: ROW.pack(told["user"], told["item"], told["at"]), _row_of_texts, _line)


def frame_names(frame):
    return list(getattr(frame, "column_names", None) or frame.columns)


def listed(column):
    return column.to_pylist() if hasattr(column, "to_pylist") else column.tolist()
