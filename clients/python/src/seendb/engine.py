"""The engine within this process: the calls of a Client without a server. It needs cffi
(the extra `seendb[engine]`) and libseendb.so.1, which Debian's package libseendb1 or `cmake --install` brings;
the variable SEENDB_LIBRARY names another than the one that the loader finds."""

import asyncio
import concurrent.futures
import json
import os
import threading

from . import _engine_abi
from .async_engine_calls import AsyncEngineCalls
from .engine_calls import EngineCalls, encoded_path
from .errors import Error

LIBRARY = "libseendb.so.1"
_loaded = None  # (ffi, library)
_loading = threading.Lock()


def _load():
    """cffi and the library: once for all engines."""
    global _loaded
    with _loading:
        if _loaded is None:
            try:
                import cffi
            except ImportError:
                raise ImportError("seendb.Engine needs cffi, which the extra seendb[engine] brings") from None
            ffi = cffi.FFI()
            ffi.cdef(_engine_abi.DECLARATIONS)
            name = os.environ.get("SEENDB_LIBRARY", LIBRARY)
            try:
                library = ffi.dlopen(name)
            except OSError as error:
                raise OSError("seendb.Engine needs %s, which the package libseendb1 or `cmake --install` "
                              "brings; SEENDB_LIBRARY may name it: %s" % (name, error)) from None
            found, needed = library.seendb_abi_version(), _engine_abi.VERSION
            if found >> 16 != needed >> 16 or found < needed:
                raise OSError("%s has version %#x of the interface, this package needs %#x" %
                              (name, found, needed))
            _loaded = ffi, library
            os.register_at_fork(after_in_child=_end_without_destructors)
    return _loaded


def _end_without_destructors():
    """In a child of a fork: destructors of RocksDB wait for threads that only the parent has, for ever. So the
    last that exit() does is _exit() with the same status. Python has done by then what it does at an end."""
    ffi = _loaded[0].__class__()
    ffi.cdef("int on_exit(void (*)(int, void*), void*); void _exit(int);")
    library = ffi.dlopen(None)
    library.on_exit(ffi.cast("void (*)(int, void*)", ffi.addressof(library, "_exit")), ffi.NULL)


class Engine(EngineCalls):
    """A database in the folder `path`, made where there is none, within this process.

    options    of seendb_open: shards, read_only, block_cache_bytes, max_candidates, default_policy, ...

    Calls are those of a Client, with the same answers and errors. What a server alone has is missing (call,
    export, exposures, marks, items, sets, counts), and a filter refuses what asks for it. `timeout` bounds what filter() waits for.
    Every call may be made from any thread; close() is the last. They let other threads run meanwhile. A process
    opens a database once. The engine is the process's that opened it: in a child of a fork calls raise
    Error("closed"), and the end of the child leaves the database alone.
    """

    def __init__(self, path, *, timeout=1.0, **options):
        self._ffi, self._lib = _load()
        self.timeout = timeout
        self._begin_pages()
        self._calls, self._idle, self._pid = 0, threading.Condition(), os.getpid()
        self._db = None
        error, db = self._ffi.new("seendb_error**"), self._ffi.new("seendb_db**")
        if self._lib.seendb_open(encoded_path(path), json.dumps(options).encode(), db, error) != 0:
            raise self._taken(error[0])
        self._db = db[0]

    def close(self):
        """Waits for calls of other threads, syncs and closes; calls raise Error("closed") from then on."""
        _check_process(self._pid)
        with self._idle:
            db, self._db = self._db, None
            self._idle.wait_for(lambda: self._calls == 0)
        if db is not None:
            error = self._ffi.new("seendb_error**")
            if self._lib.seendb_close(db, error) != 0:
                raise self._taken(error[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._pid == os.getpid():
            self.close()
        else:
            self._db = None  # the parent's

    def __del__(self):
        if getattr(self, "_db", None) is not None:
            self.__exit__()

    def _do(self, kept, function, *arguments):
        _check_process(self._pid)
        with self._idle:
            if self._db is None:
                raise Error("closed", "this engine is closed")
            db = self._db
            self._calls += 1
        try:
            error = self._ffi.new("seendb_error**")
            if function(db, *arguments, error) != 0:
                raise self._taken(error[0])
        finally:
            with self._idle:
                self._calls -= 1
                if self._db is None:  # close() waits
                    self._idle.notify_all()

    def _taken(self, error):
        """An error of the library as one of this package; freed."""
        code = self._lib.seendb_code_name(self._lib.seendb_error_code(error))
        parts = [code, self._lib.seendb_error_message(error), self._lib.seendb_error_field(error)]
        told = Error(*[self._ffi.string(part).decode(errors="replace") for part in parts])
        self._lib.seendb_error_free(error)
        return told


class AsyncEngine(AsyncEngineCalls):
    """An Engine for asyncio: its calls are awaited, and wait in threads of its own while the loop runs on.

    threads    calls that go on at once; more of them wait for a thread, which is of the time of a filter

    The database is opened by `async with`, else by the first call. A call checks and copies its arguments at once. Calls begin in
    the order in which they were made; where one is to see what another wrote, await that first. Where the task of a call is
    cancelled, it is told at once: a call that waits for a thread is not made, one that has begun ends all the same, and what it
    records counts. `await close()` is the last: it waits for all calls made before. An engine is used from one loop. All else is as
    of Engine, fork too.
    """

    def __init__(self, path, *, timeout=1.0, threads=8, **options):
        self._ffi, self._lib = _load()
        self.timeout = timeout
        self._begin_pages()
        self._path, self._options, self._pid = path, options, os.getpid()
        self._threads = concurrent.futures.ThreadPoolExecutor(threads, "seendb-engine")
        self._opening = self._ending = None  # futures

    async def close(self):
        """Waits for the calls made so far, syncs and closes; calls raise Error("closed") from then on. Where the task is
        cancelled meanwhile, the engine closes all the same, and another close() waits for that."""
        _check_process(self._pid)
        if self._ending is None:
            self._ending = concurrent.futures.Future()
            threading.Thread(target=self._end, name="seendb-engine-end").start()
        await asyncio.shield(asyncio.wrap_future(self._ending))

    def _end(self):
        try:
            self._threads.shutdown()  # waits for the calls
            if self._opening is not None and self._opening.exception() is None:
                self._opening.result().close()
            self._ending.set_result(None)
        except BaseException as error:  # is raised by close()
            self._ending.set_exception(error)

    async def __aenter__(self):
        await self._do([], lambda _db, _error: 0)
        return self

    async def __aexit__(self, *_):
        if self._pid == os.getpid():
            await self.close()

    async def _do(self, kept, function, *arguments):
        _check_process(self._pid)
        if self._ending is not None:
            raise Error("closed", "this engine is closed")
        if self._opening is None or self._opening.done() and self._opening.exception() is not None:
            self._opening = self._threads.submit(Engine, self._path, timeout=self.timeout, **self._options)
        await asyncio.wrap_future(self._threads.submit(_made, self._opening, kept, function, *arguments))


def _made(opening, *call):
    opening.result()._do(*call)


def _check_process(pid):
    """Before any lock: a thread that the child does not have may hold it."""
    if pid != os.getpid():
        raise Error("closed", "this engine is of the process that this one was forked from")
