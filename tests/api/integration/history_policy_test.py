"""What a policy says of the watch history, over HTTP: what is kept, and how much and how long of it;
whether deleted items are seen."""

import unittest

from history_test import DAY, NOW, HistoryCase


class HistoryPolicyTest(HistoryCase):

    def policy(self, **history):
        answer = self.server.put("/collections/video", {"history": history})
        self.assertEqual(answer.status, 200, answer)

    def unseen(self, items):
        return self.server.post("/filter", {"user": "u", "items": items,
                                            "collection": "video"}).json["unseen"]

    def test_deleted_items_may_be_recommended_again(self):
        self.policy(deleted_items="recommend_again")
        self.play(("u", "a", NOW - 9), ("u", "b", NOW - 8), ("w", "a", NOW - 9))
        self.drain()
        self.play(("u", "c", NOW - 7))
        self.assertEqual(self.unseen(["a", "b", "c", "z"]), ["z"])
        answer = self.server.post("/users/u/history/delete",
                                  {"collection": "video", "items": ["a", "c"]})
        self.assertEqual(answer.status, 200, answer)

        def check(place):
            self.assertEqual(self.unseen(["a", "b", "c", "z"]), ["a", "c", "z"], place)
            self.assertEqual(self.items("u"), ["b"], place)
            said = self.server.post("/filter", {"user": "w", "items": ["a"], "collection": "video"})
            self.assertEqual(said.json["seen"], 1, "another user's")

        self.at_each_place(check)
        # An old play, late, counts as little as before; watched again it is seen again.
        self.play(("u", "a", NOW - 5))
        self.assertEqual(self.unseen(["a", "c"]), ["a", "c"])
        self.play(("u", "a", NOW + 1))

        def check_again(place):
            self.assertEqual(self.unseen(["a", "b", "c"]), ["c"], place)
            self.assertEqual(self.items("u"), ["a", "b"], place)

        self.at_each_place(check_again)

    def test_ids_and_times_only(self):
        self.policy(ids_only=True)
        self.play({"user": "u", "item": "a", "at": NOW - 5, "progress_s": 95, "duration_s": 240,
                   "device": "tv", "fields": {"n": 1}}, ("u", "b", NOW - 4))

        def check(place):
            self.assertEqual(self.page("u")["entries"], [
                {"collection": "video", "item": item, "at": at, "progress_s": 0, "duration_s": 0}
                for item, at in (("b", NOW - 4), ("a", NOW - 5))], place)
            self.assertEqual(set(self.found("u", ["a", "b", "c"])), {"a", "b"}, place)

        self.at_each_place(check)

    def test_the_newest_so_many_entries(self):
        self.policy(max_entries=100)
        self.play(*[("u", "i%d" % i, NOW - 1000 + i) for i in range(250)])
        self.play(*[("w", "i%d" % i, NOW - 1000 + i) for i in range(100)])
        self.drain()
        newest = ["i%d" % i for i in range(249, 149, -1)]
        # How many more than that there may be meanwhile is the engine's to say.
        self.assertEqual(self.items("u")[:100], newest)
        self.server.move_clock(NOW + DAY)
        self.drain()
        self.crash()
        self.assertEqual(self.items("u"), newest)
        self.assertEqual(len(self.items("w")), 100)
        said = self.server.post("/filter", {"user": "u", "items": ["i0", "i249", "z"],
                                            "collection": "video"}).json
        self.assertEqual(said["unseen"], ["z"], "filters keep what history lets go")

    def test_days_pass(self):
        self.policy(days=20)
        self.play(("u", "old", NOW - DAY), ("u", "older", NOW - 8 * DAY))
        self.drain()
        for days in range(5, 41, 5):
            now = NOW + days * DAY
            self.server.move_clock(now)
            self.play(("u", "new%d" % days, now))
            # A bucket of ten days counts while it ends within the 20 days.
            kept = self.items("u")
            expected = ["new%d" % at for at in range(days, 0, -5)] + ["old", "older"]
            times = [NOW + at * DAY for at in range(days, 0, -5)] + [NOW - DAY, NOW - 8 * DAY]
            oldest = (now - 20 * DAY) // (10 * DAY) * 10 * DAY
            self.assertEqual(kept, [item for item, at in zip(expected, times) if at >= oldest],
                             days)
        self.assertNotIn("old", kept)


if __name__ == "__main__":
    unittest.main()
