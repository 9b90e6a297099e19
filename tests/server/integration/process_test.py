"""The process: readiness, signals, exit codes, what is on disk afterwards."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from certificates import Authority
from openapi_check import CheckedServer
from seendb_client import Client, Server, eventually, free_port, server_binary, without_settings


class ProcessTest(unittest.TestCase):
    def serve(self, **kwargs):
        server = CheckedServer(**kwargs)
        self.addCleanup(server.close)
        return server

    def run_to_end(self, *args):
        done = subprocess.run([server_binary(), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=60, check=False, env=without_settings(os.environ))
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_stdout_is_one_line_and_stderr_is_json(self):
        server = self.serve()
        server.get("/healthz")
        self.assertEqual(server.terminate(), 0)
        self.assertEqual(server.stdout_lines, ["listening on " + server.url])
        events = [json.loads(line) for line in server.log_text().splitlines()]
        self.assertEqual([e["event"] for e in events], ["opening", "ready", "stopping", "stopped"])
        for event in events:
            self.assertIn(event["level"], ("debug", "info", "warn", "error"))
            self.assertRegex(event["ts"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")

    def test_everything_survives_sigterm_and_kill(self):
        server = self.serve()
        server.put("/collections/c", {"bucket": "days:1", "window": 3, "retention": 5})
        for round_number, stop in enumerate([server.terminate, server.kill, server.terminate]):
            server.post("/plays", {"events": [{"user": "u", "item": round_number}]})
            server.post("/plays", {"events": [{"user": "u", "item": round_number}],
                                   "collection": "c"})
            server.post("/impressions", {"user": "u", "items": ["i%d" % round_number]})
            if round_number == 1:
                server.post("/admin/drain")
            stop()
            server.start()
            items = list(range(round_number + 1)) + ["i%d" % i for i in range(round_number + 1)]
            answer = server.post("/filter", {"user": "u", "items": items + ["new"]})
            self.assertEqual(answer.json["unseen"], ["new"])
            answer = server.post("/filter", {"user": "u", "items": [round_number, "new"],
                                             "collection": "c"})
            self.assertEqual(answer.json["unseen"], ["new"])

    def test_others_can_not_read_what_is_made(self):
        with tempfile.TemporaryDirectory() as folder:
            checkpoints = os.path.join(folder, "checkpoints")
            before = os.umask(0)
            try:
                server = self.serve(db=os.path.join(folder, "db"),
                                    config={"checkpoints": checkpoints})
            finally:
                os.umask(before)
            server.post("/plays", {"events": [{"user": "u", "item": "v"}]})
            server.post("/admin/drain")
            self.assertEqual(server.post("/admin/checkpoint", {"name": "a"}).status, 200)
            found = 0
            for top, _, names in os.walk(folder):
                for name in [top] + [os.path.join(top, name) for name in names]:
                    if name == folder:
                        continue
                    found += 1
                    self.assertEqual(os.stat(name).st_mode & 0o027, 0, name)
            self.assertGreater(found, 20)

    def test_files_of_before_that_others_can_read_are_named_once(self):
        with tempfile.TemporaryDirectory() as folder:
            db = os.path.join(folder, "db")
            self.serve(db=db).terminate()
            self.assertEqual(self.named(self.serve(db=db)), [])
            shard = os.path.join(db, "shard-0000")
            file = os.path.join(shard, "IDENTITY")
            for path, mode in ((db, 0o755), (shard, 0o755), (file, 0o644)):
                os.chmod(path, mode)
            server = self.serve(db=db)
            lines = self.named(server)
            self.assertEqual(len(lines), 1)
            self.assertEqual((lines[0]["level"], lines[0]["files"]), ("warn", 1))
            self.assertEqual(lines[0]["example"], file)
            self.assertEqual(os.stat(file).st_mode & 0o777, 0o644)

    def named(self, server):
        server.terminate()
        lines = [json.loads(line) for line in server.log_text().splitlines()]
        return [line for line in lines if line["event"] == "readable_by_others"]

    def test_the_log_tells_of_problems(self):
        server = self.serve(args=["--shards", "1"], clock_ms=1_700_000_000_000)
        server.post("/plays", {"events": [{"user": "u", "item": 1}]})
        server.post("/admin/drain")
        self.assertEqual(server.terminate(), 0)
        # A value that only newer software reads, in its place.
        subprocess.run([os.environ["SEENDB_TOOL"], "ldb", "--db", server.db, "--shard", "0", "put",
                        "--column_family=seen/default/2023-11", "--value_hex", "u",
                        "0x120000000000D346F42A"], stdout=subprocess.DEVNULL, check=True)
        server.start()
        self.assertTrue(server.post("/filter", {"user": "u", "items": [1]}).json["degraded"])
        self.assertTrue(eventually(lambda: '"event":"problem"' in server.log_text(),
                                   timeout=120))
        told = [line for line in server.log_text().splitlines() if '"event":"problem"' in line]
        self.assertEqual(len(told), 1, told)
        self.assertIn("seen filter version 2 is newer than this software (1)", told[0])

    def test_the_port_opens_before_the_replay(self):
        server = self.serve()
        rows = (b"".join(b'{"user":%d,"item":%d}\n' % (i % 50_000, i) for i in
                         range(start, start + 10_000)) for start in range(0, 500_000, 10_000))
        said = server.post("/plays", rows, {"Content-Type": "application/x-ndjson"}).json
        self.assertEqual(said["accepted"], 500_000)
        server.kill()
        port = free_port()
        server.start(wait=False, port=port)
        statuses = {"/healthz": set(), "/readyz": set(), "/users/1": set()}
        until = time.monotonic() + 60
        while statuses["/readyz"] != {503, 200} and time.monotonic() < until:
            try:
                client = Client("127.0.0.1", port)
                for path, seen in statuses.items():
                    answer = client.request("GET", path)
                    seen.add(answer.status)
                    if answer.status == 503:
                        self.assertEqual(answer.error["code"], "unavailable")
                        if path == "/readyz" and "of" in answer.json:
                            self.assertLessEqual(answer.json["open"], answer.json["of"])
                            self.assertEqual(answer.json["of"], 4)
                        self.assertIn("retry-after", answer.headers)
                client.close()
            except ConnectionRefusedError:
                pass
        server.wait_ready()
        self.assertEqual(statuses["/healthz"], {200})
        self.assertEqual(statuses["/readyz"], {503, 200})
        self.assertIn(503, statuses["/users/1"])
        self.assertEqual(server.get("/admin/stats").json["replayed_plays"], 500_000)
        answer = server.post("/filter", {"user": 7, "items": [7, 50_007, 8]})
        self.assertEqual(answer.json["unseen"], [8])

    def test_shards_that_are_open_answer_while_another_is_opened(self):
        server = self.serve()
        users = list(range(40))
        for user in users:
            server.post("/plays", {"events": [{"user": user, "item": "before"}]})
        self.assertEqual(server.terminate(), 0)
        # The opening of a shard reads this file: it waits for whoever writes into the pipe.
        synced = os.path.join(server.db, "shard-0002", "SYNCED")
        with open(synced, "rb") as file:
            content = file.read()
        os.unlink(synced)
        os.mkfifo(synced)
        port = free_port()
        server.start(wait=False, port=port)

        def opened():
            client = Client("127.0.0.1", port)
            try:
                said = client.request("GET", "/readyz")
            except ConnectionRefusedError:
                return False
            finally:
                client.close()
            self.assertEqual((said.status, said.error["code"]), (503, "unavailable"))
            return (said.json.get("open"), said.json.get("of")) == (3, 4)

        self.assertTrue(eventually(opened, timeout=60))
        client = Client("127.0.0.1", port)
        self.addCleanup(client.close)
        refused = set()
        for user in users:
            answer = client.request("POST", "/filter", {"user": user, "items": ["before", "new"]})
            play = client.request("POST", "/plays", {"events": [{"user": user, "item": "amid"}]})
            if answer.status == 503:
                refused.add(user)
                for each in (answer, play):
                    self.assertEqual((each.status, each.error["code"]), (503, "unavailable"))
                    self.assertIn("shard 2 is being opened", each.error["message"])
                    self.assertGreater(int(each.headers["retry-after"]), 0)
            else:
                self.assertEqual(answer.json["unseen"], ["new"])
                self.assertEqual(play.json["accepted"], 1)
        self.assertTrue(0 < len(refused) < len(users), refused)
        self.assertEqual(client.request("GET", "/collections").status, 503)
        client.close()
        with open(synced, "wb") as pipe:
            os.unlink(synced)
            pipe.write(content)
        server.wait_ready()
        server.kill()
        server.start()
        for user in users:
            answer = server.post("/filter", {"user": user, "items": ["before", "amid"]})
            self.assertEqual(answer.json["unseen"], ["amid"] if user in refused else [])

    def test_sigterm_finishes_the_request_in_flight(self):
        server = self.serve()
        peer = server.socket()
        peer.sendall(b"POST /plays HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
                     b"Content-Type: application/x-ndjson\r\n\r\n"
                     b"19\r\n{\"user\":\"u\",\"item\":\"one\"}\r\n")
        idle = server.client()
        self.assertEqual(idle.request("GET", "/readyz").status, 200)
        eventually(lambda: b"in_flight 2" in idle.request("GET", "/metrics").body)
        server.process.send_signal(signal.SIGTERM)
        eventually(lambda: idle.request("GET", "/readyz").status == 503)
        fresh = Client(server.host, server.port)
        self.assertEqual(fresh.request("GET", "/healthz").status, 200)
        answer = fresh.request("POST", "/filter", {"user": "u", "items": [1]})
        self.assertEqual((answer.status, answer.headers["connection"]), (503, "close"))
        self.assertIsNone(server.process.poll())
        peer.sendall(b"1a\r\n\n{\"user\":\"u\",\"item\":\"two\"}\r\n0\r\n\r\n")
        received = b""
        while piece := peer.recv(4096):
            received += piece
        self.assertIn(b'{"accepted":2,"refused":0,', received)
        self.assertIn(b"Connection: close\r\n", received)
        for open_connection in (peer, idle, fresh):
            open_connection.close()
        self.assertEqual(server.wait_exit(), 0)
        server.start()
        answer = server.post("/filter", {"user": "u", "items": ["one", "two", "three"]})
        self.assertEqual(answer.json["unseen"], ["three"])

    def test_sigterm_with_a_delay_says_so_before_it_refuses(self):
        server = self.serve(config={"limits": {"shutdown_delay_ms": 30_000}})
        client = server.client()
        self.assertEqual(client.request("GET", "/readyz").status, 200)
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        eventually(lambda: client.request("GET", "/readyz").status == 503)
        answer = client.request("POST", "/plays", {"events": [{"user": "u", "item": "late"}]})
        self.assertEqual((answer.status, answer.json["accepted"]), (200, 1))
        time.sleep(max(0.0, 1 - (time.monotonic() - began)))
        self.assertIsNone(server.process.poll())
        client.close()
        self.assertEqual(server.terminate(), 0)  # it is told a second time, and waits no longer
        self.assertIn('"event":"leaving"', server.log_text().replace(" ", ""))
        server.start()
        answer = server.post("/filter", {"user": "u", "items": ["late", "none"]})
        self.assertEqual(answer.json["unseen"], ["none"])

    def test_a_delay_ends_by_itself(self):
        server = self.serve(config={"limits": {"shutdown_delay_ms": 1_000}})
        began = time.monotonic()
        self.assertEqual(server.terminate(), 0)
        self.assertGreater(time.monotonic() - began, 0.9)

    def test_a_second_signal_cuts_the_delay_short(self):
        server = self.serve(config={"limits": {"shutdown_delay_ms": 600_000}})
        server.process.send_signal(signal.SIGTERM)
        eventually(lambda: server.get("/readyz").status == 503)
        self.assertEqual(server.terminate(), 0)

    def test_sigterm_does_not_wait_for_ever(self):
        server = self.serve(config={"limits": {"shutdown_ms": 300}})
        peer = server.socket()
        peer.sendall(b"POST /filter HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n{")
        eventually(lambda: b"in_flight 2" in server.get("/metrics").body)
        began = time.monotonic()
        self.assertEqual(server.terminate(), 0)
        self.assertLess(time.monotonic() - began, 20)
        self.assertIn("requests_cut_off", server.log_text())
        peer.close()

    def test_sigterm_under_load_loses_nothing_acknowledged(self):
        server = self.serve(args=["--threads", "2"])
        acknowledged = []

        def write(worker):
            client = server.client()
            self.addCleanup(client.close)
            for i in range(100_000):
                item = "%d-%d" % (worker, i)
                try:
                    answer = client.request("POST", "/plays",
                                            {"events": [{"user": worker, "item": item}]})
                except (OSError, EOFError):
                    return
                if answer.status != 200:
                    return
                acknowledged.append((worker, item))

        threads = [threading.Thread(target=write, args=(w,)) for w in range(4)]
        for thread in threads:
            thread.start()
        eventually(lambda: len(acknowledged) > 400)
        self.assertEqual(server.terminate(), 0)
        for thread in threads:
            thread.join()
        server.start()
        for worker in range(4):
            items = [item for who, item in acknowledged if who == worker]
            answer = server.post("/filter", {"user": worker, "items": items})
            self.assertEqual(answer.json["unseen"], [])

    def test_sigint_and_signals_while_opening(self):
        server = self.serve()
        server.process.send_signal(signal.SIGINT)
        self.assertEqual(server.wait_exit(), 0)
        server.start(wait=False)
        eventually(lambda: server.log_text().count('"opening"') == 2)
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait_exit(), 0)

    def test_one_database_one_process(self):
        server = self.serve()
        code, out, log = self.run_to_end("--db", server.db, "--listen", "127.0.0.1:0")
        self.assertEqual((code, out), (5, ""), log)
        event = json.loads(log.splitlines()[-2])
        self.assertEqual((event["event"], event["code"]), ("open_failed", "busy"))
        self.assertEqual(server.post("/filter", {"user": "u", "items": [1]}).status, 200)

    def test_another_shard_count_is_refused(self):
        server = self.serve(args=["--shards", "3"])
        server.terminate()
        code, out, log = self.run_to_end("--db", server.db, "--listen", "127.0.0.1:0",
                                         "--shards", "4")
        self.assertEqual((code, out), (3, ""), log)
        self.assertIn("shards", log)
        server.args = []
        server.start()
        self.assertEqual(server.get("/admin/stats").json["shards"], 3)

    def test_usage_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "c.json")
            with open(config, "w", encoding="utf-8") as file:
                file.write('{"engine":{"shard":3}}')
            for args in [[], ["--db"], ["--nonsense"], ["--db", folder, "--clock", "soon"],
                         ["--db", folder, "--listen", "nowhere"],
                         ["--db", folder, "--config", config],
                         ["--db", folder, "--config", config + "x"]]:
                code, out, log = self.run_to_end(*args)
                self.assertEqual((code, out), (2, ""), (args, log))
                self.assertTrue(log)
            self.assertIn("/engine/shard", self.run_to_end("--db", folder, "--config", config)[2])
        self.assertEqual(self.run_to_end("--help")[0], 0)
        self.assertRegex(self.run_to_end("--version")[1], r"^seendb-server \d+\.\d+\.\d+ \(([0-9a-f]{12}|unknown)\)\n$")

    def test_check_config_opens_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            db = os.path.join(folder, "db")

            def check(settings):
                path = os.path.join(folder, "c.json")
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(settings, file)
                return self.run_to_end("--db", db, "--config", path, "--check-config")

            kafka = {"brokers": "nobody.invalid:9092", "topics": [{"topic": "plays"}]}
            code, out, log = check({"listen": "127.0.0.1:1", "kafka": kafka})
            self.assertEqual((code, out, log), (0, "the settings are in order\n", ""))
            code, out, log = check({"kafka": dict(kafka, properties={"no.such": "1"})})
            self.assertEqual((code, out), (2, ""))
            self.assertIn("no.such", log)
            self.assertIn("/engine/shard", check({"engine": {"shard": 3}})[2])
            code, out, log = check({"checkpoints": os.path.join(db, "copies")})
            self.assertEqual((code, out), (2, ""))
            self.assertIn("lies inside the database (at /checkpoints)", log)
            tokens = os.path.join(folder, "tokens.json")
            code, out, log = check({"tokens_file": tokens})
            self.assertEqual((code, out), (2, ""))
            self.assertIn("can't read %s" % tokens, log)
            self.assertIn("(at /tokens_file)", log)
            with open(tokens, "w", encoding="utf-8") as file:
                file.write('{"tokens": 3}')
            os.chmod(tokens, 0o600)
            self.assertIn(tokens, check({"tokens_file": tokens})[2])
            absent = os.path.join(folder, "absent.pem")
            code, out, log = check({"tls": {"certificate": absent, "key": absent}})
            self.assertEqual((code, out), (2, ""))
            self.assertIn("(at /tls/", log)
            authority = Authority(folder)
            certificate, key = authority.make("server")
            ended, ended_key = authority.make("ended", days=-1)
            for pair, why in (((absent, key), "can't read %s: No such file" % absent),
                              ((certificate, ended_key), "is not the key of %s" % certificate),
                              ((key, key), "a PEM file is asked for"),
                              ((ended, ended_key), "%s has ended (at /tls/certificate)" % ended)):
                code, out, log = check({"tls": {"certificate": pair[0], "key": pair[1]}})
                self.assertEqual((code, out), (2, ""), pair)
                self.assertIn(why, log)
            self.assertEqual(check({"tls": {"certificate": certificate, "key": key}})[0], 0)
            for listen, admin, fits in (("127.0.0.1:7000", "127.0.0.1:7000", False),
                                        ("0.0.0.0:7000", "127.0.0.1:7000", False),
                                        ("127.0.0.2:7000", "127.0.0.1:7000", True),
                                        ("127.0.0.1:0", "127.0.0.1:0", True)):
                code, out, log = check({"listen": listen, "admin_listen": admin})
                self.assertEqual(code, 0 if fits else 2, log)
                self.assertEqual("is taken by listen, %s (at /admin_listen)" % listen in log,
                                 not fits)
            self.assertFalse(os.path.exists(db))
            with open(db, "w", encoding="utf-8"):
                pass
            self.assertIn("%s is no folder (at /db)" % db, check({})[2])

    def test_check_config_looks_at_every_file_that_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "c.json")
            none, text = os.path.join(folder, "no", "file"), os.path.join(folder, "text")
            secret = os.path.join(folder, "secret")
            for name, content in ((text, "x"), (secret, "0123456789abcdef\n")):
                with open(name, "w", encoding="utf-8") as file:
                    file.write(content)
                os.chmod(name, 0o600)

            def check(settings):
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(settings, file)
                return self.run_to_end("--db", os.path.join(folder, "db"), "--config", path,
                                       "--check-config")

            kafka = {"brokers": "nobody.invalid:9092", "topics": [{"topic": "plays"}]}
            tls = {"properties": {"security.protocol": "ssl", "ssl.ca.location": none}}
            cluster = {"brokers": "nobody.invalid:9092", "name": "x", "secret_file": secret,
                       "advertise": "http://127.0.0.1:1"}
            moving = {"redis": "rediss://nobody.invalid", "key": "w:{user}"}
            for settings, field in (
                    ({"checkpoints": text}, "/checkpoints"),
                    ({"checkpoints": text + "/below"}, "/checkpoints"),
                    ({"unix_listen": none}, "/unix_listen"),
                    ({"unix_listen": text}, "/unix_listen"),
                    ({"kafka": dict(kafka, dead_letter_file=none)}, "/kafka/dead_letter_file"),
                    ({"kafka": dict(kafka, dead_letter_file=folder)}, "/kafka/dead_letter_file"),
                    ({"kafka": dict(kafka, **tls)}, "/kafka/properties"),
                    ({"cluster": dict(cluster, secret_file=none)}, "/cluster/secret_file"),
                    ({"cluster": dict(cluster, secret_file=folder)}, "/cluster/secret_file"),
                    ({"cluster": dict(cluster, secret_file=text)}, "/cluster/secret_file"),
                    ({"cluster": dict(cluster, ca=none)}, "/cluster/ca"),
                    ({"cluster": dict(cluster, ca=text)}, "/cluster/ca"),
                    ({"migration": {"default": dict(moving, redis_ca=none)}},
                     "/migration/default/redis_ca"),
                    ({"migration": {"default": dict(moving, redis_password_file=none)}},
                     "/migration/default/redis_password_file")):
                code, out, log = check(settings)
                self.assertEqual((code, out), (2, ""), (settings, log))
                self.assertIn(field, log, settings)
            for settings in ({"kafka": dict(kafka, dead_letter_file=os.path.join(folder, "new"))},
                             {"unix_listen": os.path.join(folder, "new")},
                             {"checkpoints": os.path.join(folder, "new", "copies")},
                             {"cluster": cluster}):
                self.assertEqual(check(settings)[0], 0, (settings, check(settings)))
            self.assertEqual(sorted(os.listdir(folder)), ["c.json", "secret", "text"])

    def test_a_taken_port_or_an_impossible_folder(self):
        with socket.socket() as taken, tempfile.NamedTemporaryFile() as file:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            code, out, log = self.run_to_end("--db", file.name + ".d", "--listen", address)
            self.assertEqual((code, out), (1, ""), log)
            self.assertIn(address, log)
            code, out, log = self.run_to_end("--db", file.name, "--listen", "127.0.0.1:0")
            self.assertEqual((code, out), (1, ""), log)
            self.assertIn("open_failed", log)

    def test_the_config_is_obeyed_and_flags_win(self):
        server = self.serve(config={"listen": "127.0.0.1:1", "threads": 1,
                                    "limits": {"candidates": 3, "body_bytes": 2_000},
                                    "engine": {"shards": 2, "ring_slots": 3}})
        self.assertEqual(server.get("/admin/stats").json["shards"], 2)
        self.assertEqual(len(server.get("/admin/ring").json["slots"]), 6)
        body = {"user": "u", "items": [1, 2, 3]}
        self.assertEqual(server.post("/filter", body).status, 200)
        body["items"].append(4)
        self.assertEqual(server.post("/filter", body).error["field"], "/items")
        self.assertEqual(server.post("/filter", b" " * 2_001).status, 413)

    def test_manual_time_moves_no_timeout_and_survives_a_restart(self):
        server = self.serve(clock_ms=1_700_000_000_000)
        server.post("/plays", {"events": [{"user": "u", "item": 1}]})
        server.move_clock(1_700_000_000_000 + 40 * 86_400_000)
        server.restart()
        answer = server.post("/filter", {"user": "u", "items": [1], "explain": True})
        self.assertEqual(answer.json["reasons"], {"1": "play:2023-11"})


class PlainServerTest(unittest.TestCase):
    def test_a_sync_collection_acknowledges_from_the_workers(self):
        with Server() as server:
            server.put("/collections/s", {"durability": "sync"})
            threads = []
            for worker in range(8):
                def write(worker=worker):
                    for i in range(50):
                        answer = server.post("/plays", {"events": [{"user": worker, "item": i}],
                                                        "collection": "s"})
                        self.assertEqual(answer.json["accepted"], 1)
                threads.append(threading.Thread(target=write))
                threads[-1].start()
            for thread in threads:
                thread.join()
            answer = server.ndjson("/plays?collection=s", [{"user": 3, "item": "nd"}])
            self.assertEqual(answer.json["accepted"], 1)
            ask = {"user": 3, "items": [1, "x", "y"], "collection": "s", "record": True, "limit": 1}
            self.assertEqual(server.post("/filter", ask).json["unseen"], ["x"])
            self.assertEqual(server.ndjson("/filter", [ask]).lines[0]["unseen"], ["y"])
            server.kill()
            server.start()
            for worker in range(8):
                answer = server.post("/filter", {"user": worker, "items": list(range(50)),
                                                 "collection": "s"})
                self.assertEqual(answer.json["unseen"], [])


if __name__ == "__main__":
    unittest.main()
