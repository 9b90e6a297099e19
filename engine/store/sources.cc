#include "store/sources.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "store/meta_keys.h"
#include "store/status.h"

namespace seendb {
namespace {

using Json = nlohmann::ordered_json;

struct Member {
  const char* name;
  uint64_t SourceCounts::*count;
};
constexpr Member kMembers[] = {{"plays_accepted", &SourceCounts::plays_accepted},
                               {"plays_refused", &SourceCounts::plays_refused},
                               {"impressions_accepted", &SourceCounts::impressions_accepted},
                               {"impressions_refused", &SourceCounts::impressions_refused},
                               {"dead_letters", &SourceCounts::dead_letters}};

// "plays/3" of a key without its prefix.
std::optional<Sources::Key> ParseKey(std::string_view name) {
  const size_t slash = name.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return {};
  uint32_t partition = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + slash + 1, end, partition);
  if (error != std::errc() || stop != end) return {};
  return Sources::Key(name.substr(0, slash), partition);
}

Status ReadRecords(ShardStore* store, Sources::Records* records) {
  records->clear();
  const std::unique_ptr<rocksdb::Iterator> it(store->db()->NewIterator({}, store->meta()));
  for (it->Seek(kSourcePrefix); it->Valid() && it->key().starts_with(kSourcePrefix); it->Next()) {
    const std::string name = it->key().ToString().substr(sizeof(kSourcePrefix) - 1);
    const std::optional<Sources::Key> key = ParseKey(name);
    const std::optional<SourceRecord> record = SourceRecord::FromJson(it->value().ToStringView());
    if (key && record) {
      (*records)[*key] = *record;
    } else {
      store->AddProblem("the offset of " + name + " is damaged: it is read from its beginning");
    }
  }
  return FromRocks(it->status(), "read the offsets");
}

}  // namespace

std::string SourceRecord::ToJson() const {
  Json json = {{"next_offset", next_offset}};
  for (const Member& member : kMembers) json[member.name] = counts.*member.count;
  return json.dump();
}

std::optional<SourceRecord> SourceRecord::FromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return {};
  const auto number = [&](const char* name) -> std::optional<uint64_t> {
    const auto at = json.find(name);
    if (at == json.end() || !at->is_number_unsigned()) return {};
    return at->get<uint64_t>();
  };
  SourceRecord record;
  const std::optional<uint64_t> next = number("next_offset");
  if (!next || *next > static_cast<uint64_t>(INT64_MAX)) return {};
  record.next_offset = static_cast<int64_t>(*next);
  for (const Member& member : kMembers) {
    const std::optional<uint64_t> count = number(member.name);
    if (!count) return {};
    record.counts.*member.count = *count;
  }
  return record;
}

Status Sources::Load(ShardStore* store) { return ReadRecords(store, &records_); }

// A write that failed may be there all the same, its journal record too: but the slot in memory,
// which is drained and whose journal goes then, does not have its events.
Status Sources::Settle(ShardStore* store) {
  Records stored;
  Status status = ReadRecords(store, &stored);
  if (!status.ok()) return status;
  rocksdb::WriteBatch batch;
  rocksdb::Status put;
  for (const auto& [key, record] : stored) {
    const auto known = records_.find(key);
    const std::string name = SourceKey(key.first, key.second);
    if (known == records_.end()) {
      put = batch.Delete(store->meta(), name);
    } else if (known->second.next_offset < record.next_offset) {
      put = batch.Put(store->meta(), name, known->second.ToJson());
    }
    if (!put.ok()) return FromRocks(put, "offsets");
  }
  if (batch.Count() == 0) return {};
  return FromRocks(store->db()->Write(Synced(), &batch), "write the offsets");
}

Status Sources::Forget(ShardStore* store, std::string_view topic) {
  rocksdb::WriteBatch batch;
  for (const auto& [key, record] : records_) {
    if (key.first != topic) continue;
    const rocksdb::Status gone = batch.Delete(store->meta(), SourceKey(key.first, key.second));
    if (!gone.ok()) return FromRocks(gone, "offsets");
  }
  if (batch.Count() == 0) return {};
  const Status written = FromRocks(store->db()->Write(Synced(), &batch), "forget the offsets");
  if (written.ok())
    std::erase_if(records_, [&](const auto& one) { return one.first.first == topic; });
  return written;
}

void Sources::Commit(const Records& written) {
  for (const auto& [key, record] : written) records_[key] = record;
}

SourceChange::SourceChange(const IngestBatch& batch, Sources* sources, bool first_shard)
    : batch_(batch), sources_(sources) {
  for (const SourceStep& step : batch.sources) {
    const Sources::Key key(step.topic, step.partition);
    const auto known = sources->records().find(key);
    SourceRecord record;
    const bool fresh = known == sources->records().end();
    if (!fresh) record = known->second;
    from_.push_back(fresh ? 0 : record.next_offset);
    changed_.push_back(nullptr);
    if (!fresh && record.next_offset >= step.next_offset) continue;
    if (first_shard) {
      const auto begin =
          std::lower_bound(step.dead_letters.begin(), step.dead_letters.end(), from_.back());
      record.counts.dead_letters += static_cast<uint64_t>(step.dead_letters.end() - begin);
    }
    record.next_offset = step.next_offset;
    changed_.back() = &(records_[key] = record);
  }
}

bool SourceChange::Repeated(uint32_t event) const {
  const Origin& origin = batch_.origins[event];
  return origin.offset < from_[origin.source];
}

// Precondition of the batch: origins lie below their step's next offset, so that an event which is
// not repeated belongs to a source that changes.
void SourceChange::Count(uint32_t event, bool accepted) {
  SourceCounts& counts = changed_[batch_.origins[event].source]->counts;
  uint64_t& count = batch_.impressions
                        ? (accepted ? counts.impressions_accepted : counts.impressions_refused)
                        : (accepted ? counts.plays_accepted : counts.plays_refused);
  ++count;
}

Status SourceChange::AddTo(rocksdb::WriteBatch* batch, const ShardStore& store) const {
  for (const auto& [key, record] : records_) {
    const rocksdb::Status put =
        batch->Put(store.meta(), SourceKey(key.first, key.second), record.ToJson());
    if (!put.ok()) return FromRocks(put, "offsets");
  }
  return {};
}

}  // namespace seendb
