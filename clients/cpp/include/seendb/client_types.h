// seendb/client_types.h: ids, errors, options and answers of seendb/client.h.

#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace seendb::client {

/// A user or an item: text of 1-255 bytes of UTF-8, or an integer of 64 bits. Text "42" and the
/// integer 42 are one id for the server, and have equal Text().
class Id {
 public:
  /// Empty text, which no call takes.
  Id() = default;
  /// Text. It is judged by the call that gets it.
  Id(std::string text) : held_(std::move(text)) {}         // NOLINT(google-explicit-constructor)
  Id(std::string_view text) : held_(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  Id(const char* text) : held_(std::string(text)) {}       // NOLINT(google-explicit-constructor)
  /// An integer. Signed ones, bool and characters do not compile.
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool> && sizeof(T) > 1) Id(T number)
      : held_(uint64_t{number}) {}  // NOLINT(google-explicit-constructor)

  /// The integer; nothing: it is text.
  std::optional<uint64_t> Number() const;
  /// The text of it: an integer in decimal digits.
  std::string Text() const;
  /// Equal if both are text or both integers.
  bool operator==(const Id&) const = default;

 private:
  std::variant<std::string, uint64_t> held_;
};

/// Thrown by every call that was refused, or not answered.
class Error : public std::runtime_error {
 public:
  /// what() is "code: message (field)".
  Error(std::string code, std::string message, std::string field = {}, int status = 0);

  /// The server's word ("invalid_argument", "not_found", "overloaded", ...), or, where no server
  /// answered, "unavailable", "timeout", "protocol" or "closed".
  std::string code;
  std::string message;  ///< what is wrong, in a sentence
  std::string field;    ///< a JSON pointer to the input at fault ("/items/0"); empty: none
  int status;           ///< of the HTTP answer; 0: none came
};

/// An event, or an update of an item, that was not taken.
struct Refusal {
  int64_t index = 0;  ///< in the call, from 0; of a Bulk among all that were added
  std::string code = {}, message = {}, field = {};  ///< as those of Error
};

/// The counts of a call's events or updates.
struct Recorded {
  int64_t accepted = 0, refused = 0;
  std::vector<Refusal> refusals = {};  ///< at most 100
  bool pending = false;                ///< of a cluster: in the log, and not applied yet
  int64_t stale = 0;  ///< of PutItems: fields that the items had with a higher version
};

/// Thrown where every event, or update, of a call was refused.
class Refused : public Error {
 public:
  /// Takes code, message, field and status of `first`.
  Refused(const Error& first, Recorded told) : Error(first), recorded(std::move(told)) {}
  Recorded recorded;  ///< all that was refused
};

/// One call, for metrics.
struct CallReport {
  std::string_view name;           ///< "Filter", or of Call "GET /admin/ring"
  std::chrono::microseconds took;  ///< with its second tries and waits
  int status = 0;                  ///< of the last answer; 0: none came
  int tries = 0;                   ///< requests that were begun
};

/// A server of a name (RFC 2782).
struct SrvRecord {
  uint16_t priority = 0;  ///< the lowest comes first
  uint16_t weight = 0;    ///< its share among those of one priority
  uint16_t port = 0;
  std::string target = {};
};

/// The options of a client.
struct Options {
  std::string token = {};        ///< a bearer token
  std::string token_file = {};   ///< a file whose first line it is, read again when it changes
  std::string ca = {};           ///< a file of certificates to trust, PEM; empty: the system's
  std::string certificate = {};  ///< a file of the caller's own, PEM; empty: none
  std::string key = {};          ///< a file of its key; empty: it is in `certificate`
  std::chrono::milliseconds timeout{1000};  ///< of a call that names none
  int retries = 1;                          ///< second tries of a call
  int connections = 16;                     ///< most per server; a call waits for a free one
  bool cluster = false;  ///< the URLs are nodes of one cluster: a user's call goes to its node
  /// A read that was not answered for so long is asked at another server too. 0: never.
  std::chrono::milliseconds hedge{0};
  /// "address:port" of a name server that is asked in place of the system's for srv+http://name.
  std::string dns = {};
  /// Gives the SRV records of a name, in place of a name server. Called in a thread of the
  /// client's; it may block for some seconds, and throw.
  std::function<std::vector<SrvRecord>(const std::string& name)> resolver = {};
  /// Called after every call, in the caller's thread. It must not throw.
  std::function<void(const CallReport&)> on_call = {};
};

/// The options of a call.
struct CallOptions {
  std::string collection = {};  ///< empty: "default", or all where the call reads several
  /// The time for the whole call, second tries included; the server is told of it. Without:
  /// Options.
  std::optional<std::chrono::milliseconds> timeout = {};
};

/// One item that a user watched.
struct Play {
  Id user, item;
  /// ms since 1970. Without: the present, taken before the first try, so that a second one counts
  /// once.
  std::optional<int64_t> at_ms = {};
  std::optional<int64_t> progress_s = {};  ///< where the player is; -1: finished
  std::optional<int64_t> duration_s = {};  ///< how long the item is
  std::string device = {};
  std::string fields = {};           ///< a JSON object of the caller's; empty: none
  std::vector<std::string> of = {};  ///< groups that the item belongs to: it is counted by them
  /// Groups that are one with the item for the user ("src:9"), and are seen with it. At most 16
  /// together with `of`.
  std::vector<std::string> same_as = {};
};

/// One item that really was on a user's screen.
struct Exposure {
  Id user, item;
  std::optional<int64_t> at_ms = {};               ///< as that of Play
  std::string surface = {};                        ///< where, such as "home"; empty: it is not said
  std::vector<std::string> of = {}, same_as = {};  ///< as those of Play
};

/// A fact that makes an item seen: one event has to meet all that it says.
struct NotEntry {
  std::string fact = {};                ///< "played", "served" or "exposed"
  int64_t window = 0;                   ///< buckets; 0: it is not said
  std::chrono::milliseconds within{0};  ///< not longer ago; 0: it is not said
  int64_t last = 0;                     ///< among the newest so many; 0: it is not said
  std::string surface = {};             ///< empty: it is not said
};

/// The groups of a candidate, at most 16 together.
struct Groups {
  std::vector<std::string> of = {};   ///< what it belongs to ("channel:9"), for the user's marks
  std::optional<int64_t> at_ms = {};  ///< when it was published; without: a mark for ever counts
  /// What is one with it for the user ("src:9"): it is seen if something of that is.
  std::vector<std::string> same_as = {};
};

/// The options of DeleteHistory.
struct DeletionOptions {
  std::string collection = {};                            ///< empty: "default"
  std::optional<std::chrono::milliseconds> timeout = {};  ///< as that of CallOptions
  /// Groups that may be recommended again with the items, where the policy says so.
  std::vector<std::string> same_as = {};
};

/// The options of Filter, FillPage and SearchUnseen.
struct FilterOptions {
  std::string collection = {};                            ///< empty: "default"
  std::optional<std::chrono::milliseconds> timeout = {};  ///< of the whole call, or page
  /// Up to 8: seen in any of them counts, in place of `collection` alone, which is recorded into.
  std::vector<std::string> collections = {};
  std::optional<std::vector<std::string>> facts = {};  ///< of "plays", "impressions"; without: both
  std::vector<NotEntry> not_entries = {};        ///< any of them makes seen, in place of `facts`
  std::function<Groups(const Id&)> groups = {};  ///< tells the groups of each candidate
  int64_t limit = 0;             ///< stops once so many unseen ones are found; 0: never
  std::vector<Id> exclude = {};  ///< never unseen
  bool record = false;           ///< records the unseen as served, in the same step
  bool verify = false;           ///< looks plays up in the history: none is falsely called seen
  bool explain = false;          ///< says why an item is seen
  bool or_fail = false;          ///< fails where the answer would be degraded
  /// The server answers within so long, degraded at worst; without: four fifths of the timeout.
  std::optional<std::chrono::milliseconds> within = {};
};

/// The answer of a filter beside the unseen.
struct FilterReport {
  int64_t seen = 0, examined = 0, excluded = 0, duplicates = 0;
  bool degraded = false;  ///< something could not be read: seen items may be called unseen
  std::vector<std::string> missing = {};            ///< what
  bool recorded = false;                            ///< with `record`: whether it was
  std::map<std::string, std::string> reasons = {};  ///< with `explain`: by item
  int64_t undated = 0;  ///< with `groups`: those without a time, of a group marked up to a time
  std::vector<std::string> coarse = {};  ///< facts of which more counted than was asked for
  std::vector<std::string> beyond = {};  ///< facts of which less is kept than was asked for
};
/// Unseen candidates in their order, each once, as they were given.
struct Filtered : FilterReport {
  std::vector<Id> unseen = {};
};
/// Filtered, of integers.
struct FilteredNumbers : FilterReport {
  std::vector<uint64_t> unseen = {};
};

/// The way of FillPage where the answer is degraded, or does not come in time.
enum class WhenDegraded {
  kFailOpen,    ///< serves what is said to be unseen, or, without an answer, the first candidates
  kFailClosed,  ///< throws
  /// kFailOpen without what this client itself has recorded by FillPage for the user within the
  /// last hour (of the last 10,000 users).
  kLastKnown,
};

/// `until` of a mark that is for ever.
inline constexpr int64_t kAlways = std::numeric_limits<int64_t>::max();
/// A group that a user marked as seen. Both times in ms since 1970.
struct Mark {
  std::string group = {};
  int64_t until_ms = kAlways, at_ms = 0;
};
/// A page of marks, by group.
struct MarksPage {
  std::vector<Mark> marks = {};
  std::string cursor = {};  ///< of the next page; empty: this is the last
  bool degraded = false;    ///< marks may be missing
};

/// An item of a user's watch history.
struct Entry {
  std::string collection = {}, item = {};
  int64_t at_ms = 0, progress_s = 0, duration_s = 0;  ///< as those of Play; 0: not told
  std::string device = {};
  std::string fields = {};  ///< a JSON object; empty: none
};
/// Some entries, newest first.
struct HistoryPage {
  std::vector<Entry> entries = {};
  std::string cursor = {};  ///< of the next page; empty: this is the last
  bool kept = true;         ///< false: none of the collections keeps history
  bool degraded = false;    ///< entries may be missing
};

/// Changes an item. Updates are free of order: each field keeps the value of the highest version.
struct ItemUpdate {
  Id id;
  int64_t version = 0;                        ///< from 1
  std::string set = {};                       ///< a JSON object by the schema's names; empty: none
  std::vector<std::string> unset = {};        ///< fields that go
  bool replace = false;                       ///< fields with lower versions go
  bool remove = false;                        ///< the item goes
  std::optional<int64_t> expires_at_ms = {};  ///< ms since 1970
};
/// An item as the server knows it.
struct Item {
  Id id;                    ///< as it was asked for
  int64_t version = 0;      ///< the highest that it was updated with
  std::string fields = {};  ///< a JSON object by the schema's names
};

/// An answer of any route.
struct Answer {
  int status = 0;
  std::string body = {};  ///< checked to be JSON where the server says that it is
};

}  // namespace seendb::client
