// common/wire/history_json.h: what asks about a user's history from JSON, what is in it to JSON.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "seendb/history.h"
#include "wire/json_read.h"

namespace seendb::wire {

/// Some items of one collection: `{"items":[...],"collection","same_as":[...]}`.
struct ItemsCall {
  std::vector<IdRef> items;
  /// Takes the groups of a deletion; null: the call has none.
  std::vector<std::string_view>* same_as = nullptr;
  std::string_view collection = "default";
};

/// What a clear says.
struct ClearCall {
  std::vector<std::string_view> collections;  ///< none: all
  bool filter = false;                        ///< the filters too
};

/// Readers of bodies; views are good until `document` goes.
Status ParseItems(std::string_view body, JsonDocument* document, ItemsCall* call);
/// `{"collections":[...],"filter":true}`; an empty body is an empty object.
Status ParseClear(std::string_view body, JsonDocument* document, ClearCall* call);
/// `{"paused":true}`.
Status ParseRecording(std::string_view body, JsonDocument* document, bool* paused);

/// Appends `"collection","item","at","progress_s","duration_s"` and, where there are any, "device"
/// and "fields", without the braces around them. `fields` goes out as the object it came as, in one
/// line; what is no object (an embedded engine takes any bytes) as a string.
void AppendEntryMembers(const HistoryEntry& entry, std::string* out);
/// Appends `,"degraded":false`, or true and what is missing.
void AppendDegraded(bool degraded, const std::vector<std::string>& missing, std::string* out);
/// Appends `{"entries":[...],"cursor":"...","degraded":false}`; no cursor on the last page.
void AppendPage(const HistoryPage& page, std::string* out);
/// Appends `{"entries":[...],"degraded":false}`, without the items that have none.
void AppendLookup(const HistoryLookup& found, std::string* out);
/// Appends the answer about collections that keep no history.
void AppendKeptNone(std::string* out);
/// Appends `{"paused":false,"since_ms":0}`.
void AppendRecording(const Recording& recording, std::string* out);

}  // namespace seendb::wire
