// seendb seal: re-encodes closed buckets, or one bucket, compactly.

#include <memory>
#include <string>

#include "commands.h"
#include "maintenance.h"
#include "units.h"

namespace seendb::tool {
namespace {

constexpr OperationCounter kSealed = {"buckets_sealed", &EngineStats::buckets_sealed, FormatCount,
                                      " families"};

Status RunSeal(const Session& session, const std::string& bucket) {
  if (bucket.empty()) {
    if (!session.collection.empty()) {
      return Status::InvalidArgument(
          "--collection goes with --bucket; without both, every closed "
          "bucket is sealed");
    }
    return Perform(session, {.request = {.method = "POST", .target = "/admin/seal"},
                             .engine = [](Engine& engine) { return engine.SealClosed(); },
                             .done = "sealed",
                             .counter = kSealed});
  }
  const std::string collection = CollectionOf(session);
  const std::string body = Json({{"collection", collection}, {"bucket", bucket}})
                               .dump(-1, ' ', false, Json::error_handler_t::replace);
  return Perform(session,
                 {.request = {.method = "POST", .target = "/admin/seal", .body = body},
                  .engine = [&](Engine& engine) { return engine.Seal(collection, bucket); },
                  .done = "sealed",
                  .counter = kSealed});
}

}  // namespace

void AddSeal(Command app, Session& session) {
  auto bucket = std::make_shared<std::string>();
  Command command = AddCommand(
      app, session, "seal",
      "Re-encode every closed bucket compactly, or the one named (the current one included)",
      Takes::kFolderOrServer, [&session, bucket] { return RunSeal(session, *bucket); },
      Collections::kOfFlag);
  command.Add("--bucket", *bucket, "Only this bucket of --collection: 2026-11, 2026-11-20")
      .TypeName("LABEL");
  command.Examples({"seendb seal", "seendb seal --collection default --bucket 2026-11"});
}

}  // namespace seendb::tool
