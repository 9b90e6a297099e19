#include "ops/migration_state.h"

#include <nlohmann/json.hpp>

namespace seendb::ops {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson SamplesToJson(const std::vector<MigrationSample>& samples) {
  OrderedJson out = OrderedJson::array();
  for (const MigrationSample& one : samples) {
    OrderedJson sample = {{"user", one.user}, {"item", one.item}};
    if (one.at_ms != 0) sample["at"] = one.at_ms;
    out.push_back(std::move(sample));
  }
  return out;
}

}  // namespace

std::string MigrationStatesToJson(const std::vector<MigrationState>& states) {
  OrderedJson collections = OrderedJson::array();
  for (const MigrationState& state : states) {
    OrderedJson one = {{"collection", state.collection},
                       {"phase", state.phase},
                       {"redis", state.redis},
                       {"key", state.key},
                       {"until_migrated", state.until_migrated},
                       {"dual_write", state.dual_write},
                       {"problem", state.problem},
                       {"imported_users", state.imported_users},
                       {"everybody_imported", state.everybody_imported},
                       {"notes", state.notes},
                       {"import_queue", state.import_queue},
                       {"queue_bytes", state.queue_bytes}};
    for (size_t i = 0; i < kMigrationCounts.size(); ++i) {
      one[std::string(kMigrationCounts[i].name)] = state.counts[i];
    }
    one["affected_count"] = state.affected_count;
    one["affected_users"] = state.affected_users;
    one["missing_samples"] = SamplesToJson(state.missing_samples);
    one["extra_samples"] = SamplesToJson(state.extra_samples);
    if (const auto& dropped = state.dropped) {
      one["dropped"] = {{"queue_bytes", dropped->queue_bytes},
                        {"affected_users", dropped->affected_users},
                        {"import_queue", dropped->import_queue},
                        {"not_everybody", dropped->not_everybody}};
    }
    collections.push_back(std::move(one));
  }
  // Members of the old store may be any bytes.
  return OrderedJson{{"collections", std::move(collections)}}.dump(
      -1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace seendb::ops
