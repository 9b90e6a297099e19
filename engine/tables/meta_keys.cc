#include "tables/meta_keys.h"

#include <nlohmann/json.hpp>

namespace seendb {

namespace {

// The member of an object; nothing where the text is damaged or has none.
std::optional<uint64_t> NumberIn(std::string_view json, const char* member) {
  const auto state = nlohmann::json::parse(json, nullptr, false);
  if (!state.is_object()) return {};
  const auto number = state.find(member);
  if (number == state.end() || !number->is_number_unsigned()) return {};
  return number->get<uint64_t>();
}

}  // namespace

MetaRebuild RebuildOf(std::string_view key) {
  for (const MetaKey& kind : kMetaKeys) {
    if (kind.key.ends_with('/') ? key.starts_with(kind.key) : key == kind.key) return kind.rebuild;
  }
  return MetaRebuild::kNewest;
}

std::string RingState(uint64_t epoch) { return nlohmann::json{{"epoch", epoch}}.dump(); }

std::optional<uint64_t> ParseRingState(std::string_view json) { return NumberIn(json, "epoch"); }

std::string Making::ToJson() const {
  nlohmann::ordered_json note{{"number", number}, {"sequence", sequence}};
  if (deleting) note["deleting"] = true;
  return note.dump();
}

std::optional<Making> Making::FromJson(std::string_view json) {
  const std::optional<uint64_t> number = NumberIn(json, "number");
  const std::optional<uint64_t> sequence = NumberIn(json, "sequence");
  if (!number || !sequence) return {};
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  return Making{*number, *sequence, parsed.contains("deleting")};
}

std::string PolicyMark::ToJson() const {
  return nlohmann::ordered_json{{"revision", revision}, {"sum", sum}}.dump();
}

std::optional<PolicyMark> PolicyMark::FromJson(std::string_view json) {
  const std::optional<uint64_t> revision = NumberIn(json, "revision");
  const std::optional<uint64_t> sum = NumberIn(json, "sum");
  if (!revision || !sum) return {};
  return PolicyMark{*revision, *sum};
}

std::string SealedState(uint64_t late_total) {
  return nlohmann::json{{"late_total", late_total}}.dump();
}

std::optional<uint64_t> ParseSealedState(std::string_view json) {
  return NumberIn(json, "late_total");
}

std::string DroppedValue(std::string_view label) {
  return nlohmann::json{{"bucket", label}}.dump();
}

std::optional<std::string> ParseDropped(std::string_view json) {
  const auto value = nlohmann::json::parse(json, nullptr, false);
  if (!value.is_object()) return {};
  const auto label = value.find("bucket");
  if (label == value.end() || !label->is_string()) return {};
  return label->get<std::string>();
}

std::string ClockNote::ToJson() const {
  nlohmann::ordered_json note{{"epoch", epoch}};
  if (noted_ms) note["noted_ms"] = *noted_ms;
  return note.dump();
}

std::optional<ClockNote> ClockNote::FromJson(std::string_view json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_object()) return {};
  const auto epoch = parsed.find("epoch");
  if (epoch == parsed.end() || !epoch->is_number_unsigned()) return {};
  ClockNote note;
  note.epoch = epoch->get<uint64_t>();
  const auto noted = parsed.find("noted_ms");
  if (noted == parsed.end()) return note;
  if (!noted->is_number_integer()) return {};
  note.noted_ms = noted->get<int64_t>();
  return note;
}

std::string PurgeNote::ToJson() const {
  return nlohmann::ordered_json{{"sequence", sequence}, {"at_ms", at_ms}}.dump();
}

std::optional<PurgeNote> PurgeNote::FromJson(std::string_view json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_object()) return {};
  const auto sequence = parsed.find("sequence");
  const auto at = parsed.find("at_ms");
  if (sequence == parsed.end() || !sequence->is_number_unsigned()) return {};
  if (at == parsed.end() || !at->is_number_integer()) return {};
  return PurgeNote{sequence->get<uint64_t>(), at->get<int64_t>()};
}

std::string ForgottenTopicState() { return nlohmann::json{{"forgotten", true}}.dump(); }

bool SaysForgotten(std::string_view json) {
  const auto state = nlohmann::json::parse(json, nullptr, false);
  if (!state.is_object()) return false;
  const auto forgotten = state.find("forgotten");
  return forgotten != state.end() && forgotten->is_boolean() && forgotten->get<bool>();
}

std::string ErasingState(int64_t at_ms) { return nlohmann::json{{"at_ms", at_ms}}.dump(); }

std::optional<int64_t> ParseErasingState(std::string_view json) {
  const auto state = nlohmann::json::parse(json, nullptr, false);
  if (!state.is_object()) return {};
  const auto at = state.find("at_ms");
  if (at == state.end() || !at->is_number_integer()) return {};
  return at->get<int64_t>();
}

}  // namespace seendb
