#!/usr/bin/env python3
"""What a backup costs: MB/s, the bytes of a second one, and filters beside it.

    perf/backup_cost.py build/release/bin [--users 200000] [--mb-per-s 100]

Fills a server with plays of one month (500 items a user, history kept), drains, and asks filters of 500
candidates by one connection: quiet, beside `seendb backup create --url`, and beside a thread that only
reads the same number of bytes a second from a file (what any copy costs the machine). Then a hundredth of the
users play again, and a second backup is made.
"""

import argparse
import http.client
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ITEMS, CANDIDATES, SECONDS = 200, 500, 4


def start(bin_, folder):
    process = subprocess.Popen([os.path.join(bin_, "seendb-server"), "--db", os.path.join(folder, "db"),
                                "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return process, int(process.stdout.readline().rsplit(":", 1)[1])


def call(client, method, path, body=None):
    client.request(method, path, body if isinstance(body, (bytes, type(None))) else json.dumps(body))
    answer = client.getresponse()
    text = answer.read()
    assert answer.status == 200, (path, answer.status, text[:300])
    return text


def play(client, users, items, salt):
    for begin in range(0, len(users), 50):
        lines = "".join('{"user":%d,"item":%d}\n' % (user, (user * 1_000_003 + salt + i) % 10**12)
                        for user in users[begin:begin + 50] for i in range(items))
        client.request("POST", "/plays", lines, {"Content-Type": "application/x-ndjson"})
        answer = client.getresponse()
        text = answer.read()
        assert answer.status == 200, text[:300]


def filters(port, users, until):
    """The latencies, in ms, of one connection until `until()` is true."""
    client = http.client.HTTPConnection("127.0.0.1", port)
    times, draw = [], random.Random(1)
    bodies = [json.dumps({"user": draw.randrange(users),
                          "items": [draw.randrange(10**12) for _ in range(CANDIDATES)]}) for _ in range(500)]
    while not until():
        body = bodies[len(times) % len(bodies)]
        begin = time.perf_counter()
        call(client, "POST", "/filter", body.encode())
        times.append((time.perf_counter() - begin) * 1e3)
    return sorted(times)


def row(name, times):
    print("%-34s p50 %.2f ms, p99 %.2f ms, %d filters" % (name, times[len(times) // 2], times[len(times) * 99 // 100],
                                                     len(times)), flush=True)


def size_of(folder):
    return sum(os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(folder) for name in names)


def back_up(arguments, port, into, limit):
    begin = time.perf_counter()
    subprocess.run([os.path.join(arguments.bin, "seendb"), "backup", "create", into, "--url", "http://127.0.0.1:%d" % port,
                    "--mb-per-s", str(limit)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def beside(port, users, work):
    """Filters until `work`, on another thread, has ended."""
    took = []
    thread = threading.Thread(target=lambda: took.append(work()))
    thread.start()
    times = filters(port, users, lambda: not thread.is_alive())
    thread.join()
    return times, took[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("--users", type=int, default=200_000)
    parser.add_argument("--mb-per-s", type=int, default=100)
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(dir=os.environ.get("SEENDB_PERF_DIR"))
    process, port = start(arguments.bin, folder)
    try:
        client = http.client.HTTPConnection("127.0.0.1", port)
        call(client, "PUT", "/collections/default", {"history": {"enabled": True}})
        play(client, list(range(arguments.users)), ITEMS, 0)
        call(client, "POST", "/admin/drain")
        end = time.time() + SECONDS
        row("quiet", filters(port, arguments.users, lambda: time.time() > end))
        first = os.path.join(folder, "limited")
        times, took = beside(port, arguments.users, lambda: back_up(arguments, port, first, arguments.mb_per_s))
        mb = size_of(first) / 1e6
        row("beside a backup, %d MB/s at most" % arguments.mb_per_s, times)
        print("  %.0f MB in %.1f s: %.0f MB/s" % (mb, took, mb / took))
        whole = os.path.join(folder, "unlimited")
        times, took = beside(port, arguments.users, lambda: back_up(arguments, port, whole, 0))
        row("beside a backup without a limit", times)
        print("  %.0f MB in %.1f s: %.0f MB/s" % (mb, took, mb / took))
        play(client, list(range(arguments.users // 100)), 20, 777)
        call(client, "POST", "/admin/drain")
        took = back_up(arguments, port, first, 0)
        after = size_of(first) / 1e6
        print("second backup, after a hundredth of the users played: %.1f MB more, %.1f s" % (after - mb, took))
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
