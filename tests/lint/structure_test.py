#!/usr/bin/env python3
"""The structure test must be able to fail: each rule is broken in a small tree and reported."""

import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "lint"))

import structure  # noqa: E402

ID_H = """// seendb/id.h: ids.

#pragma once

#include <cstdint>

namespace seendb {

/// An id.
struct Id {
  uint64_t value = 0;  ///< its number
};

}  // namespace seendb
"""


class StructureTest(unittest.TestCase):
    """A tree in order, and one broken in a single place a test."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("engine/include/seendb/id.h", ID_H)
        self.write("engine/include/seendb/engine.h", "#pragma once\n#include \"seendb/id.h\"\n")
        self.write("engine/seams.h", '#include "base/clock.h"\n')
        self.write("engine/base/clock.h", "#include <cstdint>\n")
        for room in ("filter", "format", "query", "merge", "tables", "store", "ring"):
            self.write(f"engine/{room}/a.h", '#include "base/clock.h"\n#include "seendb/id.h"\n')
        self.write("engine/merge/b.cc", "#include <rocksdb/merge_operator.h>\n#include \"format/a.h\"\n")
        self.write("engine/recovery/a.h", '#include "seams.h"\n#include "store/a.h"\n')
        self.write("engine/items/a.h", '#include "format/a.h"\n#include <rocksdb/db.h>\n')
        self.write("engine/c/a.h", '#include "base/clock.h"\n#include "seendb/engine.h"\n')
        self.write("engine/recovery/b.cc", '#include "recovery/a.h"\n#include <rocksdb/db.h>\n')
        self.write("engine/engine.cc", '#include "seendb/engine.h"\n#include "ring/a.h"\n')
        self.write("server/http/listener.h", "#include <boost/asio.hpp>\n")
        self.write("server/ops/log.h", "#include <spdlog/spdlog.h>\n")
        self.write("server/api/routes.cc", '#include "http/listener.h"\n#include "seendb/engine.h"\n')
        self.write("server/main.cc", '#include "api/routes.h"\n#include <CLI/CLI.hpp>\n')
        self.write("server/api/routes.h", '#include "seendb/id.h"\n')
        self.write("tools/seendb/main.cc", '#include "merge/a.h"\n#include <rocksdb/ldb_tool.h>\n')
        self.write("tests/unit/a_test.cc", '#include <gtest/gtest.h>\n#include "ring/a.h"\n')
        self.write("tests/support/help.h", "#pragma once\n")
        self.write("perf/micro/bench.h", "#pragma once\n")

    def write(self, path, text):
        full = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def messages(self, compiler=None):
        return structure.check_tree(self.folder.name, compiler)

    def expect(self, path, text, part, compiler=None):
        """Writing `text` to `path` gives exactly one message, about that file, saying `part`."""
        self.write(path, text)
        found = self.messages(compiler)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(path + ":"), found)
        self.assertIn(part, found[0])

    def public(self, declarations):
        """A public header with these lines in its namespace."""
        return "#pragma once\n#include <cstdint>\nnamespace seendb {\n" + declarations + "\n}\n"

    def test_a_tree_in_order(self):
        self.assertEqual(self.messages("g++"), [])

    def test_empty_tree_is_no_success(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertNotEqual(structure.check_tree(empty), [])

    # Arrows inside the engine.
    def test_filter_includes_format(self):
        self.expect("engine/filter/x.cc", '#include "format/a.h"\n', "lies below engine/format")

    def test_relative_include_does_not_hide_an_arrow(self):
        self.expect("engine/filter/x.cc", '#include "../store/a.h"\n', "lies below engine/store")

    def test_relative_include(self):
        self.expect("engine/store/x.cc", '#include "../merge/a.h"\n', "from the top of the house")

    def test_base_includes_filter(self):
        self.expect("engine/base/x.h", '#include "filter/a.h"\n', "lies below engine/filter")

    def test_format_includes_merge(self):
        self.expect("engine/format/x.cc", '#include "merge/a.h"\n', "lies below engine/merge")

    def test_merge_includes_store(self):
        self.expect("engine/merge/x.cc", '#include "store/a.h"\n', "lies below engine/store")

    def test_tables_include_store(self):
        self.expect("engine/tables/x.cc", '#include "store/a.h"\n', "lies below engine/store")

    def test_store_includes_ring(self):
        self.expect("engine/format/x.cc", '#include "ring/a.h"\n', "lies below engine/ring")

    def test_engine_includes_c(self):
        self.expect("engine/x.cc", '#include "c/a.h"\n', "works without engine/c")

    def test_c_includes_store(self):
        self.expect("engine/c/x.cc", '#include "store/a.h"\n', "keeps to the engine's API")

    def test_engine_includes_items(self):
        self.expect("engine/x.cc", '#include "items/a.h"\n', "works without engine/items")

    def test_engine_includes_set_store(self):
        self.write("engine/include/seendb/set_store.h", "#pragma once\n")
        self.expect("engine/x.cc", '#include "seendb/set_store.h"\n',
                    "works without seendb/set_store.h")

    def test_engine_includes_item_store(self):
        self.write("engine/include/seendb/item_store.h", "#pragma once\n")
        self.expect("engine/x.cc", '#include "seendb/item_store.h"\n',
                    "works without seendb/item_store.h")

    def test_items_includes_ring(self):
        self.expect("engine/items/x.cc", '#include "ring/a.h"\n', "may not include engine/ring")

    def test_engine_includes_recovery(self):
        self.expect("engine/x.cc", '#include "recovery/a.h"\n', "works without engine/recovery")

    def test_engine_includes_repair(self):
        self.write("engine/include/seendb/repair.h", "#pragma once\n")
        self.expect("engine/x.cc", '#include "seendb/repair.h"\n', "works without seendb/repair.h")

    def test_store_includes_recovery(self):
        self.expect("engine/store/x.cc", '#include "recovery/a.h"\n', "works without")

    def test_recovery_includes_ring(self):
        self.expect("engine/recovery/x.cc", '#include "ring/a.h"\n', "may not include engine/ring")

    def test_recovery_includes_engine(self):
        self.expect("engine/recovery/x.cc", '#include "seendb/engine.h"\n', "lies below")

    def test_tools_include_recovery(self):
        self.expect("tools/seendb/x.cc", '#include "recovery/a.h"\n', "tools may not include")

    def test_ring_includes_engine(self):
        self.expect("engine/ring/x.cc", '#include "seendb/engine.h"\n', "lies below seendb/engine.h")

    def test_ring_includes_seams(self):
        self.expect("engine/ring/x.cc", '#include "seams.h"\n', "lies below seams.h")

    def test_engine_includes_server(self):
        self.expect("engine/x.cc", '#include "http/listener.h"\n', "may not include server/")

    def test_unknown_room(self):
        self.expect("engine/cellar/x.cc", "#include <vector>\n", "no room of the design")

    def test_include_of_nothing(self):
        self.expect("engine/ring/x.cc", '#include "ring/none.h"\n', "names no header")

    # Third parties.
    def test_rocksdb_in_filter(self):
        self.expect("engine/filter/x.cc", "#include <rocksdb/db.h>\n", "does not belong")

    def test_rocksdb_in_format_with_quotes(self):
        self.expect("engine/format/x.cc", '#include "rocksdb/slice.h"\n', "does not belong")

    def test_rocksdb_in_composition(self):
        self.expect("engine/x.cc", "# include <rocksdb/db.h>\n", "does not belong")

    def test_rocksdb_in_server(self):
        self.expect("server/api/x.cc", "#include <rocksdb/db.h>\n", "does not belong")

    def test_boost_in_engine(self):
        self.expect("engine/ring/x.cc", "#include <boost/asio.hpp>\n", "does not belong")

    def test_kafka_in_engine(self):
        self.expect("engine/store/x.cc", "#include <librdkafka/rdkafka.h>\n", "does not belong")

    def test_gtest_in_engine(self):
        self.expect("engine/x.cc", "#include <gtest/gtest.h>\n", "does not belong")

    def test_printing_in_engine(self):
        self.expect("engine/store/x.cc", "#include <iostream>\n", "does not belong")

    def test_files_in_filter(self):
        self.expect("engine/filter/x.cc", "#include <fstream>\n", "does not belong")

    def test_locks_that_nobody_checks(self):
        self.expect("server/http/x.cc", "#include <mutex>\n", "the locks are those of base/sync.h")

    def test_unknown_third_party(self):
        self.expect("server/api/x.cc", "#include <drogon/drogon.h>\n", "unknown third-party")

    # The other houses.
    def test_http_includes_api(self):
        self.expect("server/http/x.cc", '#include "api/routes.h"\n', "may not include server/api")

    def test_http_includes_engine(self):
        self.expect("server/http/x.cc", '#include "seendb/engine.h"\n', "knows nothing")

    def test_server_includes_ring(self):
        self.expect("server/api/x.cc", '#include "ring/a.h"\n', "keeps to the engine's API")

    def test_server_includes_tools(self):
        self.write("tools/seendb/table.h", "#pragma once\n")
        self.expect("server/ops/x.cc", '#include "seendb/table.h"\n', "may not include tools/")

    def test_tools_include_server(self):
        self.expect("tools/seendb/x.cc", '#include "http/listener.h"\n', "may not include server/")

    def test_common_is_for_those_named(self):
        self.write("common/net/stream.h", '#include <boost/asio.hpp>\n#include "seendb/id.h"\n')
        self.write("common/redis/client.h", '#include "net/stream.h"\n#include <hiredis/hiredis.h>\n')
        self.write("tools/seendb/y.cc", '#include "redis/client.h"\n')
        self.expect("server/api/x.cc", '#include "redis/client.h"\n', "may not include common/redis")

    def test_common_includes_its_users(self):
        self.expect("common/redis/x.cc", '#include "http/listener.h"\n', "may not include")

    def test_common_includes_the_engine(self):
        self.expect("common/net/x.cc", '#include "seendb/engine.h"\n', "may not include")

    def test_unknown_room_of_common(self):
        self.expect("common/cellar/x.cc", "#include <vector>\n", "no room of the design")

    def test_hiredis_in_tools(self):
        self.expect("tools/seendb/x.cc", "#include <hiredis/hiredis.h>\n", "does not belong")

    def test_server_includes_tests(self):
        self.expect("server/ops/x.cc", '#include "support/help.h"\n', "nobody includes tests/")

    def test_engine_includes_perf(self):
        self.expect("engine/x.cc", '#include "micro/bench.h"\n', "nobody includes perf/")

    # Public headers.
    def test_public_header_includes_rocksdb(self):
        self.expect("engine/include/seendb/x.h", "#pragma once\n#include <rocksdb/db.h>\n",
                    "a public header may not include")

    def test_public_header_includes_simdjson(self):
        self.expect("engine/include/seendb/x.h", "#pragma once\n#include <simdjson.h>\n",
                    "a public header may not include")

    def test_public_header_includes_a_room(self):
        self.expect("engine/include/seendb/x.h", '#pragma once\n#include "base/clock.h"\n',
                    "not installed")

    def test_public_header_does_not_compile_alone(self):
        self.expect("engine/include/seendb/x.h", self.public("/// A.\nstd::string Name();\n"),
                    "does not compile alone", compiler="g++")

    def test_public_header_without_guard(self):
        self.expect("engine/include/seendb/x.h", "/// A.\nstruct A {};\n", "does not compile alone",
                    compiler="g++")

    def test_long_public_header(self):
        self.expect("engine/include/seendb/x.h", "#pragma once\n" + "\n" * 300, "at most 300 lines")

    def test_long_source(self):
        self.expect("engine/ring/x.cc", "\n" * 501, "at most 500 lines")

    # Contracts.
    def expect_uncommented(self, declarations, symbol):
        self.expect("engine/include/seendb/x.h", self.public(declarations), symbol)

    def test_uncommented_class(self):
        self.expect_uncommented("class A {\n};\n", "type A has no contract")

    def test_uncommented_attributed_template(self):
        self.expect_uncommented("template <typename T>\nclass [[nodiscard]] A {\n};\n", "type A")

    def test_plain_comment_is_no_contract(self):
        self.expect_uncommented("// A thing.\nstruct A {\n};\n", "type A")

    def test_uncommented_enum(self):
        self.expect_uncommented("enum class E : uint8_t { kA };\n", "enum E")

    def test_uncommented_function(self):
        self.expect_uncommented("/// A.\nint A();\n\nint B(int x = 3);\n", "function B")

    def test_uncommented_function_glued_to_another(self):
        self.expect_uncommented("/// A.\nint A();\nvoid B();\n", "function B")

    def test_uncommented_constant(self):
        self.expect_uncommented("inline constexpr int kA = 3;\n", "constant kA")

    def test_uncommented_alias(self):
        self.expect_uncommented("using A = int;\n", "alias A")

    def test_uncommented_member_function(self):
        self.expect_uncommented(
            "/// A.\nclass A {\n public:\n  /// Does.\n  int Do() { return 1; }\n\n"
            "  virtual void Undo() = 0;\n};\n", "function Undo")

    def test_uncommented_member_after_private_part(self):
        self.expect_uncommented(
            "/// A.\nclass A {\n  int x_;\n  void Hidden();\n public:\n  void Shown();\n};\n",
            "function Shown")

    def test_uncommented_nested_struct(self):
        self.expect_uncommented("/// A.\nstruct A {\n  struct B {\n  };\n};\n", "type B")

    def test_uncommented_type_glued_to_another(self):
        self.expect_uncommented("/// A.\nstruct A {\n};\nstruct B {\n};\n", "type B")

    def test_uncommented_constant_glued_to_another(self):
        self.expect_uncommented(
            "/// A.\ninline constexpr int kA = 3;\ninline constexpr char kB[] = \"b\";\n", "constant")

    def test_shared_contracts(self):
        self.write("engine/include/seendb/x.h", self.public(
            "/// A.\nclass A {\n public:\n  /// Copies; moves.\n  A(const A&);\n"
            "  A& operator=(const A&);\n  ~A();\n  /// The value.\n  int& value();\n"
            "  const int& value() const;\n  int x = 1, y = 2;\n private:\n  void Own();\n};\n"
            "/// Bounds.\ninline constexpr int kMin = 1;\ninline constexpr int kMax = 2;\n"
            "/// Begin and end.\nint Begin();\nint End();\nstruct Forward;\n"))
        self.assertEqual(self.messages(), [])

    # Hygiene.
    def test_path_of_a_machine(self):
        self.expect("tests/unit/x.py", "open('/ho" + "me/me/log.csv')\n", "a path of one machine")

    def test_registry_host(self):
        self.expect("engine/doc/x.md", "see https://py" + "pi.org/simple\n", "package registry")


if __name__ == "__main__":
    unittest.main()
