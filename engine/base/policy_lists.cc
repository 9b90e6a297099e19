#include "base/policy_lists.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/counted_kinds.h"
#include "base/duration_text.h"
#include "base/facts.h"
#include "base/json_pointer.h"
#include "base/suggest.h"
#include "base/utf8.h"

namespace seendb {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kCapMembers = {"of", "fact", "n", "within"};
constexpr char kDurationRule[] = "must be a duration from \"1m\" to \"30d\"";

Status ReadDurationOf(const Json& json, int64_t* ms) {
  const auto read =
      json.is_string() ? DurationOfText(json.get_ref<const std::string&>()) : std::nullopt;
  if (!read) return Status::InvalidArgument(kDurationRule);
  *ms = *read;
  return {};
}

Status ReadFactOf(const Json& json, Fact* fact) {
  for (const Fact one : {Fact::kPlayed, Fact::kServed, Fact::kExposed}) {
    if (json != FactName(one)) continue;
    *fact = one;
    return {};
  }
  return Status::InvalidArgument(R"(must be "played", "served" or "exposed")");
}

Status ReadCapMember(const std::string& name, const Json& json, PolicyCap* cap) {
  if (name == "fact") return ReadFactOf(json, &cap->fact);
  if (name == "within") return ReadDurationOf(json, &cap->within_ms);
  if (name == "of") {
    if (!json.is_string()) return Status::InvalidArgument("must be a string");
    cap->of = json.get<std::string>();
    return {};
  }
  if (name == "n") {
    if (!json.is_number_unsigned()) return Status::InvalidArgument("must be a whole number");
    cap->n = static_cast<uint32_t>(
        std::min<uint64_t>(json.get<uint64_t>(), std::numeric_limits<uint32_t>::max()));
    return {};
  }
  return Status::InvalidArgument(UnknownName("is not a member of a cap", name, kCapMembers));
}

Status ReadPolicyCap(const Json& json, PolicyCap* cap) {
  if (!json.is_object()) return Status::InvalidArgument("must be an object");
  for (const auto& [name, value] : json.items()) {
    const Status read = ReadCapMember(name, value, cap);
    if (!read.ok()) return read.WithFieldPrefix(PointerTo(Utf8Prefix(name, kMaxSuggestedBytes)));
  }
  for (const char* required : {"of", "n", "within"}) {
    if (!json.contains(required)) {
      return Status::InvalidArgument("is required", PointerTo(required));
    }
  }
  return {};
}

}  // namespace

std::string CountedKinds::Rule() {
  return "must be an object of at most " + std::to_string(kMaxCountedKinds) +
         " kinds of groups with durations from \"1m\" to \"30d\"";
}

Status CountedKinds::Check(const Value& kinds) {
  if (kinds.size() > kMaxCountedKinds) return Status::InvalidArgument(Rule());
  for (size_t i = 0; i < kinds.size(); ++i) {
    Status good = CheckGroup(kinds[i].kind);
    if (good.ok() && kinds[i].kind.find(':') != std::string::npos) {
      good = Status::InvalidArgument("a kind of groups has no ':'");
    }
    if (good.ok() && (kinds[i].for_ms < kMinCapMs || kinds[i].for_ms > kCountedForMs)) {
      good = Status::InvalidArgument(kDurationRule);
    }
    const auto is_it = [&](const CountedKind& other) { return other.kind == kinds[i].kind; };
    if (good.ok() && std::count_if(kinds.begin(), kinds.end(), is_it) > 1) {
      good = Status::InvalidArgument("is repeated");
    }
    if (!good.ok())
      return good.WithFieldPrefix(PointerTo(Utf8Prefix(kinds[i].kind, kMaxSuggestedBytes)));
  }
  return {};
}

Json CountedKinds::Write(const Value& kinds) {
  Json json = Json::object();
  for (const CountedKind& one : kinds) json[one.kind] = DurationText(one.for_ms);
  return json;
}

Status CountedKinds::Read(const Json& json, Value* kinds) {
  if (!json.is_object()) return Status::InvalidArgument(Rule());
  for (const auto& [name, value] : json.items()) {
    CountedKind& one = kinds->emplace_back();
    one.kind = name;
    const Status read = ReadDurationOf(value, &one.for_ms);
    if (!read.ok()) return read.WithFieldPrefix(PointerTo(Utf8Prefix(name, kMaxSuggestedBytes)));
  }
  std::sort(kinds->begin(), kinds->end(),
            [](const CountedKind& a, const CountedKind& b) { return a.kind < b.kind; });
  return Check(*kinds);
}

std::string PolicyCaps::Rule() {
  return "must be an array of at most " + std::to_string(kMaxCaps) + " caps";
}

Status PolicyCaps::Check(const Value& caps) {
  if (caps.size() > kMaxCaps) return Status::InvalidArgument(Rule());
  for (size_t i = 0; i < caps.size(); ++i) {
    const Status good = CheckCap({caps[i].of, caps[i].fact, caps[i].n, caps[i].within_ms});
    if (!good.ok()) return good.WithFieldPrefix("/" + std::to_string(i));
  }
  return {};
}

Json PolicyCaps::Write(const Value& caps) {
  Json json = Json::array();
  for (const PolicyCap& cap : caps) {
    json.push_back({{"of", cap.of},
                    {"fact", FactName(cap.fact)},
                    {"n", cap.n},
                    {"within", DurationText(cap.within_ms)}});
  }
  return json;
}

Status PolicyCaps::Read(const Json& json, Value* caps) {
  if (!json.is_array() || json.size() > kMaxCaps) return Status::InvalidArgument(Rule());
  for (const Json& one : json) {
    const Status read = ReadPolicyCap(one, &caps->emplace_back());
    if (!read.ok()) return read.WithFieldPrefix("/" + std::to_string(caps->size() - 1));
  }
  return Check(*caps);
}

}  // namespace seendb
