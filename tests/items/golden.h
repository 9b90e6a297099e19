// tests/items/golden.h: the bytes of the room's formats, kept in tests/golden/items. A golden file
// is never edited: a layout that changes gets a new tag and new files. `SEENDB_WRITE_GOLDEN=1
// items_tests` adds files that are missing, and touches no other.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "format/unit/format_testing.h"
#include "items/item_testing.h"

namespace seendb::items {

/// The bytes of a golden file, made first where it is missing and SEENDB_WRITE_GOLDEN is set.
inline std::string GoldenBytesOf(const std::string& name, const std::string& about,
                                 const std::string& made) {
  const std::string path = "tests/golden/items/" + name + ".hex";
  if (std::getenv("SEENDB_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(path)) {
    std::ofstream(path) << "# " << about << "\n" << test::ToHex(made) << "\n";
  }
  return test::FromHex(test::ReadProjectFile(path));
}

struct GoldenRow {
  std::string name, about;
  State state;
};

inline constexpr uint64_t kNoonMs = 1'773'144'000'000;  // 2026-03-10 12:00 UTC

/// The item of engine/doc/item-format.md: fields 0 author (text), 1 published_at (i64), 2 score
/// (f32), 3 public (bool), 4 tags (list_text).
inline State ExampleUpdate() {
  State state = UpdateOf(7, {SetCell(0, 7, TextOf("a3")), SetCell(1, 7, I64Of(500'000))});
  state.time_ms = kNoonMs;
  return state;
}

inline State ExampleItem() {
  static const std::string tags("\0\x02t1\0\x02t2", 8);
  State state = ExampleUpdate();
  State other =
      UpdateOf(5, {SetCell(0, 5, TextOf("a1")), UnsetCell(2, 5), SetCell(3, 5, BoolOf(true)),
                   SetCell(4, 5, {.type = ItemFieldType::kTextList, .number = 0, .bytes = tags})});
  other.expires_version = 5;
  other.expires_ms = kNoonMs + 3'600'000;
  state.Join(other);
  return state;
}

inline std::vector<GoldenRow> GoldenRows() {
  State deleted = DeletionOf(7);
  deleted.time_ms = kNoonMs;
  State replaced = UpdateOf(8, {SetCell(0, 8, TextOf("a4"))});
  replaced.floor = 8;
  State lost = UpdateOf(8, {SetCell(2, 8, F32Of(-0.5F))});
  lost.lost = true;
  return {
      {"item_update", "version 7 of v1: author a3, published_at 500000, at 12:00", ExampleUpdate()},
      {"item_row", "the same joined with version 5", ExampleItem()},
      {"item_deleted", "v1 deleted by version 7, at 12:00", deleted},
      {"item_replaced", "v1 replaced by version 8", replaced},
      {"item_lost", "version 8 after a row that could not be read", lost}};
}

}  // namespace seendb::items
