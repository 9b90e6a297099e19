"""What a crash leaves behind, and what other processes of the server's user may look at.

The server runs as a user who is not root, where the test is root: root may look at everything."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from process_memory import status_bytes
from seendb_client import Client, server_binary

NOBODY = 65_534
AS_SERVER = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
UID = NOBODY if AS_SERVER else os.geteuid()


def dumps_allowed():
    """In the process that is about to be started."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def dumped(process):
    """How it ended: whether the kernel wrote a core dump, or handed one to the machine's handler."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT).si_code == os.CLD_DUMPED


class CoreDumpsTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="seendb-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        if AS_SERVER:
            os.chown(self.folder, NOBODY, NOBODY)

    def serve(self, settings):
        path = os.path.join(self.folder, "settings.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"db": os.path.join(self.folder, "db"), "listen": "127.0.0.1:0", **settings}, file)
        binary = server_binary()
        if AS_SERVER:  # it may lie where that user does not get
            binary = shutil.copy(binary, self.folder)
        process = subprocess.Popen([binary, "--config", path], stdin=subprocess.DEVNULL, cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   preexec_fn=dumps_allowed, **AS_SERVER)
        self.addCleanup(self.end, process)
        line = process.stdout.readline().decode().strip()
        self.assertTrue(line.startswith("listening on http://"), line)
        self.port = int(line.rpartition(":")[2])
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.wait()
        process.stdout.close()

    def reads(self, process, name):
        """Whether another process of the server's user reads this file of /proc/PID."""
        done = subprocess.run(["cat", "/proc/%d/%s" % (process.pid, name)], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False, **AS_SERVER)
        return done.returncode == 0

    def crash(self, process):
        os.kill(process.pid, signal.SIGABRT)
        return dumped(process)

    def machine_dumps(self):
        """Whether the crash of another program, with these limits and in this folder, leaves a dump."""
        process = subprocess.Popen(["sleep", "60"], cwd=self.folder, preexec_fn=dumps_allowed, **AS_SERVER)
        os.kill(process.pid, signal.SIGABRT)
        wrote = dumped(process)
        process.wait()
        for name in os.listdir(self.folder):
            if name.startswith("core"):
                os.remove(os.path.join(self.folder, name))
        return wrote

    def test_by_default_nothing_is_dumped_and_nobody_looks(self):
        process = self.serve({})
        self.assertEqual(os.stat("/proc/%d/environ" % process.pid).st_uid, 0)
        for name in ("environ", "maps", "smaps", "auxv"):
            self.assertFalse(self.reads(process, name), name)
        self.assertFalse(self.crash(process))
        self.assertFalse([name for name in os.listdir(self.folder) if name.startswith("core")])

    def test_what_monitoring_reads_can_still_be_read(self):
        process = self.serve({})
        for name in ("status", "stat", "statm", "limits", "cmdline"):
            self.assertTrue(self.reads(process, name), name)
        client = Client("127.0.0.1", self.port)
        self.addCleanup(client.close)
        metrics = dict(line.rsplit(" ", 1) for line in client.request("GET", "/metrics").body.decode().splitlines()
                       if not line.startswith("#"))
        self.assertGreater(float(metrics["process_open_fds"]), 10)
        self.assertGreater(float(metrics["process_resident_memory_bytes"]), 1e6)

    def test_a_setting_allows_both(self):
        process = self.serve({"core_dumps": True})
        self.assertEqual(os.stat("/proc/%d/environ" % process.pid).st_uid, UID)
        self.assertTrue(self.reads(process, "maps"))
        if not self.machine_dumps():
            self.skipTest("this machine writes no core dumps")
        if status_bytes(process.pid, "VmSize") > 1 << 40:
            self.skipTest("sanitizers forbid dumps themselves")
        self.assertTrue(self.crash(process))


if __name__ == "__main__":
    unittest.main()
