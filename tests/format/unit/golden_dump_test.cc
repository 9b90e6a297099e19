// The bytes of a dump, version 1: tests/golden/dump/filter_dump.hex, which filter-dump.md shows
// too. SEENDB_WRITE_GOLDEN=1 writes the file where it is missing.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "filter/block_bloom.h"
#include "format/dump_parts.h"
#include "format/unit/format_testing.h"
#include "seendb/filter_dump.h"
#include "support/poison.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using test::Fp;

const std::string kFile = "tests/golden/dump/filter_dump.hex";

std::vector<Fingerprint> DumpedItems(int first, int last) {
  std::vector<Fingerprint> items;
  for (int i = first; i <= last; ++i) items.push_back(Fp("v" + std::to_string(i)));
  std::sort(items.begin(), items.end());
  return items;
}

void AddPart(FilterDump* dump, DumpPartKind kind, std::string body, int64_t begin_ms = 0,
             int64_t end_ms = 0) {
  DumpPart part;
  part.kind = kind;
  part.begin_ms = begin_ms;
  part.end_ms = end_ms;
  part.body = std::move(body);
  part.Seal();
  dump->parts.push_back(std::move(part));
}

/// v1 and v2 staged, v3 served, v2 lifted, channel:9 marked, v4 in the list and v5 in the one block
/// of November 2026.
FilterDump Example() {
  FilterDump dump;
  dump.as_of_ms = 1'795'694'400'000;
  dump.window_begin_ms = 1'793'491'200'000;
  dump.valid_until_ms = 1'796'083'200'000;
  dump.hash_version = 1;
  dump.degraded = true;
  dump.missing = {"2026-10"};
  AddPart(&dump, DumpPartKind::kRing, DumpedList(DumpedItems(1, 2)));
  AddPart(&dump, DumpPartKind::kImpressions, DumpedList(DumpedItems(3, 3)));
  AddPart(&dump, DumpPartKind::kRecord, DumpedList(DumpedItems(2, 2)));
  MarkList marks;
  marks.marks = {{"channel:9", 1'795'694'000'000, 1'795'694'300'000}};
  AddPart(&dump, DumpPartKind::kMarks, DumpedMarks(marks));
  SeenFilter filter;
  filter.list = DumpedItems(4, 4);
  Layer layer;
  layer.blocks = layer.capacity = layer.items = 1;
  layer.bits.assign(kBlockBytes, '\0');
  const std::vector<Fingerprint> old = DumpedItems(5, 5);
  InsertMany(reinterpret_cast<uint8_t*>(layer.bits.data()), 1, old.data(), old.size());
  filter.layers.push_back(layer);
  std::string value;
  EncodeFilter(filter, {}, &value);
  FilterView view;
  EXPECT_TRUE(view.Parse(value));
  AddPart(&dump, DumpPartKind::kBucket, DumpedFilter(view), 1'793'491'200'000, 1'796'083'200'000);
  return dump;
}

TEST(GoldenDump, HasTheBytesOfTheFileAndOfThePage) {
  const std::string bytes = Example().Encode({});
  if (std::getenv("SEENDB_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(kFile)) {
    std::filesystem::create_directories("tests/golden/dump");
    std::ofstream(kFile) << test::ToHex(bytes) << "\n";
  }
  const std::string golden = test::FromHex(test::ReadProjectFile(kFile));
  EXPECT_EQ(test::ToHex(bytes), test::ToHex(golden));
  const std::string page = test::ReadProjectFile("engine/doc/filter-dump.md");
  const std::string mark = "```hex filter_dump\n";
  const size_t begin = page.find(mark) + mark.size();
  ASSERT_GT(begin, mark.size());
  EXPECT_EQ(test::ToHex(test::FromHex(page.substr(begin, page.find("```", begin) - begin))),
            test::ToHex(golden));
}

TEST(GoldenDump, LeavesOutWhatTheCallerHas) {
  const FilterDump dump = Example();
  const std::vector<uint64_t> all = DumpHashesIn("W/" + dump.Etag() + ", \"other\"");
  ASSERT_EQ(all.size(), 1 + dump.parts.size());
  EXPECT_EQ(all.front(), dump.FrameHash());
  EXPECT_EQ(std::vector<uint64_t>(all.begin() + 1, all.end()), dump.Hashes());
  const size_t head = dump.Encode(all).size();
  EXPECT_EQ(head, dump.EncodedBytes(all));
  for (const DumpPart& part : dump.parts) {
    std::vector<uint64_t> have = dump.Hashes();
    std::erase(have, part.hash);
    EXPECT_EQ(dump.Encode(have).size(), head + part.body.size());
    EXPECT_EQ(dump.Encode(have).substr(head), part.body);
  }
}

TEST(GoldenDump, ItsTagNamesAllButTheTime) {
  FilterDump dump = Example();
  const std::string tag = dump.Etag();
  dump.as_of_ms += 1;
  EXPECT_EQ(dump.Etag(), tag);
  const auto differs = [&tag](const FilterDump& other) { return other.Etag() != tag; };
  FilterDump other = dump;
  other.valid_until_ms += 1;
  EXPECT_TRUE(differs(other));
  other = dump;
  other.missing.clear();
  EXPECT_TRUE(differs(other));
  other = dump;
  other.parts.pop_back();
  EXPECT_TRUE(differs(other));
  other = dump;
  other.parts.back().begin_ms -= 1;
  other.parts.back().Seal();
  EXPECT_TRUE(differs(other));
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
