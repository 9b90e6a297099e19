// Judging by rows: the conditions are made ready for words once a call, and then cost a load and
// two comparisons a candidate. The item's record judges what words don't tell.

#include <algorithm>
#include <optional>

#include "items/judge.h"
#include "items/word_test.h"

namespace seendb::items {
namespace {

constexpr size_t kRowsBatch = MemoryItems::kNumbersAtOnce;

ItemValueView ValueOfWord(const Dictionary& dictionary, ItemFieldType type, uint64_t word) {
  Value value{.type = type, .number = word, .bytes = {}};
  if (type == ItemFieldType::kBool) value.number = word - 1;
  if (type == ItemFieldType::kText) {
    value.number = 0;
    value.bytes = dictionary.Text(ColumnRows::TextOfWord(word));
  }
  return ViewOf(value);
}

}  // namespace

/// The kinds of the words that came last: the numbers of texts are a call's own, those of kinds the
/// request's.
class RecentKinds {
 public:
  /// 0: not there.
  uint32_t Find(uint64_t word) const {
    const Entry& entry = entries_[word % kEntries];
    return entry.word == word ? entry.kind : 0;
  }
  void Keep(uint64_t word, uint32_t kind) { entries_[word % kEntries] = {word, kind}; }

 private:
  static constexpr size_t kEntries = 256;
  struct Entry {
    uint64_t word = 0;
    uint32_t kind = 0;
  };
  std::array<Entry, kEntries> entries_;
};

struct Judging::RowTest {
  ColumnPlace place;
  WordTest test;
  uint16_t dropped_by;
};

/// The rules as words, for one call under one guard.
class Judging::RowTests {
 public:
  RowTests(Judging* judging, const std::vector<AskedField>& fields)
      : judging_(*judging), memory_(judging->store_.memory()), rows_(*memory_.layout().rows) {
    for (const Condition& condition : judging_.conditions_) {
      auto test = WordTest::Make(condition, memory_.dictionary());
      words_tell_ = words_tell_ && test;
      if (!test) continue;
      tests_.push_back({*rows_.PlaceOf(fields[condition.position()].number), *std::move(test),
                        static_cast<uint16_t>(condition.entry() + 1)});
    }
    if (judging_.most_of_a_kind_ > 0)
      kind_ = *rows_.PlaceOf(fields[judging_.kind_position_].number);
  }

  /// Nothing: the words of this row don't tell.
  std::optional<Judgement> Judge(ColumnRows::Row row) {
    if (!words_tell_) return {};
    for (const RowTest& one : tests_) {
      const uint64_t word = ColumnRows::WordOf(row, one.place);
      if (word == 0 && one.place.type == ItemFieldType::kI64) return {};
      if (word == 0 ? !one.test.met_by_absence() : !one.test.IsMet(word)) {
        return Judgement{one.dropped_by, 0};
      }
    }
    if (!kind_) return Judgement();
    const uint64_t word = ColumnRows::WordOf(row, *kind_);
    if (word == 0 && kind_->type == ItemFieldType::kI64) return {};
    return Judgement{0, word == 0 ? 0 : KindOf(word)};
  }

 private:
  uint32_t KindOf(uint64_t word) {
    if (const uint32_t kind = recent_.Find(word); kind != 0) return kind;
    const uint32_t kind =
        judging_.kinds_.NumberOf(ValueOfWord(memory_.dictionary(), kind_->type, word));
    recent_.Keep(word, kind);
    return kind;
  }

  Judging& judging_;
  const MemoryItems& memory_;
  const ColumnRows& rows_;
  bool words_tell_ = true;
  std::vector<RowTest> tests_;
  std::optional<ColumnPlace> kind_;
  RecentKinds recent_;
};

void Judging::JudgeRows(std::span<const IdRef> candidates, const std::vector<AskedField>& fields,
                        uint64_t now_ms, std::span<Judgement> judgements) {
  const MemoryItems& memory = store_.memory();
  const ColumnRows& rows = *memory.layout().rows;
  RowTests tests(this, fields);
  std::array<uint32_t, kRowsBatch> numbers;
  for (size_t begin = 0; begin < candidates.size(); begin += kRowsBatch) {
    const size_t count = std::min(kRowsBatch, candidates.size() - begin);
    memory.FindNumbers(candidates.subspan(begin, count), numbers.data());
    for (size_t i = 0; i < count; ++i) rows.Prefetch(numbers[i]);
    for (size_t i = 0; i < count; ++i) {
      const ColumnRows::Row row = numbers[i] == 0 ? nullptr : rows.Find(numbers[i]);
      if (row == nullptr || !memory.IsKnown(row, numbers[i], now_ms)) continue;
      if (const auto judged = tests.Judge(row)) {
        judgements[begin + i] = *judged;
      } else if (const uint8_t* const record = memory.RecordAt(numbers[i])) {
        judgements[begin + i] = JudgementOf(RecordView(memory, fields, Record(record)));
      }
    }
  }
}

}  // namespace seendb::items
