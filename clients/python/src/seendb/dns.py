"""Questions to a name server, of which Python's library has none for SRV: by UDP, by TCP where the answer is cut."""

import secrets
import socket
import struct
import urllib.parse

A, SRV = 1, 33
TRY_S = 1  # for each server, twice
SERVERS_MOST = 3
STRAY_MOST = 16  # datagrams that are no answer to the question


class NoRecord(ValueError):
    """The name server says that there is none."""


def lookup(server=None):
    """Two functions of a name: one returns (priority, weight, port, target) of each record, by `server` ("host:port"; None: the servers
    of /etc/resolv.conf); the other the address that `server` gives a target, None: it is the system's matter."""
    if server:
        _place(server)

    def resolve(name):
        places = [_place(server)] if server else _system()
        return ask(name, SRV, places, lambda data, at: struct.unpack(">HHH", data[at:at + 6]) + (_name(data, at + 6)[0],))

    def address(name):
        return ask(name, A, [_place(server)], lambda data, at: socket.inet_ntoa(data[at:at + 4]))[0]
    return resolve, address if server else None


def _place(server):
    parts = urllib.parse.urlsplit("//" + server)
    if not parts.hostname:
        raise ValueError("%r is no host:port of a name server" % server)
    return parts.hostname, parts.port or 53


def _system(path="/etc/resolv.conf"):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            words = [line.split() for line in file]
    except OSError:
        words = []
    return [(one[1], 53) for one in words if len(one) > 1 and one[0] == "nameserver"][:SERVERS_MOST] or [("127.0.0.1", 53)]


def ask(name, kind, places, read):
    """`read` of each record: of an answer, and where the record's data begins in it. Raises OSError or ValueError."""
    identity = secrets.token_bytes(2)
    labels = [label.encode("idna" if not label.isascii() else "ascii") for label in name.rstrip(".").split(".")]
    if not all(0 < len(one) < 64 for one in labels):
        raise ValueError("%r is no name" % name)
    asked = b"".join(bytes([len(one)]) + one for one in labels) + b"\0" + struct.pack(">HH", kind, 1)
    question = identity + struct.pack(">HHHHH", 0x0100, 1, 0, 0, 0) + asked
    failure = OSError("no name server is known")
    for place in places * 2:
        try:
            answer = _exchange(place, question)
            return [read(answer, at) for at in _records(answer, kind)]
        except NoRecord:
            raise
        except (OSError, ValueError, IndexError, struct.error) as error:
            why = error if isinstance(error, OSError) and str(error) else "its answer is malformed"
            failure = ValueError("the name server %s:%d: %s" % (*place, why))
    raise failure


def _exchange(place, question):
    with socket.socket(socket.AF_INET6 if ":" in place[0] else socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(TRY_S)
        asking.connect(place)
        asking.send(question)
        answer = b""
        for _ in range(STRAY_MOST):
            answer = asking.recv(65535)
            if _fits(answer, question):
                break
    if not answer[2] & 2:  # it is whole
        return _checked(answer, question)
    with socket.create_connection(place, TRY_S) as asking, asking.makefile("rb") as reader:
        asking.sendall(len(question).to_bytes(2, "big") + question)
        return _checked(reader.read(int.from_bytes(reader.read(2), "big")), question)


def _fits(answer, question):
    return answer[:2] == question[:2] and answer[12:len(question)].lower() == question[12:].lower() and answer[2] & 0x80


def _checked(answer, question):
    if not _fits(answer, question):
        raise ValueError
    return answer


def _records(answer, kind):
    flags, _, count = struct.unpack(">HHH", answer[2:8])
    if flags & 15 == 3:
        raise NoRecord("there is no such name")
    if flags & 15:
        raise OSError("it refuses (code %d)" % (flags & 15))
    found, at = [], _name(answer, 12)[1] + 4
    for _ in range(count):
        at = _name(answer, at)[1]
        this, _, _, size = struct.unpack(">HHIH", answer[at:at + 10])
        at += 10
        if at + size > len(answer):
            raise ValueError
        if this == kind:  # a name may be another's alias
            found.append(at)
        at += size
    if not found:
        raise NoRecord("there is no such record")
    return found


def _name(answer, at):
    """The name at that place, and the place behind it. Each jump goes back, so that they end."""
    labels, behind, first = [], None, at
    while answer[at]:
        size = answer[at]
        if size >= 0xC0:
            behind = behind or at + 2
            at = (size & 0x3F) << 8 | answer[at + 1]
            if at >= first:
                raise ValueError
            first = at
            continue
        labels.append(answer[at + 1:at + 1 + size].decode("ascii"))
        at += 1 + size
    return ".".join(labels), behind or at + 1
