"""Starts a seendb-server for a black-box test and talks to it. Python 3 standard library only.

    from seendb_client import Server
    with Server() as server:                       # a fresh database, removed afterwards
        server.put("/collections/video", {"bucket": "days:10", "window": 4, "retention": 4})
        server.post("/plays", {"events": [{"user": "u1", "item": "v1"}]})
        answer = server.post("/filter", {"user": "u1", "items": ["v1", "v2"]})
        assert answer.json["unseen"] == ["v2"]

The binary is named by the environment variable SEENDB_SERVER, or found in build/*/bin.
"""

import glob
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "demo", "kafka"))

from kafka import free_ports  # noqa: E402


def server_binary():
    """The path of the binary under test."""
    named = os.environ.get("SEENDB_SERVER")
    if named:
        return named
    found = sorted(glob.glob(os.path.join(ROOT, "build", "*", "bin", "seendb-server")),
                   key=os.path.getmtime)
    if not found:
        raise RuntimeError("no seendb-server: build it or set SEENDB_SERVER")
    return found[-1]


class Answer:
    """One HTTP answer: status, headers (lower-case names), body and, parsed on demand, json."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def lines(self):
        """The body as NDJSON."""
        return [json.loads(line) for line in self.body.splitlines() if line.strip()]

    @property
    def error(self):
        return self.json["error"]

    def __repr__(self):
        return "Answer(%d, %r)" % (self.status, self.body[:400])


class Client:
    """One keep-alive connection. Not for several threads at once."""

    def __init__(self, host, port, timeout=60, tls=None):
        """`tls`: an ssl.SSLContext; None: without TLS."""
        self.host, self.port, self.timeout, self.tls = host, port, timeout, tls
        self.connection = None

    def request(self, method, path, body=None, headers=None):
        """Sends bytes, str, an iterable of bytes (chunked), or anything else as JSON.

        A keep-alive connection the server closed meanwhile is opened again, once.
        """
        headers = dict(headers or {})
        repeatable = True
        if body is not None:
            if isinstance(body, str):
                body = body.encode()
            elif not isinstance(body, (bytes, bytearray)):
                if hasattr(body, "__next__"):
                    repeatable = False
                else:
                    body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        for attempt in (0, 1):
            fresh = self.connection is None
            if fresh:
                if self.tls:
                    self.connection = http.client.HTTPSConnection(
                        self.host, self.port, timeout=self.timeout, context=self.tls)
                else:
                    self.connection = http.client.HTTPConnection(self.host, self.port,
                                                                 timeout=self.timeout)
            try:
                self.connection.request(method, path, body, headers,
                                        encode_chunked=not repeatable)
                response = self.connection.getresponse()
                data = response.read()
                names = {name.lower(): value for name, value in response.getheaders()}
                return Answer(response.status, names, data)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                self.close()
                if fresh or attempt or not repeatable:
                    raise
        raise AssertionError("not reached")

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None


def without_settings(environment):
    """The environment without variables that a server would take for settings."""
    return {name: value for name, value in environment.items()
            if not name.startswith("SEENDB_") or name.startswith("SEENDB_TEST_")}


class Server:
    """A running seendb-server. Its directory is removed by close() unless `db` was given."""

    def __init__(self, db=None, args=(), config=None, start=True, clock_ms=None, wait=True,
                 env=None, binary=None, tls=None):
        """`tls`: an ssl.SSLContext for the clients of a server whose settings name a certificate."""
        self.tls = tls
        self.folder = tempfile.mkdtemp(prefix="seendb-test-")
        self.db = db or os.path.join(self.folder, "db")
        self.args = list(args)
        self.clock_ms = clock_ms
        self.env = env
        self.binary = binary or server_binary()
        if config is not None:
            path = os.path.join(self.folder, "config.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(config, file)
            self.args += ["--config", path]
        self.process = None
        self.host = self.port = None
        self.stdout_lines = []
        self.local = threading.local()
        self.clients = []
        if start:
            self.start(wait=wait)

    def start(self, wait=True, timeout=120, port=0):
        """Starts the process. With `wait`, returns once it has printed its listening line."""
        command = [self.binary, "--db", self.db, "--listen", "127.0.0.1:%d" % port]
        if self.clock_ms is not None:
            command += ["--clock", "manual:%d" % self.clock_ms]
        environment = dict(without_settings(os.environ), **(self.env or {}))
        self.log = open(os.path.join(self.folder, "stderr.log"), "ab")
        self.process = subprocess.Popen(command + self.args, stdout=subprocess.PIPE,
                                        stderr=self.log, env=environment)
        self.forget_clients()
        if wait:
            self.wait_ready(timeout)
        return self

    def wait_ready(self, timeout=120):
        """Reads the one line of stdout: where it listens, said once it is ready."""
        holder = []
        reader = threading.Thread(target=lambda: holder.append(self.process.stdout.readline()),
                                  daemon=True)
        reader.start()
        reader.join(timeout)
        line = holder[0].decode().strip() if holder else ""
        if not line.startswith("listening on %s://" % ("https" if self.tls else "http")):
            code = self.process.poll()
            raise RuntimeError("not ready: said %r, exit code %s, log:\n%s" %
                               (line, code, self.log_text()[-4000:]))
        self.stdout_lines.append(line)
        self.host, port = line.rsplit("/", 1)[1].rsplit(":", 1)
        self.port = int(port)

    def next_line(self):
        """The next line of stdout: where a further listener is."""
        line = self.process.stdout.readline().decode().strip()
        self.stdout_lines.append(line)
        return line

    def forget_clients(self):
        """Closes every thread's keep-alive connection."""
        for client in self.clients:
            client.close()
        self.clients = []
        self.local = threading.local()

    def log_text(self):
        with open(os.path.join(self.folder, "stderr.log"), encoding="utf-8",
                  errors="replace") as file:
            return file.read()

    def obituary(self):
        """For the message of a failure: whether it lives, or how it ended, and its last words."""
        code = self.process.poll()
        return "%s, its log's end:\n%s" % (
            "the server lives" if code is None else "the server ended with %d" % code,
            self.log_text()[-6000:])

    @property
    def url(self):
        return "%s://%s:%d" % ("https" if self.tls else "http", self.host, self.port)

    def client(self, timeout=60):
        """A connection of its own."""
        return Client(self.host, self.port, timeout, self.tls)

    def request(self, method, path, body=None, headers=None):
        """One request on this thread's keep-alive connection."""
        if getattr(self.local, "client", None) is None:
            self.local.client = self.client()
            self.clients.append(self.local.client)
        return self.local.client.request(method, path, body, headers)

    def get(self, path, headers=None):
        return self.request("GET", path, None, headers)

    def post(self, path, body=None, headers=None):
        return self.request("POST", path, body, headers)

    def put(self, path, body=None, headers=None):
        return self.request("PUT", path, body, headers)

    def delete(self, path, headers=None):
        return self.request("DELETE", path, None, headers)

    def ndjson(self, path, rows, headers=None):
        """Sends rows as NDJSON; each a dict, or bytes taken as they are."""
        lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
        return self.post(path, b"".join(line + b"\n" for line in lines),
                         dict(headers or {}, **{"Content-Type": "application/x-ndjson"}))

    def move_clock(self, now_ms):
        """Moves a manual clock; returns when everything that fell due has run."""
        answer = self.post("/admin/clock", {"now_ms": now_ms})
        if answer.status != 200:
            raise RuntimeError("the clock did not move: %r" % answer)
        self.clock_ms = now_ms

    def socket(self, timeout=30):
        """A raw TCP connection."""
        return socket.create_connection((self.host, self.port), timeout=timeout)

    def raw(self, data, timeout=30):
        """Sends bytes and returns all that comes until the server closes or falls silent."""
        with self.socket(timeout) as connection:
            connection.sendall(data)
            received = b""
            try:
                while True:
                    piece = connection.recv(65536)
                    if not piece:
                        break
                    received += piece
            except (socket.timeout, ConnectionResetError):
                pass
            return received

    def terminate(self, timeout=60):
        """SIGTERM; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait_exit(timeout)

    def kill(self):
        """kill -9: what a crash leaves is what is on disk."""
        self.process.kill()
        self.wait_exit()

    def wait_exit(self, timeout=60):
        code = self.process.wait(timeout)
        self.stdout_lines += [line.decode().strip() for line in self.process.stdout.readlines()]
        self.process.stdout.close()
        self.log.close()
        return code

    def restart(self, **kwargs):
        """Stops it gently if it runs, and starts it on the same database."""
        if self.process.poll() is None:
            self.terminate()
        return self.start(**kwargs)

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.wait_exit()
        self.forget_clients()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def free_port(beside=()):
    """A port for a server that can't be told to take any, or that starts again at the same one; see
    free_ports."""
    return free_ports(1, beside)[0]


def eventually(condition, timeout=30, pause=0.02):
    """Waits until `condition()` is true; returns its value, or raises."""
    until = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise AssertionError("still not so after %g s" % timeout)
        time.sleep(pause)


def settled(answer):
    """The answer; None where the server was busy, or had not done yet what it was told (503, 202)."""
    return None if answer.status in (202, 503) else answer


def whole(answer):
    """The answer to a question; None where it lacks something, or nobody could tell just now."""
    if answer.status == 503:
        return None
    assert answer.status == 200, answer
    return None if answer.json["degraded"] else answer
