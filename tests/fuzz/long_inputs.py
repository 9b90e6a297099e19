"""Inputs as long and as deep as a format may be, and a little beyond: a fuzzer that begins with short ones
never gets there. `LONG` has those of each target by name.

    long_inputs.py FOLDER [TARGET...]             writes them to FOLDER/TARGET/NAME
    long_inputs.py --with FUZZ_CORPUS [TARGET...] runs each once through the program of the dev build
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile

KB = 1 << 10
MESSAGE = 900 * KB   # of a topic
RECORD = 1_000_000   # of X.meta
LINE = 1 << 20       # of NDJSON, of a log
AT_ONCE = 4
BODY = 512 * KB     # a body may have 8 MB; a parser that is not linear shows at less


def nested(depth, opening=b"[", closing=b"]", inner=b"1"):
    return opening * depth + inner + closing * depth


def filled(before, element, behind, size):
    """`before`, elements with commas between them, and `behind`: of at most `size` bytes."""
    count = (size - len(before) - len(behind)) // (len(element) + 1)
    return before + b",".join([element] * count) + behind


def deep_and_dense(head, before, behind, size, depths):
    """Depths about a limit, as many values as fit, one text as long as fits."""
    inputs = {"depth_%d" % depth: head + before + nested(depth) + behind for depth in depths}
    inputs["objects"] = head + before + nested(max(depths), b'{"a":', b"}") + behind
    inputs["deep"] = head + before + nested(size // 2 - 200) + behind
    inputs["unclosed"] = head + before + b"[" * (size - 200)
    for name, element in (("lists", b"[]"), ("maps", b"{}"), ("numbers", b"0"), ("texts", b'""')):
        inputs[name] = head + filled(before + b"[", element, b"]" + behind, size)
    inputs["members"] = head + filled(before + b"{", b'"":0', b"}" + behind, size)
    inputs["text"] = head + before + b'"' + b"x" * (size - 300) + b'"' + behind
    inputs["escapes"] = head + before + b'"' + b"\\u00e4" * ((size - 300) // 6) + b'"' + behind
    inputs["digits"] = head + before + b"9" * (size - 300) + behind
    return inputs


def longest():
    event = b'{"user":"u","item":"i","fields":{"x":'
    opaque = (30, 31, 32, 400, 1_030)  # in fields of an event; what simdjson takes at all
    collection = b'{"v":1,"kind":"collection","name":"c","at_ms":1,"patch":'
    return {
        "api_json_fuzz": {
            **{"filter_" + name: data for name, data in deep_and_dense(
                b"\0", b'{"user":"u","items":', b"}", BODY, (1, 2)).items()},
            **{"plays_" + name: data for name, data in deep_and_dense(
                b"\1", b'{"events":[' + event, b"}}]}", BODY, opaque).items()},
            **{"event_" + name: data for name, data in deep_and_dense(b"\3", event, b"}}", LINE, opaque).items()}},
        "ingest_message_fuzz": deep_and_dense(b"\x80", event, b"}}", MESSAGE, opaque),
        "cluster_records_fuzz": {
            **{"meta_" + name: data for name, data in deep_and_dense(
                b"m", collection, b"}", RECORD, (30, 31, 32)).items()},
            **{"cache_" + name: data for name, data in deep_and_dense(
                b"c", b'{"v":1,"x":', b"}", RECORD, (62, 63, 64)).items()},
            **{"report_" + name: data for name, data in deep_and_dense(
                b"r", b'{"node":"n1","x":', b"}", RECORD, (30, 31, 32)).items()}},
        "ops_config_fuzz": deep_and_dense(b"", b'{"limits":', b"}", LINE, (30, 31, 32)),
        "ops_tokens_fuzz": deep_and_dense(b"", b"", b"", LINE, (31, 32, 33)),
        "policy_json_fuzz": deep_and_dense(b"", b'{"history":', b"}", LINE, (30, 31, 32)),
    }


LONG = longest()
LONGEST = {target: max(map(len, inputs.values())) for target, inputs in LONG.items()}


def write(folder, targets, seed=None):
    """All of them; with a seed some of each target, which fit into a run of seconds."""
    for target in targets:
        shutil.rmtree(os.path.join(folder, target), ignore_errors=True)
        os.makedirs(os.path.join(folder, target))
        inputs = sorted(LONG[target].items())
        for name, data in inputs if seed is None else random.Random(seed).sample(inputs, AT_ONCE):
            with open(os.path.join(folder, target, name), "wb") as file:
                file.write(data)


def main(arguments):
    program = arguments[1] if arguments[0] == "--with" else None
    targets = arguments[2 if program else 1:] or sorted(LONG)
    if program is None:
        write(arguments[0], targets)
        return
    with tempfile.TemporaryDirectory() as folder:
        write(folder, targets)
        for target in targets:
            subprocess.run([program, target, os.path.join(folder, target)], check=True, timeout=300)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
