"""What the figures were taken on."""

import os
import platform
import re
import subprocess


def _first(command, pattern):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False)
    found = re.search(pattern, done.stdout)
    return found.group(1).strip() if found else "unknown"


def _release():
    try:
        with open("/etc/os-release", encoding="utf-8") as file:
            found = re.search(r'PRETTY_NAME="([^"]*)"', file.read())
            return found.group(1) if found else "unknown"
    except OSError:
        return "unknown"


def _memory_gb():
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def _setting(folder, name):
    with open(os.path.join(folder, "CMakeCache.txt"), encoding="utf-8") as file:
        found = re.search(rf"^{name}:[A-Z]+=(.*)$", file.read(), re.M)
        return found.group(1) if found else ""


def describe(root, redis, folder):
    """Machine, system and versions, as a dictionary. `redis`: None where there is none."""
    return {
        "processor": _first(["lscpu"], r"Model name:\s*(.*)"),
        "cores": os.cpu_count(),
        "memory_gb": _memory_gb(),
        "system": _release(),
        "kernel": platform.release(),
        "compiler": _first([_setting(folder, "CMAKE_CXX_COMPILER") or "c++", "--version"], r"(.*)"),
        "build": _setting(folder, "CMAKE_BUILD_TYPE"),
        "redis": redis.version if redis else "absent",
        "commit": _first(["git", "-C", root, "rev-parse", "--short", "HEAD"], r"(\w+)"),
        "load_before": round(os.getloadavg()[0], 2),
    }
