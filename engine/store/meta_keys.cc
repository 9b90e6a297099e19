#include "store/meta_keys.h"

#include <nlohmann/json.hpp>

namespace seendb {

std::string RingState(uint64_t epoch) { return nlohmann::json{{"epoch", epoch}}.dump(); }

std::optional<uint64_t> ParseRingState(std::string_view json) {
  const auto state = nlohmann::json::parse(json, nullptr, false);
  if (!state.is_object()) return {};
  const auto epoch = state.find("epoch");
  if (epoch == state.end() || !epoch->is_number_unsigned()) return {};
  return epoch->get<uint64_t>();
}

}  // namespace seendb
