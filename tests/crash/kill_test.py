"""The server killed again and again in the middle of everything it does.

Plays, impressions, filters, erasures, drains, seals, drops, compactions, checkpoints and a clock
that crosses months run at once on a ring of few short slots. Then kill -9; or kill -9, and again while it opens; or SIGTERM,
which must exit with 0. After each reopening what was acknowledged must hold: every play and
impression within the window is filtered, the erased stay erased, collections are there, nothing
is damaged; and a checkpoint opens, with all that was acknowledged before it. Against a killed process all durabilities promise the same, so each has a collection.

    SEENDB_KILLS=1000 SEENDB_SEED=7 SEENDB_SERVER=... python3 tests/crash/kill_test.py
"""

import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]

from kill_model import POLICIES, Acknowledged, MachineClock, ManualClock, Model  # noqa: E402
from kill_workers import crew  # noqa: E402
import play_logs  # noqa: E402
from seendb_client import Server, eventually  # noqa: E402

SEED = int(os.environ.get("SEENDB_SEED") or random.SystemRandom().randrange(1 << 31))
KILLS = int(os.environ.get("SEENDB_KILLS", "54"))
BEGIN_MS = play_logs.utc_ms(2026, 3, 30, 20)
ENDS = ["kill", "kill while opening", "kill", "SIGTERM"]
SMALL = {"shards": 2, "ring_slots": 3, "slot_ms": 600_000, "slot_bytes": 48 << 10,
         "short_term_bytes": 64 << 10, "block_cache_bytes": 8 << 20, "write_buffer_bytes": 2 << 20,
         "list_limit": 64, "sync_interval_ms": 50}
# The machine's clock: background threads turn the ring all the time, seal and drop at any hour.
BACKGROUND = dict(SMALL, slot_ms=150, maintenance="00:00-00:00")


class KillTest(unittest.TestCase):

    def setUp(self):
        self.chance = random.Random("%d/main" % SEED)
        self.opening_s, self.leaving_s, self.kills, self.moments = [], [], 0, 0
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.copies = os.path.join(folder.name, "copies")

    def test_manual_clock(self):
        self.model = Model(ManualClock(BEGIN_MS))
        self.run_rounds(KILLS * 2 // 3, Server(clock_ms=BEGIN_MS, config={
            "engine": SMALL, "checkpoints": self.copies}))

    def test_background_threads(self):
        self.model = Model(MachineClock())
        self.run_rounds(KILLS - KILLS * 2 // 3, Server(config={
            "engine": BACKGROUND, "checkpoints": self.copies}))

    def run_rounds(self, kills, server):
        """Rounds until the server was killed `kills` times."""
        rounds = 0
        begin_ms = self.model.clock.target
        with server as self.server:
            for name, fields in POLICIES.items():
                self.assertEqual(self.server.put("/collections/" + name, fields).status, 200)
            try:
                while self.kills < kills:
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

    def one_round(self, number, end):
        leaving, over = threading.Event(), threading.Event()
        workers = crew(self.model, self.server, (leaving, over), SEED, number)
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
        self.check("round %d, %s" % (number, end))
        if number % 4 == 3:
            self.check_copy("round %d" % number)

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

    # ---- After a reopening ----

    def check(self, when):
        self.assertEqual(self.model.failures, [], "%s, seed %d" % (when, SEED))
        self.check_health(when)
        now_ms = self.model.clock.target
        for acknowledged, facts in ((self.model.plays, "plays"),
                                    (self.model.impressions, "impressions")):
            self.check_filtered(acknowledged.in_window(now_ms), facts, when)
        self.check_erased(when)
        found = {row["name"]: row for row in self.server.get("/collections").json["collections"]}
        for name, fields in self.model.collections.items():
            self.assertIn(name, found, when)
            self.assertEqual({key: found[name][key] for key in fields}, fields, when)

    def check_copy(self, when):
        """The newest checkpoint, and one whose call was never answered, if its name is there."""
        copies = self.model.copies
        known = copies.made[-1:]
        unanswered = "copy-%d" % copies.number
        if os.path.exists(os.path.join(self.copies, unanswered)):
            known.append((unanswered, {}))
            copies.number += 1
        if not known:
            name, plays = "copy-%d" % copies.number, self.model.plays.snapshot()
            copies.number += 1
            answer = self.server.post("/admin/checkpoint", {"name": name})
            self.assertEqual(answer.status, 200, (when, answer))
            known = [(name, plays)]
        for name, plays in known:
            acknowledged = Acknowledged()
            acknowledged.users = plays
            with Server(db=os.path.join(self.copies, name), clock_ms=self.server.clock_ms,
                        config={"engine": SMALL}) as copy:
                expected = acknowledged.in_window(self.model.clock.target)
                for collection in POLICIES:
                    asked, missed = play_logs.count_misses(
                        copy, collection, ((user, items) for of, user, items in expected
                                           if of == collection), ',"facts":["plays"]')
                    self.assertEqual(missed[:10], [], "%s, seed %d: %s lacks %d of %d plays of %s" %
                                     (when, SEED, name, len(missed), asked, collection))
                    self.model.count("checked plays of checkpoints", asked)
                self.assertEqual(copy.get("/readyz").json["degraded"], False, (when, name))
                copy.local.client.close()
                self.assertEqual(copy.terminate(), 0, (when, name))
            self.model.count("checked checkpoints")
        for name, _ in copies.made + known:
            shutil.rmtree(os.path.join(self.copies, name), ignore_errors=True)
        copies.made = []

    def check_health(self, when):
        ready = self.server.get("/readyz")
        self.assertEqual((ready.status, ready.json["degraded"]), (200, False), (when, ready))
        stats = self.server.get("/admin/stats").json
        for counter in ("damaged", "drain_failures", "background_errors"):
            self.assertEqual(stats[counter], 0, (when, counter))
        self.assertEqual(stats["problems"], [], when)

    def check_filtered(self, expected, facts, when):
        for collection in POLICIES:
            asked, missed = play_logs.count_misses(
                self.server, collection,
                ((user, items) for of, user, items in expected if of == collection),
                ',"facts":["%s"]' % facts)
            self.assertEqual(missed[:10], [], "%s, seed %d: %d of %d %s of %s are not filtered" %
                             (when, SEED, len(missed), asked, facts, collection))
            self.model.count("checked " + facts, asked)

    def check_erased(self, when):
        now_ms = self.model.clock.target
        self.settle_doubts(now_ms, when)
        for collection in POLICIES:
            kept = [(one.user, one.kept_in_window(now_ms).get(collection))
                    for one in self.model.erasables]
            _, missed = play_logs.count_misses(self.server, collection, kept)
            self.assertEqual(missed[:10], [], "%s, seed %d: of users erased before" % (when, SEED))
            gone = [(one.user, one.gone_by_collection().get(collection))
                    for one in self.model.erasables]
            for user, items, answer in play_logs.ask(self.server, collection, gone):
                play_logs.check_answer(user, items, answer)
                self.assertEqual(answer["unseen"], items, "%s, seed %d: erased plays of %s came "
                                 "back in %s" % (when, SEED, user, collection))
        rows = [{"user": one.user, "item": "too-late", "at": one.refused_to_ms}
                for one in self.model.erasables if one.refused_to_ms is not None]
        # Replayed slots may fill the ring until background threads have drained one.
        answer = eventually(lambda: self.answered(
            self.server.ndjson("/plays?collection=sync", rows), "busy"))
        self.assertEqual((answer.json["accepted"], answer.json["refused"]), (0, len(rows)), when)

    def answered(self, answer, unless):
        """The answer, or None where it is an error of that code."""
        if answer.status == 503 and answer.error["code"] == unless:
            return None
        self.assertEqual(answer.status, 200, answer)
        return answer

    def settle_doubts(self, now_ms, when):
        """An erasure nobody answered happened as a whole, or not at all."""
        for one in [one for one in self.model.erasables if one.doubtful]:
            one.doubtful = False
            verdicts = set()
            for collection, items in one.kept_in_window(now_ms).items():
                for user, items, answer in play_logs.ask(self.server, collection,
                                                         [(one.user, items)]):
                    play_logs.check_answer(user, items, answer)
                    verdicts |= {item in answer["unseen"] for item in items}
            self.assertLessEqual(len(verdicts), 1, "%s, seed %d: %s is half erased" %
                                 (when, SEED, one.user))
            self.model.count("unanswered erasures that %s" %
                             ("happened" if True in verdicts else "did not happen"))
            if True in verdicts:
                one.erased(one.refused_to_ms)
            elif not verdicts:
                self.model.erasables.remove(one)  # nothing to tell by

    def report(self, rounds, passed_ms):
        counts = self.model.counts
        print("\n%d rounds, %d kills, %d of them while opening, %.1f days passed" %
              (rounds, self.kills, self.moments, passed_ms / play_logs.DAY_MS))
        print(", ".join("%s %d" % (what, counts[what]) for what in sorted(counts)))
        print("start to ready: median %.2f s, at most %.2f s; SIGTERM to exit: at most %.2f s" %
              (statistics.median(self.opening_s), max(self.opening_s),
               max(self.leaving_s, default=0)))
        for needed in ("plays", "impressions", "erasures", "drain", "checked plays",
                       "checked checkpoints"):
            self.assertGreater(counts.get(needed, 0), 0, "no " + needed)


if __name__ == "__main__":
    print("seed %d (SEENDB_SEED), %d kills (SEENDB_KILLS)" % (SEED, KILLS), flush=True)
    unittest.main(verbosity=2)
