"""A server killed again and again in the middle of its work: the rounds of every kill test.

A round: workers of all kinds go on until the server is gone, by kill -9; or by kill -9, and again
while it opens; or by SIGTERM, which must exit with 0. Then it is opened, and the test looks at it.
"""

import os
import random
import statistics
import subprocess
import tempfile
import threading
import time
import unittest

import play_logs
from fresh_seed import seed_of

SEED = seed_of("kill_rounds")
ENDS = ["kill", "kill while opening", "kill", "SIGTERM"]
BEGIN_MS = play_logs.utc_ms(2026, 3, 30, 20)
SMALL = {"shards": 2, "ring_slots": 3, "slot_ms": 600_000, "slot_bytes": 48 << 10,
         "short_term_bytes": 64 << 10, "block_cache_bytes": 8 << 20, "write_buffer_bytes": 2 << 20,
         "list_limit": 64, "sync_interval_ms": 50}


class KillRounds(unittest.TestCase):
    """A test sets `model` and says: `prepare()`, what is made in a fresh database; `crew(ends,
    number)`, the workers of a round; `check(when, number)`, what must hold after it; NEEDED, what
    its counts must have at the end."""

    def setUp(self):
        self.chance = random.Random("%d/main" % SEED)
        self.opening_s, self.leaving_s, self.kills, self.moments = [], [], 0, 0
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.copies = os.path.join(folder.name, "copies")

    def run_rounds(self, kills, server):
        """Rounds until the server was killed `kills` times and everything NEEDED came up: on a busy
        machine a round has few of the rare calls."""
        rounds = 0
        begin_ms = self.model.clock.target
        with server as self.server:
            self.prepare()
            try:
                while self.kills < kills or (self.lacking() and self.kills < 20 * kills):
                    self.one_round(rounds, ENDS[rounds % len(ENDS)])
                    rounds += 1
            except BaseException:
                print("seed %d, the log's end:\n%s" % (SEED, self.server.log_text()[-3000:]))
                raise
            self.server.local.client.close()
            self.assertEqual(self.server.terminate(), 0)
            verify = subprocess.run([play_logs.tool_binary(), "verify", "--db", self.server.db],
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            self.assertEqual(verify.returncode, 0, verify.stdout.decode())
        self.report(rounds, self.model.clock.target - begin_ms)

    def lacking(self):
        """What of NEEDED was not done yet."""
        return [needed for needed in self.NEEDED if not self.model.counts.get(needed)]

    def one_round(self, number, end):
        leaving, over = threading.Event(), threading.Event()
        workers = self.crew((leaving, over), number)
        for worker in workers:
            worker.start()
        time.sleep(self.chance.uniform(0.1, 0.8))
        self.assertIsNone(self.server.process.poll(), "the server died by itself")
        self.stop(end, leaving)
        over.set()
        for worker in workers:
            worker.join(90)
            self.assertFalse(worker.is_alive(), "%s hangs" % worker.name)
        clock = self.model.clock
        if clock.manual:
            self.server.clock_ms = clock.target
        if end == "kill while opening":
            self.kill_while_opening()
        begin = time.monotonic()
        self.server.start()
        self.opening_s.append(time.monotonic() - begin)
        if clock.manual:
            clock.done = clock.target
        self.check("round %d, %s" % (number, end), number)

    def stop(self, end, leaving):
        self.server.local.client.close()
        leaving.set()
        if end != "SIGTERM":
            self.kills += 1
            return self.server.kill()
        begin = time.monotonic()
        self.assertEqual(self.server.terminate(), 0)
        self.leaving_s.append(time.monotonic() - begin)

    def kill_while_opening(self):
        """Opens and kills one to three times, at any moment up to a little after the opening."""
        for _ in range(self.chance.randint(1, 3)):
            usual = statistics.median(self.opening_s) if self.opening_s else 0.3
            self.server.start(wait=False)
            time.sleep(self.chance.uniform(0, usual * 1.2))
            self.assertIsNone(self.server.process.poll(), "the server died while opening")
            self.server.kill()
            self.kills += 1
            self.moments += 1

    def check_health(self, when):
        ready = self.server.get("/readyz")
        self.assertEqual((ready.status, ready.json["degraded"]), (200, False), (when, ready))
        stats = self.server.get("/admin/stats").json
        for counter in ("damaged", "drain_failures", "background_errors"):
            self.assertEqual(stats[counter], 0, (when, counter))
        self.assertEqual(stats["problems"], [], when)

    def report(self, rounds, passed_ms):
        counts = self.model.counts
        print("\n%d rounds, %d kills, %d of them while opening, %.1f days passed" %
              (rounds, self.kills, self.moments, passed_ms / play_logs.DAY_MS))
        print(", ".join("%s %d" % (what, counts[what]) for what in sorted(counts)))
        print("start to ready: median %.2f s, at most %.2f s; SIGTERM to exit: at most %.2f s" %
              (statistics.median(self.opening_s), max(self.opening_s),
               max(self.leaving_s, default=0)))
        self.assertEqual(self.lacking(), [])
