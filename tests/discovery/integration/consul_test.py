"""A server in Consul's catalog, over a stand-in of the agent's documented API."""

import http.server
import json
import os
import socket
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from seendb_client import Server

WAIT_S = 60


class Agent:
    """A Consul agent as far as services go. `token`: the one that it asks for."""

    def __init__(self, token=None, port=0):
        self.services, self.calls, self.token = {}, [], token
        agent = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, status, body=b""):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def serve(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                path = self.path.split("?")[0]
                agent.calls.append((self.command, path))
                if agent.token and self.headers.get("X-Consul-Token") != agent.token:
                    return self.answer(403, b"Permission denied: token lacks service:write")
                *_, verb, name = path.split("/")
                if (self.command, path) == ("PUT", "/v1/agent/service/register"):
                    service = json.loads(body)
                    agent.services[service["ID"]] = service
                    return self.answer(200)
                if self.command == "PUT" and verb == "deregister":
                    known = agent.services.pop(name, None) is not None
                    return self.answer(200 if known else 404)
                known = agent.services.get(name)
                return self.answer(200, json.dumps(known).encode()) if known else self.answer(
                    404, b"unknown service ID")

            do_GET = do_PUT = serve

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def url(self):
        return "http://127.0.0.1:%d" % self.port


def wait_for(what):
    end = time.monotonic() + WAIT_S
    while not (found := what()):
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.02)
    return found


def metric(server):
    text = server.request("GET", "/metrics").body.decode()
    return [line.split()[1] for line in text.splitlines()
            if line.startswith("seendb_consul_registered ")]


class ConsulTest(unittest.TestCase):
    def test_a_server_is_in_the_catalog_from_ready_until_it_is_told_to_end(self):
        with Agent() as agent, Server(config={"consul": {"url": agent.url(), "tags": ["eu"],
                                                         "id": "one"}}) as server:
            entry = wait_for(lambda: agent.services.get("one"))
            self.assertEqual((entry["Name"], entry["Port"], entry["Tags"]),
                             ("seendb", server.port, ["eu"]))
            self.assertEqual(entry["Check"]["HTTP"],
                             "http://127.0.0.1:%d/readyz" % server.port)
            wait_for(lambda: metric(server) == ["1"])
            server.terminate()
            self.assertEqual(agent.services, {})

    def test_leaves_the_catalog_before_clients_are_refused(self):
        with Agent() as agent, Server(config={"consul": {"url": agent.url()},
                                              "limits": {"shutdown_delay_ms": 60_000}}) as server:
            wait_for(lambda: agent.services)
            server.process.terminate()
            wait_for(lambda: not agent.services)
            self.assertEqual(server.request("GET", "/healthz").status, 200)

    def test_an_agent_that_comes_later_is_told(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
        with Server(config={"consul": {"url": "http://127.0.0.1:%d" % port}}) as server:
            wait_for(lambda: metric(server) == ["0"])
            wait_for(lambda: "consul: " in server.request("GET", "/readyz").body.decode())
            with Agent(port=port) as agent:
                wait_for(lambda: agent.services)
                wait_for(lambda: metric(server) == ["1"])
                wait_for(lambda: "consul: " not in server.request("GET", "/readyz").body.decode())
                server.terminate()

    def test_sends_the_token_and_tells_what_the_agent_says_without(self):
        with tempfile.TemporaryDirectory() as folder, Agent(token="t0ken") as agent:
            path = os.path.join(folder, "token")
            with open(path, "w", encoding="utf-8") as file:
                file.write("other\n")
            os.chmod(path, 0o600)
            with Server(config={"consul": {"url": agent.url(), "token_file": path}}) as server:
                told = wait_for(lambda: [p for p in json.loads(
                    server.request("GET", "/readyz").body).get("problems", []) if "consul" in p])
                self.assertIn("the agent answers 403: Permission denied", told[0])
                with open(path, "w", encoding="utf-8") as file:
                    file.write("t0ken\n")
                wait_for(lambda: agent.services)
                server.terminate()
                self.assertEqual(agent.services, {})

    def test_a_server_that_was_killed_takes_its_entry_again(self):
        with Agent() as agent, Server(config={"consul": {"url": agent.url(), "id": "one"}}) as server:
            first = wait_for(lambda: agent.services.get("one"))["Port"]
            server.kill()
            self.assertIn("one", agent.services)
            server.start()
            wait_for(lambda: agent.services["one"]["Port"] == server.port)
            self.assertNotEqual(first, 0)


if __name__ == "__main__":
    unittest.main()
