#include "transfer/backup_routes.h"

#include <optional>

#include <nlohmann/json.hpp>

#include "base/whole_file.h"
#include "transfer/copy.h"

namespace seendb::transfer {
namespace {

using Json = nlohmann::ordered_json;

/// The files beside the shards; the last one is of a node of a cluster.
constexpr const char* kRootFiles[] = {"SEENDB", "COLLECTIONS", "cluster.json"};
constexpr size_t kRootFileBytesMost = 16u << 20;

Result<Json> RootFiles(const std::string& db) {
  Json files = Json::array();
  for (const char* const name : kRootFiles) {
    const Result<std::string> text = ReadWholeFile(db + "/" + name, kRootFileBytesMost);
    if (text.ok()) {
      files.push_back({{"name", name}, {"text", *text}});
    } else if (text.status().code() != StatusCode::kNotFound) {
      return text.status();
    }
  }
  return files;
}

/// Those beside the shards that are open.
Json Stores(const api::Context& context) {
  Json stores = Json::array();
  if (context.items.State()) stores.push_back("items");
  if (context.sets.State()) stores.push_back("sets");
  return stores;
}

}  // namespace

void AnswerBackupState(const std::string& db, const Engine& engine, api::Call& call) {
  const Result<CopyKind> kind = ReadKind(db);
  if (!kind.ok()) return call.Refuse(kind.status());
  const Result<Json> files = RootFiles(db);
  if (!files.ok()) return call.Refuse(files.status());
  Json json = {{"format", kind->format},
               {"uuid", kind->uuid},
               {"shards", kind->shards},
               {"hash", kind->hash},
               {"partitions", engine.AttachedShards()},
               {"stores", Stores(call.context)},
               {"files", *files}};
  if (const std::optional<ops::BackupNote> last = call.context.backup.last.note()) {
    json["last"] = {{"at_ms", last->at_ms},
                    {"id", last->id},
                    {"bytes", last->bytes},
                    {"new_bytes", last->new_bytes},
                    {"took_ms", last->took_ms}};
  }
  call.response.body = json.dump();
}

}  // namespace seendb::transfer
