"""Makes a program that uses a client of this tree, in a folder of its own, as perf/clients.py and perf/local_rates/run do.
What a language needs is fetched as the client's own test does it, and held against the same checksums."""

import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLIENTS = os.path.join(ROOT, "clients")
sys.path.insert(0, os.path.join(CLIENTS, "python", "src"))
sys.path.insert(0, os.path.join(ROOT, "tools", "demo", "kafka"))
import jars  # noqa: E402


def done(command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=900, **more).stdout


def needs(*programs):
    missing = [one for one in programs if shutil.which(one) is None]
    if missing:
        raise FileNotFoundError("without " + ", ".join(missing))


def in_go(folder, source):
    """The command of a program in Go."""
    needs("go")
    for name in ("go", "rate"):
        os.mkdir(os.path.join(folder, name))
    shutil.copytree(os.path.join(CLIENTS, "go"), os.path.join(folder, "go"), dirs_exist_ok=True)
    shutil.copy(source, os.path.join(folder, "rate"))
    with open(os.path.join(folder, "rate", "go.mod"), "w", encoding="utf-8") as file:
        file.write("module rate\n\ngo 1.19\n\nrequire seendb v0.0.0\n\nreplace seendb => ../go\n")
    done(["go", "build", "-o", "rate", "."], cwd=os.path.join(folder, "rate"), env=dict(os.environ, GOPROXY="off"))
    return [os.path.join(folder, "rate", "rate")]


def in_java(folder, source):
    needs("mvn", "javac")
    tree, jars_there = os.path.join(folder, "java"), os.path.join(folder, "jars")
    shutil.copytree(os.path.join(CLIENTS, "java"), tree, ignore=shutil.ignore_patterns("target"))
    done(["mvn", "-q", "-B", "-Dstyle.color=never", "dependency:copy-dependencies", "-DoutputDirectory=" + jars_there], cwd=tree)
    jars.check(os.path.join(CLIENTS, "java", "jars.sha256"), jars_there)
    done(["mvn", "-q", "-B", "-Dstyle.color=never", "compile"], cwd=tree)
    classes = os.pathsep.join([os.path.join(tree, "target", "classes"), os.path.join(jars_there, "*")])
    return ["java", "-cp", classes, source]


def in_typescript(folder, source):
    needs("node", "npm")
    tree = os.path.join(folder, "node_modules", "seendb")
    shutil.copytree(os.path.join(CLIENTS, "typescript"), tree, ignore=shutil.ignore_patterns("node_modules", "dist"))
    done(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=tree)
    done(["npm", "run", "build"], cwd=tree)
    return ["node", shutil.copy(source, folder)]
