// seendb/watch_fields.h: what a log says of where the player was, checked as POST /plays checks it,
// so that a row it would refuse is a bad row and spoils no batch.

#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "seendb/history.h"

namespace seendb::tool {

/// The fields of a play that say where the player was, in this order throughout.
enum WatchField : size_t { kProgress, kDuration, kDevice, kFields };
/// Their names in POST /plays, which are looked for where none is given.
inline constexpr std::array<std::string_view, 4> kWatchNames = {"progress_s", "duration_s",
                                                                "device", "fields"};

/// What progress and duration are counted in.
enum class SpanUnit { kSeconds, kMillis };

/// Takes one field from its text; a span in `unit` becomes whole seconds, rounded down. False, with
/// the reason, where it can't be what the field is. Views `text`.
bool TakeWatchField(WatchField field, std::string_view text, SpanUnit unit, Watch* watch,
                    std::string* error);

/// The text of the member `name` of `object`, which must be well-formed JSON of one object, as it
/// stands there; the last of several. Empty where it has none.
std::string_view RawMember(std::string_view object, std::string_view name);

}  // namespace seendb::tool
