#include "maintenance.h"

#include <chrono>

#include "report_json.h"
#include "units.h"

namespace seendb::tool {
namespace {

Status PerformIn(Engine& engine, const Operation& operation, uint64_t* count) {
  const auto counted = [&] {
    return operation.counter.value == nullptr ? 0 : engine.Stats().*operation.counter.value;
  };
  const uint64_t before = counted();
  Status status = operation.engine(engine);
  *count = counted() - before;
  return status;
}

Status PerformAt(HttpClient& server, const Operation& operation, uint64_t* count) {
  auto answer = server.Call(operation.request);
  if (!answer.ok()) return answer.status();
  if (operation.counter.name != nullptr) *count = CountOf(*answer, operation.counter.name);
  if (operation.answered) operation.answered(*answer);
  return {};
}

}  // namespace

Status Perform(const Session& session, const Operation& operation) {
  auto database = Database::Open(session, Access::kWrite);
  if (!database.ok()) return database.status();
  const auto begin = std::chrono::steady_clock::now();
  uint64_t count = 0;
  HttpClient* server = (*database)->server();
  Status status = server != nullptr ? PerformAt(*server, operation, &count)
                                    : PerformIn(*(*database)->engine(), operation, &count);
  status = (*database)->Close(status);
  if (!status.ok()) return status;
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  const OperationCounter& counter = operation.counter;
  std::string text = operation.done;
  Json json = {{"ok", true}};
  if (operation.tell) operation.tell(&text, &json);
  if (!session.json) {
    if (counter.name != nullptr) text += " " + counter.format(count) + counter.unit;
    return Print(text + " in " + FormatDurationUs(took.count()) + "\n" + operation.note);
  }
  if (counter.name != nullptr) json[counter.name] = count;
  json["took_ms"] = static_cast<uint64_t>(took.count() / 1e3);
  return PrintJson(json);
}

}  // namespace seendb::tool
