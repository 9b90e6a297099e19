#include "items/judge.h"

#include <algorithm>
#include <utility>

namespace seendb::items {
namespace {

Status TooManyEntries() {
  return Status::InvalidArgument("more than " + std::to_string(kMaxItemWhere) + " entries",
                                 "/where");
}

Status NoSuchField(const std::string& name, const std::string& place) {
  return Status::InvalidArgument("the schema has no field " + name, place);
}

bool HaveColumns(const Layout& layout, const std::vector<AskedField>& fields) {
  return layout.rows->ready() && std::all_of(fields.begin(), fields.end(), [&](const auto& field) {
           return layout.rows->PlaceOf(field.number) != nullptr;
         });
}

}  // namespace

Status Judging::Compile(const ItemRules& rules) {
  drop_unknown_ = rules.drop_unknown;
  for (const ItemCondition& asked : rules.where) {
    const std::string place = "/where/" + std::to_string(asked.entry);
    if (asked.entry >= kMaxItemWhere) return TooManyEntries();
    const auto type = store_.TypeOf(asked.field);
    if (!type) return NoSuchField(asked.field, place + "/field");
    Result<Condition> made = Condition::Make(asked, *type, PositionOf(asked.field));
    if (!made.ok()) return made.status().WithFieldPrefix(place);
    conditions_.push_back(std::move(made).value());
  }
  return rules.at_most.field.empty() ? Status() : CompileAtMost(rules.at_most);
}

Status Judging::CompileAtMost(const ItemAtMost& at_most) {
  const auto type = store_.TypeOf(at_most.field);
  if (!type) return NoSuchField(at_most.field, "/at_most/field");
  if (!IsNumber(*type) && *type != ItemFieldType::kText) {
    return Status::InvalidArgument("must not be a list", "/at_most/field");
  }
  if (at_most.n == 0) return Status::InvalidArgument("must be at least 1", "/at_most/n");
  kind_position_ = PositionOf(at_most.field);
  most_of_a_kind_ = at_most.n;
  return {};
}

size_t Judging::PositionOf(const std::string& field) {
  const auto found = std::find(fields_.begin(), fields_.end(), field);
  const auto position = static_cast<size_t>(found - fields_.begin());
  if (found == fields_.end()) fields_.push_back(field);
  return position;
}

void Judging::Judge(std::span<const IdRef> candidates, std::span<Judgement> judgements) {
  if (drop_unknown_)
    std::fill(judgements.begin(), judgements.end(), Judgement{kItemUnknownRule, 0});
  if (fields_.empty() && !drop_unknown_) return;
  if (Status judged = JudgeKnown(candidates, judgements); !judged.ok()) status_ = judged;
}

Status Judging::JudgeKnown(std::span<const IdRef> candidates, std::span<Judgement> judgements) {
  if (store_.closed()) return Status::Closed("the store of items is closed");
  const MemoryItems& memory = store_.memory();
  const Epochs::Guard guard(memory.epochs());
  const Layout& layout = memory.layout();
  std::vector<AskedField> fields;
  if (Status found = FindFields(layout.schema, fields_, &fields); !found.ok()) {
    return Status::Unavailable("the schema of items was changed meanwhile: " +
                               std::string(found.message()));
  }
  const uint64_t now_ms = store_.NowMs();
  if (HaveColumns(layout, fields)) {
    JudgeRows(candidates, fields, now_ms, judgements);
  } else {
    VisitKnown(memory, candidates, fields, now_ms,
               [&](size_t i, const ItemView& item) { judgements[i] = JudgementOf(item); });
  }
  return {};
}

Judgement Judging::JudgementOf(const ItemView& item) {
  for (const Condition& condition : conditions_) {
    if (!condition.IsMet(item)) return {static_cast<uint16_t>(condition.entry() + 1), 0};
  }
  if (most_of_a_kind_ == 0) return {};
  const auto value = item.Field(kind_position_);
  return {0, value ? kinds_.NumberOf(*value) : 0};
}

}  // namespace seendb::items

namespace seendb {

Result<std::unique_ptr<ItemJudge>> ItemJudge::Make(const ItemStore& store, const ItemRules& rules) {
  // ItemStore::Open makes nothing else.
  auto judge = std::make_unique<items::Judging>(static_cast<const items::Store&>(store));
  if (Status compiled = judge->Compile(rules); !compiled.ok()) return compiled;
  return std::unique_ptr<ItemJudge>(std::move(judge));
}

}  // namespace seendb
