"""Lies in the files that a server is told to read: settings, tokens, certificates, keys, secrets. It is
started with --check-config, which reads them as a start does."""

import hashlib
import json
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from player import MB, ProgramPlayer, Row

from certificates import Authority
from fresh_seed import seed_of

SEED = seed_of("lies")


def noise(size):
    return random.Random(SEED).randbytes(size)


class FilePlayer(ProgramPlayer):

    name = "file"  # of the file that lies

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        os.chmod(path, 0o600)
        return path

    def link(self, name, target):
        path = os.path.join(self.folder, name)
        if os.path.lexists(path):
            os.unlink(path)
        os.symlink(target, path)
        return path

    def check(self, **settings):
        """--check-config with these settings beside what an honest server has."""
        config = dict({"db": os.path.join(self.folder, "db"), "listen": "127.0.0.1:0"}, **settings)
        return self.run_server("--check-config", "--config",
                               self.write("config.json", json.dumps(config).encode()))

    def row(self, lie, name, data, says, tell=None, **how):
        return Row(lie, name, lambda: (tell or self.tell)(self.write(self.name, data)), says, **how)

    def endless(self, says, tell=None, name="an endless file", **how):
        return Row("huge_length", name,
                   lambda: (tell or self.tell)(self.link(self.name + "-endless", "/dev/zero")), says, **how)

    def tell(self, path):
        raise NotImplementedError


class Settings(FilePlayer):
    reader = "files of settings"
    name = "settings.json"

    def tell(self, path):
        return self.run_server("--check-config", "--db", os.path.join(self.folder, "db"), "--config", path)

    def policy(self, path):
        return self.run_server("--check-config", "--db", os.path.join(self.folder, "db"),
                               "--default-policy", path)

    def honest(self):
        self.assertIn("in order", self.tell(self.write("honest.json", b'{"threads":1}')))

    def rows(self):
        for name, tell in (("settings", None), ("a policy", self.policy)):
            bad = "exit 2.*settings.json"
            yield self.row("too_deep", name, b"[" * 3 * MB + b"]" * 3 * MB, bad, tell)
            yield self.row("too_deep", name + " of objects", b'{"limits":' * MB + b"1" + b"}" * MB, bad, tell,
                           most=40 * MB)
            yield self.row("too_long", name, b'{"threads":1' + b" " * 40 * MB + b"}", bad, tell)
            yield self.row("dense", name, b'{"hosts":[' + b'"",' * 300_000 + b'""]}', bad, tell, most=48 * MB)
            yield self.endless(bad, tell, name)
            yield self.row("wrong_type", name, b"7", bad, tell)
            yield self.row("cut", name, b'{"threads":', bad, tell)
            yield self.row("noise", name, noise(MB // 2), bad, tell)
        yield self.row("wrong_type", "a number that is negative", b'{"limits":{"body_bytes":-1}}',
                       "exit 2.*/limits/body_bytes")
        yield self.row("wrong_type", "a key of no use", b'{"treads":1}', "exit 2.*treads")
        yield self.row("twice", "a key", b'{"threads":1,"threads":2}', "exit 2.*/threads")


class Tokens(FilePlayer):
    reader = "files of tokens"
    name = "tokens.json"

    def tell(self, path):
        return self.check(tokens_file=path)

    def entry(self, name="a", **more):
        return json.dumps(dict({"name": name, "role": "read",
                                "sha256": hashlib.sha256(name.encode()).hexdigest()}, **more)).encode()

    def honest(self):
        self.assertIn("in order", self.tell(self.write("honest", b"[" + self.entry() + b"]")))

    def rows(self):
        bad = "exit 2.*tokens"
        yield self.row("too_deep", "lists", b"[" * 200_000 + b"]" * 200_000, bad)
        yield self.row("too_long", "a file", b"[" + b" " * 40 * MB + b"]", bad)
        yield self.row("dense", "entries", b"[" + b"{}," * 100_000 + b"{}]", bad)
        yield self.endless(bad)
        yield self.row("negative_length", "a rate", b"[" + self.entry(requests_per_s=-1) + b"]", bad)
        yield self.row("wrong_type", "a number", b"7", bad)
        yield self.row("wrong_type", "a role", b"[" + self.entry(role=["admin"]) + b"]", bad)
        yield self.row("cut", "an entry", b"[" + self.entry()[:-5], bad)
        yield self.row("twice", "a name", b"[" + self.entry() + b"," + self.entry() + b"]", bad)
        yield self.row("noise", "bytes", noise(100_000), bad)


class Secrets(FilePlayer):
    reader = "files of certificates, keys and secrets"

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        authority = Authority(folder.name)
        cls.authority = authority.path
        cls.certificate, cls.key = authority.make("server")
        cls.pem = {}
        for path in (cls.certificate, cls.key):
            with open(path, "rb") as file:
                cls.pem[path] = file.read()

    def of_tls(self, **files):
        return self.check(tls=dict({"certificate": self.certificate, "key": self.key}, **files))

    def start(self, **settings):
        """A start, which these settings end: --check-config does not read what they name."""
        config = dict({"db": os.path.join(self.folder, "db"), "listen": "127.0.0.1:0"}, **settings)
        return self.run_server("--config", self.write("config.json", json.dumps(config).encode()))

    def secret(self, path):
        return self.start(cluster={"brokers": "127.0.0.1:9", "name": "x", "node": "n1",
                                   "advertise": "http://127.0.0.1:9", "secret_file": path})

    def password(self, path):
        return self.start(migration={"default": {"redis": "redis://127.0.0.1:9", "key": "w:{user}",
                                                 "redis_password_file": path}})

    def honest(self):
        self.assertIn("in order", self.of_tls(client_ca=self.authority))

    def rows(self):
        certificate, key = self.pem[self.certificate], self.pem[self.key]
        readers = {"certificate": (certificate, lambda path: self.of_tls(certificate=path)),
                   "key": (key, lambda path: self.of_tls(key=path)),
                   "client_ca": (certificate, lambda path: self.of_tls(client_ca=path)),
                   "secret_file": (b"0123456789abcdef", self.secret),
                   "redis_password_file": (b"secret", self.password)}
        told = {"redis_password_file": "exit 2.*(over 65536 bytes|written by others)"}
        for name, (whole, tell) in readers.items():
            bad = told.get(name, "exit [12].*" + name)
            yield self.row("too_long", name, b"x" * 40 * MB, bad, tell)
            if name != "redis_password_file":  # any line is a password
                yield self.row("noise", name, noise(MB), bad, tell)
            if not name.endswith("_file"):
                yield self.row("wrong_type", name, b"<html>not found</html>", bad, tell)
                yield self.row("cut", name, whole[:len(whole) // 2], bad, tell)
                yield self.row("out_of_order", name, b"\n".join(whole.splitlines()[::-1]), bad, tell)
            yield self.endless(bad, tell, name)
        yield self.row("wrong_type", "secret_file", b"with a space in it", "exit [12].*secret_file", self.secret)
        yield self.row("cut", "secret_file", b"short", "exit [12].*secret_file", self.secret)
        yield self.row("dense", "lines before a certificate", b"\n" * 5 * MB + certificate, None,
                       lambda path: self.of_tls(certificate=path))
        yield self.row("twice", "a certificate", certificate + certificate, None,
                       lambda path: self.of_tls(certificate=path))


if __name__ == "__main__":
    print("SEENDB_SEED=%d" % SEED, flush=True)
    unittest.main()
