"""Checks that every public symbol of a header has a contract comment.

A symbol is a class, struct, enum, alias, constant, function or public member function. Its
contract is a `///` comment above it or `///<` beside it. Data members and enumerators may rest
on the comment of their type. Declarations that directly follow a commented one, without an
empty line, share its contract when they are its overloads, operators or special members beside
one another, or have the same (return) type. A type or an alias always has its own.
"""

import re

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|::|->|&&|\S')
ACCESS = {"public", "protected", "private"}


class Declaration:
    """Tokens of one declaration with the lines it spans."""

    def __init__(self, tokens, lines, body):
        self.tokens = tokens
        self.first = lines[0]
        self.last = lines[-1]
        self.body = body  # followed by { ... }


def tokenize(text):
    """(token, line) pairs without comments and preprocessor lines."""
    found = []
    continued = False
    for number, line in enumerate(text.splitlines(), 1):
        is_directive = continued or line.lstrip().startswith("#")
        continued = is_directive and line.rstrip().endswith("\\")
        if is_directive:
            continue
        code = re.sub(r'("(?:\\.|[^"\\])*")|//.*$', lambda m: m.group(1) or "", line)
        found += [(match.group(0), number) for match in TOKEN.finditer(code)]
    return found


def strip_block_comments(text):
    """The text with /* */ comments blanked, line numbers kept."""
    return re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S)


def skip_braces(tokens, i):
    """The index after the brace group that opens at i."""
    depth = 0
    while i < len(tokens):
        if tokens[i][0] == "{":
            depth += 1
        elif tokens[i][0] == "}":
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return i


def without_template(tokens):
    """Declaration tokens without leading template<...>, attributes and requires-less prefixes."""
    while tokens and tokens[0] in ("template", "["):
        opener, closer = ("<", ">") if tokens[0] == "template" else ("[", "]")
        i, depth = (1 if tokens[0] == "template" else 0), 0
        while i < len(tokens):
            depth += (tokens[i] == opener) - (tokens[i] == closer)
            i += 1
            if depth == 0:
                break
        tokens = tokens[i:]
    return tokens


def type_keyword(tokens):
    """"class", "struct", "union" or "enum" when the declaration defines such a type."""
    head = without_template(tokens)
    return head[0] if head and head[0] in ("class", "struct", "union", "enum") else None


def parse(tokens, i, kind, out):
    """Collects the public declarations of a scope into `out`; returns the index after it."""
    public = kind != "class"
    current, lines = [], []

    def finish(body):
        nonlocal current, lines
        if current and public:
            out.append((Declaration(current, lines, body), kind))
        current, lines = [], []

    depth = 0  # of parentheses
    while i < len(tokens):
        token, line = tokens[i]
        if token == "}" and depth == 0:
            finish(False)
            return i + 1
        if token in ACCESS and not current and i + 1 < len(tokens) and tokens[i + 1][0] == ":":
            public = token == "public"
            i += 2
            continue
        if token == ";" and depth == 0:
            finish(False)
            i += 1
            continue
        if token == "{" and depth == 0:
            head = without_template(current)
            if head[:1] == ["namespace"] or head[:2] == ["inline", "namespace"] or (
                    head[:1] == ["extern"] and len(head) == 2):
                hidden = head[:1] == ["namespace"] and "internal" in head
                current, lines = [], []
                i = parse(tokens, i + 1, "namespace", [] if hidden else out)
                continue
            keyword = type_keyword(current)
            if keyword and "(" not in head:
                is_public = public
                finish(True)
                inner = out if is_public and keyword != "enum" else []
                i = (skip_braces(tokens, i) if keyword == "enum"
                     else parse(tokens, i + 1, "class" if keyword == "class" else "struct", inner))
                while i < len(tokens) and tokens[i][0] != ";":
                    i += 1  # a declarator after the type
                continue
            i = skip_braces(tokens, i)
            if "(" in head and "=" not in head[:head.index("(")]:
                finish(True)  # a function's body
            continue  # otherwise an initializer: goes on to its ;
        depth += (token == "(") - (token == ")")
        current.append(token)
        lines.append(line)
        i += 1
    finish(False)
    return i


def describe(declaration, kind):
    """(category, name, return type) of a declaration; category None where none is needed."""
    tokens = without_template(declaration.tokens)
    if not tokens or tokens[0] in ("static_assert", "using") and tokens[1:2] == ["namespace"]:
        return None, "", ""
    if tokens[0] == "static_assert":
        return None, "", ""
    if tokens[0] == "using":
        return "alias", tokens[1], None
    keyword = type_keyword(tokens)
    if keyword and "(" not in tokens:
        names = [t for t in tokens[1:] if re.match(r"\w", t) and
                 t not in ("class", "struct", "final", "nodiscard")]
        named = "enum" if keyword == "enum" else "type"
        return (named if declaration.body else None), names[0] if names else "", None
    if tokens[0] == "friend":
        tokens = tokens[1:]
        if tokens[0] in ("class", "struct"):
            return None, "", ""
    equals = tokens.index("=") if "=" in tokens and "operator" not in tokens else len(tokens)
    if "(" in tokens[:equals]:
        at = tokens.index("(")
        if "operator" in tokens[:at + 1]:
            return "function", "operator", tokens[0]
        name = tokens[at - 1]
        if at >= 2 and tokens[at - 2] == "~":
            return "function", "~", ""
        before = [t for t in tokens[:at - 1]
                  if t not in ("virtual", "explicit", "constexpr", "inline", "static")]
        return "function", name, " ".join(before)
    if kind == "namespace" or "static" in tokens or "constexpr" in tokens:
        words = [t for t in tokens[:equals - 1] if t not in ("inline", "static", "constexpr")]
        return "constant", tokens[equals - 1], " ".join(words)
    return None, "", ""  # a data member


def check_header(path, text):
    """Messages about the undocumented symbols of one public header."""
    lines = text.splitlines()
    declarations = []
    parse(tokenize(strip_block_comments(text)), 0, "namespace", declarations)
    messages = []
    previous = None  # (last line, name, return type) of a declaration with a contract
    for declaration, kind in declarations:
        category, name, returns = describe(declaration, kind)
        if category is None:
            continue
        above = lines[declaration.first - 2].strip() if declaration.first >= 2 else ""
        documented = above.startswith("///") and not above.startswith("///<")
        documented = documented or any(
            "///<" in line for line in lines[declaration.first - 1:declaration.last])
        if not documented and previous and end_of(lines, previous[0]) == declaration.first - 1:
            documented = ((name == previous[1] and returns is not None) or
                          (is_special(name, returns) and is_special(*previous[1:])) or
                          (returns == previous[2] and bool(returns)))
        if documented:
            previous = (declaration.last, name, returns)
        else:
            previous = None
            messages.append(f"{path}:{declaration.first}: {category} {name} has no contract "
                            f"comment (/// above or ///< beside it)")
    return messages


def is_special(name, returns):
    """Constructors, destructors and operators, which one contract may cover together."""
    return returns == "" or name == "operator"


def end_of(lines, number):
    """The last line of the body that starts on line `number`, itself for one-liners."""
    indent = len(lines[number - 1]) - len(lines[number - 1].lstrip())
    if not lines[number - 1].rstrip().endswith("{"):
        return number
    for i in range(number, len(lines)):
        if lines[i].startswith(" " * indent + "}"):
            return i + 1
    return number
