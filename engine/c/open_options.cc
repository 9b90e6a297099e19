#include "c/open_options.h"

#include <functional>
#include <map>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "base/json_pointer.h"
#include "base/outside_json.h"
#include "seendb/seendb.h"

namespace seendb::c {
namespace {

using Json = nlohmann::json;
using Setter = std::function<Status(const Json&)>;

Setter Flag(bool* to) {
  return [=](const Json& value) {
    if (!value.is_boolean()) return Status::InvalidArgument("must be true or false");
    *to = value.get<bool>();
    return Status::Ok();
  };
}

template <typename T>
Setter Number(T* to, uint64_t min, uint64_t max) {
  return [=](const Json& value) {
    const auto number = WholeNumber(value, max);
    if (!number || *number < min) {
      return Status::InvalidArgument("must be an integer within " + std::to_string(min) + ".." +
                                     std::to_string(max));
    }
    *to = static_cast<T>(*number);
    return Status::Ok();
  };
}

Setter DefaultPolicy(PolicyPatch* to) {
  return [=](const Json& value) {
    const Result<PolicyPatch> patch = PolicyPatchFromJson(value.dump());
    if (!patch.ok()) return patch.status();
    const Status valid = ValidatePolicy(ApplyPatch({}, *patch));
    if (valid.ok()) *to = *patch;
    return valid;
  };
}

std::map<std::string, Setter> KeysOf(Options* o) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 50;
  return {{"shards", Number(&o->shards, 0, 1'024)},
          {"create_if_missing", Flag(&o->create_if_missing)},
          {"read_only", Flag(&o->read_only)},
          {"open_damaged", Flag(&o->open_damaged)},
          {"background", Flag(&o->background)},
          {"ring_slots", Number(&o->ring_slots, 2, 64)},
          {"slot_ms", Number(&o->slot_ms, 1, 86'400'000)},
          {"slot_bytes_max", Number(&o->slot_bytes_max, 1, kMostBytes)},
          {"short_term_bytes", Number(&o->short_term_bytes, 0, kMostBytes)},
          {"block_cache_bytes", Number(&o->block_cache_bytes, 0, kMostBytes)},
          {"user_cache_bytes", Number(&o->user_cache_bytes, 0, kMostBytes)},
          {"write_buffer_bytes", Number(&o->write_buffer_bytes, 1u << 16, kMostBytes)},
          {"background_threads", Number(&o->background_threads, 1, 256)},
          {"max_column_families", Number(&o->max_column_families, 1, 100'000)},
          {"max_collections", Number(&o->max_collections, 1, 100'000)},
          {"list_limit", Number(&o->list_limit, 16, 65'535)},
          {"max_candidates", Number(&o->max_candidates, 1, SEENDB_MOST_ELEMENTS)},
          {"sync_interval_ms", Number(&o->sync_interval_ms, 1, 86'400'000)},
          {"default_policy", DefaultPolicy(&o->default_policy)}};
}

}  // namespace

Status ReadOptions(std::string_view json, Options* options) {
  if (json.empty()) return Status::Ok();
  const Status malformed = Status::InvalidArgument("options must be a JSON object");
  if (JsonDepth(json) > kOutsideDepthMost) return malformed;
  std::set<std::string> names;
  std::string repeated;
  const auto note = [&](int depth, Json::parse_event_t event, Json& key) {
    if (event == Json::parse_event_t::key && depth == 1 &&
        !names.insert(key.get<std::string>()).second) {
      repeated = key.get<std::string>();
    }
    return true;
  };
  const Json document = Json::parse(json, note, false);
  if (!document.is_object()) return malformed;
  if (!repeated.empty()) return Status::InvalidArgument("repeated key", PointerTo(repeated));
  const auto keys = KeysOf(options);
  for (const auto& [name, value] : document.items()) {
    const auto key = keys.find(name);
    if (key == keys.end()) return Status::InvalidArgument("unknown key", PointerTo(name));
    const Status set = key->second(value);
    if (!set.ok()) return set.WithFieldPrefix(PointerTo(name));
  }
  return Status::Ok();
}

}  // namespace seendb::c
