"""Clients that write and read at the nodes of a cluster while something happens to these, and what they
hold against the answers:

- what was acknowledged is seen: with its SeenDB-Position always; without it, unless it was acknowledged
  less than UNSETTLED_S ago, and so long ago at most nodes were failing or coming back
  (server/doc/cluster.md, "What is promised");
- what an acknowledged erasure took is unseen, with its position;
- no read fails: the test leaves a replica of each partition alive. None is degraded, but for these: a node
  whose clock is wrong (clock_is_wrong) may say that it doubts it; while nodes fail or come back, one that
  took over and could not write to the log within a second says "behind", as on a busy machine, but few do
  (BEHIND_MOST); and where no node reaches Kafka (log_is_cut, until UNSETTLED_S after they reach it again),
  what was acknowledged shortly before that may be missed, and any read may say so, at its deadline too;
- what was never sent is unseen;
- of a user's set the version that was acknowledged last is what a question with its position excludes.

Writes may be refused, or their outcome be open. What is held against the answers is of two kinds: wrong
ones (failures), and those that a busy machine explains (incomplete): none at all, one that says what it
lacks, or one without a position that lacks what was acknowledged less than UNSETTLED_S ago.
"""

import contextlib
import http.client
import random
import threading
import time

UNSETTLED_S = 3.0
WRITERS, READERS = 4, 3
USERS = 10  # of each writer
NEWEST = 200
BEHIND_MOST = 0.1  # of the reads
SET_LASTS_MS = 10 * 24 * 3_600_000


class User:
    """What one writer knows of a user. Written by one thread; replaced, never changed in place."""

    def __init__(self, items=(), gone=(), position="", open_items=(), era=0, version=None, puts=0):
        self.items = items            # (item, when it was acknowledged)
        self.gone = gone              # items of before an acknowledged erasure
        self.position = position      # of the newest acknowledged write
        self.open_items = open_items  # they may be seen or not
        self.era = era                # counts the erasures that were begun
        self.version = version        # of the set, acknowledged last; None: it is open, or there is none
        self.puts = puts              # counts the versions that were begun

    def but(self, **changes):
        return User(**{**self.__dict__, **changes})

    def names(self):
        return tuple(item for item, _ in self.items)


def set_question(name, known):
    """Excludes a user's set, of which one version is known."""
    items = ["%s%d" % (letter, version) for version in (known.version, known.version - 1) for letter in "st"]
    return {"user": name, "items": items, "exclude_sets": ["s"], "deadline_ms": 5000}


def set_answer(known):
    """What is unseen then: the former version counts no more."""
    return ["%s%d" % (letter, known.version - 1) for letter in "st"]


class ClusterLoad:

    def __init__(self, nodes, seed, erases=True):
        self.seed = seed
        self.erases = erases
        self.reachable = list(nodes)  # of clients; the test takes some away
        self.users = {}
        self.generations = {}
        self.said_ms = {}  # when the newest version of a user's set was said
        self.failures = []    # answers that are wrong
        self.incomplete = []  # answers that lack something
        self.log_is_cut = False
        self.clock_is_wrong = False
        self.refused = self.written = self.read = self.stale = self.behind = 0
        self.sets_put = self.sets_asked = 0
        self.took = []  # (when it began, seconds) of each read
        self.unsettled_from, self.unsettled_to = 0.0, 0.0
        self.mutex, self.asking = threading.Lock(), {}
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(self.write, i))
                        for i in range(WRITERS)]
        self.threads += [threading.Thread(target=self.run, args=(self.ask, WRITERS + i))
                         for i in range(READERS)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()
        if self.behind > 20 + BEHIND_MOST * self.read:
            self.incomplete.append("of %d reads %d were behind" % (self.read, self.behind))

    def check(self, when):
        """Nothing so far was held against the answers."""
        if self.failures:
            raise AssertionError("wrong: %s, %s" % (when, self.failures[:3]))
        if self.incomplete:
            raise AssertionError("not answered in full: %s, %s" % (when, self.incomplete[:3]))

    # ---- What happens to the nodes ----

    def unsettle(self):
        """From now on until settle() nodes fail or come back."""
        now = time.monotonic()
        if now >= self.unsettled_to:
            self.unsettled_from = now
        self.unsettled_to = float("inf")

    def settle(self):
        """The last of it was now."""
        self.unsettled_to = time.monotonic() + UNSETTLED_S

    def is_unsettled(self, at):
        return self.unsettled_from <= at < self.unsettled_to

    def leave(self, nodes):
        """Clients ask these no more, and questions at them have been answered; writes at them may be
        under way."""
        self.reachable = [one for one in self.reachable if one not in nodes]
        while any(self.asking.get(one) for one in nodes):
            time.sleep(0.005)
        self.unsettle()

    # ---- Clients ----

    def run(self, step, index):
        chance = random.Random(self.seed * 100 + index)
        clients = {}
        while not self.ended.is_set():
            if not self.reachable:
                time.sleep(0.02)
                continue
            server = chance.choice(self.reachable)
            client = clients.get(server)
            if client is None or client.port != server.port:
                client = clients[server] = server.client(timeout=30)
            try:
                with self.noted(server, step):
                    if server in self.reachable:
                        step(index, chance, client)
            except (OSError, http.client.HTTPException):  # it was killed: the outcome is open
                client.close()
            except Exception as fault:  # would end the thread unseen
                self.failures.append((time.monotonic(), repr(fault)))
        for client in clients.values():
            client.close()

    @contextlib.contextmanager
    def noted(self, server, step):
        """Counts the questions that are under way at a node."""
        count = 1 if step == self.ask else 0
        with self.mutex:
            self.asking[server] = self.asking.get(server, 0) + count
        try:
            yield
        finally:
            with self.mutex:
                self.asking[server] -= count

    def write(self, index, chance, client):
        place = (index, chance.randrange(USERS))
        name = self.name_of(place)
        known = self.users.get(name, User())
        if self.erases and chance.random() < 0.02:
            return self.erase(place, known, client)
        if chance.random() < 0.1:
            return self.put_set(name, known, client)
        item = "i%d" % (len(known.items) + len(known.gone) + len(known.open_items))
        self.users[name] = known.but(open_items=known.open_items + (item,))
        answer = client.request("POST", "/plays", {"events": [{"user": name, "item": item}]})
        if answer.status != 202 and (answer.status != 200 or answer.json["accepted"] != 1):
            self.refused += 1
            return None
        self.written += 1
        self.users[name] = known.but(items=known.items + ((item, time.monotonic()),),
                                     position=answer.headers["seendb-position"])
        return None

    def put_set(self, name, known, client):
        """Versions are said one after the other by the clock of this process: those of nodes may be wrong."""
        version = known.puts + 1
        self.users[name] = known = known.but(version=None, puts=version)
        at_ms = max(time.time_ns() // 1_000_000, self.said_ms.get(name, 0) + 1)
        self.said_ms[name] = at_ms
        answer = client.request("PUT", "/users/%s/sets/s" % name, {
            "items": ["s%d" % version, "t%d" % version], "expires_ms": SET_LASTS_MS, "at": at_ms})
        if answer.status not in (200, 202):
            self.refused += 1
            return
        self.sets_put += 1
        self.users[name] = known.but(version=version, position=answer.headers["seendb-position"])

    def name_of(self, place):
        """The users of one writer go by other names after an erasure whose outcome is open."""
        return "w%d-%d-%d" % (*place, self.generations.get(place, 0))

    def erase(self, place, known, client):
        """Until it is acknowledged, what was there may be seen or not."""
        name = self.name_of(place)
        self.users[name] = known.but(items=(), open_items=known.open_items + known.names(),
                                     era=known.era + 1, version=None)
        self.generations[place] = self.generations.get(place, 0) + 1
        answer = client.request("DELETE", "/users/" + name)
        if answer.status not in (200, 202):
            self.refused += 1
            return
        self.generations[place] -= 1
        self.users[name] = known.but(items=(), gone=known.gone + known.names(), era=known.era + 1, version=None,
                                     position=answer.headers["seendb-position"])

    def ask(self, _, chance, client):
        if not self.users:
            return None
        name = chance.choice(list(self.users))
        known = self.users[name]
        if known.version is not None and chance.random() < 0.2:
            return self.ask_set(name, known, client)
        began, log_is_cut = time.monotonic(), self.log_is_cut
        clock_is_wrong = self.clock_is_wrong
        with_position = chance.random() < 0.5 and known.position
        items, gone = known.names()[-NEWEST:], known.gone[-NEWEST:]
        answer = client.request(
            "POST", "/filter", {"user": name, "items": [*items, *gone, "never"],
                                "deadline_ms": 5000},
            {"SeenDB-Position": known.position} if with_position else {})
        self.read += 1
        self.took.append((began, time.monotonic() - began))
        # A replica that is not that far, or that took over and could apply no tick. A question that waits
        # for its position meets the cut as well.
        log_is_cut = log_is_cut or self.log_is_cut
        missing = answer.json.get("missing", [])
        # While the log is cut, a busy machine may let a read wait for it to its deadline.
        waited = log_is_cut and "deadline" in missing
        behind = (set(missing) - ({"deadline"} if log_is_cut else set()) == {"behind"} and
                  (log_is_cut or self.is_unsettled(began)))
        self.behind += 1 if behind and not log_is_cut else 0
        if behind and (with_position or waited or not log_is_cut):
            return None
        doubtful = clock_is_wrong and missing == ["clock"]
        if answer.status in (503, 504) or (
                answer.status == 200 and answer.json["degraded"] and not behind and not doubtful):
            return self.incomplete.append((began, name, answer))
        if answer.status != 200:
            return self.failures.append((began, name, answer))
        return self.judge(name, known, began, with_position, set(answer.json["unseen"]), items, gone)

    def ask_set(self, name, known, client):
        began = time.monotonic()
        answer = client.request("POST", "/filter", set_question(name, known), {"SeenDB-Position": known.position})
        now = self.users[name]
        if (now.era, now.puts) != (known.era, known.puts):
            return  # an erasure or a version that began since the question may have taken it
        if answer.status in (503, 504):
            return  # as many as of other questions, which are counted there
        if answer.status == 200 and answer.json["degraded"]:
            if "set:s" in answer.json["missing"]:
                self.incomplete.append((began, name, answer))
            return
        self.sets_asked += 1
        if answer.status != 200 or answer.json["unseen"] != set_answer(known):
            self.failures.append((began, name, "set of version", known.version, answer))

    def judge(self, name, known, began, with_position, unseen, items, gone):
        if "never" not in unseen:
            self.failures.append((began, name, "never sent, and seen"))
        if self.users[name].era != known.era:
            return  # an erasure that began since the question may have taken any of them
        unsettled = self.is_unsettled(began)
        excused = unsettled and not with_position
        acknowledged = dict(known.items)
        of_when = self.unsettled_from if self.log_is_cut else began
        ages = {item: of_when - acknowledged[item] for item in items if item in unseen}
        missed = [item for item, age in ages.items() if not (excused and age < UNSETTLED_S)]
        seen = [item for item in gone if item not in unseen and not excused]
        self.stale += len(unseen & set(items))
        if not missed and not seen:
            return
        # On a busy machine nodes that live may not agree on the primary: such a read may lack what is new.
        stale = not with_position and not seen and all(ages[item] < UNSETTLED_S for item in missed)
        (self.incomplete if stale else self.failures).append(
            (began, name, "missed", ["%s, %.2f s old" % (item, ages[item]) for item in missed],
             "not erased", seen[:5], "position", with_position and known.position,
             "unsettled", unsettled))

    # ---- Afterwards ----

    def slow(self, begin, end, limit_s):
        """The share of reads that began between two times and took longer."""
        took = [seconds for at, seconds in self.took if begin <= at < end]
        return sum(seconds > limit_s for seconds in took) / max(1, len(took)), len(took)

    def __str__(self):
        return ("%d plays and %d sets acknowledged, %d writes refused, %d reads (%d behind), %d of sets, "
                "%d items stale as promised" %
                (self.written, self.sets_put, self.refused, self.read, self.behind, self.sets_asked, self.stale))
