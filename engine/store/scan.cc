#include "store/scan.h"

#include <cctype>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "format/filter_codec.h"
#include "format/impressions_codec.h"
#include "format/journal_codec.h"
#include "format/user_codec.h"

namespace seendb {
namespace {

std::string Printable(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f && byte != '\\') {
      text.push_back(c);
    } else {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\x%02x", byte);
      text.append(escaped);
    }
  }
  return text;
}

std::string FilterText(std::string_view value) {
  FilterView view;
  if (!view.Parse(value)) return "damaged filter, " + std::to_string(value.size()) + " bytes";
  std::string text = view.sealed ? "sealed" : (view.layer_count > 0 ? "layers" : "list");
  text += " list=" + std::to_string(view.list_count);
  for (uint32_t i = 0; i < view.layer_count; ++i) {
    const LayerView& layer = view.layers[i];
    text += " layer(blocks=" + std::to_string(layer.blocks) +
            " items=" + std::to_string(layer.items) +
            " capacity=" + std::to_string(layer.capacity) + ")";
  }
  if (view.as_of_ms != 0) text += " as_of=" + std::to_string(view.as_of_ms);
  if (view.dropped_layers != 0) text += " dropped_layers=" + std::to_string(view.dropped_layers);
  if (!view.damage.empty()) text += " damaged";
  return text;
}

std::string JournalText(std::string_view value) {
  JournalDecoder decoder;
  if (!decoder.Begin(value)) return "damaged record, " + std::to_string(value.size()) + " bytes";
  return "collection=" + Printable(decoder.collection()) +
         " plays=" + std::to_string(decoder.count());
}

std::string ImpressionsText(std::string_view value) {
  ImpressionList list;
  if (!list.Parse(value)) return "damaged impressions, " + std::to_string(value.size()) + " bytes";
  std::string text = "items=" + std::to_string(list.entries.size());
  if (!list.entries.empty()) text += " newest=" + std::to_string(list.entries.front().at_ms);
  if (!list.damage.empty()) text += " damaged";
  return text;
}

std::string UserText(std::string_view value) {
  UserRecord record;
  if (!record.Parse(value)) return "damaged user record";
  return "erased_seq=" + std::to_string(record.erased_seq) +
         " erased_at=" + std::to_string(record.erased_at_ms);
}

// Parts that a merge set aside. Damage is told before what is only newer.
ValueFault FaultOf(const DamageSet& damage) {
  if (!damage.entries.empty()) {
    return {std::to_string(damage.entries.size()) + " damaged operands or values were set aside"};
  }
  if (damage.newer.empty()) return {};
  return {"set aside: " + NewerText(damage.newer.front()), true};
}

ValueFault FaultOfFilter(std::string_view value) {
  FilterView view;
  if (!view.Parse(value)) return {"the filter's bytes are damaged"};
  if (!view.ListIsSorted()) return {"the filter's list is not in order"};
  DamageSet damage;
  if (view.damage.empty()) return {};
  if (!DamageSet::Read(view.damage, &damage)) return {"the damage section is damaged"};
  return FaultOf(damage);
}

ValueFault FaultOfImpressions(std::string_view value) {
  ImpressionList list;
  if (!list.Parse(value)) return {"the impressions are damaged"};
  return FaultOf(list.damage);
}

ValueFault FaultOfUser(std::string_view value) {
  UserRecord record;
  if (!record.Parse(value) || record.damaged) return {"the user record is damaged"};
  if (record.newer.empty()) return {};
  return {"set aside: " + NewerText(record.newer.front()), true};
}

ValueFault FaultOfJournal(std::string_view key, std::string_view value) {
  uint64_t sequence = 0;
  if (!ParseSequenceKey(key, &sequence)) return {"the key is no sequence"};
  JournalDecoder decoder;
  std::string_view user;
  int64_t bucket = 0;
  Fingerprint item = 0;
  if (decoder.Begin(value)) {
    while (decoder.Next(&user, &bucket, &item)) {
    }
  }
  return {decoder.ok() ? "" : "the journal record is damaged"};
}

}  // namespace

std::string NewerReason(FamilyName::Kind kind, std::string_view value) {
  if (kind != FamilyName::kRing && kind != FamilyName::kUsers) return {};
  std::string reason = NewerText(value);
  if (!reason.empty() || kind == FamilyName::kRing) return reason;
  ValueFault fault = FaultOfUser(value);
  return fault.newer ? std::move(fault.reason) : "";
}

std::string KeyText(const FamilyName& family, std::string_view key) {
  uint64_t sequence = 0;
  if (family.kind == FamilyName::kRing && ParseSequenceKey(key, &sequence)) {
    return std::to_string(sequence >> 40) + ":" +
           std::to_string(sequence & ((uint64_t{1} << 40) - 1));
  }
  return Printable(key);
}

std::string ValueText(const FamilyName& family, std::string_view value) {
  if (std::string newer = NewerText(value); !newer.empty()) return newer;
  switch (family.kind) {
    case FamilyName::kSeen:
      return FilterText(value);
    case FamilyName::kRing:
      return JournalText(value);
    case FamilyName::kImpressions:
      return ImpressionsText(value);
    case FamilyName::kUsers:
      return UserText(value);
    case FamilyName::kDefault:
    case FamilyName::kUnknown:
      break;
  }
  return Printable(value);
}

ValueFault FaultOf(FamilyName::Kind kind, std::string_view key, std::string_view value) {
  if (std::string newer = NewerText(value); !newer.empty()) return {std::move(newer), true};
  switch (kind) {
    case FamilyName::kSeen:
      return FaultOfFilter(value);
    case FamilyName::kRing:
      return FaultOfJournal(key, value);
    case FamilyName::kImpressions:
      return FaultOfImpressions(value);
    case FamilyName::kUsers:
      return FaultOfUser(value);
    case FamilyName::kDefault:
      if (key.starts_with("damaged/")) return {"a damaged journal record was set aside"};
      if (nlohmann::json::accept(value)) return {};
      return {"the record is not JSON"};
    case FamilyName::kUnknown:
      break;
  }
  return {};
}

}  // namespace seendb
