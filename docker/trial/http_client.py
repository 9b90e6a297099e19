"""Talks to a server."""

import json
import urllib.error
import urllib.request


def get(url, path):
    with urllib.request.urlopen(url + path, timeout=60) as answer:
        return answer.read().decode()


def post(url, path, body):
    request = urllib.request.Request(url + path, json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def unseen(url, user, items):
    return post(url, "/filter", {"user": user, "items": items})["unseen"]
