"""Plays that a server takes from a real Kafka go to a real Redis too, as the old service, which read
the same topic, would have written them; those that SeenDB refuses do not."""

import json
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import real_kafka
import real_redis
from real_kafka import Broker, Server, send, settings, wait, wait_read
from real_redis import Redis

USERS, PLAYS, CAP = 40, 4_000, 50


class DualWriteTest(unittest.TestCase):

    def test_sorted_sets_are_those_of_the_old_service(self):
        now_ms = int(time.time()) * 1000
        expected = {}
        lines = []
        for number in range(PLAYS):
            user, item = "u%d" % (number % USERS), "v%d" % (number * 7919 % 900)
            at_ms = now_ms - (PLAYS - number) * 1000
            expected.setdefault(user, {})[item] = at_ms // 1000
            lines.append("%s\t%s" % (user, json.dumps({"user": user, "item": item, "at": at_ms})))
        ancient = json.dumps({"user": "u0", "item": "ancient", "at": 1_000_000_000_000})
        lines.insert(PLAYS // 2, "u0\t" + ancient)
        with Broker() as broker, Redis() as redis:
            broker.topic("plays", 4)
            config = settings(broker, "plays")
            config["migration"] = {"default": {"redis": redis.url, "key": "watched:{user}",
                                               "dual_write": True, "cap": CAP}}
            with Server(config=config) as server:
                state = lambda: server.get("/admin/migration").json["collections"][0]  # noqa: E731
                send(broker, "plays", lines[:PLAYS // 2])
                wait_read(server, "plays", PLAYS // 2)
                wait(lambda: state()["queue_bytes"] == 0, server)
                redis.kill()  # the plays wait, across a restart of the server as well
                send(broker, "plays", lines[PLAYS // 2:])
                wait_read(server, "plays", len(lines))
                server.kill()
                redis.start()  # with nothing: what it had was in memory
                for user, scores in expected.items():
                    redis.run_all([("ZADD", "watched:" + user, at, item)
                                   for item, at in list(scores.items())[:10]])
                server.start()
                wait(lambda: state()["queue_bytes"] == 0, server)
                second = {}
                for line in lines[PLAYS // 2:]:
                    play = json.loads(line.split("\t")[1])
                    if play["item"] != "ancient":
                        second.setdefault(play["user"], {})[play["item"]] = play["at"] // 1000
                for user, scores in second.items():
                    for item, at_s in list(expected[user].items())[:10]:
                        scores[item] = max(scores.get(item, 0), at_s)
                    newest = sorted((at, item) for item, at in scores.items())[-CAP:]
                    flat = redis.run("ZRANGE", "watched:" + user, 0, -1, "WITHSCORES")
                    found = [(int(flat[i + 1]), flat[i].decode()) for i in range(0, len(flat), 2)]
                    self.assertEqual(found, newest, user)
                self.assertEqual(state()["affected_count"], 0)


if __name__ == "__main__":
    real_kafka.require()
    real_redis.require()
    unittest.main()
