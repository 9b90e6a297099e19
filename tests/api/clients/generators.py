"""The programs that make clients of the OpenAPI document, fetched once into ~/.cache/seendb/clients,
and what they are called with. These are the commands of server/README.md, "Clients"."""

import os
import shutil
import subprocess
import sys

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "seendb",
                     "clients")
GENERATOR = "7.9.0"
JAR = os.path.join(CACHE, f"openapi-generator-cli-{GENERATOR}.jar")
PYTHON_GENERATOR = "0.29.1"
VENV = os.path.join(CACHE, f"openapi-python-client-{PYTHON_GENERATOR}")
FETCH_SECONDS = 300


class Missing(Exception):
    """Something that the test needs is not here and can't be fetched."""


def call(command, folder=None, seconds=300, **environment):
    """Runs a command; its output is in the error where it fails."""
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-8000:]}")
    return done.stdout


def fetch(command, **environment):
    """A command that may fail because the network does."""
    try:
        call(command, seconds=FETCH_SECONDS, **environment)
    except (RuntimeError, subprocess.TimeoutExpired, OSError) as failed:
        raise Missing(str(failed)) from failed


def need(*programs):
    """Raises Missing where one is not installed."""
    for program in programs:
        if shutil.which(program) is None:
            raise Missing(f"no {program}: tools/setup clients installs it")


def openapi_generator():
    """The command of openapi-generator."""
    need("java", "mvn")
    if not os.path.exists(JAR):
        fetch(["mvn", "-q", "-B", "dependency:copy", f"-DoutputDirectory={CACHE}",
               f"-Dartifact=org.openapitools:openapi-generator-cli:{GENERATOR}"])
    return ["java", "-jar", JAR, "generate",
            "--global-property=apiTests=false,modelTests=false,apiDocs=false,modelDocs=false"]


def python_generator():
    """The folder of programs of openapi-python-client's environment."""
    programs = os.path.join(VENV, "bin")
    if not os.path.exists(os.path.join(programs, "openapi-python-client")):
        fetch([sys.executable, "-m", "venv", "--clear", VENV])
        fetch([os.path.join(programs, "pip"), "install", "--quiet",
               "--disable-pip-version-check", f"openapi-python-client=={PYTHON_GENERATOR}"])
    return programs
