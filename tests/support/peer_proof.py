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
UNKNOWN = "0" * 16


def mac_of(secret, *lines):
    message = "".join(line + "\n" for line in lines)
    return hmac.new(secret.encode(), message.encode(), hashlib.sha256).hexdigest()


def prove(secret, to, method, target, body=b"", headers=(), sender="a-test", now_ms=None,
          session=SESSION, number=None, to_session=UNKNOWN):
    """The headers of a request of the node `sender` to the node `to`, whose process has told its
    `to_session` (told): `headers` and the proof."""
    headers = dict(headers)
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    if body:
        headers.setdefault("Content-Type", "application/json")
    lines = sorted("%s:%s" % (name.lower(), value) for name, value in headers.items()
                   if name.lower() == "content-type" or name.lower().startswith("seendb-"))
    now_ms = int(time.time() * 1000) if now_ms is None else now_ms
    made_of = "1 %s %s %s %d %s %d %s" % (sender, to, to_session, now_ms, session, number or next(NUMBERS),
                                          hashlib.sha256(body).hexdigest())
    mac = mac_of(secret, "seendb-proof", made_of, method, target, *lines)
    return {**headers, "SeenDB-Peer-Proof": made_of + " " + mac}


def told(secret, proof, challenge):
    """Time, in ms, and session of the node that answered 401 to the proof; nothing where somebody else
    says it."""
    scheme, now_ms, session, mac = challenge.split(" ")
    expected = mac_of(secret, "seendb-time", proof.split(" ")[-1], now_ms + " " + session)
    return (int(now_ms), session) if (scheme, mac) == ("SeenDB-Proof", expected) else None


def ask(server, secret, to, method, target, body=b"", headers=(), **more):
    """The answer of the node `to` to a node, which learns its session first, and the proof that was sent."""
    def send(**session):
        proven = prove(secret, to, method, target, body, headers, **more, **session)
        answer = server.get(target, headers=proven) if method == "GET" else server.post(target, body, proven)
        return answer, proven["SeenDB-Peer-Proof"]
    answer, proof = send()
    if answer.status != 401:
        return answer, proof
    return send(to_session=told(secret, proof, answer.headers["www-authenticate"])[1])


if __name__ == "__main__":  # the example of cluster-format.md
    example = prove("a-secret-of-the-nodes", "n2", "POST", "/internal/append?partition=3&kind=tick&key=&meta=7",
                    b"{}", {"SeenDB-Timeout-Ms": "1000", "SeenDB-Hop": "1"}, "n1", 1773144000000,
                    "0123456789abcdef", 42, "fedcba9876543210")["SeenDB-Peer-Proof"]
    print(example)
    TOLD = "1773144060000 fedcba9876543210"
    print("SeenDB-Proof", TOLD, mac_of("a-secret-of-the-nodes", "seendb-time", example.split(" ")[-1], TOLD))
