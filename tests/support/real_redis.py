"""A real Redis (or Valkey) for tests, of Debian's package: alone, with a password, with TLS, or as a
cluster of three primaries. Python 3 standard library only.

    with Redis() as redis:
        redis.run("ZADD", "watched:1", 1700000000, "v1")
        tool("redis", "survey", "--redis", redis.url)
"""

import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

from seendb_client import eventually, free_port

SKIPPED = 77
PROGRAMS = ("redis-server", "valkey-server")
PATIENCE_S = 30
BUS = 10_000  # so much higher listens the bus of a cluster's node


def programs():
    """Those that are installed."""
    return [name for name in PROGRAMS if shutil.which(name)]


def require():
    """Ends the test as skipped, and says why, where there is no Redis."""
    if not programs():
        print("SKIPPED: NO REAL REDIS, NOTHING OF IT IS TESTED (Debian: redis-server)")
        sys.exit(SKIPPED)


class RedisError(Exception):
    """What Redis refused."""


class Connection:
    """One connection: commands of words (texts, bytes, numbers), pipelined."""

    def __init__(self, port, password=None, tls=None):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname="127.0.0.1")
        self.file = self.socket.makefile("rb")
        if password:
            self.run("AUTH", password)

    def close(self):
        self.file.close()
        self.socket.close()

    def run(self, *words):
        return self.run_all([words])[0]

    def run_all(self, commands):
        """The replies to many commands, sent together; an error of one is raised."""
        out = []
        for words in commands:
            parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
            out.append(b"*%d\r\n" % len(parts) +
                       b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
        self.socket.sendall(b"".join(out))
        return [self.read() for _ in commands]

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("Redis has gone")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RedisError(rest.decode())
        if kind == b"+":
            return rest.decode()
        if kind == b":":
            return int(rest)
        count = int(rest)
        if count < 0:
            return None
        if kind == b"$":
            return self.file.read(count + 2)[:-2]
        return [self.read() for _ in range(count)]


class Redis:
    """One redis-server in a folder of its own; `authority` (certificates.py) asks for TLS."""

    def __init__(self, *arguments, password=None, authority=None, program=None, port=None):
        self.folder = tempfile.mkdtemp(prefix="seendb-redis-")
        self.port = port or free_port()
        self.password = password
        self.program = program or programs()[0]
        self.tls = None
        listen = ["--port", str(self.port)]
        if authority:
            certificate, key = authority.make("redis")
            listen = ["--port", "0", "--tls-port", str(self.port), "--tls-cert-file", certificate,
                      "--tls-key-file", key, "--tls-ca-cert-file", authority.path,
                      "--tls-auth-clients", "no"]
            self.tls = ssl.create_default_context(cafile=authority.path)
        self.command = [self.program, *listen, "--bind", "127.0.0.1", "--dir", self.folder,
                        "--save", "", "--appendonly", "no", "--unixsocket", "redis.sock",
                        *(["--requirepass", password] if password else []), *arguments]
        self.start()

    def start(self):
        self.log = open(os.path.join(self.folder, "log"), "ab")
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log,
                                        cwd=self.folder)
        eventually(self.answers, timeout=PATIENCE_S)

    def answers(self):
        if self.process.poll() is not None:
            with open(os.path.join(self.folder, "log"), encoding="utf-8") as log:
                raise RuntimeError("%s ended: %s" % (self.program, log.read()[-2000:]))
        try:
            self.connection = Connection(self.port, self.password, self.tls)
            return self.connection.run("PING") == "PONG"
        except (OSError, RedisError):  # not yet, or it is loading
            return False

    @property
    def url(self):
        """Without the password."""
        return "%s://127.0.0.1:%d" % ("rediss" if self.tls else "redis", self.port)

    @property
    def unix_url(self):
        return "unix:" + os.path.join(self.folder, "redis.sock")

    def run(self, *words):
        return self.connection.run(*words)

    def run_all(self, commands):
        return self.connection.run_all(commands)

    def kill(self):
        """kill -9."""
        self.connection.close()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()

    def close(self):
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Cluster:
    """Three primaries, which share the slots."""

    SHARES = ((0, 5460), (5461, 10922), (10923, 16383))

    def __init__(self, password=None):
        self.nodes = []
        try:
            for _ in self.SHARES:
                port = free_port(beside=(BUS,))
                # Nobody fails here: one that a busy machine holds up is not to be called failed.
                arguments = ["--cluster-enabled", "yes", "--cluster-node-timeout", "60000"]
                if password:
                    arguments += ["--masterauth", password]
                self.nodes.append(Redis(*arguments, password=password, port=port))
            for node, (first, last) in zip(self.nodes, self.SHARES):
                node.run("CLUSTER", "ADDSLOTSRANGE", first, last)
                node.run("CLUSTER", "MEET", "127.0.0.1", self.nodes[0].port)
            eventually(lambda: all(b"cluster_state:ok" in node.run("CLUSTER", "INFO") and
                                   len(node.run("CLUSTER", "SLOTS")) == 3
                                   for node in self.nodes), timeout=PATIENCE_S)
        except BaseException:
            self.close()
            raise

    @property
    def url(self):
        return self.nodes[0].url

    def run(self, *words):
        """A command of one key, where its key is."""
        return self.run_all([words])[0]

    def run_all(self, commands):
        replies = []
        for words in commands:
            for node in self.nodes:
                try:
                    replies.append(node.run(*words))
                    break
                except RedisError as why:
                    if not str(why).startswith("MOVED"):
                        raise
        return replies

    def node_of(self, key):
        slot = self.nodes[0].run("CLUSTER", "KEYSLOT", key)
        return next(node for node, (first, last) in zip(self.nodes, self.SHARES)
                    if first <= slot <= last)

    def close(self):
        for node in self.nodes:
            node.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def fill(redis, plays, key="watched:%s", unit_ms=1000, at_once=5_000):
    """Writes plays (at_ms, user, item) as sorted sets; scores in units of so many ms."""
    commands = []
    for at_ms, user, item in plays:
        score = at_ms // unit_ms if unit_ms >= 1 else int(at_ms / unit_ms)
        commands.append(("ZADD", key % user, score, item))
        if len(commands) == at_once:
            redis.run_all(commands)
            commands = []
    if commands:
        redis.run_all(commands)
