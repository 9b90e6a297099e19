#include "database.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cluster/meta_cache.h"
#include "seams.h"
#include "seendb/options.h"

namespace seendb::tool {
namespace {

class FixedClock : public Clock {
 public:
  explicit FixedClock(int64_t now_ms) : now_ms_(now_ms) {}
  int64_t NowMs() const override { return now_ms_; }

 private:
  int64_t now_ms_;
};

Result<int64_t> ParseClock(std::string_view text) {
  constexpr std::string_view kManual = "manual:";
  int64_t now_ms = 0;
  const std::string_view number = text.substr(std::min(kManual.size(), text.size()));
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), now_ms);
  if (!text.starts_with(kManual) || error != std::errc() || end != number.data() + number.size() ||
      now_ms < 0) {
    return Status::InvalidArgument("--clock: write manual:MS, ms since 1970");
  }
  return now_ms;
}

bool IsRead(Access access) { return access == Access::kRead || access == Access::kReadDamaged; }

Status WithHint(const Status& status, Access access) {
  if (status.code() != StatusCode::kBusy || IsRead(access)) return status;
  return Status::Busy(std::string(status.message()) +
                      "; ask the server that has it by --url http://HOST:PORT");
}

}  // namespace

bool IsOfNode(const std::string& db) {
  std::error_code none;
  return std::filesystem::exists(db + "/" + cluster::kMetaCacheName, none);
}

Result<std::unique_ptr<Clock>> ClockOf(const Session& session) {
  if (session.clock.empty()) return std::unique_ptr<Clock>();
  const auto now_ms = ParseClock(session.clock);
  if (!now_ms.ok()) return now_ms.status();
  return std::unique_ptr<Clock>(std::make_unique<FixedClock>(*now_ms));
}

Database::Database() = default;
Database::~Database() = default;

Result<std::unique_ptr<Database>> Database::Open(const Session& session, Access access) {
  if (!session.db.empty() && !session.url.empty()) {
    return Status::InvalidArgument("--db and --url exclude each other");
  }
  std::unique_ptr<Database> database(new Database);
  if (!session.db.empty()) {
    Status status = database->OpenFolder(session, access);
    if (!status.ok()) return status;
    return database;
  }
  if (!session.clock.empty()) {
    return Status::InvalidArgument("--clock is for --db; the server has its own");
  }
  auto server = OpenServer(session);
  if (!server.ok()) return server.status();
  database->server_ = std::move(server).value();
  return database;
}

Status Database::OpenFolder(const Session& session, Access access) {
  Options options;
  options.create_if_missing = access == Access::kCreate;
  options.read_only = IsRead(access);
  options.open_damaged = access == Access::kReadDamaged;
  options.background = false;
  auto clock = ClockOf(session);
  if (!clock.ok()) return clock.status();
  clock_ = std::move(clock).value();
  Seams seams;
  seams.clock = clock_.get();
  options.as_found = IsOfNode(session.db);
  auto engine = Engine::Open(session.db, options, seams);
  if (!engine.ok()) return WithHint(engine.status(), access);
  engine_ = std::move(engine).value();
  if (options.as_found && !session.json) TellShards();
  return {};
}

void Database::TellShards() const {
  std::string list;
  const std::vector<uint32_t> shards = engine_->AttachedShards();
  for (size_t first = 0; first < shards.size();) {
    size_t last = first;
    while (last + 1 < shards.size() && shards[last + 1] == shards[last] + 1) ++last;
    list += (list.empty() ? "" : ", ") + std::to_string(shards[first]);
    if (last > first) list += "-" + std::to_string(shards[last]);
    first = last + 1;
  }
  std::fprintf(stderr, "seendb: a node of a cluster, which has %s of %u shards\n",
               list.empty() ? "none" : list.c_str(), engine_->Stats().shards);
}

Status Database::Close(Status outcome) {
  if (!engine_) return outcome;
  Status closed = engine_->Close();
  engine_.reset();
  return outcome.ok() ? closed : outcome;
}

}  // namespace seendb::tool
