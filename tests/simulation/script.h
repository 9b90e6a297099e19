// tests/simulation/script.h: what a simulation does, as plain values and as text, one line each.
//
//   options shards=2 ring_slots=3 slot_ms=86400000 ...
//   clock 1773144000000
//   put video bucket=month window=2
//   play video u1:v7@1773144000000 u1:v8@now~95~240~tv~fields u1:v9@now!2026-03-10
//   filter video u1 facts=3 limit=0 explain=1 items=v7,v8,f1
//
// A seed makes a script (generate.h), a failing one is made smaller (minimise.h), and a text is
// read again (Parse), so that what failed once can be looked at for ever.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/options.h"
#include "seendb/policy.h"
#include "support/options.h"

namespace seendb::simulation {

/// What a player says with a play: see seendb::Watch.
struct ScriptWatch {
  std::optional<int32_t> progress_s = {}, duration_s = {};
  std::string device = {}, fields = {};
  friend auto operator<=>(const ScriptWatch&, const ScriptWatch&) = default;
};

/// An event of a `play` or `serve`; without `at_ms` it is of now.
struct ScriptEvent {
  std::string user, item;
  std::optional<int64_t> at_ms = {};
  std::optional<ScriptWatch> watch = {};
  std::string day = {};  ///< that the client was told; empty: none
};

/// What is done.
enum class Verb : uint8_t {
  kClock,       ///< time goes on to `number`
  kPut,         ///< `collection`, `patch`
  kPlay,        ///< `collection`, `events`
  kServe,       ///< the same
  kFilter,      ///< `collection`, `user`, the fields of `filter`
  kInspect,     ///< `user`
  kErase,       ///< `user`
  kDrain,       ///<
  kSeal,        ///< `collection`, the bucket `number` before the current one
  kSealClosed,  ///<
  kDrop,        ///< DropExpired
  kDue,         ///< RunDue
  kCompact,     ///<
  kSync,        ///<
  kVerify,      ///<
  kStats,       ///<
  kReadOnly,    ///< a read-only opening beside, looked at and closed
  kCheckpoint,  ///< a copy, opened, looked at and closed
  kReopen,      ///< closed and opened; `number` ring slots from now on, 0: as before
  kKill,        ///< the process dies now and is started again
  kPowerCut,    ///< the power goes now; `number`: what the disk makes of it
  kFail,        ///< arms: operations `kinds` on `part`, after `number`, fail with `error`
  kCrash,       ///< arms: the process dies at such an operation
  kCut,         ///< arms: the power goes at such an operation; `seed`
  kMiddle,      ///< what comes after the next one is done in the middle of it, at the `number`-th
                ///< point of the disk
  kHistory,     ///< the first page of `user`: `of`, filter.limit
  kMore,        ///< the next page after that; `number`: so many, 0: all that are left
  kLookup,      ///< `collection`, `user`, filter.items
  kDelete,      ///< the same
  kClear,       ///< `user`, `of`; `number` 1: the filters too
  kPause,       ///< `user`
  kResume,      ///< `user`
  kPublish,     ///< `topic`, partition `number`, `events`; one of user "-" can't be read
  kIngest,      ///< `topic`: so many messages of each partition as filter.limit says (0: all),
                ///< beginning `behind` before the stored offset; `not_told`
  kForget,      ///< `topic`; `number` 1: it is made anew, empty
  kSetClock,    ///< by `number` ms, ahead or back
  kHeal,        ///< arms: the shard that a failure stops next is healed in place, `number`
                ///< operations later at most; with a `seed` the power goes right after
  kExpose,      ///< `collection`, `surface`, `events`, `grouped`
  kMark,        ///< `user`, the group `surface` up to `number` (-1: always), said `behind` ms ago
  kUnmark,      ///< `user`, the group `surface`
};
inline constexpr size_t kVerbs = static_cast<size_t>(Verb::kUnmark) + 1;
/// "clock", "put", ...
const char* NameOf(Verb verb);

/// Options of a `filter`.
struct ScriptFilter {
  std::vector<std::string> items, exclude;
  uint32_t facts = 3;
  uint32_t limit = 0;
  bool explain = false;
  bool record = false;
  bool strict = false;  ///< on_error = kFail
  bool late = false;    ///< a deadline that may have passed
  bool verify = false;  ///< hits of filters are checked against history
  /// Exposures count beside `facts`: those of so many ms, 0: of the window.
  std::optional<int64_t> exposed_ms = {};
  std::string surface;  ///< where they were; empty: anywhere
  bool marks = false;   ///< items have groups (GroupOf), which the user may have marked
};

/// One operation; which fields count depends on the verb.
struct Operation {
  Verb verb = Verb::kDrain;
  std::string collection;
  std::string user;
  std::vector<ScriptEvent> events;
  std::vector<std::string> of;  ///< collections; none: all that keep history, of a clear all
  ScriptFilter filter;
  PolicyPatch patch;
  std::string topic;      ///< "video.p" or, for impressions, "video.s"
  std::string surface;    ///< of an expose; empty: none; of a mark, its group
  bool grouped = false;   ///< events of a serve or an expose have groups, by which they are counted
  int64_t behind = 0;     ///< of an ingest: messages that were read before
  bool not_told = false;  ///< of an ingest: what is in the outbox waits
  int64_t number = 0;
  uint64_t seed = 0;
  uint32_t kinds = 0;
  std::string part;   ///< of a file's path; "" is written as "-"
  std::string error;  ///< "eio", "full" or "short"
};

/// A database's options and everything that is done with it.
struct Script {
  Options options = test::FixedOptions();
  bool options_files = true;  ///< RocksDB may keep them: see quick_env.h
  std::vector<Operation> operations;
};

/// Whether the next operation belongs to the one at `i`, so that nothing may be put between them.
bool HoldsNext(const std::vector<Operation>& operations, size_t i);

/// One line, without its end.
std::string ToText(const Operation& operation);
/// All lines.
std::string ToText(const Script& script);
/// Reads what ToText wrote; nothing, and `*error`, where it can't be read. Empty lines and those
/// that begin with # are left out.
std::optional<Script> Parse(std::string_view text, std::string* error);

}  // namespace seendb::simulation
