#include "router/filter_lines.h"

#include <utility>

#include "api/filter.h"
#include "api/status_http.h"
#include "router/answers.h"
#include "router/hop_request.h"
#include "router/user_of.h"
#include "wire/json_syntax.h"
#include "wire/json_text.h"

namespace seendb::router {
namespace {

void AppendError(const http::Error& error, std::string* out) {
  out->append("{\"error\":");
  wire::AppendErrorObject(error.code, error.message, error.field, out);
  out->append("}");
}

/// Whether it can stand for one answer among others.
bool IsOneLine(std::string_view answer) {
  return !answer.empty() && answer.find_first_of("\r\n") == std::string_view::npos;
}

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

/// One line, from its text to its answer. Of the stream's thread, but `end` and `old`, which the
/// lock of Shared guards until `end` is there.
struct FilterLines::Line {
  std::string text;  // with http::kBodyPadding bytes behind it
  std::string answer;
  bool answered = false;
  std::string_view lacks = {};
  int64_t behind_ms = 0;
  std::shared_ptr<Read> read;  // null: this node answers
  std::unique_ptr<ReadEnd> end;
  std::shared_ptr<const migration::OldAnswer> old;  // null: the old store was not asked

  std::string_view body() const {
    return std::string_view(text).substr(0, text.size() - http::kBodyPadding);
  }
};

/// What outlives the stream, for answers that come late.
struct FilterLines::Shared {
  Mutex mutex{LockRank::kLeaf};
  std::function<void(std::shared_ptr<void>)> resume GUARDED_BY(mutex);  // set while it waits
};

std::unique_ptr<http::BodyStream> FilterLines::Make(ClusterRouter* router,
                                                    const http::RequestHead& head,
                                                    const http::Plan& plan) {
  if (head.routing.hop) return nullptr;
  return std::make_unique<FilterLines>(router, head, plan);
}

FilterLines::FilterLines(ClusterRouter* router, const http::RequestHead& head,
                         const http::Plan& plan)
    : router_(*router),
      head_(std::make_shared<http::RequestHead>(head)),
      caller_(api::CallerOf(plan)),
      priority_(plan.ticket.priority),
      headers_([&] {
        http::RequestHead line = head;
        line.content_type = "application/json";
        line.accept.clear();
        line.routing.user.clear();
        return HopHeaders(line, plan, 0);
      }()),
      lines_(router->context_.limits.body_bytes),
      shared_(std::make_shared<Shared>()) {
  Result<Positions> positions = ParsePosition(head.routing.position);
  refusal_ = positions.status();
  if (positions.ok()) positions_ = std::move(positions).value();
}

FilterLines::~FilterLines() {
  const MutexLock lock(shared_->mutex);
  shared_->resume = nullptr;
}

bool FilterLines::Later(int64_t* later_us) const {
  *later_us = 0;
  return waits_;
}

size_t FilterLines::Take(std::string_view bytes, bool last, std::string* out) {
  size_t taken = 0;
  std::string_view line;
  bool more = true;
  waits_ = false;
  while (true) {
    while (more && open_.size() < kUnderWay) {
      switch (lines_.Next(bytes, last, &taken, &line)) {
        case wire::LineCutter::Found::kNeedsMore:
          more = false;
          break;
        case wire::LineCutter::Found::kTooLong: {
          auto& refused = open_.emplace_back(std::make_shared<Line>());
          AppendError({413, "too_large", "line over the limit"}, &refused->answer);
          refused->answered = true;
          break;
        }
        case wire::LineCutter::Found::kLine:
          if (!IsBlank(line)) Begin(line);
          break;
      }
    }
    if (Settle(out)) continue;
    if (open_.empty()) return taken;
    if (waits_) return taken;
  }
}

/// Writes answers that are whole, and has this node answer what it is to. True: some were written,
/// and there is room for more lines. False: nothing is under way, or it waits.
bool FilterLines::Settle(std::string* out) {
  bool moved = false;
  while (!open_.empty()) {
    const std::shared_ptr<Line> line = open_.front();
    if (!line->answered) {
      std::unique_ptr<ReadEnd> end;
      {
        const MutexLock lock(shared_->mutex);
        end = std::move(line->end);
        if (!end) shared_->resume = waiting_->Resume();
      }
      if (!end) {
        waits_ = !moved;
        return moved;
      }
      if (end->kind == ReadEnd::Kind::kAnswer) {
        line->answer = std::move(end->answer.body);
        if (!IsOneLine(line->answer)) {  // it would shift the answers to the lines behind it
          line->answer.clear();
          AppendError({503, "unavailable", "another node's answer can't be read"}, &line->answer);
        }
        line->answered = true;
      } else {
        const bool here = end->kind == ReadEnd::Kind::kHere;
        line->lacks = here ? end->lacks_of_filter() : api::kLacksPartition;
        line->behind_ms = end->behind_ms;
        Run(line);
        if (!line->answered) continue;  // the next replica is being asked
      }
    }
    held_bytes_ -= line->text.size();
    out->append(line->answer).push_back('\n');
    open_.pop_front();
    moved = true;
  }
  return moved;
}

void FilterLines::Begin(std::string_view text) {
  const auto line = std::make_shared<Line>();
  open_.push_back(line);
  line->text.reserve(text.size() + http::kBodyPadding);
  line->text.append(text).append(http::kBodyPadding, '\0');
  held_bytes_ += line->text.size();
  if (!refusal_.ok()) {
    AppendError(api::ToHttpError(refusal_), &line->answer);
    line->answered = true;
    return;
  }
  const Engine& engine = *router_.context_.engine.load(std::memory_order_acquire);
  const auto question = QuestionOfLine(line->body(), engine);
  const auto table = router_.node_.table();
  if (!question || table == nullptr || question->partition >= table->partitions()) {
    return Run(line);  // which says what is wrong
  }
  const auto at = positions_.find(question->partition);
  Ask(line, *question, at == positions_.end() ? 0 : at->second);
}

void FilterLines::Ask(const std::shared_ptr<Line>& line, const Question& question,
                      int64_t next_offset) {
  ReadAsk ask;
  ask.partition = question.partition;
  if (question.deadline_ms) ask.deadline_ms = *question.deadline_ms;
  ask.request.target = "/filter";
  ask.request.headers = headers_;
  ask.request.body = std::string(line->body());
  ask.leader_alone = question.record;
  ask.next_offset = next_offset;
  ask.until = UntilOf(*head_, 0);
  line->read = std::make_shared<Read>(router_.Parts(), std::move(ask));
  AskNext(line);
}

void FilterLines::AskNext(const std::shared_ptr<Line>& line) {
  // The line holds its read: the other way round as well, neither would ever go.
  line->read->Next([shared = shared_, held = std::weak_ptr<Line>(line)](ReadEnd end) {
    const std::shared_ptr<Line> asked = held.lock();
    if (!asked) return;  // the stream is gone
    std::function<void(std::shared_ptr<void>)> resume;
    {
      const MutexLock lock(shared->mutex);
      asked->end = std::make_unique<ReadEnd>(std::move(end));
      resume = std::exchange(shared->resume, nullptr);
    }
    if (resume) resume(nullptr);
  });
}

/// The line is answered once the old store was, with the end that it has.
void FilterLines::AskOldStore(const std::shared_ptr<Line>& line, api::FilterWait* wait) {
  wait->migration->Ask(
      *std::exchange(wait->question, {}),
      [shared = shared_, held = std::weak_ptr<Line>(line)](auto old) {
        const std::shared_ptr<Line> asked = held.lock();
        if (!asked) return;  // the stream is gone
        std::function<void(std::shared_ptr<void>)> resume;
        {
          const MutexLock lock(shared->mutex);
          asked->old = std::move(old);
          asked->end = std::make_unique<ReadEnd>(ReadEnd{
              .kind = ReadEnd::Kind::kHere, .lacks = asked->lacks, .behind_ms = asked->behind_ms});
          resume = std::exchange(shared->resume, nullptr);
        }
        if (resume) resume(nullptr);
      });
}

/// This node answers, or asks the next replica where it can't tell.
void FilterLines::Run(const std::shared_ptr<Line>& line) {
  api::FilterWait wait;
  wait.old = line->old;
  wait.caller = caller_.get();
  wait.priority = priority_;
  wait.lacks = line->lacks;
  const Status status = api::AnswerFilter(router_.context_, line->body(), &wait, &line->answer);
  if (wait.question) return AskOldStore(line, &wait);
  if (status.code() == StatusCode::kUnavailable && line->read != nullptr &&
      line->read->has_more()) {
    return AskNext(line);
  }
  line->answered = true;
  if (!status.ok()) {
    return AppendError(
        api::ToHttpError(wire::ExplainSyntax(status, line->body(), /*takes_ndjson=*/false)),
        &line->answer);
  }
  if (line->behind_ms > kTellBehindMs) {
    AddMember("behind_ms", std::to_string(line->behind_ms), &line->answer);
  }
}

}  // namespace seendb::router
