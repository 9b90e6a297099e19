"""Nodes of a cluster on this machine; see tools/cluster."""

import argparse
import glob
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "kafka"))

from kafka import Broker, Unavailable, free_ports  # noqa: E402

NAME = "demo"
START_S = 120
STOP_S = 30


def binary(name, variable):
    """A program that was built."""
    named = os.environ.get(variable)
    found = sorted(glob.glob(os.path.join(ROOT, "build", "*", "bin", name)), key=os.path.getmtime)
    if not named and not found:
        sys.exit("cluster: no %s: build it or set %s" % (name, variable))
    return named or found[-1]


def get(url):
    """A JSON answer; None: none yet."""
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return json.load(answer)
    except (OSError, ValueError, urllib.error.HTTPError):
        return None


def wait(what, condition):
    until = time.monotonic() + START_S
    while not condition():
        if time.monotonic() > until:
            raise RuntimeError("not within %d s: %s" % (START_S, what))
        time.sleep(0.2)


def tool(*arguments):
    done = subprocess.run([binary("seendb", "SEENDB_TOOL"), "cluster", *arguments],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stdout.decode(errors="replace"))


def start_node(folder, broker, index, port):
    """Starts one node; what is to be known of it."""
    name = "n%d" % (index + 1)
    url = "http://127.0.0.1:%d" % port
    settings = {"db": os.path.join(folder, name), "listen": "127.0.0.1:%d" % port,
                "cluster": {"brokers": broker, "name": NAME, "node": name, "advertise": url,
                            "secret_file": os.path.join(folder, "secret")}}
    path = os.path.join(folder, name + ".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(settings, file)
    with open(os.path.join(folder, name + ".log"), "ab") as log:
        process = subprocess.Popen([binary("seendb-server", "SEENDB_SERVER"), "--config", path],
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   start_new_session=True)
    return {"node": name, "url": url, "pid": process.pid}


def replicas(url):
    """The states of all replicas as a node sees them."""
    report = get(url + "/cluster") or {"shards": []}
    return [one["state"] for shard in report["shards"] for one in shard["replicas"]]


def start(nodes, partitions, copies):
    folder = tempfile.mkdtemp(prefix="seendb-cluster-")
    state = {"kafka": None, "nodes": []}
    try:
        broker = Broker()
        state["kafka"] = broker.folder
        secret = os.open(os.path.join(folder, "secret"), os.O_WRONLY | os.O_CREAT, 0o600)
        with os.fdopen(secret, "w", encoding="utf-8") as file:
            file.write(secrets.token_hex(16) + "\n")
        tool("init", "--brokers", broker.address, "--name", NAME, "--partitions", str(partitions),
             "--replicas", str(copies), "--replication-factor", "1")
        for index, port in enumerate(free_ports(nodes)):
            state["nodes"].append(start_node(folder, broker.address, index, port))
        urls = [node["url"] for node in state["nodes"]]

        def all_up():
            reports = [get(url + "/cluster") for url in urls]
            return all(report is not None and len(report["nodes"]) == nodes and
                       all(one["state"] == "up" for one in report["nodes"]) for report in reports)
        wait("every node sees the others", all_up)
        tool("rebalance", "--brokers", broker.address, "--name", NAME, "--yes")
        count = partitions * min(copies, nodes)
        wait("all replicas serve", lambda: all(
            replicas(url) == ["serving"] * count for url in urls))
    except BaseException:
        save(folder, state)
        for node in state["nodes"]:
            with open(os.path.join(folder, node["node"] + ".log"), encoding="utf-8") as log:
                print("--- %s\n%s" % (node["node"], log.read()[-2000:]), file=sys.stderr)
        stop(folder)
        raise
    save(folder, state)
    print(broker.address, folder)
    for url in urls:
        print(url)


def save(folder, state):
    with open(os.path.join(folder, "cluster.json"), "w", encoding="utf-8") as file:
        json.dump(state, file)


def load(folder):
    with open(os.path.join(folder, "cluster.json"), encoding="utf-8") as file:
        return json.load(file)


def status(folder):
    for node in load(folder)["nodes"]:
        report = get(node["url"] + "/cluster")
        if report is None:
            print(node["node"], node["url"], "does not answer")
            continue
        states = [one["state"] for shard in report["shards"] for one in shard["replicas"]
                  if one["node"] == node["node"]]
        told = ", ".join("%d %s" % (states.count(one), one) for one in sorted(set(states)))
        print(node["node"], node["url"], told or "no replicas")


def stop(folder):
    state = load(folder)
    for node in state["nodes"]:
        end(node["pid"])
    if state["kafka"]:
        Broker(state["kafka"]).stop()
    shutil.rmtree(folder, ignore_errors=True)


def end(pid):
    """SIGTERM, and SIGKILL where that does not end it."""
    try:
        os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + STOP_S
        while time.monotonic() < until:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass
            os.kill(pid, 0)
            time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def main():
    parser = argparse.ArgumentParser(prog="cluster")
    commands = parser.add_subparsers(dest="command", required=True)
    starting = commands.add_parser("start")
    starting.add_argument("nodes", type=int)
    starting.add_argument("--partitions", type=int, default=8)
    starting.add_argument("--replicas", type=int, default=2)
    for name in ("status", "stop"):
        commands.add_parser(name).add_argument("folder")
    given = parser.parse_args()
    try:
        if given.command == "start":
            start(given.nodes, given.partitions, given.replicas)
        elif given.command == "status":
            status(given.folder)
        else:
            stop(given.folder)
    except Unavailable as why:
        print("cluster: NO KAFKA: %s" % why, file=sys.stderr)
        sys.exit(77)
    except RuntimeError as why:
        sys.exit("cluster: %s" % why)


if __name__ == "__main__":
    main()
