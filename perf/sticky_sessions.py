#!/usr/bin/env python3
"""What filters in the callers' processes take off the server in a session, and what they repeat where sessions do not stick.

    perf/sticky_sessions.py build/release/bin/seendb-server [--sessions 200]

Each user has 2,000 drained plays of a catalogue of 20,000 items and has a session of 20 pages, one each 10 seconds of a clock that
this program moves: 500 candidates, the first 20 unseen are served, 5 of these are played. The ways:

- server: POST /filter with `record`, and POST /plays, a page.
- sticky: one LocalFilter a session, which is asked again when it is older than 30 s; POST /impressions and POST /plays, a page.
- sticky, told once: the same; the session's impressions and plays are sent when it ends.
- spread over N: the pages of a session come to N processes at random, each with a LocalFilter of its own.

Printed for each: processor time of the server a session, its share of that of the first way, requests a session, and how many of the
served items the same session had been served before. A process that ends before it tells of a session loses that: the price of
"told once".
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients", "python", "src"))
import seendb  # noqa: E402

CATALOGUE, PLAYS = 20_000, 2_000
PAGES, CANDIDATES, SERVED, PLAYED = 20, 500, 20, 5
PAGE_S, OLD_S = 10, 30


def cpu_s(process):
    """Processor time of the server so far."""
    with open("/proc/%d/stat" % process.pid, encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    """Asks for each page."""

    def __init__(self, client, user, _dice):
        self.client, self.user = client, user

    def page(self, candidates, _now_s):
        served = self.client.filter(self.user, candidates, limit=SERVED, record=True).unseen
        self.client.record_plays([(self.user, item) for item in served[:PLAYED]])
        return served

    def end(self):
        pass


class Local:
    """Answers in as many processes as `spread` says, and tells the server a page, or the whole session at once."""

    def __init__(self, client, user, dice, spread=1, at_end=False):
        self.client, self.user, self.dice, self.at_end = client, user, dice, at_end
        self.filters, self.spread, self.served, self.played = {}, spread, [], []

    def page(self, candidates, now_s):
        process = self.dice.randrange(self.spread)
        if process not in self.filters:
            self.filters[process] = [self.client.local_filter(self.user, refresh=None), now_s]
        local, asked_s = self.filters[process]
        served = local.filter(candidates, limit=SERVED).unseen
        local.note_served(served)
        self.served += served
        self.played += served[:PLAYED]
        if not self.at_end:
            self.end()
        if now_s - asked_s > OLD_S:  # behind the answer
            local.refresh()
            self.filters[process][1] = now_s
        return served

    def end(self):
        if self.served:
            self.client.record_impressions(self.user, self.served)
            self.client.record_plays([(self.user, item) for item in self.played])
            self.served, self.played = [], []


WAYS = {
    "server": Server,
    "sticky": Local,
    "sticky, told once": lambda *given: Local(*given, at_end=True),
    "spread over 2": lambda *given: Local(*given, spread=2),
    "spread over 4": lambda *given: Local(*given, spread=4),
}


def measure(way, client, process, sessions, calls):
    dice = random.Random(7)  # the same sessions for every way
    users = ["%s %d" % (way, i) for i in range(sessions)]
    for user in users:
        client.record_plays([(user, item) for item in dice.sample(range(CATALOGUE), PLAYS)])
    client.call("POST", "/admin/drain", {}, timeout=300)
    client.filter(users[0], [1])
    calls.clear()
    begin, again, served_all, now_s = cpu_s(process), 0, 0, 0
    for user in users:
        session, before = WAYS[way](client, user, dice), set()
        for _ in range(PAGES):
            served = session.page(dice.sample(range(CATALOGUE), CANDIDATES), now_s)
            again += len(before.intersection(served))
            served_all += len(served)
            before.update(served)
            now_s += PAGE_S
        session.end()
    return cpu_s(process) - begin, len(calls), again / served_all


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server")
    parser.add_argument("--sessions", type=int, default=200)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([asked.server, "--db", os.path.join(folder, "db"), "--listen", "127.0.0.1:0"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            url, calls = "http://127.0.0.1:" + process.stdout.readline().rsplit(":", 1)[1].strip(), []
            print("%-20s %16s %18s %12s %16s" % ("a session of %d pages" % PAGES, "server's ms", "of the first", "requests", "served again"))
            whole = None
            with seendb.Client(url, timeout=60, on_call=lambda *call: calls.append(call)) as client:
                client.put_collection("default", {"impressions": PAGES * SERVED})
                for way in WAYS:
                    spent, requests, again = measure(way, client, process, asked.sessions, calls)
                    whole = whole or spent
                    print("%-20s %16.2f %17.0f%% %12.1f %15.2f%%" % (
                        way, 1_000 * spent / asked.sessions, 100 * spent / whole, requests / asked.sessions, 100 * again))
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
