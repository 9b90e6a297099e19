"""What a node of a cluster sends, for tests that ask as one: the header SeenDB-Peer-Proof, made as
server/doc/cluster-format.md says."""

import hashlib
import hmac
import itertools
import json
import secrets
import time

SESSION = secrets.token_hex(8)
NUMBERS = itertools.count(1)


def mac_of(secret, *lines):
    message = "".join(line + "\n" for line in lines)
    return hmac.new(secret.encode(), message.encode(), hashlib.sha256).hexdigest()


def prove(secret, to, method, target, body=b"", headers=(), sender="a-test", now_ms=None,
          session=SESSION, number=None):
    """The headers of a request of the node `sender` to the node `to`: `headers` and the proof."""
    headers = dict(headers)
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    if body:
        headers.setdefault("Content-Type", "application/json")
    lines = sorted("%s:%s" % (name.lower(), value) for name, value in headers.items()
                   if name.lower() == "content-type" or name.lower().startswith("seendb-"))
    now_ms = int(time.time() * 1000) if now_ms is None else now_ms
    made_of = "1 %s %s %d %s %d %s" % (sender, to, now_ms, session, number or next(NUMBERS),
                                       hashlib.sha256(body).hexdigest())
    mac = mac_of(secret, "seendb-proof", made_of, method, target, *lines)
    return {**headers, "SeenDB-Peer-Proof": made_of + " " + mac}


def time_of(secret, proof, challenge):
    """The time of the node, in ms, that answered 401 to the proof; nothing where somebody else says it."""
    scheme, now_ms, mac = challenge.split(" ")
    expected = mac_of(secret, "seendb-time", proof.split(" ")[-1], now_ms)
    return int(now_ms) if (scheme, mac) == ("SeenDB-Proof", expected) else None


if __name__ == "__main__":  # the example of cluster-format.md
    example = prove("a-secret-of-the-nodes", "n2", "POST", "/internal/append?partition=3&kind=tick&key=&meta=7",
                    b"{}", {"SeenDB-Timeout-Ms": "1000", "SeenDB-Hop": "1"}, "n1", 1773144000000,
                    "0123456789abcdef", 42)["SeenDB-Peer-Proof"]
    print(example)
    print("SeenDB-Proof 1773144060000", mac_of("a-secret-of-the-nodes", "seendb-time",
                                               example.split(" ")[-1], "1773144060000"))
