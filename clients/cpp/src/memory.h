// memory.h: answers requests in place of a server, from what they told.

#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attempt.h"
#include "json.h"

namespace seendb::client::internal {

/// See the head of this file. Threads: any.
class Memory {
 public:
  /// The answer to a request; throws Error.
  Reply Answer(const Request& request);

  void Fail(const std::vector<std::string>& codes);
  void Degrade(bool degraded);
  std::vector<std::string> Calls() const;

 private:
  /// A request, taken apart.
  struct Asked {
    std::string route = {};  ///< the method and the first part of the path: "POST plays"
    std::vector<std::string> parts = {};  ///< of the path, those behind
    Json told = Json::object();           ///< an object: what the query says, and the body
  };
  using Key = std::pair<std::string, std::string>;  // collection, user
  /// The facts of an item, in the order in which they came, and on which surfaces ("": none).
  using Facts = std::vector<std::pair<std::string, std::set<std::string>>>;
  using Wanted = std::vector<std::pair<std::string, std::string>>;  // fact, surface ("": any)
  struct Value {
    int64_t version = 0;
    Json value = {};  // null: it was taken away
  };

  static Asked TakeApart(const Request& request);
  static void RefuseUnknown(const Json& told);
  Reply Respond(const Asked& asked, const Request& request);
  /// The collection that is named, else "default". Throws not_found.
  std::string CollectionOf(const Json& told) const;

  Json Record(const Json& told, const char* fact);
  void Note(const Json& told, const Json& user, const Json& item, const std::string& fact,
            const std::string& surface);
  Reply Filter(const Json& told, bool in_binary);
  Wanted WantedOf(const Json& told) const;
  /// Why the item is seen; empty: it is not.
  std::string ReasonOf(const Facts& facts, const Wanted& wanted, const Json& candidate,
                       const std::map<std::string, Json>& marks) const;

  Json OfUser(const Asked& asked, const Request& request);
  Json MarksPage(const std::string& user, const Json& told) const;
  void Mark(const std::string& user, const Json& told);
  Json HistoryPage(const std::string& user, const Json& told) const;
  Json Erase(const std::string& user);
  Json OfCollection(const Asked& asked);
  Json UpdateItems(const Json& told);
  Json FindItems(const Json& told) const;

  mutable std::mutex mutex_;
  std::vector<std::string> failures_, calls_;
  bool degraded_ = false;
  std::map<std::string, Json> collections_ = {{"default", Json::object()}};  // policies
  std::map<Key, std::map<std::string, Facts>> seen_;                         // by item
  std::map<Key, std::map<std::string, Json>> entries_;                       // by item
  std::map<std::string, std::map<std::string, Json>> marks_;                 // by user and group
  /// By item and field; field "": what the item had below that version is gone.
  std::map<std::string, std::map<std::string, Value>> items_;
};

/// Errors of a request that is wrong, and of one about what is not there.
Error Malformed(std::string message, std::string field = {});
Error Absent(std::string message, std::string field = {});
/// `value` as a whole number, which a query has as text; `fallback` where it is not told.
int64_t NumberOf(const Json& told, const char* name, int64_t fallback);
/// The list `name` of what was told; empty: it is not told.
const Json& ListOf(const Json& told, const char* name);

}  // namespace seendb::client::internal
