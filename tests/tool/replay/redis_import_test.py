"""Real play logs as sorted sets of a real Redis, imported while other users play and filter, and the
importer and the server are killed at random: nothing within the window is missing."""

import os
import random
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))
import play_logs  # noqa: E402
import real_redis  # noqa: E402
from seendb_client import Server, free_port  # noqa: E402
from tool_runner import ToolCase, tool_binary  # noqa: E402

KILLS = 5
FROM = ["--user-from", "watched:{user}"]


def brought_to_now(plays):
    shift = int(time.time()) * 1000 - max(at_ms for at_ms, _, _ in plays) - 60_000
    return [((at_ms + shift) // 1000 * 1000, user, item) for at_ms, user, item in plays]


class Others:
    """Users who play and filter all the time; what was acknowledged is checked at the end."""

    def __init__(self, server):
        self.server, self.acknowledged, self.stop = server, [], threading.Event()
        self.filters = self.failures = 0
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        number = 0
        while not self.stop.is_set():
            number += 1
            user, item = "other%d" % (number % 50), "o%d" % number
            try:
                said = self.server.post("/plays", {"events": [{"user": user, "item": item}]})
                if said.status == 200:
                    self.acknowledged.append((user, item))
                self.server.post("/filter", {"user": user, "items": [item, "never"]})
                self.filters += 1
            except OSError:  # the server is dead
                self.failures += 1
                time.sleep(0.05)
            except Exception:  # pylint: disable=broad-except  # an answer that was cut off
                self.failures += 1

    def end(self):
        self.stop.set()
        self.thread.join()


class RealLogsTest(ToolCase):

    def check(self, plays):
        chance = random.Random(17)
        plays = brought_to_now(plays)
        newest = {}
        for at_ms, user, item in plays:
            newest[user, item] = at_ms
        with real_redis.Redis() as redis, Server(start=False) as server:
            server.start(port=free_port())
            real_redis.fill(redis, plays)
            flags = ["--redis", redis.url, "--json", *FROM]
            report = self.tool("redis", "survey", *flags).json
            self.assertEqual((report["users"], report["members"]),
                             (len({user for user, _ in newest}), len(newest)))
            months = play_logs.month_index(time.time() * 1000) - play_logs.month_index(
                min(at_ms for at_ms, _, _ in plays)) + 1
            self.assertEqual(report["policy"]["window"], months)
            server.put("/collections/default", report["policy"])
            others = Others(server)
            command = ["redis", "import", *flags, "--url", server.url, "--state", self.path("state")]
            slow = ["--rate", str(len(newest) // 6)]
            for turn in range(KILLS):
                process = subprocess.Popen([tool_binary(), *command, *slow],
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(chance.uniform(0.3, 1.2))
                if turn % 2 == 0:
                    process.kill()
                if turn % 2 == 1 or chance.random() < 0.5:
                    server.kill()
                    server.start(port=server.port)
                process.kill()
                process.wait()
            done = self.tool(*command).json
            others.end()
            self.assertEqual((done["refused"], done["outside_window"]), (0, 0), done)
            self.assertGreaterEqual(done["members"], len(newest))
            found = self.tool("redis", "compare", *flags, "--url", server.url).json
            self.assertEqual((found["checked"], found["missing"]), (len(newest), 0), found)
            self.assertLess(found["extra"], found["others_checked"] * 0.01)
            self.assertGreater(others.filters, 20)
            for user, item in others.acknowledged:
                answer = server.post("/filter", {"user": user, "items": [item]}).json
                self.assertEqual(answer["unseen"], [], (user, item))

    def test_kuairand(self):
        self.check(play_logs.kuairand_plays())

    def test_retail(self):
        self.check(play_logs.retail_plays())


if __name__ == "__main__":
    play_logs.require_logs("kuairand_events.csv.zst", "kuairand_history.tsv.zst",
                           "online_retail.csv.zst")
    real_redis.require()
    unittest.main()
