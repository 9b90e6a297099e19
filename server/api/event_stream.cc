// POST /plays, /impressions and /exposures as NDJSON: one event a line, any number of lines,
// recorded in batches as they come. A bad line is refused and counted; the others are taken.

#include <algorithm>
#include <chrono>
#include <deque>

#include "api/catalog.h"
#include "api/event_counts.h"
#include "api/events_call.h"
#include "api/refusals.h"
#include "api/routes.h"
#include "api/status_http.h"
#include "migration/observer.h"
#include "wire/arena.h"
#include "wire/events_json.h"
#include "wire/exposures_json.h"
#include "wire/json_syntax.h"
#include "wire/lines.h"
#include "wire/refusal_names.h"

namespace seendb::api {
namespace {

/// Events recorded together, and the bytes of their ids.
constexpr size_t kBatch = 4'096;
constexpr size_t kBatchBytes = 128u << 10;
/// Their texts lie in blocks of so many bytes.
constexpr size_t kBlockBytes = 16u << 10;
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
    const size_t taken = lines_.Read(
        bytes, last, [this] { return Failed(); },
        [this](uint64_t index, std::string_view line) { TakeLine(index, line); },
        [this](uint64_t index, Status status) { Refuse(index, std::move(status)); });
    const bool old = std::chrono::steady_clock::now() - flushed_ > kBatchAge;
    if (last || old) Flush();
    if (last && !Failed()) AskForTheDay();
    return taken;
  }

  bool AnswersAsItGoes() const override { return false; }
  bool Failed() const override { return !failure_.ok(); }
  size_t HeldBytes() const override {
    return lines_held_.capacity() * sizeof(uint64_t) + plays_.capacity() * sizeof(Play) +
           surfaces_.capacity() * sizeof(std::string_view) + watches_.size() * sizeof(Watch) +
           group_bytes_ + texts_.HeldBytes();
  }

  void Finish(http::Response* response) override {
    if (Failed()) return http::WriteError(ToHttpError(failure_), response);
    AnswerRecorded(recorded_, response);
  }

 private:
  void TakeLine(uint64_t index, std::string_view line) {
    wire::JsonDocument document(&context_.unsafe_integers);
    Play event;
    Watch watch;
    std::string_view surface;
    Status status = Parse(line, &document, &event, &watch, &surface, &groups_read_);
    if (!status.ok()) {
      if (recorded_.refusals.size() < kMaxRefusals) {
        status = wire::ExplainSyntax(std::move(status), line, /*takes_ndjson=*/false);
      }
      return Refuse(index, std::move(status));
    }
    // The parser's views die with their line.
    Hold(&event.user);
    Hold(&event.item);
    Hold(&event.day);
    if (event.watch != nullptr) {
      Hold(&watch.device);
      Hold(&watch.fields);
      event.watch = &watches_.emplace_back(watch);
    }
    Hold(&event.of);
    Hold(&event.same_as);
    plays_.push_back(event);
    if (kind_ == EventKind::kExposures) {
      Hold(&surface);
      surfaces_.push_back(surface);
    }
    lines_held_.push_back(index);
    if (plays_.size() >= kBatch || text_bytes_ >= kBatchBytes) Flush();
  }

  Status Parse(std::string_view line, wire::JsonDocument* document, Play* event, Watch* watch,
               std::string_view* surface, wire::EventGroupsReader* groups) const {
    if (kind_ != EventKind::kExposures) {
      return wire::ParseEvent(line, document, event, kind_ == EventKind::kPlays ? watch : nullptr,
                              groups);
    }
    Exposure exposure;
    Status status = wire::ParseExposure(line, document, &exposure, groups);
    *event = {.user = exposure.user,
              .item = exposure.item,
              .at_ms = exposure.at_ms,
              .of = exposure.of,
              .same_as = exposure.same_as};
    *surface = exposure.surface;
    return status;
  }

  void Hold(std::string_view* text) {
    if (text->empty()) return;
    *text = texts_.Copy(*text);
    text_bytes_ += text->size();
  }
  void Hold(IdRef* id) {
    if (id->is_number()) return;
    std::string_view text = id->text();
    Hold(&text);
    *id = IdRef(text);
  }

  void Hold(EventGroups* groups) {
    if (groups->empty()) return;
    std::vector<std::string_view>& held = groups_.emplace_back(groups->begin(), groups->end());
    for (std::string_view& group : held) Hold(&group);
    group_bytes_ += held.capacity() * sizeof(std::string_view);
    *groups = held;
  }

  void Refuse(uint64_t line, Status status) {
    ++recorded_.refused;
    ++recorded_.refused_by[wire::kMalformed];
    CountEvents(entry_->counters, kind_, 0, 1);
    NoteMalformed(&context_.refusals, entry_->counters, kind_, collection_, status);
    std::vector<wire::RefusedEvent>& told = recorded_.refusals;
    if (told.size() < kMaxRefusals) told.push_back({line, std::move(status)});
  }

  void Flush();
  void NoteFirsts(const RecordResult& result);
  void AskForTheDay();
  Result<RecordResult> Record() const;

  Context& context_;
  const std::string collection_;
  const std::shared_ptr<const CatalogEntry> entry_;
  const EventKind kind_;
  wire::NumberedLines lines_;
  // The events of the batch, and their lines; impressions are plays of which nothing more is known,
  // and so are exposures, but for their surfaces.
  std::vector<Play> plays_;
  std::vector<std::string_view> surfaces_;
  std::vector<uint64_t> lines_held_;
  std::deque<Watch> watches_;  // they stay where they are
  std::deque<std::vector<std::string_view>> groups_;
  size_t group_bytes_ = 0;
  wire::EventGroupsReader groups_read_;  // of the line
  wire::Arena texts_{kBlockBytes};
  size_t text_bytes_ = 0;
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
  wire::Recorded recorded_;
  Status failure_;
};

Result<RecordResult> EventStream::Record() const {
  Engine& engine = *context_.engine.load(std::memory_order_acquire);
  if (kind_ == EventKind::kPlays) {
    const RecordOptions options{collection_};
    Result<RecordResult> result = engine.RecordPlays(plays_, options);
    if (result.ok()) {
      migration::Observer(context_.migrations).Recorded(options.collection, plays_, *result);
    }
    return result;
  }
  if (kind_ == EventKind::kExposures) {
    std::vector<Exposure> exposures;
    exposures.reserve(plays_.size());
    for (size_t i = 0; i < plays_.size(); ++i) {
      const Play& one = plays_[i];
      exposures.push_back({one.user, one.item, one.at_ms, surfaces_[i], one.of, one.same_as});
    }
    return engine.RecordExposures(exposures, {collection_});
  }
  std::vector<Impression> impressions;
  impressions.reserve(plays_.size());
  for (const Play& play : plays_) {
    impressions.push_back({.user = play.user,
                           .item = play.item,
                           .at_ms = play.at_ms,
                           .of = play.of,
                           .same_as = play.same_as});
  }
  return engine.RecordImpressions(impressions, {collection_});
}

void EventStream::Flush() {
  flushed_ = std::chrono::steady_clock::now();
  if (plays_.empty() || Failed()) return;
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
  std::vector<wire::RefusedEvent>& told = recorded_.refusals;
  for (const Refusal& refusal : result->refusals) {
    told.push_back({lines_held_[refusal.index], refusal.status});
  }
  // Lines refused by themselves came before those of the batch; only the first count.
  std::sort(told.begin(), told.end(),
            [](const auto& a, const auto& b) { return a.index < b.index; });
  told.resize(std::min(told.size(), kMaxRefusals));
  NoteFirsts(*result);
  plays_.clear();
  surfaces_.clear();
  lines_held_.clear();
  watches_.clear();
  groups_.clear();
  group_bytes_ = 0;
  texts_.Clear();
  text_bytes_ = 0;
}

void EventStream::NoteFirsts(const RecordResult& result) {
  if (result.day.empty()) return;
  recorded_.day = result.day;
  uint64_t& count = recorded_.first_today_count.emplace(recorded_.first_today_count.value_or(0));
  count += result.first_today.size();
  for (const uint32_t index : result.first_today) {
    if (recorded_.first_today.size() == kMaxFirstToday) break;
    recorded_.first_today.push_back(lines_held_[index]);
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

std::unique_ptr<http::BodyStream> StreamExposures(Context& context, const http::Plan& plan,
                                                  Status* refusal) {
  return MakeStream(context, plan, EventKind::kExposures, refusal);
}

}  // namespace seendb::api
