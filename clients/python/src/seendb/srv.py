"""Servers by a name of DNS: srv+http://_seendb._tcp.example.com stands for the targets of that SRV record (RFC 2782)."""

import random
import threading
import time

from . import address as addresses
from . import dns as name_servers

AGAIN_S = 30  # the record is asked for again after so long
SOON_S = 1    # and after so long where no target could be reached, or none is known
TARGETS_MOST = 64
PREFIX = "srv+"


class Named:
    """The targets of one name. Threads: any."""

    def __init__(self, url, dns, resolver):
        self.scheme, _, name = url.removeprefix(PREFIX).partition("://")
        self.url, self.name = url, name.strip("/").rstrip(".")
        if self.scheme not in ("http", "https") or not self.name or set(self.name) & set(":/@?#[] "):
            raise ValueError("%r is no srv+http://name or srv+https://name" % url)
        self._resolve, self._address = (resolver, None) if resolver else name_servers.lookup(dns)
        self._targets = []  # (rank of its priority, weight, Address)
        self.error = "no name server has answered yet"
        self.gone = set()  # former targets, for whoever keeps connections
        self.answered = threading.Event()
        self.asked = float("-inf")
        self._lock, self._asking = threading.Lock(), False

    def ranked(self):
        """(rank, address), in the order in which they are to be tried: by priority, by chance within it."""
        return [(rank, address) for rank, _, address in
                sorted(self._targets, key=lambda one: (one[0], random.expovariate(one[1] or 0.1)))]

    def refresh(self, soon):
        """Asks again in a thread where the answer is old."""
        with self._lock:
            if self._asking or time.monotonic() - self.asked < (SOON_S if soon else AGAIN_S):
                return
            self._asking = True
            self.answered.clear()
        threading.Thread(target=self._ask, daemon=True).start()

    def _ask(self):
        """An answer counts; where none comes the former one goes on."""
        try:
            told = self._read(self._resolve(self.name))
            self.gone |= {one[2] for one in self._targets} - {one[2] for one in told}
            self._targets, self.error = told, "the service is not there"
        except Exception as error:  # a resolver may raise what it likes
            self.error = "%s" % error or type(error).__name__
        finally:
            with self._lock:
                self._asking, self.asked = False, time.monotonic()
            self.answered.set()

    def _read(self, records):
        told, records = {}, sorted(records, key=lambda one: one[0])
        for priority, weight, port, target in records:
            host = str(target).rstrip(".")
            if not host and len(records) == 1:
                return []  # the owner of the name says so
            if not host or not 0 < port < 65536 or not 0 <= weight < 65536 or set(host) & set("/@?#[] "):
                raise ValueError("a record without a target: %r" % ((priority, weight, port, target),))
            told.setdefault((host, port), (priority, weight))
        if not told:
            raise ValueError("there is no such record")
        told = list(told.items())[:TARGETS_MOST]
        hosts = {host: self._address_of(host) for host in {host for (host, _), _ in told}}
        ranks = {priority: rank for rank, priority in enumerate(sorted({priority for _, (priority, _) in told}))}
        return [(ranks[priority], weight, addresses.Address(hosts[host], port, secure=self.scheme == "https"))
                for (host, port), (priority, weight) in told]

    def _address_of(self, host):
        """The name server's word, where one was named; of https the name stays, which the certificate has."""
        if self._address is None or self.scheme == "https":
            return host
        try:
            return self._address(host)
        except (OSError, ValueError):
            return host
