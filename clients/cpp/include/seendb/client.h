// seendb/client.h: calls a SeenDB server over HTTP. clients/README.md has the behaviour that all
// clients share.
//
//   seendb::Client c("http://127.0.0.1:7373");
//   c.RecordPlays({{.user = "u1", .item = "v1"}});
//   const auto found = c.Filter("u1", {"v1", "v2"});               // found.unseen: v2
//   const auto page = c.FillPage("u1", candidates, 20);            // recorded as served

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/client_types.h"

namespace seendb::client {

namespace internal {
class Transport;
}

/// Which events a Bulk takes, and how.
struct BulkOptions {
  std::string collection = {};                 ///< empty: "default"
  size_t batch = 2'000;                        ///< events a request, of at most 1 MiB
  std::chrono::milliseconds patience{60'000};  ///< for a batch to be taken
  bool binary = true;                          ///< false: NDJSON alone
};

/// Calls one server, or several. Threads: any; one client per process is enough. Blocks its caller,
/// up to the timeout; a connection is kept for each call that goes on at once. Every call throws
/// Error, and no other exception but std::bad_alloc.
class Client {
 public:
  /// `urls`: "http://host:port", "https://host:port" or "unix:/path"; without a port it is 7373.
  /// "srv+http://name" or "srv+https://name": the targets of that SRV record of DNS. Connects
  /// later, where the first call is made. Throws Error (invalid_argument).
  explicit Client(std::string url, Options options = {});
  /// Calls one of several servers. The next is asked when one can't be reached.
  Client(std::vector<std::string> urls, Options options);
  /// Precondition: no call goes on, and no Bulk of it is used later.
  virtual ~Client();

  /// Records what users watched. Throws Refused where every one is refused.
  Recorded RecordPlays(const std::vector<Play>& plays, const CallOptions& options = {});
  /// Records that the user was served the items, now.
  Recorded RecordImpressions(const Id& user, const std::vector<Id>& items,
                             const CallOptions& options = {});
  /// Records what was on screen. It makes an item seen where a filter asks for it
  /// (FilterOptions::not_entries) or the collection's policy says exposed_is_seen.
  Recorded RecordExposures(const std::vector<Exposure>& shown, const CallOptions& options = {});

  /// Which of the items the user has not seen. Integers alone go in binary.
  Filtered Filter(const Id& user, const std::vector<Id>& items, const FilterOptions& options = {});
  FilteredNumbers Filter(const Id& user, std::span<const uint64_t> items,
                         const FilterOptions& options = {});
  /// Up to `need` unseen candidates, best first, recorded as served in the same step. The timeout
  /// is that of the page. The page lacks what a lost answer had recorded.
  std::vector<Id> FillPage(const Id& user, const std::vector<Id>& candidates, size_t need,
                           WhenDegraded when = WhenDegraded::kFailOpen,
                           const FilterOptions& options = {});
  /// Up to `k` unseen ids of a search that knows no users: `search(count)` gives the best `count`,
  /// in order. Learns by user which share was seen, asks for so many more, and asks again.
  std::vector<Id> SearchUnseen(const std::function<std::vector<Id>(size_t count)>& search,
                               const Id& user, size_t k, const FilterOptions& options = {});

  /// Marks all of a group as seen that was published up to `until_ms` (since 1970), or kAlways. It
  /// is said at the present, taken before the first try.
  void Mark(const Id& user, const std::string& group, int64_t until_ms,
            const CallOptions& options = {});
  /// Deletes a mark; whether one counted. A repeat says false.
  bool Unmark(const Id& user, const std::string& group, const CallOptions& options = {});
  /// A page of at most `limit` (1,000) marks behind `cursor`; empty: from the first.
  MarksPage Marks(const Id& user, int64_t limit = 100, const std::string& cursor = {},
                  const CallOptions& options = {});

  /// A page of the watch history, newest first; empty `cursor`: the newest.
  client::HistoryPage HistoryPage(const Id& user, int64_t limit = 100,
                                  const std::string& cursor = {}, const CallOptions& options = {});
  /// All of it, page by page; each page has the timeout.
  std::vector<Entry> History(const Id& user, const CallOptions& options = {});
  /// The player's place in those of the items that are in the history, by Id::Text().
  std::map<std::string, Entry> LookUpHistory(const Id& user, const std::vector<Id>& items,
                                             const CallOptions& options = {});
  /// Takes items, or all, out of the history.
  void DeleteHistory(const Id& user, const std::vector<Id>& items,
                     const DeletionOptions& options = {});
  void ClearHistory(const Id& user, const CallOptions& options = {});
  /// Pauses the history (false), or goes on with it.
  void SetRecording(const Id& user, bool recording, const CallOptions& options = {});
  /// Forgets a user, for good. Whether anything was known.
  bool Erase(const Id& user, const CallOptions& options = {});
  /// A summary of what is held about a user, as JSON.
  std::string Inspect(const Id& user, const CallOptions& options = {});
  /// All that is held about a user: JSON objects, the last of type "end".
  std::vector<std::string> Export(const Id& user, const CallOptions& options = {});

  /// Names and policies, a JSON object each.
  std::vector<std::string> Collections(const CallOptions& options = {});
  /// Makes a collection, or changes those fields of its policy (a JSON object) that are named.
  void PutCollection(const std::string& name, const std::string& policy,
                     const CallOptions& options = {});
  /// Deletes a collection with all that it holds.
  void DeleteCollection(const std::string& name, const CallOptions& options = {});

  /// Makes these the fields of items: a JSON array of {"name", "type", "column"}.
  void PutItemSchema(const std::string& fields, const CallOptions& options = {});
  /// Updates items. Throws Refused where every one is refused.
  Recorded PutItems(const std::vector<ItemUpdate>& updates, const CallOptions& options = {});
  /// Items (1,000 at most) in their order, with these fields or all. Unknown ones are left out.
  std::vector<Item> GetItems(const std::vector<Id>& ids,
                             const std::vector<std::string>& fields = {},
                             const CallOptions& options = {});

  /// Any other route. `body`: JSON; empty: none. A call other than GET, HEAD, PUT and DELETE is
  /// made once. `path` is encoded already, and has the query.
  Answer Call(const std::string& method, const std::string& path, const std::string& body = {},
              const CallOptions& options = {});

  /// Closes idle connections; later calls throw "closed".
  void Close();

 protected:
  /// Calls by `transport`; for Double (seendb/double.h).
  explicit Client(std::unique_ptr<internal::Transport> transport);

 private:
  friend class Bulk;
  std::unique_ptr<internal::Transport> transport_;
};

/// Takes events one by one and sends them in batches: Add waits while one is on its way, so that a
/// reader that is faster than the server is slowed down. A batch that is refused for now, or whose
/// connection breaks, is sent again until the patience is over; then the call throws, and the batch
/// is kept: Flush sends it again. All events are plays, or all exposures. They go in binary as long
/// as none says more than user, item and at_ms, from the first other one on as NDJSON. Threads:
/// one.
class Bulk {
 public:
  /// `client` is borrowed for as long as this lives.
  explicit Bulk(Client& client, BulkOptions options = {});
  /// Takes an event. One without a time gets the present.
  void Add(const Play& play);
  void Add(const Exposure& exposure);
  /// Sends what was not sent. The destructor does not: it would have no one to tell of an error.
  void Flush();
  /// The counts of all that was sent.
  const Recorded& recorded() const { return recorded_; }

 private:
  /// The forms of a body: each takes what those before it take.
  enum class Form { kNumbers, kTexts, kLines };

  static Form FormOf(const Play& play, int64_t at_ms);
  void Append(Form form, std::string line, std::string user, std::string_view path);

  internal::Transport& transport_;
  BulkOptions options_;
  Form form_;
  std::string path_, lines_;
  std::vector<std::string> users_;
  int64_t sent_ = 0;
  Recorded recorded_;
};

}  // namespace seendb::client

namespace seendb {
using client::Client;  ///< the client, by its short name
}
