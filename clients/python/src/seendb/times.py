"""Times: an int is ms since 1970, a datetime has to have a time zone."""

import datetime
import time

from .ids import refuse


def now_ms():
    return time.time_ns() // 1_000_000


def to_ms(value, field):
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise refuse("a datetime without a time zone; datetime.now(timezone.utc) has one", field)
        return round(value.timestamp() * 1000)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise refuse("a time is an int of ms since 1970, or a datetime, not %s" % type(value).__name__,
                     field)
    return value.__index__()
