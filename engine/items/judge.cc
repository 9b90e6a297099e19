// ItemJudge: the conditions of one request, over ItemStore::Visit.

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "items/condition.h"
#include "seendb/item_judge.h"

namespace seendb::items {
namespace {

/// Numbers the values of a field from 1.
class Kinds {
 public:
  uint32_t NumberOf(const ItemValueView& value) {
    const Comparable compared = ComparableOf(value);
    if (value.type == ItemFieldType::kText) return Number(compared.second);
    const char* const bytes = reinterpret_cast<const char*>(&compared.first);
    return Number({bytes, sizeof(compared.first)});
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  uint32_t Number(std::string_view key) {
    const auto found = numbers_.find(key);
    if (found != numbers_.end()) return found->second;
    const auto next = static_cast<uint32_t>(numbers_.size() + 1);
    numbers_.emplace(key, next);
    return next;
  }

  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> numbers_;
};

class Judging final : public ItemJudge {
 public:
  explicit Judging(const ItemStore& store) : store_(store) {}

  /// The failures of ItemJudge::Make.
  Status Compile(const ItemRules& rules) {
    drop_unknown_ = rules.drop_unknown;
    for (const ItemCondition& asked : rules.where) {
      const std::string place = "/where/" + std::to_string(asked.entry);
      if (asked.entry >= kMaxItemWhere) return TooMany();
      const auto type = store_.TypeOf(asked.field);
      if (!type) return NoField(asked.field, place + "/field");
      Result<Condition> made = Condition::Make(asked, *type, PositionOf(asked.field));
      if (!made.ok()) return made.status().WithFieldPrefix(place);
      conditions_.push_back(std::move(made).value());
    }
    return rules.at_most.field.empty() ? Status() : CompileAtMost(rules.at_most);
  }

  void Judge(std::span<const IdRef> candidates, std::span<Judgement> judgements) override {
    if (drop_unknown_) DropAll(judgements);
    if (fields_.empty() && !drop_unknown_) return;
    const Status visited = store_.VisitColumns(
        candidates, fields_,
        [&](size_t i, const ItemView& item) { judgements[i] = JudgementOf(item); });
    if (visited.ok()) return;
    status_ = visited.code() == StatusCode::kClosed
                  ? visited
                  : Status::Unavailable("the schema of items was changed meanwhile: " +
                                        std::string(visited.message()));
  }
  uint32_t most_of_a_kind() const override { return most_of_a_kind_; }
  Status status() const override { return status_; }

 private:
  static Status TooMany() {
    return Status::InvalidArgument("more than " + std::to_string(kMaxItemWhere) + " entries",
                                   "/where");
  }
  static Status NoField(const std::string& name, const std::string& place) {
    return Status::InvalidArgument("the schema has no field " + name, place);
  }
  static void DropAll(std::span<Judgement> judgements) {
    for (Judgement& one : judgements) one = {kItemUnknownRule, 0};
  }

  Status CompileAtMost(const ItemAtMost& at_most) {
    const auto type = store_.TypeOf(at_most.field);
    if (!type) return NoField(at_most.field, "/at_most/field");
    if (!IsNumber(*type) && *type != ItemFieldType::kText) {
      return Status::InvalidArgument("must not be a list", "/at_most/field");
    }
    if (at_most.n == 0) return Status::InvalidArgument("must be at least 1", "/at_most/n");
    kind_position_ = PositionOf(at_most.field);
    most_of_a_kind_ = at_most.n;
    return {};
  }

  /// The field's place among those that are read.
  size_t PositionOf(const std::string& field) {
    const auto found = std::find(fields_.begin(), fields_.end(), field);
    const auto position = static_cast<size_t>(found - fields_.begin());
    if (found == fields_.end()) fields_.push_back(field);
    return position;
  }

  Judgement JudgementOf(const ItemView& item) {
    for (const Condition& condition : conditions_) {
      if (!condition.IsMet(item)) return {static_cast<uint16_t>(condition.entry() + 1), 0};
    }
    if (most_of_a_kind_ == 0) return {};
    const auto value = item.Field(kind_position_);
    return {0, value ? kinds_.NumberOf(*value) : 0};
  }

  const ItemStore& store_;
  std::vector<std::string> fields_;  // that are read, each once
  std::vector<Condition> conditions_;
  bool drop_unknown_ = false;
  size_t kind_position_ = 0;
  uint32_t most_of_a_kind_ = 0;  // 0: there is no at_most
  Kinds kinds_;
  Status status_;
};

}  // namespace
}  // namespace seendb::items

namespace seendb {

Result<std::unique_ptr<ItemJudge>> ItemJudge::Make(const ItemStore& store, const ItemRules& rules) {
  auto judge = std::make_unique<items::Judging>(store);
  if (Status compiled = judge->Compile(rules); !compiled.ok()) return compiled;
  return std::unique_ptr<ItemJudge>(std::move(judge));
}

}  // namespace seendb
