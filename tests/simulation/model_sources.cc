#include "simulation/model_sources.h"

#include <algorithm>
#include <set>

#include "simulation/tally.h"

namespace seendb::simulation {
namespace {

std::string TextOf(const std::optional<int64_t>& offset) {
  return offset ? std::to_string(*offset) : "none";
}

}  // namespace

std::string CollectionOf(const std::string& topic) { return topic.substr(0, topic.rfind('.')); }
bool IsServed(const std::string& topic) { return topic.ends_with(".s"); }

// ---- Logs ----

void SourcesModel::Publish(const Source& source, std::vector<Message> messages) {
  std::vector<Message>& log = logs_[source];
  std::move(messages.begin(), messages.end(), std::back_inserter(log));
}

void SourcesModel::Empty(const std::string& topic) {
  for (auto& [source, log] : logs_) {
    if (source.first == topic) log.clear();
  }
}

const std::vector<Message>& SourcesModel::LogOf(const Source& source) const {
  static const std::vector<Message> kNone;
  const auto at = logs_.find(source);
  return at == logs_.end() ? kNone : at->second;
}

std::vector<Source> SourcesModel::SourcesOf(const std::string& topic) const {
  std::vector<Source> sources;
  for (const auto& [source, log] : logs_) {
    if (source.first == topic) sources.push_back(source);
  }
  return sources;
}

int64_t SourcesModel::TimeOf(const Source& source, int64_t offset) {
  return 1'000'000 * (int64_t{source.second} + 1) + offset;
}

// ---- What shards have ----

const SourcesModel::State* SourcesModel::Acknowledged(uint32_t shard, const Source& source) const {
  const auto at = shards_[shard].find(source);
  if (at == shards_[shard].end()) return nullptr;
  const State* last = nullptr;
  for (const State& state : at->second) {
    if (state.acknowledged) last = &state;
  }
  return last;
}

std::optional<int64_t> SourcesModel::NextOf(uint32_t shard, const Source& source) const {
  const State* state = Acknowledged(shard, source);
  return state == nullptr ? std::nullopt : state->next_offset;
}

std::optional<int64_t> SourcesModel::LowestOf(const Source& source) const {
  std::optional<int64_t> lowest;
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
    const std::optional<int64_t> next = NextOf(shard, source);
    if (!next) return {};
    lowest = std::min(lowest.value_or(*next), *next);
  }
  return lowest;
}

std::vector<Source> SourcesModel::Known() const {
  std::set<Source> known;
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
    for (const auto& [source, states] : shards_[shard]) {
      if (NextOf(shard, source)) known.insert(source);
    }
  }
  return {known.begin(), known.end()};
}

bool SourcesModel::Any() const {
  return std::any_of(shards_.begin(), shards_.end(),
                     [](const auto& sources) { return !sources.empty(); });
}

SourceCounts SourcesModel::CountsOf(const Source& source) const {
  SourceCounts sum;
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
    if (const State* state = Acknowledged(shard, source)) sum += state->counts;
  }
  return sum;
}

void SourcesModel::Move(uint32_t shard, uint64_t call, const SourceMove& move, bool acknowledged) {
  States& states = shards_[shard][move.source];
  if (states.empty()) states.emplace_back();
  State next = states.back();
  next.call = call;
  next.acknowledged = acknowledged;
  next.next_offset = move.next_offset;
  next.counts += move.more;
  states.push_back(std::move(next));
}

void SourcesModel::Forget(uint32_t shard, const std::string& topic) {
  std::erase_if(shards_[shard], [&](const auto& one) { return one.first.first == topic; });
}

void SourcesModel::SyncedTo(uint32_t shard, uint64_t call) {
  for (auto& [source, states] : shards_[shard]) {
    size_t base = 0;
    for (size_t i = 0; i < states.size(); ++i) {
      if (states[i].acknowledged && states[i].call <= call) base = i;
    }
    states.erase(states.begin(), states.begin() + static_cast<int64_t>(base));
  }
}

void SourcesModel::Settle(uint32_t shard, bool power_was_cut, const StoredOffsets& stored) {
  for (const auto& [source, offset] : stored) {
    if (!shards_[shard].contains(source)) {
      throw Violation("shard " + std::to_string(shard) + " knows an offset of " + source.first +
                      ", which it was never told or has forgotten");
    }
  }
  for (auto& [source, states] : shards_[shard]) {
    const auto at = stored.find(source);
    const auto found = at == stored.end() ? std::nullopt : std::optional(at->second);
    const State* last = Acknowledged(shard, source);
    const size_t first =
        power_was_cut || last == nullptr ? 0 : static_cast<size_t>(last - states.data());
    size_t is = first;
    while (is < states.size() && states[is].next_offset != found) ++is;
    if (is == states.size()) {
      throw Violation("shard " + std::to_string(shard) + ": the offset of " + source.first + "/" +
                      std::to_string(source.second) + " is " + TextOf(found) + ", expected " +
                      TextOf(states[first].next_offset) + " to " +
                      TextOf(states.back().next_offset));
    }
    State kept = states[is];
    kept.acknowledged = true;
    kept.call = 0;
    states = {std::move(kept)};
  }
}

}  // namespace seendb::simulation
