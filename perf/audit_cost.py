#!/usr/bin/env python3
"""What the audit costs a call: one connection, a server with it and one without, in turns.

    perf/audit_cost.py build/release/bin/seendb-server

Prints the medians of nine rounds for a read (one line is written) and for a change (two lines), in
microseconds at the client.
"""

import contextlib
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS, READS, CHANGES, USERS = 9, 2_000, 200, 1_000


@contextlib.contextmanager
def server(program, audit):
    with tempfile.TemporaryDirectory() as folder:
        settings = {"db": os.path.join(folder, "db"), "listen": "127.0.0.1:0"}
        if audit:
            settings["audit"] = {"file": os.path.join(folder, "audit.log"), "users": "clear"}
        path = os.path.join(folder, "settings.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(settings, file)
        os.chmod(path, 0o600)
        process = subprocess.Popen([program, "--config", path], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        try:
            yield http.client.HTTPConnection("127.0.0.1", int(process.stdout.readline().rsplit(":", 1)[1]))
        finally:
            process.terminate()
            process.wait()


def ask(client, method, path, body=None):
    client.request(method, path, json.dumps(body) if body is not None else None)
    answer = client.getresponse()
    answer.read()
    assert answer.status == 200, (path, answer.status)


def timed(count, call):
    begin = time.perf_counter()
    for i in range(count):
        call(i)
    return (time.perf_counter() - begin) / count * 1e6


def main():
    with server(sys.argv[1], False) as off, server(sys.argv[1], True) as on:
        clients = {"off": off, "on": on}
        reads, changes = ({name: [] for name in clients} for _ in range(2))
        for client in clients.values():
            ask(client, "POST", "/plays", {"events": [{"user": "u%d" % i, "item": "v"} for i in range(USERS)]})
        for _ in range(ROUNDS):
            for name, client in clients.items():
                reads[name].append(timed(READS, lambda i: ask(client, "GET", "/users/u%d" % (i % USERS))))
                changes[name].append(timed(
                    CHANGES, lambda i: ask(client, "PUT", "/users/u%d/recording" % i, {"paused": False})))
    for what, rounds in (("GET /users/{user}", reads), ("PUT /users/{user}/recording", changes)):
        print("%-28s" % what, ", ".join("%s %.0f us" % (name, statistics.median(times))
                                        for name, times in rounds.items()))


if __name__ == "__main__":
    main()
