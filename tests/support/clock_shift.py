"""A server whose wall clock a test sets ahead or back while it runs (clock_shift.c).

    shift = ClockShift(folder)
    server = Server(env=shift.env, ...)
    shift.set(7_200_000)      # two hours ahead; 0: right
"""

import mmap
import os
import struct
import subprocess

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clock_shift.c")


class ClockShift:

    def __init__(self, folder, name="clock"):
        library, path = os.path.join(folder, "clock_shift.so"), os.path.join(folder, name)
        if not os.path.exists(library):
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, SOURCE], check=True)
        with open(path, "wb") as file:
            file.write(bytes(8))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 8)
        self.env = {"LD_PRELOAD": library, "SEENDB_TEST_CLOCK": path}

    def set(self, milliseconds):
        struct.pack_into("<q", self.map, 0, milliseconds)
