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

/// Items and sets are of no shard.
Status CopyStores(const Context& context, const std::string& folder) {
  if (const auto items = context.items.Checkpoint(folder + "/items"); !items.ok()) {
    return items.status();
  }
  return context.sets.Checkpoint(folder + "/sets").status();
}

/// Makes the copy and its answer. `began`: when it was asked for.
Status Make(Context& context, const std::string& name, std::chrono::steady_clock::time_point began,
            std::string* body) {
  const std::string target = (std::filesystem::path(context.checkpoints) / name).string();
  std::error_code error;
  if (std::filesystem::symlink_status(target, error).type() !=
      std::filesystem::file_type::not_found) {
    return Status::Incompatible("\"" + name + "\" is there already", "/name");
  }
  Engine& engine = *context.engine.load(std::memory_order_acquire);
  const Result<CheckpointReport> report = engine.Checkpoint(
      target, [&](const std::string& folder) { return CopyStores(context, folder); });
  if (!report.ok()) {
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
