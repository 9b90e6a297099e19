// items/judge.h: the rules of one request, over a store.

#pragma once

#include <array>
#include <string>
#include <vector>

#include "items/condition.h"
#include "items/item_fields.h"
#include "items/kinds.h"
#include "items/store.h"
#include "seendb/item_judge.h"

namespace seendb::items {

/// See the head of this file. judge.cc makes the rules ready and judges by records, judge_rows.cc
/// by rows of columns.
class Judging final : public ItemJudge {
 public:
  explicit Judging(const Store& store) : store_(store) {}

  /// The failures of ItemJudge::Make.
  Status Compile(const ItemRules& rules);

  void Judge(std::span<const IdRef> candidates, std::span<Judgement> judgements) override;
  uint32_t most_of_a_kind() const override { return most_of_a_kind_; }
  Status status() const override { return status_; }

 private:
  /// A condition, or the field of at_most, with its place in a row.
  struct RowTest;
  class RowTests;

  Status CompileAtMost(const ItemAtMost& at_most);
  /// The field's place among those that are read.
  size_t PositionOf(const std::string& field);
  Status JudgeKnown(std::span<const IdRef> candidates, std::span<Judgement> judgements);
  Judgement JudgementOf(const ItemView& item);
  /// The same by the rows of columns. Precondition: all of `fields` have a column.
  void JudgeRows(std::span<const IdRef> candidates, const std::vector<AskedField>& fields,
                 uint64_t now_ms, std::span<Judgement> judgements);

  const Store& store_;
  std::vector<std::string> fields_;  // that are read, each once
  std::vector<Condition> conditions_;
  bool drop_unknown_ = false;
  size_t kind_position_ = 0;
  uint32_t most_of_a_kind_ = 0;  // 0: there is no at_most
  Kinds kinds_;
  Status status_;
};

}  // namespace seendb::items
