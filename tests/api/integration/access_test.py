"""Who may do what: every route of the OpenAPI document against every kind of caller, collections,
listeners of their own, tokens that change, and what is in the log."""

import gzip
import hashlib
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from certificates import Authority
from openapi_check import whole_document
from seendb_client import Client, Server, eventually

ROLES = ("read", "write", "admin", "filters")
INCLUDED = {"read": {"read"}, "write": {"read", "write"}, "admin": {"read", "write", "admin"},
            "filters": {"read", "write", "filters"}}


def bearer(token):
    return {"Authorization": "Bearer " + token}


def entry(name, role, **more):
    """An entry whose token is "NAME-token"."""
    digest = hashlib.sha256((name + "-token").encode()).hexdigest()
    return dict({"name": name, "sha256": digest, "role": role}, **more)


TOKENS = [entry(role, role) for role in ROLES] + [
    entry("videos-" + role, role, collections=["videos", "more"]) for role in ROLES]


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a socket of the file system."""

    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class AccessTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="seendb-access-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.tokens = os.path.join(self.folder, "tokens.json")
        self.write(TOKENS)

    def write(self, entries, mode=0o600):
        with open(self.tokens + ".new", "w", encoding="utf-8") as file:
            json.dump(entries, file)
        os.chmod(self.tokens + ".new", mode)
        os.rename(self.tokens + ".new", self.tokens)

    def start(self, **config):
        """A server; tests ask it with wrong tokens as often as they like unless they say limits."""
        free = {"tokens_file": self.tokens, "limits": {"failed_tokens_per_minute": 0}}
        return Server(config=dict(free, **config))

    def operations(self, server):
        """(method, path with values, role or None, path of the documents) of each operation."""
        for path, operations in whole_document(server.request)["paths"].items():
            for method, operation in operations.items():
                needs = operation.get("security")
                role = needs[-1]["token"][0] if needs else None
                target = path.replace("{user}", "u1").replace("{item}", "i1").replace("{file}", "style.css")
                if path == "/admin/tail":
                    target += "?seconds=1"
                yield method.upper(), target.replace("{name}", "default"), role, path

    def test_a_stream_ends_with_its_token(self):
        line = b'{"user":"stream","item":"%s"}\n'
        with self.start() as server:
            stream = socket.create_connection((server.host, server.port), timeout=60)
            self.addCleanup(stream.close)
            piece = line % b"before"
            stream.sendall(b"POST /plays HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer write-token\r\n"
                           b"Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n"
                           b"Expect: 100-continue\r\n\r\n")
            self.assertIn(b" 100 ", stream.recv(4_096))  # its token was taken
            stream.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.write([one for one in TOKENS if one["name"] != "write"])
            server.process.send_signal(signal.SIGHUP)
            ask = lambda token, item: server.client().request(
                "POST", "/filter", json.dumps({"user": "stream", "items": [item]}),
                dict(bearer(token), **{"Content-Type": "application/json"}))
            eventually(lambda: ask("write-token", "x").status == 401)
            piece = line % b"after"
            stream.sendall(b"%x\r\n%s\r\n0\r\n\r\n" % (len(piece), piece))
            answer = stream.recv(65_536)
            self.assertIn(b"HTTP/1.1 401 Unauthorized", answer)
            self.assertIn(b"was taken out", answer)
            self.assertEqual(ask("read-token", "after").json["seen"], 0)

    def test_a_stream_is_charged_as_requests_are(self):
        self.write([entry("slow", "write", requests_per_s=2)])
        rows = b"".join(b'{"user":"u%d","item":"i%d"}\n' % (i % 7, i) for i in range(4_000))
        headers = dict(bearer("slow-token"), **{"Content-Type": "application/x-ndjson"})
        with self.start(limits={"body_bytes": 4_096}) as server:
            send = lambda body: server.client().request("POST", "/plays", body, headers)
            answer = send(rows)  # 30 bodies of the largest size
            self.assertEqual((answer.status, answer.json["accepted"]), (200, 4_000))
            refused = send(rows)
            self.assertEqual((refused.status, refused.error["code"]), (429, "rate_limited"))
            self.assertGreater(int(refused.headers["seendb-retry-after-ms"]), 5_000)

    def test_every_route_and_every_role(self):
        with self.start() as server:
            seen = {None: 0, "read": 0, "write": 0, "admin": 0, "filters": 0}
            for method, target, role, path in list(self.operations(server)):
                ask = lambda headers: server.client().request(method, target, None, headers)
                if role == "peer":  # no token is the secret of a cluster
                    for headers in ({}, bearer("admin-token")):
                        self.assertEqual(ask(headers).status, 403, target)
                    continue
                seen[role] += 1
                if role is None:
                    self.assertEqual(ask({}).status, 200, target)
                    continue
                for headers in ({}, bearer("nobody"), {"Authorization": "Basic YTpi"},
                                {"Authorization": "Bearer"}, bearer("")):
                    answer = ask(headers)
                    self.assertEqual(answer.status, 401, (method, target, headers))
                    self.assertEqual(answer.error["code"], "unauthorized")
                    self.assertEqual(answer.headers["www-authenticate"], "Bearer")
                for caller in ROLES:
                    answer = ask(bearer(caller + "-token"))
                    denied = answer.status in (401, 403)
                    self.assertEqual(denied, role not in INCLUDED[caller],
                                     (method, target, caller, answer.body))
                    if denied:
                        self.assertEqual(answer.error["code"], "forbidden")
                # A token of other collections reaches neither "default" nor all of them.
                other = ask(bearer("videos-admin-token"))
                if (method, path) in (("GET", "/collections"), ("GET", "/metrics")):
                    self.assertEqual(other.status, 200)
                elif path in ("/items/schema", "/items/get") and other.status != 403:  # of no collection
                    self.assertEqual(other.status, 409)
                elif other.status != 403:  # refused for its (absent) body before
                    self.assertEqual(other.status, 400, (method, target, other.body))
            self.assertEqual(seen.pop("filters"), 2)
            self.assertGreaterEqual(min(seen.values()), 5)

    def test_collections(self):
        bodies = {
            "/filter": {"user": "u1", "items": ["a"]},
            "/plays": {"events": [{"user": "u1", "item": "a"}]},
            "/impressions": {"user": "u1", "items": ["a"]},
            "/exposures": {"events": [{"user": "u1", "item": "a"}]},
            "/users/u1/history/lookup": {"items": ["a"]},
            "/users/u1/history/delete": {"items": ["a"]},
        }
        own = bearer("videos-write-token")
        with self.start() as server:
            for name in ("videos", "secret"):
                made = server.request("PUT", "/collections/" + name, {"history": {"enabled": True}},
                                      bearer("admin-token"))
                self.assertEqual(made.status, 200, made.body)
            for path, body in bodies.items():
                for collection, status in (("videos", 200), ("secret", 403), ("nowhere", 403),
                                           (None, 403)):
                    asked = dict(body, collection=collection) if collection else body
                    answer = server.post(path, asked, own)
                    self.assertEqual(answer.status, status, (path, collection, answer.body))
                    if status == 403:
                        self.assertEqual(answer.error["field"], "/collection")
            for collection, status in (("videos", 200), ("secret", 403)):
                by_query = "?collection=" + collection
                rows = '{"user":"u1","item":"b"}\n'
                kind = dict(own, **{"Content-Type": "application/x-ndjson"})
                self.assertEqual(server.post("/plays" + by_query, rows, kind).status, status)
                self.assertEqual(server.post("/impressions" + by_query, rows, kind).status, status)
                binary = dict(own, **{"Content-Type": "application/octet-stream"})
                for path in ("/plays", "/impressions"):
                    answer = server.post(path + by_query + "&user=u1&ids=u64", b"8 bytes.", binary)
                    self.assertEqual(answer.status, status, (path, collection, answer.body))
                self.assertEqual(server.get("/users/u1" + by_query, own).status, status)
                self.assertEqual(server.get("/users/u1/history" + by_query, own).status, status)
                self.assertEqual(server.get("/users/u1/history/b" + by_query, own).status, status)
                self.assertEqual(server.get("/collections/" + collection, own).status, status)
                clear = {"collections": [collection]}
                self.assertEqual(server.post("/users/u1/history/clear", clear, own).status, status)
                line = json.dumps({"user": "u1", "items": ["b"], "collection": collection}) + "\n"
                answer = server.post("/filter", line, kind)
                self.assertEqual(answer.status, 200)
                self.assertEqual("error" in answer.lines[0], status == 403)
                binary = dict(own, **{"Content-Type": "application/octet-stream"})
                answer = server.post("/filter?user=u1&ids=u64&collection=" + collection,
                                     b"\0" * 8, binary)
                self.assertEqual(answer.status, status)
            both = "/users/u1/history?collection=videos,secret"
            self.assertEqual(server.get(both, own).status, 403)
            for path in ("/users/u1", "/users/u1/history", "/users/u1/export",
                         "/users/u1/recording"):
                self.assertEqual(server.get(path, own).status, 403, path)
            self.assertEqual(server.post("/users/u1/history/clear", {}, own).status, 403)
            self.assertEqual(server.delete("/users/u1", own).status, 403)
            names = [one["name"] for one in
                     server.get("/collections", own).json["collections"]]
            self.assertEqual(names, ["videos"])
            admin = bearer("videos-admin-token")
            self.assertEqual(server.request("PUT", "/collections/more", {}, admin).status, 200)
            self.assertEqual(server.request("PUT", "/collections/other", {}, admin).status, 403)
            self.assertEqual(server.request("DELETE", "/collections/secret?confirm=secret", None,
                                            admin).status, 403)

    def test_recording_asks_for_write(self):
        with self.start() as server:
            body = {"user": "u1", "items": ["a"], "record": True}
            refused = server.post("/filter", body, bearer("read-token"))
            self.assertEqual((refused.status, refused.error["field"]), (403, "/record"))
            shown = server.post("/filter", {"user": "u1", "items": ["a"]}, bearer("write-token"))
            self.assertEqual(shown.json["unseen"], ["a"], "the refused call recorded nothing")
            self.assertEqual(server.post("/filter", body, bearer("write-token")).status, 200)

    def test_a_connection_is_asked_once_where_the_settings_say_so(self):
        for once in (False, True):
            with self.start(authenticate_once=once) as server:
                client = server.client()
                self.assertEqual(client.request("GET", "/collections").status, 401)
                self.assertEqual(client.request("GET", "/collections", None,
                                                bearer("read-token")).status, 200)
                later = client.request("GET", "/collections").status
                self.assertEqual(later, 200 if once else 401)
                # A request that carries a token is judged by that one.
                self.assertEqual(client.request("GET", "/collections", None,
                                                bearer("wrong")).status, 401)
                self.assertEqual(client.request("POST", "/admin/drain", None,
                                                bearer("admin-token")).status, 200)
                self.assertEqual(client.request("POST", "/admin/drain").status,
                                 200 if once else 401)
                self.assertEqual(server.client().request("GET", "/collections").status, 401)
                # New tokens make void what was shown before.
                self.write(TOKENS + [entry("late", "read")])
                server.process.send_signal(signal.SIGHUP)
                eventually(lambda: server.client().request(
                    "GET", "/collections", None, bearer("late-token")).status == 200)
                self.assertEqual(client.request("GET", "/collections").status, 401)

    def test_a_certificate_stands_for_its_token(self):
        authority = Authority(self.folder)
        certificate, key = authority.make("server")
        context = {}
        for name in ("write", "somebody"):
            context[name] = ssl.create_default_context(cafile=authority.path)
            context[name].load_cert_chain(*authority.make(name, None))
        config = {"tls": {"certificate": certificate, "key": key, "client_ca": authority.path},
                  "tokens_file": self.tokens, "authenticate_once": True}
        with Server(config=config, tls=context["write"]) as server:
            plays = {"events": [{"user": "u", "item": "i"}]}
            self.assertEqual(server.post("/plays", plays).status, 200)
            self.assertEqual(server.post("/admin/drain").status, 403)
            other = Client(server.host, server.port, tls=context["somebody"])
            self.assertEqual(other.request("GET", "/collections").status, 401)

    def test_tokens_are_read_anew(self):
        with self.start() as server:
            ask = lambda name: server.get("/collections", bearer(name + "-token")).status
            self.assertEqual(ask("read"), 200)
            with open(self.tokens, "w", encoding="utf-8") as file:
                file.write('[{"name":"x"')  # what is no file of tokens changes nothing
            server.process.send_signal(signal.SIGHUP)
            eventually(lambda: "tokens_refused" in server.log_text())
            self.assertEqual(ask("read"), 200)
            self.write([entry("new", "read")])  # noticed without a signal
            eventually(lambda: ask("new") == 200, timeout=60)
            self.assertEqual(ask("read"), 401)

    def test_a_token_expires(self):
        now_ms = 1_800_000_000_000
        self.write([entry("forever", "admin"),
                    entry("soon", "write", expires=now_ms + 60_000),
                    entry("later", "read", expires="2030-01-01T00:00:00+08:00"),
                    entry("gone", "read", expires="2020-01-01T00:00:00Z")])
        with self.start(clock="manual:%d" % now_ms) as server:
            ask = lambda name: server.get("/collections", bearer(name + "-token"))
            self.assertEqual([ask(name).status for name in ("forever", "soon", "later", "gone")],
                             [200, 200, 200, 401])
            self.assertEqual(ask("gone").error["message"],
                             'the token "gone" expired at 1577836800000 (2020-01-01T00:00:00Z)')
            text = server.get("/metrics", bearer("forever-token")).body.decode()
            for name, at_s in (("soon", 1_800_000_060), ("later", 1_893_427_200)):
                found = [float(line.split()[-1]) for line in text.splitlines() if
                         line.startswith('seendb_token_expiry_seconds{token="%s"}' % name)]
                self.assertEqual(found, [at_s])
            self.assertNotIn('seendb_token_expiry_seconds{token="forever"}', text)
            moved = server.post("/admin/clock", {"now_ms": now_ms + 60_000},
                                bearer("forever-token"))
            self.assertEqual(moved.status, 200, moved.body)
            self.assertEqual(ask("soon").status, 401)
            self.assertIn("expired at", ask("soon").error["message"])
            server.terminate()
            lines = [json.loads(line) for line in server.log_text().splitlines()
                     if line.startswith("{")]
            self.assertEqual([(line["token"], line["expires"]) for line in lines
                              if line["event"] == "token_expires_soon"],
                             [("soon", "2027-01-15T08:01:00Z")])
            self.assertEqual([(line["tokens"], line["expired"]) for line in lines
                              if line["event"] == "tokens_loaded"], [(4, 1)])
            self.assertIn("gone", [line.get("token") for line in lines if line.get("status") == 401])

    def test_an_address_that_shows_wrong_tokens_has_to_wait(self):
        with self.start(limits={"failed_tokens_per_minute": 5}) as server:
            answers = [server.get("/collections", bearer("wrong-%d" % i)) for i in range(12)]
            # A minute may end meanwhile, which begins the count anew.
            self.assertEqual([answer.status for answer in answers[:5]], [401] * 5)
            limited = [answer for answer in answers if answer.status == 429]
            self.assertGreaterEqual(len(limited), 2)
            for answer in limited:
                self.assertEqual(answer.error["code"], "rate_limited")
                self.assertIn("failed_tokens_per_minute", answer.error["message"])
                wait_s = int(answer.headers["retry-after"])
                self.assertTrue(1 <= wait_s <= 60, wait_s)
                self.assertEqual(int(answer.headers["seendb-retry-after-ms"]), wait_s * 1_000)
            self.assertEqual(server.get("/collections", bearer("read-token")).status, 200)
            text = server.get("/metrics", bearer("read-token")).body.decode()
            for status in (401, 429):
                count = sum(answer.status == status for answer in answers)
                self.assertIn('seendb_failed_tokens_total{code="%d"} %d\n' % (status, count), text)
            server.terminate()
            begun = [json.loads(line) for line in server.log_text().splitlines()
                     if '"failed_tokens"' in line]
            self.assertEqual([(line["peer"], line["per_minute"]) for line in begun[:1]],
                             [("127.0.0.1", 5)])
        with self.start(limits={"failed_tokens_per_minute": 0}) as server:
            for _ in range(100):
                self.assertEqual(server.get("/collections", bearer("wrong")).status, 401)

    def test_quotas_of_bytes_and_of_work(self):
        self.write([entry("bytes", "write", decoded_bytes_per_s=10_000),
                    entry("work", "write", work_ms_per_s=0.001), entry("free", "write")])
        rows = b"".join(b'{"user":"u%d","item":"i%d"}\n' % (i % 7, i) for i in range(4_000))
        plays = {"events": [{"user": "u", "item": "i%d" % i} for i in range(2_500)]}
        lines = {"Content-Type": "application/x-ndjson"}
        with self.start() as server:
            def refused(token, said):
                answer = server.post("/plays", {"events": []}, bearer(token))
                self.assertEqual((answer.status, answer.error["code"]), (429, "rate_limited"))
                self.assertIn(said, answer.error["message"])
                self.assertGreater(int(answer.headers["seendb-retry-after-ms"]), 0)
                return int(answer.headers["retry-after"])
            packed = dict(lines, **bearer("bytes-token"), **{"Content-Encoding": "gzip"})
            answer = server.post("/plays", gzip.compress(rows), packed)  # flows, and is charged
            self.assertEqual((answer.status, answer.json["accepted"]), (200, 4_000))
            # Its 100 kB and more, decoded, last for ten seconds and more, less the one at once.
            self.assertGreater(refused("bytes-token", "decoded_bytes_per_s"), 1)
            self.assertEqual(server.post("/plays", plays, bearer("work-token")).status, 200)
            refused("work-token", "work_ms_per_s")
            self.assertEqual(server.post("/plays", plays, bearer("free-token")).status, 200)
            text = server.get("/metrics", bearer("free-token")).body.decode()
            for reason in ("rate_of_bytes", "rate_of_work"):
                self.assertRegex(text, r'seendb_refused_total\{reason="%s".*\} 1\n' % reason)
            # Whole bodies count likewise.
            self.write([entry("bytes2", "write", decoded_bytes_per_s=1_000)])
            server.process.send_signal(signal.SIGHUP)
            whole = lambda: server.post("/plays", plays, bearer("bytes2-token")).status
            eventually(lambda: whole() == 200)
            refused("bytes2-token", "decoded_bytes_per_s")

    def test_files_that_are_refused_at_the_start(self):
        cases = [
            ([dict(entry("a", "read"), role="owner")], 0o600, "/0/role"),
            ([entry("a", "read"), dict(entry("b", "read"), sha256="abc")], 0o600, "/1/sha256"),
            ([entry("a", "read"), entry("a", "write")], 0o600, "/1/name"),
            ([entry("a", "read", expires="2030-01-01T00:00:00")], 0o600, "/0/expires"),
            ([dict(entry("a", "read"), colections=[])], 0o600, "/0/colections"),
            ([entry("a", "read", requests_per_s=0)], 0o600, "/0/requests_per_s"),
            ([entry("a", "read", decoded_bytes_per_s="1M")], 0o600, "/0/decoded_bytes_per_s"),
            ([entry("a", "read", priority="urgent")], 0o600, "/0/priority"),
            ([entry("a", "read", share=-1)], 0o600, "/0/share"),
            ([entry("a", "read", collections=[])], 0o600, "/0/collections"),
            ([{"name": "a", "role": "read"}], 0o600, "/0/sha256"),
            (TOKENS, 0o622, "chmod go-w"),
        ]
        for entries, mode, said in cases:
            self.write(entries, mode)
            server = Server(config={"tokens_file": self.tokens}, wait=False)
            try:
                self.assertEqual(server.wait_exit(), 2, entries)
                self.assertIn(said, server.log_text())
            finally:
                server.close()

    def test_the_log_names_who_but_never_the_secret(self):
        with self.start() as server:
            server.get("/collections", bearer("wrong-secret"))
            server.post("/admin/drain", None, bearer("read-token"))
            server.post("/admin/drain", None, bearer("admin-token"))
            server.get("/collections", {"Host": "evil.example"})
            text = server.get("/metrics", bearer("read-token")).body.decode()
            for reason in ("unauthorized", "forbidden", "unknown_host"):
                self.assertIn('seendb_http_refused_total{reason="%s"} 1' % reason, text)
            server.terminate()
            log = server.log_text()
            for secret in ("wrong-secret", "read-token", "admin-token", TOKENS[0]["sha256"]):
                self.assertNotIn(secret, log)
            lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
            refused = [(line["status"], line["error"], line.get("token"), line["peer"])
                       for line in lines if line.get("status") in (401, 403)]
            self.assertEqual(refused, [(401, "unauthorized", None, "127.0.0.1"),
                                       (403, "forbidden", "read", "127.0.0.1"),
                                       (403, "unknown_host", None, "127.0.0.1")])
            done = [(line["token"], line["status"]) for line in lines
                    if line["event"] == "admin_request"]
            self.assertEqual(done, [("read", 403), ("admin", 200)])

    def test_listeners_of_their_own(self):
        path = os.path.join(self.folder, "seendb.sock")
        with Server(config={"admin_listen": "127.0.0.1:0", "unix_listen": path}) as server:
            admin = server.next_line()
            self.assertTrue(admin.startswith("admin listening on http://127.0.0.1:"), admin)
            self.assertEqual(server.next_line(), "unix listening on unix:" + path)
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o660)
            at_admin = Client("127.0.0.1", int(admin.rsplit(":", 1)[1]))
            for route in ("/admin/stats", "/v1/admin/stats", "/metrics"):
                self.assertEqual(server.get(route).status, 404, route)
                self.assertEqual(at_admin.request("GET", route).status, 200, route)
            self.assertEqual(server.get("/collections").status, 200)
            self.assertEqual(at_admin.request("GET", "/healthz").status, 200)
            local = UnixConnection(path)
            local.request("GET", "/admin/stats")
            self.assertEqual(local.getresponse().read()[:1], b"{")
            # Another server takes neither the path of a living one nor a file that is no socket.
            note = os.path.join(self.folder, "note")
            with open(note, "w", encoding="utf-8") as file:
                file.write("mine")
            for taken in (path, note):
                second = Server(config={"unix_listen": taken}, wait=False)
                try:
                    self.assertEqual(second.wait_exit(), 1)
                    self.assertIn("listen_failed", second.log_text())
                finally:
                    second.close()
            with open(note, encoding="utf-8") as file:
                self.assertEqual(file.read(), "mine")
            server.kill()
            self.assertTrue(os.path.exists(path))
            server.start()  # what a killed process left is taken
            server.next_line()
            server.next_line()
            local = UnixConnection(path)
            local.request("GET", "/healthz")
            self.assertEqual(local.getresponse().status, 200)
            server.terminate()
            self.assertFalse(os.path.exists(path))

    def test_two_authorization_headers_are_refused(self):
        with self.start() as server:
            answer = server.raw(b"GET /collections HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer a"
                                b"\r\nAuthorization: Bearer read-token\r\n\r\n")
            self.assertIn(b" 400 ", answer.split(b"\r\n")[0])

    def test_curl_as_the_readme_shows_it(self):
        with self.start() as server:
            done = subprocess.run(["curl", "-sS", "-H", "Authorization: Bearer read-token",
                                   server.url + "/collections"],
                                  capture_output=True, text=True, check=True)
            self.assertIn('"default"', done.stdout)


if __name__ == "__main__":
    unittest.main()
