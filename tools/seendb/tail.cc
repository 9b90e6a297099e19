// seendb tail: the requests that a server answers, as they are answered, until Ctrl-C.

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "commands.h"
#include "interrupt.h"
#include "report_json.h"
#include "table.h"
#include "units.h"
#include "user_query.h"

namespace seendb::tool {
namespace {

constexpr int64_t kSecondsMost = 3'600;  // of one question, at the server
constexpr size_t kLineBytesMost = 64u << 10;
constexpr size_t kRouteWidth = 34;

struct TailFlags {
  std::string route, status;
  double sample = 1;
  int64_t seconds = kSecondsMost;
  bool once = false;
};

std::string TargetOf(const TailFlags& flags) {
  std::string target = "/admin/tail?seconds=" + std::to_string(flags.once ? 1 : flags.seconds);
  if (!flags.route.empty()) target += "&route=" + PercentEncode(flags.route);
  if (!flags.status.empty()) target += "&status=" + PercentEncode(flags.status);
  if (flags.sample < 1) {
    char share[32];
    std::snprintf(share, sizeof(share), "%.9f", flags.sample);
    target.append("&sample=").append(share);
  }
  return target;
}

/// "08:00:00.123", of "2026-11-20T08:00:00.123Z".
std::string TimeOfDay(const std::string& time) {
  constexpr size_t kBegin = 11, kDigits = 12;
  return Printable(time.size() > kBegin ? time.substr(kBegin, kDigits) : time);
}

/// A request as people read it.
std::string RowText(const Json& row) {
  char head[80];
  std::snprintf(head, sizeof(head), "%s  %3llu  %8s  ", TimeOfDay(TextOf(row, "ts")).c_str(),
                static_cast<unsigned long long>(CountOf(row, "status")),
                FormatDurationUs(static_cast<double>(CountOf(row, "took_us"))).c_str());
  std::string route = Printable(TextOf(row, "route"));
  if (route.empty()) route = "(no route)";
  if (route.size() < kRouteWidth) route.resize(kRouteWidth, ' ');
  std::string text = head + route;
  if (const std::string user = TextOf(row, "user"); !user.empty())
    text += "  user " + Printable(user);
  if (const std::string why = TextOf(row, "reason"); !why.empty()) text += "  " + Printable(why);
  if (const std::string by = TextOf(row, "token"); !by.empty()) text += "  by " + Printable(by);
  return text + "\n";
}

/// Prints the lines of an answer as they come, in pieces.
class Printer {
 public:
  explicit Printer(bool json) : json_(json) {}

  /// False: it is to end.
  bool Take(std::string_view piece) {
    rest_ += piece;
    size_t begin = 0;
    std::string text;
    for (size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      TakeLine(rest_.substr(begin, end - begin), &text);
    }
    rest_.erase(0, begin);
    if (rest_.size() > kLineBytesMost) {
      status_ = Status::Unavailable("the server's answer is no lines of JSON");
    }
    if (status_.ok() && !text.empty()) status_ = Print(text);
    return status_.ok() && InterruptedBy() == 0;
  }
  /// The failure that ended it, if any.
  const Status& status() const { return status_; }

 private:
  void TakeLine(const std::string& line, std::string* text) {
    const Json row = ParseAnswer(line);
    if (!row.is_object()) {
      status_ = Status::Unavailable("the server's answer is no lines of JSON");
    } else if (row.contains("error")) {
      status_ = StatusOfAnswer({.status = 503, .body = line});
    } else if (json_) {
      *text += OneLine(row) + "\n";
    } else if (row.contains("route")) {
      *text += RowText(row);
    } else if (const uint64_t lost = CountOf(row, "lost"); lost > 0) {
      *text += TimeOfDay(TextOf(row, "ts")) + "  lost " + FormatCount(lost) +
               (lost == 1 ? " request" : " requests") + ": too many to show (--sample)\n";
    }
  }

  const bool json_;
  std::string rest_;  // of a line
  Status status_;
};

Status RunTail(const Session& session, const TailFlags& flags) {
  if (!session.db.empty()) return Status::InvalidArgument("a server is asked: say --url, not --db");
  auto server = OpenServer(session);
  if (!server.ok()) return server.status();
  const CatchInterrupts interrupts;
  Printer printer(session.json);
  const HttpRequest request{.target = TargetOf(flags), .answer_bytes_most = UINT64_MAX};
  auto answer =
      (*server)->Stream(request, [&](std::string_view piece) { return printer.Take(piece); });
  if (!printer.status().ok()) return printer.status();
  if (InterruptedBy() != 0) return {};
  if (!answer.ok()) return answer.status();
  return answer->status == 200 ? Status() : StatusOfAnswer(*answer);
}

}  // namespace

void AddTail(Command app, Session& session) {
  auto flags = std::make_shared<TailFlags>();
  Command command =
      AddCommand(app, session, "tail",
                 "Show the requests that a server answers, as they are answered; Ctrl-C ends it. "
                 "Users are keyed hashes, as in the log",
                 Takes::kServer, [&session, flags] { return RunTail(session, *flags); });
  command.Add("--route", flags->route, "Those of one route alone, as \"POST /filter\"")
      .NotEmpty()
      .TypeName("ROUTE");
  command.Add("--status", flags->status, "Those with one status alone (503), or of a hundred (5xx)")
      .NotEmpty()
      .TypeName("STATUS");
  command.Add("--sample", flags->sample, "A share of them, drawn at random (0.01)")
      .Between(1e-9, 1)
      .TypeName("SHARE");
  command.Add("--seconds", flags->seconds, "End after so many seconds")
      .Range(1, kSecondsMost)
      .ShowDefault();
  command.AddFlag("--once", flags->once, "Show one second, and end");
  command.Examples({"seendb tail --once", "seendb tail --status 5xx --seconds 60",
                    "seendb tail --route 'POST /filter' --sample 0.01 --json --seconds 10"});
}

}  // namespace seendb::tool
