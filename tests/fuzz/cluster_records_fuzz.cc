// Arbitrary bytes as records of a cluster: refused with a reason, or read to what is written again.
// The first byte chooses: a header of the log, records of X.meta (one a line), the cached fold, the
// report of a node, the value of a record of a user's set; of X.sets a piece (without its
// checksum), a piece's key, a store's note of a version.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/log_record.h"
#include "cluster/meta.h"
#include "cluster/node_report.h"
#include "format/bytes.h"
#include "fuzz/input.h"
#include "sets/log_rows.h"
#include "sets/piece_codec.h"
#include "wire/sets_json.h"
#include "wire/unit/padded.h"

namespace {

using namespace seendb::cluster;
using seendb::StatusCode;
using seendb::fuzz::Check;

void CheckHeader(std::string_view bytes) {
  const auto header = DecodeLogHeader(bytes);
  if (header.ok()) return Check(EncodeLogHeader(*header) == bytes);
  const StatusCode code = header.status().code();
  Check(code == StatusCode::kIncompatible || code == StatusCode::kCorruption);
}

void CheckRecords(std::string_view lines) {
  Meta meta;
  for (int64_t offset = 0; !lines.empty(); ++offset) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(line.size() == lines.size() ? line.size() : line.size() + 1);
    const auto record = DecodeMeta(line);
    const seendb::Status status = meta.Apply(offset, line);
    if (record.ok()) {
      const auto again = DecodeMeta(EncodeMeta(*record));
      Check(again.ok() && *again == *record);
      Check(status.code() != StatusCode::kIncompatible);
    } else {
      Check(status.code() == record.status().code());
    }
    if (status.code() == StatusCode::kIncompatible) break;
    Check(meta.next_offset() == offset + 1);
  }
  const auto cached = Meta::FromJson(meta.ToJson());
  Check(cached.ok() && *cached == meta);
}

void CheckCache(std::string_view text) {
  const auto meta = Meta::FromJson(text);
  if (!meta.ok()) return Check(meta.status().code() == StatusCode::kCorruption);
  const auto again = Meta::FromJson(meta->ToJson());
  Check(again.ok() && *again == *meta);
}

void CheckReport(std::string_view text) {
  const auto report = NodeReportFromJson(text, "n1");
  if (!report.ok()) {
    const StatusCode code = report.status().code();
    return Check(code == StatusCode::kInvalidArgument || code == StatusCode::kIncompatible);
  }
  const auto again = NodeReportFromJson(NodeReportToJson("n1", *report), "n1");
  Check(again.ok() && *again == *report);
}

void CheckUserSet(std::string_view text) {
  using namespace seendb;
  test::Padded padded(text);
  wire::JsonDocument document;
  std::vector<IdRef> items;
  UserSet set;
  bool deleted = false;
  const Status read = wire::ParseUserSetRecord(padded.view(), &document, &items, &set, &deleted);
  if (!read.ok()) return Check(read.code() == StatusCode::kInvalidArgument);
  std::string first, second;
  deleted ? wire::AppendUserSetDeletion(set.name, &first) : wire::AppendUserSetRecord(set, &first);
  test::Padded again(first);
  wire::JsonDocument other;
  items.clear();
  set = {};
  Check(wire::ParseUserSetRecord(again.view(), &other, &items, &set, &deleted).ok());
  deleted ? wire::AppendUserSetDeletion(set.name, &second)
          : wire::AppendUserSetRecord(set, &second);
  Check(first == second);
}

void CheckPiece(std::string_view body) {
  namespace sets = seendb::sets;
  std::string value(body);
  seendb::Seal32(&value);
  sets::Piece piece, again;
  if (!sets::ParsePiece(value, &piece)) return;
  Check(sets::NewerPieceText(value).empty());
  const std::string written = sets::EncodePiece(piece), key = sets::KeyOf(piece);
  Check(sets::ParsePiece(written, &again) && sets::EncodePiece(again) == written);
  Check(again.ids == piece.ids && again.deletion == piece.deletion);
  Check(sets::ParsePieceKey(key, &again) && sets::KeyOf(again) == key);
}

void CheckPieceKey(std::string_view key) {
  seendb::sets::Piece piece;
  if (!seendb::sets::ParsePieceKey(key, &piece)) return;
  Check(seendb::sets::KeyOf(piece) == key && seendb::sets::NameInKey(key) == piece.name);
}

void CheckVersionNote(std::string_view text) {
  namespace sets = seendb::sets;
  sets::LogVersion version, again;
  if (!sets::ParseLogVersion(text, &version)) return;
  const std::string written = sets::EncodeLogVersion(version);
  Check(sets::ParseLogVersion(written, &again) && sets::EncodeLogVersion(again) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  seendb::fuzz::Input input(data, size);
  const uint8_t what = input.Byte();
  if (what == 'h') CheckHeader(input.Rest());
  if (what == 'm') CheckRecords(input.Rest());
  if (what == 'c') CheckCache(input.Rest());
  if (what == 'r') CheckReport(input.Rest());
  if (what == 's') CheckUserSet(input.Rest());
  if (what == 'p') CheckPiece(input.Rest());
  if (what == 'k') CheckPieceKey(input.Rest());
  if (what == 'v') CheckVersionNote(input.Rest());
  return 0;
}
