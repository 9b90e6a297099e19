// /users/{user}/marks: what a user marked as seen, as one JSON document or, written, as NDJSON: one
// mark a line, of which a bad one is refused and counted while the others are taken.

#include "seendb/marks.h"

#include <algorithm>
#include <memory>

#include "api/commands.h"
#include "api/events_call.h"
#include "api/paging.h"
#include "api/routes.h"
#include "api/status_http.h"
#include "base/facts.h"
#include "seendb/policy.h"
#include "wire/arena.h"
#include "wire/json_syntax.h"
#include "wire/json_text.h"
#include "wire/lines.h"
#include "wire/marks_json.h"
#include "wire/refusal_names.h"

namespace seendb::api {
namespace {

constexpr size_t kMarksBlockBytes = 16u << 10;

Status CheckTime(int64_t at_ms, int64_t last_ms, const char* field) {
  if (at_ms >= kFirstTimeMs && at_ms <= last_ms) return {};
  return Status::InvalidArgument(
      std::to_string(at_ms) + " is no time from the year 1 to " + std::to_string(last_ms), field);
}

Status ReadMarksCall(const Call& call, wire::JsonDocument* document, IdRef* user,
                     wire::MarksCall* said) {
  Status status = PathId(call.plan, 0, "/user", user);
  return status.ok() ? wire::ParseMarks(call.request.body, document, said) : status;
}

Status AnswerPutMarks(Call& call) {
  IdRef user;
  wire::JsonDocument document(&call.context.unsafe_integers);
  wire::MarksCall said;
  const Status status = ReadMarksCall(call, &document, &user, &said);
  if (!status.ok()) return status;
  const Result<RecordResult> result = call.engine().PutMarks(user, said.marks);
  if (!result.ok()) return MarkFailure(result.status(), said.single);
  AnswerMarked(*result, &call.response);
  return Status::Ok();
}

Status AnswerMarks(Call& call) {
  MarksRequest request;
  size_t limit = request.limit;
  Status status = PathId(call.plan, 0, "/user", &request.user);
  if (status.ok()) status = ReadPage(call, kMaxMarksAtOnce, &limit, &request.after);
  if (!status.ok()) return status;
  request.limit = static_cast<uint32_t>(limit);
  MarksPage page;
  status = call.engine().ReadMarks(request, &page);
  if (status.ok()) wire::AppendMarks(page, &call.response.body);
  return status;
}

Status AnswerDeleteMark(Call& call) {
  IdRef user;
  Status status = PathId(call.plan, 0, "/user", &user);
  if (!status.ok()) return status;
  const Result<bool> deleted = call.engine().DeleteMark(user, call.plan.arguments[1]);
  if (!deleted.ok()) return deleted.status();
  AnswerDeleted(*deleted, &call.response);
  return status;
}

class MarksStream final : public http::BodyStream {
 public:
  MarksStream(Context& context, std::string user)
      : context_(context), user_(std::move(user)), lines_(context.limits.line_bytes) {}

  size_t Take(std::string_view bytes, bool last, std::string*) override {
    const size_t taken = lines_.Read(
        bytes, last, [this] { return Failed(); },
        [this](uint64_t index, std::string_view line) { TakeLine(index, line); },
        [this](uint64_t index, Status status) { Refuse(index, std::move(status)); });
    if (last && !Failed()) Flush();
    return taken;
  }
  bool AnswersAsItGoes() const override { return false; }
  bool Failed() const override { return !failure_.ok(); }
  size_t HeldBytes() const override {
    return marks_.capacity() * sizeof(Mark) + held_.capacity() * sizeof(uint64_t) +
           texts_.HeldBytes();
  }
  void Finish(http::Response* response) override {
    if (Failed()) return http::WriteError(ToHttpError(failure_), response);
    auto& told = recorded_.refusals;
    std::sort(told.begin(), told.end(),
              [](const auto& a, const auto& b) { return a.index < b.index; });
    told.resize(std::min(told.size(), kMaxRefusals));
    AnswerRecorded(recorded_, response);
  }

 private:
  void TakeLine(uint64_t index, std::string_view line) {
    wire::JsonDocument document(&context_.unsafe_integers);
    Mark mark;
    Status status = wire::ParseMark(line, &document, &mark);
    if (!status.ok()) {
      return Refuse(index, wire::ExplainSyntax(std::move(status), line, /*takes_ndjson=*/false));
    }
    mark.group = texts_.Copy(mark.group);  // the parser's views die with their line
    marks_.push_back(mark);
    held_.push_back(index);
    if (marks_.size() == kMaxMarksAtOnce) Flush();
  }

  void Refuse(uint64_t line, Status status) {
    ++recorded_.refused;
    ++recorded_.refused_by[wire::kMalformed];
    if (recorded_.refusals.size() < 2 * kMaxRefusals) {
      recorded_.refusals.push_back({line, std::move(status)});
    }
  }

  void Flush() {
    if (marks_.empty()) return;
    const Status put = Put(marks_, 0);
    // One of them is refused, and with it all of the call: each by itself, then.
    const bool at_one = !put.ok() && put.field().starts_with("/") && put.field() != "/user";
    if (!at_one) failure_ = put;
    for (size_t i = 0; at_one && failure_.ok() && i < marks_.size(); ++i) {
      const Status alone = Put({&marks_[i], 1}, i);
      if (alone.ok()) continue;
      if (alone.field().empty()) failure_ = alone;
      if (!alone.field().empty()) Refuse(held_[i], MarkFailure(alone, true));
    }
    marks_.clear();
    held_.clear();
    texts_.Clear();
  }

  Status Put(std::span<const Mark> marks, size_t first) {
    Engine& engine = *context_.engine.load(std::memory_order_acquire);
    const Result<RecordResult> result = engine.PutMarks(IdRef(user_), marks);
    if (!result.ok()) return result.status();
    recorded_.accepted += result->accepted;
    recorded_.refused += result->refused;
    for (size_t i = 0; i < kRefusalReasons; ++i) recorded_.refused_by[i] += result->refused_by[i];
    for (const Refusal& refusal : result->refusals) {
      if (recorded_.refusals.size() >= 2 * kMaxRefusals) break;
      recorded_.refusals.push_back({held_[first + refusal.index], refusal.status});
    }
    return Status::Ok();
  }

  Context& context_;
  const std::string user_;
  wire::NumberedLines lines_;
  std::vector<Mark> marks_;
  std::vector<uint64_t> held_;  // their lines
  wire::Arena texts_{kMarksBlockBytes};
  wire::Recorded recorded_;
  Status failure_;
};

}  // namespace

Status MarkFailure(const Status& status, bool single) {
  const std::string_view field = status.field();
  if (status.ok() || field.empty() || field == "/user") return status;
  if (!single) return status.WithFieldPrefix("/marks");
  const size_t member = field.find('/', 1);
  const std::string_view named = member == std::string_view::npos ? "" : field.substr(member);
  return Status(status.code(), std::string(status.message()), std::string(named));
}

wire::Recorded MarkedOnWire(const RecordResult& result) {
  wire::Recorded recorded{result.accepted, result.refused};
  for (const Refusal& refusal : result.refusals) {
    recorded.refusals.push_back({refusal.index, refusal.status});
  }
  std::copy(result.refused_by.begin(), result.refused_by.end(), recorded.refused_by.begin());
  return recorded;
}

void AnswerMarked(const RecordResult& result, http::Response* response) {
  AnswerRecorded(MarkedOnWire(result), response);
}

// The engine looks at the rest; its clock is not asked about what comes out of the log.
Status CheckMark(const Mark& mark, int64_t now_ms) {
  const Status status = mark.until_ms ? CheckTime(*mark.until_ms, kLastTimeMs, "/until") : Status();
  return status.ok() ? CheckSaidAt(mark.at_ms, now_ms) : status;
}

Status CheckSaidAt(const CallTime& at_ms, int64_t now_ms) {
  if (!at_ms.ms) return {};
  return CheckTime(*at_ms.ms, std::min(kLastTimeMs, now_ms + kMostAheadMs), "/at");
}

Status MarksForLog(const Call& call, std::string* value) {
  IdRef user;
  wire::JsonDocument document(&call.context.unsafe_integers);
  wire::MarksCall said;
  Status status = ReadMarksCall(call, &document, &user, &said);
  const int64_t now_ms = call.engine().NowMs();
  *value = "{\"marks\":[";
  for (size_t i = 0; status.ok() && i < said.marks.size(); ++i) {
    if (i > 0) value->push_back(',');
    wire::AppendMark(said.marks[i], value);
    status = CheckMark(said.marks[i], now_ms);
    if (!status.ok() && !said.single)
      status = status.WithFieldPrefix("/marks/" + std::to_string(i));
  }
  value->append("]}");
  return status;
}

bool HasSingleMark(const Call& call) {
  wire::JsonDocument document(&call.context.unsafe_integers);
  wire::MarksCall said;
  return wire::ParseMarks(call.request.body, &document, &said).ok() && said.single;
}

Status MarkDeletionForLog(const Call& call, std::string* value) {
  IdRef user;
  Status status = PathId(call.plan, 0, "/user", &user);
  const std::string& group = call.plan.arguments[1];
  if (status.ok()) status = CheckGroup(group).WithFieldPrefix("/group");
  value->assign("{\"group\":");
  if (status.ok()) wire::AppendJsonString(group, value);
  value->push_back('}');
  return status;
}

void HandlePutMarks(Call& call) {
  if (const Status status = AnswerPutMarks(call); !status.ok()) call.Refuse(status);
}

void HandleMarks(Call& call) {
  if (const Status status = AnswerMarks(call); !status.ok()) call.Refuse(status);
}

void HandleDeleteMark(Call& call) {
  if (const Status status = AnswerDeleteMark(call); !status.ok()) call.Refuse(status);
}

std::unique_ptr<http::BodyStream> StreamMarks(Context& context, const http::Plan& plan,
                                              Status* refusal) {
  IdRef user;
  *refusal = PathId(plan, 0, "/user", &user);
  if (!refusal->ok()) return nullptr;
  return std::make_unique<MarksStream>(context, plan.arguments.front());
}

}  // namespace seendb::api
