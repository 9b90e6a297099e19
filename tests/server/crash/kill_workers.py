"""The load of the kill test: each worker is a thread with a connection of its own that works until
the server goes away, and tells the model what was acknowledged."""

import http.client
import json
import random
import threading
import time

from kill_model import (Erasable, IMPRESSIONS_KEPT, POLICIES, retention_begin_ms,
                        window_begin_ms)
from play_logs import DAY_MS, NDJSON, month_begin_ms, month_index

HOUR_MS = 3_600_000
GONE = (ConnectionError, http.client.HTTPException, OSError)


class TurnedAway(Exception):
    """A server that was told to stop refused a request."""


class Worker(threading.Thread):
    """Works until its connection fails, which it may once `leaving` is set: then the server has
    been told to stop, or killed, and may also refuse anything. `over`: the process is gone."""

    def __init__(self, model, server, ends, chance, name):
        super().__init__(name=name, daemon=True)
        self.model, self.chance = model, chance
        self.leaving, self.over = ends
        self.clock = model.clock
        self.client = server.client(timeout=60)
        self.made = 0

    def run(self):
        try:
            while not self.over.is_set():
                self.work()
        except TurnedAway:
            pass
        except GONE as error:
            if not self.leaving.is_set():
                self.model.fail(self.name, "lost the server:", repr(error))
        except Exception as error:  # pylint: disable=broad-except
            self.model.fail(self.name, "broke:", repr(error))
        finally:
            self.client.close()

    def call(self, method, path, body=None, headers=None, expected=(200, 422)):
        """An answer with an expected status (422: every event is refused), or None and a failure. A
        full ring is waited for, and so is a slot that is being written into."""
        for _ in range(2000):
            answer = self.client.request(method, path, body, headers)
            if answer.status in expected:
                return answer
            if self.leaving.is_set():
                raise TurnedAway()
            busy = answer.status == 503 and answer.error["code"] == "busy"
            if not busy or method != "POST":
                break
            self.model.count("busy")
            time.sleep(0.005)
        self.model.fail(self.name, method, path, "answered", answer)
        return None

    def new_item(self):
        """A text or a number nobody used before."""
        self.made += 1
        if self.chance.random() < 0.5:
            return "%s-%d" % (self.name, self.made)
        return str((hash_of(self.name) << 32) + self.made)

    def time_in_window(self, collection):
        now_ms = self.clock.target
        begin_ms = window_begin_ms(collection, now_ms)
        return self.chance.randint(begin_ms, now_ms + 20 * HOUR_MS)


def hash_of(text):
    """The same in every run, unlike hash()."""
    value = 7
    for byte in text.encode():
        value = (value * 131 + byte) % 999_983
    return value


def json_id(item):
    return int(item) if item.isdigit() else item


def taken(answer, count):
    """Indexes accepted for sure: none where the answer does not list every refusal."""
    said = answer.json
    if said["accepted"] + said["refused"] != count:
        raise AssertionError("of %d events: %r" % (count, answer))
    if said["refused"] > len(said["refusals"]):
        return set()
    return set(range(count)) - {refusal["index"] for refusal in said["refusals"]}


class Player(Worker):
    """Records plays as JSON and NDJSON, in time, late and a little in the future."""

    def work(self):
        collection = self.chance.choice(list(POLICIES))
        streamed = self.chance.random() < 0.4
        count = self.chance.randint(20, 200) if streamed else self.chance.randint(1, 20)
        user = "%s-u%d" % (self.name.split(".")[0], self.chance.randrange(12))
        begin_ms = retention_begin_ms(collection, self.clock.done)
        events = []
        for _ in range(count):
            if self.chance.random() < 0.3:
                user = "%s-u%d" % (self.name.split(".")[0], self.chance.randrange(12))
            at_ms = self.time_in_window(collection)
            if self.chance.random() < 0.01:
                at_ms = begin_ms - self.chance.randint(1, 40 * DAY_MS)
            events.append((user, self.new_item(), at_ms))
        answer = self.post(collection, events, streamed)
        if answer is None:
            return
        accepted = taken(answer, len(events))
        for i in accepted:
            if events[i][2] < begin_ms:
                self.model.fail(self.name, collection, events[i], "is too old, but accepted")
        self.model.count("plays", len(accepted))
        self.model.plays.add(collection, [events[i] for i in sorted(accepted)])
        time.sleep(self.chance.random() * 0.01)

    def post(self, collection, events, streamed):
        rows = [{"user": user, "item": json_id(item), "at": at_ms} for user, item, at_ms in events]
        if not streamed:
            return self.call("POST", "/plays", {"events": rows, "collection": collection})
        body = "".join(json.dumps(row) + "\n" for row in rows)
        return self.call("POST", "/plays?collection=" + collection, body, NDJSON)


class Servant(Worker):
    """Serves items: impressions by hand, and by filters that record. A user gets fewer than are
    kept, then the next one comes."""

    served = 0
    number = 0

    def work(self):
        collection = list(POLICIES)[self.number % len(POLICIES)]
        count = self.chance.randint(1, 15)
        if self.served + count > IMPRESSIONS_KEPT:
            self.number, self.served = self.number + 1, 0
            return
        self.served += count
        user = "%s-u%d" % (self.name, self.number)
        items = [self.new_item() for _ in range(count)]
        done_ms = self.clock.done
        if self.chance.random() < 0.3:
            answer = self.call("POST", "/filter", {"user": user, "items": list(map(json_id, items)),
                                                   "collection": collection, "record": True})
            if answer is None:
                return
            if not answer.json.get("recorded", True):
                # The ring is full, or the server leaves: a page, but part of it may be forgotten.
                self.model.count("unrecorded pages")
                return
            # Unless a filter's false positive, none was served before.
            items = [str(item) for item in answer.json["unseen"]]
            events = [(user, item, done_ms) for item in items]
        else:
            at_ms = self.time_in_window(collection)
            answer = self.call("POST", "/impressions", {
                "user": user, "items": list(map(json_id, items)), "at": at_ms,
                "collection": collection})
            if answer is None:
                return
            events = [(user, items[i], at_ms) for i in sorted(taken(answer, count))]
        self.model.count("impressions", len(events))
        self.model.impressions.add(collection, events)
        if POLICIES[collection].get("served_is_seen"):
            self.model.plays.add(collection, events)
        time.sleep(self.chance.random() * 0.02)


class Asker(Worker):
    """Asks, while everything moves: what was acknowledged before is filtered."""

    def work(self):
        picked = self.model.plays.pick(self.chance)
        if picked is None:
            time.sleep(0.01)
            return
        (collection, user), items = picked
        asked = self.chance.sample(list(items), min(len(items), 500))
        answer = self.call("POST", "/filter", {"user": user, "items": asked, "facts": ["plays"],
                                               "collection": collection})
        if answer is None:
            return
        begin_ms = window_begin_ms(collection, self.clock.target)
        missed = [(item, items[item]) for item in answer.json["unseen"]
                  if items[item] >= begin_ms]
        if missed or answer.json["degraded"]:
            self.model.fail("live:", collection, user, "missed", missed[:5], "of", len(asked),
                            "clock", self.clock.target, answer.json["degraded"])
        self.model.count("candidates", len(asked))
        time.sleep(self.chance.random() * 0.005)


class Eraser(Worker):
    """Lives of users: plays and impressions, erasure, plays refused and plays accepted again."""

    users = 0

    def work(self):
        if self.chance.random() < 0.4 or not self.model.erasables:
            self.users += 1
            one = Erasable("%s-u%d" % (self.name, self.users))
            self.model.erasables.append(one)
        else:
            one = self.chance.choice(self.model.erasables)
        if one.doubtful:
            return
        # A user's few items after an erasure stay an exact list, so gone items can't hit by chance.
        for _ in range(self.chance.randint(1, 3)):
            self.record(one)
        if self.chance.random() < 0.6:
            self.erase(one)
        time.sleep(self.chance.random() * 0.02)

    def record(self, one):
        collection = self.chance.choice(list(POLICIES))
        held = sum(1 for of, _ in one.kept if of == collection)
        count = min(self.chance.randint(1, 4), 8 - held)
        if count <= 0:
            return
        items = [self.new_item() for _ in range(count)]
        at_ms = self.clock.target + self.chance.randint(1, 20 * HOUR_MS)
        if one.refused_to_ms is None:
            at_ms = self.time_in_window(collection)
        if self.chance.random() < 0.3:
            answer = self.call("POST", "/impressions", {
                "user": one.user, "items": items, "at": at_ms, "collection": collection})
        else:
            answer = self.call("POST", "/plays", {"collection": collection, "events": [
                {"user": one.user, "item": item, "at": at_ms} for item in items]})
        if answer is None:
            return
        for i in taken(answer, count):
            one.kept[collection, items[i]] = at_ms

    def erase(self, one):
        done_ms = self.clock.done
        one.doubtful = True
        answer = self.call("DELETE", "/users/" + one.user)
        if answer is None:
            return
        one.doubtful = False
        if not answer.json["known"]:
            kept = one.kept_in_window(done_ms)
            if kept or one.refused_to_ms is not None:
                self.model.fail("live: not known, though erased before, or kept:", one.user, kept)
            return
        one.erased(done_ms)
        self.model.count("erasures")
        self.check_refused(one)
        collection = self.chance.choice(list(POLICIES))
        items = one.gone_by_collection().get(collection)
        if not items:
            return
        answer = self.call("POST", "/filter", {"user": one.user, "items": items,
                                               "collection": collection})
        if answer is not None and answer.json["seen"]:
            self.model.fail("live: erased", one.user, collection, answer.json)

    def check_refused(self, one):
        answer = self.call("POST", "/plays", {"collection": "sync", "events": [
            {"user": one.user, "item": "late-%s" % self.new_item(), "at": one.refused_to_ms}]})
        if answer is not None and answer.json["accepted"]:
            self.model.fail("live: a play not after the erasure was accepted:", one.user, answer)


class Admin(Worker):
    """Moves the clock, drains, seals, drops, compacts, copies, looks, makes collections."""

    def work(self):
        chosen = self.chance.choices(
            [self.move_clock, self.drain, self.seal_closed, self.seal_one, self.drop, self.compact,
             self.look, self.put_collection, self.checkpoint],
            [8, 8, 1, 2, 2, 0.5, 1, 0.5, 2])[0]
        chosen()
        self.model.count(chosen.__name__)
        time.sleep(self.chance.random() * 0.03)

    def move_clock(self):
        if not self.clock.manual:
            return
        with self.clock.mutex:
            now_ms = self.clock.target
            kind = self.chance.random()
            if kind < 0.70:
                now_ms += self.chance.randint(0, 90 * 60_000)
            elif kind < 0.92:
                now_ms += self.chance.randint(1, 30) * HOUR_MS
            else:
                now_ms = month_begin_ms(month_index(now_ms) + 1)
                now_ms += self.chance.randint(0, 6) * HOUR_MS
            self.clock.target = now_ms
            if self.call("POST", "/admin/clock", {"now_ms": now_ms}) is not None:
                self.clock.done = now_ms

    def drain(self):
        self.call("POST", "/admin/drain")

    def seal_closed(self):
        self.call("POST", "/admin/seal")

    def seal_one(self):
        answer = self.call("GET", "/admin/buckets")
        if answer is None or not answer.json["buckets"]:
            return
        bucket = self.chance.choice(answer.json["buckets"])
        # It may be dropped meanwhile.
        self.call("POST", "/admin/seal", {"collection": bucket["collection"],
                                          "bucket": bucket["bucket"]}, expected=(200, 404))

    def drop(self):
        self.call("POST", "/admin/drop-expired")

    def compact(self):
        self.call("POST", "/admin/compact")

    def checkpoint(self):
        """A copy; one that was not answered is asked for again under its name."""
        copies = self.model.copies
        if not copies.mutex.acquire(blocking=False):
            return
        try:
            plays = self.model.plays.snapshot()
            answer = self.call("POST", "/admin/checkpoint", {"name": "copy-%d" % copies.number},
                               expected=(200, 409))
            if answer is None:
                return
            if answer.status == 200:
                copies.made.append(("copy-%d" % copies.number, plays))
            copies.number += 1
        finally:
            copies.mutex.release()

    def look(self):
        self.call("GET", self.chance.choice(["/metrics", "/admin/stats", "/admin/ring"]))

    def put_collection(self):
        number = len(self.model.collections)
        if number >= 12:
            return
        name = "extra-%s" % self.chance.randrange(1 << 30)
        fields = {"bucket": "days:%d" % self.chance.randint(1, 9), "window": 1, "retention": 2,
                  "impressions": self.chance.randrange(50)}
        if self.call("PUT", "/collections/" + name, fields) is not None:
            self.model.collections[name] = fields


def crew(model, server, ends, seed, round_number):
    """The workers of one round, not started; each with a generator of its own."""
    kinds = [("p0", Player), ("p1", Player), ("p2", Player), ("s0", Servant), ("a0", Asker),
             ("e0", Eraser), ("m0", Admin), ("m1", Admin)]
    return [kind(model, server, ends, random.Random("%d/%d/%s" % (seed, round_number, name)),
                 "%s.%d" % (name, round_number))
            for name, kind in kinds]
