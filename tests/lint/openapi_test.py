#!/usr/bin/env python3
"""What programs that generate clients need of the OpenAPI document, and people of its policies."""

import json
import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "support"))

import openapi_check  # noqa: E402

FORMATS = {"int32": (-2**31, 2**31 - 1), "int64": (-2**63, 2**63 - 1)}


def text_of(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def nodes(node, where):
    """(where, object) of every object below `node`."""
    if isinstance(node, dict):
        yield where, node
        for name, member in node.items():
            yield from nodes(member, where + "/" + name)
    elif isinstance(node, list):
        for index, member in enumerate(node):
            yield from nodes(member, "%s/%d" % (where, index))


class OpenApiTest(unittest.TestCase):

    def setUp(self):
        document = json.loads(text_of("server", "api", "openapi.json"))
        admin = json.loads(text_of("server", "api", "openapi_admin.json"))
        self.assertEqual(set(document["paths"]) & set(admin["paths"]), set())
        for kind, components in admin["components"].items():
            for name, component in components.items():
                known = document["components"].get(kind, {}).get(name, component)
                self.assertEqual(component, known, "%s %s differs from that of openapi.json" %
                                 (kind, name))
        self.document = openapi_check.joined(document, admin)
        self.schemas = self.document["components"]["schemas"]

    def test_every_integer_has_a_format_and_bounds_within_it(self):
        count = 0
        for where, node in nodes(self.document, ""):
            kinds = node.get("type", [])
            if "integer" not in (kinds if isinstance(kinds, list) else [kinds]):
                continue
            count += 1
            self.assertIn(node.get("format"), FORMATS, where)
            lowest, highest = FORMATS[node["format"]]
            self.assertIn("minimum", node, where)
            self.assertIn("maximum", node, where)
            self.assertTrue(lowest <= node["minimum"] <= node["maximum"] <= highest, where)
        self.assertGreater(count, 30)

    def test_ids_are_one_schema(self):
        for where, node in nodes(self.document, ""):
            if where.endswith(("/user", "/item")) and "schema" not in node and "type" in node:
                self.assertEqual(node["type"], "string", where)  # an id as the answer writes it
            if where.endswith("/properties/items/items") and "/Filter" in where:
                self.assertEqual(node, {"$ref": "#/components/schemas/Candidate"}, where)
        schemas = self.document["components"]["schemas"]
        self.assertEqual(schemas["Candidate"]["anyOf"], schemas["Id"]["anyOf"] + [
            {"$ref": "#/components/schemas/GroupedCandidate"}])

    def test_no_answer_is_called_as_a_schema_is(self):
        # Go makes a type of each.
        answers = self.document["components"]["responses"]
        self.assertEqual(set(answers) & set(self.schemas), set())

    def test_has_nothing_that_generators_turn_into_wrong_code(self):
        # oneOf: a number is text as well, to Java. const: Java gives a boolean the value "true", Go
        # refers to a type that it does not make.
        for where, node in nodes(self.document, ""):
            self.assertNotIn("oneOf", node, where)
            self.assertNotIn("const", node, where)
            self.assertFalse(node.get("type") == "boolean" and "enum" in node, where)
        # Go has a type XResponse for the answer of the operation x.
        for operations in self.document["paths"].values():
            for operation in operations.values():
                name = operation["operationId"]
                self.assertNotIn(name[0].upper() + name[1:] + "Response", self.schemas)

    def test_each_route_has_an_example_and_each_example_fits(self):
        checker = openapi_check.Checker(self.document)
        for path, operations in self.document["paths"].items():
            for method, operation in operations.items():
                where = "%s %s" % (method, path)
                contents = [operation.get("requestBody", {}).get("content", {}),
                            self.success(operation).get("content", {})]
                media = [one for content in contents for one in content.values()]
                examples = [one for one in media if "example" in one]
                self.assertTrue(examples, where)
                for one in examples:
                    checker.fit(one["example"], one["schema"], where)

    @staticmethod
    def success(operation):
        return operation["responses"].get("200") or operation["responses"]["206"]

    def test_references_lead_somewhere(self):
        for where, node in nodes(self.document, ""):
            if not isinstance(node.get("$ref"), str):
                continue
            target = self.document
            for part in node["$ref"].lstrip("#/").split("/"):
                self.assertIn(part, target, where)
                target = target[part]

    def test_every_error_has_a_schema(self):
        for path, operations in self.document["paths"].items():
            for method, operation in operations.items():
                for status, response in operation["responses"].items():
                    if int(status) < 400:
                        continue
                    if "$ref" in response:
                        name = response["$ref"].rsplit("/", 1)[1]
                        response = self.document["components"]["responses"][name]
                    self.assertIn("schema", response["content"]["application/json"],
                                  (method, path, status))

    def test_every_field_of_a_policy_is_described(self):
        reference = text_of("server", "doc", "policies.md")
        fields = {name: self.schemas[name]["properties"] for name in ("PolicyPatch", "HistoryPolicy")}
        for schema, properties in fields.items():
            for name, field in properties.items():
                if "$ref" not in field:
                    self.assertGreater(len(field.get("description", "")), 10, (schema, name))
                self.assertTrue(re.search(r"(?m)^\| .*`%s`" % name, reference),
                                "%s is not in the table of policies" % name)


if __name__ == "__main__":
    unittest.main()
