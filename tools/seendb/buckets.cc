// seendb buckets: every bucket of every collection, and where it is in its life.

#include <string>

#include "commands.h"
#include "database.h"
#include "report_json.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

/// An answer of kAnswerBytesMost has at most so many: a bucket is eight values in some 130 bytes.
constexpr size_t kValuesMost = kAnswerBytesMost / 16;

/// The buckets of one collection only, where one is asked for.
Json OfCollection(const Json& report, const std::string& collection) {
  Json list = Json::array();
  for (const Json& bucket : ListOf(report, "buckets")) {
    if (collection.empty() || TextOf(bucket, "collection") == collection) list.push_back(bucket);
  }
  return {{"buckets", std::move(list)}};
}

std::string BucketsText(const Json& report) {
  Table table({{"collection"},
               {"bucket"},
               {"state"},
               {"window"},
               {"from (UTC)"},
               {"until (UTC)"},
               {"bytes ~", Align::kRight}});
  for (const Json& bucket : ListOf(report, "buckets")) {
    table.Add({TextOf(bucket, "collection"), TextOf(bucket, "bucket"), TextOf(bucket, "state"),
               FlagOf(bucket, "in_window") ? "read" : "", FormatTimeMs(TimeOf(bucket, "begin_ms")),
               FormatTimeMs(TimeOf(bucket, "end_ms")), FormatBytes(CountOf(bucket, "bytes"))});
  }
  return table.empty() ? "no buckets\n" : table.ToString();
}

Status RunBuckets(const Session& session) {
  auto database = Database::Open(session, Access::kRead);
  if (!database.ok()) return database.status();
  HttpClient* server = (*database)->server();
  auto report = server != nullptr
                    ? server->Call({.target = "/admin/buckets", .answer_values_most = kValuesMost})
                    : Result<Json>(ToJson((*database)->engine()->Buckets()));
  if (!report.ok()) return (*database)->Close(report.status());
  const Json chosen = OfCollection(*report, session.collection);
  return (*database)->Close(session.json ? PrintJson(chosen) : Print(BucketsText(chosen)));
}

}  // namespace

void AddBuckets(Command app, Session& session) {
  Command command = AddCommand(
      app, session, "buckets", "List the buckets: state, span, bytes", Takes::kFolderOrServer,
      [&session] { return RunBuckets(session); }, Collections::kOfFlag);
  command.Examples({"seendb buckets --collection default", "seendb buckets --db db --json"});
}

}  // namespace seendb::tool
