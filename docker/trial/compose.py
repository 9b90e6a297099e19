"""compose.yaml and the files it mounts: do they fit each other, the image and the server?"""

import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree

from report import Failure, expect, note

DOCKER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OWN_IMAGE = "seendb:local"
# Metrics that a server has with an audit, in a cluster, after a checkpoint or a backup, while it moves in, with TLS or tokens alone.
NOT_IN_THE_DEMO = re.compile(r"seendb_(audit|cluster|last_(backup|checkpoint)|log_margin|migration|tls|token)_")
POM = os.path.join(os.path.dirname(DOCKER), "tools", "demo", "kafka", "pom.xml")


def load(name):
    """A YAML file of this folder."""
    try:
        import yaml  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise Failure("there is no python3-yaml: tools/setup docker") from None
    with open(os.path.join(DOCKER, name), encoding="utf-8") as file:
        return yaml.safe_load(file)


def mounted(service):
    """{file here: path in the container} of a service, and its named volumes the same way."""
    files, volumes = {}, {}
    for volume in service.get("volumes", []):
        outside, inside = volume.split(":")[:2]
        if outside.startswith("."):
            files[os.path.join(DOCKER, outside)] = inside
        else:
            volumes[outside] = inside
    return files, volumes


def demo_config():
    with open(os.path.join(DOCKER, "config", "demo.json"), encoding="utf-8") as file:
        return json.load(file)


def check_services(whole):
    services = whole["services"]
    for name, service in services.items():
        tag = service["image"].partition("@")[0].rpartition(":")[2]
        expect(tag and tag != "latest" and "/" not in tag, "%s: its image's version is pinned" % name)
        for wanted, how in service.get("depends_on", {}).items():
            other = services[wanted]
            condition = how["condition"]
            if condition == "service_healthy":
                fits = "healthcheck" in other or other["image"] == OWN_IMAGE
            else:
                fits = condition == "service_completed_successfully" and other["restart"] == "no"
            expect(fits, "%s: waits for %s (%s)" % (name, wanted, condition))
        files, volumes = mounted(service)
        missing = [path for path in files if not os.path.isfile(path)]
        expect(not missing, "%s: the files it mounts are there" % name, missing)
        expect(set(volumes) <= set(whole["volumes"]), "%s: its volumes are declared" % name)
        expect("memory" in service["deploy"]["resources"]["limits"] and service["pids_limit"] > 0,
               "%s: it has limits" % name)
        expect(service["cap_drop"] == ["ALL"] and service["security_opt"] == ["no-new-privileges:true"],
               "%s: it has no rights that it does not need" % name)
        open_ports = [port for port in service.get("ports", [])
                      if not port.startswith("127.0.0.1:")]
        expect(not open_ports, "%s: listens on this machine only" % name, open_ports)


def kafka_version():
    """The version of Kafka that tools/kafka runs."""
    tree = xml.etree.ElementTree.parse(POM)
    return next(element.find("{*}version").text for element in tree.iter()
                if element.tag.endswith("}dependency")
                and element.find("{*}artifactId").text.startswith("kafka_"))


def check_kafka(services):
    settings = demo_config()["kafka"]
    kafka = services["kafka"]
    expect(kafka["image"].partition("@")[0] == "apache/kafka:" + kafka_version(),
           "the broker is of the version that the tests run on")
    broker = settings["brokers"]
    listeners = kafka["environment"]["KAFKA_ADVERTISED_LISTENERS"]
    expect("PLAINTEXT://" + broker in listeners, "the server asks where the broker listens")
    topic = settings["topics"][0]["topic"]
    made = services["topic"]["command"]
    expect("--topic=" + topic in made and "--bootstrap-server=" + broker in made,
           "the topic it reads is made")
    script = services["producer"]["command"][0]
    expect("--topic %s " % topic in script and "--brokers %s " % broker in script,
           "the producer sends to it")


def check_prometheus(services):
    scraped = load("config/prometheus.yml")
    targets = [target for job in scraped["scrape_configs"] for static in job["static_configs"]
               for target in static["targets"]]
    port = demo_config()["listen"].rpartition(":")[2]
    expect(targets == ["seendb:" + port], "Prometheus scrapes the server")
    inside = list(mounted(services["prometheus"])[0].values())
    expect(all("/etc/prometheus/" + name in inside
               for name in ["prometheus.yml", *scraped["rule_files"]]), "and finds its rules")
    if shutil.which("promtool") is None:
        note("SKIPPED: there is no promtool (Debian: prometheus) to check the rules with")
        return
    done = subprocess.run(["promtool", "check", "config",
                           os.path.join(DOCKER, "config", "prometheus.yml")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    expect(done.returncode == 0, "promtool takes the rules", done.stdout.decode())


def check_grafana(services):
    source = load("config/grafana/datasources.yml")["datasources"][0]
    expect(source["url"] == "http://prometheus:9090" and source["isDefault"], "Grafana asks Prometheus")
    folder = load("config/grafana/dashboards.yml")["providers"][0]["options"]["path"]
    files, _ = mounted(services["grafana"])
    boards = [inside for outside, inside in files.items() if outside.endswith(".json")]
    expect(len(boards) == 3 and all(os.path.dirname(inside) == folder for inside in boards), "and finds its dashboards", boards)


def check():
    """Everything that can be told without the image; the services."""
    whole = load("compose.yaml")
    services = whole["services"]
    check_services(whole)
    check_kafka(services)
    check_prometheus(services)
    check_grafana(services)
    return services


def check_against(services, config):
    """The services of our image against its configuration."""
    volume = next(iter(config["Volumes"]))
    server = services["seendb"]
    files, volumes = mounted(server)
    expect(volume in volumes.values(), "compose keeps the image's volume")
    settings = config["Entrypoint"][config["Entrypoint"].index("--config") + 1]
    expect(list(files.values()) == [settings], "its config is where the image reads it")
    inside = [port.rpartition(":")[2] + "/tcp" for port in server["ports"]]
    expect(inside == list(config["ExposedPorts"]), "its port is the image's")
    demo = demo_config()
    paths = [demo["db"], demo["checkpoints"], demo["kafka"]["dead_letter_file"]]
    expect(all(path.startswith(volume + "/") for path in paths), "all it writes is in the volume")


def check_metrics(text):
    """Every metric and route that the alerts name is one the server has."""
    with open(os.path.join(DOCKER, "config", "alerts.yml"), encoding="utf-8") as file:
        alerts = file.read()
    has = set(re.findall(r"^# TYPE (\S+)", text, re.M))
    named = {re.sub("_bucket$", "", name) for name in re.findall(r"seendb_\w+", alerts)
             if not NOT_IN_THE_DEMO.match(name)}
    expect(named and named <= has, "the %d metrics of the alerts are the server's" % len(named),
           sorted(named - has))
    routes = re.findall(r'route="([^"]*)"', alerts)
    expect(routes and all('route="%s"' % route in text for route in routes),
           "and so are their routes", routes)
