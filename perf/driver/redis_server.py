"""A Redis of the benchmark's own: on loopback, nothing on disk, ended by its process."""

import contextlib
import re
import shutil
import socket
import subprocess
import time


class Redis:
    """Where it is and what it says of itself."""

    def __init__(self, address, info):
        self.address = address
        self.info = info

    @property
    def version(self):
        found = re.search(r"redis_version:(\S+)", self.info)
        return found.group(1) if found else "none"


def _info(port, host="127.0.0.1"):
    """The answer to INFO server, or None where nothing answers."""
    try:
        with socket.create_connection((host, port), timeout=2) as connection:
            connection.sendall(b"INFO server\r\n")
            data = b""
            while b"executable:" not in data or not data.endswith(b"\r\n"):
                more = connection.recv(65536)
                if not more:
                    return None
                data += more
            return data.decode(errors="replace")
    except OSError:
        return None


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _start(program):
    """Starts one on a free port; another process may take the port first, so it is tried again."""
    for _ in range(10):
        port = _free_port()
        process = subprocess.Popen(
            [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly",
             "no", "--daemonize", "no"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            info = _info(port)
            if info and f"process_id:{process.pid}\r" in info:
                return process, Redis(f"127.0.0.1:{port}", info)
            if process.poll() is not None:
                break
            time.sleep(0.05)
        process.kill()
        process.wait()
    raise RuntimeError("redis-server does not start")


@contextlib.contextmanager
def at(address):
    """The Redis at HOST:PORT, or one of our own that ends with the block."""
    if address:
        host, port = address.rsplit(":", 1)
        info = _info(int(port), host)
        if info is None:
            raise SystemExit(f"perf: no Redis answers at {address}")
        yield Redis(address, info)
        return
    program = shutil.which("redis-server")
    if not program:
        raise SystemExit("perf: no redis-server; tools/setup perf installs it")
    process, redis = _start(program)
    try:
        yield redis
    finally:
        process.terminate()
        process.wait()
