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


def put_off(server):
    metrics = server.get("/metrics").body.decode()
    return float(metrics.split("\nseendb_ingest_put_off_total ")[1].split()[0])


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

    def scores(self, redis, users):
        found = {}
        for user in users:
            flat = redis.run("ZRANGE", "watched:" + user, 0, -1, "WITHSCORES")
            found[user] = {flat[i].decode(): int(flat[i + 1]) for i in range(0, len(flat), 2)}
        return found

    def test_a_process_that_dies_while_it_records_leaves_nothing_out(self):
        """The queue has a batch before the database does: the process is killed while the database
        puts it off, and the same batch is read again."""
        now_ms = int(time.time()) * 1000
        expected, lines = {}, []
        for number in range(4_000):
            user, item = "u%d" % (number % 5), "v%d" % number
            expected.setdefault(user, {})[item] = now_ms // 1000
            lines.append("%s\t%s" % (user, json.dumps({"user": user, "item": item, "at": now_ms})))
            if number % 500 == 7:
                old = {"user": user, "item": "ancient", "at": 1_000_000_000_000}
                lines.append("%s\t%s" % (user, json.dumps(old)))
        with Broker() as broker, Redis() as redis:
            broker.topic("plays", 1)
            config = settings(broker, "plays")
            config["kafka"]["batch_messages"] = 300
            # No slot is drained before the clock is moved: after some batches all are full.
            config["engine"] = {"shards": 1, "ring_slots": 2, "slot_bytes": 1}
            config["migration"] = {"default": {"redis": redis.url, "key": "watched:{user}",
                                               "dual_write": True, "cap": 0}}
            send(broker, "plays", lines)
            with Server(config=config, clock_ms=now_ms) as server:
                state = lambda: server.get("/admin/migration").json["collections"][0]  # noqa: E731
                for _ in range(3):
                    wait(lambda: state()["queue_bytes"] > 0 and
                         put_off(server) > 0, server)
                    server.kill()
                    server.start()

                def move():
                    server.move_clock(now_ms + 1000)
                    return sum(one["applied_offset"] or 0 for one in
                               server.get("/admin/ingest").json["topics"][0]["partitions"])

                wait(lambda: move() == len(lines), server)
                wait(lambda: state()["queue_bytes"] == 0, server)
                self.assertEqual(self.scores(redis, expected), expected)

    @staticmethod
    def states_of(queue):
        """Where in the file of a queue each frame's state is, and what it is."""
        with open(queue, "rb") as file:
            frames = file.read()
        states, at = {}, 0
        while at < len(frames):  # u32 n, u8 state, u64 sum, i64 offset, n bytes
            states[at + 4] = frames[at + 4]
            at += 21 + int.from_bytes(frames[at:at + 4], "little")
        return states

    def test_what_was_recorded_when_the_process_died_is_written(self):
        """It died behind the recording, and before it could say so: the database knows."""
        now_ms = int(time.time()) * 1000
        plays = [{"user": "u%d" % (number % 3), "item": "v%d" % number, "at": now_ms}
                 for number in range(30)]
        expected = {}
        for play in plays:
            expected.setdefault(play["user"], {})[play["item"]] = now_ms // 1000
        with Broker() as broker, Redis() as redis:
            broker.topic("plays", 1)
            config = settings(broker, "plays")
            config["migration"] = {"default": {"redis": redis.url, "key": "watched:{user}",
                                               "dual_write": True, "cap": 0}}
            with Server(config=config) as server:
                redis.kill()
                send(broker, "plays", ["%s\t%s" % (play["user"], json.dumps(play))
                                       for play in plays])
                wait_read(server, "plays", len(plays))
                queue = os.path.join(server.db, "MIGRATION", "default.writes.1")
                # It is noted in the queue after what was read is seen.
                wait(lambda: set(self.states_of(queue).values()) == {1}, server)
                server.kill()
                states = self.states_of(queue)
                self.assertEqual(set(states.values()), {1})
                with open(queue, "r+b") as file:
                    for at in states:
                        file.seek(at)
                        file.write(b"\2")
                redis.start()
                server.start()
                state = lambda: server.get("/admin/migration").json["collections"][0]  # noqa: E731
                wait(lambda: state()["queue_bytes"] == 0, server)
                self.assertEqual(self.scores(redis, expected), expected)


if __name__ == "__main__":
    real_kafka.require()
    real_redis.require()
    unittest.main()
