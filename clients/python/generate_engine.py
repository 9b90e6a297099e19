"""Makes src/seendb/_engine_abi.py of the engine's header for C: its declarations, as cffi reads them.

    generate_engine.py           writes it
    generate_engine.py --check   exit code 1 where it is not what would be written
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = os.path.join(HERE, "..", "..", "engine", "include", "seendb", "seendb.h")
MODULE = os.path.join(HERE, "src", "seendb", "_engine_abi.py")
HEAD = '''"""Made by generate_engine.py of engine/include/seendb/seendb.h: change that."""

VERSION = %s
DECLARATIONS = """
%s
"""
'''


def declarations(header):
    """The header without comments, lines of the preprocessor and what is for C++ alone."""
    text = re.sub(r"//.*", "", header)
    text = re.sub(r"^#ifdef __cplusplus\n.*?^#endif\n", "", text, flags=re.M | re.S)
    text = re.sub(r"^#define (?:.*\\\n)*.*\n", "", text, flags=re.M)  # and the lines that it goes on in
    text = re.sub(r"^#.*\n", "", text, flags=re.M).replace("SEENDB_API ", "")
    return re.sub(r"\n{2,}", "\n", re.sub(r"[ \t]+\n", "\n", text)).strip()


def module():
    with open(HEADER, encoding="utf-8") as file:
        header = file.read()
    version = re.search(r"^#define SEENDB_ABI_VERSION (0x[0-9a-f]+)u$", header, re.M).group(1)
    return HEAD % (version, declarations(header))


def main():
    text = module()
    if sys.argv[1:] == ["--check"]:
        with open(MODULE, encoding="utf-8") as file:
            if file.read() != text:
                print("%s: not what generate_engine.py makes" % MODULE)
                sys.exit(1)
    else:
        with open(MODULE, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
