"""The server under the rules of its unit of systemd (cmake/seendb.service.in), and the unit itself."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import unit_filter
from seendb_client import Client, server_binary, without_settings

with open(os.path.join(ROOT, "cmake", "seendb.service.in"), encoding="utf-8") as file:
    UNIT = file.read().replace("@CMAKE_INSTALL_FULL_BINDIR@/seendb-server", "/bin/true")
EXPOSURE_MOST = 2.0  # 1.5 with systemd 252, 1.4 with 257
WANTED = {"Type": "notify", "LimitCORE": "0", "NoNewPrivileges": "yes", "CapabilityBoundingSet": "", "ProtectSystem": "strict",
          "ProtectHome": "yes", "PrivateTmp": "yes", "PrivateDevices": "yes", "ProtectKernelTunables": "yes",
          "ProtectKernelModules": "yes", "ProtectKernelLogs": "yes", "MemoryDenyWriteExecute": "yes",
          "MemoryMax": "80%", "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX",
          "SystemCallArchitectures": "native", "SystemCallErrorNumber": "EPERM"}


def refused(code, call):
    """Whether a call fails in a process under the filter."""
    def confined():
        unit_filter.obey(code)
    program = "import ctypes, mmap, os, socket\ntry:\n  %s\nexcept OSError: raise SystemExit(9)" % call
    return subprocess.run([sys.executable, "-c", program], preexec_fn=confined, check=False).returncode == 9


class UnitTest(unittest.TestCase):

    def test_it_says_what_it_must(self):
        settings = unit_filter.settings_of(UNIT)
        for key, value in WANTED.items():
            self.assertEqual(settings.get(key), [value], key)
        self.assertEqual(settings["SystemCallFilter"], ["@system-service", "~@privileged"])

    @unittest.skipIf(shutil.which("systemd-analyze") is None, "no systemd-analyze")
    def test_systemd_takes_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "seendb.service")
            with open(path, "w", encoding="utf-8") as file:
                file.write(UNIT)
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True,
                                  check=False)
            ours = [line for line in (done.stdout + done.stderr).splitlines() if "seendb" in line]
            self.assertEqual((done.returncode, ours), (0, []))
            done = subprocess.run(["systemd-analyze", "security", "--offline=true", path], capture_output=True,
                                  text=True, check=False)
            level = re.search(r"Overall exposure level for seendb.service: ([\d.]+)", done.stdout)
            self.assertIsNotNone(level, done.stdout + done.stderr)
            self.assertLessEqual(float(level.group(1)), EXPOSURE_MOST)


@unittest.skipIf(shutil.which("systemd-analyze") is None, "no systemd-analyze")
class ConfinedTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.code = unit_filter.filter_of(UNIT)

    def test_the_filter_refuses_what_the_unit_does(self):
        for call in ("os.chroot('/')", "os.chown('/nowhere', 0, 0)", "socket.socket(socket.AF_NETLINK)",
                     "mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC)"):
            self.assertTrue(refused(self.code, call.replace("'/nowhere'", "'/tmp'")), call)
        for call in ("socket.socket(socket.AF_INET6)", "mmap.mmap(-1, 4096)", "os.listdir('/')"):
            self.assertFalse(refused(self.code, call), call)

    def test_the_server_works_under_it(self):
        with tempfile.TemporaryDirectory() as folder:
            inside = os.path.join(folder, "socket")
            settings = os.path.join(folder, "settings.json")
            with open(settings, "w", encoding="utf-8") as file:
                file.write('{"db": "%s/db", "checkpoints": "%s/checkpoints", "unix_listen": "%s"}' %
                           (folder, folder, inside))
            for _ in range(2):  # a new database, and one that is there
                self.live(settings, inside)

    def live(self, settings, inside):
        no_leaks = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # that takes ptrace()
        process = subprocess.Popen([server_binary(), "--config", settings, "--listen", "127.0.0.1:0"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=dict(without_settings(os.environ), ASAN_OPTIONS=no_leaks),
                                   preexec_fn=lambda: unit_filter.obey(self.code))
        try:
            line = process.stdout.readline().decode().strip()
            self.assertTrue(line.startswith("listening on http://"), line)
            client = Client("127.0.0.1", int(line.rpartition(":")[2]))
            with open("/proc/%d/status" % process.pid, encoding="ascii") as status:
                self.assertRegex(status.read(), r"(?s)NoNewPrivs:\t1.*Seccomp:\t2")
            self.assertEqual(client.request("POST", "/plays", {"events": [{"user": "u", "item": "a"}]}).status, 200)
            self.assertEqual(client.request("POST", "/admin/drain").status, 200)
            told = client.request("POST", "/filter", {"user": "u", "items": ["a", "b"]})
            self.assertEqual(told.json["unseen"], ["b"])
            name = "at-%d" % process.pid
            self.assertEqual(client.request("POST", "/admin/checkpoint", {"name": name}).status, 200)
            metrics = client.request("GET", "/metrics").body.decode()
            self.assertRegex(metrics, r"(?m)^process_open_fds [1-9]")
            self.assertRegex(metrics, r"(?m)^seendb_disk_free_bytes [1-9]")
            with socket.socket(socket.AF_UNIX) as local:
                local.connect(inside)
                local.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                self.assertIn(b" 200 ", local.recv(100))
            client.close()
            process.send_signal(signal.SIGTERM)
            log = process.communicate(timeout=60)[1].decode()
            self.assertEqual(process.returncode, 0, log)
            self.assertNotRegex(log, '"level":"(warn|error)"')
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    unittest.main()
