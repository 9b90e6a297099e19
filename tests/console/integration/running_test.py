"""The console's pages Ingest, Cluster and Migration in a real browser, with answers that a test makes up: hostile names,
clusters of many partitions, alarms, all that a migration can lack. tests/console/kafka/ has the same pages of real nodes."""

import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import browser  # noqa: E402
from console_checks import HOSTILE, expect_axe_finds_nothing, expect_fits, expect_names, rows_of  # noqa: E402
from seendb_client import Server, eventually  # noqa: E402

# In place of the browser's own: answers by method and path, which the page may be given anew.
FETCH = """
const made = %s, real = window.fetch;
window.made = made;
window.asked = [];
window.fetch = (path, options) => {
  const key = options.method + " " + path;
  asked.push([key, options.body]);
  if (!(key in made)) return real(path, options);
  const [status, body] = made[key];
  return Promise.resolve(new Response(typeof body === "string" ? body : JSON.stringify(body), {status}));
};
"""
STATES = ("serving", "serving", "serving", "behind", "catching_up", "fetching", "unreachable")


def cluster(names, partitions, states=("serving",)):
    """An answer of GET /cluster: two replicas of each partition."""
    shards = []
    for number in range(partitions):
        replicas = []
        for at in (0, 1):
            state = states[(3 * number + at) % len(states)]
            one = {"node": names[(number + at) % len(names)], "state": state, "next_offset": 10 * number, "behind_ms": 4_000}
            if state == "fetching":
                one = {"node": one["node"], "state": state, "copy": {"bytes": 1 << 20, "total": 4 << 20, "bytes_per_s": 1 << 20}}
            replicas.append(one)
        shards.append({"partition": number, "replicas": replicas})
    nodes = [{"node": name, "url": "http://10.0.0.%d:7373" % number, "zone": name, "weight": 1.0, "state": "up", "build": "0.1.0",
              "log_version": 2} for number, name in enumerate(names)]
    return {"name": "feed", "partitions": partitions, "replicas": 2, "placement_offset": 3, "log_version": 2, "brokers": "b1:9092",
            "nodes": nodes, "shards": shards}


def migration(**changes):
    """A collection of an answer of GET /admin/migration, which may be finished."""
    return {"collection": "video", "phase": "running", "redis": "redis://cache:6379", "key": "watched:{user}",
            "until_migrated": "old_store", "dual_write": True, "problem": "", "imported_users": 7, "everybody_imported": True,
            "notes": "1f", "import_queue": 0, "queue_bytes": 0, "lookups": 9, "lookups_failed": 1, "imported": 7, "imports_failed": 0,
            "import_refused": 0, "written": 5, "not_written": 0, "shadow_checked": 100, "shadow_missing": 0, "shadow_extra": 1,
            "shadow_skipped": 0, "affected_count": 0, "affected_users": [], "missing_samples": [], "extra_samples": [], **changes}


def ingest_metrics(topics, partitions, alarm=None):
    """The part of /metrics about topics."""
    lines = ["seendb_ingest_errors_total 4"]
    for topic in topics:
        escaped = topic.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append('seendb_ingest_refused_total{topic="%s",reason="too_old"} 12' % escaped)
        for number in range(partitions):
            labels = '{topic="%s",partition="%d"}' % (escaped, number)
            lines += ["seendb_ingest_%s%s %d" % (name, labels, value) for name, value in (
                ("applied_offset", 1_000 + number), ("high_watermark", 1_000 + 2 * number), ("lag", number),
                ("messages_total", 1_000), ("dead_letters_total", 2), ("lost_total", 0), ("held", 1 if alarm else 0))]
            if alarm:
                lines.append('seendb_ingest_alarm{topic="%s",partition="%d",kind="%s"} 1' % (escaped, number, alarm))
    return "\n".join(lines) + "\n"


class RunningTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.window = browser.Browser()
        cls.addClassCleanup(cls.window.close)
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)
        cls.metrics = cls.server.get("/metrics").body.decode()

    def setUp(self):
        self.window.view(1280, 900)
        self.window.complaints()
        self.script = None

    def tearDown(self):
        self.forget()
        self.assertEqual(self.window.complaints(), [])
        self.assertEqual(self.window.js("return [window.hacked === undefined, "
                                        "document.querySelectorAll('img, script:not([src])').length]"), [True, 0])

    def forget(self):
        if self.script:
            self.window.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=self.script)
        self.script = None

    def show(self, fragment, made=None):
        """Opens a page; `made`: answers (status, body) by method and path."""
        self.forget()
        if made:
            source = FETCH % json.dumps(made)
            self.script = self.window.devtools("Page.addScriptToEvaluateOnNewDocument", source=source)["identifier"]
        self.window.open("about:blank")
        self.window.open(self.server.url + "/console" + fragment)

    def asked(self):
        return self.window.js("return asked")

    def with_cluster(self, names, partitions, metrics="", **more):
        return {"GET /cluster": (200, cluster(names, partitions, **more)), "GET /metrics": (200, self.metrics + metrics)}

    def with_topics(self, topics, partitions, report=(), **more):
        return {"GET /metrics": (200, self.metrics + ingest_metrics(topics, partitions, **more)),
                "GET /admin/ingest": (200, {"topics": list(report)})}

    def pages(self):
        """Each page as it is with much to say: (name, fragment, a text of it, answers)."""
        report = {"topic": HOSTILE[0], "collection": "video", "partitions": [
            {"partition": 1, "applied_offset": None, "high_watermark": None, "lag": None, "rate": 1.5, "dead_letters": 0,
             "misrouted": 0, "lost": 0, "alarms": ["beyond_end"], "held": "it ends before " + HOSTILE[4]}]}
        busy = migration(problem="can't reach " + HOSTILE[0], everybody_imported=False, import_queue=3, queue_bytes=99, not_written=9,
                         affected_count=len(HOSTILE), affected_users=HOSTILE, shadow_missing=len(HOSTILE),
                         missing_samples=[{"user": one, "item": one, "at": 1_795_820_993_000} for one in HOSTILE],
                         extra_samples=[{"user": "u", "item": one} for one in HOSTILE])
        return (
            ("ingest", "#/ingest", "Errors of brokers", self.with_topics(HOSTILE, 3, [report], alarm="beyond_end")),
            ("cluster", "#/cluster", "Who holds what", self.with_cluster(HOSTILE, 14, states=STATES)),
            ("migration", "#/migration", "Finish", {"GET /admin/migration": (200, {"collections": [
                busy, migration(collection="news", phase="finished", dropped={
                    "queue_bytes": 9, "affected_users": 2, "import_queue": 1, "not_everybody": True})]})}),
        )

    def test_a_server_by_itself_says_so(self):
        for page, text in (("ingest", "consumes no topic"), ("cluster", "is by itself"), ("migration", "Nothing moves in")):
            self.show("#/" + page)
            self.window.wait(text)
            self.assertFalse(self.window.js("return [...document.querySelectorAll('table')].some(t => t.offsetParent)"), page)
        self.window.complaints()  # the browser notes the 404 of /cluster

    def test_they_fit_every_window_and_axe_finds_nothing(self):
        for name, fragment, text, made in self.pages():
            self.window.view(1280, 900)
            self.show(fragment, made)
            self.window.wait(text)
            expect_names(self, self.window)
            expect_fits(self, self.window, name)
            self.window.view(1280, 900)
            expect_axe_finds_nothing(self, self.window)

    def test_hostile_names_are_text(self):
        for name, fragment, text, made in self.pages():
            self.show(fragment, made)
            self.window.wait(text)
            self.window.js("document.querySelectorAll('details').forEach(d => { d.open = true; })")
            shown = self.window.js("return [...document.querySelectorAll('bdi')].map(e => e.textContent)")
            for one in HOSTILE:
                self.assertIn(one, shown, name)
            self.assertEqual(self.window.js("return [...document.querySelectorAll('bdi')].filter(e => "
                                            "getComputedStyle(e).unicodeBidi !== 'isolate').length"), 0)

    def test_a_partition_of_a_topic_says_how_far_it_is(self):
        self.show("#/ingest", self.with_topics(["plays"], 3, [{"topic": "plays", "collection": "video", "partitions": []}]))
        self.window.wait("Still to be read")
        self.window.wait("being read")
        eventually(lambda: rows_of(self.window, "Topics")[0] == ["plays", "video", "3", "3", "partition 2", "0", "12 too_old", "6"])
        self.assertEqual([row[1:5] + row[6:] for row in rows_of(self.window, "Partitions")], [
            ["0", "1,000", "1,000", "0", "2", "0", "at the end"], ["1", "1,001", "1,002", "1", "2", "0", "being read"],
            ["2", "1,002", "1,004", "2", "2", "0", "being read"]])
        rates = self.metrics + ingest_metrics(["plays"], 3).replace("messages_total{topic=\"plays\",partition=\"1\"} 1000",
                                                                    "messages_total{topic=\"plays\",partition=\"1\"} 9000")
        self.window.js("made['GET /metrics'] = [200, arguments[0]]", rates)
        eventually(lambda: rows_of(self.window, "Topics")[0][5] not in ("0", "-"))

    def test_an_alarm_says_what_to_do(self):
        self.show("#/ingest", self.with_topics(["plays"], 20, alarm="beyond_end"))
        self.window.wait("beyond_end in plays, partitions 0, 1, 2, 3, 4, 5, 6, 7 and 12 more.")
        self.window.wait("seendb ingest --db DIR --forget TOPIC")
        self.assertEqual(self.window.js("return document.querySelectorAll('[role=alert]').length"), 1)
        first = self.window.js("return window.first = document.querySelector('[role=alert]')")
        self.assertIsNotNone(first)
        asked = len(self.asked())
        eventually(lambda: len(self.asked()) > asked + 1)
        self.assertTrue(self.window.js("return document.querySelector('[role=alert]') === window.first"))  # said once

    def test_who_holds_what_is_a_map(self):
        names = ["n%d" % number for number in range(20)]
        self.show("#/cluster", self.with_cluster(names, 1_024))
        self.window.wait("All nodes are up, and each partition has one that leads.")
        self.window.wait("All replicas serve, and none moves.")
        self.assertIn("20 of 20", self.window.text())
        self.assertIn("2,048 of 2,048", self.window.text())
        self.assertEqual(self.window.js("return [document.querySelectorAll('.maprow').length, document.querySelectorAll("
                                        "'.replica:not(.legend *)').length]")[0], 16)
        self.assertEqual(self.window.js("return document.querySelector('.replicas').getAttribute('aria-label')"),
                         "7 replicas, 7 of them serve, 4 are primaries")
        self.window.click('[aria-label="Pages of Partitions of the map"] button:last-child')
        self.window.wait("Columns: partitions 64 to 127.")
        self.window.click('[aria-label="Pages of Nodes"] button:last-child')
        self.assertEqual(self.window.js("return [...document.querySelectorAll('.maprow bdi')].map(e => e.textContent)"), names[16:])
        had = len(self.asked())
        eventually(lambda: len(self.asked()) > had + 2)
        self.assertIn("Columns: partitions 64 to 127.", self.window.text())  # it stays where it was looked at
        self.assertEqual(rows_of(self.window, "Nodes")[0][:6], ["n0", "up", "n0", "103", "103", "52"])

    def test_what_moves_or_does_not_serve_is_listed(self):
        made = self.with_cluster(["n1", "n2"], 7, "seendb_cluster_leaderless_partitions 2\nseendb_log_margin_seconds 3600\n",
                                 states=STATES)
        made["GET /cluster"][1]["nodes"][1]["state"] = "down"
        made["GET /cluster"][1]["shards"][0]["replicas"][0].update(leaving=True, cut_off=True)
        self.show("#/cluster", made)
        self.window.wait("1 node is not up: n2 (down).")
        self.window.wait("2 partitions have no node that leads")
        self.window.wait("for 60 min more")
        rows = {(row[0], row[1]): row[2:] for row in rows_of(self.window, "Replicas that move or do not serve")}
        self.assertEqual(rows[("0", "n1")], ["serving, primary, leaving: others take its place, no way to the log", "4 s", ""])
        copied = [row for row in rows.values() if row[0].startswith("fetching")]
        self.assertEqual({row[2] for row in copied}, {"1.0 MiB of 4.0 MiB (25%), 1.0 MiB/s, 3 s left"})
        self.assertEqual(len(rows), 1 + 8)

    def test_finish_is_guarded(self):
        lacks = (({"queue_bytes": 2_048}, "2.0 KiB of plays wait"), ({"affected_count": 1}, "lacks plays of 1 user"),
                 ({"import_queue": 2}, "2 users wait"), ({"everybody_imported": False}, "somebody may be missing"),
                 ({"shadow_missing": 1}, "1 item unseen here alone"), ({}, None))
        for lack, text in lacks:
            self.show("#/migration", {"GET /admin/migration": (200, {"collections": [migration(**lack)]})})
            self.window.wait("Finish for good")
            disabled = "return document.querySelector('button.danger').disabled"
            self.assertTrue(self.window.js(disabled))
            self.window.type("form.panel input", "vide")
            self.assertTrue(self.window.js(disabled), lack)
            self.window.type("form.panel input", "video" + browser.ENTER)
            if text:
                self.window.wait("Not yet: ")
                self.assertIn(text, self.window.text("form.panel"))
                self.assertTrue(self.window.js(disabled), lack)
                self.assertEqual([one for one in self.asked() if one[0].startswith("POST")], [])
            else:
                self.window.wait("HTTP 404")  # the server has no migration
                self.assertEqual([one for one in self.asked() if one[0].startswith("POST")],
                                 [["POST /admin/migration/finish", '{"collection":"video"}']])
        self.window.complaints()

    def test_what_was_lost_is_told(self):
        self.show(*self.pages()[2][1::2])
        self.window.wait("It is finished: the old store is neither asked nor written any more.")
        self.window.wait("When it was finished this was lost: 9 B of plays for the old store, plays of 2 users there, the past of 1 user")
        self.assertEqual(self.window.js("return [...document.querySelectorAll('form.panel')].filter(f => f.offsetParent).length"), 1)
        self.window.js("[...document.querySelectorAll('a')].find(a => a.textContent === arguments[0]).click()", HOSTILE[0])
        self.window.wait("What is known of a user?")
        self.assertEqual(self.window.js("return document.querySelector('form.panel input').value"), HOSTILE[0])

    def test_what_a_role_may_not_see_is_said(self):
        self.show("#/migration", {"GET /admin/migration": (200, {"collections": [migration(notes="")]})})
        self.window.wait("ask every node")
        no = (403, {"error": {"code": "forbidden", "message": "not for this token"}})
        self.show("#/migration", {"GET /admin/migration": no})
        self.window.wait("shown to a token of the role admin")
        made = self.with_topics(["plays"], 2)
        made["GET /admin/ingest"] = no
        self.show("#/ingest", made)
        self.window.wait("at the end")
        eventually(lambda: len(self.asked()) > 7)
        self.assertEqual([one[0] for one in self.asked()].count("GET /admin/ingest"), 1)


if __name__ == "__main__":
    browser.require()
    unittest.main()
