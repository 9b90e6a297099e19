#include "router/event_lines.h"

#include <algorithm>
#include <utility>

#include "api/refusals.h"
#include "api/status_http.h"
#include "base/facts.h"
#include "router/answers.h"
#include "router/hop_request.h"
#include "wire/exposures_json.h"
#include "wire/json_syntax.h"
#include "wire/refusal_names.h"

namespace seendb::router {
namespace {

using Clock = std::chrono::steady_clock;

/// Events that go into the log together, over all partitions, and their bytes.
constexpr size_t kBatch = 4'096, kBatchBytes = 1u << 20;
/// A slow sender's events wait no longer than this for their batch to fill.
constexpr std::chrono::milliseconds kBatchAge{200};
/// First plays of the day that are listed; the others are counted.
constexpr size_t kFirstTodayMost = 1'000;

}  // namespace

void AddRecorded(const EventBatch::Outcome& outcome, wire::Recorded counted, wire::Recorded* to) {
  to->accepted += counted.accepted;
  to->refused += counted.refused;
  for (size_t i = 0; i < counted.refused_by.size(); ++i) to->refused_by[i] += counted.refused_by[i];
  to->outside_window += counted.outside_window;
  to->beyond_cap += counted.beyond_cap;
  for (size_t i = 0; i < counted.refusals.size(); ++i) {
    to->refusals.push_back({outcome.refused_at[i], std::move(counted.refusals[i].status)});
  }
  std::sort(to->refusals.begin(), to->refusals.end(),
            [](const auto& a, const auto& b) { return a.index < b.index; });
  to->refusals.resize(std::min(to->refusals.size(), kMaxRefusals));
  if (counted.day.empty()) return;
  to->day = std::move(counted.day);
  to->first_today.insert(to->first_today.end(), outcome.first_at.begin(), outcome.first_at.end());
}

void AnswerWritten(const wire::Recorded& recorded, bool pending, const Positions& positions,
                   http::Response* response) {
  constexpr unsigned kAccepted = 202;
  api::AnswerRecorded(recorded, response);
  if (pending) {
    response->status = kAccepted;
    response->error_code = {};
    AddMember("pending", "true", &response->body);
  }
  if (!positions.empty()) {
    response->headers.append("\r\nSeenDB-Position: ").append(PositionText(positions));
  }
}

std::unique_ptr<http::BodyStream> EventLines::Make(ClusterRouter* router,
                                                   const http::RequestHead& head,
                                                   const http::Plan& plan, Status* refusal) {
  std::string collection = "default";
  for (const auto& [name, value] : plan.query) {
    if (name == "collection") collection = value;
  }
  *refusal = api::MayUse(api::CallerOf(plan).get(), collection);
  if (!refusal->ok()) return nullptr;
  auto entry = router->context_.catalog.Find(collection);
  if (!entry) {
    *refusal = router->context_.catalog.Unknown(collection, "/collection");
    return nullptr;
  }
  return std::make_unique<EventLines>(router, head, plan, std::move(collection), std::move(entry));
}

EventLines::EventLines(ClusterRouter* router, const http::RequestHead& head, const http::Plan& plan,
                       std::string collection, std::shared_ptr<const api::CatalogEntry> entry)
    : router_(*router),
      head_(head),
      headers_(AppendHeaders(head, plan, 0)),
      collection_(std::move(collection)),
      entry_(std::move(entry)),
      kind_(EventKindOf(api::Routes()[static_cast<size_t>(plan.route)])),
      lines_(router->context_.limits.line_bytes) {}

bool EventLines::Later(int64_t* later_us) const {
  *later_us = 0;
  return under_way_;
}

size_t EventLines::Take(std::string_view bytes, bool last, std::string*) {
  if (under_way_) TakeResults();
  const auto full = [this] {
    return batch_ && (batch_->events() >= kBatch || batch_->bytes() >= kBatchBytes);
  };
  const size_t taken = lines_.Read(
      bytes, last, [&] { return Failed() || full(); },
      [this](uint64_t number, std::string_view line) { TakeLine(number, line); },
      [this](uint64_t number, Status status) { Refuse(number, std::move(status)); });
  const bool due = last || full() || Clock::now() - sent_at_ > kBatchAge;
  if (due && !Failed() && batch_) Send();
  return taken;
}

Status EventLines::ParseLine(std::string_view line, wire::JsonDocument* document, Play* event) {
  if (kind_ != api::EventKind::kExposures) {
    Watch watch;
    Status status = wire::ParseEvent(line, document, event,
                                     kind_ == api::EventKind::kPlays ? &watch : nullptr, &groups_);
    event->watch = nullptr;
    return status.ok() ? CheckGroups(event->of, event->same_as) : status;
  }
  Exposure exposure;
  const Status status = wire::ParseExposure(line, document, &exposure, &groups_);
  *event = {.user = exposure.user, .item = exposure.item, .at_ms = exposure.at_ms};
  return status.ok() ? CheckGroups(exposure.of, exposure.same_as) : status;
}

void EventLines::TakeLine(uint64_t index, std::string_view line) {
  wire::JsonDocument document(&router_.context_.unsafe_integers);
  Play event;
  Status status = ParseLine(line, &document, &event);
  if (!status.ok()) {
    if (recorded_.refusals.size() < kMaxRefusals) {
      status = wire::ExplainSyntax(std::move(status), line, /*takes_ndjson=*/false);
    }
    return Refuse(index, std::move(status));
  }
  if (!batch_) batch_.emplace(kind_, collection_);
  const Engine& engine = *router_.context_.engine.load(std::memory_order_acquire);
  const uint32_t partition = engine.ShardOf(event.user);
  const std::string user = event.user.ToString();
  if (kind_ != api::EventKind::kImpressions) {
    batch_->AddEvent(partition, user, index, line, groups_.any());
  } else {
    batch_->AddImpression(partition, user, index,
                          {.user = event.user,
                           .item = event.item,
                           .at_ms = event.at_ms,
                           .of = event.of,
                           .same_as = event.same_as});
  }
}

void EventLines::Refuse(uint64_t index, Status status) {
  ++recorded_.refused;
  ++recorded_.refused_by[wire::kMalformed];
  api::CountEvents(entry_->counters, kind_, 0, 1);
  api::NoteMalformed(&router_.context_.refusals, entry_->counters, kind_, collection_, status);
  if (recorded_.refusals.size() < kMaxRefusals) {
    recorded_.refusals.push_back({index, std::move(status)});
  }
}

void EventLines::Send() {
  sent_at_ = Clock::now();
  under_way_ = true;
  const auto resume = waiting_->Resume();
  router_.writer_.AppendAll(
      batch_->TakeRecords(), headers_, UntilOf(head_, 0),
      [resume](Results results) { resume(std::make_shared<Results>(std::move(results))); });
}

void EventLines::TakeResults() {
  const auto came = std::static_pointer_cast<Results>(waiting_->Take().given);
  under_way_ = false;
  if (came == nullptr) {
    failure_ = Status::Unavailable("the outcome is open; repeating is harmless");
    return;
  }
  const EventBatch::Outcome outcome = batch_->Merge(*came, &positions_);
  batch_.reset();
  AddRecorded(outcome,
              api::CountRecorded(&router_.context_, *entry_, kind_, collection_, outcome.recorded),
              &recorded_);
  pending_ = pending_ || outcome.pending;
  failure_ = outcome.failure;
}

void EventLines::Finish(http::Response* response) {
  if (Failed()) return http::WriteError(api::ToHttpError(failure_), response);
  if (!recorded_.day.empty()) recorded_.first_today_count = recorded_.first_today.size();
  recorded_.first_today.resize(std::min(recorded_.first_today.size(), kFirstTodayMost));
  AnswerWritten(recorded_, pending_, positions_, response);
}

}  // namespace seendb::router
