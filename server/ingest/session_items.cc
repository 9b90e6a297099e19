// The part of Session that reads updates of items.

#include <algorithm>
#include <limits>

#include "ingest/put_items.h"
#include "ingest/session.h"
#include "ops/log.h"

namespace seendb::ingest {

// Settings of the topic that the brokers do not tell are taken to be right.
void Session::LookAtItems(Reader* reader) {
  if (reader->partitions.empty()) return;
  if (items_->types() == nullptr) {
    reader->unfit = "there is no schema of items";
    reader->unfit_alarm = "no_schema";
  } else if (const Status kept = CheckNotCompacted(handle_.get(), reader->topic.topic, kAskMs);
             !kept.ok()) {
    reader->unfit = kept.message();
    reader->unfit_alarm = "compacted";
  }
}

// The stored offset is of a log that is gone.
void Session::ReadAnew(Reader* reader, int32_t partition) {
  const std::string& topic = reader->topic.topic;
  changed_ = true;
  Alarm(*reader, partition, kBeyondEnd, "the topic was made anew, and is read from its beginning");
  const auto watermarks = Watermarks(handle_.get(), topic, partition, kAskMs);
  if (!watermarks.ok()) return;  // the next session finds out, too
  const ItemSource begin{topic, partition, watermarks->first};
  Insist("items_put_off", [&] { return items_->apply({}, {&begin, 1}).status(); });
}

bool Session::BuryFrom(const Reader& reader, size_t first) {
  const std::vector<DeadLetter>& all = reader.batch.dead_letters();
  if (first == all.size()) return true;
  const std::vector<DeadLetter> letters(all.begin() + static_cast<ptrdiff_t>(first), all.end());
  return Insist("dead_letters_put_off",
                [&] { return dead_letters_->Write(reader.topic.topic, letters); });
}

// An update that is not taken is a dead letter before the offsets pass it.
bool Session::ApplyItems(Reader* reader) {
  TopicBatch& batch = reader->batch;
  const std::string& topic = reader->topic.topic;
  const std::vector<ItemSource> sources = batch.ItemSources();
  if (!BuryFrom(*reader, 0)) return false;
  const size_t buried = batch.dead_letters().size();
  ItemsPut put;
  const bool applied = Insist("items_put_off", [&] {
    Result<ItemsPut> done = PutItems(*items_, batch.updates(), sources);
    if (!done.ok()) return done.status();
    put = std::move(done).value();
    return Status();
  });
  if (!applied) return false;
  for (auto& [update, reason] : put.not_taken) batch.BuryOne(update, std::move(reason));
  if (!BuryFrom(*reader, buried)) return false;
  if (!put.noted && !Insist("items_put_off", [&] { return items_->apply({}, sources).status(); })) {
    return false;
  }
  RecordResult counted;
  counted.accepted = put.applied;
  NoteOutcome(*reader, counted);
  for (const DeadLetter& letter : batch.dead_letters()) {
    table_->AddDeadLetters(topic, letter.partition, 1);
  }
  for (const auto& [partition, progress] : batch.partitions()) {
    table_->AddMessages(topic, partition, progress.messages);
    reader->applied[partition] = progress.next_offset;
    if (!progress.last) continue;
    int64_t& current_ms = reader->current_ms[partition];
    current_ms = std::max(current_ms, progress.last->time_ms);
  }
  batch.Clear();
  return true;
}

// A partition that is read to its end is as new as the clock; else as the newest message that was
// applied. While the brokers are away, nobody knows the end.
void Session::TellCurrent() {
  const int64_t now_ms = engine_->NowMs();
  int64_t least_ms = now_ms;
  for (const auto& reader : readers_) {
    for (const int32_t partition : reader->partitions) {
      int64_t& current_ms = reader->current_ms[partition];
      const auto applied = reader->applied.find(partition);
      if (!away_ && applied != reader->applied.end() &&
          table_->IsAtEnd(reader->topic.topic, partition, applied->second)) {
        current_ms = now_ms;
      }
      least_ms = std::min(least_ms, current_ms);
    }
  }
  items_->current(least_ms);
}

}  // namespace seendb::ingest
