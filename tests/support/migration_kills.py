"""What tests of a migration under kill -9 do: users' sorted sets are imported while plays and filters
go on, and the importer, the server and Redis are killed at random. Nothing that was seen is ever called
unseen, the comparison finds nothing missing, and the sorted sets are what the old service would have
written. A test says which users have which past, and what they play."""

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tool", "integration"))
from fresh_seed import seed_of  # noqa: E402
from real_redis import Redis  # noqa: E402
from seendb_client import Server, eventually, free_port  # noqa: E402
from tool_runner import run, tool_binary  # noqa: E402

SECONDS = float(os.environ.get("SEENDB_KILL_SECONDS", "8"))
PLAYS_A_REQUEST = 20


class Model:
    """What the old service would have in Redis, by plays that were acknowledged."""

    def __init__(self, cap):
        self.cap = cap  # 0: none
        self.lock = threading.Lock()
        self.scores = {}

    def add(self, user, item, at_s):
        with self.lock:
            scores = self.scores.setdefault(user, {})
            scores[item] = max(scores.get(item, 0), at_s)

    def expected(self, user):
        newest = sorted((at, item) for item, at in self.scores[user].items())[-self.cap:]
        return [(item, float(at)) for at, item in newest]


class MigrationKills:
    """Mixed into a TestCase, which calls `migrate`."""

    def begin(self, past, plays, cap=0, sure=None, clock_ms=None, policy=None):
        """`past`: user -> {item: at_s}, in Redis; `plays`: (at_s, user, item), in the order in which they
        are sent; `cap`: members that a key keeps, 0: all; `sure(user)`: items of the past that no cap
        takes away."""
        self.seed = seed_of("migration_kills")
        print("SEENDB_SEED=%d" % self.seed)
        self.random = random.Random(self.seed)
        self.redis = Redis("--appendonly", "yes", "--appendfsync", "always")
        self.addCleanup(self.redis.close)
        self.plays, self.users = plays, sorted(past)
        self.sure = sure or (lambda user: list(past[user]))
        self.members = sum(len(items) for items in past.values())
        self.model = Model(cap)
        commands = []
        for user, items in past.items():
            for item, at_s in items.items():
                commands.append(("ZADD", "watched:" + user, at_s, item))
                self.model.add(user, item, at_s)
        self.redis.run_all(commands)
        config = {"migration": {"default": {
            "redis": self.redis.url, "key": "watched:{user}", "budget_ms": 3_000,
            "dual_write": True, "cap": cap}}}
        if policy:
            config["default_policy"] = policy
        self.port = free_port()
        self.server = Server(config=config, start=False, clock_ms=clock_ms)
        self.addCleanup(self.server.close)
        self.server.start(port=self.port)
        self.importer = None
        self.stop = threading.Event()
        self.problems = []
        self.known = {}  # by user: items that must be seen
        self.known_lock = threading.Lock()

    def guarded(self, work):
        try:
            work()
        except Exception as why:  # for the main thread
            self.problems.append(repr(why))

    def insist(self, client, *request):
        """The answer of a request that is sent until it is answered by 200."""
        while True:
            try:
                answer = client.request(*request)
                if answer.status == 200:
                    return answer
                if answer.status < 500:
                    raise AssertionError(answer)
            except (OSError, http.client.HTTPException):  # it was killed
                client.close()
            if self.stop.is_set():
                return None
            time.sleep(0.02)

    def play(self):
        """The plays, each request acknowledged before the next one."""
        client = self.server.client()
        requests = [self.plays[at:at + PLAYS_A_REQUEST]
                    for at in range(0, len(self.plays), PLAYS_A_REQUEST)]
        for some in requests:
            events = [{"user": user, "item": item, "at": at_s * 1000} for at_s, user, item in some]
            if self.insist(client, "POST", "/plays", {"events": events}) is None:
                return
            for at_s, user, item in some:
                self.model.add(user, item, at_s)
                with self.known_lock:
                    self.known.setdefault(user, []).append(item)
            if self.stop.wait(SECONDS / len(requests)):
                return

    def ask(self):
        """Filters of random users about what they saw."""
        client = self.server.client()
        generator = random.Random(self.seed + 1)
        asked = whole = 0
        while not self.stop.is_set():
            user = generator.choice(self.users)
            with self.known_lock:
                items = list(self.known.get(user, ()))
            items = list(dict.fromkeys(items + self.sure(user)))[:5_000] + ["never played"]
            answer = self.insist(client, "POST", "/filter", {"user": user, "items": items})
            if answer is None:
                break
            asked += 1
            if answer.json["degraded"]:
                continue
            whole += 1
            if not set(answer.json["unseen"]) <= {"never played"}:
                raise AssertionError("user %s: %r" % (user, answer.json))
        print("%d filters, %d of them whole" % (asked, whole))
        if whole < 5:  # a slow server is away most of the time
            raise AssertionError("hardly any whole answer")

    def start_importer(self):
        state = os.path.join(self.server.folder, "import.json")
        self.importer = subprocess.Popen(
            [tool_binary(), "redis", "import", "--redis", self.redis.url, "--user-from",
             "watched:{user}", "--url", "http://127.0.0.1:%d" % self.port, "--state", state,
             "--rate", str(int(self.members / SECONDS)), "--parallel", "2", "--retry", "120",
             "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end_importer(self):
        out, err = self.importer.communicate(timeout=120)
        return self.importer.returncode, out, err

    def restart_server(self):
        self.server.kill()
        self.server.start(port=self.port)

    def restart_redis(self):
        self.redis.kill()
        time.sleep(self.random.uniform(0, 0.5))
        self.redis.start()

    def restart_importer(self):
        if self.importer.poll() is None:
            self.importer.send_signal(signal.SIGKILL)
        self.end_importer()
        self.start_importer()

    def migrate(self):
        threads = [threading.Thread(target=self.guarded, args=(work,))
                   for work in (self.play, self.ask, self.ask)]
        for thread in threads:
            thread.start()
        self.start_importer()
        until = time.monotonic() + SECONDS
        kills = (self.restart_server, self.restart_redis, self.restart_importer)
        done = []
        while time.monotonic() < until and not self.problems:
            kill = self.random.choice(kills)
            done.append(kill.__name__)
            kill()
            time.sleep(self.random.uniform(0.1, 1))
        print(done)
        threads[0].join()  # all plays
        self.stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(self.problems, [])
        code, out, err = self.end_importer()
        if code != 0:  # its patience was over, or a key changed its place
            self.start_importer()
            code, out, err = self.end_importer()
        self.assertEqual(code, 0, (out, err))
        self.assertTrue(json.loads(out)["users_noted"])
        state = lambda: self.server.get("/admin/migration").json["collections"][0]  # noqa: E731
        eventually(lambda: state()["queue_bytes"] == 0)
        self.assertEqual((state()["not_written"], state()["affected_count"]), (0, 0))
        self.assertEqual(state()["imported_users"], len(self.users))
        done = run("redis", "compare", "--redis", self.redis.url, "--user-from", "watched:{user}",
                   "--url", self.server.url, "--json")
        self.assertEqual((done.code, done.json["missing"]), (0, 0), done)
        for user in self.users:
            flat = self.redis.run("ZRANGE", "watched:" + user, 0, -1, "WITHSCORES")
            members = [(flat[i].decode(), float(flat[i + 1])) for i in range(0, len(flat), 2)]
            self.assertEqual(members, self.model.expected(user), user)
