"""A name server in this process, for tests: it answers questions for SRV and A, by UDP and TCP on one port.

    with DnsStandIn([[(0, 1, 7373, "a.test")], "refused"]) as dns:
        dns.address   # "127.0.0.1:PORT"

The first question for SRV gets the first answer, and so on; the last one goes on. An answer is a list of (priority,
weight, port, target), [] for an answer without a record, or one of
    "no such name", "refused"   these codes
    "cut"         UDP says that the answer is cut; TCP has the next answer
    "malformed"   a record that ends too early
    "a loop"      a name that points to itself
    "another"     the answer to another question, which no client takes
    "silent"      nothing
Each name below .test has the address 127.0.0.1.
"""

import socket
import struct
import threading

A, SRV = 1, 33
CODES = {"no such name": 3, "refused": 5}


def _name(text):
    labels = [one for one in text.split(".") if one]
    return b"".join(bytes([len(one)]) + one.encode() for one in labels) + b"\0"


class DnsStandIn:

    def __init__(self, answers):
        self.asked = []  # (kind, name) of each question
        self._answers, self._lock = list(answers), threading.Lock()
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(self._tcp.getsockname())
        self.address = "127.0.0.1:%d" % self._tcp.getsockname()[1]
        for serve in (self._serve_udp, self._serve_tcp):
            threading.Thread(target=serve, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for one in (self._udp, self._tcp):
            try:
                one.shutdown(socket.SHUT_RDWR)  # ends the thread's wait
            except OSError:
                pass  # a socket of UDP has no peer, and ends all the same
            one.close()

    def _serve_udp(self):
        while True:
            try:
                question, peer = self._udp.recvfrom(4096)
                if not question:
                    return
                reply = self._reply(question, False)
                if reply is not None:
                    self._udp.sendto(reply, peer)
            except OSError:
                return

    def _serve_tcp(self):
        while True:
            try:
                connection = self._tcp.accept()[0]
            except OSError:
                return
            with connection, connection.makefile("rb") as reader:
                head = reader.read(2)
                reply = self._reply(reader.read(int.from_bytes(head, "big")), True)
                if reply is not None:
                    connection.sendall(len(reply).to_bytes(2, "big") + reply)

    def _reply(self, question, whole):
        at, labels = 12, []
        while question[at]:
            labels.append(question[at + 1:at + 1 + question[at]].decode())
            at += 1 + question[at]
        kind, name = int.from_bytes(question[at + 1:at + 3], "big"), ".".join(labels)
        asked = question[12:at + 5]
        with self._lock:
            self.asked.append((kind, name))
            says = [] if kind != SRV else self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if kind == A and name.endswith(".test"):
            says = [b"\x7f\0\0\1"]
        if says == "silent":
            return None
        flags, count, records = 0x8180 | CODES.get(str(says), 0), 1, b""
        if says == "cut" and not whole:
            flags |= 0x0200
        elif says == "malformed":
            records = b"\xc0\x0c" + struct.pack(">HHIH", SRV, 1, 0, 40) + b"\0\1"
        elif says == "a loop":
            records = b"\xc0\x0c" + struct.pack(">HHIH", SRV, 1, 0, 8) + struct.pack(">HHH", 0, 0, 80) + struct.pack(
                ">H", 0xc000 + 12 + len(asked) + 18)
        elif isinstance(says, list):
            datas = [one if isinstance(one, bytes) else struct.pack(">HHH", *one[:3]) + _name(one[3]) for one in says]
            records = b"".join(b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(data)) + data for data in datas)
            count = len(datas)
            if len(records) > 490 and not whole:
                flags, count, records = flags | 0x0200, 0, b""
        if not records:
            count = 0
        identity = question[:2] if says != "another" else bytes([question[0] ^ 1, question[1]])
        return identity + struct.pack(">HHHHH", flags, 1, count, 0, 0) + asked + records
