"""libseendb_local.so (clients/local), where it is found: it hashes and probes faster than Python does.

It is looked for where SEENDB_LOCAL_LIBRARY says, else where the system has its libraries; "none" means that it is not used.
"""

import array
import ctypes
import ctypes.util
import os


class _Key(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("secret", ctypes.c_uint8 * 192)]


def _load():
    path = os.environ.get("SEENDB_LOCAL_LIBRARY") or ctypes.util.find_library("seendb_local")
    if not path or path == "none":
        return None
    try:
        library = ctypes.CDLL(path)
        size, pointer, handle = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p
        for name, result, arguments in (
                ("hash_numbers", None, (ctypes.POINTER(_Key), pointer, size, pointer)),
                ("hash_text", ctypes.c_uint64, (ctypes.POINTER(_Key), ctypes.c_char_p, size)),
                ("parse", ctypes.c_int, (ctypes.c_char_p, size, handle, ctypes.POINTER(handle))),
                ("free", None, (handle,)), ("probe", None, (handle, pointer, size, pointer))):
            function = getattr(library, "seendb_local_" + name)
            function.restype, function.argtypes = result, arguments
        return library
    except (OSError, AttributeError):  # of another version, say
        return None


_LIBRARY = _load()


def is_found():
    return _LIBRARY is not None


class Probe:
    """A dump as the library holds it. `former`: the Probe of the dump before, or None."""

    def __init__(self, key, body, former=None):
        self._key = _Key(key.version, (ctypes.c_uint8 * 192)(*key.secret))
        self._filter = ctypes.c_void_p()
        parsed = _LIBRARY.seendb_local_parse(body, len(body), former._filter if former else None,
                                             ctypes.byref(self._filter))
        if parsed:
            raise ValueError("the library refuses the dump: %d" % parsed)

    def __del__(self):
        if self._filter:
            _LIBRARY.seendb_local_free(self._filter)

    def seen(self, ids):
        """(fingerprints, whether each was seen) of checked ids."""
        hashes = array.array("Q", bytes(8 * len(ids)))
        try:
            numbers = array.array("Q", ids)
            _LIBRARY.seendb_local_hash_numbers(self._key, numbers.buffer_info()[0], len(ids), hashes.buffer_info()[0])
        except TypeError:
            for i, one in enumerate(ids):
                text = str(one).encode()
                hashes[i] = _LIBRARY.seendb_local_hash_text(self._key, text, len(text))
        seen = (ctypes.c_uint8 * len(ids))()
        _LIBRARY.seendb_local_probe(self._filter, hashes.buffer_info()[0], len(ids), seen)
        return hashes, bytes(seen)
