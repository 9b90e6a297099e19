"""Pages that one user asks for at the same moment, each recorded as it is answered."""

import json
import os
import statistics
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer

PAGES, PAGE_ITEMS, CANDIDATES = 1000, 20, 120


class Device:
    """Asks for pages of one list of items, best first, and keeps what it was served."""

    def __init__(self, server, user, **more):
        self.server, self.user, self.more = server, user, more
        self.served, self.unrecorded, self.busy, self.errors = [], 0, 0, []
        self.first = self.asked = 0
        self.thread = None

    def request(self):
        items = list(range(self.first, self.first + CANDIDATES))
        return {"user": self.user, "items": items, "limit": PAGE_ITEMS, "record": True,
                "collection": "pages", **self.more}

    def take(self, answer):
        if not answer.get("recorded", True):
            self.unrecorded += 1
            assert answer["degraded"] and "deadline" in answer["missing"], answer
        if not answer["degraded"]:  # else some of them may be seen
            self.served += answer["unseen"]
            self.first = answer["unseen"][0] if answer["unseen"] else self.first + CANDIDATES

    def page(self, client):
        answer = client.request("POST", "/filter", self.request())
        self.asked += 1
        if self.asked % 50 == 0 or b"recorded" in answer.body:
            self.server.checker.check("POST", "/filter", answer)
        if answer.status == 503 and answer.error["code"] == "busy":
            self.busy += 1
            return
        assert answer.status == 200, answer
        self.take(answer.json)

    def lines(self, client, count):
        """The same request `count` times in one body of NDJSON."""
        body = "".join(json.dumps(self.request()) + "\n" for _ in range(count))
        answer = client.request("POST", "/filter", body, {"Content-Type": "application/x-ndjson"})
        assert answer.status == 200, answer
        first = self.first
        for line in answer.lines:
            assert "error" not in line, line
            self.first = first
            self.take(line)

    def start(self, work):
        def run():
            client = self.server.client()
            try:
                work(self, client)
            except Exception as error:  # pylint: disable=broad-except
                self.errors.append(repr(error))
            finally:
                client.close()

        self.thread = threading.Thread(target=run)
        self.thread.start()
        return self


class PagesTest(unittest.TestCase):
    def serve(self, threads, **policy):
        server = CheckedServer(args=["--threads", str(threads)],
                               config={"engine": {"slot_ms": 500}})
        self.addCleanup(server.close)
        policy = {"served_is_seen": True, **policy}
        self.assertEqual(server.put("/collections/pages", policy).status, 200)
        return server

    def finish(self, devices):
        """Nothing was served twice to one user; returns how many items were."""
        served = {}
        for device in devices:
            device.thread.join()
            self.assertEqual(device.errors, [])
            served.setdefault(device.user, []).extend(device.served)
        for user, items in served.items():
            self.assertEqual(len(items), len(set(items)), user)
        return sum(len(items) for items in served.values())

    def test_two_devices_are_served_nothing_twice(self):
        server = self.serve(2)

        def work(device, client):
            for _ in range(PAGES):
                device.page(client)

        devices = [Device(server, "u1").start(work) for _ in range(2)]
        while any(device.thread.is_alive() for device in devices):
            # Else every page would merge the impressions of all before.
            self.assertEqual(server.post("/admin/compact").status, 200)
            time.sleep(0.3)
        self.assertGreater(self.finish(devices), 2 * PAGES * PAGE_ITEMS * 9 // 10)

    def test_pages_of_many_lines(self):
        server = self.serve(2)

        def lines(device, client):
            for _ in range(8):
                device.lines(client, 20)

        def single(device, client):
            for _ in range(80):
                device.page(client)

        devices = [Device(server, "u1").start(lines if i % 2 else single) for i in range(6)]
        self.assertGreater(self.finish(devices), 0)

    def test_deadlines_while_a_slow_user_waits(self):
        """Each turn takes a sync; other users go on, and who gives up records nothing."""
        server = self.serve(1, durability="sync")
        self.assertEqual(server.put("/collections/quick", {"served_is_seen": True}).status, 200)
        until = time.monotonic() + 3

        def work(device, client):
            while time.monotonic() < until:
                device.page(client)

        waits_s = []

        def other(device, client):
            while time.monotonic() < until:
                items = [str(i) for i in range(20)]
                begin = time.monotonic()
                answer = client.request("POST", "/filter", {
                    "user": "u2", "items": items, "record": True, "collection": "quick"})
                assert answer.status == 200, answer
                waits_s.append(time.monotonic() - begin)

        crowd = [Device(server, "u1", deadline_ms=3).start(work) for _ in range(30)]
        patient = [Device(server, "u1").start(work) for _ in range(2)]
        beside = Device(server, "u2").start(other)
        self.finish(crowd + patient + [beside])
        self.assertGreater(sum(device.unrecorded for device in crowd), 0)
        self.assertEqual(sum(device.unrecorded for device in patient), 0)
        self.assertGreater(sum(len(device.served) for device in patient), 0)
        # One may meet a machine that stands still.
        self.assertLess(statistics.median(waits_s), 1)
        self.assertLess(max(waits_s), 10)

    def test_those_who_are_gone_keep_nobody_waiting(self):
        server = self.serve(1, durability="sync")
        body = json.dumps(Device(server, "u1").request()).encode()
        head = b"POST /filter HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
        for _ in range(5):
            sockets = [server.socket() for _ in range(30)]
            for one in sockets:
                one.sendall(head + body)
            for one in sockets:
                one.close()
            answer = server.post("/filter", Device(server, "u1").request())
            self.assertEqual(answer.status, 200)
            self.assertNotIn("recorded", answer.json)


if __name__ == "__main__":
    unittest.main()
