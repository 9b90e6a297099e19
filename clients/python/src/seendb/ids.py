"""Ids of users and items: text of 1-255 bytes of UTF-8, or an integer of 64 bits without a sign. The
text "42" and the integer 42 are one id."""

import array
import operator
import sys

from .errors import Error

MAX_BYTES = 255
MAX_NUMBER = 2**64 - 1


def refuse(message, field):
    return Error("invalid_argument", message, field)


def check(value, field):
    """The id as JSON has it; an Error for what is none."""
    if isinstance(value, str):
        try:
            size = len(value.encode("utf-8"))
        except UnicodeEncodeError:
            raise refuse("an id is not UTF-8", field) from None
        if not 1 <= size <= MAX_BYTES:
            raise refuse("an id has 1 to %d bytes of UTF-8, not %d" % (MAX_BYTES, size), field)
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise refuse("an id is a str or an int, not %s" % type(value).__name__, field)
    number = operator.index(value)  # numpy's integers too
    if not 0 <= number <= MAX_NUMBER:
        raise refuse("an id is within 0..2^64-1, not %d" % number, field)
    return number


SAFE_MOST = 2**53 - 1
LOOKS_MOST = 100


def to_json(value):
    """A checked id for JSON: integers that a double does not hold as text, which is the same id."""
    return str(value) if isinstance(value, int) and value > SAFE_MOST else value


def many(values, field):
    """`values` as they are. A text is one id, and no list of its letters."""
    if isinstance(values, (str, bytes)):
        raise refuse("ids come in a list, not as %s" % type(values).__name__, field)
    return values


def listed(values, field):
    """A list, a tuple or a numpy array as it is; a list of what else can be gone through (once, perhaps)."""
    values = many(values, field)
    return values if isinstance(values, (list, tuple)) or is_numpy(values) else list(values)


def are_texts(values):
    """Whether a list or tuple is of nothing but texts that are ids; False too where that takes a look at each."""
    if set(map(type, values)) != {str} or not all(values):
        return False
    longest, joined = max(map(len, values)), "".join(values)
    if joined.isascii():
        return longest <= MAX_BYTES
    try:
        joined.encode()
    except UnicodeEncodeError:
        return False
    return 4 * longest <= MAX_BYTES


def check_all(values, field):
    if isinstance(values, (list, tuple)) and are_texts(values):
        return list(values)
    return [check(value, "%s/%d" % (field, i)) for i, value in enumerate(many(values, field))]


def numbers(values):
    """A list or tuple of nothing but integers as 8 bytes each, little-endian; None for any other."""
    if not values:
        return None
    try:
        packed = array.array("Q", values)
    except (OverflowError, TypeError):
        return None  # `check` names the one
    if sys.byteorder != "little":
        packed.byteswap()
    packed = packed.tobytes()
    return None if _has_bool(values, packed) else packed


def _has_bool(values, packed):
    """Whether one is a bool, which stands as 0 or 1 in `packed`. Types of all values take longer than all else."""
    for number in (0, 1):
        wanted, at = number.to_bytes(8, "little"), -1
        for _ in range(LOOKS_MOST):
            at = packed.find(wanted, at + 1)
            if at < 0:
                break
            if at % 8 == 0 and isinstance(values[at // 8], bool):
                return True
        else:
            return bool in set(map(type, values))
    return False


def is_numpy(values):
    """True for a numpy array, without importing numpy."""
    return hasattr(values, "dtype") and hasattr(values, "astype")


def numpy_numbers(values, field):
    """A numpy array of numbers as 8 bytes each, little-endian. Another type than u64 is converted where
    that changes no number, else refused."""
    import numpy  # whoever passes an array has it

    if values.ndim != 1:
        raise refuse("an array of ids has one dimension, not %d" % values.ndim, field)
    kind = values.dtype.kind
    if kind == "u":
        return values.astype("<u8", copy=False).tobytes()
    if kind not in "if":
        raise refuse("an array of ids has integers, not %s" % values.dtype, field)
    with numpy.errstate(all="ignore"):
        bad = ~(numpy.isfinite(values) & (values >= 0))
        if kind == "f":  # above, a float stands for several integers
            most = 2 ** (numpy.finfo(values.dtype).nmant + 1)
            bad |= (values != numpy.floor(values)) | (values > most)
    if bad.any():
        at = int(numpy.flatnonzero(bad)[0])
        raise refuse("%r is no unsigned integer" % values[at].item(), "%s/%d" % (field, at))
    return values.astype("<u8").tobytes()
