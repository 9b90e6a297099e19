#!/usr/bin/env python3
"""What conditions on items cost a filter: 5,000 ids in JSON, spread over all items, in turns.

    perf/items_filter_cost.py build/release/bin/seendb-server [--items 5000000]

One server of one thread with items of four fields, one connection. Prints medians of nine rounds: the server's
processor time per filter, and the client's time, without a condition, with `where` on two columns, on two fields
without columns, with `at_most` and with `fields`.
"""

import argparse
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

ASKED, ROUNDS, BODIES = 5_000, 9, 200
TICK = os.sysconf("SC_CLK_TCK")
SCHEMA = {"fields": [{"name": "state", "type": "text", "column": True}, {"name": "at", "type": "i64", "column": True},
                     {"name": "language", "type": "text"}, {"name": "length", "type": "i64"}]}
RULES = {
    "nothing": {},
    "where, two columns": {"where": [{"field": "state", "eq": "public"}, {"field": "at", "ge": 500}]},
    "where, two fields": {"where": [{"field": "language", "eq": "l3"}, {"field": "length", "ge": 30}]},
    "at_most": {"at_most": {"field": "state", "n": 2_000}},
    "fields": {"fields": ["state", "at"]},
}


def call(client, method, path, body, kind="application/json"):
    client.request(method, path, body, {"Content-Type": kind})
    answer = client.getresponse()
    text = answer.read()
    assert answer.status == 200, (path, answer.status, text[:300])
    return text


def fill(client, items):
    for begin in range(0, items, 5_000):
        lines = "".join(
            '{"id":"v%d","version":1,"set":{"state":"%s","at":%d,"language":"l%d","length":%d}}\n'
            % (i, "public" if i % 10 else "hidden", i % 1_000, i % 7, i % 300) for i in range(begin, min(begin + 5_000, items)))
        call(client, "POST", "/items", lines, "application/x-ndjson")


def processor(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
        return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / TICK


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("--items", type=int, default=5_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("SEENDB_PERF_DIR")) as folder:
        path = os.path.join(folder, "settings.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"db": os.path.join(folder, "db"), "listen": "127.0.0.1:0", "threads": 1}, file)
        process = subprocess.Popen([arguments.server, "--config", path], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        try:
            client = http.client.HTTPConnection("127.0.0.1", int(process.stdout.readline().rsplit(":", 1)[1]))
            call(client, "PUT", "/items/schema", json.dumps(SCHEMA))
            begin = time.perf_counter()
            fill(client, arguments.items)
            print("%.0f updates/s over HTTP, client's time included" % (arguments.items / (time.perf_counter() - begin)))
            draw = random.Random(3)
            costs, times = ({name: [] for name in RULES} for _ in range(2))
            for _ in range(ROUNDS):
                ids = [["v%d" % draw.randrange(arguments.items) for _ in range(ASKED)] for _ in range(BODIES)]
                for name, rules in RULES.items():
                    bodies = [json.dumps({"user": "u%d" % i, "items": some, **rules}) for i, some in enumerate(ids)]
                    cost, begin = processor(process.pid), time.perf_counter()
                    for body in bodies:
                        call(client, "POST", "/filter", body)
                    times[name].append((time.perf_counter() - begin) / BODIES * 1e3)
                    costs[name].append((processor(process.pid) - cost) / BODIES * 1e3)
            for name in RULES:
                print("%-20s server %.2f ms (%.2f times), client %.2f ms" % (
                    name, statistics.median(costs[name]), statistics.median(costs[name]) / statistics.median(costs["nothing"]),
                    statistics.median(times[name])))
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    sys.exit(main())
