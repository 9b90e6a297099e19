"""Each alert of docker/config/alerts.yml fires when it should, by Debian's promtool, and not a little short of that; it
names a section of server/doc/runbooks.md, and each section is of an alert."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import prometheus  # noqa: E402

I = 'instance="a:1"'  # each case gets an instance of its own
TOPIC = I + ',topic="plays",partition="0"'
PLAYS = I + ',topic="plays"'
LATER_M = 100  # so many minutes after the beginning all is looked at; a series has a value each minute


def still(value):
    return "%sx%d" % (value, LATER_M)


def growing(by):
    return "0+%sx%d" % (by, LATER_M)


def since(minutes, before=0, then=1):
    """A series that changes so many minutes before it is looked at."""
    return "%sx%d %sx%d" % (before, LATER_M - minutes, then, minutes)


def once(minutes=2):
    """A counter that counted so many minutes before it is looked at."""
    return since(minutes)


def slower_than(family, labels, edge, share):
    """A histogram to which 1,000 are added a minute, `share` of them above the edge."""
    return {"%s_bucket{%s,le=\"%s\"}" % (family, labels, edge): growing(1000 * (1 - share)),
            "%s_bucket{%s,le=\"%s\"}" % (family, labels, 4 * edge): growing(1000),
            "%s_bucket{%s,le=\"+Inf\"}" % (family, labels): growing(1000)}


def of(family, more=""):
    return "%s{%s%s}" % (family, I, "," + more if more else "")


# Alert: (series by which it fires, series of a case that is just well).
CASES = {
    "Down": ({'up{job="seendb",%s}' % I: still(0)}, {'up{job="other",%s}' % I: still(0)}),
    "NotReady": ({of("seendb_ready"): still(0)}, {of("seendb_ready"): since(6)}),
    "Degraded": ({of("seendb_degraded"): still(1)}, {of("seendb_degraded"): still(0)}),
    "ClockInDoubt": ({of("seendb_clock_in_doubt"): still(1)}, {of("seendb_clock_in_doubt"): still(0)}),
    "CertificateEnds": ({of("seendb_tls_certificate_expiry_seconds"): still(60 * LATER_M + 13 * 86_400)},
                        {of("seendb_tls_certificate_expiry_seconds"): still(60 * LATER_M + 15 * 86_400)}),
    "TokenExpires": ({of("seendb_token_expiry_seconds", 'token="app"'): still(60 * LATER_M + 6 * 86_400)},
                     {of("seendb_token_expiry_seconds", 'token="app"'): still(1_000)}),  # it has expired: nobody uses it
    "DiskNearlyFull": ({of("seendb_disk_free_bytes"): still(9), of("seendb_disk_size_bytes"): still(100)},
                       {of("seendb_disk_free_bytes"): still(11), of("seendb_disk_size_bytes"): still(100)}),
    "AuditFails": ({of("seendb_audit_failures_total"): once()}, {of("seendb_audit_failures_total"): once(90)}),
    "CheckpointOld": ({of("seendb_last_checkpoint_seconds"): still(60 * LATER_M - 3 * 86_400)},
                      {of("seendb_last_checkpoint_seconds"): still(60 * LATER_M - 86_400)}),
    "BackupOld": ({of("seendb_last_backup_seconds"): still(60 * LATER_M - 3 * 86_400)},
                  {of("seendb_last_backup_seconds"): still(60 * LATER_M - 86_400)}),
    "BackupNever": ({of("seendb_ready"): still(1)},
                    {of("seendb_ready"): still(1), of("seendb_last_backup_seconds"): still(86_400)}),
    "Damage": ({of("seendb_damaged_total"): once()}, {of("seendb_damaged_total"): once(90)}),
    "Load": ({of("seendb_load_ratio", 'of="mean"'): still(0.9)}, {of("seendb_load_ratio", 'of="mean"'): still(0.8),
                                                                of("seendb_load_ratio", 'of="max"'): still(1)}),
    "RefusesForLoad": ({of("seendb_refused_total", 'priority="normal",reason="overloaded"'): growing(100)},
                       {of("seendb_refused_total", 'priority="normal",reason="rate"'): growing(100),
                        of("seendb_refused_total", 'priority="high",reason="overloaded"'): growing(50)}),
    "RefusesLowPriority": ({of("seendb_refused_total", 'priority="low",reason="overloaded"'): growing(100)},
                           {of("seendb_refused_total", 'priority="low",reason="rate"'): growing(100)}),
    "HeldUp": (slower_than("seendb_loop_gap_seconds", I, 0.25, 0.02),
               slower_than("seendb_loop_gap_seconds", I, 0.25, 0)),
    "PlaysRefusedBusy": ({of("seendb_busy_total"): growing(1)}, {of("seendb_busy_total"): once(30)}),
    "PlaysRefused": ({of("seendb_plays_refused_by_reason_total", 'collection="video",reason="seconds"'): growing(1)},
                     {of("seendb_plays_refused_by_reason_total", 'collection="video",reason="seconds"'): once(30)}),
    "DrainFails": ({of("seendb_drain_failures_total"): once()}, {of("seendb_drain_failures_total"): once(40)}),
    "BackgroundErrors": ({of("seendb_background_errors_total"): once()},
                         {of("seendb_background_errors_total"): once(20)}),
    "SealFails": ({of("seendb_seal_failures_total"): once()}, {of("seendb_seal_failures_total"): still(7)}),
    "FilterSlow": (slower_than("seendb_http_request_seconds", I + ',route="POST /filter"', 0.1, 0.02),
                   slower_than("seendb_http_request_seconds", I + ',route="POST /plays"', 0.1, 0.02)),
    "QueueWait": (slower_than("seendb_http_queue_wait_seconds", I + ',executor="engine"', 0.25, 0.02),
                  slower_than("seendb_http_queue_wait_seconds", I + ',executor="slow"', 0.25, 0.02)),
    "ServerFaults": ({of("seendb_http_refused_total", 'reason="internal"'): once()},
                     {of("seendb_http_refused_total", 'reason="invalid_argument"'): growing(9)}),
    "IngestRefused": ({"seendb_ingest_refused_total{%s,reason=\"seconds\"}" % PLAYS: growing(1)},
                      {"seendb_ingest_refused_total{%s,reason=\"seconds\"}" % PLAYS: once(30)}),
    "IngestLost": ({"seendb_ingest_alarm{%s,kind=\"gap\"}" % TOPIC: still(1)},
                   {"seendb_ingest_alarm{%s,kind=\"gap\"}" % TOPIC: still(0)}),
    "IngestHeld": ({"seendb_ingest_held{%s}" % TOPIC: still(1)}, {"seendb_ingest_held{%s}" % TOPIC: since(3)}),
    "CutOffFromTheLog": ({of("seendb_cluster_replicas_cut_off"): still(2)},
                         {of("seendb_cluster_replicas_cut_off"): still(0)}),
    "SetsBehind": ({of("seendb_sets_behind"): still(1)}, {of("seendb_sets_behind"): since(5)}),
    "Leaderless": ({of("seendb_cluster_leaderless_partitions"): still(2)},
                   {of("seendb_cluster_leaderless_partitions"): still(0)}),
    "ReplicasBehind": ({of("seendb_cluster_replicas", 'state="fetching"'): still(1)},
                       {of("seendb_cluster_replicas", 'state="serving"'): still(9),
                        of("seendb_cluster_replicas", 'state="fetching"'): since(10)}),
    "ReplicaLag": ({of("seendb_cluster_behind_seconds"): still(61)}, {of("seendb_cluster_behind_seconds"): still(59)}),
    "AppendFailures": ({of("seendb_cluster_append_failures_total"): growing(1)},
                       {of("seendb_cluster_append_failures_total"): once(10)}),
    "ClockApart": ({of("seendb_cluster_clock_offset_seconds", 'node="n2"'): still(-0.6)},
                   {of("seendb_cluster_clock_offset_seconds", 'node="n2"'): still(0.4)}),
    "LogMargin": ({of("seendb_log_margin_seconds"): still(40_000)}, {of("seendb_log_margin_seconds"): still(44_000)}),
    "IngestLag": ({"seendb_ingest_lag{%s}" % TOPIC: still(1_000_001)}, {"seendb_ingest_lag{%s}" % TOPIC: still(1_000_000)}),
    "DeadLetters": ({"seendb_ingest_dead_letters_total{%s}" % TOPIC: once()},
                    {"seendb_ingest_dead_letters_total{%s}" % TOPIC: still(7)}),
    "MigrationFailing": ({of("seendb_migration_failing", 'collection="video"'): still(1)},
                         {of("seendb_migration_failing", 'collection="video"'): since(3)}),
    "MigrationNotWritten": ({of("seendb_migration_affected_users", 'collection="video"'): still(3)},
                            {of("seendb_migration_affected_users", 'collection="video"'): still(0)}),
    "MigrationMissing": ({of("seendb_migration_shadow_missing_total", 'collection="video"'): once()},
                         {of("seendb_migration_shadow_missing_total", 'collection="video"'): still(7)}),
}
# These take days: a value each half an hour, and one test for each.
DAYS = ("BackupNever",)
# No label: the alert is of all servers together.
OF_ALL = ("Leaderless",)


def text_of(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def alerts():
    """The text of each alert, by its name without `SeenDB`."""
    parts = re.split(r"(?m)^      - alert: SeenDB(\w+)\n", text_of("docker", "config", "alerts.yml"))
    return dict(zip(parts[1::2], parts[2::2]))


class AlertsTest(unittest.TestCase):

    def test_each_says_how_urgent_it_is_and_names_its_runbook(self):
        sections = re.findall(r"(?m)^### (\w+)$", text_of("server", "doc", "runbooks.md"))
        self.assertEqual(sorted(sections), sorted("SeenDB" + name for name in alerts()))
        for name, text in alerts().items():
            self.assertRegex(text, r"(?m)^        labels: \{severity: (page|ticket)\}$", name)
            self.assertRegex(text, r"(?m)^          summary: \S", name)
            self.assertRegex(text, r"(?m)^          runbook_url: server/doc/runbooks.md#seendb%s$" % name.lower())

    def test_a_runbook_says_what_to_do(self):
        parts = re.split(r"(?m)^##+ (\w+)$", text_of("server", "doc", "runbooks.md"))
        for name, text in zip(parts[1::2], parts[2::2]):
            if name.startswith("SeenDB"):
                self.assertGreaterEqual(len([line for line in text.split("\n\n") if line.strip()]), 1, name)
                self.assertGreater(len(text), 120, name)
                for link in re.findall(r"\]\(#(\w+)\)", text):
                    self.assertIn(link, [one.lower() for one in parts[1::2]], name)

    def test_each_has_a_case(self):
        self.assertEqual(sorted(CASES), sorted(alerts()))

    def promtool(self, *arguments):
        done = subprocess.run(["promtool", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_promtool_takes_the_rules(self):
        self.promtool("check", "rules", prometheus.ALERTS)

    def test_each_fires_when_it_should_and_not_a_little_short_of_that(self):
        # In one test all cases that fire, in another all that are well; in either no other alert fires.
        short = [name for name in CASES if name not in DAYS]
        self.expect_firing(1, *[self.case_of(short, side) for side in (0, 1)])
        self.expect_firing(30, *[self.case_of([name], side) for name in DAYS for side in (0, 1)])

    def case_of(self, names, side):
        """A test of promtool: the series of these cases, and the alerts that fire by them."""
        series = []
        for name in names:
            self.assertLessEqual(self.named_by(alerts()[name]), self.labels_of(CASES[name][side]), name)
            series += [{"series": one.replace(I, 'instance="%s"' % name), "values": values}
                       for one, values in CASES[name][side].items()]
        firing = [{"labels": '{alertname="SeenDB%s"%s}' % (name, "" if name in OF_ALL else ',instance="%s"' % name), "value": 1}
                  for name in names if side == 0]
        return series, firing

    def expect_firing(self, every_m, *cases):
        tests = [{"interval": "%dm" % every_m, "input_series": series,
                  "promql_expr_test": [{"expr": 'count by (alertname, instance) (ALERTS{alertstate="firing"})',
                                        "eval_time": "%dm" % (every_m * LATER_M), "exp_samples": firing}]}
                 for series, firing in cases]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tests.yml")
            with open(path, "w", encoding="utf-8") as file:  # JSON is YAML
                json.dump({"rule_files": [prometheus.ALERTS], "evaluation_interval": "%dm" % every_m, "tests": tests}, file)
            self.promtool("test", "rules", path)

    @staticmethod
    def named_by(text):
        """Labels that the alert's texts name."""
        return set(re.findall(r"\$labels\.(\w+)", text))

    @staticmethod
    def labels_of(series):
        return {label for one in series for label in re.findall(r"(\w+)=", one)}


if __name__ == "__main__":
    prometheus.require()
    unittest.main()
