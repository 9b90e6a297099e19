#include "router/mark_lines.h"

#include <algorithm>
#include <utility>

#include "api/commands.h"
#include "api/status_http.h"
#include "router/event_lines.h"
#include "router/hop_request.h"
#include "seendb/marks.h"
#include "wire/json_syntax.h"
#include "wire/marks_json.h"
#include "wire/refusal_names.h"

namespace seendb::router {

std::unique_ptr<http::BodyStream> MarkLines::Make(ClusterRouter* router,
                                                  const http::RequestHead& head,
                                                  const http::Plan& plan, Status* refusal) {
  IdRef user;
  *refusal = api::PathId(plan, 0, "/user", &user);
  if (!refusal->ok()) return nullptr;
  const Engine& engine = *router->context_.engine.load(std::memory_order_acquire);
  return std::make_unique<MarkLines>(router, head, plan, engine.ShardOf(user));
}

MarkLines::MarkLines(ClusterRouter* router, const http::RequestHead& head, const http::Plan& plan,
                     uint32_t partition)
    : router_(*router),
      head_(head),
      headers_(AppendHeaders(head, plan, 0)),
      user_(plan.arguments.front()),
      partition_(partition),
      lines_(router->context_.limits.line_bytes) {}

bool MarkLines::Later(int64_t* later_us) const {
  *later_us = 0;
  return under_way_;
}

size_t MarkLines::Take(std::string_view bytes, bool last, std::string*) {
  if (under_way_) TakeResults();
  const auto full = [this] { return held_.size() >= kMaxMarksAtOnce; };
  const size_t taken = lines_.Read(
      bytes, last, [&] { return Failed() || under_way_ || full(); },
      [this](uint64_t number, std::string_view line) { TakeLine(number, line); },
      [this](uint64_t number, Status status) { Refuse(number, std::move(status)); });
  if (!Failed() && !under_way_ && (full() || (last && !held_.empty()))) Send(false);
  return taken;
}

void MarkLines::TakeLine(uint64_t index, std::string_view line) {
  wire::JsonDocument document(&router_.context_.unsafe_integers);
  const Engine& engine = *router_.context_.engine.load(std::memory_order_acquire);
  Mark mark;
  Status status = wire::ParseMark(line, &document, &mark);
  if (!status.ok()) status = wire::ExplainSyntax(std::move(status), line, /*takes_ndjson=*/false);
  if (status.ok()) status = api::CheckMark(mark, engine.NowMs());
  if (!status.ok()) return Refuse(index, std::move(status));
  Held& held = held_.emplace_back(Held{index, {}});
  wire::AppendMark(mark, &held.json);
  bytes_ += held.json.size() + sizeof(Held);
}

void MarkLines::Refuse(uint64_t line, Status status) {
  ++recorded_.refused;
  ++recorded_.refused_by[wire::kMalformed];
  if (recorded_.refusals.size() < 2 * kMaxRefusals) {
    recorded_.refusals.push_back({line, std::move(status)});
  }
}

void MarkLines::Send(bool each) {
  std::vector<OwnedRecord> records;
  for (const Held& held : held_) {
    const bool begins = each || records.empty();
    if (begins) {
      records.push_back({.partition = partition_,
                         .kind = cluster::LogKind::kMarks,
                         .key = user_,
                         .value = "{\"marks\":["});
    }
    records.back().value.append(begins ? "" : ",").append(held.json);
  }
  for (OwnedRecord& record : records) record.value.append("]}");
  under_way_ = true;
  each_ = each;
  const auto resume = waiting_->Resume();
  router_.writer_.AppendAll(
      std::move(records), headers_, UntilOf(head_, 0),
      [resume](Results results) { resume(std::make_shared<Results>(std::move(results))); });
}

void MarkLines::TakeResults() {
  const auto came = std::static_pointer_cast<Results>(waiting_->Take().given);
  under_way_ = false;
  if (came == nullptr) {
    failure_ = Status::Unavailable("the outcome is open; repeating is harmless");
    return;
  }
  const Result<wire::Appended>& first = came->front();
  // One of them is refused, and with it all of the record: each by itself, then.
  const bool at_one = first.ok() && !first->verdict.ok() && first->verdict.field() != "/user" &&
                      !first->verdict.field().empty();
  if (!each_ && at_one) return Send(true);
  for (size_t i = 0; i < came->size(); ++i) TakeResult((*came)[i], i);
  held_.clear();
  bytes_ = 0;
}

void MarkLines::TakeResult(const Result<wire::Appended>& result, size_t first) {
  if (!result.ok()) {
    failure_ = result.status();
    return;
  }
  NoteWritten(partition_, result->offset, &positions_);
  pending_ = pending_ || !result->applied;
  if (!result->verdict.ok()) {
    if (each_) return Refuse(held_[first].line, api::MarkFailure(result->verdict, true));
    failure_ = result->verdict;
    return;
  }
  const wire::Recorded one = api::MarkedOnWire(result->recorded);
  recorded_.accepted += one.accepted;
  recorded_.refused += one.refused;
  for (size_t i = 0; i < one.refused_by.size(); ++i) recorded_.refused_by[i] += one.refused_by[i];
  for (const wire::RefusedEvent& refusal : one.refusals) {
    const size_t at = first + refusal.index;
    if (at < held_.size()) recorded_.refusals.push_back({held_[at].line, refusal.status});
  }
}

void MarkLines::Finish(http::Response* response) {
  if (Failed()) return http::WriteError(api::ToHttpError(failure_), response);
  auto& told = recorded_.refusals;
  std::sort(told.begin(), told.end(),
            [](const auto& a, const auto& b) { return a.index < b.index; });
  told.resize(std::min(told.size(), kMaxRefusals));
  AnswerWritten(recorded_, pending_, positions_, response);
}

}  // namespace seendb::router
