"""What scripts fetch for tests and the demo, each with the file that has its checksum."""

import base64
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "demo", "kafka"))

import jars  # noqa: E402

JARS = ("tools/demo/kafka/jars.sha256", "tests/api/clients/java/jars.sha256", "clients/java/jars.sha256")
PIP = ("tests/support/requirements.txt", "tests/support/python_client_requirements.txt",
       "tests/api/clients/python/requirements.txt", "tests/connect/clients/python/requirements.txt")
GO = ("tests/api/clients/go/go.sum", "tests/connect/clients/go/go.sum")
NPM = ("clients/typescript/package-lock.json", "tests/connect/clients/node/package-lock.json")
IMAGES = ("docker/Dockerfile", "docker/compose.yaml")


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def made(kind, reference, name, version, pins, digest=None):
    one = {"type": kind, "bom-ref": reference, "name": name, "scope": "excluded",
           "properties": [{"name": "seendb:use", "value": "tests"}, {"name": "seendb:checked-by", "value": pins}]}
    if version:
        one["version"] = version
    if reference.startswith("pkg:"):
        one["purl"] = reference
    if digest:
        one["hashes"] = [{"alg": digest[0], "content": digest[1]}]
    return one


def of_maven():
    for pins in JARS:
        for jar, digest in jars.pinned(os.path.join(ROOT, pins)).items():
            name, version = re.fullmatch(r"(.+?)-(\d.*?)\.jar", jar).groups()
            yield made("library", "jar:" + digest, name, version, pins, ("SHA-256", digest))


def of_pip():
    for pins in PIP:
        for name, version in re.findall(r"^([\w.-]+)==([^\s;\\]+)", text_of(pins), re.M):
            yield made("library", "pkg:pypi/%s@%s" % (name.lower().replace("_", "-"), version), name, version, pins)


def of_go():
    for pins in GO:
        for name, version in re.findall(r"^(\S+) (v\S+) h1:", text_of(pins), re.M):
            if not version.endswith("/go.mod"):
                yield made("library", "pkg:golang/%s@%s" % (name, version.replace("+", "%2B")), name, version, pins)


def of_npm():
    for pins in NPM:
        for path, package in json.loads(text_of(pins))["packages"].items():
            if path:
                name = path.rpartition("node_modules/")[2]
                digest = base64.b64decode(package["integrity"].removeprefix("sha512-")).hex()
                yield made("library", "pkg:npm/%s@%s" % (name.replace("@", "%40"), package["version"]), name,
                           package["version"], pins, ("SHA-512", digest))


def of_images():
    for path in IMAGES:
        for image in re.findall(r"^(?:ARG BASE=| +image: )(?!seendb:)(\S+)$", text_of(path), re.M):
            tag, _, digest = image.partition("@sha256:")
            name, _, version = tag.partition(":")
            yield made("container", "image:" + image, name, version, path, ("SHA-256", digest) if digest else None)


def components():
    """Each once, whoever fetches it."""
    found = {}
    for one in (*of_maven(), *of_pip(), *of_go(), *of_npm(), *of_images()):
        found.setdefault(one["bom-ref"], one)
    return list(found.values())
