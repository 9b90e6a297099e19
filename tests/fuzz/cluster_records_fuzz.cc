// Arbitrary bytes as records of a cluster: refused with a reason, or read to what is written again.
// The first byte chooses: a header of the log, records of X.meta (one a line), the cached fold, the
// report of a node.

#include <cstdint>
#include <string>
#include <string_view>

#include "cluster/log_record.h"
#include "cluster/meta.h"
#include "cluster/node_report.h"
#include "fuzz/input.h"

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  seendb::fuzz::Input input(data, size);
  const uint8_t what = input.Byte();
  if (what == 'h') CheckHeader(input.Rest());
  if (what == 'm') CheckRecords(input.Rest());
  if (what == 'c') CheckCache(input.Rest());
  if (what == 'r') CheckReport(input.Rest());
  return 0;
}
