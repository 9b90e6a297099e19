// A database as a whole: opened and closed, its collections, its upkeep.

#include <string>
#include <utility>

#include "c/handles.h"
#include "c/open_options.h"

using seendb::Status;
using namespace seendb::c;  // NOLINT(google-build-using-namespace)

extern "C" {

uint32_t seendb_abi_version(void) { return SEENDB_ABI_VERSION; }

seendb_code seendb_open(const char* path, const char* options_json, seendb_db** db,
                        seendb_error** error) {
  return Run(error, [&]() -> Status {
    Status checked = NotNull(db, "db");
    if (!checked.ok()) return checked;
    *db = nullptr;
    checked = NotNull(path, "path");
    if (!checked.ok()) return checked;
    if (*path == '\0') return Status::InvalidArgument("is empty", "/path");
    seendb::Options options;
    checked = ReadOptions(options_json == nullptr ? "" : options_json, &options);
    if (!checked.ok()) return checked;
    auto engine = seendb::Engine::Open(path, options);
    if (!engine.ok()) return engine.status();
    *db = new seendb_db{std::move(engine).value(), options.max_candidates};
    return {};
  });
}

seendb_code seendb_close(seendb_db* db, seendb_error** error) {
  const std::unique_ptr<seendb_db> owned(db);
  return Run(error, [&] { return owned == nullptr ? Status() : owned->engine->Close(); });
}

seendb_code seendb_put_collection(seendb_db* db, const char* collection, const char* policy_json,
                                  seendb_error** error) {
  return Run(error, [&]() -> Status {
    const Status checked = NotNull(db, "db");
    if (!checked.ok()) return checked;
    const auto patch = seendb::PolicyPatchFromJson(policy_json == nullptr ? "{}" : policy_json);
    if (!patch.ok()) return patch.status();
    return db->engine->PutCollection(NameOf(collection), *patch);
  });
}

seendb_code seendb_delete_collection(seendb_db* db, const char* collection, seendb_error** error) {
  return Run(error, [&]() -> Status {
    const Status checked = NotNull(db, "db");
    return checked.ok() ? db->engine->DeleteCollection(NameOf(collection)) : checked;
  });
}

seendb_code seendb_collections(seendb_db* db, char** json, seendb_error** error) {
  return Run(error, [&]() -> Status {
    const Status checked = TakeJson(db, json);
    if (checked.ok()) Give(seendb::ReportToJson(db->engine->Collections()), json);
    return checked;
  });
}

seendb_code seendb_drain(seendb_db* db, seendb_error** error) {
  return Run(error, [&]() -> Status {
    const Status checked = NotNull(db, "db");
    return checked.ok() ? db->engine->Drain() : checked;
  });
}

seendb_code seendb_sync(seendb_db* db, seendb_error** error) {
  return Run(error, [&]() -> Status {
    const Status checked = NotNull(db, "db");
    return checked.ok() ? db->engine->Sync() : checked;
  });
}

seendb_code seendb_checkpoint(seendb_db* db, const char* dir, seendb_error** error) {
  return Run(error, [&]() -> Status {
    Status checked = NotNull(db, "db");
    if (checked.ok()) checked = NotNull(dir, "dir");
    if (!checked.ok()) return checked;
    if (*dir == '\0') return Status::InvalidArgument("is empty", "/dir");
    return db->engine->Checkpoint(dir).status();
  });
}

seendb_code seendb_stats(seendb_db* db, char** json, seendb_error** error) {
  return Run(error, [&]() -> Status {
    const Status checked = TakeJson(db, json);
    if (checked.ok()) Give(seendb::ReportToJson(db->engine->Stats()), json);
    return checked;
  });
}

}  // extern "C"
