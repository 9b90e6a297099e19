"""How much of a long campaign is run, as support/sample.h has it: SEENDB_SAMPLE=N asks for every
N-th case, as tools/test does of sanitized builds. All of it unless told."""

import os

EVERY = max(1, int(os.environ.get("SEENDB_SAMPLE") or 1))


def sampled(whole, part):
    """`whole`, or `part` where a small sample is asked for."""
    return whole if EVERY <= 2 else part
