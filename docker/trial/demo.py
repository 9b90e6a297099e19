"""The way of the demo's plays: the producer's command of compose.yaml, a real broker, a server with
the demo's settings; all but the broker out of the image."""

import json
import os
import sys

import compose
import http_client as http
from life import end
from report import eventually, expect, note

ROOT = os.path.dirname(compose.DOCKER)
sys.path.insert(0, os.path.join(ROOT, "tools", "demo", "kafka"))

import kafka  # noqa: E402

SERVICE = "kafka:9092"  # in compose.yaml and in the settings
NO_SETTINGS = ("KAFKA_HEAP_OPTS",)  # of the environment: for the scripts


def broker_settings(environment):
    """The file that the broker's image makes of its environment, but for this machine's loopback
    and for kafka.py to fill in."""
    lines = []
    for name, value in environment.items():
        if name in NO_SETTINGS:
            continue
        key = name.removeprefix("KAFKA_").lower().replace("_", ".")
        value = value.replace("%", "%%").replace("kafka:", "127.0.0.1:")
        value = value.replace("localhost:", "127.0.0.1:").replace("://:", "://127.0.0.1:")
        value = value.replace(":9092", ":%(port)d").replace(":9093", ":%(controller)d")
        lines.append("%s=%s\n" % (key, "%(folder)s/log" if key == "log.dirs" else value))
    return "".join(lines)


def applied(url):
    """The messages applied, of all partitions."""
    topics = json.loads(http.get(url, "/admin/ingest"))["topics"]
    return sum(partition["applied_offset"] or 0
               for topic in topics for partition in topic["partitions"])


def check(engine, services):
    try:
        kafka.fetch()
    except kafka.Unavailable as why:
        note("SKIPPED: NO REAL KAFKA: %s" % why)
        return
    producer = services["producer"]
    topic = services["topic"]["command"]
    partitions = next(int(flag.split("=")[1]) for flag in topic if flag.startswith("--partitions="))
    settings = compose.demo_config()
    kafka.SETTINGS = broker_settings(services["kafka"]["environment"])
    with kafka.Broker() as broker:
        note("ok: a broker starts with compose's settings")
        broker.topic(settings["kafka"]["topics"][0]["topic"], partitions)
        path = os.path.join(engine.scratch, "demo.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(settings).replace(SERVICE, broker.address))
        inside = next(iter(compose.mounted(services["seendb"])[0].values()))
        server = engine.serve(engine.make_data("demo"), files={path: inside})
        script = producer["command"][0].replace(SERVICE, broker.address)
        done = engine.run([*producer["entrypoint"], script.replace("produce ", "produce --json ")])
        expect(done.returncode == 0, "compose's producer runs",
               (done.returncode, done.stderr.decode()[-1000:]))
        # The first object of its output is the summary, behind the line of `generate`.
        said = done.stdout.decode()
        sent = json.loads(said[said.index("{"):])["sent"]
        eventually(lambda: applied(server.url) == sent, "the %d plays arrive" % sent)
        stats = json.loads(http.get(server.url, "/admin/stats"))
        expect((stats["plays_accepted"], stats["shards"]) == (sent, partitions),
               "each once, on as many shards as partitions", stats["plays_accepted"])
        http.unseen(server.url, "u1", ["v1"])
        compose.check_metrics(http.get(server.url, "/metrics"))
        end(server)
