// seendb/user_query.h: what is known of a user, asked of a folder's engine or of a server, as the
// JSON the server answers.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "database.h"
#include "seendb/policy.h"

namespace seendb::tool {

/// A page of a user's history.
struct PageQuery {
  std::vector<std::string> collections;  ///< empty: all that keep history
  uint32_t limit = 20;
  std::string cursor;         ///< empty: the newest
  bool switched_off = false;  ///< of a folder: HistoryRequest::switched_off
};

/// Everything held about `user`, in one collection or (empty name) in all.
Result<Json> InspectUser(Database& database, const std::string& user,
                         const std::string& collection);
/// `{"collections":[...]}`.
Result<Json> ListCollections(Database& database);
/// The policy of a collection. kNotFound.
Result<Policy> PolicyOf(Database& database, const std::string& name);
/// `{"entries":[...],"cursor":"...","degraded":false}`; no cursor on the last page.
Result<Json> ReadHistoryPage(Database& database, const std::string& user, const PageQuery& query);
/// `{"entries":[...],"degraded":false}`, without the items that have none.
Result<Json> LookUpHistory(Database& database, const std::string& user,
                           const std::string& collection, const std::vector<std::string>& items);
/// `{"paused":false,"since_ms":0}`.
Result<Json> ReadRecording(Database& database, const std::string& user);

/// `json` in one line, bytes that are not UTF-8 as U+FFFD.
std::string OneLine(const Json& json);

}  // namespace seendb::tool
