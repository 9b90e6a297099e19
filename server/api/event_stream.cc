// POST /plays and POST /impressions as NDJSON: one event a line, any number of lines, recorded in
// batches as they come. A bad line is refused and counted; the others are taken.

#include <algorithm>
#include <chrono>

#include "api/catalog.h"
#include "api/event_counts.h"
#include "api/events_json.h"
#include "api/json_syntax.h"
#include "api/lines.h"
#include "api/refusals.h"
#include "api/routes.h"
#include "api/status_http.h"

namespace seendb::api {
namespace {

/// Events recorded together, and the bytes of their ids.
constexpr size_t kBatch = 4'096;
constexpr size_t kBatchBytes = 128u << 10;
/// A slow sender's events wait no longer than this for their batch to fill.
constexpr std::chrono::milliseconds kBatchAge{200};
/// First plays of the day that are listed; the others are counted.
constexpr size_t kMaxFirstToday = 1'000;

class EventStream final : public http::BodyStream {
 public:
  EventStream(Context& context, std::string collection, std::shared_ptr<const CatalogEntry> entry,
              EventKind kind)
      : context_(context),
        collection_(std::move(collection)),
        entry_(std::move(entry)),
        kind_(kind),
        lines_(context.limits.line_bytes) {}

  size_t Take(std::string_view bytes, bool last, std::string*) override {
    size_t taken = 0;
    std::string_view line;
    while (!Failed()) {
      const LineCutter::Found found = lines_.Next(bytes, last, &taken, &line);
      if (found == LineCutter::Found::kNeedsMore) break;
      const uint64_t index = next_line_++;
      if (found == LineCutter::Found::kTooLong) {
        Refuse(index, Status::InvalidArgument(
                          "line over " + std::to_string(context_.limits.line_bytes) + " bytes"));
      } else if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
        TakeLine(index, line);
      }
    }
    const bool old = std::chrono::steady_clock::now() - flushed_ > kBatchAge;
    if (last || old) Flush();
    if (last && !Failed()) AskForTheDay();
    return taken;
  }

  bool AnswersAsItGoes() const override { return false; }
  bool Failed() const override { return !failure_.ok(); }
  size_t HeldBytes() const override {
    return held_.capacity() * sizeof(Held) + watches_.capacity() * sizeof(HeldWatch) +
           texts_.capacity();
  }

  void Finish(http::Response* response) override {
    if (Failed()) return http::WriteError(ToHttpError(failure_), response);
    AnswerRecorded(recorded_, response);
  }

 private:
  /// An event whose texts lie in texts_, since the parser's views die with their line.
  struct Held {
    uint64_t line;
    std::optional<int64_t> at_ms;
    IdRef user, item;
    std::string_view day;
    size_t user_begin, item_begin, day_begin;
    bool watched;  // the next of watches_ is its
  };
  /// What the player said, its texts likewise.
  struct HeldWatch {
    Watch watch;
    size_t device_begin, fields_begin;
  };

  void TakeLine(uint64_t index, std::string_view line) {
    JsonDocument document;
    Play event;
    Watch watch;
    Status status =
        ParseEvent(line, &document, &event, kind_ == EventKind::kPlays ? &watch : nullptr);
    if (!status.ok()) {
      if (recorded_.refusals.size() < kMaxRefusals) {
        status = ExplainSyntax(std::move(status), line, /*takes_ndjson=*/false);
      }
      return Refuse(index, std::move(status));
    }
    const size_t user_begin = Hold(event.user);
    const size_t item_begin = Hold(event.item);
    const size_t day_begin = Hold(event.day);
    const bool watched = event.watch != nullptr;
    held_.push_back({index, event.at_ms, event.user, event.item, event.day, user_begin, item_begin,
                     day_begin, watched});
    if (watched) {
      const size_t device_begin = Hold(watch.device);
      watches_.push_back({watch, device_begin, Hold(watch.fields)});
    }
    if (held_.size() >= kBatch || texts_.size() >= kBatchBytes) Flush();
  }

  size_t Hold(std::string_view text) {
    const size_t begin = texts_.size();
    texts_.append(text);
    return begin;
  }
  size_t Hold(const IdRef& id) { return Hold(id.is_number() ? std::string_view() : id.text()); }

  std::string_view TextOf(std::string_view text, size_t begin) const {
    return std::string_view(texts_).substr(begin, text.size());
  }

  IdRef IdOf(const IdRef& id, size_t begin) const {
    return id.is_number() ? id : IdRef(TextOf(id.text(), begin));
  }

  void Refuse(uint64_t line, Status status) {
    ++recorded_.refused;
    ++recorded_.refused_by[ops::kMalformed];
    CountEvents(entry_->counters, kind_, 0, 1);
    NoteMalformed(&context_.refusals, entry_->counters, kind_, collection_, status);
    std::vector<RefusedEvent>& told = recorded_.refusals;
    if (told.size() < kMaxRefusals) told.push_back({line, std::move(status)});
  }

  void Flush();
  void NoteFirsts(const RecordResult& result);
  void AskForTheDay();
  Result<RecordResult> Record() const;
  std::vector<Watch> Watches() const;

  Context& context_;
  const std::string collection_;
  const std::shared_ptr<const CatalogEntry> entry_;
  const EventKind kind_;
  LineCutter lines_;
  uint64_t next_line_ = 0;
  std::vector<Held> held_;
  std::vector<HeldWatch> watches_;
  std::string texts_;
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
  Recorded recorded_;
  Status failure_;
};

std::vector<Watch> EventStream::Watches() const {
  std::vector<Watch> watches;
  watches.reserve(watches_.size());
  for (const HeldWatch& held : watches_) {
    Watch& watch = watches.emplace_back(held.watch);
    watch.device = TextOf(watch.device, held.device_begin);
    watch.fields = TextOf(watch.fields, held.fields_begin);
  }
  return watches;
}

Result<RecordResult> EventStream::Record() const {
  Engine& engine = *context_.engine.load(std::memory_order_acquire);
  if (kind_ == EventKind::kPlays) {
    const std::vector<Watch> watches = Watches();
    const Watch* next = watches.data();
    std::vector<Play> plays;
    plays.reserve(held_.size());
    for (const Held& held : held_) {
      plays.push_back({IdOf(held.user, held.user_begin), IdOf(held.item, held.item_begin),
                       held.at_ms, held.watched ? next++ : nullptr,
                       TextOf(held.day, held.day_begin)});
    }
    return engine.RecordPlays(plays, {collection_});
  }
  std::vector<Impression> impressions;
  impressions.reserve(held_.size());
  for (const Held& held : held_) {
    impressions.push_back(
        {IdOf(held.user, held.user_begin), IdOf(held.item, held.item_begin), held.at_ms});
  }
  return engine.RecordImpressions(impressions, {collection_});
}

void EventStream::Flush() {
  flushed_ = std::chrono::steady_clock::now();
  if (held_.empty() || Failed()) return;
  const Result<RecordResult> result = Record();
  if (!result.ok()) {
    failure_ = result.status();
    return;
  }
  recorded_.accepted += result->accepted;
  recorded_.refused += result->refused;
  for (size_t i = 0; i < kRefusalReasons; ++i) recorded_.refused_by[i] += result->refused_by[i];
  recorded_.outside_window += result->outside_window;
  recorded_.beyond_cap += result->beyond_cap;
  CountEvents(entry_->counters, kind_, result->accepted, result->refused);
  NoteRefused(&context_.refusals, entry_->counters, kind_, collection_, *result);
  std::vector<RefusedEvent>& told = recorded_.refusals;
  for (const Refusal& refusal : result->refusals) {
    told.push_back({held_[refusal.index].line, refusal.status});
  }
  // Lines refused by themselves came before those of the batch; only the first count.
  std::sort(told.begin(), told.end(),
            [](const auto& a, const auto& b) { return a.index < b.index; });
  told.resize(std::min(told.size(), kMaxRefusals));
  NoteFirsts(*result);
  held_.clear();
  watches_.clear();
  texts_.clear();
}

void EventStream::NoteFirsts(const RecordResult& result) {
  if (result.day.empty()) return;
  recorded_.day = result.day;
  uint64_t& count = recorded_.first_today_count.emplace(recorded_.first_today_count.value_or(0));
  count += result.first_today.size();
  for (const uint32_t index : result.first_today) {
    if (recorded_.first_today.size() == kMaxFirstToday) break;
    recorded_.first_today.push_back(held_[index].line);
  }
}

// A stream of no events has met none. What fails here harms nobody.
void EventStream::AskForTheDay() {
  if (!recorded_.day.empty() || kind_ != EventKind::kPlays) return;
  if (const Result<RecordResult> result = Record(); result.ok()) NoteFirsts(*result);
}

std::unique_ptr<http::BodyStream> MakeStream(Context& context, const http::Plan& plan,
                                             EventKind kind, Status* refusal) {
  std::string collection = "default";
  for (const auto& [name, value] : plan.query) {
    if (name == "collection") collection = value;
  }
  *refusal = MayUse(CallerOf(plan).get(), collection);
  if (!refusal->ok()) return nullptr;
  auto entry = context.catalog.Find(collection);
  if (!entry) {
    *refusal = context.catalog.Unknown(collection, "/collection");
    return nullptr;
  }
  return std::make_unique<EventStream>(context, std::move(collection), std::move(entry), kind);
}

}  // namespace

std::unique_ptr<http::BodyStream> StreamPlays(Context& context, const http::Plan& plan,
                                              Status* refusal) {
  return MakeStream(context, plan, EventKind::kPlays, refusal);
}

std::unique_ptr<http::BodyStream> StreamImpressions(Context& context, const http::Plan& plan,
                                                    Status* refusal) {
  return MakeStream(context, plan, EventKind::kImpressions, refusal);
}

}  // namespace seendb::api
