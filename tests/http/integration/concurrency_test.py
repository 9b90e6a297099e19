"""Everything at once: writers, readers, admin calls and policy changes from many connections."""

import os
import random
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer

SECONDS = 4


class ConcurrencyTest(unittest.TestCase):
    def setUp(self):
        self.server = CheckedServer(args=["--threads", "3"],
                                    config={"engine": {"slot_ms": 500, "sync_interval_ms": 50}})
        self.addCleanup(self.server.close)
        self.until = time.monotonic() + SECONDS
        self.failures = []
        self.acknowledged = {}
        self.watched = {}
        policy = {"bucket": "days:10", "window": 4, "retention": 4, "history": {"enabled": True}}
        self.assertEqual(self.server.put("/collections/watch", policy).status, 200)
        self.lock = threading.Lock()

    def checked(self, client, method, path, body=None, headers=None):
        answer = client.request(method, path, body, headers)
        self.server.checker.check(method, path, answer)
        return answer

    def worker(self, work):
        def run():
            client = self.server.client()
            try:
                while time.monotonic() < self.until:
                    work(client)
            except Exception as error:  # pylint: disable=broad-except
                self.failures.append(repr(error))
            finally:
                client.close()
        return threading.Thread(target=run)

    def writer(self, number):
        step = [0]

        def work(client):
            step[0] += 1
            user = "w%d-%d" % (number, step[0] % 5)
            items = ["%d-%d" % (step[0], i) for i in range(20)]
            if step[0] % 2:
                answer = self.checked(client, "POST", "/plays", {
                    "events": [{"user": user, "item": item} for item in items]})
            else:
                lines = "".join('{"user":"%s","item":"%s"}\n' % (user, item) for item in items)
                answer = self.checked(client, "POST", "/plays", lines,
                                      {"Content-Type": "application/x-ndjson"})
            if answer.status == 503:
                return
            self.assertEqual((answer.status, answer.json["accepted"]), (200, 20), answer)
            # What was acknowledged is seen at once, whatever else goes on.
            answer = self.checked(client, "POST", "/filter", {"user": user, "items": items})
            self.assertEqual(answer.json["unseen"], [], (user, answer))
            with self.lock:
                self.acknowledged.setdefault(user, []).extend(items)

        return work

    def watcher(self, number):
        """Its user's history: what was reported is there, what was deleted is not."""
        user, step, kept = "h%d" % number, [0], {}
        self.watched[user] = kept

        def work(client):
            step[0] += 1
            item, old = "i%d" % step[0], "i%d" % random.randrange(1, step[0] + 1)
            events = [{"user": user, "item": name, "progress_s": step[0], "fields": {"n": step[0]},
                       "at": time.time_ns() // 1_000_000} for name in (item, "same")]
            answer = self.checked(client, "POST", "/plays",
                                  {"collection": "watch", "events": events})
            if answer.status == 503:
                return
            self.assertEqual((answer.status, answer.json["accepted"]), (200, 2), answer)
            kept[item] = step[0]
            if old in kept and step[0] % 3 == 0:
                body = {"collection": "watch", "items": [old]}
                target = "/users/%s/history/delete" % user
                self.assertEqual(self.checked(client, "POST", target, body).status, 200)
                del kept[old]
            self.check_watched(lambda *args: self.checked(client, *args), user)
            answer = self.checked(client, "GET", "/users/%s/export" % user)
            self.assertEqual(answer.lines[-1]["entries"], len(kept) + 1)

        return work

    def check_watched(self, ask, user):
        kept = self.watched[user]
        found, query = {}, "?limit=500"
        while query:
            page = ask("GET", "/users/%s/history%s" % (user, query)).json
            found.update((e["item"], e["progress_s"]) for e in page["entries"])
            query = page.get("cursor") and "?limit=500&cursor=" + page["cursor"]
        found.pop("same", None)
        self.assertEqual(found, kept)
        names = random.sample(sorted(kept), min(20, len(kept))) + ["unheard"]
        answer = ask("POST", "/users/%s/history/lookup" % user,
                     {"collection": "watch", "items": names})
        self.assertEqual([e["item"] for e in answer.json["entries"]], names[:-1])

    def served(self, client):
        user = "s%d" % random.randrange(5)
        items = [random.randrange(1_000_000) for _ in range(50)]
        answer = self.checked(client, "POST", "/filter", {"user": user, "items": items, "limit": 10,
                                                          "record": True, "explain": True})
        chosen = answer.json["unseen"]
        answer = self.checked(client, "POST", "/filter", {"user": user, "items": chosen})
        self.assertEqual(answer.json["unseen"], [])

    def erased(self, client):
        user = "e%d" % random.randrange(1_000_000)
        self.checked(client, "POST", "/impressions", {"user": user, "items": [1, 2]})
        self.assertEqual(self.checked(client, "DELETE", "/users/" + user).status, 200)
        answer = self.checked(client, "POST", "/filter", {"user": user, "items": [1, 2]})
        self.assertEqual(answer.json["unseen"], [1, 2])

    def looker(self, client):
        for path in ["/users/w0-1", "/admin/stats", "/admin/ring", "/admin/buckets", "/metrics",
                     "/collections", "/readyz", "/healthz"]:
            self.assertEqual(self.checked(client, "GET", path).status, 200, path)

    def keeper(self, client):
        month = time.strftime("%Y-%m", time.gmtime())
        for path, body in [("/admin/drain", None), ("/admin/seal", {"bucket": month}),
                           ("/admin/drop-expired", None), ("/admin/compact", None)]:
            self.assertEqual(self.checked(client, "POST", path, body).status, 200, path)
        name = random.choice(["a", "b", "c"])
        durability = random.choice(["sync", "interval", "none"])
        answer = self.checked(client, "PUT", "/collections/" + name, {"durability": durability})
        self.assertEqual(answer.status, 200, answer)

    def test_all_at_once(self):
        work = [self.writer(i) for i in range(4)] + [
            self.watcher(0), self.watcher(1), self.served, self.served, self.erased, self.looker,
            self.keeper]
        threads = [self.worker(w) for w in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.failures, [])
        self.assertGreater(len(self.acknowledged), 10)
        self.check_acknowledged()
        self.assertEqual(self.server.terminate(), 0, self.server.log_text()[-3000:])
        self.server.start()
        self.check_acknowledged()

    def check_acknowledged(self):
        for user, items in self.acknowledged.items():
            answer = self.server.post("/filter", {"user": user, "items": items})
            self.assertEqual(answer.json["unseen"], [], user)
        for user in self.watched:
            self.check_watched(self.server.request, user)


if __name__ == "__main__":
    unittest.main()
