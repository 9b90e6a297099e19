#include "maintenance.h"

#include <chrono>

#include "units.h"

namespace seendb::tool {

Status Perform(const Session& session, const Deed& deed) {
  auto database = Database::Open(session, Access::kWrite);
  if (!database.ok()) return database.status();
  const auto begin = std::chrono::steady_clock::now();
  HttpClient* server = (*database)->server();
  Status status =
      server != nullptr ? server->Call(deed.request).status() : deed.engine(*(*database)->engine());
  status = (*database)->Close(status);
  if (!status.ok()) return status;
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  if (!session.json) return Print(deed.done + " in " + FormatDurationUs(took.count()) + "\n");
  return PrintJson({{"done", deed.done}, {"took_us", static_cast<uint64_t>(took.count())}});
}

}  // namespace seendb::tool
