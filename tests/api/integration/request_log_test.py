"""Request ids, and the lines of the log about requests."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from openapi_check import CheckedServer


class RequestLogTest(unittest.TestCase):
    def test_ids_are_echoed_and_logged(self):
        with CheckedServer(args=["--log-level", "debug"]) as server:
            answer = server.request("GET", "/users/u1", headers={"X-Request-Id": "id-7"})
            self.assertEqual((answer.status, answer.headers["x-request-id"]), (200, "id-7"))
            refused = server.request("GET", "/nope", headers={"X-Request-Id": "id-8"})
            self.assertEqual((refused.status, refused.headers["x-request-id"]), (404, "id-8"))
            self.assertNotIn("x-request-id", server.get("/").headers)
            ignored = server.request("GET", "/", headers={"X-Request-Id": "i" * 129})
            self.assertNotIn("x-request-id", ignored.headers)
            server.terminate()
            lines = [json.loads(line) for line in server.log_text().splitlines()
                     if line.startswith("{")]
            logged = {line["request_id"]: line for line in lines if "request_id" in line}
            self.assertEqual(sorted(logged), ["id-7", "id-8"])
            self.assertEqual((logged["id-7"]["event"], logged["id-7"]["route"],
                              logged["id-7"]["status"]), ("request", "GET /users/{user}", 200))
            self.assertEqual((logged["id-8"]["route"], logged["id-8"]["status"]), ("", 404))
            self.assertNotIn("u1", json.dumps(logged))

    def test_requests_are_not_logged_by_default(self):
        with CheckedServer() as server:
            server.request("GET", "/users/u1", headers={"X-Request-Id": "id-7"})
            server.terminate()
            self.assertNotIn("id-7", server.log_text())


if __name__ == "__main__":
    unittest.main()
