// POST /admin/...: what people and schedulers ask the database to do now.

#include <array>
#include <chrono>
#include <optional>

#include "api/routes.h"
#include "seendb/policy.h"
#include "wire/json_read.h"

namespace seendb::api {
namespace {

/// A body that may be empty, or `{}`.
Status NothingIn(std::string_view body) {
  if (body.empty()) return Status::Ok();
  wire::JsonDocument document;
  wire::FieldSet fields({});
  return wire::ReadObject(body, &document, &fields,
                          [](size_t, wire::ondemand::value) { return Status::Ok(); });
}

/// Runs `work` and answers by how much the counter `name` rose.
template <typename Work>
void Run(Call& call, const char* name, uint64_t EngineStats::*counter, Work work) {
  const auto began = std::chrono::steady_clock::now();
  const uint64_t before = call.engine().Stats().*counter;
  if (const Status status = work(); !status.ok()) return call.Refuse(status);
  const uint64_t after = call.engine().Stats().*counter;
  const auto took = std::chrono::steady_clock::now() - began;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
  std::string& body = call.response.body;
  body.append("{\"ok\":true,\"").append(name).append("\":");
  body.append(std::to_string(after - before)).append(",\"took_ms\":");
  body.append(std::to_string(ms)).append("}");
}

/// `{"collection":...,"bucket":...}`, or nothing.
struct SealCall {
  std::string collection = "default";
  std::optional<std::string> bucket;
};

Status ParseSeal(std::string_view body, SealCall* seal) {
  if (body.empty()) return Status::Ok();
  constexpr std::array<std::string_view, 2> kFields = {"collection", "bucket"};
  wire::JsonDocument document;
  wire::FieldSet fields(kFields);
  Status status =
      wire::ReadObject(body, &document, &fields, [&](size_t index, wire::ondemand::value value) {
        std::string_view text;
        Status read = wire::ReadText(value, &text);
        if (index == 0) {
          seal->collection = text;
        } else {
          seal->bucket = std::string(text);
        }
        return read;
      });
  if (!status.ok()) return status;
  return fields.Has(0) ? fields.Require(1) : Status::Ok();
}

Status ParseClock(std::string_view body, int64_t* now_ms) {
  constexpr std::array<std::string_view, 1> kFields = {"now_ms"};
  wire::JsonDocument document;
  wire::FieldSet fields(kFields);
  std::optional<int64_t> given_ms;
  Status status = wire::ReadObject(
      body, &document, &fields,
      [&](size_t, wire::ondemand::value value) { return wire::ReadTime(value, &given_ms); });
  if (status.ok()) status = fields.Require(0);
  if (!status.ok()) return status;
  if (*given_ms > kLastTimeMs) {
    // It could never be moved back.
    return Status::InvalidArgument("must be at most " + std::to_string(kLastTimeMs), "/now_ms");
  }
  *now_ms = *given_ms;
  return status;
}

}  // namespace

void HandleDrain(Call& call) {
  if (const Status status = NothingIn(call.request.body); !status.ok()) return call.Refuse(status);
  Run(call, "drained_plays", &EngineStats::drained_plays, [&] { return call.engine().Drain(); });
}

void HandleSeal(Call& call) {
  SealCall seal;
  if (const Status status = ParseSeal(call.request.body, &seal); !status.ok()) {
    return call.Refuse(status);
  }
  if (seal.bucket && !call.context.catalog.Find(seal.collection)) {
    return call.Refuse(call.context.catalog.Unknown(seal.collection, "/collection"));
  }
  Run(call, "buckets_sealed", &EngineStats::buckets_sealed, [&] {
    return seal.bucket ? call.engine().Seal(seal.collection, *seal.bucket)
                       : call.engine().SealClosed();
  });
}

void HandleCompact(Call& call) {
  if (const Status status = NothingIn(call.request.body); !status.ok()) return call.Refuse(status);
  Run(call, "compaction_bytes_written", &EngineStats::compaction_bytes_written,
      [&] { return call.engine().Compact(); });
}

void HandleDropExpired(Call& call) {
  if (const Status status = NothingIn(call.request.body); !status.ok()) return call.Refuse(status);
  Run(call, "buckets_dropped", &EngineStats::buckets_dropped,
      [&] { return call.engine().DropExpired(); });
}

void HandleClock(Call& call) {
  ops::ManualClock* const clock = call.context.clock;
  if (clock == nullptr) {
    return call.Refuse(Status::NotFound("the clock is the machine's; start with --clock"));
  }
  int64_t now_ms = 0;
  if (const Status status = ParseClock(call.request.body, &now_ms); !status.ok()) {
    return call.Refuse(status);
  }
  const MutexLock lock(call.context.clock_mutex);
  if (!clock->MoveTo(now_ms)) {
    return call.Refuse(Status::InvalidArgument(
        "the clock stands at " + std::to_string(clock->NowMs()) + " already", "/now_ms"));
  }
  if (const Status status = call.engine().RunDue(); !status.ok()) return call.Refuse(status);
  call.response.body = "{\"now_ms\":" + std::to_string(now_ms) + "}";
}

void HandleConfirmClock(Call& call) {
  if (const Status status = NothingIn(call.request.body); !status.ok()) return call.Refuse(status);
  const Result<int64_t> now_ms = call.engine().ConfirmClock();
  if (!now_ms.ok()) return call.Refuse(now_ms.status());
  call.context.readiness.Look(&call.engine(), call.context.ingest_problems);
  call.response.body = "{\"confirmed\":true,\"now_ms\":" + std::to_string(*now_ms) + "}";
}

}  // namespace seendb::api
