"""HTTP/1.1 as far as SeenDB's answers need it, without input or output: Content-Length and chunks."""

import re

from .errors import Error

HEAD_MOST = 64 << 10
BODY_MOST = 1 << 30


def _lied(what):
    return Error("protocol", "the server's answer is no HTTP that a SeenDB sends: " + what)


class Answer:
    """A whole answer."""

    __slots__ = ("status", "headers", "body", "closes")

    def __init__(self, status, headers):
        self.status, self.headers, self.body = status, headers, b""
        self.closes = headers.get("connection", "").lower() == "close"


_TARGET = re.compile(r"/[!-~]*")


def request_head(method, target, host, headers, length):
    if not _TARGET.fullmatch(target):
        raise Error("invalid_argument", "a path begins with / and has no blanks: %r" % target[:100])
    lines = ["%s %s HTTP/1.1" % (method, target), "Host: " + host]
    lines += ["%s: %s" % pair for pair in headers.items()]
    if length is not None:
        lines.append("Content-Length: %d" % length)
    head = "\r\n".join(lines) + "\r\n\r\n"
    return head.encode("latin-1")


class Reader:
    """Takes the bytes of one answer as they come."""

    def __init__(self, method):
        self._bytes = bytearray()
        self._no_body = method == "HEAD"
        self.begun = False   #: a byte has come
        self.answer = None   #: once the head is there
        self._left = 0       # of the body, or of the chunk with its end
        self._chunked = False
        self._body = []
        self._size = 0

    def feed(self, data):
        """True once the answer is whole. What is fed may be empty: the server has closed."""
        if not data:
            raise Error("unavailable", "the connection ended amid the answer" if self.begun else
                        "the connection ended before the answer")
        self.begun = True
        self._bytes += data
        if self.answer is None and not self._read_head():
            return False
        done = self._read_chunks() if self._chunked else self._read_body()
        if done and self._bytes:
            raise _lied("%d bytes behind its end" % len(self._bytes))
        return done

    def _read_head(self):
        while True:
            end = self._bytes.find(b"\r\n\r\n")
            if end < 0:
                if len(self._bytes) > HEAD_MOST:
                    raise _lied("a head without an end")
                return False
            lines = bytes(self._bytes[:end]).decode("latin-1").split("\r\n")
            del self._bytes[:end + 4]
            status = self._status_of(lines[0])
            if status >= 200:  # those below announce another
                break
        headers = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon:
                raise _lied("a header without a colon")
            headers[name.lower()] = value.strip()
        self.answer = Answer(status, headers)
        if self._no_body or status in (204, 304):
            return True
        self._chunked = headers.get("transfer-encoding", "").lower() == "chunked"
        if not self._chunked:
            self._left = self._number(headers.get("content-length", ""), 10)
        return True

    @staticmethod
    def _status_of(line):
        words = line.split(" ", 2)
        if len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].isdecimal():
            raise _lied("it begins with %r" % line[:40])
        return int(words[1])

    @staticmethod
    def _number(text, base):
        try:
            number = int(text, base)
        except ValueError:
            raise _lied("no length") from None
        if not 0 <= number <= BODY_MOST:
            raise _lied("a length of %s" % text[:20])
        return number

    def _read_body(self):
        if len(self._bytes) < self._left:
            return False
        self.answer.body = bytes(self._bytes[:self._left])
        del self._bytes[:self._left]
        return True

    def _read_chunks(self):
        while True:
            if self._left == 0:  # at a chunk's first line
                end = self._bytes.find(b"\r\n")
                if end < 0:
                    return False
                size = self._number(self._bytes[:end].split(b";")[0].decode("latin-1"), 16)
                if size == 0:
                    return self._read_trailer(end)
                del self._bytes[:end + 2]
                self._left = size + 2
                self._size += size
                if self._size > BODY_MOST:
                    raise _lied("a body without an end")
            if len(self._bytes) < self._left:
                return False
            self._body.append(bytes(self._bytes[:self._left - 2]))
            del self._bytes[:self._left]
            self._left = 0

    def _read_trailer(self, end):
        """`end`: of the last chunk's line."""
        if self._bytes[end:end + 4] == b"\r\n\r\n":
            del self._bytes[:end + 4]
        else:
            trailer = self._bytes.find(b"\r\n\r\n", end)
            if trailer < 0:
                return False
            del self._bytes[:trailer + 4]
        self.answer.body = b"".join(self._body)
        return True
