"""What the tests share: a client to test, in both forms, and a server that lies."""

import asyncio
import inspect
import os
import socket
import sys
import threading

if not os.environ.get("SEENDB_INSTALLED"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src"))
import seendb  # noqa: E402

URL = os.environ.get("SEENDB_URL", "http://127.0.0.1:7373")


class Blocking:
    """An AsyncClient with the calls of a Client: each is run to its end in a loop of its own."""

    def __init__(self, *args, made=seendb.AsyncClient, **options):
        self._loop = asyncio.new_event_loop()

        async def within():  # the loop, which the client belongs to
            return made(*args, **options)
        self._client = self.run(within())

    def run(self, waited):
        return self._loop.run_until_complete(waited)

    def __getattr__(self, name):
        method = getattr(self._client, name)

        def call(*args, **more):
            found = method(*args, **more)
            if inspect.isasyncgen(found):
                async def listed():
                    return [one async for one in found]
                return self._loop.run_until_complete(listed())
            return self._loop.run_until_complete(found) if inspect.iscoroutine(found) else found
        return call

    def together(self, calls):
        """Of [(name, args), ...] all answers, asked at once."""
        async def asked():
            return await asyncio.gather(*[getattr(self._client, name)(*args) for name, args in calls])
        return self._loop.run_until_complete(asked())

    def close(self):
        if not self._loop.is_closed():
            closing = self._client.close()
            self._loop.run_until_complete(closing if inspect.iscoroutine(closing) else asyncio.sleep(0.01))
            self._loop.close()


def answer(status, body=b"{}", **headers):
    lines = ["HTTP/1.1 %d X" % status, "Content-Length: %d" % len(body),
             "Content-Type: application/json"]
    lines += ["%s: %s" % (name.replace("_", "-"), value) for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Liar:
    """A server that answers request after request, over all connections, from a list: bytes (it closes
    behind those that end with CUT, which is not sent), None (it closes without an answer), or a function
    of the request that returns either. Requests are kept."""

    def __init__(self, *says):
        self.says, self.requests, self.connections = list(says), [], 0
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection:
            while True:
                request = self._read(connection)
                if request is None:
                    return
                with self._lock:
                    self.requests.append(request)
                    says = self.says.pop(0) if self.says else None
                if callable(says):
                    says = says(request)
                if says is None:
                    return
                connection.sendall(says.removesuffix(b"CUT"))
                if says.endswith(b"CUT"):
                    return

    @staticmethod
    def _read(connection):
        data = b""
        while b"\r\n\r\n" not in data:
            try:
                more = connection.recv(65536)
            except OSError:
                return None
            if not more:
                return None
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
        while len(body) < int(headers.get("content-length", 0)):
            body += connection.recv(65536)
        return {"line": lines[0], "headers": headers, "body": body}

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)  # ends the thread's accept, which holds the port
        self._listener.close()
