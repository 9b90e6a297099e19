"""TLS on the listeners: who gets through and who does not, certificates that change, slow and
hostile handshakes, and answers that arrive whole."""

import hashlib
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from certificates import Authority, run
from seendb_client import Client, Server, eventually


def log_lines(server):
    return [json.loads(line) for line in server.log_text().splitlines() if line.startswith("{")]


class TlsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="seendb-tls-")
        cls.authority = Authority(cls.folder)
        cls.certificate, cls.key = cls.authority.make("server", "IP:127.0.0.1,DNS:seen.example.com")
        cls.stranger = Authority(cls.folder, "stranger")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def trust(self, own=None):
        """A client's context; `own`: its certificate and key."""
        context = ssl.create_default_context(cafile=self.authority.path)
        if own:
            context.load_cert_chain(*own)
        return context

    def start(self, config=None, tls=None, **files):
        tls_files = dict({"certificate": self.certificate, "key": self.key}, **files)
        return Server(config=dict({"tls": tls_files}, **(config or {})), tls=tls or self.trust())

    def test_requests_and_answers_of_all_sizes(self):
        with self.start() as server:
            self.assertTrue(server.stdout_lines[0].startswith("listening on https://127.0.0.1:"))
            for size in (1, 100, 20_000):
                items = ["item-%06d" % i for i in range(size)]
                answer = server.post("/filter", {"user": "u", "items": items})
                self.assertEqual(answer.json["unseen"], items)
            closing = server.post("/filter", {"user": "u", "items": ["i%d" % i for i in range(9000)]},
                                  {"Connection": "close"})
            self.assertEqual(len(closing.json["unseen"]), 9000)
            done = subprocess.run(
                ["curl", "-sS", "--cacert", self.authority.path, server.url + "/healthz"],
                capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, '{"status":"ok"}'), done.stderr)

    def test_a_certificate_of_somebody_else_is_no_friend(self):
        with self.start() as server:
            other = ssl.create_default_context(cafile=self.stranger.path)
            with self.assertRaises(ssl.SSLCertVerificationError):
                Client(server.host, server.port, tls=other).request("GET", "/healthz")
            self.assertEqual(server.get("/healthz").status, 200)

    def test_old_versions_and_renegotiation_are_refused(self):
        with self.start() as server:
            at = "%s:%d" % (server.host, server.port)
            for version, agreed in (("-tls1_1", False), ("-tls1_2", True), ("-tls1_3", True)):
                done = subprocess.run(
                    ["openssl", "s_client", "-connect", at, version, "-cipher", "ALL:@SECLEVEL=0"],
                    input="", capture_output=True, text=True, check=False)
                self.assertEqual("Cipher is (NONE)" not in done.stdout, agreed, version)
            # Without a key for each connection, or with encryption that leaves padding to guess.
            for cipher, agreed in (("AES128-GCM-SHA256", False), ("AES128-SHA", False),
                                   ("ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA", False),
                                   ("ECDHE+AESGCM", True), ("ECDHE+CHACHA20", True)):
                done = subprocess.run(
                    ["openssl", "s_client", "-connect", at, "-tls1_2", "-cipher",
                     cipher + ":@SECLEVEL=0"],
                    input="", capture_output=True, text=True, check=False)
                self.assertEqual("Cipher is (NONE)" not in done.stdout, agreed, cipher)
            # "R" on a line of its own asks s_client to negotiate anew.
            done = subprocess.run(["openssl", "s_client", "-connect", at, "-tls1_2"],
                                  input="R\nGET /healthz HTTP/1.1\r\nHost: h\r\n\r\n",
                                  capture_output=True, text=True, check=False, timeout=60)
            self.assertIn("no renegotiation", done.stderr)
            self.assertEqual(server.get("/healthz").status, 200)

    def test_plain_http_is_no_tls(self):
        with self.start() as server:
            def answer_to(request):
                with socket.create_connection((server.host, server.port), timeout=30) as plain:
                    plain.sendall(request)
                    answer = b""
                    try:
                        while piece := plain.recv(4096):
                            answer += piece
                    except ConnectionResetError:
                        pass
                    return answer

            head, body = answer_to(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n").split(b"\r\n\r\n")
            self.assertTrue(head.startswith(b"HTTP/1.1 400 "), head)
            self.assertIn(b"Content-Length: %d\r\n" % len(body), head)
            self.assertIn("https://", json.loads(body)["error"]["message"])
            for request in (b"nothing of the kind\r\n", b" / HTTP/1.1\r\n\r\n"):
                self.assertNotIn(b"HTTP/", answer_to(request))
            self.assertIn("seendb_tls_handshakes_failed_total 3\n",
                          server.get("/metrics").body.decode())

    def test_slow_handshakes_end_and_make_room(self):
        limits = {"header_ms": 1500, "connections": 4}
        with self.start({"limits": limits}) as server:
            silent = [socket.create_connection((server.host, server.port), timeout=30)
                      for _ in range(4)]
            # All places are taken by handshakes that do not come: one of them makes room.
            self.assertEqual(server.get("/healthz").status, 200)
            began = time.monotonic()
            for one in silent:
                try:
                    self.assertEqual(one.recv(1), b"")
                except ConnectionResetError:
                    pass
                one.close()
            self.assertLess(time.monotonic() - began, 20)
            self.assertEqual(server.get("/healthz").status, 200)

    def test_a_handshake_in_pieces(self):
        with self.start() as server:
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            context = self.trust()
            tls = context.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
            with socket.create_connection((server.host, server.port), timeout=30) as raw:
                while True:
                    try:
                        tls.do_handshake()
                        break
                    except ssl.SSLWantReadError:
                        hello = outgoing.read()
                        for i in range(0, len(hello), 7):
                            raw.sendall(hello[i:i + 7])
                        incoming.write(raw.recv(65536))
                tls.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                raw.sendall(outgoing.read())
                answer = b""
                while True:
                    try:
                        piece = tls.read(65536)
                        if not piece:
                            break
                        answer += piece
                    except ssl.SSLWantReadError:
                        got = raw.recv(65536)
                        if not got:
                            self.fail("closed without saying that it is the end")
                        incoming.write(got)
                    except ssl.SSLZeroReturnError:
                        break
                self.assertIn(b'{"status":"ok"}', answer)

    def test_names_of_the_certificate_are_hosts(self):
        with self.start() as server:
            host = {"Host": "seen.example.com"}
            self.assertEqual(server.get("/healthz", host).status, 200)
            own = dict(host, Origin="https://seen.example.com")
            self.assertEqual(server.get("/collections", own).status, 200)
            plain = dict(host, Origin="http://seen.example.com")
            self.assertEqual(server.get("/collections", plain).error["code"], "foreign_origin")
            self.assertEqual(server.get("/healthz", {"Host": "evil.example"}).error["code"],
                             "unknown_host")

    def test_clients_show_certificates(self):
        expired = self.authority.make("late", None, days=-1)
        stranger = self.stranger.make("stranger", None)
        friend = self.authority.make("friend", None)
        with self.start(tls=self.trust(friend), client_ca=self.authority.path) as server:
            self.assertEqual(server.get("/healthz").status, 200)
            for own in (None, expired, stranger):
                client = Client(server.host, server.port, tls=self.trust(own))
                with self.assertRaises((ssl.SSLError, ConnectionError, OSError)):
                    client.request("GET", "/healthz")
            # Who comes again is judged again.
            for _ in range(3):
                self.assertEqual(server.client().request("GET", "/healthz").status, 200)

    def test_a_client_whose_authority_is_replaced_goes(self):
        trusted = os.path.join(self.folder, "trusted.pem")

        def trust(server, *authorities):
            before = server.log_text().count("certificate_loaded")
            with open(trusted + ".new", "w", encoding="utf-8") as file:
                for authority in authorities:
                    with open(authority.path, encoding="utf-8") as own:
                        file.write(own.read())
            os.rename(trusted + ".new", trusted)
            server.process.send_signal(signal.SIGHUP)
            eventually(lambda: server.log_text().count("certificate_loaded") > before)

        shutil.copy(self.authority.path, trusted)
        friend, other = self.authority.make("friend", None), self.stranger.make("other", None)
        with self.start(tls=self.trust(friend), client_ca=trusted) as server:
            kept = Client(server.host, server.port, tls=self.trust(friend))
            self.assertEqual(kept.request("GET", "/collections").status, 200)
            trust(server, self.stranger, self.authority)  # counts still: nothing is cut off
            self.assertEqual(kept.request("GET", "/collections").status, 200)
            trust(server, self.stranger)
            answer = kept.request("GET", "/collections")
            self.assertEqual((answer.status, answer.error["code"]), (401, "unauthorized"), answer)
            self.assertEqual(answer.headers["connection"], "close")
            with self.assertRaises((ssl.SSLError, ConnectionError, OSError)):
                Client(server.host, server.port, tls=self.trust(friend)).request("GET", "/collections")
            client = Client(server.host, server.port, tls=self.trust(other))
            self.assertEqual(client.request("GET", "/collections").status, 200)

    def test_certificates_are_read_anew(self):
        certificate = os.path.join(self.folder, "changing.pem")
        key = os.path.join(self.folder, "changing.key")
        first = self.authority.make("first")
        second = self.authority.make("second", days=10)

        def use(pair, only_certificate=False):
            shutil.copy(pair[0], certificate)
            if not only_certificate:
                shutil.copy(pair[1], key)
                os.chmod(key, 0o600)

        def name(server):
            with socket.create_connection((server.host, server.port), timeout=30) as raw:
                with self.trust().wrap_socket(raw, server_hostname="127.0.0.1") as tls:
                    return dict(pair[0] for pair in tls.getpeercert()["subject"])["commonName"]

        def expiry(server):
            text = server.get("/metrics").body.decode()
            line = next(line for line in text.splitlines()
                        if line.startswith("seendb_tls_certificate_expiry_seconds "))
            return float(line.split()[1])

        use(first)
        with self.start(certificate=certificate, key=key) as server:
            self.assertEqual(name(server), "first")
            self.assertAlmostEqual(expiry(server), time.time() + 30 * 86400, delta=7200)
            use(second, only_certificate=True)  # does not fit the key
            server.process.send_signal(signal.SIGHUP)
            eventually(lambda: any(line["event"] == "certificate_refused"
                                   for line in log_lines(server)))
            self.assertEqual(name(server), "first")
            use(second)
            server.process.send_signal(signal.SIGHUP)
            eventually(lambda: name(server) == "second")
            self.assertAlmostEqual(expiry(server), time.time() + 10 * 86400, delta=7200)
            use(first)  # noticed without a signal
            eventually(lambda: name(server) == "first", timeout=60)
            self.assertEqual(server.get("/healthz").status, 200)

    def test_files_that_are_refused_at_the_start(self):
        shared = os.path.join(self.folder, "shared.key")
        shutil.copy(self.key, shared)
        os.chmod(shared, 0o666)
        locked = os.path.join(self.folder, "locked.key")
        run("ec", "-in", self.key, "-out", locked, "-aes128", "-passout", "pass:secret")
        os.chmod(locked, 0o600)
        for files, key in (({"key": shared}, "/tls/key"), ({"key": locked}, "/tls/key"),
                           ({"key": "/nowhere"}, "/tls/key"),
                           ({"certificate": "/nowhere"}, "/tls/certificate"),
                           ({"key": self.authority.key}, "/tls/key"),
                           ({"client_ca": "/nowhere"}, "/tls/client_ca")):
            tls_files = dict({"certificate": self.certificate, "key": self.key}, **files)
            server = Server(config={"tls": tls_files}, wait=False, tls=self.trust())
            try:
                self.assertEqual(server.wait_exit(), 2, files)
                refused = [line for line in log_lines(server)
                           if line["event"] == "certificate_refused"]
                self.assertEqual([line["key"] for line in refused], [key], files)
            finally:
                server.close()

    def test_a_key_that_everybody_can_read_is_warned_of(self):
        shared = os.path.join(self.folder, "readable.key")
        shutil.copy(self.key, shared)
        os.chmod(shared, 0o644)
        with self.start(key=shared) as server:
            self.assertEqual([line["key"] for line in log_lines(server)
                              if line["event"] == "certificate_key"], ["/tls/key"])

    def test_who_comes_again_resumes(self):
        with self.start() as server:
            for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                context = self.trust()
                context.minimum_version = context.maximum_version = version
                session, resumed = None, []
                for _ in range(2):
                    plain = socket.create_connection((server.host, server.port), timeout=30)
                    with context.wrap_socket(plain, server_hostname=server.host,
                                             session=session) as peer:
                        peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
                        self.assertIn(b" 200 ", peer.recv(4096))
                        session = peer.session
                        resumed.append(peer.session_reused)
                self.assertEqual(resumed, [False, True], version)

    def test_who_shows_a_certificate_never_resumes(self):
        """A resumed session lacks the certificates between the client's and its authority, so that it could not
        be judged again when the authorities are replaced."""
        friend = self.authority.make("friend", None)
        with self.start(tls=self.trust(friend), client_ca=self.authority.path) as server:
            for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                context = self.trust(friend)
                context.minimum_version = context.maximum_version = version
                session = None
                for _ in range(2):
                    plain = socket.create_connection((server.host, server.port), timeout=30)
                    with context.wrap_socket(plain, server_hostname=server.host, session=session) as peer:
                        peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
                        self.assertIn(b" 200 ", peer.recv(4096))
                        session = peer.session if peer.session and peer.session.id else None
                        self.assertFalse(peer.session_reused, version)

    def test_a_body_that_is_refused_is_dropped_and_the_connection_stays(self):
        path = os.path.join(self.folder, "slow.json")
        digest = hashlib.sha256(b"test").hexdigest()
        with open(path, "w", encoding="ascii") as file:
            json.dump([{"name": "slow", "sha256": digest, "role": "read", "requests_per_s": 0.01}],
                      file)
        os.chmod(path, 0o600)
        with self.start({"tokens_file": path, "threads": 1}) as server:
            plain = socket.create_connection((server.host, server.port), timeout=30)
            with self.trust().wrap_socket(plain, server_hostname=server.host) as peer:
                told = peer.makefile("rb")
                statuses = []
                for size in (10, 10, 20_000, 900_000, 10):
                    peer.sendall(b"POST /filter HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer test\r\n"
                                 b"Content-Length: %d\r\n\r\n" % size + b" " * size)
                    statuses.append(int(told.readline().split()[1]))
                    length = 0
                    while (line := told.readline()) != b"\r\n":
                        name, _, value = line.decode().partition(":")
                        self.assertNotEqual(name.lower(), "connection", size)
                        if name.lower() == "content-length":
                            length = int(value)
                    told.read(length)
                self.assertEqual(statuses, [400, 429, 429, 429, 429])

    def test_handshakes_beyond_the_load_are_reset_unanswered(self):
        config = {"threads": 1, "admission": {"target_ms": 1, "interval_ms": 20}}
        with self.start(config) as server:
            stop = threading.Event()
            known, failures = [server.client() for _ in range(12)], []
            for client in known:
                self.assertEqual(client.request("GET", "/healthz").status, 200)

            # Much work for the server and little for this process: all of it was seen, so the
            # answers are short, and the question is written once.
            items = ["%d" % i for i in range(10_000)]
            server.post("/plays", {"events": [{"user": "u", "item": item} for item in items]})
            body = json.dumps({"user": "u", "items": items})

            def ask(client):
                try:
                    while not stop.is_set():
                        client.request("POST", "/filter", body)
                except OSError as error:
                    failures.append(error)

            threads = [threading.Thread(target=ask, args=(client,)) for client in known]
            for thread in threads:
                thread.start()

            context = self.trust()

            def refused():
                came = [socket.create_connection((server.host, server.port), timeout=30)
                        for _ in range(60)]
                for one in came:
                    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
                    hello = context.wrap_bio(incoming, outgoing, server_hostname="h")
                    with self.assertRaises(ssl.SSLWantReadError):
                        hello.do_handshake()
                    try:
                        one.sendall(outgoing.read())
                    except ConnectionResetError:
                        pass
                resets = 0
                for one in came:
                    try:
                        one.recv(1)
                    except ConnectionResetError:
                        resets += 1
                    one.close()
                return resets

            try:
                self.assertTrue(eventually(refused, timeout=60))
            finally:
                stop.set()
                for thread in threads:
                    thread.join()
            self.assertEqual(failures, [], "those that were connected are answered, or refused")
            told = server.get("/metrics").body.decode()
            self.assertRegex(told, r"seendb_tls_handshakes_refused_total [1-9]")

    def test_many_connections_at_once(self):
        with self.start() as server:
            failures = []

            def work(number):
                try:
                    client = server.client()
                    for i in range(20):
                        body = {"user": "u%d" % number, "items": ["a%d" % i] * 300}
                        if client.request("POST", "/filter", body).status != 200:
                            failures.append(number)
                        if i % 5 == 0:
                            client.close()
                except OSError as error:
                    failures.append(error)

            threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(failures, [])


if __name__ == "__main__":
    unittest.main()
