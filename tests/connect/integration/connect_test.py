"""The Connect protocol by plain HTTP: JSON, and protobuf of bytes made here."""

import gzip
import hashlib
import json
import os
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from seendb_client import Server

NOW = 1_700_000_000_000
SERVICE = "/seendb.v1.SeenDB/"
JSON, PROTO = {"Content-Type": "application/json"}, {"Content-Type": "application/proto"}


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    """A text, a message or a packed list as bytes; a number as a varint."""
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    return varint(number << 3) + varint(value)


def packed(number, ids):
    return field(number, struct.pack("<%dQ" % len(ids), *ids))


def fields(body):
    """What a message has: (number, value) each; a value of a fixed64 is a number."""
    def take():
        nonlocal at
        number = shift = 0
        while True:
            byte = body[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
    at, found = 0, []
    while at < len(body):
        tag = take()
        value = take()
        if tag & 7 == 2:
            at, value = at + value, body[at:at + value]
        found.append((tag >> 3, value))
    return found


class ConnectTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(clock_ms=NOW)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def call(self, method, body, **more):
        headers = {"Connect-Protocol-Version": "1", **more}
        return self.server.request("POST", SERVICE + method, body, {**JSON, **headers})

    def ask(self, method, body):
        answer = self.call(method, body)
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.headers["content-type"], "application/json")
        return answer.json

    def proto(self, method, body, **more):
        answer = self.server.request("POST", SERVICE + method, body, {**PROTO, **more})
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.headers["content-type"], "application/proto")
        return fields(answer.body)

    def refused(self, answer, status, code):
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.json["code"], code, answer)
        self.assertEqual(answer.headers["content-type"], "application/json")
        self.assertEqual(answer.json["details"][0]["type"], "seendb.v1.Fault")
        self.assertNotIn("=", answer.json["details"][0]["value"])
        return answer.json

    def test_texts_as_json(self):
        said = self.ask("RecordPlays", {"events": [{"user": "a", "item": "v1"},
                                                   {"user": "a", "itemNumber": "77"}]})
        self.assertEqual(said, {"accepted": 2})
        said = self.ask("Filter", {"user": "a", "items": ["v1", "v2", "77", "v3"]})
        self.assertEqual(said, {"unseen": ["v2", "v3"], "seen": 2, "examined": 4})
        said = self.ask("Filter", {"user": "a", "items": ["v1", "v2", "v3"], "limit": 1,
                                   "exclude": ["v2"]})
        self.assertEqual(said["unseen"], ["v3"])
        self.assertEqual(said["excluded"], 1)
        self.assertEqual(self.ask("Filter", {"user": "a"}), {})
        odd = "ä &=%?/+"
        self.ask("RecordPlays", {"events": [{"user": odd, "item": odd}]})
        self.assertEqual(self.ask("Filter", {"user": odd, "items": [odd, "x"]})["unseen"], ["x"])

    def test_numbers_as_json_have_a_field_of_their_own(self):
        big = 2**64 - 1
        self.ask("RecordPlays", {"events": [{"userNumber": big, "itemNumber": str(big)}]})
        said = self.ask("Filter", {"userNumber": str(big), "itemNumbers": [5, str(big), 6]})
        self.assertEqual(said["unseenNumbers"], ["5", "6"])
        # They are the ids of the routes.
        plain = self.server.post("/filter", {"user": str(big), "items": [str(big), "5"]})
        self.assertEqual(plain.json["unseen"], ["5"])
        # A list has one form; its exceptions may have the other.
        said = self.ask("Filter", {"userNumber": 1, "itemNumbers": [5, 6], "exclude": ["6", "v"]})
        self.assertEqual(said["unseenNumbers"], ["5"])
        answer = self.call("Filter", {"user": "a", "items": ["v"], "itemNumbers": [1]})
        said = self.refused(answer, 400, "invalid_argument")
        self.assertEqual(said["details"][0]["debug"]["field"], "/items")

    def test_protobuf(self):
        play = field(1, "p") + varint(4 << 3 | 1) + struct.pack("<Q", 12)
        self.assertEqual(self.proto("RecordPlays", field(2, play)), [(1, 1)])
        ids = [11, 12, 13]
        said = self.proto("Filter", field(1, "p") + packed(4, ids))
        self.assertEqual(said, [(2, struct.pack("<2Q", 11, 13)), (4, 1), (5, 3)])
        said = dict(self.proto("Filter", field(1, "p") + packed(4, ids) + field(13, 2)))
        self.assertEqual(said[3], b"\x05")
        said = dict(self.proto("Filter", field(1, "p") + field(3, "12") + field(3, "v"),
                               **{"Connect-Timeout-Ms": "5000"}))
        self.assertEqual(said[1], b"v")
        self.assertEqual(self.proto("RecordPlays", b""), [])  # no event
        many = list(range(1_000, 6_000))
        said = dict(self.proto("Filter", field(1, "p") + packed(4, many)))
        self.assertEqual(said[2], struct.pack("<5000Q", *many))

    def test_what_is_served_and_shown(self):
        said = self.ask("RecordImpressions", {"user": "s", "items": ["a", "b"], "surface": "home",
                                              "atMs": str(NOW - 5)})
        self.assertEqual(said, {"accepted": 2})
        said = self.ask("RecordImpressions", {"user": "s", "itemNumbers": [7]})
        self.assertEqual(said, {"accepted": 1})
        self.assertEqual(self.ask("Filter", {"user": "s", "items": ["a", "b", "c", "7"]})["unseen"],
                         ["c"])
        said = self.ask("RecordExposures", {"events": [
            {"user": "s", "item": "e", "surface": "home", "of": ["channel:9"], "atMs": NOW}]})
        self.assertEqual(said, {"accepted": 1})
        shown = self.server.post("/filter", {"user": "s", "items": ["e", "f"],
                                             "not": [{"fact": "exposed"}]})
        self.assertEqual(shown.json["unseen"], ["f"])
        said = self.ask("Filter", {"user": "r", "items": ["x", "y"], "record": True})
        self.assertEqual((said["unseen"], said["recorded"]), (["x", "y"], True))
        self.assertNotIn("unseen", self.ask("Filter", {"user": "r", "items": ["x", "y"]}))

    def test_events_that_are_refused(self):
        far = NOW + 10 * 365 * 86_400_000
        said = self.ask("RecordPlays", {"events": [{"user": "q", "item": "a", "atMs": far}]})
        self.assertEqual(said["refused"], 1)
        self.assertNotIn("accepted", said)
        self.assertEqual(sum(said["refusedBy"].values()), 1)
        self.assertTrue(said["refusals"][0]["message"])

    def test_history(self):
        self.server.put("/collections/kept", {"history": {"enabled": True}})
        rows = [{"user": "h/1", "item": "v%d" % i, "atMs": str(NOW - i), "progressS": -1,
                 "durationS": 60, "device": "tv", "fieldsJson": '{"x": [1]}'} for i in range(5)]
        said = self.ask("RecordPlays", {"events": rows, "collection": "kept"})
        self.assertEqual(said, {"accepted": 5})
        said = self.ask("History", {"user": "h/1", "collections": ["kept"], "limit": 2})
        self.assertEqual([entry["item"] for entry in said["entries"]], ["v0", "v1"])
        self.assertEqual(said["entries"][0],
                         {"collection": "kept", "item": "v0", "atMs": str(NOW), "progressS": -1,
                          "durationS": 60, "device": "tv", "fieldsJson": '{"x":[1]}'})
        got = []
        cursor = ""
        while True:
            said = self.ask("History", {"user": "h/1", "collections": ["kept"], "limit": 2,
                                        "cursor": cursor})
            got += [entry["item"] for entry in said.get("entries", [])]
            cursor = said.get("cursor")
            if not cursor:
                break
        self.assertEqual(got, ["v%d" % i for i in range(5)])
        self.assertEqual(self.ask("History", {"user": "h/1", "collections": ["default"]}),
                         {"notKept": True})
        self.assertEqual(dict(self.proto("History", field(1, "h/1") + field(4, 1)))[1][:2], b"\n\x04")
        bad = '{"x":1},"user":"other"'
        answer = self.call("RecordPlays", {"events": [{"user": "h", "item": "v", "fieldsJson": bad}]})
        said = self.refused(answer, 400, "invalid_argument")
        self.assertEqual(said["details"][0]["debug"]["field"], "/events/0/fields_json")

    def test_refusals_are_connects(self):
        post = self.server.request
        self.refused(self.call("Unknown", {}), 404, "unimplemented")
        answer = self.server.get(SERVICE + "Filter?connect=v1&encoding=json&message=%7B%7D")
        self.refused(answer, 405, "unimplemented")
        self.assertEqual(answer.headers["allow"], "POST")
        self.assertIn("GET", answer.json["message"])
        for kind in ("application/connect+proto", "application/grpc", "text/plain"):
            self.refused(post("POST", SERVICE + "Filter", b"", {"Content-Type": kind}), 415,
                         "invalid_argument")
        self.refused(self.call("Filter", {"user": "a"}, **{"Connect-Protocol-Version": "2"}), 400,
                     "invalid_argument")
        for body in (b"", b"{", b"[]", b"{\"usr\":\"a\"}", b"[" * 5_000, b"\xff",
                     b"{\"user\":\"a\",\"items\":{\"v\":1}}"):
            self.refused(post("POST", SERVICE + "Filter", body, JSON), 400, "invalid_argument")
        for body in (b"\xff", b"\x0a\x05ab", field(1, b"\xff\xfe"), b"\x0b" * 3_000,
                     b"\x0a\xff\xff\xff\xff\x07"):
            self.refused(post("POST", SERVICE + "Filter", body, PROTO), 400, "invalid_argument")
        said = self.refused(self.call("Filter", {"items": ["a"]}), 400, "invalid_argument")
        self.assertEqual(said["details"][0]["debug"], {"code": "invalid_argument", "field": "/user"})
        said = self.refused(self.call("Filter", {"user": "a", "items": ["a", ""]}), 400,
                            "invalid_argument")
        self.assertEqual(said["details"][0]["debug"]["field"], "/items/1")
        said = self.refused(self.call("RecordPlays", {"events": [{"user": "a"}]}), 400,
                            "invalid_argument")
        self.assertEqual(said["details"][0]["debug"]["field"], "/events/0/item")
        self.refused(self.call("Filter", {"user": "a", "items": ["v"], "collection": "none"}), 404,
                     "not_found")
        self.refused(self.call("Filter", {"user": "a", "items": ["v"], "excludeSets": ["none"]}),
                     404, "not_found")

    def test_limits_are_those_of_the_server(self):
        with Server(clock_ms=NOW, config={"limits": {"body_bytes": 65_536, "candidates": 1_000}}) as server:
            ids = field(1, "u") + packed(4, list(range(1_001)))
            self.refused(server.request("POST", SERVICE + "Filter", ids, PROTO), 400,
                         "invalid_argument")
            large = field(1, "u") + packed(4, list(range(9_000)))
            self.refused(server.request("POST", SERVICE + "Filter", large, PROTO), 429,
                         "resource_exhausted")
            bomb = gzip.compress(bytes(1_000_000))
            self.refused(server.request("POST", SERVICE + "Filter", bomb,
                                        {**PROTO, "Content-Encoding": "gzip"}),
                         429, "resource_exhausted")
        many = field(3, b"") * 70_000
        answer = self.server.request("POST", SERVICE + "Filter", field(1, "u") + many, PROTO)
        self.assertIn("65536", self.refused(answer, 400, "invalid_argument")["message"])

    def test_bodies_and_answers_are_compressed(self):
        body = gzip.compress(field(1, "z") + packed(4, list(range(500))))
        said = dict(self.proto("Filter", body, **{"Content-Encoding": "gzip"}))
        self.assertEqual(len(said[2]), 4_000)
        with Server(clock_ms=NOW, config={"compress_filter": True}) as server:
            answer = server.request("POST", SERVICE + "Filter", body,
                                    {**PROTO, "Content-Encoding": "gzip", "Accept-Encoding": "gzip"})
            self.assertEqual(answer.headers["content-encoding"], "gzip")
            self.assertEqual(len(dict(fields(gzip.decompress(answer.body)))[2]), 4_000)

    def test_tokens_are_those_of_the_routes(self):
        with tempfile.TemporaryDirectory() as folder:
            tokens = os.path.join(folder, "tokens.json")
            rows = [{"name": role, "sha256": hashlib.sha256(role[:1].encode() * 32).hexdigest(),
                     "role": role} for role in ("read", "write")]
            with open(os.open(tokens, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
                json.dump(rows, file)
            audit = os.path.join(folder, "audit.log")
            with Server(clock_ms=NOW, config={"tokens_file": tokens,
                                              "audit": {"file": audit, "users": "clear"}}) as server:
                def call(method, body, token):
                    headers = dict(JSON, Authorization="Bearer " + token) if token else JSON
                    return server.request("POST", SERVICE + method, body, headers)
                plays = {"events": [{"user": "a", "item": "v"}]}
                self.refused(call("Filter", {"user": "a"}, ""), 401, "unauthenticated")
                self.refused(call("Filter", {"user": "a"}, "x" * 32), 401, "unauthenticated")
                self.refused(call("RecordPlays", plays, "r" * 32), 403, "permission_denied")
                self.assertEqual(call("RecordPlays", plays, "w" * 32).json, {"accepted": 1})
                self.assertEqual(call("Filter", {"user": "a", "items": ["v"]}, "r" * 32).status, 200)
                record = {"user": "a", "items": ["v"], "record": True}
                self.refused(call("Filter", record, "r" * 32), 403, "permission_denied")
                self.assertEqual(call("History", {"user": "who/is"}, "r" * 32).status, 200)
                metrics = server.get("/metrics", {"Authorization": "Bearer " + "r" * 32}).body.decode()
                self.assertIn('route="POST /filter"', metrics)
            with open(audit, encoding="utf-8") as file:
                lines = file.read().splitlines()
            self.assertEqual(len([one for one in lines if "/history" in one and "who/is" in one]), 1, lines)


def is_built():
    with Server(clock_ms=NOW) as server:
        return "code" in server.request("POST", SERVICE + "Filter", {}, JSON).json


if __name__ == "__main__":
    if not is_built():
        print("skipped: the server was built without protobuf")
        sys.exit(77)
    unittest.main()
