"""tools/cluster: a cluster on this machine is started, told of and stopped."""

import json
import os
import subprocess
import sys
import unittest
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
import real_kafka

TOOL = os.path.join(ROOT, "tools", "cluster")


def run(*arguments):
    done = subprocess.run([TOOL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=240, check=False)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout.decode()


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


class LocalClusterTest(unittest.TestCase):

    def test_starts_and_stops(self):
        first, *urls = run("start", "2", "--partitions", "2").split("\n")
        folder = first.split(" ", 1)[1]
        try:
            urls = [url for url in urls if url]
            self.assertEqual(len(urls), 2)
            play = {"events": [{"user": "u1", "item": "v1"}]}
            self.assertEqual(post(urls[0] + "/plays", play)["accepted"], 1)
            answer = post(urls[1] + "/filter", {"user": "u1", "items": ["v1", "v2"]})
            self.assertEqual(answer["unseen"], ["v2"])
            status = run("status", folder)
            self.assertEqual(status.count("2 serving"), 2, status)
        finally:
            run("stop", folder)
        self.assertFalse(os.path.exists(folder))


if __name__ == "__main__":
    real_kafka.require()
    unittest.main()
