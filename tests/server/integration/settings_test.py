"""Settings by variables of the environment, --print-config, and what SIGHUP says that it read."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from seendb_client import Client, eventually, server_binary, without_settings


def events(log):
    return [json.loads(line) for line in log.splitlines()]


class SettingsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.log = os.path.join(self.folder, "log")

    def path(self, name, text=None, mode=0o600):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, mode)
        return path

    def environment(self, variables):
        return dict(without_settings(os.environ), **variables)

    def start(self, variables, *args):
        """A server of these variables, and where it listens."""
        with open(self.log, "ab") as log:
            process = subprocess.Popen([server_binary(), *args], stdout=subprocess.PIPE, stderr=log,
                                       env=self.environment(variables))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        line = process.stdout.readline().decode()
        self.assertTrue(line.startswith("listening on http://"), self.log_text())
        return process, line.split("//")[1].strip()

    def client(self, address):
        client = Client(address.split(":")[0], int(address.split(":")[1]))
        self.addCleanup(client.close)
        return client

    def log_text(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()

    def run_to_end(self, variables, *args):
        done = subprocess.run([server_binary(), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=60, check=False, env=self.environment(variables))
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_a_server_by_variables_alone(self):
        process, address = self.start({
            "SEENDB_DB": self.path("db"), "SEENDB_LISTEN": "127.0.0.1:0", "SEENDB_ENGINE_SHARDS": "3",
            "SEENDB_LIMITS_BODY_BYTES": "2048", "SEENDB_HOSTS": "a.example,b.example",
            "SEENDB_ENGINE_ITEM_HASH_KEY_FILE": self.path("key", "0f0102030405060708090a0b0c0d0eff\n"),
            "SEENDB_DEFAULT_POLICY": '{"window": 3}', "SEENDB_LISTN": "x",
            "SEENDB_URL": "http://127.0.0.1:1", "SEENDB_SERVICE_HOST": "10.0.0.1"})
        client = self.client(address)
        self.assertEqual(client.request("GET", "/admin/stats").json["shards"], 3)
        self.assertEqual(client.request("GET", "/collections/default").json["window"], 3)
        self.assertEqual(client.request("POST", "/plays", {"events": [{"user": "u", "item": "v" * 3000}]}).status,
                         413)
        self.assertEqual(client.request("GET", "/collections", headers={"Host": "b.example"}).status, 200)
        self.assertEqual(client.request("GET", "/collections", headers={"Host": "c.example"}).status, 403)
        told = [e["problem"] for e in events(self.log_text()) if e["event"] == "unknown_variable"]
        self.assertEqual(told, ["SEENDB_LISTN is no setting; did you mean SEENDB_LISTEN?"])
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 0)

    def test_flags_win_over_variables_and_those_over_the_file(self):
        config = self.path("s.json", '{"listen": "127.0.0.1:1", "threads": 1, "log_level": "warn"}')
        code, out, log = self.run_to_end(
            {"SEENDB_CONFIG": config, "SEENDB_LISTEN": "127.0.0.1:2", "SEENDB_THREADS": "2"},
            "--listen", "127.0.0.1:3", "--print-config")
        self.assertEqual((code, log), (0, ""))
        for line in ('"listen": "127.0.0.1:3", +// --listen', '"threads": 2, +// SEENDB_THREADS',
                     '"log_level": "warn", +// ' + config, '"compress_filter": false, +// default'):
            self.assertRegex(out, line)
        other = self.path("other.json", '{"threads": 7}')
        self.assertRegex(self.run_to_end({"SEENDB_CONFIG": config}, "--config", other, "--print-config")[1],
                         '"threads": 7, +// ' + other)
        self.assertEqual(os.listdir(self.folder).count("db"), 0)

    def test_what_is_printed_starts_a_server(self):
        variables = {"SEENDB_DB": self.path("db"), "SEENDB_LISTEN": "127.0.0.1:0",
                     "SEENDB_ENGINE_SHARDS": "2", "SEENDB_ENGINE_ITEM_HASH_KEY": "0f" * 16}
        code, out, log = self.run_to_end(variables, "--print-config")
        self.assertEqual((code, log), (0, ""))
        self.assertNotIn("0f0f", out)
        printed = self.path("printed.json", out)
        code, out, log = self.run_to_end({}, "--config", printed, "--check-config")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("/engine/item_hash_key: is what --print-config shows of a secret", log)
        process, address = self.start({"SEENDB_ENGINE_ITEM_HASH_KEY": "0f" * 16}, "--config", printed)
        client = self.client(address)
        self.assertEqual(client.request("GET", "/admin/stats").json["shards"], 2)
        self.assertIsNone(process.poll())

    def test_a_wrong_variable_is_named(self):
        for name, value, what in (("SEENDB_THREADS", "many", "must be an integer"),
                                  ("SEENDB_LIMITS", "{", "is no JSON"),
                                  ("SEENDB_DB_FILE", self.path("absent"), "can't read"),
                                  ("SEENDB_KAFKA", '{"properties":{"ssl.engine.location":"x"}}',
                                   "/kafka/properties/ssl.engine.location: is not taken")):
            code, out, log = self.run_to_end({name: value}, "--db", self.path("db"))
            self.assertEqual((code, out), (2, ""))
            self.assertTrue(log.startswith("seendb-server: %s: " % name), log)
            self.assertIn(what, log)
        code, out, log = self.run_to_end({"SEENDB_THREDS": "1"}, "--db", self.path("db"), "--check-config")
        self.assertEqual((code, out), (0, "the settings are in order\n"))
        self.assertEqual(log, "seendb-server: SEENDB_THREDS is no setting; did you mean SEENDB_THREADS?\n")

    def test_sighup_says_what_it_read(self):
        config = self.path("s.json", '{"limits": {"queue": 5}}')
        value = self.path("target", "11")
        process, _ = self.start({"SEENDB_ADMISSION_TARGET_MS_FILE": value, "SEENDB_LISTN": "x"},
                                "--db", self.path("db"), "--listen", "127.0.0.1:0", "--config", config)

        def hang_up(event):
            before = len(events(self.log_text()))
            process.send_signal(signal.SIGHUP)
            new = lambda: [e for e in events(self.log_text())[before:] if e["event"] == event]
            self.assertTrue(eventually(new), self.log_text())
            return new()[0], events(self.log_text())[before:]

        line, lines = hang_up("admission_settings")
        self.assertEqual(line["changed"], [])
        self.assertIn("unknown_variable", [e["event"] for e in lines])
        self.assertNotIn("settings_need_restart", [e["event"] for e in lines])
        self.path("target", "12")
        self.path("s.json", '{"limits": {"queue": 6}, "admission": {"degrade": {"up_ms": 7}}}')
        line, lines = hang_up("settings_need_restart")
        self.assertEqual(line["keys"], ["limits.queue"])
        taken = [e for e in lines if e["event"] == "admission_settings"]
        self.assertEqual(taken[0]["changed"], ["admission.target_ms", "admission.degrade.up_ms"])
        self.path("target", "soon")
        line, _ = hang_up("settings_refused")
        self.assertIn("SEENDB_ADMISSION_TARGET_MS_FILE", line["error"])
        self.assertIsNone(process.poll())

    def test_require_secure_by_a_variable(self):
        kafka = '{"brokers": "k.invalid:1", "topics": [{"topic": "t"}]}'
        variables = {"SEENDB_REQUIRE_SECURE": "true", "SEENDB_KAFKA": kafka}
        code, _, log = self.run_to_end(variables, "--db", self.path("db"), "--check-config")
        self.assertEqual(code, 2)
        self.assertIn("require_secure: /kafka/properties/security.protocol", log)
        variables["SEENDB_KAFKA_PROPERTIES"] = '{"security.protocol": "ssl"}'
        code, _, log = self.run_to_end(variables, "--db", self.path("db"), "--check-config")
        self.assertEqual((code, log), (0, ""))


if __name__ == "__main__":
    unittest.main()
