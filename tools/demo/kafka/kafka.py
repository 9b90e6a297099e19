"""A real Apache Kafka of one node (KRaft) in a temporary folder; see tools/kafka.

    from kafka import Broker, Unavailable
    with Broker() as broker:                   # raises Unavailable where it can't be had
        broker.topic("plays", 4)
        ... broker.address ...
        broker.kill(); broker.start()          # at the same port, with the same log
"""

import base64
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import jars  # noqa: E402

PINS = os.path.join(HERE, "jars.sha256")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "seendb",
                     "kafka-3.9.1")
FETCH_S = 300
START_S = 120
PORTS = (15_000, 22_000)
RANDOM = random.SystemRandom()  # processes that begin alike pick different ports

SETTINGS = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:%(controller)d
listeners=PLAINTEXT://127.0.0.1:%(port)d,CONTROLLER://127.0.0.1:%(controller)d
advertised.listeners=PLAINTEXT://127.0.0.1:%(advertised)d
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs=%(folder)s/log
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
log.retention.check.interval.ms=1000
log.initial.task.delay.ms=100
num.partitions=4
"""

LOGGING = """log4j.rootLogger=WARN, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=%d %p %m (%c)%n
"""


class Unavailable(Exception):
    """Kafka can't be run on this machine; the reason."""


def checked(lib):
    """The folder, once its jars were found to be the pinned ones; raises jars.Differs otherwise. What was
    found is noted beside it, since reading 80 MB takes longer than starting a tool."""
    note, wanted = os.path.join(CACHE, "checked"), jars.digest_of(PINS)
    try:
        with open(note, encoding="ascii") as file:
            if file.read() == wanted:
                return lib
    except FileNotFoundError:
        pass
    jars.check(PINS, lib)
    with open(note, "w", encoding="ascii") as file:
        file.write(wanted)
    return lib


def fetch():
    """The folder of Kafka's jars; fetched where they are not there yet."""
    lib = os.path.join(CACHE, "lib")
    if shutil.which("java") is None:
        raise Unavailable("there is no java (Debian: default-jre-headless)")
    if os.path.isdir(lib):
        return checked(lib)
    if shutil.which("mvn") is None:
        raise Unavailable("there is no mvn to fetch Kafka with (Debian: maven)")
    os.makedirs(os.path.dirname(CACHE), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(CACHE)) as folder:
        shutil.copy(os.path.join(HERE, "pom.xml"), folder)
        command = ["mvn", "-B", "-q", "dependency:copy-dependencies",
                   "-DoutputDirectory=" + os.path.join(folder, "lib")]
        try:
            done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=FETCH_S, check=False)
        except subprocess.TimeoutExpired:
            raise Unavailable("Maven Central did not give Kafka within %d s" % FETCH_S) from None
        if done.returncode != 0:
            text = done.stdout.decode(errors="replace").strip().splitlines()
            raise Unavailable("Maven could not fetch Kafka: " + (text[0] if text else "no word"))
        jars.check(PINS, os.path.join(folder, "lib"))
        os.makedirs(CACHE, exist_ok=True)
        try:
            os.rename(os.path.join(folder, "lib"), lib)
        except OSError:
            pass  # somebody else was faster
    return checked(lib)


def free_ports(count, beside=()):
    """Ports nobody listens on, nor on those that lie `beside` each (a distance). They are below those that
    the kernel gives to others, so that each is still free once its server starts, or starts again."""
    probes, ports = [], []
    try:
        while len(ports) < count:
            port = RANDOM.randrange(*PORTS)
            try:
                for one in (port, *(port + distance for distance in beside)):
                    probes.append(socket.socket())
                    probes[-1].bind(("127.0.0.1", one))
                ports.append(port)
            except OSError:
                pass  # taken
    finally:
        for probe in probes:
            probe.close()
    return ports


class Broker:
    """See the head of this file. With `folder`, one that was started by another process. `advertised`: the
    port where clients find it, of a proxy in front of it; its own unless given."""

    def __init__(self, folder=None, heap_mb=500, advertised=None):
        self.advertised = advertised
        self.lib = fetch()
        self.heap_mb = heap_mb
        self.process = None
        self.own = folder is None
        self.folder = folder or tempfile.mkdtemp(prefix="seendb-kafka-")
        if self.own:
            try:
                self._make()
            except BaseException:
                self.stop()
                raise
        with open(os.path.join(self.folder, "broker.json"), encoding="utf-8") as file:
            known = json.load(file)
        self.address, self.pid = known["address"], known["pid"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _make(self):
        """Picks ports, formats the log, starts; other ports where these were taken meanwhile."""
        for attempt in range(3):
            port, controller = free_ports(2)
            with open(os.path.join(self.folder, "server.properties"), "w",
                      encoding="utf-8") as file:
                file.write(SETTINGS % {"port": port, "controller": controller,
                                       "advertised": self.advertised or port, "folder": self.folder})
            with open(os.path.join(self.folder, "log4j.properties"), "w",
                      encoding="utf-8") as file:
                file.write(LOGGING)
            shutil.rmtree(os.path.join(self.folder, "log"), ignore_errors=True)
            # The first letter is always an "A": a "-" there would be read as an option.
            cluster = base64.urlsafe_b64encode(b"\0" + uuid.uuid4().bytes[1:]).decode().rstrip("=")
            self.run("kafka.tools.StorageTool", "format", "-t", cluster, "-c",
                     os.path.join(self.folder, "server.properties"))
            self.address = "127.0.0.1:%d" % port
            try:
                return self.start()
            except RuntimeError:
                if attempt == 2:
                    raise

    def _java(self, heap_mb, *options):
        return ["java", "-Xmx%dm" % heap_mb, *options, "-Dlog4j.configuration=file:" + os.path.join(self.folder, "log4j.properties"),
                "-cp", os.path.join(self.lib, "*")]

    def run(self, tool, *arguments, stdin=None):
        """Runs one of Kafka's own tools by its class; its output."""
        quick = self._java(200, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
        done = subprocess.run(quick + [tool] + list(arguments), input=stdin,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
                              check=False)
        if done.returncode != 0:
            raise RuntimeError("%s: %s" % (tool, done.stdout.decode(errors="replace")[-2000:]))
        return done.stdout.decode(errors="replace")

    def start(self):
        """Starts the process and waits until it serves."""
        with open(os.path.join(self.folder, "broker.log"), "ab") as log:
            self.process = subprocess.Popen(
                self._java(self.heap_mb) + ["kafka.Kafka",
                                            os.path.join(self.folder, "server.properties")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.pid = self.process.pid
        with open(os.path.join(self.folder, "broker.json"), "w", encoding="utf-8") as file:
            json.dump({"address": self.address, "pid": self.pid}, file)
        until = time.monotonic() + START_S
        host, port = self.address.split(":")
        while True:
            try:
                with socket.create_connection((host, int(port)), timeout=1):
                    return
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("Kafka did not start: " + self.log()[-3000:])
            time.sleep(0.05)

    def log(self):
        with open(os.path.join(self.folder, "broker.log"), encoding="utf-8",
                  errors="replace") as file:
            return file.read()

    def _topic(self, name, *arguments):
        self.run("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", self.address,
                 "--topic", name, *arguments)

    def topic(self, name, partitions, *settings):
        """Makes a topic."""
        given = [part for one in settings for part in ("--config", one)]
        self._topic(name, "--create", "--partitions", str(partitions), *given)

    def configure(self, name, setting):
        """Sets one of its settings."""
        self.run("kafka.admin.ConfigCommand", "--bootstrap-server", self.address, "--alter",
                 "--entity-type", "topics", "--entity-name", name, "--add-config", setting)

    def grow_topic(self, name, partitions):
        """Gives it more partitions."""
        self._topic(name, "--alter", "--partitions", str(partitions))

    def delete_topic(self, name):
        self._topic(name, "--delete")

    def truncate(self, name, partition, offset):
        """What retention does: everything before `offset` goes."""
        path = os.path.join(self.folder, "truncate.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "partitions": [
                {"topic": name, "partition": partition, "offset": offset}]}, file)
        self.run("org.apache.kafka.tools.DeleteRecordsCommand", "--bootstrap-server", self.address,
                 "--offset-json-file", path)

    def kill(self):
        """kill -9."""
        self._end(signal.SIGKILL)

    def _end(self, how):
        if self.process is not None:
            if self.process.poll() is None:
                self.process.send_signal(how)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None
            return
        try:
            os.kill(self.pid, how)
        except (ProcessLookupError, AttributeError):
            pass

    def stop(self):
        """Stops it and removes its folder."""
        self._end(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


def main(arguments):
    try:
        if arguments[:1] == ["fetch"]:
            fetch()
        elif arguments[:1] == ["start"]:
            broker = Broker()
            print(broker.address, broker.folder)
        elif arguments[:1] == ["topic"] and len(arguments) >= 4:
            Broker(arguments[1]).topic(arguments[2], int(arguments[3]), *arguments[4:])
        elif arguments[:1] == ["grow"] and len(arguments) == 4:
            Broker(arguments[1]).grow_topic(arguments[2], int(arguments[3]))
        elif arguments[:1] == ["stop"] and len(arguments) == 2:
            Broker(arguments[1]).stop()
        else:
            sys.exit("kafka: start, topic or grow FOLDER NAME PARTITIONS, stop FOLDER or fetch")
    except Unavailable as why:
        print("kafka: NOT AVAILABLE: %s" % why, file=sys.stderr)
        sys.exit(77)
    except jars.Differs as why:
        sys.exit("kafka: %s" % why)


if __name__ == "__main__":
    main(sys.argv[1:])
