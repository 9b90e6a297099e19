"""The client against a server that refuses, cuts, stalls and lies."""

import json
import os
import socket
import tempfile
import time
import unittest

from support import Blocking, Liar, answer, seendb

UNSEEN = answer(200, b'{"unseen":["v"],"seen":0,"examined":1,"degraded":false}')
RECORDED = answer(200, b'{"accepted":1,"refused":0,"refusals":[]}')


def refusal(status, code="overloaded", **headers):
    body = json.dumps({"error": {"code": code, "message": "no", "field": ""}})
    return answer(status, body.encode(), **headers)


class LiarTest(unittest.TestCase):
    make = seendb.Client

    def start(self, *says, urls=(), **options):
        liar = Liar(*says)
        self.addCleanup(liar.close)
        c = self.make([*urls, liar.url], **dict({"timeout": 10}, **options))
        self.addCleanup(c.close)
        return liar, c

    def nobody(self):
        """The address of a server that nobody runs: its port is taken, and nobody listens there."""
        held = socket.socket()
        self.addCleanup(held.close)
        held.bind(("127.0.0.1", 0))
        return "http://127.0.0.1:%d" % held.getsockname()[1]

    def raises(self, code, call):
        with self.assertRaises(seendb.Error) as raised:
            call()
        self.assertEqual(raised.exception.code, code, raised.exception)
        return raised.exception

    def test_a_refusal_is_waited_for_and_asked_again(self):
        for status in (429, 503):
            liar, c = self.start(refusal(status, SeenDB_Retry_After_Ms=30), UNSEEN)
            began = time.monotonic()
            self.assertEqual(c.filter("u", ["v"]).unseen, ["v"])
            self.assertGreaterEqual(time.monotonic() - began, 0.03)
            self.assertNotIn("seendb-attempt", liar.requests[0]["headers"])
            self.assertEqual(liar.requests[1]["headers"]["seendb-attempt"], "1")
            self.assertLessEqual(int(liar.requests[1]["headers"]["seendb-timeout-ms"]), 9_970)

    def test_a_hedged_call_is_two_tries(self):
        slow = Liar(lambda _: time.sleep(0.5) or UNSEEN)
        self.addCleanup(slow.close)
        told = []
        _, c = self.start(UNSEEN, urls=[slow.url], hedge=0.05, on_call=lambda *call: told.append(call))
        began = time.monotonic()
        self.assertEqual(c.filter("u", ["v"]).unseen, ["v"])
        self.assertLess(time.monotonic() - began, 0.4)
        self.assertEqual([(status, tries) for _, _, status, tries in told], [(200, 2)])

    def test_no_more_tries_than_were_asked_for(self):
        liar, c = self.start(refusal(503), refusal(503), refusal(503))
        self.assertEqual(self.raises("overloaded", lambda: c.filter("u", ["v"])).status, 503)
        self.assertEqual(len(liar.requests), 2)
        liar, c = self.start(refusal(503), retries=0)
        self.raises("overloaded", lambda: c.filter("u", ["v"]))
        self.assertEqual(len(liar.requests), 1)

    def test_second_tries_have_a_budget(self):
        liar, c = self.start(*[refusal(503)] * 200)
        for _ in range(50):
            self.raises("overloaded", lambda: c.filter("u", ["v"]))
        self.assertLessEqual(len(liar.requests), 50 + 10 + 5)

    def test_what_is_wrong_is_not_asked_again(self):
        for status in (400, 401, 403, 404, 409, 413, 415, 500):
            liar, c = self.start(refusal(status, "no"), UNSEEN)
            self.assertEqual(self.raises("no", lambda: c.filter("u", ["v"])).status, status)
            self.assertEqual(len(liar.requests), 1, status)

    def test_a_wait_that_is_too_long_ends_the_call(self):
        liar, c = self.start(refusal(503, Retry_After=60), UNSEEN)
        began = time.monotonic()
        self.raises("overloaded", lambda: c.filter("u", ["v"]))
        self.assertLess(time.monotonic() - began, 9)
        self.assertEqual(len(liar.requests), 1)

    def test_a_play_keeps_its_time_over_both_tries(self):
        liar, c = self.start(None, RECORDED)
        c.record_plays([("u", "v")])
        first, second = [json.loads(one["body"]) for one in liar.requests]
        self.assertEqual(first, second)
        self.assertIsInstance(first["events"][0]["at"], int)

    def test_a_connection_that_was_closed_while_idle_is_opened_anew(self):
        liar, c = self.start(UNSEEN, None, UNSEEN, retries=0)
        self.assertEqual(c.filter("u", ["v"]).unseen, ["v"])
        self.assertEqual(c.filter("u", ["v"]).unseen, ["v"])  # its first request got no answer
        self.assertEqual(liar.connections, 2)

    def test_connections_are_kept(self):
        liar, c = self.start(*[UNSEEN] * 20)
        for _ in range(20):
            c.filter("u", ["v"])
        self.assertEqual(liar.connections, 1)

    def test_lies_and_cuts_are_errors(self):
        for says, code in (
                (b"SSH-2.0-OpenSSH\r\n\r\nCUT", "protocol"),
                (b"HTTP/1.1 200 OK\r\n\r\nCUT", "protocol"),
                (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nCUT", "protocol"),
                (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nCUT", "unavailable"),
                (b"HTTP/1.1 200 OKCUT", "unavailable"),
                (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}{}CUT", "protocol"),
                (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\nCUT", "protocol"),
                (answer(200, b"<html>"), "protocol"),
                (answer(500, b"<html>"), "protocol"),
                (b"x" * 70_000, "protocol")):
            with self.subTest(says[:60]):
                _, c = self.start(says, retries=0)
                self.raises(code, lambda: c.filter("u", ["v"]))

    def test_chunks_are_put_together(self):
        body = b'{"unseen":["v"],"seen":0,"examined":1,"degraded":false}'
        chunks = b"".join(b"%x;x=y\r\n%s\r\n" % (len(part), part) for part in (body[:7], body[7:]))
        for end in (b"0\r\n\r\n", b"0\r\nX: y\r\n\r\n"):
            liar, c = self.start(b"HTTP/1.1 100 Continue\r\n\r\n"
                                 b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + end,
                                 UNSEEN)
            self.assertEqual(c.filter("u", ["v"]).unseen, ["v"])
            self.assertEqual(c.filter("u", ["v"]).unseen, ["v"])
            self.assertEqual(liar.connections, 1)

    def test_a_server_that_stalls_costs_the_timeout(self):
        liar, c = self.start(lambda _: time.sleep(20), timeout=0.5)
        began = time.monotonic()
        self.raises("timeout", lambda: c.filter("u", ["v"]))
        self.assertLess(time.monotonic() - began, 15)
        self.assertLessEqual(len(liar.requests), 1)

    def test_the_next_server_is_asked_where_one_is_away(self):
        gone = self.nobody()
        liar, c = self.start(*[UNSEEN] * 4, urls=[gone])
        for _ in range(4):
            self.assertEqual(c.filter("u", ["v"]).unseen, ["v"])
        self.assertEqual(len(liar.requests), 4)
        c = self.make(gone, timeout=10)
        self.addCleanup(c.close)
        self.raises("unavailable", lambda: c.filter("u", ["v"]))

    def test_a_server_that_is_away_costs_no_budget(self):
        liar, c = self.start(*[UNSEEN] * 100, urls=[self.nobody()], retries=0)
        for _ in range(100):
            self.assertEqual(c.filter("u", ["v"]).unseen, ["v"])
        self.assertEqual(len(liar.requests), 100)

    def test_what_may_not_be_done_twice_is_not_sent_again(self):
        for told in (refusal(503), None):
            liar, c = self.start(UNSEEN, told, UNSEEN)
            c.filter("u", ["v"])
            self.raises("overloaded" if told else "unavailable",
                        lambda: c.call("POST", "/tokens", {}))
            self.assertEqual(len(liar.requests), 2)

    def test_ids_beyond_a_double_are_sent_as_texts(self):
        told = answer(200, b'{"unseen":["9007199254740993","7"],"seen":0,"examined":2,"degraded":false}')
        liar, c = self.start(told)
        self.assertEqual(c.filter("u", [9007199254740993, "7"]).unseen, [9007199254740993, "7"])
        self.assertEqual(json.loads(liar.requests[0]["body"])["items"], ["9007199254740993", "7"])

    def test_a_proxy_without_a_server_is_no_answer(self):
        for status in (502, 504):
            _, c = self.start(answer(status, b"<html>"))
            self.assertEqual(self.raises("unavailable", lambda: c.filter("u", ["v"])).status, status)
            _, c = self.start(answer(status, b"<html>"))
            self.assertEqual(c.fill_page("u", ["a", "b"], 1), ["a"])

    def test_a_page_that_fails_closed_asks_for_whole_answers(self):
        liar, c = self.start(*[UNSEEN] * 2)
        c.fill_page("u", ["v"], 1, when_degraded="fail_closed")
        c.fill_page("u", ["v"], 1)
        closed, opened = (json.loads(one["body"]) for one in liar.requests)
        self.assertEqual(closed["on_error"], "fail")
        self.assertNotIn("on_error", opened)

    def test_a_token_is_read_again_when_its_file_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "token")
            liar = c = None
            for number, token in enumerate(("first", "second")):
                with open(path, "w", encoding="ascii") as file:
                    file.write(token + "\n")
                os.utime(path, ns=(number, number))
                if c is None:
                    liar, c = self.start(UNSEEN, UNSEEN, token_file=path)
                c.filter("u", ["v"])
            self.assertEqual([one["headers"]["authorization"] for one in liar.requests],
                             ["Bearer first", "Bearer second"])

    def test_a_cluster_s_node_is_asked_directly(self):
        liar, _ = self.start()
        view = answer(200, json.dumps({
            "nodes": [{"node": "n1", "url": liar.url}], "partitions": 4, "placement_offset": 1,
            "shards": [{"partition": p, "replicas": [{"node": "n1"}]} for p in range(4)]}).encode())
        liar.says = [view, UNSEEN, refusal(421, "other_node"), UNSEEN]
        c = self.make(liar.url, cluster=True, retries=0, timeout=10)
        self.addCleanup(c.close)
        self.assertEqual(c.filter("u", ["v"]).unseen, ["v"])
        self.assertEqual(c.filter("u", ["v"]).unseen, ["v"])  # the map is old: passed on, not direct
        self.assertEqual([one["line"].split()[1] for one in liar.requests],
                         ["/cluster", "/filter", "/filter", "/filter"])
        self.assertEqual([one["headers"].get("seendb-route") for one in liar.requests],
                         [None, "direct", "direct", None])

    def test_reads_send_the_position_of_the_user_s_writes(self):
        told = answer(200, b'{"accepted":1,"refused":0,"refusals":[]}', SeenDB_Position="3:7")
        liar, c = self.start(told, UNSEEN, UNSEEN)
        c.record_plays([("u", "v")])
        c.filter("u", ["v"])
        c.filter("other", ["v"])
        self.assertEqual([one["headers"].get("seendb-position") for one in liar.requests],
                         [None, "3:7", None])

    def test_a_page_whose_server_is_away(self):
        told = answer(200, b'{"unseen":["a","c"],"seen":1,"examined":3,"degraded":false}')
        liar, c = self.start(told, *[refusal(503)] * 3, retries=0)

        def page(when_degraded):
            return c.fill_page("u", ["a", "b", "c", "d"], 2, when_degraded=when_degraded)
        self.assertEqual(page("fail_open"), ["a", "c"])
        self.assertEqual(page("last_known"), ["b", "d"])
        self.assertEqual(page("fail_open"), ["a", "b"])
        self.raises("overloaded", lambda: page("fail_closed"))
        self.assertEqual(len(liar.requests), 4)

    def test_a_page_whose_answer_is_degraded(self):
        told = answer(200, b'{"unseen":["a","b"],"seen":0,"examined":2,"degraded":true,"missing":["load"]}')
        _, c = self.start(told, told, told, retries=0)
        self.assertEqual(c.fill_page("u", ["a", "b", "c"], 2), ["a", "b"])
        self.assertEqual(c.fill_page("u", ["a", "b"], 2, when_degraded="last_known"), [])
        self.raises("unavailable", lambda: c.fill_page("u", ["a", "b"], 2, when_degraded="fail_closed"))

    def test_each_call_is_told(self):
        told = []
        _, c = self.start(refusal(503), UNSEEN, refusal(404, "not_found"),
                          on_call=lambda *call: told.append(call))
        c.filter("u", ["v"])
        self.raises("not_found", lambda: c.inspect("u"))
        self.assertEqual([(name, status, tries) for name, _, status, tries in told],
                         [("filter", 200, 2), ("inspect", 404, 1)])


class AsyncLiarTest(LiarTest):
    make = Blocking


class ClosedTest(unittest.TestCase):

    def test_a_client_that_is_closed_says_so(self):
        c = seendb.Client("http://127.0.0.1:1")
        c.close()
        with self.assertRaises(seendb.Error) as raised:
            c.filter("u", ["v"])
        self.assertEqual(raised.exception.code, "closed")


if __name__ == "__main__":
    unittest.main()
