// A filter request: ids in, one bit per item out.

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "c/handles.h"

using seendb::Status;
using namespace seendb::c;  // NOLINT(google-build-using-namespace)

namespace seendb::c {
namespace {

constexpr uint32_t kAllFlags = SEENDB_FILTER_RECORD | SEENDB_FILTER_VERIFY | SEENDB_FILTER_FAIL |
                               SEENDB_FILTER_NO_PLAYS | SEENDB_FILTER_NO_IMPRESSIONS;

/// The arguments of both functions but for the items.
struct Asked {
  seendb_db* db;
  seendb_id user;
  size_t count;
  const seendb_filter_options* options;
  uint8_t* unseen;
  size_t unseen_bytes;
  seendb_filtered* filtered;
};

/// Kept by a thread from one request to the next, so that it need not allocate.
struct Kept {
  std::vector<IdRef> items;
  std::vector<IdRef> exclude;
  FilterResponse response;
};
Kept& KeptByThread() {
  thread_local Kept kept;
  return kept;
}

/// Checks all but the items, and makes the bits 0.
Status TakeAsked(const Asked& asked, FilterRequest* request) {
  const size_t bytes = asked.count / 8 + (asked.count % 8 != 0 ? 1 : 0);
  seendb_filter_options options{};
  if (asked.unseen != nullptr) std::memset(asked.unseen, 0, std::min(bytes, asked.unseen_bytes));
  Status taken = NotNull(asked.db, "db");
  if (taken.ok() && bytes > 0) taken = NotNull(asked.unseen, "unseen");
  if (taken.ok() && asked.unseen_bytes < bytes) {
    taken = Status::InvalidArgument(
        "needs " + std::to_string(bytes) + " bytes, and has " + std::to_string(asked.unseen_bytes),
        "/unseen");
  }
  if (!taken.ok()) return taken;
  taken = CheckSize(asked.filtered, sizeof(seendb_filtered), sizeof(seendb_filtered), "filtered");
  if (taken.ok()) taken = TakeSized(asked.options, sizeof(options), "options", &options);
  if (taken.ok()) taken = TakeId(asked.user, "/user", &request->user);
  if (!taken.ok()) return taken;
  if ((options.flags & ~kAllFlags) != 0) {
    return Status::InvalidArgument("has a bit that means nothing", "/options/flags");
  }
  if (options.deadline_us < 0) {
    return Status::InvalidArgument("is negative", "/options/deadline_us");
  }
  std::vector<IdRef>& exclude = KeptByThread().exclude;
  taken = TakeIds(options.exclude, options.exclude_count, asked.db->max_candidates, "exclude",
                  &exclude);
  if (!taken.ok()) return taken;
  const auto has = [&](uint32_t flag) { return (options.flags & flag) != 0; };
  request->collection = NameOf(options.collection);
  request->exclude = exclude;
  request->limit = options.limit;
  request->deadline_us = options.deadline_us;
  request->record = has(SEENDB_FILTER_RECORD);
  request->verify = has(SEENDB_FILTER_VERIFY);
  request->on_error = has(SEENDB_FILTER_FAIL) ? OnError::kFail : OnError::kDegrade;
  request->facts = static_cast<uint8_t>((has(SEENDB_FILTER_NO_PLAYS) ? 0 : kFactPlays) |
                                        (has(SEENDB_FILTER_NO_IMPRESSIONS) ? 0 : kFactImpressions));
  return {};
}

/// Labels of what was not read, as many as have room.
void TellMissing(const std::vector<std::string>& labels, char (&to)[128]) {
  std::string text;
  for (const std::string& label : labels) text.append(text.empty() ? "" : ", ").append(label);
  const size_t size = std::min(text.size(), sizeof(to) - 1);
  std::memcpy(to, text.data(), size);
  to[size] = '\0';
}

Status Answer(const FilterRequest& request, const Asked& asked) {
  FilterResponse& response = KeptByThread().response;
  const Status status = asked.db->engine->Filter(request, &response);
  if (!status.ok()) return status;
  for (const uint32_t at : response.unseen) {
    asked.unseen[at / 8] = static_cast<uint8_t>(asked.unseen[at / 8] | 1u << at % 8);
  }
  if (asked.filtered == nullptr) return {};
  seendb_filtered told{};
  told.unseen = static_cast<uint32_t>(response.unseen.size());
  told.seen = response.seen;
  told.examined = response.examined;
  told.excluded = response.excluded;
  told.duplicates = response.duplicates;
  told.refuted = response.refuted;
  told.degraded = response.degraded ? 1 : 0;
  told.recorded = response.recorded ? 1 : 0;
  TellMissing(response.missing, told.missing);
  GiveSized(told, asked.filtered);
  return {};
}

}  // namespace
}  // namespace seendb::c

extern "C" {

seendb_code seendb_filter(seendb_db* db, seendb_id user, const seendb_id* items, size_t count,
                          const seendb_filter_options* options, uint8_t* unseen,
                          size_t unseen_bytes, seendb_filtered* filtered, seendb_error** error) {
  return Run(error, [&]() -> Status {
    const Asked asked{db, user, count, options, unseen, unseen_bytes, filtered};
    seendb::FilterRequest request;
    std::vector<seendb::IdRef>& ids = KeptByThread().items;
    Status taken = TakeAsked(asked, &request);
    if (taken.ok()) taken = TakeIds(items, count, db->max_candidates, "items", &ids);
    if (!taken.ok()) return taken;
    request.items = ids;
    return Answer(request, asked);
  });
}

seendb_code seendb_filter_u64(seendb_db* db, seendb_id user, const uint64_t* items, size_t count,
                              const seendb_filter_options* options, uint8_t* unseen,
                              size_t unseen_bytes, seendb_filtered* filtered,
                              seendb_error** error) {
  return Run(error, [&]() -> Status {
    const Asked asked{db, user, count, options, unseen, unseen_bytes, filtered};
    seendb::FilterRequest request;
    Status taken = TakeAsked(asked, &request);
    if (taken.ok()) taken = CheckArray(items, count, db->max_candidates, "items");
    if (!taken.ok()) return taken;
    std::vector<seendb::IdRef>& ids = KeptByThread().items;
    ids.resize(count);
    for (size_t i = 0; i < count; ++i) ids[i] = seendb::IdRef(items[i]);
    request.items = ids;
    return Answer(request, asked);
  });
}

}  // extern "C"
