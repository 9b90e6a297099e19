"""The rules of a unit of systemd that a process can be put under without systemd: no new privileges,
SystemCallFilter, RestrictAddressFamilies and MemoryDenyWriteExecute, as one filter of seccomp."""

import ctypes
import errno
import re
import socket
import struct
import subprocess

ALLOW, ERRNO = 0x7FFF0000, 0x00050000
LOAD, EQUAL, MASKED, RETURN = 0x20, 0x15, 0x45, 0x06  # opcodes of classic BPF
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER_MODE = 38, 22, 2
PROT_WRITE, PROT_EXEC = 2, 4


def settings_of(unit):
    """The lines KEY=VALUE of a unit: {key: [values]}."""
    found = {}
    for line in unit.splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(key, []).append(value)
    return found


def members(name):
    """The system calls of one of systemd's sets; raises OSError where there is no systemd-analyze."""
    if not name.startswith("@"):
        return {name}
    text = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, text=True,
                          check=True).stdout
    found = set()
    for line in text.splitlines()[1:]:
        line = line.strip()
        if line and not line.startswith("#"):
            found |= members(line)
    return found


def allowed_calls(values):
    """What lines of SystemCallFilter allow together."""
    allowed = set()
    for value in values:
        deny = value.startswith("~")
        for name in value.lstrip("~").split():
            allowed = allowed - members(name) if deny else allowed | members(name)
    return allowed


def numbers():
    """{name: number} of this machine's system calls."""
    text = subprocess.run(["c++", "-E", "-dM", "-x", "c", "-"], input="#include <sys/syscall.h>\n",
                          capture_output=True, text=True, check=True).stdout
    return {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)$", text, re.M)}


class Program:
    """A filter in the making: what no rule has decided when it ends is refused."""

    def __init__(self):
        self.code = b""

    def add(self, operation, value, yes=0, no=0):
        self.code += struct.pack("HBBI", operation, yes, no, value)

    def refuse(self):
        self.add(RETURN, ERRNO | errno.EPERM)

    def allow_alone(self, number):
        self.add(EQUAL, number, 0, 1)
        self.add(RETURN, ALLOW)

    def families(self, number, families):
        """Of socket(): the first argument is one of these."""
        self.add(EQUAL, number, 0, len(families) + 3)
        self.add(LOAD, 16)
        for left, family in zip(range(len(families), 0, -1), families):
            self.add(EQUAL, family, left)
        self.add(RETURN, ERRNO | errno.EAFNOSUPPORT)
        self.add(RETURN, ALLOW)

    def not_executable(self, number, together):
        """Of mmap() and mprotect(): the third argument has not all of these bits."""
        bits = [bit for bit in (PROT_WRITE, PROT_EXEC) if together & bit]
        self.add(EQUAL, number, 0, len(bits) + 3)
        self.add(LOAD, 32)
        for left, bit in zip(range(len(bits), 0, -1), bits):
            self.add(MASKED, bit, 0, left)
        self.refuse()
        self.add(RETURN, ALLOW)


def filter_of(unit):
    """The program that holds a process to the rules of the unit's text."""
    settings, known = settings_of(unit), numbers()
    program = Program()
    program.add(LOAD, 0)
    assert settings["MemoryDenyWriteExecute"] == ["yes"]
    program.not_executable(known["mmap"], PROT_WRITE | PROT_EXEC)
    program.not_executable(known["mprotect"], PROT_EXEC)
    program.families(known["socket"], [int(getattr(socket, name)) for name in
                                       settings["RestrictAddressFamilies"][0].split()])
    calls = allowed_calls(settings["SystemCallFilter"])
    for name in sorted(calls & set(known) - {"mmap", "mprotect", "socket"}):
        program.allow_alone(known[name])
    program.refuse()
    return program.code


def obey(code):
    """Puts this process under the filter, for good."""
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(code, len(code))
    head = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer))
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, FILTER_MODE, head, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")
