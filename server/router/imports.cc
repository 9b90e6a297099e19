#include "router/imports.h"

#include <chrono>
#include <future>
#include <map>
#include <string>
#include <utility>

#include "router/event_batch.h"
#include "wire/events_json.h"
#include "wire/json_text.h"

namespace seendb::router {
namespace {

constexpr std::chrono::seconds kImportMost{15};
/// Left for what stands around the users of a record.
constexpr size_t kAroundUsersBytes = 4u << 10;

/// A record of notes that is being filled.
struct NoteRecord {
  OwnedRecord record;
  size_t users = 0;
};

/// What every record of notes begins with.
std::string NoteHead(std::string_view collection, std::string_view key) {
  std::string head = "{\"collection\":";
  wire::AppendJsonString(collection, &head);
  head += ",\"key\":";
  wire::AppendJsonString(key, &head);
  return head + ",\"users\":[";
}

}  // namespace

/// How many plays were refused.
Result<uint64_t> Imports::AppendAll(std::vector<OwnedRecord> records) const {
  std::promise<std::vector<Result<wire::Appended>>> told;
  writer_.AppendAll(std::move(records), {{"SeenDB-Hop", "1"}, {"SeenDB-Priority", "low"}},
                    std::chrono::steady_clock::now() + kImportMost,
                    [&told](auto results) { told.set_value(std::move(results)); });
  uint64_t refused = 0;
  for (const Result<wire::Appended>& result : told.get_future().get()) {
    if (!result.ok()) return result.status();
    if (!result->applied) return Status::Unavailable("in the log, and not applied yet");
    if (!result->verdict.ok()) return result->verdict;
    refused += result->recorded.refused;
  }
  return refused;
}

Result<uint64_t> Imports::Record(std::string_view collection, std::span<const Play> plays) const {
  EventBatch batch(api::EventKind::kPlays, std::string(collection));
  std::string json;
  for (size_t i = 0; i < plays.size(); ++i) {
    const IdRef& user = plays[i].user;
    json.clear();
    wire::AppendEvent(plays[i], &json);
    batch.AddEvent(shard_of_(user), user.ToString(), i, json);
  }
  return AppendAll(batch.TakeRecords());
}

Status Imports::Note(std::string_view collection, std::string_view key,
                     std::span<const IdRef> users) const {
  const std::string head = NoteHead(collection, key);
  std::map<uint32_t, NoteRecord> open;
  std::vector<OwnedRecord> records;
  const auto close = [&records](NoteRecord* note) {
    note->record.value += "]}";
    records.push_back(std::exchange(*note, {}).record);
  };
  for (const IdRef& user : users) {
    const uint32_t partition = shard_of_(user);
    NoteRecord& note = open[partition];
    const bool full = note.record.value.size() + kAroundUsersBytes > cluster::kLogValueBytesMost;
    if (full || note.users == cluster::kLogEventsMost) close(&note);
    if (note.users == 0) {
      note.record = {partition, cluster::LogKind::kImported, user.ToString(), head};
    } else {
      note.record.value += ',';
    }
    wire::AppendId(user, &note.record.value);
    ++note.users;
  }
  for (auto& [partition, note] : open) close(&note);
  return AppendAll(std::move(records)).status();
}

Status Imports::NoteEverybody(std::string_view collection, std::string_view key,
                              uint32_t partitions) const {
  const std::string value = NoteHead(collection, key) + "],\"everybody\":true}";
  std::vector<OwnedRecord> records;
  for (uint32_t partition = 0; partition < partitions; ++partition) {
    records.push_back({partition, cluster::LogKind::kImported, "everybody", value});
  }
  return AppendAll(std::move(records)).status();
}

}  // namespace seendb::router
