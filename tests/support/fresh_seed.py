"""The seed of a script that does random things: SEENDB_SEED's, which repeats a run; or the tree's, so that
a commit is tested with the same seeds everywhere and each commit with others (tools/test sets SEENDB_TREE);
or a random one, as in tools/torture. Below 2^31."""

import os
import random


def seed_of(name):
    given = os.environ.get("SEENDB_SEED")
    if given:
        return int(given)
    tree = os.environ.get("SEENDB_TREE")
    chance = random.Random("%s/%s" % (tree, name)) if tree else random.SystemRandom()
    return chance.randrange(1, 1 << 31)
