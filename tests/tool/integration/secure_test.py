"""The tool beside a server that asks for TLS and tokens, and over a socket of the file system."""

import hashlib
import json
import os
import shutil
import ssl
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from certificates import Authority
from seendb_client import Server
from tool_runner import OK, UNAVAILABLE, USAGE, run

DENIED = 9


class SecureTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="seendb-secure-")
        cls.authority = Authority(cls.folder)
        certificate, key = cls.authority.make("server")
        entries = []
        for role in ("read", "admin"):
            with open(cls.token(role), "w", encoding="utf-8") as file:
                file.write(role + "-secret\n")
            digest = hashlib.sha256((role + "-secret").encode()).hexdigest()
            entries.append({"name": role, "sha256": digest, "role": role})
        tokens = os.path.join(cls.folder, "tokens.json")
        with open(tokens, "w", encoding="utf-8") as file:
            json.dump(entries, file)
        os.chmod(tokens, 0o600)
        cls.socket = os.path.join(cls.folder, "seendb.sock")
        cls.config = {"tls": {"certificate": certificate, "key": key}, "tokens_file": tokens,
                      "unix_listen": cls.socket}
        cls.server = Server(config=cls.config,
                            tls=ssl.create_default_context(cafile=cls.authority.path))

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        shutil.rmtree(cls.folder)

    @classmethod
    def token(cls, role):
        return os.path.join(cls.folder, role + ".token")

    def test_a_token_and_a_certificate(self):
        to = ["--url", self.server.url, "--ca", self.authority.path]
        admin = ["--token-file", self.token("admin")]
        self.assertEqual(run("stats", *to, *admin, "--json").code, OK)
        without = run("stats", *to)
        self.assertEqual(without.code, DENIED)
        self.assertIn("Authorization: Bearer TOKEN (--token-file, SEENDB_TOKEN_FILE)", without.err)
        read = run("drain", *to, "--token-file", self.token("read"))
        self.assertEqual(read.code, DENIED)
        self.assertIn("role read", read.err)
        self.assertEqual(run("drain", *to, *admin).code, OK)
        log = os.path.join(self.folder, "plays.csv")
        with open(log, "w", encoding="utf-8") as file:
            file.write("user,item,at\nu1,i1,2026-03-10T12:00:00Z\n")
        loaded = run("load", log, *to, *admin, "--max-refused", "100%")
        self.assertEqual(loaded.code, OK, loaded.err)

    def test_variables_do_as_well(self):
        env = {"SEENDB_URL": self.server.url, "SEENDB_CA": self.authority.path,
               "SEENDB_TOKEN_FILE": self.token("admin")}
        self.assertEqual(run("stats", env=env).code, OK)

    def test_a_server_that_is_not_trusted_gets_no_token(self):
        stranger = Authority(self.folder, "stranger")
        for ca in ([], ["--ca", stranger.path]):
            done = run("stats", "--url", self.server.url, *ca, "--token-file", self.token("admin"))
            self.assertEqual(done.code, UNAVAILABLE)
            self.assertIn("certificate is refused", done.err)
        named = self.server.url.replace("127.0.0.1", "localhost")
        done = run("stats", "--url", named, "--ca", self.authority.path)
        self.assertEqual(done.code, UNAVAILABLE, "the certificate is not for this name")

    def test_http_to_a_server_of_https_is_told_so(self):
        done = run("stats", "--url", self.server.url.replace("https:", "http:"))
        self.assertEqual(done.code, USAGE)
        self.assertIn("this port speaks TLS: begin with https://", done.err)

    def test_a_socket_of_the_file_system(self):
        done = run("stats", "--url", "unix:" + self.socket, "--token-file", self.token("admin"),
                   "--json")
        self.assertEqual(done.code, OK, done.err)
        nobody = run("stats", "--url", "unix:" + os.path.join(self.folder, "nobody"))
        self.assertEqual(nobody.code, UNAVAILABLE)
        self.assertIn("unix:", nobody.err)

    def test_certificates_of_clients(self):
        own, key = self.authority.make("client", None)
        both = os.path.join(self.folder, "client-both.pem")
        with open(both, "w", encoding="utf-8") as file:
            for part in (own, key):
                with open(part, encoding="utf-8") as source:
                    file.write(source.read())
        context = ssl.create_default_context(cafile=self.authority.path)
        context.load_cert_chain(own, key)
        config = {"tls": dict(self.config["tls"], client_ca=self.authority.path)}
        with Server(config=config, tls=context) as server:
            to = ["--url", server.url, "--ca", self.authority.path]
            self.assertEqual(run("stats", *to, "--certificate", both).code, OK)
            self.assertEqual(run("stats", *to).code, UNAVAILABLE)

    def test_files_that_are_wrong(self):
        empty = os.path.join(self.folder, "empty.token")
        with open(empty, "w", encoding="utf-8"):
            pass
        to = ["--url", self.server.url]
        self.assertEqual(run("stats", *to, "--token-file", empty).code, USAGE)
        self.assertEqual(run("stats", *to, "--token-file", "/nowhere").code, 1)
        for flag in ("--ca", "--certificate"):
            for path, why in (("/nowhere", "can't read /nowhere: No such file or directory"),
                              (self.folder, self.folder + " is a folder; a PEM file is asked for"),
                              (empty, "(a PEM file is asked for)")):
                trusting = [] if flag == "--ca" else ["--ca", self.authority.path]
                done = run("stats", *to, *trusting, flag, path)
                self.assertEqual(done.code, USAGE, (flag, path))
                self.assertIn(why, done.err, (flag, path))

    def test_https_to_a_port_without_it(self):
        with Server() as server:
            done = run("stats", "--url", server.url.replace("http:", "https:"),
                       "--ca", self.authority.path)
            self.assertEqual(done.code, UNAVAILABLE)
            self.assertIn("is it http://?", done.err)


if __name__ == "__main__":
    unittest.main()
