"""What a viewer knows of its users' history, and what it does to them.

A user's calls come from one thread, so their order is known. The server's present lies between the
clock's `done` and `target`, and so does the time up to which a deletion covers what it was not
told: plays are given times before or after all that, never in between.
"""

import time

from kill_workers import HOUR_MS, Worker, taken

COLLECTIONS = {"video": "month", "books": "days:30"}
ITEMS = ["i%d" % i for i in range(12)] + [str(i) for i in range(7, 12)]
NEVER = -1 << 62


def progress_of(at_ms):
    """The same at one time, so that two plays of one time are one state."""
    return at_ms % 1000


class Watcher:
    """One user. `states`: (collection, item) -> at_ms; `covered`: (collection, item) -> the least
    and the most time up to which it was deleted; `toggles`: (since_ms, paused); `sent`: whatever
    was played since the filter was cleared last, `refused`: collection -> the most time up to which
    plays may be refused since."""

    def __init__(self, user):
        self.user = user
        self.states = {}
        self.covered = {}
        self.toggles = []
        self.sent = set()
        self.refused = {}
        self.top = NEVER  # no play, no cover lies after it
        self.doubt = None  # what was asked for and not answered: (call, arguments)

    def paused_at(self, at_ms):
        paused = False
        for since_ms, on in self.toggles:
            paused = on if since_ms <= at_ms else paused
        return paused

    def is_paused(self):
        return bool(self.toggles) and self.toggles[-1][1]

    def takes(self, key, at_ms):
        """Whether a play shows; None: that can't be said, so it is not to be made."""
        least, most = self.covered.get(key, (NEVER, NEVER))
        if at_ms <= least or self.paused_at(at_ms):
            return False
        return None if at_ms <= most else True

    def play(self, events):
        for key, at_ms in events:
            self.top = max(self.top, at_ms)
            if self.takes(key, at_ms):
                self.states[key] = max(at_ms, self.states.get(key, at_ms))

    def cover(self, key, done_ms, target_ms):
        """Deleted: what is known of it, and everything up to the server's present."""
        known = self.states.pop(key, NEVER)
        least, most = self.covered.get(key, (NEVER, NEVER))
        self.covered[key] = (max(least, known, done_ms), max(most, known, target_ms))
        self.top = max(self.top, self.covered[key][1])

    def clear(self, names, done_ms, target_ms):
        for name in names:
            newest = max([at for (of, _), at in self.states.items() if of == name], default=NEVER)
            for item in ITEMS:
                self.cover((name, item), max(done_ms, newest), max(target_ms, self.top))

    def forget(self, names, target_ms):
        """The filters were cleared, too."""
        self.sent = {key for key in self.sent if key[0] not in names}
        self.refused.update(dict.fromkeys(names, target_ms))

    def settle(self, listed, recording, target_ms):
        """Takes what is listed for what happened; what can't have happened."""
        wrong = []
        doubt, self.doubt = self.doubt, None
        found = {(name, item): one for name, items in listed.items() for item, one in items.items()}
        may = {key: {at_ms} for key, at_ms in self.states.items()}
        optional = set()
        if doubt and doubt[0] == "play":
            for key, at_ms in doubt[1]:
                self.top = max(self.top, at_ms)
                if self.takes(key, at_ms) and at_ms > self.states.get(key, NEVER):
                    may.setdefault(key, set()).add(at_ms)
                    if key not in self.states:
                        optional.add(key)
        elif doubt and doubt[0] in ("delete", "clear"):
            if doubt[0] == "clear":  # perhaps of filters, too
                self.refused.update((name, target_ms) for name, _ in doubt[1])
            keys = [key for key in doubt[1] if key in self.states]
            gone = {key not in found for key in keys}
            if len(gone) > 1:
                wrong.append("half of %r" % (doubt,))
            optional.update(keys)
            newest = max([self.states[key] for key in keys], default=NEVER)
            for key in doubt[1]:
                least, most = self.covered.get(key, (NEVER, NEVER))
                if gone == {True}:
                    least = max(least, newest if doubt[0] == "clear" and key[0] in {
                        one[0] for one in keys if self.states[one] == newest} else
                        self.states.get(key, NEVER))
                self.covered[key] = (least, max(most, target_ms, self.top))
        for key in set(may) - set(found) - optional:
            wrong.append("%r is missing: %r" % (key, may[key]))
        for key, (at_ms, progress) in found.items():
            if at_ms not in may.get(key, ()) or progress != progress_of(at_ms):
                wrong.append("%r is there: %d, %d, expected %r" %
                             (key, at_ms, progress, may.get(key)))
        self.states = {key: one[0] for key, one in found.items()}
        self.top = max([self.top] + [most for _, most in self.covered.values()])
        return wrong + self.settle_recording(doubt, recording)

    def settle_recording(self, doubt, recording):
        if doubt and doubt[0] == "pause" and recording["paused"] != self.is_paused():
            self.toggles.append((recording["since_ms"], recording["paused"]))
        known = self.toggles[-1] if self.toggles else (0, False)
        if (recording["since_ms"], recording["paused"]) != known:
            return ["recording is %r, expected %r" % (recording, known)]
        return []


class Viewer(Worker):
    """Lives of a few users."""

    watchers = ()

    def work(self):
        one = self.chance.choice(self.watchers)
        call = self.chance.choices([self.play, self.look, self.delete, self.clear, self.pause],
                                   [12, 5, 4, 1, 2])[0]
        call(one)
        time.sleep(self.chance.random() * 0.005)

    def ask(self, one, call, arguments, method, path, body):
        """The answer; what was asked for stays in doubt without one."""
        one.doubt = (call, arguments)
        answer = self.call(method, path, body)
        if answer is not None:
            one.doubt = None
        return answer

    def play(self, one):
        """Heartbeats in any order: new ones, late ones, some again."""
        name = self.chance.choice(list(COLLECTIONS))
        events = []
        for _ in range(self.chance.randint(1, 8)):
            key = (name, self.chance.choice(ITEMS))
            at_ms = max(one.top, self.clock.target) + self.chance.randint(1, 2000)
            if self.chance.random() < 0.4:
                at_ms = self.clock.done - self.chance.randint(0, HOUR_MS)
            if one.takes(key, at_ms) is not None and at_ms > one.refused.get(name, NEVER):
                events.append((key, at_ms))
        if not events:
            return
        events += self.chance.sample(events, self.chance.randint(0, len(events)))
        rows = [{"user": one.user, "item": key[1], "at": at_ms, "progress_s": progress_of(at_ms)}
                for key, at_ms in events]
        one.sent.update(key for key, _ in events)
        answer = self.ask(one, "play", events, "POST", "/plays", {"collection": name,
                                                                  "events": rows})
        if answer is None:
            return
        if taken(answer, len(events)) != set(range(len(events))):
            self.model.fail(self.name, "refused", answer, events)
        one.play(events)
        self.model.count("plays", len(events))

    def look(self, one):
        """The user's own list, in the middle of everything."""
        answer = self.call("GET", "/users/%s/history?limit=1000" % one.user)
        if answer is None:
            return
        found = {(entry["collection"], entry["item"]): entry["at"]
                 for entry in answer.json["entries"]}
        if found != one.states or answer.json["degraded"]:
            self.model.fail("live:", one.user, "lists", sorted(set(found.items()) -
                                                              set(one.states.items())),
                            "lacks", sorted(set(one.states.items()) - set(found.items())))
        self.model.count("live lists")

    def delete(self, one):
        name = self.chance.choice(list(COLLECTIONS))
        items = self.chance.sample(ITEMS, self.chance.randint(1, 4))
        keys = [(name, item) for item in items]
        done_ms = self.clock.done
        if self.ask(one, "delete", keys, "POST", "/users/%s/history/delete" % one.user,
                    {"collection": name, "items": items}) is None:
            return
        target_ms = self.clock.target
        for key in keys:
            one.cover(key, done_ms, target_ms)
        self.model.count("deletions", len(keys))

    def clear(self, one):
        names = self.chance.sample(list(COLLECTIONS), self.chance.randint(0, len(COLLECTIONS)))
        keys = [(name, item) for name in names or COLLECTIONS for item in ITEMS]
        done_ms = self.clock.done
        body = {"collections": names} if names else {}
        if self.chance.random() < 0.5:
            body["filter"] = True
        if self.ask(one, "clear", keys, "POST", "/users/%s/history/clear" % one.user,
                    body) is None:
            return
        target_ms = self.clock.target
        one.clear(names or COLLECTIONS, done_ms, target_ms)
        self.model.count("clears")
        if "filter" in body:
            one.forget(names or COLLECTIONS, target_ms)
            self.model.count("cleared filters")

    def pause(self, one):
        paused = not one.is_paused() if self.chance.random() < 0.8 else one.is_paused()
        answer = self.ask(one, "pause", paused, "PUT", "/users/%s/recording" % one.user,
                          {"paused": paused})
        if answer is None:
            return
        if answer.json["paused"] != one.is_paused():
            one.toggles.append((answer.json["since_ms"], answer.json["paused"]))
        self.model.count("pauses")
