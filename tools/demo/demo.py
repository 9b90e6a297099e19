#!/usr/bin/env python3
"""The part of tools/quickstart that talks to the server.

    demo.py newest LOG            prints the newest time in a log, in ms
    demo.py show URL LOG TOOL     loads LOG with the tool (with --kafka BROKER through the topic
                                  "plays"), asks about a user, prints numbers
"""

import argparse
import http.client
import json
import statistics
import subprocess
import sys
import time
import urllib.parse

from log import Log


class Server:
    """A keep-alive connection."""

    def __init__(self, url):
        self.address = urllib.parse.urlparse(url)
        self.connection = http.client.HTTPConnection(self.address.hostname, self.address.port,
                                                     timeout=600)

    def call(self, method, path, body=None):
        text = json.dumps(body) if body is not None else None
        self.connection.request(method, path, text, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        data = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"quickstart: {method} {path}: {answer.status} {data.decode()}")
        return json.loads(data)


def wait_consumed(server, rows):
    """Until the server has applied so many messages, of all partitions."""
    while True:
        topics = server.call("GET", "/admin/ingest")["topics"]
        applied = sum(partition["applied_offset"] or 0
                      for topic in topics for partition in topic["partitions"])
        if applied >= rows:
            return
        time.sleep(0.05)


def load(server, arguments):
    """Loads the log with the tool, or through Kafka, whatever rows are refused or bad; (the tool's
    summary, accepted, refused, plays per second)."""
    command = [arguments.tool, "load", arguments.log, "--url", arguments.url]
    if arguments.kafka:
        command = [arguments.tool, "produce", arguments.log, "--brokers", arguments.kafka,
                   "--topic", "plays"]
    command += ["--json", "--max-refused", "100%"]
    for option in ("user", "item", "time"):
        name = getattr(arguments, f"{option}_column")
        if name:
            command += [f"--{option}-column", name]
    before = server.call("GET", "/admin/stats")
    began = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(f"quickstart: {' '.join(command)}: exit code {done.returncode}")
    summary = json.loads(done.stdout)
    if arguments.kafka:
        wait_consumed(server, summary["sent"])
    took = time.monotonic() - began
    after = server.call("GET", "/admin/stats")
    accepted, refused = (after[name] - before[name] for name in ("plays_accepted", "plays_refused"))
    return summary, accepted, refused, accepted / took


def ask(server, user, items, title):
    """Asks /filter and prints a row an item."""
    answer = server.call("POST", "/filter", {"user": user, "items": items, "explain": True})
    print(f"\n{title}\n")
    print(f"  {'item':<16} {'verdict':<8} why")
    unseen = set(answer["unseen"])
    for item in items:
        why = answer["reasons"].get(item, "")
        print(f"  {item:<16} {'unseen' if item in unseen else 'SEEN':<8} {why}")
    return answer


def latencies(server, log, candidates, requests):
    """Milliseconds of `requests` filter requests of `candidates` items each, over many users."""
    items = (log.popular * (candidates // len(log.popular) + 1))[:candidates]
    found = []
    for i in range(requests + 20):
        user = log.users[i * 7919 % len(log.users)]
        body = json.dumps({"user": user, "items": items})
        began = time.perf_counter()
        server.connection.request("POST", "/filter", body, {"Content-Type": "application/json"})
        server.connection.getresponse().read()
        found.append((time.perf_counter() - began) * 1000)
    return sorted(found[20:])


def sealed_space(server, log):
    """Drains, seals every bucket, compacts; the bytes then on disk and the items in them."""
    server.call("POST", "/admin/drain", {})
    for bucket in server.call("GET", "/admin/buckets")["buckets"]:
        if bucket["collection"] == "default" and bucket["state"] != "future":
            server.call("POST", "/admin/seal",
                        {"collection": "default", "bucket": bucket["bucket"]})
    server.call("POST", "/admin/compact", {})
    buckets = [bucket for bucket in server.call("GET", "/admin/buckets")["buckets"]
               if bucket["collection"] == "default"]
    items = sum(len(log.in_month.get(bucket["bucket"], ())) for bucket in buckets)
    return sum(bucket["bytes"] for bucket in buckets), items


def show(arguments):
    log = Log(arguments.log, (arguments.user_column, arguments.item_column, arguments.time_column))
    server = Server(arguments.url)
    print(f"\nLoading {log.rows:,} plays of {len(log.users):,} users ...", flush=True)
    summary, accepted, refused, rate = load(server, arguments)
    print(f"  {accepted:,} accepted, {refused:,} refused, {summary['bad']:,} bad rows")
    for kind in ("refusals", "bad_rows"):
        for one in summary.get(kind, [])[:2]:
            print(f"    row {one['row']:,}: {one['error']}")

    items = [item for trio in zip(log.played[:4], log.unplayed[:4]) for item in trio]
    served = log.unplayed[0]
    ask(server, log.user, items, f"What has user {log.user} seen? Just loaded, staged in the ring:")
    server.call("POST", "/impressions", {"user": log.user, "items": [served]})
    server.call("POST", "/admin/drain", {})
    ask(server, log.user, items, f"The same, after {served} was served and the ring was drained:")

    times = latencies(server, log, 2000, 400)
    size, stored = sealed_space(server, log)
    print("\nNumbers\n")
    way = "produced and consumed" if arguments.kafka else "over HTTP"
    print(f"  loaded                 {rate:,.0f} plays/s, {way}")
    print(f"  /filter of 2,000 ids   median {statistics.median(times):.2f} ms, "
          f"p99 {times[int(len(times) * 0.99)]:.2f} ms, one client, its own JSON not counted")
    print(f"  space                  {size / max(stored, 1):.2f} bytes per item, drained and sealed "
          f"({stored:,} items)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("newest", "show"):
        command = commands.add_parser(name)
        if name == "show":
            command.add_argument("url")
        command.add_argument("log")
        if name == "show":
            command.add_argument("tool")
            command.add_argument("--kafka", default="")
        for option in ("user", "item", "time"):
            command.add_argument(f"--{option}-column", default="")
    arguments = parser.parse_args()
    if arguments.command == "newest":
        columns = (arguments.user_column, arguments.item_column, arguments.time_column)
        print(Log(arguments.log, columns).newest_ms)
        return 0
    show(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
