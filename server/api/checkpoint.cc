// POST /admin/checkpoint: a copy of the running database, in the folder the settings name.

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "api/routes.h"
#include "api/status_http.h"
#include "ops/log.h"
#include "wire/json_read.h"

namespace seendb::api {
namespace {

constexpr size_t kMaxName = 64;

/// A name that stays within the folder. ".tmp" is what the engine hangs on copies being made.
bool IsName(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kMaxName && name.front() != '.' &&
         !name.ends_with(".tmp") && std::all_of(name.begin(), name.end(), fits);
}

Status ParseName(std::string_view body, std::string* name) {
  constexpr std::array<std::string_view, 1> kFields = {"name"};
  wire::JsonDocument document;
  wire::FieldSet fields(kFields);
  Status status =
      wire::ReadObject(body, &document, &fields, [&](size_t, wire::ondemand::value value) {
        std::string_view text;
        Status read = wire::ReadText(value, &text);
        *name = text;
        return read;
      });
  if (status.ok()) status = fields.Require(0);
  if (!status.ok()) return status;
  if (IsName(*name)) return Status::Ok();
  return Status::InvalidArgument(
      "must be 1-64 of A-Z a-z 0-9 . _ -, not begin with a dot, not end with .tmp", "/name");
}

/// A copy of what is of no shard, beside the copy of the database until that is there.
class CopyBeside {
 public:
  CopyBeside(std::string target, std::string name)
      : target_(std::move(target)),
        name_(std::move(name)),
        beside_(target_ + "." + name_ + ".tmp") {}
  CopyBeside(const CopyBeside&) = delete;
  CopyBeside& operator=(const CopyBeside&) = delete;
  ~CopyBeside() { Remove(); }

  template <typename Door>
  Status Make(const Door& door) {
    Remove();  // what a crash left
    const Result<bool> made = door.Checkpoint(beside_);
    there_ = made.ok() && *made;
    return made.status();
  }
  Status MoveIn() const {
    if (!there_) return {};
    std::error_code error;
    std::filesystem::rename(beside_, target_ + "/" + name_, error);
    if (!error) return {};
    return Status::IOError("put the " + name_ + " into the copy: " + error.message());
  }

 private:
  void Remove() const {
    std::error_code error;
    std::filesystem::remove_all(beside_, error);
  }

  const std::string target_, name_, beside_;
  bool there_ = false;
};

/// Makes the copy and its answer. `began`: when it was asked for.
Status Make(Context& context, const std::string& name, std::chrono::steady_clock::time_point began,
            std::string* body) {
  const std::string target = (std::filesystem::path(context.checkpoints) / name).string();
  std::error_code error;
  if (std::filesystem::symlink_status(target, error).type() !=
      std::filesystem::file_type::not_found) {
    return Status::Incompatible("\"" + name + "\" is there already", "/name");
  }
  // Items and sets are of no shard. Their copies are made first, so that a copy of the database
  // never stands there without them for longer than a rename takes.
  CopyBeside items(target, "items"), sets(target, "sets");
  if (Status copied = items.Make(context.items); !copied.ok()) return copied;
  if (Status copied = sets.Make(context.sets); !copied.ok()) return copied;
  Engine& engine = *context.engine.load(std::memory_order_acquire);
  const Result<CheckpointReport> report = engine.Checkpoint(target);
  if (report.ok()) {
    if (Status moved = items.MoveIn(); !moved.ok()) return moved;
    if (Status moved = sets.MoveIn(); !moved.ok()) return moved;
  } else {
    const Status refused = report.status();  // its field is the engine's: the folder
    const char* const field = refused.field().empty() ? "" : "/name";
    return Status(refused.code(), std::string(refused.message()), field);
  }
  using Milliseconds = std::chrono::milliseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t at_ms = std::chrono::duration_cast<Milliseconds>(now).count();
  if (const Status noted = context.last_checkpoint.Note(at_ms); !noted.ok()) {
    ops::Log(ops::LogLevel::kWarn, "checkpoint_not_noted", {{"error", noted.ToString()}});
  }
  const auto took = std::chrono::steady_clock::now() - began;
  nlohmann::ordered_json json = {{"ok", true}, {"name", name}};
  json.update(nlohmann::ordered_json::parse(ReportToJson(*report)));
  json["took_ms"] = std::chrono::duration_cast<Milliseconds>(took).count();
  *body = json.dump();
  return Status::Ok();
}

}  // namespace

http::Task<> HandleCheckpoint(Call call) {
  std::string name;
  if (const Status status = ParseName(call.request.body, &name); !status.ok()) {
    co_return call.Refuse(status);
  }
  if (call.context.checkpoints.empty()) {
    co_return call.Refuse(
        Status::NotFound("no folder for checkpoints; name one by the setting \"checkpoints\""));
  }
  const auto began = std::chrono::steady_clock::now();
  // One at a time: of two of one name the second is told that it is there already.
  const OneAtATime::Turn turn = co_await call.context.checkpointing.Enter();
  if (!turn) {
    http::WriteError({503, "busy", "too much work in flight"}, &call.response);
    co_return;
  }
  const Status status = Make(call.context, name, began, &call.response.body);
  if (!status.ok()) http::WriteError(ToHttpError(status), &call.response);
}

}  // namespace seendb::api
