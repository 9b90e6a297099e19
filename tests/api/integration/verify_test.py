"""POST /filter with verify: false positives refuted by the history."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import binary_filter
from openapi_check import CheckedServer

NOW = 1_700_000_000_000  # 14 November 2023


class VerifyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = CheckedServer(clock_ms=NOW)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def put(self, name, **policy):
        answer = self.server.put("/collections/" + name, policy)
        self.assertEqual(answer.status, 200, answer)

    def filter(self, collection, items, **options):
        answer = self.server.post("/filter", dict(user="u", items=items, collection=collection,
                                                  facts=["plays"], **options))
        self.assertEqual(answer.status, 200, answer)
        return answer.json

    def fill(self, collection, played):
        events = [{"user": "u", "item": item, "at": NOW} for item in played]
        answer = self.server.post("/plays", {"collection": collection, "events": events})
        self.assertEqual((answer.status, answer.json["accepted"]), (200, len(played)), answer)
        answer = self.server.post("/admin/seal", {"collection": collection, "bucket": "2023-11"})
        self.assertEqual(answer.status, 200, answer)

    def test_what_filters_say_falsely_is_refuted(self):
        self.put("wrong", window=1, retention=2, fpr=0.5, history={"enabled": True})
        items = list(range(2000))
        played = items[:300]
        self.fill("wrong", played)
        said = self.filter("wrong", items)
        self.assertNotIn("refuted", said)
        claimed = len(said["unseen"])
        self.assertLess(claimed, 1600)
        said = self.filter("wrong", items, verify=True, explain=True)
        self.assertEqual(said["unseen"], items[300:])
        self.assertEqual(said["seen"], 300)
        self.assertEqual(said["refuted"], 1700 - claimed)
        why = said["reasons"]
        self.assertEqual({why[str(item)] for item in played}, {"play:2023-11"})
        refuted = [item for item in items if why.get(str(item)) == "refuted:2023-11"]
        self.assertEqual(len(refuted), said["refuted"])

    def test_without_history_filters_are_believed(self):
        self.put("plain", window=1, retention=2, fpr=0.5)
        items = list(range(2000))
        self.fill("plain", items[:300])
        said = self.filter("plain", items)
        checked = self.filter("plain", items, verify=True)
        self.assertEqual(checked.pop("refuted"), 0)
        self.assertEqual(checked, said)

    def test_binary_is_verified_as_json_is(self):
        self.put("binary", window=1, retention=2, fpr=0.5, history={"enabled": True})
        texts = ["v%d" % i for i in range(2000)]
        for items, played in ((list(range(2000)), 300), (texts, 200)):
            self.fill("binary", items[:played])
            for verify in (False, True):
                said = self.filter("binary", items, verify=verify)
                for form in (binary_filter.BITMAP, binary_filter.INDEXES):
                    answer = binary_filter.ask(self.server, items, form, user="u",
                                               collection="binary", verify=str(verify).lower())
                    self.assertEqual((answer.status, answer.headers["content-type"]), (200, form))
                    self.assertEqual(binary_filter.unseen(answer, items), said["unseen"])
                    refuted = answer.headers.get("seendb-refuted")
                    self.assertEqual((answer.headers["seendb-seen"], refuted),
                                     (str(said["seen"]), str(said["refuted"]) if verify else None))
            self.assertEqual(said["unseen"], items[played:])
            self.assertGreater(said["refuted"], 100)

    def test_verify_is_a_boolean(self):
        answer = self.server.post("/filter", {"user": "u", "items": [1], "verify": 1})
        self.assertEqual((answer.status, answer.error["field"]), (400, "/verify"), answer)
        for verify in ("1", "", "True"):
            answer = binary_filter.ask(self.server, [1], user="u", verify=verify)
            self.assertEqual((answer.status, answer.error["field"]), (400, "/verify"), answer)


if __name__ == "__main__":
    unittest.main()
