#include "server_watch.h"

#include <chrono>
#include <utility>

#include "ops/log.h"

namespace seendb {
namespace {

constexpr std::chrono::seconds kEvery{5};

}  // namespace

void ServerWatch::Start(Problems problems, const std::vector<std::string>& told) {
  problems_ = std::move(problems);
  static_cast<void>(known_.Look(told));
  Tick();
}

void ServerWatch::Tick() {
  timer_.expires_after(kEvery);
  timer_.async_wait([this](const boost::system::error_code& ec) {
    if (ec) return;
    secrets_.Renew(/*all=*/false);
    const ops::ProblemLog::Changes changes = known_.Look(problems_());
    for (const std::string& text : changes.begun) {
      ops::Log(ops::LogLevel::kWarn, "problem", {{"problem", text}});
    }
    for (const std::string& text : changes.over) {
      ops::Log(ops::LogLevel::kInfo, "problem_over", {{"problem", text}});
    }
    Tick();
  });
}

}  // namespace seendb
