"""A TCP proxy in front of a port of this machine, which can be cut: bytes then wait, both ways or one
way, as in a network that loses packets, until it is healed. Nobody is told of it.

    with Wire(server.port) as wire:      # others reach the server at wire.port
        wire.cut(pids=[node.pid])        # what these processes send and get; None: everybody
        wire.heal()
"""

import asyncio
import os
import threading

TO, BACK = "to", "back"
PAUSE_S = 0.01
PIECE = 1 << 16


class Wire:

    def __init__(self, target_port=None):
        """`target_port` may be set later: until then nobody gets through."""
        self.target_port = target_port
        self.cuts = []  # (pids or None, ways)
        self.loop = asyncio.new_event_loop()
        self.server = self.loop.run_until_complete(
            asyncio.start_server(self.serve, "127.0.0.1", 0))
        self.port = self.server.sockets[0].getsockname()[1]
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def cut(self, pids=None, ways=(TO, BACK)):
        """`pids`: of those who have connected; `ways`: TO the target, BACK from it."""
        self.cuts = self.cuts + [(pids, ways)]

    def heal(self):
        self.cuts = []

    def close(self):
        def end():
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            self.server.close()
            self.loop.call_soon(self.loop.stop)
        self.loop.call_soon_threadsafe(end)
        self.thread.join()
        self.loop.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def is_cut(self, port, way):
        """Whether it is, for the process that has connected from `port`."""
        return any(way in ways and (pids is None or any(owns(pid, port) for pid in pids))
                   for pids, ways in self.cuts)

    async def passable(self, port, way):
        while self.is_cut(port, way):
            await asyncio.sleep(PAUSE_S)

    async def serve(self, reader, writer):
        port = writer.get_extra_info("peername")[1]
        try:
            await self.passable(port, TO)
            if self.target_port is None:
                raise ConnectionRefusedError
            there, back = await asyncio.open_connection("127.0.0.1", self.target_port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self.pump(reader, back, port, TO), self.pump(there, writer, port, BACK))

    async def pump(self, reader, writer, port, way):
        try:
            while True:
                piece = await reader.read(PIECE)
                await self.passable(port, way)
                if not piece:
                    break
                writer.write(piece)
                await writer.drain()
        except OSError:
            pass
        writer.close()


def owns(pid, port):
    """Whether a process has a connection from this port of 127.0.0.1."""
    try:
        with open("/proc/%d/net/tcp" % pid, encoding="ascii") as file:
            rows = [line.split() for line in file.readlines()[1:]]
        inodes = {"socket:[%s]" % row[9] for row in rows
                  if row[1] == "0100007F:%04X" % port and row[9] != "0"}
        folder = "/proc/%d/fd" % pid
        return any(os.readlink(os.path.join(folder, name)) in inodes for name in os.listdir(folder))
    except OSError:
        return False  # it has ended, or closed one meanwhile
