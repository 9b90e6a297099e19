#include "tables/rows.h"

#include <cctype>
#include <cstdio>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "format/counts_codec.h"
#include "format/day_key.h"
#include "format/filter_codec.h"
#include "format/history_journal.h"
#include "format/impressions_codec.h"
#include "format/journal_codec.h"
#include "format/marks_codec.h"
#include "format/own_set_codec.h"
#include "format/user_codec.h"
#include "seendb/policy.h"
#include "tables/meta_keys.h"

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

std::string HistoryJournalText(std::string_view value) {
  HistoryJournalDecoder decoder;
  if (!decoder.Begin(value)) return "damaged record, " + std::to_string(value.size()) + " bytes";
  return "collection=" + Printable(decoder.collection()) +
         " history=" + std::to_string(decoder.count());
}

// User, item, and of a timeline row the time between them.
std::string RowKeyText(bool timeline, std::string_view key) {
  std::string_view user, item;
  int64_t at_ms = 0;
  if (timeline ? !ParseTimelineKey(key, &user, &at_ms, &item)
               : !ParseHistoryKey(key, &user, &item)) {
    return Printable(key);
  }
  std::string text = Printable(user) + " ";
  if (timeline) text += std::to_string(at_ms) + " ";
  return text + Printable(item);
}

// The user and the collection, behind the byte of day keys.
std::string DayKeyText(std::string_view key) {
  std::string_view user, collection;
  if (!ParseDayKey(key, &user, &collection)) return "\\xff" + Printable(key.substr(1));
  return "\\xff" + Printable(user) + " " + Printable(collection);
}

// Parts that a merge set aside. Damage is told before what is only newer.
Fault FaultOf(const DamageSet& damage) {
  if (!damage.entries.empty()) {
    return {std::to_string(damage.entries.size()) + " damaged operands or values were set aside"};
  }
  if (damage.newer.empty()) return {};
  return {"set aside: " + NewerText(damage.newer.front()), true};
}

std::string WordText(int32_t seconds) { return std::to_string(seconds); }
std::string WordText(std::string_view text) { return Printable(text); }

// " device=tv", with "@<ms>" behind where it was said before the entry's time.
template <typename Value>
void AddWord(const char* name, const Word<Value>& word, const HistoryState& state,
             std::string* text) {
  if (!word.said()) return;
  text->append(" ").append(name).append("=").append(WordText(word.value));
  if (word.said_ms != state.at_ms) text->append("@").append(std::to_string(word.said_ms));
}

Fault FaultOfHistoryJournal(std::string_view value) {
  HistoryJournalDecoder decoder;
  WatchedPlay play;
  if (decoder.Begin(value)) {
    while (decoder.Next(&play)) {
    }
  }
  return {decoder.ok() ? "" : "the journal record is damaged"};
}

}  // namespace

std::string PlainKeyText(std::string_view key) {
  return IsDayKey(key) ? DayKeyText(key) : Printable(key);
}

std::string OwnKeyText(std::string_view key) {
  std::string_view user, name;
  if (!ParseOwnSetKey(key, &user, &name)) return Printable(key);
  return "\\xff" + Printable(user) + " " + Printable(name);
}

std::string SequenceKeyText(std::string_view key) {
  uint64_t sequence = 0;
  if (!ParseSequenceKey(key, &sequence)) return PlainKeyText(key);
  return std::to_string(sequence >> 40) + ":" +
         std::to_string(sequence & ((uint64_t{1} << 40) - 1));
}

std::string HistoryKeyText(std::string_view key) { return RowKeyText(false, key); }

std::string TimelineKeyText(std::string_view key) { return RowKeyText(true, key); }

std::string PlainText(std::string_view value) { return Printable(value); }

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
  if (HistoryJournalDecoder::IsOne(value)) return HistoryJournalText(value);
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

std::string HistoryText(std::string_view value) {
  HistoryValue read;
  if (!read.Parse(value))
    return "damaged history entry, " + std::to_string(value.size()) + " bytes";
  const HistoryState& state = read.state;
  std::string text = "at=" + std::to_string(state.time_ms());
  if (state.deleted()) {
    text += " deleted";
  } else {
    if (state.deleted_ms != kNoTimeMs) text += " deleted_at=" + std::to_string(state.deleted_ms);
    AddWord("progress", state.progress_s, state, &text);
    AddWord("duration", state.duration_s, state, &text);
    AddWord("device", state.device, state, &text);
    AddWord("fields", state.fields, state, &text);
  }
  if (read.damaged) text += " damaged";
  return text;
}

std::string UserText(std::string_view value) {
  UserRecord record;
  if (!record.Parse(value)) return "damaged user record";
  if (record.last_day != kNoDay) {
    return "last_active_day=" + DayText(record.last_day) + (record.damaged ? " damaged" : "");
  }
  std::string text = "erased_seq=" + std::to_string(record.erased_seq) +
                     " erased_at=" + std::to_string(record.erased_at_ms);
  for (const auto& [collection, marks] : record.marks) {
    if (marks.cleared_at_ms != kNeverMs) {
      text += " cleared(" + collection + ")=" + std::to_string(marks.cleared_at_ms);
    }
    if (marks.evicted_at_ms != kNeverMs) {
      text += " evicted(" + collection + ")=" + std::to_string(marks.evicted_at_ms);
    }
    if (marks.forgotten.seq != 0) {
      text += " forgotten_seq(" + collection + ")=" + std::to_string(marks.forgotten.seq) +
              " forgotten_at(" + collection + ")=" + std::to_string(marks.forgotten.at_ms);
    }
    if (!marks.overrides.empty()) {
      text += " overrides(" + collection + ")=" + std::to_string(marks.overrides.size());
    }
    if (!marks.deletions_ahead.empty()) {
      text +=
          " deletions_ahead(" + collection + ")=" + std::to_string(marks.deletions_ahead.size());
    }
  }
  if (!record.toggles.empty()) {
    const PauseToggle& last = record.toggles.back();
    text += (last.paused ? " paused_at=" : " resumed_at=") + std::to_string(last.at_ms);
  }
  return text;
}

std::string OwnText(std::string_view value) {
  StoredOwnSet set;
  if (set.Parse(value)) {
    std::string said = !set.said ? "no set" : set.deleted ? "deleted" : "";
    if (said.empty()) said = "items=" + std::to_string(set.items.size());
    if (set.said) {
      said += " said=" + std::to_string(set.said_ms) + " ends=" + std::to_string(set.ends_ms());
    }
    return set.damage.empty() ? said : said + " damaged";
  }
  MarkList list;
  if (!list.Parse(value)) return "damaged marks, " + std::to_string(value.size()) + " bytes";
  std::string text = "groups=" + std::to_string(list.groups()) +
                     " deletions=" + std::to_string(list.deletions.size());
  for (const StoredMark& mark : list.marks) {
    text += " " + Printable(mark.group) + "=" +
            (mark.until_ms == kMarkedAlways ? "always" : std::to_string(mark.until_ms)) + "@" +
            std::to_string(mark.said_ms);
  }
  if (!list.damage.empty()) text += " damaged";
  return text;
}

std::string CountsText(std::string_view value) {
  CountList list;
  if (!list.Parse(value)) return "damaged counts, " + std::to_string(value.size()) + " bytes";
  std::string text = "entries=" + std::to_string(list.entries.size());
  std::map<std::string_view, size_t> by_key;
  for (const CountEntry& entry : list.entries) ++by_key[entry.key];
  for (const auto& [key, entries] : by_key) {
    text += " " + Printable(key) + "=" + std::to_string(entries);
  }
  if (!list.damage.empty()) text += " damaged";
  return text;
}

Fault FaultOfMeta(std::string_view key, std::string_view value) {
  if (key.starts_with(kDamagedPrefix)) return {"a damaged journal record was set aside"};
  if (nlohmann::json::accept(value)) return {};
  return {"the record is not JSON"};
}

Fault FaultOfFilter(std::string_view, std::string_view value) {
  FilterView view;
  if (!view.Parse(value)) return {"the filter's bytes are damaged"};
  if (!view.ListIsSorted()) return {"the filter's list is not in order"};
  DamageSet damage;
  if (view.damage.empty()) return {};
  if (!DamageSet::Read(view.damage, &damage)) return {"the damage section is damaged"};
  return FaultOf(damage);
}

Fault FaultOfJournal(std::string_view key, std::string_view value) {
  uint64_t sequence = 0;
  if (!ParseSequenceKey(key, &sequence)) return {"the key is no sequence"};
  if (HistoryJournalDecoder::IsOne(value)) return FaultOfHistoryJournal(value);
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

Fault FaultOfImpressions(std::string_view, std::string_view value) {
  ImpressionList list;
  if (!list.Parse(value)) return {"the impressions are damaged"};
  return FaultOf(list.damage);
}

Fault FaultOfHistory(std::string_view key, std::string_view value) {
  std::string_view user, item;
  HistoryValue read;
  if (!ParseHistoryKey(key, &user, &item)) return {"the key is no user and item"};
  if (!read.Parse(value) || read.damaged) return {"the history entry is damaged"};
  if (read.newer.empty()) return {};
  return {"set aside: " + NewerText(read.newer.front()), true};
}

Fault FaultOfTimeline(std::string_view key, std::string_view value) {
  std::string_view user, item;
  int64_t at_ms = 0;
  if (!ParseTimelineKey(key, &user, &at_ms, &item)) return {"the key is no user, time and item"};
  return {value.empty() ? "" : "the timeline row is not empty"};
}

Fault FaultOfOwn(std::string_view key, std::string_view value) {
  if (IsOwnSetKey(key)) {
    StoredOwnSet set;
    std::string_view user, name;
    if (!ParseOwnSetKey(key, &user, &name)) return {"the key is no user and set"};
    if (!set.Parse(value)) return {"the set is damaged"};
    return FaultOf(set.damage);
  }
  MarkList list;
  if (!list.Parse(value)) return {"the marks are damaged"};
  return FaultOf(list.damage);
}

Fault FaultOfCounts(std::string_view, std::string_view value) {
  CountList list;
  if (!list.Parse(value)) return {"the counts are damaged"};
  return FaultOf(list.damage);
}

Fault FaultOfUser(std::string_view key, std::string_view value) {
  UserRecord record;
  std::string_view user, collection;
  if (IsDayKey(key) && !ParseDayKey(key, &user, &collection)) {
    return {"the key is no user and collection"};
  }
  if (!record.Parse(value) || record.damaged) return {"the user record is damaged"};
  if (record.newer.empty()) return {};
  return {"set aside: " + NewerText(record.newer.front()), true};
}

}  // namespace seendb
