"""Writes records of a cluster's log as nodes do, with librdkafka: kcat can't give a header bytes that
are 0."""

import ctypes
import random
import struct
import time

PLAYS, IMPRESSIONS, ERASE, TICK = 1, 2, 3, 8

# rd_kafka_vtype_t
_END, _TOPIC, _PARTITION, _VALUE, _KEY, _MSGFLAGS, _HEADER = 0, 1, 3, 4, 5, 7, 9
_PRODUCER, _COPY, _CONF_OK = 0, 2, 0


def header(kind, arrival_ms=None, version=1):
    """The record header `seendb` (server/doc/cluster-format.md)."""
    if arrival_ms is None:
        arrival_ms = int(time.time() * 1000)
    return struct.pack("<BBqQ", version, kind, arrival_ms, random.getrandbits(64))


def partition_of(user, partitions):
    """Where Kafka's producers in Java put a key: murmur2, the sign taken off."""
    data = user.encode()
    mask = 0xFFFFFFFF
    value = (0x9747B28C ^ len(data)) & mask
    whole = len(data) - len(data) % 4
    for at in range(0, whole, 4):
        k = int.from_bytes(data[at:at + 4], "little") * 0x5BD1E995 & mask
        k = (k ^ k >> 24) * 0x5BD1E995 & mask
        value = (value * 0x5BD1E995 & mask) ^ k
    tail = data[whole:]
    if tail:
        value = (value ^ int.from_bytes(tail, "little")) * 0x5BD1E995 & mask
    value = (value ^ value >> 13) * 0x5BD1E995 & mask
    return ((value ^ value >> 15) & 0x7FFFFFFF) % partitions


class LogWriter:
    """A producer; each record is acknowledged before `write` returns."""

    def __init__(self, brokers, topic):
        self.library = ctypes.CDLL("librdkafka.so.1")
        for name in ("rd_kafka_conf_new", "rd_kafka_new"):
            getattr(self.library, name).restype = ctypes.c_void_p
        self.topic = topic.encode()
        text = ctypes.create_string_buffer(512)
        conf = ctypes.c_void_p(self.library.rd_kafka_conf_new())
        for key, value in (("bootstrap.servers", brokers), ("acks", "all"), ("linger.ms", "0"),
                           ("log_level", "0")):
            done = self.library.rd_kafka_conf_set(conf, key.encode(), value.encode(), text, 512)
            assert done == _CONF_OK, text.value
        self.handle = ctypes.c_void_p(self.library.rd_kafka_new(_PRODUCER, conf, text, 512))
        assert self.handle.value, text.value

    def close(self):
        self.library.rd_kafka_destroy(self.handle)

    def send(self, partition, head, key=b"", value=b""):
        size = ctypes.c_size_t
        error = self.library.rd_kafka_producev(
            self.handle, _TOPIC, ctypes.c_char_p(self.topic), _PARTITION, ctypes.c_int(partition),
            _MSGFLAGS, ctypes.c_int(_COPY), _KEY, ctypes.c_char_p(key), size(len(key)), _VALUE,
            ctypes.c_char_p(value), size(len(value)), _HEADER, ctypes.c_char_p(b"seendb"),
            ctypes.c_char_p(head), size(len(head)), _END)
        assert error == 0, error

    def flush(self):
        assert self.library.rd_kafka_flush(self.handle, 30000) == 0

    def write(self, *record, **more):
        self.send(*record, **more)
        self.flush()
