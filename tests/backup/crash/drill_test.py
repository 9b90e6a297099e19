"""The drill: a server is backed up under load, tool and server are killed in turn, a byte of the backup
changes, and what is restored has all that was acknowledged before the backup began."""

import contextlib
import glob
import http.client
import os
import random
import signal
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tool", "integration"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))

from fresh_seed import seed_of  # noqa: E402
from tool_runner import DAMAGE, ToolCase, tool_binary  # noqa: E402
from seendb_client import Server  # noqa: E402

USERS = 400


class Writer(threading.Thread):
    """Plays of items that count up, for random users; remembers those that were acknowledged."""

    def __init__(self, server, seed):
        super().__init__(daemon=True)
        self.server, self.random = server, random.Random(seed)
        self.lock = threading.Lock()
        self.acknowledged = {}  # user: items
        self.count = 0
        self.ends = threading.Event()

    def step(self, batch):
        events = []
        for _ in range(batch):
            self.count += 1
            events.append({"user": "u%d" % self.random.randrange(USERS), "item": "v%d" % self.count,
                           "at": int(time.time() * 1000)})
        try:
            with contextlib.closing(self.server.client(timeout=10)) as client:
                answer = client.request("POST", "/plays", {"events": events})
        except (OSError, http.client.HTTPException):
            return
        if answer.status != 200 or answer.json["accepted"] != batch:
            return
        with self.lock:
            for event in events:
                self.acknowledged.setdefault(event["user"], []).append(event["item"])

    def run(self):
        while not self.ends.is_set():
            self.step(50)
            time.sleep(0.02)

    def so_far(self):
        with self.lock:
            return {user: list(items) for user, items in self.acknowledged.items()}


class DrillTest(ToolCase):

    def begin(self, server):
        """A backup that takes some seconds."""
        command = [tool_binary(), "backup", "create", self.backups, "--url", server.url, "--mb-per-s", "1",
                   "--timeout", "100", "--json"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def files(self):
        return glob.glob(os.path.join(self.backups, "files", "*", "*"))

    def wait_for_files(self, count, running):
        until = time.monotonic() + 60
        while len(self.files()) < count and running.poll() is None and time.monotonic() < until:
            time.sleep(0.02)

    def listed(self):
        return self.tool("backup", "list", self.backups, "--json").json["backups"]

    def test_drill(self):
        seed = seed_of("drill")
        print("seed %s" % seed)
        chance = random.Random(seed)
        self.backups = self.path("backups")
        server = Server(config={"engine": {"shards": 4}})
        self.addCleanup(server.close)
        writer = Writer(server, seed)
        for _ in range(60):
            writer.step(2_000)
        server.post("/admin/drain")
        self.stock(server)
        writer.start()
        self.addCleanup(writer.join)
        self.addCleanup(writer.ends.set)

        struck = 0
        for _ in range(3):  # the tool is killed
            running = self.begin(server)
            self.wait_for_files(len(self.files()) + chance.randrange(1, 8), running)
            running.kill()
            running.communicate()
            struck += running.returncode == -signal.SIGKILL
        self.assertGreater(struck, 0)
        done_before = len(self.listed())

        acknowledged = writer.so_far()  # all of it is to be in the backup
        running = self.begin(server)
        port, struck = server.port, 0
        for _ in range(2):  # the server is killed
            self.wait_for_files(len(self.files()) + chance.randrange(1, 8), running)
            struck += running.poll() is None
            server.kill()
            time.sleep(chance.random())
            server.start(port=port)
        out, err = running.communicate(timeout=200)
        self.assertEqual(running.returncode, 0, (out, err, server.obituary()))
        self.assertGreater(struck, 0)
        sent = writer.count
        backups = self.listed()
        self.assertEqual(len(backups), done_before + 1)
        writer.ends.set()
        writer.join()

        self.tool("backup", "prune", self.backups, "--keep", "1d")
        self.assertEqual([one["id"] for one in self.listed()], [backups[-1]["id"]])
        changed = chance.choice([path for path in self.files() if os.path.getsize(path) > 0])
        with open(changed, "r+b") as file:
            place = chance.randrange(os.path.getsize(changed))
            file.seek(place)
            byte = file.read(1)
            file.seek(place)
            file.write(bytes([byte[0] ^ (1 << chance.randrange(8))]))
        damages = self.tool("backup", "verify", self.backups, "--json", code=DAMAGE).json["damages"]
        self.assertEqual([one["file"] for one in damages], [changed])
        refused = self.tool("backup", "restore", self.backups, self.path("new"), code=DAMAGE)
        self.assertIn(changed, refused.err)
        with open(changed, "r+b") as file:
            file.seek(place)
            file.write(byte)
        self.tool("backup", "restore", self.backups, self.path("new"))
        self.tool("verify", "--db", self.path("new"))
        self.compare(acknowledged, sent)

    def stock(self, server):
        """Items and a set, which are the same in each backup."""
        self.members = ["b%d" % item for item in range(20_000)]
        self.assertIn(server.put("/sets/blocked", {"items": self.members}).status, (200, 201))
        fields = {"fields": [{"name": "author", "type": "text"}]}
        self.assertEqual(server.put("/items/schema", fields).status, 200)
        for first in range(0, 20_000, 1_000):
            updates = [{"id": "v%d" % item, "version": 1, "set": {"author": "a%d" % item}}
                       for item in range(first, first + 1_000)]
            self.assertEqual(server.post("/items", {"items": updates}).json["accepted"], 1_000)

    def compare_stores(self, restored):
        blocked = restored.post("/filter", {"user": "nobody", "items": ["b1", "b19999", "c"],
                                            "exclude_sets": ["blocked"]}).json
        self.assertEqual(blocked["unseen"], ["c"])
        for first in range(0, 20_000, 1_000):
            ids = ["v%d" % item for item in range(first, first + 1_000)]
            found = restored.post("/items/get", {"ids": ids}).json["items"]
            self.assertEqual([(one["id"], one["fields"]) for one in found],
                             [(one, {"author": "a" + one[1:]}) for one in ids])

    def compare(self, acknowledged, sent):
        """Whatever was acknowledged is seen; of what was never sent, no more than the rate of the policy."""
        false = asked = 0
        with Server(db=self.path("new")) as restored:
            self.compare_stores(restored)
            for user, items in acknowledged.items():
                strangers = ["v%d" % (sent + 1_000_000 + i) for i in range(50)]
                answer = restored.post("/filter", {"user": user, "items": items + strangers}).json
                self.assertFalse(answer.get("degraded", False), answer)
                missing = set(items) & set(answer["unseen"])
                self.assertEqual(missing, set(), user)
                false += 50 - len(set(strangers) & set(answer["unseen"]))
                asked += 50
        self.assertGreater(asked, 50 * USERS // 2)
        self.assertLess(false, asked * 0.03)


if __name__ == "__main__":
    unittest.main()
