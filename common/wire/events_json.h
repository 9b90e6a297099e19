// common/wire/events_json.h: plays and impressions from JSON, what became of them to JSON.

#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/events.h"
#include "wire/groups_json.h"
#include "wire/json_read.h"

namespace seendb::wire {

/// A batch of plays: `{"events":[{"user","item","at","progress_s","duration_s","device","fields",
/// "day","of","same_as"}],"collection"}`.
struct PlaysCall {
  std::vector<Play> plays;
  EventGroupsReader* groups = nullptr;  ///< keeps the plays' groups; null: they may have none
  std::vector<Watch> watches;           ///< of the plays that say where the player is
  std::optional<std::string_view> collection;
};

/// Items served to one user: `{"user","items":[...],"collection","at"}`; where they may have
/// groups, an item is an id or `{"id","of","same_as"}`, and the call may have a `surface`.
struct ImpressionsCall {
  std::vector<Impression> impressions;
  EventGroupsReader* groups = nullptr;  ///< keeps their groups; null: they may have none
  std::optional<std::string_view> collection;
};

/// Readers of bodies; views are good until `document` goes.
Status ParsePlays(std::string_view body, JsonDocument* document, PlaysCall* call);
Status ParseImpressions(std::string_view body, size_t max_items, JsonDocument* document,
                        ImpressionsCall* call);
/// The events of a body of plays that ParsePlays has taken, each as its JSON; views into the body.
Status SplitPlays(std::string_view body, JsonDocument* document,
                  std::vector<std::string_view>* events);
/// One event: a play, or, where `watch` is null, an impression, which has "user", "item", "at",
/// "of" and "same_as" only. `event->watch` is `watch` where the line says something of it. `groups`
/// keeps the event's; null: it may have none.
Status ParseEvent(std::string_view line, JsonDocument* document, Play* event, Watch* watch,
                  EventGroupsReader* groups);

/// Appends an id, and an event's user, item and time, as the readers take them.
void AppendId(const IdRef& id, std::string* out);
void AppendEvent(const Play& event, std::string* out);

/// Readers of what a player says; a refusal's field is left to the caller.
Status ReadProgress(ondemand::value value, std::optional<int32_t>* progress_s);
Status ReadDuration(ondemand::value value, std::optional<int32_t>* duration_s);
Status ReadDevice(ondemand::value value, std::string_view* device);
/// Reader of the day a client was last told; an empty text says nothing.
Status ReadDay(ondemand::value value, std::string_view* day);

/// One event not taken.
struct RefusedEvent {
  uint64_t index = 0;  ///< in the request
  Status status;
};

/// What became of a request's events.
struct Recorded {
  uint64_t accepted = 0, refused = 0;
  std::vector<RefusedEvent> refusals = {};
  /// By RefusalReason; the last counts malformed ones (RefusedByName).
  std::array<uint64_t, kRefusalReasons + 1> refused_by = {};
  uint64_t outside_window = 0, beyond_cap = 0;  ///< as RecordResult's
  std::string day = {};                         ///< empty: the policy tells no first plays of a day
  std::vector<uint64_t> first_today = {};       ///< in the request, ascending
  std::optional<uint64_t> first_today_count = {};  ///< where not all of them are listed
};

/// Appends `{"accepted":n,"refused":m,"refusals":[{"index":i,"error":{...}}]}`, and behind that
/// `"refused_by":{"too_old":m}`, `"outside_window":n` and `"beyond_cap":n` where they are not 0,
/// and, where there is a day,
/// `"day":"2026-11-20","first_today":[i]`.
void AppendRecorded(const Recorded& recorded, std::string* out);

}  // namespace seendb::wire
