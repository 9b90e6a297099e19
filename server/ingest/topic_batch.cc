#include "ingest/topic_batch.h"

#include <algorithm>
#include <cassert>

namespace seendb::ingest {
namespace {

/// Bounds of the updates of items that are applied at once.
constexpr size_t kMaxItemUpdates = 4'096;
constexpr size_t kMaxItemBytes = 1u << 20;

std::string ReasonOf(const Status& status) {
  std::string reason(status.message());
  if (!status.field().empty()) reason.append(" at ").append(status.field());
  return reason;
}

}  // namespace

TopicBatch::Progress& TopicBatch::Of(int32_t partition) {
  const auto [at, fresh] = partitions_.try_emplace(partition);
  if (fresh) at->second.source = static_cast<uint32_t>(partitions_.size() - 1);
  return at->second;
}

TopicBatch::Progress& TopicBatch::Pass(const Message& message) {
  Progress& progress = Of(message.partition);
  progress.next_offset = message.offset + 1;
  ++progress.messages;
  if (message.at_ms) progress.last = SourceMark{message.offset, *message.at_ms};
  return progress;
}

// First plays of the day are of one day a batch.
bool TopicBatch::Fits(const Message& message) const {
  if (topic_.items) return updates_.size() < kMaxItemUpdates && kept_bytes_ < kMaxItemBytes;
  if (events_.size() > kMaxIngestEvents - kMaxMessageEvents) return false;
  if (events_.empty()) return true;
  return day_ == (message.arrival ? std::optional(message.arrival->day) : std::nullopt);
}

std::optional<IdRef> TopicBatch::FindMisrouted(size_t first, int32_t partition) const {
  if (!partition_of_) return {};
  for (size_t i = first; i < events_.size(); ++i) {
    if (partition_of_(events_[i].user) != static_cast<uint32_t>(partition)) return events_[i].user;
  }
  return {};
}

void TopicBatch::Bury(const Message& message, std::string reason, size_t bytes_most,
                      bool misrouted) {
  Of(message.partition).dead_letters.push_back(message.offset);
  dead_letters_.push_back({message.partition, message.offset, std::move(reason),
                           std::string(message.key.substr(0, bytes_most)),
                           std::string(message.payload.substr(0, bytes_most)), misrouted});
  if (message.headers) dead_letters_.back().headers = message.headers();
}

void TopicBatch::Refuse(const Message& message, std::string reason) {
  Pass(message);
  Bury(message, std::move(reason), kRefusedBytes, false);
}

void TopicBatch::Add(const Message& message) {
  assert(Fits(message));
  if (topic_.items) return AddItems(message);
  Progress& progress = Pass(message);
  const size_t before = events_.size();
  Record record{.payload = message.payload,
                .user_header = message.user_header,
                .item_header = message.item_header,
                .at_ms = message.at_ms};
  if (message.key.data() != nullptr) record.key = message.key;
  Status status = decoder_.Decode(record, &arena_, &events_, &watches_, &beside_, &deletions_);
  const std::optional<IdRef> misrouted =
      status.ok() ? FindMisrouted(before, message.partition) : std::nullopt;
  if (misrouted) {
    status = Status::InvalidArgument("misrouted: user \"" + misrouted->ToString() +
                                     "\" belongs to partition " +
                                     std::to_string(partition_of_(*misrouted)));
    events_.resize(before);
    if (decoder_.HasBeside()) beside_.resize(before);
  }
  if (status.ok()) {
    if (topic_.marks && events_.size() > before) Keep(message);
    std::optional<int64_t> arrived_ms;
    if (message.arrival) arrived_ms = message.arrival->at_ms;
    if (before == 0) day_ = message.arrival ? std::optional(message.arrival->day) : std::nullopt;
    origins_.resize(events_.size(), {progress.source, message.offset, arrived_ms});
    return;
  }
  Bury(message, ReasonOf(status), std::string::npos, misrouted.has_value());
}

void TopicBatch::AddItems(const Message& message) {
  const uint32_t source = Pass(message).source;
  const size_t before = updates_.size();
  const Status status = DecodeItems(message.payload, topic_.framing, *types_, &arena_, &updates_);
  if (!status.ok()) return Bury(message, ReasonOf(status), std::string::npos, false);
  if (updates_.size() == before) return;
  Keep(message);
  origins_.resize(updates_.size(), {source, message.offset});
}

void TopicBatch::Keep(const Message& message) {
  DeadLetter& kept = kept_[{message.partition, message.offset}];
  kept = {message.partition,
          message.offset,
          {},
          std::string(message.key),
          std::string(message.payload)};
  if (message.headers) kept.headers = message.headers();
  kept_bytes_ += message.key.size() + message.payload.size();
}

std::vector<UserMark> TopicBatch::MarksOf() const {
  std::vector<UserMark> marks;
  if (!topic_.marks) return marks;
  marks.reserve(events_.size());
  for (size_t i = 0; i < events_.size(); ++i) {
    marks.push_back({events_[i].user,
                     {.group = beside_[i].group,
                      .until_ms = beside_[i].until_ms,
                      .at_ms = {events_[i].at_ms}}});
  }
  return marks;
}

std::vector<ItemSource> TopicBatch::ItemSources() const {
  std::vector<ItemSource> sources;
  for (const auto& [partition, progress] : partitions_) {
    sources.push_back({topic_.topic, partition, progress.next_offset,
                       progress.last ? progress.last->time_ms : -1});
  }
  return sources;
}

void TopicBatch::BuryOne(size_t position, std::string reason) {
  const Origin& origin = origins_[position];
  for (auto& [partition, progress] : partitions_) {
    if (progress.source != origin.source) continue;
    const auto kept = kept_.find({partition, origin.offset});
    if (kept == kept_.end()) return;  // another one of it was refused
    std::vector<int64_t>& letters = progress.dead_letters;
    letters.insert(std::lower_bound(letters.begin(), letters.end(), origin.offset), origin.offset);
    kept->second.reason = std::move(reason);
    dead_letters_.push_back(std::move(kept->second));
    kept_.erase(kept);
    return;
  }
}

void TopicBatch::Step(int32_t partition, int64_t next_offset) {
  Progress& progress = Of(partition);
  progress.next_offset = std::max(progress.next_offset, next_offset);
}

void TopicBatch::Hold(int32_t partition, int64_t next_offset) {
  assert(!partitions_.contains(partition) || partitions_.at(partition).messages == 0);
  Step(partition, next_offset);
  Of(partition).held = true;
}

IngestBatch TopicBatch::View(const std::map<int32_t, int64_t>& applied) {
  steps_.resize(partitions_.size());
  for (const auto& [partition, progress] : partitions_) {
    steps_[progress.source] = {topic_.topic,         static_cast<uint32_t>(partition),
                               progress.next_offset, progress.dead_letters,
                               progress.last,        progress.held};
    const auto known = applied.find(partition);
    if (known != applied.end()) steps_[progress.source].from = known->second;
  }
  if (topic_.marks) return {.collection = topic_.collection, .sources = steps_};
  surfaces_.clear();
  for (size_t i = 0; i < beside_.size(); ++i) {
    if (topic_.fact != Fact::kPlayed) surfaces_.push_back(beside_[i].surface);
    events_[i].of = beside_[i].of;
    events_[i].same_as = beside_[i].same_as;
  }
  return {.collection = topic_.collection,
          .fact = topic_.fact,
          .sources = steps_,
          .plays = events_,
          .origins = origins_,
          .surfaces = surfaces_};
}

void TopicBatch::Clear() {
  events_.clear();
  watches_.clear();
  beside_.clear();
  updates_.clear();
  kept_.clear();
  kept_bytes_ = 0;
  origins_.clear();
  day_.reset();
  partitions_.clear();
  dead_letters_.clear();
  deletions_ = 0;
  arena_.Clear();
}

}  // namespace seendb::ingest
