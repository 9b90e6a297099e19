// sets/log_rows.h: rows of a store whose sets come from a log: how far the log is read, what is
// known of the versions that it has, and the pieces of those that are not whole yet. Text, but for
// the pieces. The bytes are in engine/doc/facts.md, "Shared sets in a cluster".

#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sets/piece_codec.h"

namespace seendb::sets {

/// All of them begin so, and none other does.
inline constexpr std::string_view kLogPrefix = "log";
/// How far the log is read.
inline constexpr std::string_view kPlaceKey = "log";
/// The note of a version; a piece of one that is not whole.
inline constexpr std::string_view kVersionPrefix = "log/v/", kUnfinishedPrefix = "log/p/";

/// The place of a store in its log.
struct LogPlace {
  std::string log;  ///< which one
  int64_t next_offset = 0;
};
std::string EncodePlace(const LogPlace& place);
bool ParsePlace(std::string_view value, LogPlace* place);

/// Tells the versions of a set apart; the order says nothing.
struct VersionId {
  int64_t begun_ms = 0;
  uint64_t nonce = 0;
  auto operator<=>(const VersionId&) const = default;  ///< by the members
};

inline VersionId IdOf(const Piece& piece) { return {piece.version.begun_ms, piece.version.nonce}; }

/// A version of a set, for as long as the log may have something of it.
struct LogVersion {
  enum class State : uint8_t {
    kUnfinished = 0,  ///< pieces are missing
    kCounts = 1,      ///< it is the set
    kDead = 2,        ///< it never counts (again)
  };
  State state = State::kUnfinished;
  bool deletion = false;
  int64_t order = -1;    ///< the offset of its first piece; -1: that one did not come
  uint32_t pieces = 1;   ///< that it has
  int64_t since_ms = 0;  ///< the time of the record that began it, or that ended it
  // In memory alone: when it was first looked at in this state, by a clock that nobody sets.
  std::optional<std::chrono::steady_clock::time_point> seen = {};
  // In memory alone, of one that is unfinished.
  std::vector<bool> came = {};  ///< by number
  uint32_t missing = 1;
  uint64_t bytes = 0;  ///< of the pieces that came
};
std::string EncodeLogVersion(const LogVersion& version);
bool ParseLogVersion(std::string_view value, LogVersion* version);

/// The key of what is known of a version, and of a piece of one that is not whole: the latter is
/// `kUnfinishedPrefix` and the piece's key in the log.
std::string VersionKey(std::string_view name, const VersionId& id);
std::string UnfinishedKey(const Piece& piece);
/// The keys of a version's unfinished pieces begin so.
std::string UnfinishedKeyPrefix(std::string_view name, const VersionId& id);
/// False: it is no such key. `*piece` gets name, version and, of a piece, number.
bool ParseVersionKey(std::string_view key, Piece* piece);
bool ParseUnfinishedKey(std::string_view key, Piece* piece);

}  // namespace seendb::sets
