"""The audit over a real server: which calls have a line, rotation, and what happens where no line can
be written."""

import hashlib
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
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import whole_document
from seendb_client import Server, eventually, server_binary

NOW = 1_700_000_000_000  # 14 November 2023
KEY = "000102030405060708090a0b0c0d0e0f"
PLAY = {"events": [{"user": "anna", "item": "v1"}, {"user": "ben", "item": "v1"}]}
TOKEN = {"Authorization": "Bearer support-token"}
OF_FILTERS = {"Authorization": "Bearer filters-token"}


def lines_in(path):
    with open(path, encoding="ascii") as file:
        return [json.loads(line) for line in file]


class AuditTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="seendb-audit-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "audit.log")
        self.tokens = os.path.join(self.folder, "tokens.json")
        entries = [{"name": name, "sha256": hashlib.sha256(name.encode() + b"-token").hexdigest(), "role": role}
                   for name, role in (("support", "admin"), ("filters", "filters"))]
        with open(os.open(self.tokens, os.O_CREAT | os.O_WRONLY, 0o600), "w",
                  encoding="utf-8") as file:
            json.dump(entries, file)

    def config(self, more=None, **audit):
        return dict({"audit": dict({"file": self.path}, **audit),
                     "access_log": {"user_key": KEY}}, **(more or {}))

    def start(self, more=None, clock_ms=NOW, **audit):
        server = Server(config=self.config(more, **audit), clock_ms=clock_ms)
        self.addCleanup(server.close)
        return server

    def lines(self, count):
        """The lines, once there are as many: the last one is written while nobody waits."""
        eventually(lambda: len(lines_in(self.path)) >= count)
        lines = lines_in(self.path)
        self.assertEqual(len(lines), count, lines)
        return lines

    def point_to(self, target):
        """Has the path be a link to it."""
        os.symlink(target, self.path + ".new")
        os.rename(self.path + ".new", self.path)

    def test_each_call_about_a_person_or_of_an_administrator_has_a_line(self):
        server = self.start({"tokens_file": self.tokens})
        read, changed = set(), set()
        for path, operations in whole_document(server.request)["paths"].items():
            for method in operations:
                needs = operations[method].get("security")
                role = needs[-1]["token"][0] if needs else None
                if role not in ("admin", "filters") and not path.startswith("/users/"):
                    continue
                if path.endswith("/{file}"):  # pieces of a copy, whose making has its lines
                    continue
                label = "%s %s" % (method.upper(), path)
                looks = method == "get" or path.endswith("/lookup")
                (read if looks else changed).add(label)
                target = path.replace("{user}", "anna").replace("{item}", "v1")
                target = target.replace("{name}", "default").replace("{partition}", "0")
                if path == "/admin/tail":
                    target += "?seconds=1"
                body = {} if method in ("post", "put") else None
                token = OF_FILTERS if role == "filters" else TOKEN
                self.assertNotEqual(server.request(method.upper(), target, body, token).status, 401)
        for method, path in (("POST", "/plays"), ("POST", "/filter"), ("POST", "/impressions"),
                             ("GET", "/collections"), ("GET", "/cluster")):
            body = {} if method == "POST" else None
            self.assertNotEqual(server.request(method, path, body, TOKEN).status, 401)
        self.assertEqual(server.get("/users/anna").status, 401)
        lines = self.lines(len(read) + 2 * len(changed))
        self.assertGreater(len(read), 10)
        self.assertGreater(len(changed), 15)

        def routes_of(event):
            return [line["route"] for line in lines if line["event"] == event]
        self.assertEqual(sorted(routes_of("read")), sorted(read))
        self.assertEqual(sorted(routes_of("change")), sorted(changed))
        self.assertEqual(sorted(routes_of("answered")), sorted(changed))
        begun = {line["id"]: line for line in lines if line["event"] != "answered"}
        self.assertEqual(len(begun), len(read) + len(changed))
        hashes = set()
        for line in lines:
            if line["event"] == "answered":
                self.assertEqual(begun[line["id"]]["route"], line["route"])
                self.assertGreaterEqual(line["status"], 200)
                continue
            of_filters = line["route"] in ("GET /users/{user}/filter", "GET /admin/item-hash-key")
            self.assertEqual((line["token"], line["role"], line["address"]),
                             (("filters", "filters") if of_filters else ("support", "admin")) + ("127.0.0.1",))
            self.assertLess(abs(line["ms"] - time.time() * 1000), 600_000)  # the machine's clock
            if "{user}" in line["route"]:
                hashes.add(line["user"])
        self.assertEqual(len(hashes), 1)
        with open(self.path, encoding="ascii") as file:
            self.assertNotIn("anna", file.read())
        # The access log hashes users alike.
        log = [json.loads(line) for line in server.log_text().splitlines()]
        self.assertEqual({line["user"] for line in log if "user" in line}, hashes)

    def test_users_in_clear_and_the_socket_of_the_file_system(self):
        door = os.path.join(self.folder, "door")
        server = self.start({"unix_listen": door}, users="clear")
        connection = http.client.HTTPConnection("localhost", timeout=60)
        connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.sock.connect(door)
        connection.request("DELETE", "/users/anna", headers={"X-Request-Id": "id-1"})
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()
        self.assertEqual(server.get("/users/a%0a%1b%22").status, 200)
        lines = self.lines(3)
        first = next(line for line in lines if line["event"] == "change")
        self.assertEqual((first["user"], first["address"], first["request_id"], first["token"]),
                         ("anna", "unix", "id-1", ""))
        self.assertEqual([line["status"] for line in lines if line["event"] == "answered"], [200])
        self.assertEqual([line["user"] for line in lines if line["event"] == "read"], ["a\n\x1b\""])

    def test_an_export_has_its_line_before_the_answer(self):
        server = self.start()
        server.post("/plays", PLAY)
        self.assertEqual(server.get("/users/anna/export").status, 200)
        self.assertEqual([line["route"] for line in lines_in(self.path)],
                         ["GET /users/{user}/export"])

    def test_rotation_loses_no_line(self):
        server = self.start()
        answered, stop = [], threading.Event()

        def ask():
            while not stop.is_set():
                answered.append(server.get("/users/anna/history").status)
        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for i in range(5):
            least = len(answered) + 20
            eventually(lambda: len(answered) > least)  # pylint: disable=cell-var-from-loop
            os.rename(self.path, "%s.%d" % (self.path, i))
            server.process.send_signal(signal.SIGHUP)
            eventually(lambda: os.path.exists(self.path))
        stop.set()
        for thread in threads:
            thread.join()
        files = [name for name in os.listdir(self.folder) if name.startswith("audit.log")]
        self.assertEqual(len(files), 6)
        lines = [line for name in files for line in lines_in(os.path.join(self.folder, name))]
        self.assertEqual(len(lines), len(answered))
        self.assertEqual(len({line["id"] for line in lines}), len(lines))
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o640)

    def test_without_a_line_nothing_is_told_and_nothing_deleted(self):
        self.point_to("/dev/full")
        server = self.start()
        self.assertEqual(server.post("/plays", PLAY).status, 200)
        self.assertEqual(server.put("/collections/video", {}).status, 503)
        for path in ("/users/anna", "/users/anna/export", "/users/anna/history", "/admin/stats"):
            answer = server.get(path)
            self.assertEqual(answer.status, 503, path)
            self.assertEqual(answer.error["message"], "the audit can't be written, so nothing was "
                             "done: No space left on device")
            self.assertEqual(answer.headers["retry-after"], "1")
        self.assertEqual(server.delete("/users/anna").status, 503)
        unseen = server.post("/filter", {"user": "anna", "items": ["v1", "v2"]}).json["unseen"]
        self.assertEqual(unseen, ["v2"])  # the play is still there, and filters are answered
        self.assertEqual([one["name"] for one in server.get("/collections").json["collections"]],
                         ["default"])
        self.assertIn("the audit can't be written: No space left on device",
                      server.get("/readyz").json["problems"])
        self.assertIn("seendb_audit_lines_total 0\n", server.get("/metrics").body.decode())
        self.assertIn('"event":"audit_failed"', server.log_text())

        self.point_to(os.path.join(self.folder, "other-disk"))
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: server.delete("/users/anna").status == 200)
        self.assertEqual([line["event"] for line in self.lines(2)], ["change", "answered"])
        self.assertEqual(server.get("/readyz").json["problems"], [])
        self.assertIn('"event":"audit_written_again"', server.log_text())

    def test_a_call_can_wait_for_its_line(self):
        self.point_to("/dev/full")
        server = self.start(on_failure="wait")
        begun = time.monotonic()
        answer = server.request("DELETE", "/users/anna", None, {"SeenDB-Timeout-Ms": "500"})
        self.assertEqual(answer.status, 503)
        self.assertGreater(time.monotonic() - begun, 0.2)
        statuses = []

        def ask(method, path):
            client = server.client()
            self.addCleanup(client.close)
            waits = {"SeenDB-Timeout-Ms": "60000"}
            statuses.append(client.request(method, path, None, waits).status)
        threads = [threading.Thread(target=ask, args=call) for call in
                   (("DELETE", "/users/anna"), ("GET", "/users/anna/export"))]
        for thread in threads:
            thread.start()

        def in_flight():
            text = server.get("/metrics").body.decode()
            return "seendb_http_requests_in_flight 3\n" in text  # the scrape too
        eventually(in_flight)
        self.assertEqual(statuses, [])
        self.point_to(os.path.join(self.folder, "other-disk"))
        server.process.send_signal(signal.SIGHUP)
        for thread in threads:
            thread.join()
        self.assertEqual(statuses, [200, 200])
        self.assertEqual(sorted(line["event"] for line in self.lines(3)),
                         ["answered", "change", "read"])

    def test_lines_of_before_a_restart_stay(self):
        server = self.start()
        self.assertEqual(server.get("/users/anna").status, 200)
        server.restart()
        self.assertEqual(server.get("/users/anna").status, 200)
        first, second = self.lines(2)
        self.assertNotEqual(first["id"], second["id"])
        self.assertEqual(first["user"], second["user"])

    def refusal(self, config, *flags):
        path = os.path.join(self.folder, "config.json")
        with open(os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w",
                  encoding="utf-8") as file:
            json.dump(config, file)
        done = subprocess.run([server_binary(), "--db", os.path.join(self.folder, "db"), "--listen",
                               "127.0.0.1:0", "--config", path, *flags],
                              capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_a_file_that_others_may_write_is_refused(self):
        open(self.path, "w", encoding="ascii").close()
        os.chmod(self.path, 0o666)
        code, said = self.refusal(self.config())
        self.assertEqual(code, 2)
        self.assertIn("can be written by others; do: chmod go-w " + self.path, said)
        self.assertIn("/audit/file", said)
        checked = self.refusal(self.config(), "--check-config")
        self.assertEqual(checked[0], 2)
        self.assertIn("/audit/file", checked[1])
        os.remove(self.path)
        self.assertEqual(self.refusal(self.config(), "--check-config")[0], 0)
        self.assertFalse(os.path.exists(self.path))
        code, said = self.refusal({"audit": {"file": self.path}}, "--check-config")
        self.assertEqual(code, 2)
        self.assertIn("/access_log/user_key", said)


if __name__ == "__main__":
    unittest.main()
