"""A primary is killed (kill -9) under a steady rate of reads and writes of its users, which come to
the other nodes."""

import http.client
import threading
import time

from seendb_client import Client, eventually

READERS, WRITERS = 8, 8
READS_PER_S, WRITES_PER_S = 200, 100
BEFORE_S, AFTER_S = 2.0, 6.0
WINDOW_S = 0.5
SLOW_LEAST_S = 0.020


class Steady(threading.Thread):
    """Asks at times of its own; (begin, end, whether it was answered) of each."""

    def __init__(self, port, request, per_s, phase):
        super().__init__(daemon=True)
        self.port, self.request, self.every_s = port, request, 1 / per_s
        self.phase = phase
        self.done = []
        self.until = None

    def run(self):
        client = Client("127.0.0.1", self.port, timeout=10)
        due = time.monotonic() + self.phase * self.every_s
        number = 0
        while due < self.until:
            time.sleep(max(0, due - time.monotonic()))
            method, path, body = self.request(number)
            try:
                answer = client.request(method, path, body)
                fine = answer.status == 200 and b'"degraded":true' not in answer.body
            except (OSError, http.client.HTTPException):
                client.close()
                fine = False
            self.done.append((due, time.monotonic(), fine))
            number += 1
            due += self.every_s
        client.close()


def quantile(values, share):
    return sorted(values)[int(share * (len(values) - 1))] if values else 0.0


def gap_s(done, since):
    """The longest time without an answer."""
    ends = sorted(end for _, end, fine in done if fine and end >= since)
    return max((later - sooner for sooner, later in zip(ends, ends[1:])), default=float("inf"))


def back_s(done, killed, slow_s):
    """From the kill until the p99 of each half second is as before, for good."""
    last = 0.0
    for step in range(int(AFTER_S / WINDOW_S)):
        begin = killed + step * WINDOW_S
        window = [(end - due, fine) for due, end, fine in done if begin <= due < begin + WINDOW_S]
        if any(not fine for _, fine in window) or quantile([t for t, _ in window], 0.99) > slow_s:
            last = (step + 1) * WINDOW_S
    return last


def run(world, figures, _quick):
    lists = world.lists()
    led = {name: {p for p, held in enumerate(lists) if held[0] == name} for name in world.nodes}
    victim = max(led, key=lambda name: len(led[name]))
    users = world.users_of(led[victim], 60, "t")
    others = [node for name, node in world.nodes.items() if name != victim]
    stamp = str(time.time())

    def read(thread):
        return lambda i: ("POST", "/filter", {"user": users[(i + thread) % len(users)],
                                              "items": ["a", "b", "c"]})

    def write(thread):
        return lambda i: ("POST", "/plays", {"events": [
            {"user": users[(i + thread) % len(users)],
             "item": "%s-%d-%d" % (stamp, thread, i)}]})
    readers = [Steady(others[i % 2].port, read(i), READS_PER_S / READERS, i / READERS)
               for i in range(READERS)]
    writers = [Steady(others[i % 2].port, write(i), WRITES_PER_S / WRITERS, i / WRITERS)
               for i in range(WRITERS)]
    until = time.monotonic() + BEFORE_S + AFTER_S
    for one in readers + writers:
        one.until = until
        one.start()
    time.sleep(BEFORE_S)
    killed = time.monotonic()
    world.nodes[victim].kill()
    for one in readers + writers:
        one.join()
    for name, threads in (("reads", readers), ("writes", writers)):
        done = [one for thread in threads for one in thread.done]
        calm = [end - due for due, end, _ in done if due < killed - 0.1]
        before = quantile(calm, 0.99)
        case = {"what": name, "per_s": READS_PER_S if name == "reads" else WRITES_PER_S}
        figures.add("takeover", case, "cluster",
                    longest_without_answer_ms=gap_s(done, killed - 0.1) * 1e3,
                    failed=float(sum(not fine for due, _, fine in done if due >= killed - 1)),
                    asked_after=float(sum(due >= killed for due, _, _ in done)),
                    back_s=back_s(done, killed, max(2 * before, SLOW_LEAST_S)),
                    p99_before_ms=before * 1e3)
        for second in range(3):
            begin = killed + second
            figures.add("takeover", case, "cluster", **{"p99_second_%d_ms" % (second + 1): quantile(
                [end - due for due, end, _ in done if begin <= due < begin + 1], 0.99) * 1e3})
    node = world.nodes[victim]
    began = time.monotonic()
    node.start(port=node.fixed_port)
    eventually(lambda: {one["state"] for one in world.state(victim).values()} == {"serving"}, 60)
    figures.add("takeover", {"what": "restart", "per_s": 0}, "cluster",
                serving_again_s=time.monotonic() - began)
    world.wait_serving()
