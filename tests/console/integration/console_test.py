"""The console in a real browser: its pages, hostile ids, tokens, a server that goes away, windows of all sizes,
and that nothing of another host is asked for. SEENDB_CONSOLE_PICTURES names a folder for pictures of the pages."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import browser  # noqa: E402
from console_checks import HOSTILE, expect_axe_finds_nothing, expect_fits, expect_names, rows_of  # noqa: E402
from seendb_client import Server, eventually, free_port  # noqa: E402

DAY_MS = 86_400_000
USERS = 10_000
PAGES = (("try", "#/try?user=u1&items=v1%0Av2%0Aold%0As1", "1 unseen, 3 seen"), ("user", "#/user?user=u1", "Title 3"),
         ("overview", "#/overview", "Buckets, all collections"), ("collections", "#/collections", "at most 1%"),
         ("policy", "#/collections?collection=video", "What the filters cost"))


def ask(window, user, candidates):
    """Types a request on the page Try, and runs it."""
    window.wait("What has a user not seen?")
    window.js("document.querySelector('form.panel input').value = arguments[0];"
              "document.querySelector('textarea').value = arguments[1];"
              "document.querySelector('.said').textContent = ''", user, candidates)
    window.click("button.main")
    window.wait("unseen, ", ".said")


def hold(window, pattern):
    """Requests of the page that match wait until `release`; `asked` has all."""
    window.js("const fits = new RegExp(arguments[0]), real = window.fetch; window.held = []; window.asked = [];"
              "window.fetch = (path, options) => { const line = options.method + ' ' + path; asked.push(line);"
              "  return fits.test(line) ? new Promise((done) => held.push((fake) => {"
              "    const answer = fake ? Promise.resolve(new Response(JSON.stringify(fake[1]), {status: fake[0]}))"
              "      : real(path, options); done(answer); return answer; })) : real(path, options); }", pattern)


def held(window, count):
    eventually(lambda: window.js("return held.length") == count)


def release(window, at, fake=None):
    """Lets a request go on, or answers it with (status, JSON); returns when the page had time to show it."""
    window.later("const [at, fake, done] = arguments; held[at](fake).then(() => setTimeout(done, 300))", at, fake)


class BrowserTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.window = browser.Browser()
        cls.addClassCleanup(cls.window.close)
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)
        now = int(time.time() * 1000)
        cls.server.put("/collections/video", {"history": {"enabled": True}, "impression_ids": True})
        for path, body in (
                ("/plays", {"events": [{"user": "u1", "item": "v1"},
                                       {"user": "u1", "item": "old", "at": now - 70 * DAY_MS}]}),
                ("/plays", {"events": [{"user": "reader %d" % i, "item": "v%d" % (i % 100)} for i in range(USERS)]}),
                ("/plays", {"collection": "video", "events": [
                    {"user": "u1", "item": "h%02d" % i, "at": now - i * 1000, "progress_s": 60,
                     "duration_s": 100, "fields": {"title": "Title %d" % i, "season": 2}} for i in range(130)]}),
                ("/plays", {"collection": "video", "events": [
                    {"user": user, "item": item, "device": "<b>", "fields": {"title": item[:200]}}
                    for user in HOSTILE for item in HOSTILE]}),
                ("/impressions", {"user": "u1", "items": ["s1", "s2"]}),
                ("/impressions", {"collection": "video", "user": HOSTILE[0], "items": HOSTILE})):
            answer = cls.server.post(path, body)
            assert answer.status == 200 and not answer.json["refused"], answer
        assert cls.server.post("/admin/drain").status == 200

    def setUp(self):
        self.window.view(1280, 900)
        self.window.complaints()

    def tearDown(self):
        self.assertEqual(self.window.complaints(), [])
        self.assertEqual(self.window.js("return [window.hacked === undefined, "
                                        "document.querySelectorAll('img, script:not([src])').length]"), [True, 0])
        asked = self.window.js("return performance.getEntriesByType('resource').map(e => e.name)")
        self.assertEqual([one for one in asked if not one.startswith((self.server.url, "data:"))], [])

    def show(self, fragment):
        self.window.open("about:blank")
        self.window.open(self.server.url + "/console" + fragment)

    def test_try_says_why(self):
        self.show("#/try")
        ask(self.window, "u1", "v1\nv2\nold\ns1\nv2\n")
        self.window.wait("1 unseen, 3 seen")
        rows = rows_of(self.window, "Candidates")
        self.assertEqual([row[1] for row in rows], ["seen", "unseen", "seen", "seen", "came before"])
        self.assertEqual([row[2].split(" in ")[0] for row in rows], ["watched", "", "watched", "served before", ""])
        self.assertEqual(rows[0][3:], ["exact list, 1 item", "none: the list is exact"])
        self.assertRegex(rows[2][3], "^exact list(, sealed)?, 1 item$")
        self.assertEqual(rows[2][4], "none: the list is exact")
        self.assertNotIn("Nothing is held", self.window.text())
        windows = rows_of(self.window, "Unseen by window")
        self.assertEqual([row[1] for row in windows], ["1", "1", "2", "2"], windows)  # of 4, 3, 2, 1 months
        self.assertEqual(windows[3][2].strip(), "old")

    def test_an_id_that_nobody_has_is_told(self):
        """All candidates are unseen of who is not known: no answer to "has the user seen it?"."""
        self.show("#/try")
        ask(self.window, "U1", "v1\nv2")
        self.window.wait("2 unseen, 0 seen")
        self.window.wait("Nothing is held about U1 in default")
        self.window.click("main a[href='#/user?user=U1']")
        self.window.wait("Nothing is held about this user.")
        self.window.wait("Upper and lower case count")
        self.assertEqual(rows_of(self.window, "Watch history"), [])

    def test_from_a_user_to_candidates_and_back(self):
        self.show("#/user?user=u1&collection=video")
        self.window.wait("Title 3")
        self.window.click("main a[href='#/try?user=u1&collection=video']")
        self.window.wait("What has a user not seen?")
        self.assertEqual(self.window.js("return document.querySelector('form.panel input').value"), "u1")
        ask(self.window, "u1", "h00\nnew")
        self.window.wait("1 unseen, 1 seen by u1 in video")
        self.window.click("main a[href='#/user?user=u1&collection=video']")
        self.window.wait("Title 3")

    def test_marks_and_what_was_on_screen_are_told(self):
        """Groups and surfaces are text that people chose, as ids are."""
        group, surface = "<img onerror=hack()>", "<b>home</b>"
        self.server.post("/exposures", {"events": [{"user": "m", "item": "x1", "surface": surface}]})
        self.server.post("/users/m/marks", {"marks": [{"group": group, "until": "always"},
                                                      {"group": "channel:9", "until": 86_400_000}]})
        self.show("#/user?user=m")
        self.window.wait("Marked as seen: 2 groups, in all collections.")
        self.window.wait("On screen in default: 1 item.")
        self.assertEqual([row[:2] for row in rows_of(self.window, "Marked as seen")],
                         [[group, "always"], ["channel:9", "1970-01-02 00:00:00"]])
        self.assertEqual(rows_of(self.window, "On screen lately")[0][1:3], ["default", surface])
        self.show("#/try")
        ask(self.window, "m", json.dumps(["a", {"id": "v1", "of": ["channel:9"], "at": 5},
                                          {"id": 2, "of": [group]}, {"id": "v3", "of": ["channel:9"]}]))
        self.window.wait("2 unseen, 2 seen")
        self.window.wait("1 candidate without the time that a mark asks for")
        self.assertEqual([row[:3] for row in rows_of(self.window, "Candidates")],
                         [["a", "unseen", ""], ["v1", "seen", "of channel:9, which the user marked as seen"],
                          ["2", "seen", "of %s, which the user marked as seen" % group], ["v3", "unseen", ""]])

    def test_plays_without_a_list_are_explained(self):
        for fragment, said in (("#/user?user=reader%207", "The watch history has no entry."),
                               ("#/user?user=reader%207&collection=default", "No watch history is kept here.")):
            self.show(fragment)
            self.window.wait("Watched: 1 item in 1 bucket")
            self.window.wait(said)
            self.window.wait("A collection keeps a list if its policy says history.enabled.")
            self.assertNotIn("which is all", self.window.text())

    def test_a_link_holds_the_request(self):
        self.show("#/try")
        ask(self.window, "u1", "v1\nv2")
        link = self.window.js("return document.querySelector('main p a').href")
        self.assertEqual(self.window.url(), link)
        self.window.open("about:blank")
        self.window.open(link)
        self.window.wait("1 unseen, 1 seen")

    def test_the_lines_for_shell_and_python_ask_the_same(self):
        for user, items in (("u1", ["v1", "v2", 18446744073709551615]), (HOSTILE[0], HOSTILE + ["new", 7])):
            self.show("#/try")
            ask(self.window, user, json.dumps(items))
            shown = [row[0] for row in rows_of(self.window, "Candidates") if row[1] == "unseen"]
            self.assertGreater(len(shown), 0)
            shell, python = self.window.js("return [...document.querySelectorAll('pre')].map(e => e.textContent)")
            self.assertRegex(shell + python, r"^[\x0a\x20-\x7e\U0001f600]+$")  # nothing that turns the text around
            with tempfile.TemporaryDirectory() as folder:
                told = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True, cwd=folder)
                self.assertEqual([str(one) for one in json.loads(told.stdout)["unseen"]], shown)
                told = subprocess.run([sys.executable, "-c", python.replace("print(", "print((", 1) + ".unseen)"],
                                      capture_output=True, text=True, check=True, cwd=folder,
                                      env=dict(os.environ, PYTHONPATH=os.path.join(ROOT, "clients", "python", "src")))
                self.assertEqual([str(one) for one in eval(told.stdout)], shown)  # pylint: disable=eval-used
                self.assertEqual(os.listdir(folder), [])

    def test_integers_beyond_doubles_stay_what_they_are(self):
        self.server.post("/plays", {"events": [{"user": "big", "item": "9007199254740993"}]})
        self.show("#/try")
        ask(self.window, "big", "[9007199254740993, 9007199254740992]")
        self.window.wait("1 unseen, 1 seen")
        self.assertEqual(rows_of(self.window, "Candidates")[0][:2], ["9007199254740993", "seen"])

    def test_what_is_refused_is_said(self):
        self.show("#/try")
        self.window.wait("What has a user not seen?")
        for candidates, said in (("x" * 256, "/items/0"), ("[1, ", "begin like a JSON array"),
                                 ("\n".join("i%d" % i for i in range(10_001)), "10,001 candidates")):
            self.window.js("document.querySelector('form.panel input').value = 'u1';"
                           "document.querySelector('textarea').value = arguments[0]", candidates)
            self.window.click("button.main")
            self.window.wait(said)
        self.assertEqual(["400" in one for one in self.window.complaints()], [True])  # the browser notes that one

    def test_many_candidates_come_in_pages(self):
        self.show("#/try")
        ask(self.window, "u1", "\n".join("i%d" % i for i in range(10_000)))
        self.window.wait("1 to 50 of 10,000")
        self.window.click(".paged .pager button:last-child")
        self.window.wait("51 to 100 of 10,000")
        self.assertEqual(rows_of(self.window, "Candidates")[0][:2], ["i50", "unseen"])
        self.window.click(".paged .pager button:first-child")
        self.window.wait("1 to 50 of 10,000")

    def test_hostile_ids_are_text(self):
        self.show("#/try")
        for name in HOSTILE[:4] + HOSTILE[-4:]:
            self.show("#/try")
            ask(self.window, name, json.dumps(HOSTILE))
            self.assertEqual([row[0].strip() for row in rows_of(self.window, "Candidates")],
                             [one.strip() for one in HOSTILE])
            self.assertEqual(self.window.js("return getComputedStyle(document.querySelector('td .id')).unicodeBidi"),
                             "isolate")
            self.show("#/user?" + urllib.parse.urlencode({"user": name}))
            self.window.wait("Watched, newest first")
            self.window.wait(HOSTILE[0])
            self.assertEqual(self.window.text(".who").strip(), name.strip())
        self.show("#/user?" + urllib.parse.urlencode({"user": HOSTILE[0]}))
        self.window.wait("Served lately")
        self.assertEqual({row[2].strip() for row in rows_of(self.window, "Served lately")},
                         {one.strip() for one in HOSTILE})
        self.show("#/try?" + urllib.parse.urlencode({"user": HOSTILE[0], "collection": HOSTILE[0], "items": HOSTILE[0]}))
        self.window.wait("HTTP 404")
        self.show("#/" + urllib.parse.quote(HOSTILE[0]))
        self.window.wait("What has a user not seen?")
        self.assertEqual(["404" in one for one in self.window.complaints()], [True])  # the browser notes that one

    def test_a_user_in_words(self):
        self.show("#/user?user=u1")
        self.window.wait("Watched: 132 items in 3 buckets")
        self.window.wait("Served lately: 2 items.")
        self.window.wait("100 newest entries read")
        self.assertEqual(rows_of(self.window, "Watch history")[0][1:], [
            "video", "Title 0", "h00", "at 1:00 of 1:40", "", '{"season":2}'])
        self.assertEqual(rows_of(self.window, "Filters by bucket")[0][2], "exact list")
        self.window.type("input[type=search]", "title 12")
        self.window.wait("1 of 100 newest entries")
        self.window.type("input[type=search]", browser.ENTER, clear=False)  # the older ones as well
        self.window.wait("11 of 130 entries, which is all")
        self.assertIn("Title 129", [row[2] for row in rows_of(self.window, "Watch history")])
        self.show("#/user?user=u1&collection=default")
        self.window.wait("Watched: 2 items in 2 buckets")
        self.window.wait("No watch history is kept here.")
        self.show("#/user?user=nobody")
        self.window.wait("Nothing is held about this user.")

    def test_an_export_is_a_file(self):
        self.show("#/user?user=u1")
        self.window.wait("Export everything")
        self.window.js("[...document.querySelectorAll('button')].find(b => b.innerText === 'Export everything').click()")
        self.window.wait("Exported")
        with open(self.window.downloaded("*.ndjson"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual((lines[0]["user"], lines[-1]["type"]), ("u1", "end"))

    def test_an_erasure_asks_for_the_id(self):
        self.server.post("/plays", {"events": [{"user": "gone", "item": "v"}]})
        self.show("#/user?user=gone")
        self.window.wait("Watched: 1 item in 1 bucket")
        self.window.type("#erase input", "gon")
        self.assertTrue(self.window.js("return document.querySelector('button.danger').disabled"))
        self.window.type("#erase input", browser.ENTER, clear=False)
        self.assertEqual(self.server.post("/filter", {"user": "gone", "items": ["v"]}).json["unseen"], [])
        self.window.type("#erase input", "gone")
        self.window.click("button.danger")
        self.window.wait("Erased.")
        self.window.wait("Nothing is held about this user.")
        self.assertEqual(self.server.post("/filter", {"user": "gone", "items": ["v"]}).json["unseen"], ["v"])

    def look_at(self, user):
        self.window.type("form.panel input", user)
        self.window.click("button.main")

    def leave(self):
        self.window.js("location.hash = '#/overview'")
        self.window.wait("No problems.")

    def test_the_newest_request_is_the_one_that_is_shown(self):
        for fake in (None, (503, {"error": {"code": "late", "message": "a late failure"}})):
            self.show("#/try")
            self.window.type("textarea", "v1")
            hold(self.window, "^POST /filter")
            self.look_at("u1")
            held(self.window, 1)
            self.look_at("nobody")
            held(self.window, 2)
            release(self.window, 1)
            self.window.wait("1 unseen, 0 seen by nobody in default")
            release(self.window, 0, fake)
            self.window.wait("1 unseen, 0 seen by nobody in default")
            self.assertEqual(rows_of(self.window, "Candidates")[0][:2], ["v1", "unseen"])
            self.assertNotIn("a late failure", self.window.text())
            self.assertEqual([one for one in self.window.js("return asked") if "/users/u1" in one], [])
            self.show("#/user")
            self.window.wait("What is known of a user?")
            hold(self.window, "^GET /users/[^/]*$")
            self.look_at("u1")
            held(self.window, 1)
            self.look_at("nobody")
            held(self.window, 2)
            release(self.window, 1)
            self.window.wait("Nothing is held about this user.")
            release(self.window, 0, fake)
            self.assertEqual(self.window.text(".who"), "nobody")
            self.assertNotIn("a late failure", self.window.text())
            self.assertEqual([one for one in self.window.js("return asked") if one.startswith("GET /users/u1/")], [])

    def test_a_page_that_was_left_looks_nobody_up(self):
        for page, pattern in (("user", "^GET /collections"), ("try", "^GET /collections"), ("try", "^POST /filter")):
            self.show("#/overview")
            self.window.wait("No problems.")
            hold(self.window, pattern)
            self.window.js("location.hash = arguments[0]", "#/%s?user=u1&items=v1" % page)
            held(self.window, 1)
            self.leave()
            release(self.window, 0)
            self.assertTrue(self.window.url().endswith("#/overview"), self.window.url())
            self.assertEqual([one for one in self.window.js("return asked") if "/users/" in one], [])

    def test_an_erasure_is_told_of_the_user_who_was_erased(self):
        def begin(user):
            self.server.post("/plays", {"events": [{"user": user, "item": "v"}]})
            self.show("#/user?user=" + user)
            self.window.wait("Watched: 1 item in 1 bucket")
            self.window.type("#erase input", user)
            hold(self.window, "^DELETE ")
            self.window.click("button.danger")
            held(self.window, 1)

        begin("typed over")
        self.window.type("form.panel input", "u1")  # and not looked at
        release(self.window, 0)
        self.window.wait("typed over: Erased.")
        self.window.wait("Nothing is held about this user.")
        self.assertEqual(self.window.text(".who"), "typed over")
        self.assertEqual([one for one in self.window.js("return asked") if "/users/u1" in one], [])
        begin("looked past")
        self.look_at("u1")
        self.window.wait("Watched: 132 items")
        release(self.window, 0)
        self.window.wait("looked past: Erased.")
        self.assertEqual(self.window.text(".who"), "u1")
        begin("left")
        self.leave()
        release(self.window, 0)
        self.window.wait("left: Erased.")
        begin("refused")
        self.leave()
        release(self.window, 0, (503, {"error": {"code": "late", "message": "a late failure"}}))
        self.window.wait("Erasing refused: HTTP 503, late: a late failure")
        self.assertTrue(self.window.url().endswith("#/overview"), self.window.url())

    def test_a_history_is_read_once(self):
        def begin():
            self.show("#/user?user=u1")
            self.window.wait("100 newest entries read")
            hold(self.window, "/history")

        def enter():
            self.window.type("input[type=search]", browser.ENTER, clear=False)

        begin()
        enter()
        enter()
        held(self.window, 1)
        release(self.window, 0)
        self.window.wait("130 entries, which is all")
        begin()
        self.window.click("section > button")
        held(self.window, 1)
        release(self.window, 0, (503, {"error": {"code": "late", "message": "a failure"}}))
        self.window.wait("a failure")
        self.window.click("section > button")
        held(self.window, 2)
        self.assertNotIn("a failure", self.window.text())
        release(self.window, 1)
        self.window.wait("130 entries, which is all")
        begin()
        enter()
        held(self.window, 1)
        release(self.window, 0, (200, {"kept": False, "entries": []}))
        self.window.wait("No watch history is kept here.")
        self.assertEqual(self.window.js("return held.length"), 1)
        begin()
        enter()
        held(self.window, 1)
        self.leave()
        release(self.window, 0, (200, {"kept": True, "entries": [], "cursor": "more"}))
        self.assertEqual(self.window.js("return held.length"), 1)

    def test_a_failure_keeps_its_direction_to_itself(self):
        self.show("#/try")
        told = self.window.later("const [text, done] = arguments; import('/console/dom.js').then(m => { const one = "
                                 "m.failure({status: 400, code: 'bad', message: text, field: '/items/0'});"
                                 "document.body.append(one); done([one.querySelector('bdi').textContent,"
                                 "getComputedStyle(one.querySelector('bdi')).unicodeBidi]) })", HOSTILE[1])
        self.assertEqual(told, [HOSTILE[1], "isolate"])

    def test_a_look_that_waits_is_not_begun_again(self):
        self.show("#/collections")
        self.window.wait("Collections and their rules")
        hold(self.window, "^GET /metrics")
        self.window.js("location.hash = '#/overview'")
        held(self.window, 1)
        self.window.js("for (const _ of [1, 2]) document.dispatchEvent(new Event('visibilitychange'))")
        self.assertEqual(self.window.js("return held.length"), 1)
        release(self.window, 0)
        self.window.wait("No problems.")
        held(self.window, 2)  # and the next comes in its time

    def test_the_overview_counts(self):
        self.show("#/overview")
        self.window.wait("No problems.")
        self.window.wait("Plays in memory, by shard and slot")
        self.assertIn(time.strftime("%Y-%m", time.gmtime()), self.window.text())

        def rate():
            for _ in range(5):
                self.server.post("/filter", {"user": "u1", "items": ["v1", "w"]})
            found = re.search(r"Filter requests\n([\d.,]+)/s", self.window.text())
            return found and float(found.group(1).replace(",", "")) > 0
        eventually(rate, timeout=60, pause=0.2)
        self.assertRegex(self.window.text(), r"Candidates seen\n50%")
        self.assertNotIn("users", self.window.text().lower().replace("what has a user", ""))  # no estimate of them

    def test_a_policy_is_explained_and_changed(self):
        self.server.put("/collections/shop", {"retention": 6})
        self.show("#/collections")
        self.window.js("[...document.querySelectorAll('td a')].find(a => a.innerText === 'shop').click()")
        self.window.wait("What the filters cost")
        labelled = "[...document.querySelectorAll('.field')].find(f => f.firstChild.innerText === '%s').children[1]"
        change = "const c = %s; c.value = '%%s'; c.dispatchEvent(new Event('input'))" % labelled
        self.window.js(change % ("retention", "5"))
        self.window.click("form.panel button.main")
        self.window.wait("retention: 6 becomes 5")
        self.window.wait("are dropped, for good")
        self.assertEqual(self.server.get("/collections/shop").json["retention"], 6)
        self.window.click(".note button.main")
        self.window.wait("Changed.")
        self.assertEqual(self.server.get("/collections/shop").json["retention"], 5)
        self.window.js(change % ("retention", "3"))
        self.window.click("form.panel button.main")
        self.window.click(".note button.main")
        self.window.wait("HTTP 400")  # less than the window
        self.assertEqual(self.server.get("/collections/shop").json["retention"], 5)
        self.assertEqual(["400" in one for one in self.window.complaints()], [True])

    def test_costs_are_those_of_the_table_of_sizing(self):
        self.show("#/collections?collection=default")
        self.window.wait("What the filters cost")
        with open(os.path.join(ROOT, "engine", "doc", "sizing.md"), encoding="utf-8") as file:
            table = re.findall(r"(?m)^\| (\d+) \| steady \| \d+ \| [\d.]+ \| 0\.0 \| [\d.]+ \| (\d+) \| [\d.]+ \| 1\.0 ", file.read())
        self.assertGreaterEqual(len(table), 6)
        for items, measured in table:
            told = self.window.later("const [n, done] = arguments; import('/console/sizing.js').then(m => done("
                                     "m.sealed({representation: 'bloom', fpr: 0.01, window: 4}, n).bytes))", int(items))
            self.assertLess(abs(told - int(measured)), 0.02 * int(measured) + 65, items)

    def test_a_hidden_page_asks_nothing(self):
        self.show("#/overview")
        self.window.wait("No problems.")
        asked = "return performance.getEntriesByType('resource').filter(e => e.name.endsWith('/metrics')).length"
        eventually(lambda: self.window.js(asked) >= 2)
        self.window.js("Object.defineProperty(document, 'hidden', {configurable: true, get: () => true});"
                       "document.dispatchEvent(new Event('visibilitychange'))")
        time.sleep(1)  # for the answer that is under way
        had = self.window.js(asked)
        time.sleep(5)
        self.assertEqual(self.window.js(asked), had)
        self.window.js("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
        eventually(lambda: self.window.js(asked) > had)

    def test_a_problem_comes_with_what_to_do(self):
        self.show("#/overview")
        for problem, advice in (("shard 0 is read-only: disk full (needs 35 MB free, 12 MB are)", "Free space"),
                                ("the machine's clock jumped <b>ahead</b>", "confirm it"), ("something new", "")):
            told = self.window.later("const [one, done] = arguments; import('/console/problems.js').then(m => "
                                     "done(m.problemNotes({problems: [one]}).map(n => n.textContent)))", problem)
            self.assertEqual(len(told), 1)
            self.assertIn("Problem: " + problem, told[0])
            self.assertIn(advice, told[0])

    def test_the_root_leads_here(self):
        self.window.open(self.server.url + "/")
        self.window.wait("remembers what every user was served and watched")
        self.window.click("main a")
        self.window.wait("What has a user not seen?")

    def test_another_page_ends_the_overview(self):
        self.show("#/overview")
        self.window.wait("No problems.")
        self.window.click("nav a")
        self.window.wait("What has a user not seen?")
        self.assertEqual(self.window.js("return [document.title, document.querySelector('[aria-current]').innerText]"),
                         ["Try - SeenDB console", "Try"])
        asked = "return performance.getEntriesByType('resource').filter(e => e.name.endsWith('/metrics')).length"
        time.sleep(1)
        had = self.window.js(asked)
        time.sleep(4)
        self.assertEqual(self.window.js(asked), had)

    def test_it_fits_every_window(self):
        for page, fragment, text in PAGES:
            self.show(fragment)
            self.window.wait(text)
            expect_fits(self, self.window, page)
        self.window.view(360, 900)
        self.show("#/try?" + urllib.parse.urlencode({"user": "x" * 255, "items": "\n".join(HOSTILE)}))
        self.window.wait("unseen, ", ".said")
        self.assertLessEqual(self.window.js("return document.documentElement.scrollWidth"), 360)

    def test_keys_reach_every_control_and_each_has_a_name(self):
        for _, fragment, text in PAGES:
            self.show(fragment)
            self.window.wait(text)
            expect_names(self, self.window)
        self.show("#/try?user=u1")
        self.window.wait("What has a user not seen?")
        self.window.type("textarea", "v2\n\ue009" + browser.ENTER)  # Control and Enter
        self.window.wait("1 unseen, 0 seen")
        self.window.js("document.querySelector('.skip').click()")
        self.assertEqual(self.window.js("return document.activeElement.id"), "main")
        self.assertIn("1 unseen, 0 seen", self.window.text())

    def test_axe_finds_nothing(self):
        for _, fragment, text in PAGES + (("user", "#/user?user=nobody", "Nothing is held"),):
            self.window.view(1280, 900)
            self.show(fragment)
            self.window.wait(text)
            expect_axe_finds_nothing(self, self.window)

    def test_the_first_paint_is_told(self):
        took = []
        for _ in range(5):
            self.show("#/try")
            self.window.wait("What has a user not seen?")
            took.append(eventually(lambda: self.window.js(
                "const e = performance.getEntriesByName('first-contentful-paint')[0]; return e && e.startTime")))
        print("first paint after %s ms" % ", ".join("%.0f" % one for one in sorted(took)))


class AwayTest(unittest.TestCase):

    def test_a_restart_of_the_server_is_got_over(self):
        port = free_port()
        with browser.Browser() as window, Server(start=False) as server:
            server.start(port=port)
            window.open(server.url + "/console#/overview")
            window.wait("No problems.")
            server.kill()
            window.wait("the server does not answer")
            server.start(port=port)
            eventually(lambda: "does not answer" not in window.text())
            window.wait("No problems.")
            window.wait("Plays in memory, by shard and slot")
            window.click("nav a")
            window.wait("What has a user not seen?")
            server.kill()
            window.type("form.panel input", "u1")
            window.type("textarea", "v1")
            window.click("button.main")
            window.wait("the server does not answer")
            server.start(port=port)
            window.click("button.main")
            window.wait("1 unseen, 0 seen")

    def test_many_shards_come_in_pages(self):
        with browser.Browser() as window, Server(args=["--shards", "100"]) as server:
            server.post("/plays", {"events": [{"user": "u%d" % i, "item": "v"} for i in range(1000)]})
            window.open(server.url + "/console#/overview")
            window.wait("1 to 64 of 100")
            self.assertEqual(window.js("return document.querySelectorAll('.shard').length"), 64)
            window.js("[...document.querySelectorAll('.pager button')].find(b => b.innerText === 'Next').click()")
            window.wait("65 to 100 of 100")
            time.sleep(11)  # the next reports come, and the page stays where it is
            self.assertEqual(window.js("return document.querySelectorAll('.shard').length"), 36)


class TokenTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="seendb-tokens-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.audit = os.path.join(cls.folder, "audit.log")
        path = os.path.join(cls.folder, "tokens.json")
        tokens = [{"name": role, "role": role, "sha256": hashlib.sha256(("%s-token-of-a-test" % role).encode()).hexdigest()}
                  for role in ("admin", "read")]
        tokens.append({"name": "some", "role": "read", "collections": ["video"],
                       "sha256": hashlib.sha256(b"some-token-of-a-test").hexdigest()})
        with open(path, "w", encoding="utf-8") as file:
            json.dump(tokens, file)
        os.chmod(path, 0o600)
        cls.server = Server(config={"tokens_file": path, "audit": {"file": cls.audit, "users": "clear"}})
        cls.addClassCleanup(cls.server.close)
        bearer = {"Authorization": "Bearer admin-token-of-a-test"}
        assert cls.server.put("/collections/video", {}, bearer).status in (200, 201)
        for collection in ("default", "video"):
            assert cls.server.post("/plays", {"collection": collection, "events": [{"user": "u", "item": "v"}]},
                                   bearer).status == 200
        cls.window = browser.Browser()
        cls.addClassCleanup(cls.window.close)

    def log_in(self, token, fragment):
        self.window.open("about:blank")
        self.window.open(self.server.url + "/console" + fragment)
        self.window.wait("the server asks for a token")
        self.assertEqual(self.window.js("return document.activeElement.id"), "token")
        self.window.type("#token", token + browser.ENTER)

    def test_a_token_is_asked_for_and_kept_nowhere(self):
        self.log_in("wrong", "#/try")
        self.window.wait("the server does not know this token")
        self.window.type("#token", "admin-token-of-a-test" + browser.ENTER)
        self.window.wait("What has a user not seen?")
        ask(self.window, "u", "v\nw")
        self.window.wait("1 unseen, 1 seen")
        lines = self.window.js("return [...document.querySelectorAll('pre')].map(e => e.textContent).join()")
        self.assertIn("$SEENDB_TOKEN", lines)
        kept = self.window.later(
            "const done = arguments[0]; indexedDB.databases().then(async d => done([location.href, document.cookie, "
            "localStorage.length, sessionStorage.length, d.length, (await caches.keys()).length, "
            "JSON.stringify(history.state), document.documentElement.outerHTML, "
            "[...document.querySelectorAll('input')].map(i => i.value).join()].join(' ')))")
        self.assertNotIn("admin-token", kept)
        self.assertIn(" 0 0 0 0 null ", kept)
        self.window.command("POST", self.window.session + "/refresh", {})
        self.window.wait("the server asks for a token")
        self.assertEqual(self.window.js("return document.querySelector('#token').value"), "")
        with open(os.path.join(self.server.folder, "stderr.log"), encoding="utf-8") as file:
            self.assertNotIn("admin-token", file.read())

    def test_the_role_read_looks_and_changes_nothing(self):
        self.log_in("read-token-of-a-test", "#/user?user=u")
        self.window.wait("Watched: 2 items in 2 buckets")
        self.window.type("#erase input", "u")
        self.window.click("button.danger")
        self.window.wait("HTTP 403")
        self.window.js("location.hash = '#/overview'")
        self.window.wait("No problems.")
        self.window.wait("Slots and buckets are shown to a token of the role admin.")
        self.assertEqual([row[0] for row in rows_of(self.window, "Shards")], ["0", "1", "2", "3"])
        with open(self.audit, encoding="utf-8") as file:
            looks = [json.loads(line) for line in file if '"token":"read"' in line]
        self.assertIn(("read", "GET /users/{user}", "u"), [(one["event"], one["route"], one.get("user")) for one in looks])

    def test_a_token_of_some_collections_sees_those(self):
        self.log_in("some-token-of-a-test", "#/user?user=u")
        self.window.wait("HTTP 403")
        self.window.js("const s = document.querySelector('select'); s.value = 'video'")
        self.window.click("button.main")
        self.window.wait("Watched: 1 item in 1 bucket")
        self.window.js("location.hash = '#/try?user=u&collection=video&items=v'")
        self.window.wait("0 unseen, 1 seen")


if __name__ == "__main__":
    browser.require()
    unittest.main()
