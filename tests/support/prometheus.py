"""Debian's prometheus for tests: one that scrapes servers, and asks for what it has. Python 3 standard library only.

    with Prometheus([server.port]) as monitor:
        monitor.query("sum(seendb_ready)")  # [({label: value}, number), ...]
"""

import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

from seendb_client import Client, eventually, free_port

SKIPPED = 77
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ALERTS = os.path.join(ROOT, "docker", "config", "alerts.yml")


def require():
    """Ends the test as skipped, and says why, where there is no Prometheus."""
    if not (shutil.which("prometheus") and shutil.which("promtool")):
        print("SKIPPED: NO PROMETHEUS, NO ALERT AND NO DASHBOARD IS TESTED (Debian: prometheus)")
        sys.exit(SKIPPED)


class Prometheus:

    def __init__(self, ports, every="1s"):
        """`ports`: of servers on this machine; they are scraped, and the alerts evaluated, `every` second."""
        self.folder = tempfile.mkdtemp(prefix="seendb-prometheus-")
        self.port = free_port()
        self.client = Client("127.0.0.1", self.port)
        path = os.path.join(self.folder, "prometheus.yml")
        with open(path, "w", encoding="utf-8") as file:  # JSON is YAML
            json.dump({"global": {"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every},
                       "rule_files": [ALERTS],
                       "scrape_configs": [{"job_name": "seendb", "static_configs": [
                           {"targets": ["127.0.0.1:%d" % port for port in ports]}]}]}, file)
        self.log = open(os.path.join(self.folder, "log"), "wb")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            ["prometheus", "--config.file", path, "--storage.tsdb.path", os.path.join(self.folder, "data"),
             "--web.listen-address", "127.0.0.1:%d" % self.port], stdout=self.log, stderr=self.log)
        try:
            eventually(self.answers)
        except BaseException:
            self.close()
            raise

    def answers(self):
        if self.process.poll() is not None:
            with open(self.log.name, encoding="utf-8", errors="replace") as file:
                raise RuntimeError("prometheus ended: " + file.read()[-2000:])
        try:
            return self.client.request("GET", "/-/ready").status == 200
        except (OSError, http.client.HTTPException):
            self.client.close()
            return False

    def query(self, expression):
        """The series of an instant query: ({label: value}, number) each. A ValueError says what Prometheus refused."""
        answer = self.client.request("GET", "/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
        if answer.status != 200:
            raise ValueError(answer.json["error"])
        result = answer.json["data"]
        if result["resultType"] == "scalar":
            return [({}, float(result["result"][1]))]
        return [(one["metric"], float(one["value"][1])) for one in result["result"]]

    def close(self):
        self.client.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(60)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
