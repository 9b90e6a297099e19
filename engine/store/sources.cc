#include "store/sources.h"

#include <algorithm>
#include <cassert>
#include <charconv>

#include <nlohmann/json.hpp>

#include "base/return_if_failed.h"
#include "store/status.h"
#include "tables/meta_keys.h"

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
// Written once something was counted: what has none is as older software wrote it.
constexpr Member kLaterMembers[] = {{"exposures_accepted", &SourceCounts::exposures_accepted},
                                    {"exposures_refused", &SourceCounts::exposures_refused}};

// The count of a fact's events.
uint64_t& CountOf(Fact fact, bool accepted, SourceCounts* counts) {
  switch (fact) {
    case Fact::kServed:
      return accepted ? counts->impressions_accepted : counts->impressions_refused;
    case Fact::kExposed:
      return accepted ? counts->exposures_accepted : counts->exposures_refused;
    case Fact::kPlayed:
      break;
  }
  return accepted ? counts->plays_accepted : counts->plays_refused;
}

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

// What only bars the way to what was read already is not told of as damage.
Status ReadMarks(ShardStore* store, Sources::Records* records, std::set<Sources::Key>* forgotten) {
  const std::unique_ptr<rocksdb::Iterator> it(store->db()->NewIterator({}, store->meta()));
  for (it->Seek(kTopicPrefix); it->Valid() && it->key().starts_with(kTopicPrefix); it->Next()) {
    const std::string name = it->key().ToString().substr(sizeof(kTopicPrefix) - 1);
    const std::optional<Sources::Key> key = ParseKey(name);
    const auto known = key ? records->find(*key) : records->end();
    if (known != records->end()) {
      known->second.TakeMark(it->value().ToStringView());
    } else if (key && SaysForgotten(it->value().ToStringView())) {
      forgotten->insert(*key);
    }
  }
  return FromRocks(it->status(), "read the marks of the logs");
}

Status PutRecord(const Sources::Key& key, const SourceRecord& record, const ShardStore& store,
                 rocksdb::WriteBatch* batch) {
  rocksdb::Status put = batch->Put(store.meta(), SourceKey(key.first, key.second), record.ToJson());
  if (put.ok() && record.has_mark()) {
    put = batch->Put(store.meta(), TopicKey(key.first, key.second), record.MarkToJson());
  }
  return FromRocks(put, "offsets");
}

Status DeleteRecord(const Sources::Key& key, const ShardStore& store, rocksdb::WriteBatch* batch) {
  rocksdb::Status gone = batch->Delete(store.meta(), SourceKey(key.first, key.second));
  if (gone.ok()) gone = batch->Delete(store.meta(), TopicKey(key.first, key.second));
  return FromRocks(gone, "offsets");
}

Status ReadRecords(ShardStore* store, Sources::Records* records,
                   std::set<Sources::Key>* forgotten) {
  records->clear();
  forgotten->clear();
  const std::unique_ptr<rocksdb::Iterator> it(store->db()->NewIterator({}, store->meta()));
  for (it->Seek(kSourcePrefix); it->Valid() && it->key().starts_with(kSourcePrefix); it->Next()) {
    const std::string name = it->key().ToString().substr(sizeof(kSourcePrefix) - 1);
    const std::optional<Sources::Key> key = ParseKey(name);
    const std::optional<SourceRecord> record = SourceRecord::FromJson(it->value().ToStringView());
    if (key && record) {
      (*records)[*key] = *record;
    } else {
      store->problems().Add("the offset of " + name + " is damaged: it is read from its beginning");
      if (key) forgotten->insert(*key);
    }
  }
  if (!it->status().ok()) return FromRocks(it->status(), "read the offsets");
  return ReadMarks(store, records, forgotten);
}

}  // namespace

std::string SourceRecord::ToJson() const {
  Json json = {{"next_offset", next_offset}};
  for (const Member& member : kMembers) json[member.name] = counts.*member.count;
  for (const Member& member : kLaterMembers) {
    if (counts.*member.count > 0) json[member.name] = counts.*member.count;
  }
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
  for (const Member& member : kLaterMembers) {
    record.counts.*member.count = number(member.name).value_or(0);
  }
  return record;
}

std::string SourceRecord::MarkToJson() const {
  Json json = {{"next_offset", next_offset}};
  if (last) json["offset"] = last->offset;
  if (last) json["time_ms"] = last->time_ms;
  if (held) json["held"] = true;
  return json.dump();
}

void SourceRecord::TakeMark(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return;
  const auto number = [&](const char* name) -> std::optional<int64_t> {
    const auto at = json.find(name);
    if (at == json.end() || !at->is_number_unsigned()) return {};
    if (at->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) return {};
    return at->get<int64_t>();
  };
  if (number("next_offset") != next_offset) return;
  const std::optional<int64_t> offset = number("offset"), time_ms = number("time_ms");
  if (offset && time_ms && *offset < next_offset) last = SourceMark{*offset, *time_ms};
  const auto is_held = json.find("held");
  held = is_held != json.end() && is_held->is_boolean() && is_held->get<bool>();
}

Status Sources::Load(ShardStore* store) {
  const MutexLock lock(mutex_);
  Status read = ReadRecords(store, &records_, &forgotten_);
  ReportAll();
  return read;
}

void Sources::ReportAll() {
  const MutexLock lock(report_mutex_);
  reported_ = records_;
  reported_forgotten_ = forgotten_;
}

// A write that failed may be there all the same, its journal record too: but the slot in memory,
// which is drained and whose journal goes then, does not have its events.
Status Sources::Settle(ShardStore* store) {
  const MutexLock lock(mutex_);
  Records stored;
  std::set<Key> lost;
  Status status = ReadRecords(store, &stored, &lost);
  if (!status.ok()) return status;
  rocksdb::WriteBatch batch;
  for (const auto& [key, record] : stored) {
    const auto known = records_.find(key);
    if (known == records_.end()) {
      status = DeleteRecord(key, *store, &batch);
      if (status.ok() && forgotten_.contains(key)) {
        status = FromRocks(
            batch.Put(store->meta(), TopicKey(key.first, key.second), ForgottenTopicState()),
            "offsets");
      }
    } else if (known->second.next_offset < record.next_offset) {
      status = PutRecord(key, known->second, *store, &batch);
    }
    if (!status.ok()) return status;
  }
  if (batch.Count() == 0) return {};
  return FromRocks(store->db()->Write(Synced(), &batch), "write the offsets");
}

Status Sources::Forget(ShardStore* store, std::string_view topic) {
  rocksdb::WriteBatch batch;
  std::set<Key> keys = forgotten_;
  for (const auto& [key, record] : records_) keys.insert(key);
  for (const Key& key : keys) {
    if (key.first != topic) continue;
    RETURN_IF_FAILED(DeleteRecord(key, *store, &batch));
  }
  if (batch.Count() == 0) return {};
  RETURN_IF_FAILED(FromRocks(store->db()->Write(Synced(), &batch), "forget the offsets"));
  std::erase_if(records_, [&](const auto& one) { return one.first.first == topic; });
  std::erase_if(forgotten_, [&](const Key& key) { return key.first == topic; });
  ReportAll();
  return {};
}

void Sources::Commit(const Records& written) {
  const MutexLock lock(report_mutex_);
  for (const auto& [key, record] : written) {
    records_[key] = record;
    reported_[key] = record;
    forgotten_.erase(key);
    reported_forgotten_.erase(key);
  }
}

SourceChange::SourceChange(const IngestBatch& batch, Sources* sources, const StepsOfShard& steps)
    : batch_(batch), sources_(sources) {
  for (const SourceStep& step : batch.sources) {
    const Sources::Key key(step.topic, step.partition);
    const auto known = sources->records().find(key);
    SourceRecord record;
    const bool fresh = known == sources->records().end();
    if (!fresh) record = known->second;
    from_.push_back(fresh ? 0 : record.next_offset);
    changed_.push_back(nullptr);
    if (!steps.Has(batch, step)) continue;
    if (step.held) {
      if (fresh || record.held) continue;
      record.held = true;
      changed_.back() = &(records_[key] = record);
      continue;
    }
    if (!fresh && record.next_offset >= step.next_offset) continue;
    if (steps.CountsDeadLettersOf(step)) {
      const auto begin =
          std::lower_bound(step.dead_letters.begin(), step.dead_letters.end(), from_.back());
      record.counts.dead_letters += static_cast<uint64_t>(step.dead_letters.end() - begin);
    }
    record.next_offset = step.next_offset;
    record.held = false;
    if (step.last) record.last = step.last;
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
  assert(!Repeated(event) && changed_[batch_.origins[event].source] != nullptr);
  ++CountOf(batch_.fact, accepted, &changed_[batch_.origins[event].source]->counts);
}

Status SourceChange::AddTo(rocksdb::WriteBatch* batch, const ShardStore& store) const {
  for (const auto& [key, record] : records_) {
    RETURN_IF_FAILED(PutRecord(key, record, store, batch));
  }
  return {};
}

}  // namespace seendb
