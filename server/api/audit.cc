#include "api/audit.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <random>
#include <utility>

#include <nlohmann/json.hpp>

#include "api/status_http.h"
#include "base/utf8.h"
#include "ops/log.h"
#include "ops/user_hash.h"
#include "wire/json_read.h"

namespace seendb::api {
namespace {

using Clock = std::chrono::steady_clock;
using Fields = nlohmann::ordered_json;

/// How long a call waits for its line, from the first try on; of a client that says how long it
/// waits itself, so long from the head on, and this at the most.
constexpr std::chrono::milliseconds kWait{10'000}, kWaitMost{60'000};
/// Either, where a call does not wait for a disk that fails: nor does it for one that hangs, which
/// would hold the workers.
constexpr std::chrono::milliseconds kRefuseAfter{1'000};
/// Names of collections beyond so many bytes are cut: no call may use so many.
constexpr size_t kNamesMost = 16u << 10;

std::string RandomPrefix() {
  std::random_device random;
  return ops::HashText(uint64_t{random()} << 32 | random()) + "-";
}

std::string LineOf(std::string_view event, const std::string& id, const Fields& fields) {
  const int64_t now_ms = ops::MachineTimeMs();
  Fields line = {{"time", ops::TimeText(now_ms)}, {"ms", now_ms}, {"event", event}, {"id", id}};
  line.update(fields);
  return line.dump(-1, ' ', /*ensure_ascii=*/true, Fields::error_handler_t::replace);
}

void AddName(std::string_view name, std::string* names) {
  if (!names->empty()) names->push_back(',');
  names->append(Utf8Prefix(name, kNamesMost - std::min(kNamesMost, names->size())));
}

/// The collections that a body names; what it has wrong the handler says.
std::string CollectionsIn(std::string_view body) {
  std::string names;
  wire::JsonDocument document;
  wire::ondemand::object root;
  if (body.empty() || !document.Begin(body, &root).ok()) return names;
  for (auto member : root) {
    wire::ondemand::field field;
    std::string_view key, name;
    if (std::move(member).get(field) || field.unescaped_key().get(key)) return names;
    Status read;
    if (key == "collection") {
      read = wire::ReadText(field.value(), &name);
      if (read.ok()) AddName(name, &names);
    } else if (key == "collections") {
      read = wire::ReadElements(field.value(), SIZE_MAX, "names",
                                [&](size_t, wire::ondemand::value value) {
                                  Status one = wire::ReadText(value, &name);
                                  if (one.ok() && names.size() < kNamesMost) AddName(name, &names);
                                  return one;
                                });
    }
    if (!read.ok()) return names;
  }
  return names;
}

}  // namespace

/// One call that is audited, from its head to its answer.
struct Audit::AuditedCall {
  AuditedCall(Audit* the_audit, const Route& route, std::string the_id)
      : audit(*the_audit),
        label(RouteLabel(route)),
        changes(route.audited == Audited::kChange),
        id(std::move(the_id)) {}
  AuditedCall(const AuditedCall&) = delete;
  AuditedCall& operator=(const AuditedCall&) = delete;
  /// The connection may have gone before the answer.
  ~AuditedCall() { audit.WriteLast(this, 0, {}); }

  Audit& audit;
  const std::string label;
  const bool changes;
  const std::string id;
  Clock::time_point until = {};  // zero: nothing says it yet
  bool reserved = false;         // room for the last line
  bool begun = false;            // the first line may be in the file
  bool written = false;          // it is
};

/// A stream around another, which is asked once its line is written.
class Audit::Stream final : public http::BodyStream {
 public:
  Stream(Audit* audit, std::shared_ptr<AuditedCall> call, Fields fields,
         std::unique_ptr<http::BodyStream> inner)
      : audit_(*audit),
        call_(std::move(call)),
        fields_(std::move(fields)),
        inner_(std::move(inner)) {}

  size_t Take(std::string_view bytes, bool last, std::string* out) override {
    comes_again_ = false;
    if (call_->written) return inner_->Take(bytes, last, out);
    http::Error refusal;
    switch (audit_.WriteFirst(call_.get(), fields_, &refusal)) {
      case Verdict::kGo:
        return inner_->Take(bytes, last, out);
      case Verdict::kComeAgain:
        comes_again_ = true;
        return 0;
      case Verdict::kRefuse:
        refusal_ = std::move(refusal);
    }
    return bytes.size();
  }
  bool AnswersAsItGoes() const override { return inner_->AnswersAsItGoes(); }
  bool Failed() const override { return refusal_.has_value() || inner_->Failed(); }
  bool HasMore() const override { return !refusal_ && inner_->HasMore(); }
  void Attend(http::Waiting* waiting) override { inner_->Attend(waiting); }
  bool Later(int64_t* later_us) const override {
    if (comes_again_) *later_us = kAgainUs;
    return comes_again_ || (!refusal_ && inner_->Later(later_us));
  }
  size_t HeldBytes() const override { return inner_->HeldBytes(); }
  void Finish(http::Response* response) override {
    if (refusal_) return http::WriteError(*refusal_, response);
    inner_->Finish(response);
  }

 private:
  Audit& audit_;
  const std::shared_ptr<AuditedCall> call_;
  const Fields fields_;
  const std::unique_ptr<http::BodyStream> inner_;
  bool comes_again_ = false;
  std::optional<http::Error> refusal_;
};

Result<std::shared_ptr<Audit>> Audit::Open(const ops::AuditConfig& config, const RequestLog* log) {
  auto file = ops::AuditFile::Open(config.file);
  if (!file.ok()) return file.status();
  return std::make_shared<Audit>(config, std::move(file).value(), log);
}

Audit::Audit(const ops::AuditConfig& config, std::unique_ptr<ops::AuditFile> file,
             const RequestLog* log)
    : clear_users_(config.clear_users),
      waits_(config.waits),
      log_(*log),
      prefix_(RandomPrefix()),
      file_(std::move(file)) {}

void Audit::Begin(const http::RequestHead& head, const Route& route, http::Plan* plan) {
  if (route.audited == Audited::kNo) return;
  const uint64_t number = calls_.fetch_add(1, std::memory_order_relaxed) + 1;
  auto call = std::make_shared<AuditedCall>(this, route, prefix_ + std::to_string(number));
  if (head.timeout_ms > 0) {
    const std::chrono::milliseconds timeout(head.timeout_ms);
    call->until = Clock::now() + std::min(timeout, waits_ ? kWaitMost : kRefuseAfter);
  }
  plan->audit = call;
  if (plan->executor == http::Executor::kInline) plan->executor = http::Executor::kProbe;
  if (plan->stream == nullptr) return;
  plan->stream = std::make_unique<Stream>(this, std::move(call), FieldsOf(head, *plan, {}),
                                          std::move(plan->stream));
}

Audit::Verdict Audit::Admit(const http::Plan& plan, const http::Request& request,
                            http::Response* response) {
  auto* const call = static_cast<AuditedCall*>(plan.audit.get());
  if (call == nullptr || call->written) return Verdict::kGo;
  http::Error refusal;
  const Verdict verdict = WriteFirst(call, FieldsOf(request.head, plan, request.body), &refusal);
  if (verdict == Verdict::kRefuse) http::WriteError(refusal, response);
  return verdict;
}

void Audit::Done(const http::Outcome& outcome) {
  auto* const call = static_cast<AuditedCall*>(outcome.plan.audit.get());
  if (call != nullptr) WriteLast(call, outcome.status, outcome.error_code);
}

void Audit::AddProblem(std::vector<std::string>* problems) const {
  const std::string problem = file_->Problem();
  if (problem.empty()) return;
  problems->push_back("the audit can't be written: " + WithoutFolders(problem));
}

Audit::Verdict Audit::WriteFirst(AuditedCall* call, const Fields& fields, http::Error* refusal) {
  if (call->until == Clock::time_point())
    call->until = Clock::now() + (waits_ ? kWait : kRefuseAfter);
  Status status;
  if (call->changes && !call->reserved) {
    call->reserved = file_->Reserve();
    if (!call->reserved) status = Status::Busy("too many of its lines wait for the disk");
  }
  if (status.ok()) {
    status = file_->Write(LineOf(call->changes ? "change" : "read", call->id, fields),
                          /*synced=*/call->changes, call->until);
  }
  call->written = status.ok();
  call->begun = status.ok() || status.code() == StatusCode::kUnavailable;
  if (status.ok()) return Verdict::kGo;
  const bool has_time = Clock::now() + std::chrono::microseconds(kAgainUs) < call->until;
  if (waits_ && !call->begun && has_time) return Verdict::kComeAgain;
  *refusal = {503, "unavailable",
              "the audit can't be written, so nothing was done: " +
                  WithoutFolders(std::string(status.message()))};
  return Verdict::kRefuse;
}

/// Status 0: it is not known.
void Audit::WriteLast(AuditedCall* call, unsigned status, std::string_view error) {
  if (!std::exchange(call->reserved, false)) return;
  if (!call->begun) return file_->Release();
  Fields fields = {{"route", call->label}};
  if (status != 0) fields["status"] = status;
  if (!error.empty()) fields["error"] = error;
  file_->WriteReserved(LineOf("answered", call->id, fields));
}

Fields Audit::FieldsOf(const http::RequestHead& head, const http::Plan& plan,
                       std::string_view body) const {
  const Route& route = Routes()[static_cast<size_t>(plan.route)];
  Fields fields = {{"route", RouteLabel(route)}, {"method", http::MethodName(head.method)}};
  std::string collections;
  std::string_view path = route.path;
  for (const std::string& part : plan.arguments) {
    const size_t begin = path.find('{') + 1;
    const std::string_view name = path.substr(begin, path.find('}') - begin);
    path.remove_prefix(begin + name.size() + 1);
    if (name == "user") {
      fields["user"] = UserText(part);
    } else if (name == "name") {
      AddName(part, &collections);
    } else if (name != "item") {  // what somebody watched is nobody's to read here
      fields[std::string(name)] = part;
    }
  }
  for (const auto& [name, value] : plan.query) {
    if (name == "collection") AddName(value, &collections);
  }
  if (route.takes_json && route.path.starts_with("/users/")) collections += CollectionsIn(body);
  if (!collections.empty()) fields["collection"] = collections;
  const Caller caller = CallerOf(plan);
  fields["token"] = caller == nullptr ? std::string() : caller->name;
  fields["role"] = caller == nullptr ? std::string_view() : files::RoleName(caller->role);
  fields["address"] = head.connection == nullptr ? std::string() : head.connection->peer;
  if (!head.request_id.empty()) fields["request_id"] = head.request_id;
  return fields;
}

std::string Audit::UserText(const std::string& user) const {
  const IdRef id(user);
  if (!clear_users_) return ops::HashText(log_.TagOf(id));
  return std::string(Utf8Prefix(id.ToString(), kMaxIdBytes));  // a longer one is no user
}

bool OpenAudit(const std::optional<ops::AuditConfig>& config, Context* context) {
  if (!config) return true;
  auto audit = Audit::Open(*config, &context->requests);
  if (audit.ok()) {
    context->audit = std::move(audit).value();
    return true;
  }
  ops::Log(ops::LogLevel::kError, "audit_refused",
           {{"key", "/audit/file"}, {"error", audit.status().ToString()}});
  return false;
}

}  // namespace seendb::api
