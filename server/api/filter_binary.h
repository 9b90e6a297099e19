// server/api/filter_binary.h: a filter request in few bytes (binary_body.h), and its answer in
// fewer. All numbers are little-endian.
//
//   user=U       whose the items of the body are
//   exclude=N    the last N of these are no items, but never returned
//   exclude_sets=A,B  neither are the members of these sets
//
// The answer is a bitmap, one bit an item, least significant bit first, 1 = unseen; or the unseen
// items' positions as u32.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/context.h"
#include "seendb/events.h"

namespace seendb::api {

/// How the answer is written.
enum class UnseenForm : uint8_t { kBitmap, kIndexes };

/// Media types of the two forms.
inline constexpr std::string_view kBitmapType = "application/octet-stream";
inline constexpr std::string_view kIndexesType = "application/vnd.seendb.indexes";

/// The form an Accept header asks for, the bitmap if it asks for anything or nothing; none where
/// it takes neither. Quality values only matter where they are 0.
std::optional<UnseenForm> ParseAccept(std::string_view header);

/// Reads query and body of `call` into `*request` and `*ids`, both views into the call. At most
/// Context::max_candidates items, and as many excluded.
Status ParseBinaryFilter(const Call& call, FilterRequest* request, std::vector<IdRef>* ids);

/// Reads the names of collections in the query of `call`, `collections=short,live`: views into the
/// call.
Status ReadCollections(const Call& call, std::vector<std::string_view>* collections);

/// Reads the names of sets in the query of `call`, `exclude_sets=a,b`: views into the call.
Status ReadExcludedSets(const Call& call, std::vector<ExcludedSet>* sets);

/// Puts the answer to `request` into `*response`: the body, its type and the headers SeenDB-Seen
/// (items seen), SeenDB-Examined, SeenDB-Degraded (parts that could not be read; 0: whole), where
/// something was excluded SeenDB-Excluded, where recording was asked for SeenDB-Recorded (true or
/// false), where verifying was asked for SeenDB-Refuted (items that filters falsely called seen)
/// and, where there are any, SeenDB-Duplicates, SeenDB-Beyond-Cap and SeenDB-Missing (the names of
/// the parts).
void WriteBinaryAnswer(const FilterRequest& request, const FilterResponse& answer, UnseenForm form,
                       http::Response* response);

}  // namespace seendb::api
