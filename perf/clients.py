#!/usr/bin/env python3
"""What the clients cost: calls a second of each language beside a bare HTTP client of that language which sends the same bytes,
and events a second of Python's bulk writer by form.

    perf/clients.py build/release/bin/seendb-server [C++ Go Java TypeScript Python "Python, numpy"]

Cases: filters of 5,000 numbers and of 500 texts, a fifth of them seen, and a play by itself, one after the other over one
connection. Numbers of numpy are answered with a mask, all else with a list. What a client sends for a case (the target, the
headers, the body) is taken down once on the way to the server; then the client and the bare one, which reads the answer and
nothing of it, are measured in turns in one process. A rate is the median of the later 10 of 20 rounds. Bare are Boost.Beast,
net/http, java.net.http, Node's http and http.client. The server is on the same machine. A language that is not there is left out;
that of C++ needs the target seendb_client beside the server.
"""

import contextlib
import http.client
import http.server
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from languages import CLIENTS, done, in_go, in_java, in_typescript, needs
import seendb

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "client_rates")
BULK_ROUNDS, EVENTS = 7, 20_000
CASES = ("filter of 5,000 numbers", "filter of 500 texts", "record_plays of one")
ROUNDS, COUNTS = 20, (50, 50, 200)
HOP = {"host", "content-length", "connection", "user-agent"}  # of a request on its way: a bare client has its own


def bulk(client, events, **more):
    with client.bulk(**more) as writer:
        for event in events:
            writer.add(event)
    assert writer.accepted == len(events)


def measure_bulk(client):
    """Batches of 2,000: medians of seven rounds in turns."""
    numbers = [(one % 1_000, one) for one in range(EVENTS)]
    texts = [("user-%d" % user, "video-%d" % item) for user, item in numbers]
    forms = {"NDJSON of numbers": (numbers, False), "rows of numbers": (numbers, True),
             "NDJSON of texts": (texts, False), "rows of texts": (texts, True)}
    rates = {name: [] for name in forms}
    for round_ in range(BULK_ROUNDS + 1):  # the first warms up
        for name, (events, binary) in forms.items():
            begin = time.perf_counter()
            bulk(client, events, binary=binary)
            if round_:
                rates[name].append(EVENTS / (time.perf_counter() - begin))
    for name, all_ in rates.items():
        print("%-24s %10.0f events/s of Python's bulk writer" % (name, statistics.median(all_)))


@contextlib.contextmanager
def recorder(port, taken):
    """The address of a server that passes POSTs on to the server at `port`, and takes them down."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
            taken.append((self.path, headers, body))
            passed = http.client.HTTPConnection("127.0.0.1", port)
            passed.request("POST", self.path, body, headers)
            answer = passed.getresponse()
            told = answer.read()
            passed.close()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(told)

        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield "http://127.0.0.1:%d" % server.server_port
    finally:
        server.shutdown()
        server.server_close()


def in_cpp(folder, server):
    needs("c++")
    library = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(server))), "clients", "cpp", "libseendb_client.a")
    if not os.path.exists(library):
        raise FileNotFoundError("without %s (target seendb_client)" % library)
    program = os.path.join(folder, "rate")
    done(["c++", "-std=c++20", "-O2", "-I", os.path.join(CLIENTS, "cpp", "include"), os.path.join(HERE, "rate.cc"), library,
          "-lssl", "-lcrypto", "-pthread", "-o", program])
    return [program], {}


def in_python(with_numpy):
    if with_numpy:
        import numpy  # noqa: F401
    return [sys.executable, "-B", os.path.join(HERE, "rate.py")], {"WITH_NUMPY": "1" if with_numpy else "",
                                                                    "PYTHONPATH": os.path.join(CLIENTS, "python", "src")}


def rates_of(command, more, folder, port):
    """(calls a second of the client, and of the bare one) by case."""
    taken, place = [], os.path.join(folder, "taken")
    os.mkdir(place)
    with recorder(port, taken) as url:
        done([*command, place, "0"], env=dict(os.environ, SEENDB_URL=url, **more))
    assert len(taken) == len(CASES), taken
    for case, (target, headers, body) in enumerate(taken):
        with open(os.path.join(place, "%d.head" % case), "w", encoding="ascii") as file:
            file.write("".join(line + "\n" for line in (target, *map(": ".join, headers.items()))))
        with open(os.path.join(place, "%d.body" % case), "wb") as file:
            file.write(body)
    told = done([*command, place, str(ROUNDS), *map(str, COUNTS)],
                env=dict(os.environ, SEENDB_URL="http://127.0.0.1:%d" % port, **more))
    return [tuple(map(float, line.split())) for line in told.splitlines()]


def measure(port, server, wanted):
    made = {"C++": lambda folder: in_cpp(folder, server),
            "Go": lambda folder: (in_go(folder, os.path.join(HERE, "rate.go")), {}),
            "Java": lambda folder: (in_java(folder, os.path.join(HERE, "Rate.java")), {}),
            "TypeScript": lambda folder: (in_typescript(folder, os.path.join(HERE, "rate.mjs")), {}),
            "Python": lambda _: in_python(False), "Python, numpy": lambda _: in_python(True)}
    with seendb.Client("http://127.0.0.1:%d" % port, timeout=30) as client:
        client.record_plays([(1, n) for n in range(0, 5_000, 5)] + [("u", "video-%d" % n) for n in range(0, 500, 5)])
        if not wanted or "Python" in wanted:
            measure_bulk(client)
    print("calls/s: of the client, of the bare one, and their quotient\n%-16s" % "" + "".join("%32s" % case for case in CASES))
    for name, make in made.items():
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                command, more = make(folder)
            except (FileNotFoundError, ImportError) as error:
                print("%-16s %s" % (name, error))
                continue
            told = rates_of(command, more, folder, port)
            print("%-16s" % name + "".join("%12.0f %11.0f %6.2fx" % (own, bare, bare / own) for own, bare in told), flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([sys.argv[1], "--db", os.path.join(folder, "db"), "--listen", "127.0.0.1:0"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            measure(int(server.stdout.readline().rsplit(":", 1)[1]), sys.argv[1], sys.argv[2:])
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
