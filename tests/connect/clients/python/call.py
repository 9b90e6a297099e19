"""Calls a server by connectrpc of PyPI: call.py URL FILE, where FILE has the descriptors of the .proto."""

import sys

from connectrpc.client import ConnectClientSync
from connectrpc.code import Code
from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from google.protobuf import descriptor_pb2, message_factory

with open(sys.argv[2], "rb") as file:
    MESSAGES = message_factory.GetMessages(descriptor_pb2.FileDescriptorSet.FromString(file.read()).file)


def message(name, **fields):
    return MESSAGES["seendb.v1." + name](**fields)


def method(name, request, response):
    return MethodInfo(name=name, service_name="seendb.v1.SeenDB", input=MESSAGES["seendb.v1." + request],
                      output=MESSAGES["seendb.v1." + response], stream_type=StreamType.UNARY,
                      idempotency_level=IdempotencyLevel.UNKNOWN)


FILTER = method("Filter", "FilterRequest", "FilterResponse")
PLAYS = method("RecordPlays", "RecordPlaysRequest", "RecordResponse")
for codec in (google_protobuf_binary_codec(), google_protobuf_json_codec()):
    user = "python-" + codec.name()
    client = ConnectClientSync(sys.argv[1], codec=codec, timeout_ms=20_000)
    plays = message("RecordPlaysRequest", events=[message("Play", user=user, item_number=2**64 - 1)])
    assert client.execute_unary(request=plays, method=PLAYS).accepted == 1
    asked = message("FilterRequest", user=user, item_numbers=[1, 2**64 - 1, 3])
    answer = client.execute_unary(request=asked, method=FILTER)
    assert (list(answer.unseen_numbers), answer.seen) == ([1, 3], 1), answer
    try:
        client.execute_unary(request=message("FilterRequest"), method=FILTER)
        raise AssertionError("a filter of nobody was answered")
    except ConnectError as error:
        assert error.code == Code.INVALID_ARGUMENT, error
        assert "user" in error.message, error
    try:
        client.execute_unary(request=asked, method=method("Nothing", "FilterRequest", "FilterResponse"))
        raise AssertionError("a method that is not there was answered")
    except ConnectError as error:
        assert error.code == Code.UNIMPLEMENTED, error
print("python: called")
