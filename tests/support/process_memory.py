"""The memory of a process, as Linux tells it."""

import os
import signal
import subprocess
import sys

# Runs what it is told and says the most memory that it held. A process of its own: a child begins with
# the peak of the one that made it, and this one is small.
MEASURING = """
import os, resource, subprocess, sys
code = subprocess.call(sys.argv[2:], pass_fds=())
os.write(int(sys.argv[1]), b"%d" % (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10))
sys.exit(code if code >= 0 else 256 + code)
"""


def status_bytes(pid, field):
    """A size of /proc/PID/status in bytes: VmRSS is resident, VmHWM the most that was."""
    with open("/proc/%d/status" % pid, encoding="ascii") as file:
        for line in file:
            if line.startswith(field + ":"):
                return int(line.split()[1]) << 10
    raise AssertionError("no " + field)


def run_measured(command, stdin=None, timeout=60):
    """Runs a command: (exit code, below 0 a signal; stdout; stderr; the most bytes that it held)."""
    peak_from, peak_to = os.pipe()
    with open(peak_from, "rb") as peak:
        with subprocess.Popen([sys.executable, "-I", "-S", "-c", MEASURING, str(peak_to), *command],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              pass_fds=(peak_to,), start_new_session=True) as process:
            os.close(peak_to)
            try:
                out, err = process.communicate(stdin or b"", timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        code = process.returncode
        return code if code < 128 else code - 256, out, err, int(peak.read() or 0)


class Memory:
    """The most memory that a process held since this was made."""

    def __init__(self, pid):
        self.pid = pid
        with open("/proc/%d/clear_refs" % pid, "w", encoding="ascii") as file:
            file.write("5")  # the peak begins anew
        self.before = status_bytes(pid, "VmRSS")

    def grown(self):
        return max(0, status_bytes(self.pid, "VmHWM") - self.before)

    def sanitized(self):
        """Sanitizers keep freed memory: their figures say nothing. They reserve terabytes."""
        return status_bytes(self.pid, "VmSize") > 1 << 40

    def check(self, test, limit):
        """Fails `test` where memory grew beyond `limit`; says by how much it did."""
        grown = self.grown()
        if not self.sanitized():
            test.assertLess(grown, limit)
        return "memory: %d MB more than before, at most %d MB allowed" % (grown >> 20, limit >> 20)
