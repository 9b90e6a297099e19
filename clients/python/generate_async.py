"""Makes src/seendb/async_*.py of the modules that wait: the same text, with async and await.

    generate_async.py            writes them
    generate_async.py --check    exit code 1 where one is not what would be written
"""

import io
import os
import sys
import tokenize

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "src", "seendb")
# What waits, by name: where one of them is called, it is awaited.
WAIT = {"ask", "_ask", "_learn", "_once", "exchange", "_try", "enter", "connect", "send", "receive",
        "sleep", "given", "hedged", "answered", "_look_up", "add", "add_frame", "flush", "call", "record_plays", "record_impressions", "record_exposures", "_record",
        "mark", "marks", "unmark", "put_set", "get_set", "delete_set", "sets", "counts", "reserve", "get_items", "put_items", "put_item_schema", "filter", "fill_page", "search_unseen",
        "history_page", "look_up_history", "delete_history", "clear_history", "set_recording", "inspect",
        "export", "erase", "collections", "put_collection", "delete_collection", "_write", "_do", "_give", "_keep_no_history",
        "drain", "sync", "checkpoint", "stats"}
GENERATORS = {"history"}
# Names that are another in the copy; __exit__ does not wait, but `async with` wants it so.
NAMES = {"Client": "AsyncClient", "client": "async_client", "caller": "async_caller",
         "pool": "async_pool", "bulk": "async_bulk", "Bulk": "AsyncBulk", "pages": "async_pages", "Pages": "AsyncPages", "EngineCalls": "AsyncEngineCalls", "Locals": "AsyncLocals", "_io": "_async_io", "__enter__": "__aenter__", "__exit__": "__aexit__"}
MODULES = ("pool", "caller", "pages", "bulk", "client", "engine_calls")
HEAD = '"""Made by generate_async.py of %s.py: change that."""\n'


def copied(name, text):
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    edits = []  # (row, column, what stands there, what comes instead)
    for i, token in enumerate(tokens):
        if token.type != tokenize.NAME:
            continue
        row, column = token.start
        before, behind = tokens[i - 1].string if i else "", tokens[i + 1].string
        if before == "def":
            if token.string in WAIT | GENERATORS | {"__enter__", "__exit__"}:
                start = tokens[i - 1].start
                edits.append((*start, "", "async "))
        elif token.string in WAIT and behind == "(":
            at = i
            while tokens[at - 1].string == ".":  # the beginning of a.b.name(
                at -= 2
            edits.append((*tokens[at].start, "", "await "))
        renamed = NAMES.get(token.string)
        # A local name or an argument may be called as a module is.
        module = token.string in ("client", "caller", "pool", "pages", "bulk", "_io")
        if renamed and not (module and before not in (".", "import") and behind != "import"):
            if not (module and before == "." and tokens[i - 2].string not in ("from",)):
                edits.append((row, column, token.string, renamed))
    lines = text.splitlines(keepends=True)
    for row, column, old, new in sorted(edits, reverse=True):
        line = lines[row - 1]
        assert line[column:].startswith(old), (name, row, old)
        lines[row - 1] = line[:column] + new + line[column + len(old):]
    body = "".join(lines)
    end = body.index('"""\n', 3) + 4  # of the module's docstring
    return HEAD % name + body[end:]


def main():
    check = sys.argv[1:] == ["--check"]
    wrong = []
    for name in MODULES:
        with open(os.path.join(HERE, name + ".py"), encoding="utf-8") as file:
            text = copied(name, file.read())
        path = os.path.join(HERE, "async_%s.py" % name)
        if check:
            with open(path, encoding="utf-8") as file:
                if file.read() != text:
                    wrong.append(path)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    for path in wrong:
        print("%s: not what generate_async.py makes" % path)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
