#!/usr/bin/env python3
"""perf/compare must notice what got worse; the figures it reads must be what was measured."""

import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PERF = os.path.join(ROOT, "perf")
sys.path.insert(0, PERF)
sys.dont_write_bytecode = True

from driver import aims, results, table  # noqa: E402


def figure(median, peer="seendb", metric="latency_us", better="less", **case):
    return {"scenario": "filter", "case": case or {"candidates": 500}, "peer": peer,
            "metric": metric, "better": better, "median": median, "min": median, "max": median,
            "rounds": 1}


class CompareTest(unittest.TestCase):
    """Runs perf/compare as a program on two small runs."""

    def compare(self, old, new, old_mode="full", *arguments):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, figures, mode in (("old", old, old_mode), ("new", new, "full")):
                paths.append(os.path.join(folder, name + ".json"))
                results.save({"mode": mode, "machine": {}, "notes": [], "figures": figures},
                             paths[-1])
            done = subprocess.run([sys.executable, "-B", os.path.join(PERF, "compare"), *paths,
                                   *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, check=False)
            return done.returncode, done.stdout

    def test_the_same(self):
        code, out = self.compare([figure(50)], [figure(50)])
        self.assertEqual(code, 0)
        self.assertIn("nothing changed", out)

    def test_within_ten_percent(self):
        self.assertEqual(self.compare([figure(100)], [figure(109)])[0], 0)

    def test_slower(self):
        code, out = self.compare([figure(100)], [figure(112)])
        self.assertEqual(code, 1)
        self.assertIn("WORSE", out)
        self.assertIn("+12%", out)

    def test_faster_is_printed_and_no_failure(self):
        code, out = self.compare([figure(100)], [figure(80)])
        self.assertEqual(code, 0)
        self.assertIn("BETTER", out)

    def test_more_is_better(self):
        more = {"metric": "plays_per_s", "better": "more"}
        self.assertEqual(self.compare([figure(100, **more)], [figure(85, **more)])[0], 1)
        self.assertEqual(self.compare([figure(100, **more)], [figure(150, **more)])[0], 0)

    def test_a_peer_that_got_slower_is_printed_only(self):
        code, out = self.compare([figure(100, peer="redis-bytes"), figure(5)],
                                 [figure(200, peer="redis-bytes"), figure(5)])
        self.assertEqual(code, 0)
        self.assertIn("redis-bytes", out)

    def test_neither_better(self):
        none = {"metric": "fpr", "better": "none"}
        self.assertEqual(self.compare([figure(1, **none)], [figure(2, **none)])[0], 0)

    def test_a_figure_that_is_gone(self):
        code, out = self.compare([figure(5), figure(6, candidates=2000)], [figure(5)])
        self.assertEqual(code, 1)
        self.assertIn("GONE", out)
        self.assertIn("candidates=2000", out)

    def test_a_new_figure_is_no_matter(self):
        self.assertEqual(self.compare([figure(5)], [figure(5), figure(9, seen=1)])[0], 0)

    def test_from_zero(self):
        code, out = self.compare([figure(0)], [figure(3)])
        self.assertEqual(code, 1)
        self.assertIn("from 0", out)

    def test_worst_first(self):
        old = [figure(10, candidates=1), figure(10, candidates=2)]
        out = self.compare(old, [figure(12, candidates=1), figure(30, candidates=2)])[1]
        self.assertLess(out.index("candidates=2"), out.index("candidates=1"))

    def test_another_limit(self):
        self.assertEqual(self.compare([figure(100)], [figure(112)], "full", "--percent", "20")[0],
                         0)

    def test_quick_and_full_are_not_compared(self):
        self.assertEqual(self.compare([figure(100)], [figure(100)], "quick")[0], 2)

    def test_no_figures(self):
        self.assertEqual(self.compare([], [figure(1)])[0], 2)


class FiguresTest(unittest.TestCase):
    """From the programs' lines to figures and tables."""

    def collect(self, lines):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write("".join(json.dumps(line) + "\n" for line in lines))
            file.flush()
            return results.collect(file.name)

    def test_median_and_range(self):
        line = {"scenario": "s", "case": {"n": 1}, "peer": "p", "metric": "m_us", "better": "less"}
        figures, notes = self.collect([{**line, "value": value} for value in (9, 1, 5)])
        self.assertEqual(notes, [])
        self.assertEqual(len(figures), 1)
        self.assertEqual([figures[0][k] for k in ("median", "min", "max", "rounds")], [5, 1, 9, 3])

    def test_cases_stay_apart_and_notes_come_once(self):
        line = {"scenario": "s", "peer": "p", "metric": "m", "better": "more", "value": 2}
        note = {"scenario": "s", "note": "absent"}
        figures, notes = self.collect([{**line, "case": {"n": 1}}, note,
                                       {**line, "case": {"n": 2}}, note])
        self.assertEqual(len(figures), 2)
        self.assertEqual(notes, [{"scenario": "s", "text": "absent"}])

    def test_micro(self):
        rows = [{"run_name": "Probe/25", "run_type": "iteration", "cpu_time": 5000,
                 "time_unit": "ns", "item": 1e-9, "fpr": 0.002},
                {"run_name": "Parse", "run_type": "iteration", "cpu_time": 2, "time_unit": "us"},
                {"run_name": "Parse", "run_type": "aggregate", "cpu_time": 9, "time_unit": "us"},
                {"run_name": "Avx", "error_occurred": True, "cpu_time": 0, "time_unit": "ns"}]
        figures = results.micro_figures({"benchmarks": rows})
        values = {(f["case"]["benchmark"], f["metric"]): f["median"] for f in figures}
        self.assertEqual(values, {("Probe/25", "item_ns"): 1, ("Probe/25", "fpr"): 0.002,
                                  ("Parse", "call_ns"): 2000})

    def test_saved_runs_can_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            run = {"mode": "full", "notes": [{"scenario": "s", "text": "t"}],
                   "figures": [figure(1), figure(2, candidates=9)]}
            results.save(run, os.path.join(folder, "r.json"))
            self.assertEqual(results.load(os.path.join(folder, "r.json")), run)

    def test_table(self):
        machine = dict.fromkeys(("processor", "cores", "memory_gb", "system", "kernel", "compiler",
                                 "build", "redis", "commit", "load_before"), "x")
        run = {"mode": "full", "rounds": 1, "seconds": 1, "machine": machine, "notes": [],
               "figures": [figure(12345, candidates=5000), figure(7, peer="q", candidates=5000)]}
        text = table.text(run, {"filter": ["filter.svg"]})
        self.assertIn("| candidates | seendb | q |", text)
        self.assertIn("| 5,000 | 12,300 | 7 |", text)
        self.assertIn("filter.svg", text)


class AimsTest(unittest.TestCase):
    """What is aimed at is judged by what was measured."""

    def rows(self, *figures):
        return {work: (measured, met)
                for work, _, _, measured, met in aims.rows({"figures": list(figures)})}

    def sealed(self, median):
        return figure(median, peer="seendb-sealed", candidates=5000, seen_percent=20)

    def test_met_and_missed(self):
        work = "Filter, 5,000 candidates, every month sealed, us"
        self.assertEqual(self.rows(self.sealed(60))[work], (60, True))
        self.assertEqual(self.rows(self.sealed(61))[work], (61, False))
        self.assertEqual(self.rows()[work], (None, None))

    def test_ratio_to_the_faster_peer(self):
        http = [{**figure(median, peer=peer, metric="requests_per_s", better="more", form=form),
                 "scenario": "http"}
                for peer, form, median in (("seendb", "json", 4000), ("redis-zset-range", "r", 200),
                                           ("redis-zset-scores", "r", 1000))]
        self.assertEqual(self.rows(*http)["the same, times the faster ZSET peer"], (4, False))

    def test_growth_compares_the_smallest_with_the_largest(self):
        growth = [{**figure(us, metric="hot_p99_us", users=users), "scenario": "growth"}
                  for users, us in ((100, 80), (1000, 500), (10000, 96))]
        self.assertEqual(self.rows(*growth)["Filter p99, 10,000 users over 100"], (1.2, True))


class ProgramTest(unittest.TestCase):
    """perf/compare can be loaded without running it."""

    def test_worsening(self):
        loader = importlib.machinery.SourceFileLoader("compare", os.path.join(PERF, "compare"))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", loader))
        loader.exec_module(module)
        self.assertAlmostEqual(module.worsening("less", 10, 20), 2)
        self.assertAlmostEqual(module.worsening("more", 10, 20), 0.5)
        self.assertIsNone(module.worsening("none", 10, 20))


if __name__ == "__main__":
    unittest.main()
