// seendb ready: whether a server serves: for health checks, and for scripts that wait until it
// does.

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "commands.h"
#include "table.h"

namespace seendb::tool {
namespace {

constexpr std::chrono::milliseconds kAskEvery{200};

/// Asks until the server is ready or `wait_s` have passed.
Result<Json> Ask(HttpClient* server, int64_t wait_s) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(wait_s);
  for (;;) {
    Result<Json> answer = server->Call({.target = "/readyz"});
    const bool later = !answer.ok() && answer.status().code() == StatusCode::kUnavailable;
    if (!later || std::chrono::steady_clock::now() >= until) return answer;
    std::this_thread::sleep_for(kAskEvery);
  }
}

std::string ReadyText(const Json& answer) {
  if (!answer.value("degraded", false)) return "ready\n";
  std::string text = "ready, degraded\n";
  for (const Json& problem : answer.value("problems", Json::array())) {
    text += Printable(problem.is_string() ? problem.get<std::string>() : problem.dump()) + "\n";
  }
  return text;
}

Status RunReady(const Session& session, int64_t wait_s) {
  if (!session.db.empty()) return Status::InvalidArgument("a server is asked: say --url, not --db");
  auto server = OpenServer(session);
  if (!server.ok()) return server.status();
  const Result<Json> answer = Ask(server->get(), wait_s);
  if (!answer.ok()) return answer.status();
  return session.json ? PrintJson(*answer) : Print(ReadyText(*answer));
}

}  // namespace

void AddReady(Command app, Session& session) {
  auto wait_s = std::make_shared<int64_t>(0);
  Command command = AddCommand(
      app, session, "ready", "Ask a server whether it serves; exit code 7 while it does not",
      Takes::kServer, [&session, wait_s] { return RunReady(session, *wait_s); });
  command.Add("--wait", *wait_s, "Seconds to go on asking until it is ready (ask once)")
      .TypeName("SECONDS")
      .Range(0, 86'400);
  command.Examples({"seendb ready --wait 60"});
}

}  // namespace seendb::tool
