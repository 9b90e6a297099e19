"""Prints candidates a second of numbers and of texts, and how many of all were unseen: for `run`, with its arguments."""

import os
import statistics
import sys
import time

import seendb

items, pages, page, rounds = map(int, sys.argv[1:])
with seendb.Client(os.environ["SEENDB_URL"], timeout=60) as client:
    local = client.local_filter("u", refresh=None)
unseen = 0


def rate(make):
    global unseen
    asked = [[make((p * page + i) * 7_919 % items) for i in range(page)] for p in range(pages)]
    rates = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for one in asked:
            unseen += len(local.filter(one).unseen)
        rates.append(pages * page / (time.perf_counter() - begin))
    return statistics.median(rates[rounds // 2:])


print(rate(lambda n: n), rate(lambda n: "v%d" % n), unseen)
