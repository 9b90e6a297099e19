#!/usr/bin/env python3
"""How much of what a feed may show comes back when items that were served and never on screen are freed.

    perf/freed_inventory.py FOLDER/kuairand_events.csv.zst    # of the log KuaiRand-Pure; needs zstd

The log has a line for each item that reached a client. Two readings, since it does not tell what was on screen:

- by play: a line with `play_time_ms` of 0 was served and never on screen, the others were exposed. Of an item that the
  user met several times, one exposure is enough.
- by page: each line was exposed, but items are served in pages of P. A visit (lines no further apart than --visit-minutes)
  of n lines took ceil(n / P) pages, whose last items nobody scrolled to.

If what is served counts as seen, all of these are gone for the user; if what is exposed counts, the rest comes back.
"""

import argparse
import collections
import csv
import subprocess
import sys


def visits(times, gap_ms):
    """How many lines each visit has. `times` ascend."""
    sizes = []
    for i, at in enumerate(times):
        if i == 0 or at - times[i - 1] > gap_ms:
            sizes.append(0)
        sizes[-1] += 1
    return sizes


def unscrolled(sizes, page):
    """Items of the last page of each visit that were never on screen."""
    return sum(-size % page for size in sizes)


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))]


def read(path):
    users = collections.defaultdict(list)
    with subprocess.Popen(["zstd", "-dc", path], stdout=subprocess.PIPE, text=True) as log:
        for row in csv.DictReader(log.stdout):
            users[row["user_id"]].append((int(row["time_ms"]), row["video_id"], int(row["play_time_ms"])))
    if log.returncode != 0 or not users:
        sys.exit("%s can't be read" % path)
    for lines in users.values():
        lines.sort()
    return users


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("log")
    parser.add_argument("--visit-minutes", type=int, default=30)
    parser.add_argument("--pages", default="5,10,20", help="sizes of pages")
    options = parser.parse_args()
    users = read(options.log)
    served = sum(len({video for _, video, _ in lines}) for lines in users.values())
    freed = {user: len({v for _, v, _ in lines} - {v for _, v, played in lines if played > 0})
             for user, lines in users.items()}
    print("%d lines, %d users, %d items a user met" % (sum(map(len, users.values())), len(users), served))
    print("by play: %d of %d come back, %.1f%%; for %.1f%% of the users at least one; p50 %d, p99 %d, max %d a user" % (
        sum(freed.values()), served, 100 * sum(freed.values()) / served,
        100 * sum(1 for n in freed.values() if n > 0) / len(freed),
        quantile(freed.values(), .5), quantile(freed.values(), .99), max(freed.values())))
    sizes = {user: visits([at for at, _, _ in lines], options.visit_minutes * 60_000)
             for user, lines in users.items()}
    number = sum(map(len, sizes.values()))
    print("by page: %d visits of %.2f lines" % (number, sum(map(sum, sizes.values())) / number))
    for page in map(int, options.pages.split(",")):
        left = {user: unscrolled(of, page) for user, of in sizes.items()}
        all_served = sum(map(sum, sizes.values())) + sum(left.values())
        print("pages of %d: %d of %d served come back, %.1f%%; p50 %d, p99 %d a user" % (
            page, sum(left.values()), all_served, 100 * sum(left.values()) / all_served,
            quantile(left.values(), .5), quantile(left.values(), .99)))


if __name__ == "__main__":
    main()
