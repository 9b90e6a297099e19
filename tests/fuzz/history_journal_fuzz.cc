// Arbitrary bytes as a history journal record: refused, or read to plays that are written and read
// again as themselves.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "format/history_journal.h"
#include "fuzz/sealed_input.h"

namespace {

struct Row {
  std::string user, item;
  int64_t at_ms = 0;
  std::string words;
  bool operator==(const Row&) const = default;
};

bool Read(std::string_view record, std::string* collection, std::vector<Row>* rows) {
  seendb::HistoryJournalDecoder decoder;
  if (!decoder.Begin(record)) return false;
  *collection = decoder.collection();
  seendb::WatchedPlay play;
  while (decoder.Next(&play)) {
    rows->push_back(
        {std::string(play.user), std::string(play.item), play.at_ms, std::string(play.words)});
  }
  return decoder.ok();
}

void Check(std::string_view input, seendb::Tag tag) {
  const std::string record = seendb::fuzz::ValueOf(input, tag);
  std::string collection, collection_again;
  std::vector<Row> rows, rows_again;
  if (!Read(record, &collection, &rows)) return;
  seendb::HistoryJournalEncoder encoder;
  encoder.Begin(collection, 7);
  for (const Row& row : rows) encoder.Add({row.user, row.item, row.at_ms, row.words});
  const std::string written(encoder.Finish());
  if (!Read(written, &collection_again, &rows_again) || collection_again != collection ||
      rows_again != rows) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  Check(input, seendb::Tag::kHistoryJournal);
  Check(input, seendb::Tag::kHistoryJournalWords);
  return 0;
}
