#include "http/refusal.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <string>

#include "http/error.h"

namespace seendb::http {
namespace {

using admission::Reason;

/// By Reason. The bodies are made once.
struct Text {
  unsigned status;
  std::string_view code;
  std::string_view message;
};
constexpr std::array<Text, admission::kReasons> kTexts = {{
    {0, "", ""},
    {503, "overloaded", "the server is overloaded"},
    {503, "overloaded", "the server is overloaded, and this client has its share of it"},
    {503, "overloaded", "requests of this priority are refused for now (POST /admin/degrade)"},
    {503, "busy", "too many request bytes of this client in flight"},
    {503, "timeout", "the request can't be answered within its timeout"},
    {503, "overloaded", "the request has waited too long"},
    {429, "rate_limited", "this client asks more often than it may (requests_per_s)"},
    {429, "rate_limited", "this client sends more than it may (decoded_bytes_per_s)"},
    {429, "rate_limited", "this client causes more work than it may (work_ms_per_s)"},
}};

std::array<std::string, admission::kReasons> MakeBodies() {
  std::array<std::string, admission::kReasons> bodies;
  for (size_t i = 1; i < bodies.size(); ++i) {
    Response response;
    WriteError({kTexts[i].status, kTexts[i].code, std::string(kTexts[i].message)}, &response);
    bodies[i] = std::move(response.body);
  }
  return bodies;
}

}  // namespace

void WriteRefusal(const admission::Verdict& verdict, Response* response) {
  static const std::array<std::string, admission::kReasons> kBodies = MakeBodies();
  assert(!verdict.admitted());
  const auto reason = static_cast<size_t>(verdict.reason);
  const int64_t wait_ms = std::max<int64_t>(
      1, std::chrono::ceil<std::chrono::milliseconds>(verdict.retry_after).count());
  response->status = kTexts[reason].status;
  response->error_code = kTexts[reason].code;
  response->body = kBodies[reason];
  response->retry_after_s = static_cast<int>((wait_ms + 999) / 1'000);
  response->headers += "\r\nSeenDB-Retry-After-Ms: ";
  response->headers += std::to_string(wait_ms);
}

}  // namespace seendb::http
