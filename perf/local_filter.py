#!/usr/bin/env python3
"""What a user's filter costs in the caller's process: bytes of its dump, and answers a second beside the server's.

    perf/local_filter.py build/release/bin/seendb-server

For users with 100 to 20,000 plays, drained, and candidates of 500 numbers of which about a tenth is seen: bytes of the
whole dump and of one after ten more plays, candidates a second of the pure Python LocalFilter and of the server at one
connection, and the time of a refresh where nothing has changed. Medians of five rounds.
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients", "python", "src"))
import seendb  # noqa: E402

ROUNDS, PAGES, PAGE = 5, 40, 500


def per_second(count, call):
    rates = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for page in range(PAGES):
            call(page)
        rates.append(count / (time.perf_counter() - begin))
    return statistics.median(rates)


def bytes_of(client, user, etag=None):
    answer = client._caller.ask("GET", "/users/%d/filter" % user,
                                headers={"If-None-Match": etag} if etag else None, user=user)
    return len(answer.body)


def measure(client, user, plays, chosen):
    items = 10 * plays
    client.record_plays([(user, chosen.randrange(items)) for _ in range(plays)])
    client.call("POST", "/admin/drain", {}, timeout=120)
    local = client.local_filter(user, refresh=None)
    whole, etag = bytes_of(client, user), local._dump.etag
    client.record_plays([(user, chosen.randrange(items)) for _ in range(10)])
    later = bytes_of(client, user, etag)
    local.refresh()
    pages = [[chosen.randrange(items) for _ in range(PAGE)] for _ in range(PAGES)]
    assert local.filter(pages[0]).unseen == client.filter(user, pages[0]).unseen
    here = per_second(PAGES * PAGE, lambda page: local.filter(pages[page]))
    there = per_second(PAGES * PAGE, lambda page: client.filter(user, pages[page]))
    begin = time.perf_counter()
    for _ in range(100):
        local.refresh()
    again_us = (time.perf_counter() - begin) * 1e4
    print("%8d %10d %12d %14.0f %14.0f %12.0f" % (plays, whole, later, here, there, again_us))


def main():
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([sys.argv[1], "--db", os.path.join(folder, "db"), "--listen", "127.0.0.1:0"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            url = "http://127.0.0.1:" + process.stdout.readline().rsplit(":", 1)[1].strip()
            print("%8s %10s %12s %14s %14s %12s" % ("plays", "bytes", "10 more", "local cand/s", "server cand/s",
                                                    "304 in us"))
            with seendb.Client(url, timeout=60) as client:
                for user, plays in enumerate((100, 1_000, 5_000, 20_000)):
                    measure(client, user, plays, random.Random(user))
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
