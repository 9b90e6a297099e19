"""How many methods each class of the C++ sources has.

    classes.py [--least N]   prints the classes with at least N methods (25), the largest first
"""

import argparse
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOUSES = ("engine", "common", "server", "tools")

NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
CLASS = re.compile(r"(?:template\s*<[^;{]*>\s*)?(?:class|struct)\s+(?:[A-Z_]+(?:\([^()]*\))?\s+)?(\w+)(?:\s+final)?\s*"
                   r"(?::[^;{]*)?$")
NO_METHOD = re.compile(r"(?:using|friend|typedef|static_assert|enum|namespace|extern)\b")
MACRO = re.compile(r"\b[A-Z][A-Z_]+\s*\((?:[^()]|\([^()]*\))*\)")


def code_of(text):
    """The text without comments, literals and directives."""
    return re.sub(r"(?m)^\s*#(?:.*\\\n)*.*$", "", NO_CODE.sub(" ", text))


def without_arguments(text):
    """The text without what stands between < and >: `std::function<void(int)> done` declares no method."""
    text = re.sub(r"operator\s*(?:<=>|<<|>>|<=|>=|<|>|->)", "operator", text)
    former = None
    while former != text:
        former, text = text, re.sub(r"<[^<>]*>", "", text)
    return text


def is_method(statement):
    """Whether a statement in a class, up to its `;` or `{`, declares a method."""
    said = re.sub(r"^(?:(?:public|private|protected)\s*:\s*)+", "", statement.strip())
    said = MACRO.sub("", without_arguments(re.sub(r"^template\s*<", "<", said))).strip()
    if NO_METHOD.match(said) or "(" not in said:
        return False
    before = said.split("(")[0]
    return "=" not in before or "operator" in before


def classes_in(text):
    """(name, number of methods) of each class; one inside another stands by itself."""
    code, open_ones, begin = code_of(text), [], 0  # of open braces: [name or None, methods]
    for found in re.finditer(r"[{};]", code):
        statement, mark = code[begin:found.start()], found.group()
        begin = found.end()
        inside = open_ones[-1] if open_ones else None
        if mark == "}":
            if inside is not None and inside[0] is not None:
                yield inside[0], inside[1]
            open_ones = open_ones[:-1]
            continue
        if inside is not None and inside[0] is not None and is_method(statement):
            inside[1] += 1
        if mark == "{":
            said = re.sub(r"^(?:(?:public|private|protected)\s*:\s*)+", "", statement.strip())
            named = CLASS.match(said)
            open_ones.append([named.group(1) if named else None, 0])


def classes():
    """(methods, name, path) of all classes of the project."""
    for house in HOUSES:
        for folder, _, names in os.walk(os.path.join(ROOT, house)):
            for name in sorted(names):
                if name.endswith((".h", ".cc")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        for one, methods in classes_in(file.read()):
                            yield methods, one, os.path.relpath(path, ROOT)


def main():
    parser = argparse.ArgumentParser(description="Prints the classes with many methods.")
    parser.add_argument("--least", type=int, default=25)
    least = parser.parse_args().least
    for methods, name, path in sorted(classes(), reverse=True):
        if methods >= least:
            print("%4d  %s  %s" % (methods, name, path))
    return 0


if __name__ == "__main__":
    sys.exit(main())
