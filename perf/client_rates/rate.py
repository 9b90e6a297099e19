"""Prints calls a second of the client and of http.client for each case: for perf/clients.py, with its arguments."""

import http.client
import os
import statistics
import sys
import time
import urllib.parse

import seendb

folder, rounds, *counts = sys.argv[1], *map(int, sys.argv[2:])
url = os.environ["SEENDB_URL"]
client = seendb.Client(url, timeout=30)
numbers, texts = list(range(5_000)), ["video-%d" % n for n in range(500)]
told = "unseen"
if os.environ.get("WITH_NUMPY"):
    import numpy
    numbers, told = numpy.array(numbers, dtype=numpy.uint64), "mask"
calls = (lambda: getattr(client.filter(1, numbers), told), lambda: client.filter("u", texts).unseen,
         lambda: client.record_plays([("p", "v")]))


def bare(case):
    with open(os.path.join(folder, "%d.head" % case), encoding="ascii") as file:
        target, *lines = file.read().splitlines()
    with open(os.path.join(folder, "%d.body" % case), "rb") as file:
        body = file.read()
    headers = dict(line.split(": ", 1) for line in lines)
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc)

    def ask():
        connection.request("POST", target, body, headers)
        answer = connection.getresponse()
        assert answer.status == 200 and answer.read()
    return ask


def rate(call, count):
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return count / (time.perf_counter() - begin)


for case, call in enumerate(calls):
    if not rounds:
        call()
        continue
    ask = bare(case)
    rates = [(rate(call, counts[case]), rate(ask, counts[case])) for _ in range(rounds)]
    print(*[statistics.median(both) for both in zip(*rates[rounds // 2:])])
client.close()
