"""Where servers are: http://host:port, https://host:port, unix:/path."""

import dataclasses
import ssl
import urllib.parse

DEFAULT_PORT = 7373


@dataclasses.dataclass(frozen=True)
class Address:
    host: str            #: of the Host header
    port: int = 0
    path: str = ""       #: of a unix socket
    secure: bool = False

    def __str__(self):
        return "unix:" + self.path if self.path else "%s:%d" % (self.name, self.port)

    @property
    def name(self):
        """As a Host header has it."""
        return "[%s]" % self.host if ":" in self.host else self.host


def parse(url):
    """The address; ValueError for what is none."""
    if url.startswith("unix:"):
        path = url[len("unix:"):]
        if not path:
            raise ValueError("%r names no socket" % url)
        return Address("localhost", path=path)
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise ValueError("%r is no http://host:port, https://host:port or unix:/path" % url)
    return Address(parts.hostname, parts.port or DEFAULT_PORT, secure=parts.scheme == "https")


def tls_context(ca, certificate):
    """`ca`: a file of certificates to trust, None: the system's. `certificate`: a file of the caller's
    own certificate and key, or a pair of files."""
    context = ssl.create_default_context(cafile=ca)
    if certificate:
        context.load_cert_chain(*([certificate] if isinstance(certificate, str) else certificate))
    return context
