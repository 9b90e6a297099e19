#!/usr/bin/env python3
"""Counts and caps beside the same job on Redis: INCR with EXPIRE, and a ZSET per key.

    perf/counts_peers.py build/release/bin/seendb-server               # a Redis of its own, on loopback
    perf/counts_peers.py build/release/bin/seendb-server --quick
    perf/counts_peers.py build/release/bin/seendb-server --redis HOST:PORT    # which is emptied

The job: each user is served pages of 20 items of as many authors, and every tenth page is sent again, as after a time-out.
Then: of 500 candidates, those whose author was served fewer than 2 times within a day.

- SeenDB: `POST /impressions` with `of` and `at`; `POST /filter` with `caps`. Any span, exact, a repeat counts once.
- INCR: a key a user, author and day, INCR and EXPIRE; a question is an MGET of two days. The span is that of the calendar,
  and a repeat counts twice.
- ZSET: a key a user and author, ZADD of the event, ZREMRANGEBYSCORE and EXPIRE; a question is a ZCOUNT a candidate.
  A sliding span; a repeat counts once.

Each is one connection from this program, one call at a time; Redis gets a page, or a question, as one pipeline. Printed for each:
events a second, processor time of the server an event and a question, p50 and p99 of a question at the client, bytes an event
(Redis: used_memory; SeenDB: the folder after a compaction), and how many of the answers differ from an exact log's.
Whoever wants figures runs it on a quiet machine.
"""

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from driver import redis_server  # noqa: E402

PAGE, CANDIDATES, MOST = 20, 500, 2
DAY_MS = 86_400_000
KEPT_S = 30 * 86_400


class Wire:
    """One connection; reads what it asked for."""

    def __init__(self, host, port):
        self.socket = socket.create_connection((host, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.held = b""

    def line(self):
        while b"\r\n" not in self.held:
            self.more()
        line, self.held = self.held.split(b"\r\n", 1)
        return line

    def take(self, count):
        while len(self.held) < count:
            self.more()
        taken, self.held = self.held[:count], self.held[count:]
        return taken

    def more(self):
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionError("closed")
        self.held += data


class Redis(Wire):
    def commands(self, commands):
        """The replies to a pipeline."""
        out = []
        for command in commands:
            out.append(b"*%d\r\n" % len(command))
            for word in command:
                word = word if isinstance(word, bytes) else str(word).encode()
                out.append(b"$%d\r\n%s\r\n" % (len(word), word))
        self.socket.sendall(b"".join(out))
        return [self.reply() for _ in commands]

    def reply(self):
        line = self.line()
        kind, rest = line[:1], line[1:]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.take(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        return rest

    def info(self, section, member):
        text = self.commands([["INFO", section]])[0].decode()
        return float(next(line.split(":")[1] for line in text.splitlines() if line.startswith(member + ":")))

    def cpu_s(self):
        return self.info("cpu", "used_cpu_user") + self.info("cpu", "used_cpu_sys")


class Incr:
    name = "Redis, INCR + EXPIRE"

    def __init__(self, redis):
        self.redis = redis
        redis.commands([["FLUSHALL"]])
        self.empty = redis.info("memory", "used_memory")

    def serve(self, user, page, at):
        self.redis.commands([command for _, author in page for key in ["c:%d:%d:%d" % (user, author, at // DAY_MS)]
                             for command in (["INCR", key], ["EXPIRE", key, KEPT_S])])

    def ask(self, user, candidates, now):
        day = now // DAY_MS
        counts = self.redis.commands([["MGET"] + ["c:%d:%d:%d" % (user, author, d) for _, author in candidates
                                                  for d in (day - 1, day)]])[0]
        return {author for i, (_, author) in enumerate(candidates)
                if int(counts[2 * i] or 0) + int(counts[2 * i + 1] or 0) < MOST}

    def cpu_s(self):
        return self.redis.cpu_s()

    def bytes(self):
        return self.redis.info("memory", "used_memory") - self.empty


class Zset(Incr):
    name = "Redis, a ZSET per key"

    def serve(self, user, page, at):
        self.redis.commands([command for item, author in page for key in ["z:%d:%d" % (user, author)]
                             for command in (["ZADD", key, at, "%d:%d" % (item, at)],
                                             ["ZREMRANGEBYSCORE", key, "-inf", at - 1000 * KEPT_S],
                                             ["EXPIRE", key, KEPT_S])])

    def ask(self, user, candidates, now):
        counts = self.redis.commands([["ZCOUNT", "z:%d:%d" % (user, author), now - DAY_MS, "+inf"]
                                      for _, author in candidates])
        return {author for (_, author), count in zip(candidates, counts) if count < MOST}


class SeenDB(Wire):
    name = "SeenDB"

    def __init__(self, program, folder):
        self.folder = os.path.join(folder, "db")
        path = os.path.join(folder, "settings.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"db": self.folder, "listen": "127.0.0.1:0"}, file)
        os.chmod(path, 0o600)
        self.process = subprocess.Popen([program, "--config", path], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        super().__init__("127.0.0.1", int(self.process.stdout.readline().rsplit(":", 1)[1]))

    def post(self, path, body):
        data = json.dumps(body, separators=(",", ":")).encode()
        self.socket.sendall(b"POST %s HTTP/1.1\r\nHost: p\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                            % (path.encode(), len(data), data))
        status, size = self.line().split()[1], 0
        while True:
            line = self.line().lower()
            if not line:
                break
            if line.startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        answer = self.take(size)
        if status not in (b"200", b"202"):
            raise RuntimeError("%s: %s" % (path, answer[:300]))
        return json.loads(answer)

    def serve(self, user, page, at):
        self.post("/impressions", {"user": user, "at": at, "items": [
            {"id": item, "of": ["author:%d" % author]} for item, author in page]})

    def ask(self, user, candidates, now):
        said = self.post("/filter", {
            "user": user, "items": [{"id": item, "of": ["author:%d" % author]} for item, author in candidates],
            "caps": [{"of": "author", "n": MOST, "within": "1d"}]})
        of = dict(candidates)
        return {of[item] for item in said["unseen"]}

    def cpu_s(self):
        with open("/proc/%d/stat" % self.process.pid, encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def bytes(self):
        self.post("/admin/compact", {})
        return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(self.folder) for name in names)

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def events_of(users, pages, now):
    """(user, page, at) in the order of their times, and whether it is sent twice."""
    dice = random.Random(1)
    calls, item = [], 0
    for _ in range(users * pages):
        page = []
        for _ in range(PAGE):
            item += 1
            page.append((item, min(999, int(dice.expovariate(1 / 200)))))
        calls.append((dice.randrange(users), page, now - dice.randrange(3 * DAY_MS)))
    calls.sort(key=lambda call: call[2])
    return [(call, i % 10 == 0) for i, call in enumerate(calls)]


def measure(peer, calls, questions):
    exact = {}
    cpu, begin, events = peer.cpu_s(), time.perf_counter(), 0
    for (user, page, at), again in calls:
        for _ in range(2 if again else 1):
            peer.serve(user, page, at)
            events += PAGE
    took, cpu = time.perf_counter() - begin, peer.cpu_s() - cpu
    for (user, page, at), _ in calls:
        for _, author in page:
            exact.setdefault((user, author), []).append(at)
    spent, wrong = [], 0
    cpu_asked = peer.cpu_s()
    for user, candidates in questions:
        now = int(time.time() * 1000)
        begin = time.perf_counter()
        said = peer.ask(user, candidates, now)
        spent.append(time.perf_counter() - begin)
        right = {author for _, author in candidates
                 if sum(at >= now - DAY_MS for at in exact.get((user, author), ())) < MOST}
        wrong += len(said ^ right)
    cpu_asked = peer.cpu_s() - cpu_asked
    spent.sort()
    distinct = sum(len(page) for (_, page, _), _ in calls)
    print("| %s | %d | %.1f | %.0f, %.0f | %.0f | %.1f | %d of %d |" % (
        peer.name, events / took, 1e6 * cpu / events, 1e6 * spent[len(spent) // 2], 1e6 * spent[int(.99 * len(spent))],
        1e6 * cpu_asked / len(spent), peer.bytes() / distinct, wrong, len(questions) * CANDIDATES), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("server")
    parser.add_argument("--redis", help="HOST:PORT; all of it is deleted")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    users, pages, asked = (100, 5, 100) if options.quick else (5_000, 20, 3_000)
    calls = events_of(users, pages, int(time.time() * 1000))
    dice = random.Random(2)
    # A candidate an author: the answer then says which authors are below their cap.
    questions = [(dice.randrange(users), [(10**9 + i, author) for i, author in
                                          enumerate(dice.sample(range(1_000), CANDIDATES))]) for _ in range(asked)]
    print("%d users, %d events, 1,000 authors; questions of %d candidates" % (users, len(calls) * PAGE, CANDIDATES))
    print("| | events/s | processor us an event | question p50, p99 us | processor us a question | bytes an event | wrong |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=os.environ.get("SEENDB_PERF_DIR")) as folder:
        seendb = SeenDB(options.server, folder)
        try:
            measure(seendb, calls, questions)
        finally:
            seendb.close()
    with redis_server.at(options.redis) as redis:
        host, port = redis.address.rsplit(":", 1)
        for kind in (Incr, Zset):
            measure(kind(Redis(host, int(port))), calls, questions)


if __name__ == "__main__":
    main()
