"""How docker/check says what it found."""

import sys
import time

_began = time.monotonic()


class Failure(Exception):
    """What is not as it should be."""


def title(text):
    print("==== %s (%.0f s)" % (text, time.monotonic() - _began), flush=True)


def note(text):
    print("  " + text, flush=True)


def expect(condition, what, found=""):
    """Says that `what` holds, or fails with what was found instead."""
    if not condition:
        raise Failure("not so: %s%s" % (what, " (found %s)" % (found,) if found != "" else ""))
    note("ok: " + what)


def eventually(condition, what, timeout_s=180):
    """Waits until condition() is true."""
    until = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > until:
            raise Failure("not within %d s: %s" % (timeout_s, what))
        time.sleep(0.1)
    note("ok: " + what)
    sys.stdout.flush()
