// seendb top: how a server is, drawn anew every two seconds.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <sys/ioctl.h>
#include <unistd.h>

#include "commands.h"
#include "interrupt.h"
#include "table.h"
#include "top_screen.h"

namespace seendb::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kEvery{2'000};
constexpr std::chrono::milliseconds kOnce{1'000};  // between the two looks of --once
constexpr std::chrono::milliseconds kStep{100};
/// Looks between two questions for slots and buckets, each of which has a line in the audit.
constexpr int kReportsEvery = 5;
constexpr uint64_t kMetricsBytesMost = 16u << 20;
constexpr size_t kBuckets = 8;                          // at least
constexpr size_t kOtherRows = 18;                       // of the screen, that are none of a bucket
constexpr const char* kEnter = "\x1b[?1049h\x1b[?25l";  // another screen, without a cursor
constexpr const char* kLeave = "\x1b[?25h\x1b[?1049l";
constexpr const char* kHome = "\x1b[H";
constexpr const char* kWipeRight = "\x1b[K";
constexpr const char* kWipeBelow = "\x1b[J";

/// Asks a server, and keeps what the next look is compared with.
class Watcher {
 public:
  explicit Watcher(HttpClient* server) : server_(server) {}

  /// A look; `numbers_` is there from the second one on.
  Status Look() {
    Result<HttpResponse> text =
        server_->Send({.target = "/metrics", .answer_bytes_most = kMetricsBytesMost});
    if (!text.ok()) return text.status();
    if (text->status != 200) return StatusOfAnswer(*text);
    const Clock::time_point at = Clock::now();
    auto now = std::make_unique<MetricsText>(text->body);
    const Result<Json> ready = server_->Call({.target = "/readyz"});
    if (!ready.ok()) return ready.status();
    if (admin_ && looks_++ % kReportsEvery == 0) {
      if (Status asked = AskReports(); !asked.ok()) return asked;
    }
    if (before_) {
      const auto present = std::chrono::system_clock::now().time_since_epoch();
      numbers_ = TopNumbers({.before = before_.get(),
                             .now = now.get(),
                             .seconds = std::chrono::duration<double>(at - at_).count(),
                             .ready = &*ready,
                             .ring = ring_ ? &*ring_ : nullptr,
                             .buckets = buckets_ ? &*buckets_ : nullptr,
                             .now_s = std::chrono::duration<double>(present).count()});
    }
    before_ = std::move(now);
    at_ = at;
    return {};
  }

  /// Forgets the last look: the server was away.
  void Reset() {
    before_.reset();
    numbers_.reset();
    looks_ = 0;
  }

  const std::optional<Json>& numbers() const { return numbers_; }

 private:
  Status AskReports() {
    Result<HttpResponse> ring = server_->Send({.target = "/admin/ring"});
    if (!ring.ok()) return ring.status();
    admin_ = ring->status != 403;
    if (!admin_) return {};  // the token has another role: the rest is shown
    if (ring->status != 200) return StatusOfAnswer(*ring);
    ring_ = ParseAnswer(ring->body);
    Result<Json> buckets = server_->Call({.target = "/admin/buckets"});
    if (!buckets.ok()) return buckets.status();
    buckets_ = std::move(buckets).value();
    return {};
  }

  HttpClient* const server_;
  int looks_ = 0;
  bool admin_ = true;  // as long as nothing else was said
  std::unique_ptr<MetricsText> before_;
  Clock::time_point at_;
  std::optional<Json> ring_, buckets_, numbers_;
};

/// Waits; false once the user wants to end.
bool Wait(std::chrono::milliseconds time) {
  for (const auto until = Clock::now() + time; Clock::now() < until;) {
    if (InterruptedBy() != 0) return false;
    std::this_thread::sleep_for(kStep);
  }
  return InterruptedBy() == 0;
}

struct Screen {
  size_t rows = 24, columns = 80;
};

Screen SizeOfScreen() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
    return {};
  return {size.ws_row, size.ws_col};
}

/// Puts the text onto the screen, as much of it as there is room for.
Status Draw(const std::string& text, Screen screen) {
  std::string out = kHome;
  for (const char byte : Clipped(text, screen.rows, screen.columns)) {
    if (byte == '\n') out += kWipeRight;
    out += byte;
  }
  return Print(out + kWipeRight + kWipeBelow);
}

Status RunOnce(const Session& session, HttpClient* server) {
  Watcher watcher(server);
  for (int look = 0; look < 2; ++look) {
    if (look > 0) std::this_thread::sleep_for(kOnce);
    if (Status looked = watcher.Look(); !looked.ok()) return looked;
  }
  return session.json ? PrintJson(*watcher.numbers())
                      : Print(TopText(*watcher.numbers(), kBuckets));
}

Status RunAgainAndAgain(HttpClient* server) {
  if (isatty(STDOUT_FILENO) == 0) {
    return Status::InvalidArgument("standard output is no terminal to draw on: say --once");
  }
  const CatchInterrupts interrupts;
  Watcher watcher(server);
  if (Status first = watcher.Look(); !first.ok()) return first;
  Status drawn = Print(kEnter);
  for (auto pause = kOnce; drawn.ok() && Wait(pause); pause = kEvery) {
    const Status looked = watcher.Look();
    const Screen screen = SizeOfScreen();
    if (!looked.ok()) {
      watcher.Reset();
      drawn = Draw("seendb: " + Printable(looked.message()) + "\nasked again every two seconds\n",
                   screen);
    } else if (watcher.numbers()) {
      const size_t buckets =
          screen.rows > kOtherRows + kBuckets ? screen.rows - kOtherRows : kBuckets;
      drawn = Draw(TopText(*watcher.numbers(), buckets), screen);
    }
  }
  const Status left = Print(kLeave);
  return drawn.ok() ? left : drawn;
}

Status RunTop(const Session& session, bool once) {
  if (!session.db.empty()) return Status::InvalidArgument("a server is asked: say --url, not --db");
  auto server = OpenServer(session);
  if (!server.ok()) return server.status();
  return once || session.json ? RunOnce(session, server->get()) : RunAgainAndAgain(server->get());
}

}  // namespace

void AddTop(Command app, Session& session) {
  auto once = std::make_shared<bool>(false);
  Command command = AddCommand(
      app, session, "top",
      "Show how a server is, drawn anew every two seconds: rates, slots, buckets; Ctrl-C ends it",
      Takes::kServer, [&session, once] { return RunTop(session, *once); });
  command.AddFlag("--once", *once,
                  "Look twice within a second, print that, and end; so does --json");
  command.Examples({"seendb top --once     # without --once it goes on until Ctrl-C"});
}

}  // namespace seendb::tool
