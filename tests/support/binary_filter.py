"""POST /filter in binary: a body of ids in few bytes, an answer of bits or positions.

    answer = binary_filter.ask(server, [1, 2, 3], user="u", verify="true")
    assert answer.status == 200 and binary_filter.unseen(answer, [1, 2, 3]) == [1, 3]
"""

import struct
import urllib.parse

BITMAP = "application/octet-stream"
INDEXES = "application/vnd.seendb.indexes"


def body_of(items):
    """What `ids` is and the body: numbers as 8 bytes each, texts each behind their length."""
    if all(isinstance(item, int) for item in items):
        return "u64", struct.pack("<%dQ" % len(items), *items)
    texts = [item.encode() for item in items]
    return "string", b"".join(struct.pack("<I", len(text)) + text for text in texts)


def target_of(ids, **parameters):
    return "/filter?" + urllib.parse.urlencode(dict(parameters, ids=ids),
                                               quote_via=urllib.parse.quote)


def ask(server, items, accept=None, **parameters):
    """The answer, whose `parameters` are those of the query but for `ids`."""
    ids, body = body_of(items)
    headers = {"Content-Type": BITMAP}
    if accept:
        headers["Accept"] = accept
    return server.post(target_of(ids, **parameters), body, headers)


def unseen(answer, items):
    """The unseen of `items`, in their order, whichever form was answered."""
    if answer.headers["content-type"] == INDEXES:
        return [items[index] for (index,) in struct.iter_unpack("<I", answer.body)]
    bits = int.from_bytes(answer.body, "little")
    return [item for index, item in enumerate(items) if bits >> index & 1]
