// Updates in any order, any of them repeated, merged in any groups by the merge operator, give what
// a model says that looks at all of them at once.

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "items/item_operator.h"
#include "items/item_testing.h"
#include "support/seed.h"

namespace seendb::items::SEENDB_TEST_FILE {
namespace {

constexpr uint16_t kFields = 5;

struct Update {
  uint64_t version;
  bool replace, remove;
  std::map<uint16_t, std::optional<std::string>> fields;  // nothing: unset
  std::optional<uint64_t> expires_ms;
};

Update AnUpdate(std::mt19937_64& random) {
  Update update{.version = 1 + random() % 6,  // few, so that many are equal
                .replace = random() % 8 == 0,
                .remove = random() % 8 == 0,
                .fields = {},
                .expires_ms = {}};
  if (update.remove) {
    update.replace = false;
    return update;
  }
  for (uint16_t field = 0; field < kFields; ++field) {
    if (random() % 2 == 0) continue;
    auto& value = update.fields[static_cast<uint16_t>(field * 200)];
    if (random() % 4 != 0) value = std::string(random() % 3, static_cast<char>('a' + random() % 3));
  }
  if (random() % 4 == 0) update.expires_ms = random() % 3;
  return update;
}

State OperandOf(const Update& update) {
  State state;
  if (!update.remove) state.seen = update.version;
  if (update.remove || update.replace) state.floor = update.version;
  if (update.expires_ms) {
    state.expires_version = update.version;
    state.expires_ms = *update.expires_ms;
  }
  for (const auto& [field, value] : update.fields) {
    state.cells.push_back(value ? SetCell(field, update.version, TextOf(*value))
                                : UnsetCell(field, update.version));
  }
  return state;
}

/// All updates at once: the floor, and of each field the greatest word that is not below it.
struct Model {
  uint64_t floor = 0, seen = 0;
  std::pair<uint64_t, uint64_t> expires;
  std::map<uint16_t, std::pair<uint64_t, std::optional<std::string>>> fields;

  explicit Model(const std::vector<Update>& updates) {
    for (const Update& update : updates) {
      if (update.remove || update.replace) floor = std::max(floor, update.version);
      if (!update.remove) seen = std::max(seen, update.version);
    }
    for (const Update& update : updates) {
      if (update.version < floor) continue;
      if (update.expires_ms) expires = std::max(expires, {update.version, *update.expires_ms});
      for (const auto& [field, value] : update.fields) {
        auto& now = fields[field];
        now = std::max(now, {update.version, value});  // an empty optional is the smallest
      }
    }
  }
};

void ExpectAsModel(const State& state, const Model& model) {
  EXPECT_EQ(state.floor, model.floor);
  EXPECT_EQ(state.seen, model.seen);
  EXPECT_EQ(std::pair(state.expires_version, state.expires_ms), model.expires);
  ASSERT_EQ(state.cells.size(), model.fields.size());
  for (const Cell& cell : state.cells) {
    ASSERT_TRUE(model.fields.contains(cell.field));
    const auto& [version, value] = model.fields.at(cell.field);
    EXPECT_EQ(cell.version, version);
    EXPECT_EQ(cell.unset, !value.has_value());
    if (value) {
      EXPECT_EQ(cell.value.bytes, *value);
    }
  }
}

/// The rows merged as RocksDB may: partial merges of neighbours, then a full one.
std::string MergedInGroups(const rocksdb::MergeOperator& merge, std::vector<std::string> rows,
                           std::mt19937_64& random) {
  while (rows.size() > 1 && random() % 4 != 0) {
    const size_t first = random() % (rows.size() - 1);
    const size_t count = std::min(rows.size() - first, 2 + random() % 3);
    std::deque<rocksdb::Slice> group;
    for (size_t i = 0; i < count; ++i) group.emplace_back(rows[first + i]);
    std::string merged;
    EXPECT_TRUE(merge.PartialMergeMulti("v1", group, &merged, nullptr));
    rows[first] = merged;
    rows.erase(rows.begin() + static_cast<ptrdiff_t>(first) + 1,
               rows.begin() + static_cast<ptrdiff_t>(first + count));
  }
  const bool has_value = random() % 2 == 0;
  const rocksdb::Slice value = has_value ? rocksdb::Slice(rows[0]) : rocksdb::Slice();
  std::vector<rocksdb::Slice> operands(rows.begin() + (has_value ? 1 : 0), rows.end());
  std::string merged;
  rocksdb::Slice existing;
  rocksdb::MergeOperator::MergeOperationOutput out(merged, existing);
  const rocksdb::Slice key("v1");
  const rocksdb::MergeOperator::MergeOperationInput in(key, has_value ? &value : nullptr, operands,
                                                       nullptr);
  EXPECT_TRUE(merge.FullMergeV2(in, &out));
  return merged;
}

TEST(ItemJoinProperty, AnyOrderGroupsAndRepeatsGiveWhatTheModelSays) {
  std::mt19937_64 random(test::Seed());
  const auto damaged = std::make_shared<std::atomic<uint64_t>>(0);
  const auto merge = NewItemOperator(damaged);
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(round);
    std::vector<Update> updates(1 + random() % 8);
    for (Update& update : updates) update = AnUpdate(random);
    const Model model(updates);
    std::string first;
    for (int order = 0; order < 4; ++order) {
      std::vector<Update> sent = updates;
      for (size_t repeats = random() % 4; repeats > 0; --repeats) {
        sent.push_back(updates[random() % updates.size()]);
      }
      std::shuffle(sent.begin(), sent.end(), random);
      std::vector<std::string> rows;
      State in_memory;
      for (const Update& update : sent) {
        rows.push_back(RowOf(OperandOf(update)));
        in_memory.Join(OperandOf(update));
      }
      const std::string merged = MergedInGroups(*merge, rows, random);
      State on_disk;
      ASSERT_TRUE(ParseRow(merged, &on_disk));
      EXPECT_EQ(on_disk, in_memory);
      ExpectAsModel(on_disk, model);
      if (order == 0) first = merged;
      EXPECT_EQ(merged, first);
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_EQ(damaged->load(), 0u);
}

}  // namespace
}  // namespace seendb::items::SEENDB_TEST_FILE
