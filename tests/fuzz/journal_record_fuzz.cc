// Arbitrary bytes as a journal record: refused, or read to plays that are written and read again as
// themselves.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "format/journal_codec.h"
#include "fuzz/sealed_input.h"

namespace {

struct Row {
  std::string user;
  int64_t bucket = 0;
  seendb::Fingerprint item = 0;
  bool operator==(const Row&) const = default;
};

bool Read(std::string_view record, std::string* collection, std::vector<Row>* rows) {
  seendb::JournalDecoder decoder;
  if (!decoder.Begin(record)) return false;
  *collection = decoder.collection();
  std::string_view user;
  Row row;
  while (decoder.Next(&user, &row.bucket, &row.item)) {
    row.user = user;
    rows->push_back(row);
  }
  return decoder.ok();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string record = seendb::fuzz::ValueOf(
      std::string_view(reinterpret_cast<const char*>(data), size), seendb::Tag::kJournal);
  std::string collection;
  std::vector<Row> rows;
  if (!Read(record, &collection, &rows)) return 0;
  seendb::JournalEncoder encoder;
  encoder.Begin(collection, 0);
  for (const Row& row : rows) encoder.Add(row.user, row.bucket, row.item);
  const std::string written(encoder.Finish());
  std::string collection_again;
  std::vector<Row> rows_again;
  if (!Read(written, &collection_again, &rows_again) || collection_again != collection ||
      rows_again != rows) {
    std::abort();
  }
  return 0;
}
