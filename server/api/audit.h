// server/api/audit.h: the audit: a line for each call of a route that says so (Route::audited),
// before the call is carried out. If the line can't be written, the call is refused or waits.
//
// A line is one JSON object, in ASCII:
//   {"time":"2026-11-20T08:00:00.123Z","ms":1795161600123,"event":"change",
//    "id":"9f2c6b7d01e35a48-17","route":"DELETE /users/{user}","method":"DELETE",
//    "user":"726fdb47dd0e0e31","token":"support","role":"admin","address":"10.0.0.7",
//    "request_id":"a1"}
// `event` is "read" or "change"; a change has a second line, "answered", with the same `id` and the
// status of its answer.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "api/request_log.h"
#include "api/routes.h"
#include "http/service.h"
#include "ops/audit_config.h"
#include "ops/audit_file.h"
#include "ops/metrics.h"

namespace seendb::api {

/// See the head of this file. Threads: any.
class Audit {
 public:
  /// Opens the file. `log` is borrowed: it hashes users. kInvalidArgument, kIOError.
  static Result<std::shared_ptr<Audit>> Open(const ops::AuditConfig& config, const RequestLog* log);
  Audit(const ops::AuditConfig& config, std::unique_ptr<ops::AuditFile> file,
        const RequestLog* log);

  /// Notes in the plan that the call is audited, if `route` says so, and sends it to the workers,
  /// which may wait for a disk. A stream writes its line when it is first asked.
  void Begin(const http::RequestHead& head, const Route& route, http::Plan* plan);
  /// What is to be done with a call.
  enum class Verdict : uint8_t {
    kGo,         ///< its line is written, or it is not audited
    kComeAgain,  ///< after kAgainUs
    kRefuse,     ///< the response says why
  };
  /// Between two tries of a call that waits.
  static constexpr int64_t kAgainUs = 200'000;
  /// Writes the line of the call.
  Verdict Admit(const http::Plan& plan, const http::Request& request, http::Response* response);
  /// A call was answered. Does not wait.
  void Done(const http::Outcome& outcome);
  /// Soon opens the file anew. Does not wait.
  void Reopen() { file_->Reopen(); }

  ops::AuditCounts Counts() const { return {file_->lines(), file_->failures()}; }
  /// Adds what is wrong, if anything is.
  void AddProblem(std::vector<std::string>* problems) const;

 private:
  class Stream;
  struct AuditedCall;

  Verdict WriteFirst(AuditedCall* call, const nlohmann::ordered_json& fields, http::Error* refusal);
  void WriteLast(AuditedCall* call, unsigned status, std::string_view error);
  nlohmann::ordered_json FieldsOf(const http::RequestHead& head, const http::Plan& plan,
                                  std::string_view body) const;
  std::string UserText(const std::string& user) const;

  const bool clear_users_, waits_;
  const RequestLog& log_;
  const std::string prefix_;  // of ids: random in each process
  std::atomic<uint64_t> calls_{0};
  const std::unique_ptr<ops::AuditFile> file_;
};

/// Opens the context's audit where the settings have one; false, and the log says why, where it
/// can't be opened. Before serving.
bool OpenAudit(const std::optional<ops::AuditConfig>& config, Context* context);

}  // namespace seendb::api
