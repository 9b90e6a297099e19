#include "simulation/ingest_call.h"

#include <algorithm>

#include "simulation/checks.h"
#include "simulation/checks_days.h"
#include "simulation/checks_ingest.h"

namespace seendb::simulation {

void IngestCall::Call() {
  if (!Knows()) return;
  if (operation_.verb == Verb::kForget) {
    status_ = world_.engine().ForgetTopic(operation_.topic);
    return;
  }
  ChooseParts();
  if (!parts_.empty()) Ingest();
}

// As a reader of the log does it: from where the engine says, or, `behind`, a few messages earlier.
void IngestCall::ChooseParts() {
  const std::vector<SourceInfo> known = world_.engine().Sources();
  for (const Source& source : model().sources().SourcesOf(operation_.topic)) {
    const auto& log = model().sources().LogOf(source);
    Part part;
    part.source = source;
    for (const SourceInfo& info : known) {
      if (info.topic == source.first && info.partition == source.second) {
        part.told = info.next_offset;
      }
    }
    part.from = std::max<int64_t>(part.told.value_or(0) - operation_.behind, 0);
    const auto end = static_cast<int64_t>(log.size());
    part.to = operation_.filter.limit == 0
                  ? end
                  : std::min(end, part.from + static_cast<int64_t>(operation_.filter.limit));
    if (part.from >= part.to) continue;
    for (int64_t offset = part.from; offset < part.to; ++offset) {
      const Message& message = log[static_cast<size_t>(offset)];
      if (message.dead) {
        part.dead.push_back(offset);
        continue;
      }
      const ScriptEvent& event = message.event;
      sent_.push_back({event.user, event.item, event.at_ms.value(),
                       event.watch.value_or(ScriptWatch{}), event.day});
      origins_.push_back({static_cast<uint32_t>(parts_.size()), offset});
    }
    parts_.push_back(std::move(part));
  }
}

void IngestCall::Ingest() {
  const std::string collection = CollectionOf(operation_.topic);
  std::vector<SourceStep> steps;
  for (const Part& part : parts_) {
    steps.push_back({part.source.first, part.source.second, part.to, part.dead,
                     SourceMark{part.to - 1, SourcesModel::TimeOf(part.source, part.to - 1)}});
  }
  std::vector<Watch> watches;
  std::vector<Play> plays;
  watches.reserve(sent_.size());
  for (const Sent& one : sent_) {
    const ScriptWatch& watch = one.watch;
    watches.push_back({watch.progress_s, watch.duration_s, watch.device, watch.fields});
    plays.push_back({IdRef(one.user), IdRef(one.item), one.at_ms});
    plays.back().day = one.day;
    plays.back().watch = &watches.back();
  }
  const bool before = ReadRows(&rows_before_);
  const Result<IngestResult> result =
      world_.engine().Ingest({.collection = collection,
                              .fact = IsServed(operation_.topic) ? Fact::kServed : Fact::kPlayed,
                              .sources = steps,
                              .plays = plays,
                              .origins = origins_,
                              .outbox_first_plays = true});
  status_ = result.status();
  if (!result.ok()) return;
  result_ = *result;
  rows_read_ = before && ReadRows(&rows_);
  if (!operation_.not_told) (void)world_.engine().DeleteOutbox(rows_);
}

bool IngestCall::ReadRows(std::vector<OutboxRow>* rows) {
  for (const OutboxSource& source : world_.engine().OutboxSources()) {
    if (source.topic != operation_.topic) continue;
    std::vector<OutboxRow> some;
    if (!world_.engine().ReadOutbox(source, -1, SIZE_MAX, &some).ok()) return false;
    rows->insert(rows->end(), some.begin(), some.end());
  }
  return true;
}

// ---- What the model expects ----

IngestCall::Expectation IngestCall::Expect() {
  Expectation expected;
  expected.moves.resize(model().shards());
  for (size_t part = 0; part < parts_.size(); ++part) ExpectPart(part, &expected);
  return expected;
}

void IngestCall::ExpectPart(size_t index, Expectation* expected) {
  const Part& part = parts_[index];
  const std::string collection = CollectionOf(operation_.topic);
  const bool served = IsServed(operation_.topic);
  std::vector<SourceMove> moves(model().shards(), {part.source, part.to, {}});
  for (size_t i = 0; i < sent_.size(); ++i) {
    if (origins_[i].source != index) continue;
    const uint32_t shard = model().ShardOf(sent_[i].user);
    if (origins_[i].offset < model().sources().NextOf(shard, part.source).value_or(0)) {
      ++expected->repeated;
      continue;
    }
    SourceCounts& more = moves[shard].more;
    if (status_.ok()) sent_[i].taken = !IsRefused(result_, i);
    const bool takes = model().Takes(collection, sent_[i]);
    ++(served ? (takes ? more.impressions_accepted : more.impressions_refused)
              : (takes ? more.plays_accepted : more.plays_refused));
    expected->fresh.push_back(sent_[i]);
    expected->fresh_at.push_back(i);
    if (takes) expected->taken.push_back(sent_[i]);
  }
  for (uint32_t shard = 0; shard < model().shards(); ++shard) {
    const std::optional<int64_t> next = model().sources().NextOf(shard, part.source);
    if (next && *next >= part.to) continue;
    // They have no user: one shard counts them, by the partition.
    if (shard == part.source.second % model().shards()) {
      moves[shard].more.dead_letters = static_cast<uint64_t>(
          part.dead.end() - std::lower_bound(part.dead.begin(), part.dead.end(), next.value_or(0)));
    }
    expected->moves[shard].push_back(moves[shard]);
  }
}

// ---- Accounting ----

Status IngestCall::Account(bool alone) {
  if (!Knows()) return {};
  if (operation_.verb == Verb::kForget) return AccountForget();
  if (parts_.empty()) return {};
  return AccountIngest(alone);
}

Status IngestCall::AccountIngest(bool alone) {
  if (alone) world_.Note(status_);
  for (const Part& part : parts_) {
    if (part.told == model().sources().LowestOf(part.source)) continue;
    throw Violation("ingest " + operation_.topic + ": to be read from another offset");
  }
  if (status_.code() == StatusCode::kBusy) {
    ++world_.expected.busy;
    if (alone) world_.CheckFull();
    return status_;
  }
  const Expectation expected = Expect();
  CheckTold(expected);
  const bool ok = status_.ok();
  if (!ok) world_.CheckExcused("ingest", status_);
  const std::string collection = CollectionOf(operation_.topic);
  if (ok) CountDone(expected);
  model().Ingest(collection, IsServed(operation_.topic), expected.fresh, expected.moves, ok);
  if (ok && model().PolicyOf(collection).durability == Durability::kSync) {
    for (uint32_t shard = 0; shard < model().shards(); ++shard) {
      if (!expected.moves[shard].empty()) model().Synced(shard);
    }
  }
  if (ok && alone) CheckSources(model(), &world_.engine());
  return status_;
}

// A row is there for each first play, at the offset of its message; rows of an earlier call, whose
// outcome was open, may be there beside them.
void IngestCall::CheckTold(const Expectation& expected) {
  if (!rows_read_) return;
  using Place = std::pair<uint32_t, int64_t>;    // partition, offset
  std::set<std::pair<Place, std::string>> told;  // with the user
  std::set<Place> before;
  const std::string collection = CollectionOf(operation_.topic);
  RecordResult recorded;
  recorded.day = model().days().Today(collection);
  for (const OutboxRow& row : rows_before_) before.insert({row.partition, row.offset});
  size_t fresh = 0;
  for (const OutboxRow& row : rows_) {
    const Place place(row.partition, row.offset);
    for (const FirstOfDay& first : row.first_plays) {
      if (first.day == recorded.day) told.insert({place, first.user});
      if (!before.contains(place)) ++fresh;
    }
  }
  if (IsServed(operation_.topic)) {
    if (fresh > 0) throw Violation("ingest: an impression is told as a first play");
    return;
  }
  size_t found = 0;
  for (const auto& [index, first] : model().days().Expect(collection, expected.fresh)) {
    const Origin& origin = origins_[expected.fresh_at[index]];
    const Place place(parts_[origin.source].source.second, origin.offset);
    if (!told.contains({place, expected.fresh[index].user})) continue;
    recorded.first_today.push_back(index);
    if (!before.contains(place)) ++found;
  }
  if (fresh != found) {
    throw Violation("ingest " + operation_.topic + ": a first play is told that there is not");
  }
  CheckFirstPlays(model(), collection, expected.fresh, recorded, world_.ReadsFail(),
                  &world_.tally());
}

void IngestCall::CountDone(const Expectation& expected) {
  const bool served = IsServed(operation_.topic);
  const uint64_t refused = expected.fresh.size() - expected.taken.size();
  if (result_.accepted != expected.taken.size() || result_.refused != refused ||
      result_.repeated != expected.repeated) {
    throw Violation(
        "ingest " + operation_.topic + ": accepted " + std::to_string(result_.accepted) +
        ", refused " + std::to_string(result_.refused) + ", repeated " +
        std::to_string(result_.repeated) + ", expected " + std::to_string(expected.taken.size()) +
        ", " + std::to_string(refused) + ", " + std::to_string(expected.repeated));
  }
  EngineStats& stats = world_.expected;
  (served ? stats.impressions_accepted : stats.plays_accepted) += result_.accepted;
  (served ? stats.impressions_refused : stats.plays_refused) += result_.refused;
  stats.ingest_repeated += result_.repeated;
  world_.tally().ingested += result_.accepted;
  world_.tally().repeated += result_.repeated;
  if (!served) world_.CountVerdicts(CollectionOf(operation_.topic), expected.taken);
}

Status IngestCall::AccountForget() {
  const std::string& topic = operation_.topic;
  world_.Note(status_);
  const std::vector<Source> known = model().sources().Known();
  const bool any = std::any_of(known.begin(), known.end(),
                               [&](const Source& source) { return source.first == topic; });
  if (status_.code() == StatusCode::kNotFound) {
    if (any) throw Violation("forget " + topic + ": it is not known");
    if (operation_.number != 0) model().sources().Empty(topic);
    return {};
  }
  if (status_.ok() && !any) throw Violation("forget " + topic + ": there was nothing to forget");
  if (!status_.ok()) {
    world_.CheckExcused("forget", status_);
    world_.DoubtTopic(topic);
    return status_;
  }
  for (uint32_t shard = 0; shard < model().shards(); ++shard) model().ForgetTopic(shard, topic);
  if (operation_.number != 0) model().sources().Empty(topic);
  return status_;
}

}  // namespace seendb::simulation
