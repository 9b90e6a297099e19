"""A server that misbehaves as a scenario says: it cuts, waits, stalls, gives wrong lengths, lies. One process
plays all scenarios, one after the other.

    liar.py            prints its address; then, of that address,
    POST /NAME         begins a scenario of this folder's files: {"urls": [...], "ca": a file of certificates}, and
                       "dns", where the scenario has a name server
    GET /differences   what the client asked, where that is not what the scenario expects: a list of texts
"""

import http.server
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "support"))
from dns_stand_in import DnsStandIn  # noqa: E402

STALL_S = 5


def read(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return json.load(file)


ANSWERS = read("answers.json")
SCENARIOS = {row["name"]: row for name in sorted(os.listdir(HERE)) if name.endswith(".json") and name != "answers.json"
             for row in read(name) if "servers" in row}


class Certificate:
    """One that its own holder vouches for, made at the first call."""

    def __init__(self):
        self._kept = tempfile.TemporaryDirectory()
        self.folder = self._kept.name
        self.path = os.path.join(self.folder, "certificate.pem")

    def context(self):
        key = os.path.join(self.folder, "key.pem")
        if not os.path.exists(self.path):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                            "-keyout", key, "-out", self.path, "-days", "2", "-subj", "/CN=liar",
                            "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path, key)
        return context


CERTIFICATE = Certificate()


class Played:
    """A scenario that is being played: its servers, and what they were asked."""

    def __init__(self, row):
        self.row, self.requests, self.wrong = row, [], []
        self.lock, self.open, self.begun = threading.Lock(), [], time.time()
        self.urls = [self._listen(number, says) for number, says in enumerate(row["servers"])]
        self.told, self.dns = {"urls": self.urls, "ca": CERTIFICATE.path}, None
        if "dns" in row:
            self.dns = DnsStandIn([[self._target(*one) for one in says] if isinstance(says, list) else says for says in row["dns"]])
            self.told.update(urls=["srv+%s://_seendb._tcp.liar.test" % self.urls[0].split(":")[0]], dns=self.dns.address)

    def _target(self, priority, weight, server):
        """The record of a server; of a text: of a target of that name, without a port."""
        if isinstance(server, str):
            return priority, weight, 0, server
        url = urllib.parse.urlsplit(self.urls[server])
        return priority, weight, url.port, "localhost" if url.scheme == "https" else "s%d.liar.test" % server

    def _listen(self, number, says):
        if says == "gone":
            held = socket.socket()
            held.bind(("127.0.0.1", 0))
            self.open.append(held)
            return "http://127.0.0.1:%d" % held.getsockname()[1]
        if isinstance(says, dict) and "gone_ms" in says:  # nobody listens there, for so long
            listener = socket.socket()
            listener.bind(("127.0.0.1", 0))
            self.open.append(listener)
            threading.Timer(says["gone_ms"] / 1000, self._begin, (number, listener, iter(says["then"]))).start()
            return "http://127.0.0.1:%d" % listener.getsockname()[1]
        kind = next(iter(says)) if isinstance(says, dict) else ""
        tls = CERTIFICATE.context() if kind == "tls" else None
        if kind == "unix":
            listener = socket.socket(socket.AF_UNIX)
            path = os.path.join(CERTIFICATE.folder, "socket-%d-%d" % (id(self), number))
            listener.bind(path)
            listener.listen()
        else:
            listener = socket.create_server(("127.0.0.1", 0))
        self.open.append(listener)
        replies = iter(says[kind] if kind else says)
        threading.Thread(target=self._accept, args=(number, listener, replies, tls), daemon=True).start()
        if kind == "unix":
            return "unix:" + path
        return "%s://127.0.0.1:%d" % ("https" if kind else "http", listener.getsockname()[1])

    def _begin(self, number, listener, replies):
        try:
            listener.listen()
            self._accept(number, listener, replies, None)
        except OSError:
            pass  # the scenario is over

    def _accept(self, number, listener, replies, tls):
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(number, connection, replies, tls), daemon=True).start()

    def _serve(self, number, connection, replies, tls):
        with connection:
            try:
                if tls:
                    connection = tls.wrap_socket(connection, server_side=True)
                reader = connection.makefile("rb")
                while self._answer(number, connection, reader, replies):
                    pass
            except OSError:
                return
            finally:
                connection.close()

    def _answer(self, number, connection, reader, replies):
        """Whether the connection goes on."""
        line = reader.readline().decode("latin-1").split()
        if len(line) != 3:
            return False
        headers = {}
        for text in iter(lambda: reader.readline().decode("latin-1").strip(), ""):
            name, _, value = text.partition(":")
            headers[name.lower()] = value.strip()
        body = reader.read(int(headers.get("content-length", 0)))
        with self.lock:
            self.requests.append({"server": number, "method": line[0], "target": line[1], "headers": headers, "body": body,
                                  "at": time.time()})
            reply = next(replies, "close")
        if reply == "close":
            return False
        if reply == "stall":
            time.sleep(STALL_S)
            return False
        if "raw" in reply:
            connection.sendall(reply["raw"].encode())
            return False
        time.sleep(reply.get("slow_ms", 0) / 1000)
        head, body = self._said(reply)
        whole = head + body
        if reply.get("body_only"):
            whole = head + body[:reply["cut"]]
        elif "cut" in reply:
            whole = whole[:reply["cut"]]
        piece = reply.get("pieces", len(whole))
        for at in range(0, len(whole), piece):
            connection.sendall(whole[at:at + piece])
            if piece < len(whole):
                time.sleep(0.001)
        if reply.get("hold"):
            time.sleep(STALL_S)
        return "cut" not in reply and not reply.get("close")

    def _said(self, reply):
        """Head and body of an answer, with the lies that are asked for."""
        known = ANSWERS.get(reply.get("answer"), {"status": 200, "headers": {"Content-Type": "application/json"}, "body": ""})
        headers = {name: value for name, value in known["headers"].items() if name.lower() not in reply.get("without", ())}
        headers.update(reply.get("header", {}))
        body = reply.get("body", known["body"])
        if "error" in reply:
            body = json.dumps({"error": {"code": reply["error"], "message": "no", "field": ""}})
        if "cluster" in reply:
            body = json.dumps(self._view(*reply["cluster"]))
        if "add" in reply:
            body = json.dumps(dict(json.loads(body), **reply["add"]))
        body = body.encode("latin-1")
        headers["Content-Length"] = reply.get("length", str(len(body)))
        lines = ["HTTP/1.1 %d X" % reply.get("status", known["status"]), *("%s: %s" % pair for pair in headers.items())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode(), body

    def _view(self, replicas, states, partition_of_user=None):
        """GET /cluster: each partition is held by these servers; or, of 64, one by the first of them alone."""
        nodes = [{"node": "n%d" % i, "url": url, "state": states[i] if states else "up"} for i, url in enumerate(self.urls)]
        count = 4 if partition_of_user is None else 64
        held = {i: replicas for i in range(count)}
        if partition_of_user is not None:
            held = {i: replicas if i == partition_of_user else [len(self.urls) - 1] for i in range(count)}
        return {"name": "liars", "partitions": count, "placement_offset": 1, "nodes": nodes,
                "shards": [{"partition": i, "replicas": [{"node": "n%d" % one} for one in held[i]]} for i in range(count)]}

    # ---- What the client asked ----

    def differences(self):
        if self.dns is not None:
            self.dns.close()
        for one in self.open:
            if one.fileno() >= 0:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it did not listen
                one.close()
        expected = self.row["requests"]
        if not expected:
            return []
        most = self.row.get("most_requests")
        if most is None and len(self.requests) != len(expected) or most and len(self.requests) > most:
            self.wrong.append("%d requests, not %s: %s" % (len(self.requests), most or len(expected), [
                (one["server"], one["target"][:30], one["headers"]) for one in self.requests][:8]))
        for number, (told, wanted) in enumerate(zip(self.requests, expected)):
            for name, value in wanted.items():
                if not getattr(self, "_has_" + name, self._is)(name, value, told, number):
                    self.wrong.append("request %d: %s is not %r: %s %s %s %s" % (
                        number, name, value, told["server"], told["target"], told["headers"], told["body"][:300]))
        return self.wrong

    @staticmethod
    def _is(name, value, told, _number):
        return told[name] == value

    @staticmethod
    def _has_path(_name, value, told, _number):
        return told["target"].split("?")[0] == value

    @staticmethod
    def _has_has(_name, value, told, _number):
        return all(told["headers"].get(key.lower()) == text for key, text in value.items())

    @staticmethod
    def _has_not(_name, value, told, _number):
        return not any(key.lower() in told["headers"] for key in value)

    @staticmethod
    def _has_timeout_ms(_name, value, told, _number):
        return value[0] <= int(told["headers"].get("seendb-timeout-ms", -1)) <= value[1]

    @staticmethod
    def _has_query(_name, value, told, _number):
        query = dict(urllib.parse.parse_qsl(told["target"].partition("?")[2], keep_blank_values=True))
        return all(query.get(key) == text or key == "deadline_ms" and 0 <= int(text) - int(query.get(key, -99)) < 100
                   for key, text in value.items())

    @staticmethod
    def _has_begins(_name, value, told, _number):
        return told["body"].hex().startswith(value)

    @staticmethod
    def _has_json(_name, value, told, _number):
        body = json.loads(told["body"])
        return all(body.get(key) == one or key == "deadline_ms" and 0 <= one - body.get(key, -99) < 100 for key, one in value.items())

    def _has_same_body(self, _name, value, told, _number):
        return told["body"] == self.requests[value]["body"]

    def _has_after_ms(self, _name, value, told, number):
        return (told["at"] - self.requests[number - 1]["at"]) * 1000 >= value - 2

    def _has_within_ms(self, _name, value, told, number):
        return (told["at"] - self.requests[number - 1]["at"]) * 1000 <= value

    def _has_now(self, _name, value, told, _number):
        at = json.loads(told["body"])
        for part in value.strip("/").split("/"):
            at = at[int(part) if isinstance(at, list) else part]
        return self.begun * 1000 - 1 <= at <= time.time() * 1000 + 1


class Control(http.server.BaseHTTPRequestHandler):
    played = None

    def log_message(self, *_):
        pass

    def _say(self, told):
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        Control.played = Played(SCENARIOS[urllib.parse.unquote(self.path[1:])])
        self._say(Control.played.told)

    def do_GET(self):
        self._say(Control.played.differences())


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Control)
    print("http://127.0.0.1:%d" % server.server_port, flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()  # who began it is gone
    server.serve_forever()
    server.server_close()


if __name__ == "__main__":
    main()
