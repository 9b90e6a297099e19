"""tools/cluster: a cluster on this machine is started, told of and stopped."""

import os
import subprocess
import sys
import unittest
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
import real_kafka
from seendb_client import Client, eventually, settled, whole

TOOL = os.path.join(ROOT, "tools", "cluster")


def run(*arguments):
    done = subprocess.run([TOOL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=240, check=False)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout.decode()


class LocalClusterTest(unittest.TestCase):

    def test_starts_and_stops(self):
        first, *urls = run("start", "2", "--partitions", "2").split("\n")
        folder = first.split(" ", 1)[1]
        try:
            urls = [url for url in urls if url]
            self.assertEqual(len(urls), 2)
            play = {"events": [{"user": "u1", "item": "v1"}]}
            taking, asked = map(self.client, urls)
            done = eventually(lambda: settled(taking.request("POST", "/plays", play)))
            self.assertEqual((done.status, done.json["accepted"]), (200, 1), done)
            question = {"user": "u1", "items": ["v1", "v2"]}
            answer = eventually(lambda: whole(asked.request("POST", "/filter", question)))
            self.assertEqual(answer.json["unseen"], ["v2"])
            eventually(lambda: run("status", folder).count("2 serving") == 2)
        finally:
            run("stop", folder)
        self.assertFalse(os.path.exists(folder))

    def client(self, url):
        at = urllib.parse.urlparse(url)
        client = Client(at.hostname, at.port)
        self.addCleanup(client.close)
        return client


if __name__ == "__main__":
    real_kafka.require()
    unittest.main()
