"""Several Kafka brokers on this machine that know each other, each as tools/kafka's one."""

import base64
import os
import shutil
import tempfile
import uuid
from concurrent.futures import ThreadPoolExecutor

from kafka import LOGGING, SETTINGS, Broker, fetch, free_ports

HEAP_MB = 400


class Brokers:
    """Brokers with one log among them; `address` names all."""

    def __init__(self, count):
        self.folder = tempfile.mkdtemp(prefix="seendb-brokers-")
        self.brokers = []
        ports = free_ports(2 * count)
        pairs = list(zip(ports[:count], ports[count:]))
        voters = ",".join("%d@127.0.0.1:%d" % (number, controller)
                          for number, (_, controller) in enumerate(pairs, 1))
        # The first letter is always an "A": a "-" there would be read as an option.
        cluster = base64.urlsafe_b64encode(b"\0" + uuid.uuid4().bytes[1:]).decode().rstrip("=")
        self.address = ",".join("127.0.0.1:%d" % port for port, _ in pairs)
        try:
            for number, (port, controller) in enumerate(pairs, 1):
                self.brokers.append(_OneOf(self.folder, number, port, controller, voters))
            for broker in self.brokers:
                broker.format(cluster)
            with ThreadPoolExecutor(count) as pool:  # none serves before most are there
                list(pool.map(_OneOf.start, self.brokers))
        except BaseException:
            self.stop()
            raise

    def stop(self):
        for broker in self.brokers:
            if broker.process:
                broker.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class _OneOf(Broker):
    """One of them; made here, started when all are."""

    def __init__(self, folder, number, port, controller, voters):
        self.lib, self.heap_mb = fetch(), HEAP_MB
        self.process, self.own, self.pid = None, True, None
        self.folder = os.path.join(folder, str(number))
        self.address = "127.0.0.1:%d" % port
        os.mkdir(self.folder)
        settings = SETTINGS % {"port": port, "controller": controller, "advertised": port,
                               "folder": self.folder}
        own = {"node.id": number, "controller.quorum.voters": voters}
        lines = [line for line in settings.splitlines() if line.split("=")[0] not in own]
        lines += ["%s=%s" % one for one in own.items()]
        for name, text in (("server.properties", "\n".join(lines) + "\n"),
                           ("log4j.properties", LOGGING)):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(text)

    def format(self, cluster):
        self.run("kafka.tools.StorageTool", "format", "-t", cluster, "-c",
                 os.path.join(self.folder, "server.properties"))
