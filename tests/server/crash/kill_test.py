"""The server killed again and again in the middle of everything it does.

Plays, impressions, filters, erasures, drains, seals, drops, compactions, checkpoints and a clock
that crosses months run at once on a ring of few short slots. Then kill -9; or kill -9, and again while it opens; or SIGTERM,
which must exit with 0. After each reopening what was acknowledged must hold: every play and
impression within the window is filtered, the erased stay erased, collections are there, nothing
is damaged; and a checkpoint opens, with all that was acknowledged before it. Against a killed process all durabilities promise the same, so each has a collection.

    SEENDB_KILLS=1000 SEENDB_SEED=7 SEENDB_SERVER=... python3 tests/server/crash/kill_test.py
"""

import os
import shutil
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "support")]

from kill_model import POLICIES, Acknowledged, MachineClock, ManualClock, Model  # noqa: E402
from kill_rounds import BEGIN_MS, SEED, SMALL, KillRounds  # noqa: E402
from kill_workers import crew  # noqa: E402
import play_logs  # noqa: E402
from sample import sampled  # noqa: E402
from seendb_client import Server, eventually  # noqa: E402

KILLS = int(os.environ.get("SEENDB_KILLS") or sampled(54, 27))
# The machine's clock: background threads turn the ring all the time, seal and drop at any hour.
BACKGROUND = dict(SMALL, slot_ms=150, maintenance="00:00-00:00")


class KillTest(KillRounds):

    def test_manual_clock(self):
        self.model = Model(ManualClock(BEGIN_MS))
        self.run_rounds(KILLS * 2 // 3, Server(clock_ms=BEGIN_MS, config={
            "engine": SMALL, "checkpoints": self.copies}))

    def test_background_threads(self):
        self.model = Model(MachineClock())
        self.run_rounds(KILLS - KILLS * 2 // 3, Server(config={
            "engine": BACKGROUND, "checkpoints": self.copies}))

    NEEDED = ("plays", "impressions", "erasures", "drain", "checked plays", "checked checkpoints")

    def prepare(self):
        for name, fields in POLICIES.items():
            self.assertEqual(self.server.put("/collections/" + name, fields).status, 200)

    def crew(self, ends, number):
        return crew(self.model, self.server, ends, SEED, number)

    # ---- After a reopening ----

    def check(self, when, number):
        self.assertEqual(self.model.failures, [], "%s, seed %d" % (when, SEED))
        self.check_health(when)
        now_ms = self.model.clock.soon
        for acknowledged, facts in ((self.model.plays, "plays"),
                                    (self.model.impressions, "impressions")):
            self.check_filtered(acknowledged.in_window(now_ms), facts, when)
        self.check_erased(when)
        found = {row["name"]: row for row in self.server.get("/collections").json["collections"]}
        for name, fields in self.model.collections.items():
            self.assertIn(name, found, when)
            self.assertEqual({key: found[name][key] for key in fields}, fields, when)
        if number % 4 == 3:
            self.check_copy("round %d" % number)

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
                expected = acknowledged.in_window(self.model.clock.soon)
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
        now_ms = self.model.clock.soon
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
            self.server.ndjson("/plays?collection=sync", rows), "busy"), timeout=120)
        self.assertEqual((answer.json["accepted"], answer.json["refused"]), (0, len(rows)), when)

    def answered(self, answer, unless):
        """The answer, or None where it is an error of that code."""
        if answer.status == 503 and answer.error["code"] == unless:
            return None
        self.assertIn(answer.status, (200, 422), answer)  # 422: every event is refused
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



if __name__ == "__main__":
    print("seed %d (SEENDB_SEED), %d kills (SEENDB_KILLS)" % (SEED, KILLS), flush=True)
    unittest.main(verbosity=2)
