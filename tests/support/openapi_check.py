"""Checks answers of a running server against its own OpenAPI document: the status must be
declared for the route, the body must fit the schema. Reads the part of JSON Schema that document
uses; a keyword it does not know is an error.
"""

import json
import re

from seendb_client import Server

IGNORED = {"description", "summary", "format"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool}


class Mismatch(AssertionError):
    """An answer that the document does not allow."""


class Checker:
    """Holds a document; `check` raises Mismatch."""

    def __init__(self, document):
        self.document = document
        self.routes = []
        for path, operations in document["paths"].items():
            pattern = re.compile(re.sub(r"\\\{[a-z]+\\\}", "[^/]+", re.escape(path)) + "$")
            self.routes.append((pattern, operations))
        self.checked = 0

    def resolve(self, node):
        while isinstance(node, dict) and "$ref" in node:
            target = self.document
            for part in node["$ref"].lstrip("#/").split("/"):
                target = target[part]
            node = target
        return node

    def check(self, method, target, answer):
        path = target.split("?")[0]
        if path.startswith("/v1/"):
            path = path[3:]
        operations = next((ops for pattern, ops in self.routes if pattern.match(path)), None)
        lookup = "get" if method == "HEAD" else method.lower()
        self.checked += 1
        if operations is None:
            return self.expect_error(answer, 404)
        if lookup not in operations:
            return self.expect_error(answer, 405)
        responses = operations[lookup]["responses"]
        if str(answer.status) not in responses:
            raise Mismatch("%s %s: status %d is not declared" % (method, path, answer.status))
        response = self.resolve(responses[str(answer.status)])
        if answer.status == 503 and "retry-after" not in answer.headers:
            raise Mismatch("a 503 without Retry-After")
        if answer.status == 304 and not answer.body:
            return None  # has no content
        kind = answer.headers["content-type"].split(";")[0]
        if kind not in response["content"]:
            raise Mismatch("%s %s: content type %s is not declared" % (method, path, kind))
        if kind == "application/json" and method != "HEAD":
            self.fit(answer.json, response["content"][kind]["schema"], "%s %s" % (method, path))
        return None

    def expect_error(self, answer, status):
        if answer.status not in (status, 400, 413, 431, 408, 503):
            raise Mismatch("status %d where %d is due" % (answer.status, status))
        if answer.body:
            self.fit(answer.json, {"$ref": "#/components/schemas/Error"}, "error")

    def fit(self, value, schema, where):
        """Raises where `value` does not fit `schema`."""
        schema = self.resolve(schema)
        for keyword, rule in schema.items():
            if keyword not in IGNORED:
                self.fit_keyword(value, keyword, rule, schema, where)

    def fits(self, value, schema):
        """Whether `value` fits `schema`."""
        try:
            self.fit(value, schema, "")
        except Mismatch:
            return False
        return True

    def fit_keyword(self, value, keyword, rule, schema, where):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        fits = True
        if keyword == "type":
            rules = rule if isinstance(rule, list) else [rule]
            fits = any(isinstance(value, int) and is_number if name == "integer" else
                       is_number if name == "number" else isinstance(value, TYPES[name])
                       for name in rules)
        elif keyword == "properties":
            for name, inner in rule.items():
                if isinstance(value, dict) and name in value:
                    self.fit(value[name], inner, where + "/" + name)
        elif keyword == "required":
            fits = all(name in value for name in rule)
        elif keyword == "additionalProperties":
            for name in set(value) - set(schema.get("properties", {})):
                if rule is False:
                    raise Mismatch("%s: undeclared member %s" % (where, name))
                self.fit(value[name], rule, where + "/" + name)
        elif keyword == "items":
            for index, inner in enumerate(value):
                self.fit(inner, rule, "%s/%d" % (where, index))
        elif keyword == "enum":
            fits = value in rule
        elif keyword == "const":
            fits = value == rule
        elif keyword == "pattern":
            fits = re.search(rule, value) is not None
        elif keyword in ("minimum", "maximum"):
            fits = value >= rule if keyword == "minimum" else value <= rule
        elif keyword in ("maxItems", "maxLength"):
            fits = len(value) <= rule
        elif keyword == "minLength" or keyword == "minItems":
            fits = len(value) >= rule
        elif keyword == "dependentRequired":
            fits = all(other in value for name in rule if name in value for other in rule[name])
        elif keyword == "anyOf":
            fits = any(self.fits(value, inner) for inner in rule)
        else:
            raise Mismatch("%s: the checker does not know %s" % (where, keyword))
        if not fits:
            raise Mismatch("%s: %r does not fit %s %r" % (where, value, keyword, rule))


def joined(document, admin):
    """The document for callers and that for operators as one; the first is changed to it."""
    document["paths"].update(admin["paths"])
    for kind, components in admin["components"].items():
        document["components"].setdefault(kind, {}).update(components)
    return document


def whole_document(request):
    """Both documents of a running server as one. `request`: as Server.request."""
    return joined(*(json.loads(request("GET", path).body)
                    for path in ("/openapi.json", "/openapi-admin.json")))


class CheckedServer(Server):
    """A Server whose every answer is checked against its documents."""

    checker = None

    def wait_ready(self, timeout=120):
        super().wait_ready(timeout)
        self.checker = Checker(whole_document(super().request))

    def request(self, method, path, body=None, headers=None):
        answer = super().request(method, path, body, headers)
        self.checker.check(method, path, answer)
        return answer
