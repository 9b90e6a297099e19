// sets/piece_codec.h: a piece of a set on disk and in a log. The bytes are in engine/doc/facts.md,
// "Shared sets".

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sets/memory_set.h"

namespace seendb::sets {

/// Most ids of a piece, and most bytes of their texts.
inline constexpr size_t kPieceItems = 4'096;
inline constexpr size_t kPieceBytes = size_t{512} << 10;
/// Keys of pieces begin so.
inline constexpr std::string_view kSetPrefix = "set/";

/// Some ids of one version of a set. Borrows its texts.
struct Piece {
  std::string_view name = {};
  Version version = {};
  uint32_t number = 0;  ///< from 0 on
  uint32_t pieces = 1;  ///< of the version
  std::vector<std::string_view> ids = {};
  bool deletion = false;  ///< the version is that there is no such set: one piece without ids
};

/// A version of a set, cut into pieces. `ids`: ascending and distinct.
std::vector<Piece> CutPieces(std::string_view name, const Version& version,
                             std::span<const std::string_view> ids);

/// The keys of a set's pieces begin with it; no other set's do.
std::string KeyPrefix(std::string_view name);
/// The key of a piece: by name, version and number.
std::string KeyOf(const Piece& piece);
/// The name of the set that a key is of; empty: it is of none.
std::string_view NameInKey(std::string_view key);
/// Reads name, version and number, which borrow from the key. False: it is no piece's key.
bool ParsePieceKey(std::string_view key, Piece* piece);

/// The value.
std::string EncodePiece(const Piece& piece);
/// False: it is damaged, or breaks a limit. Ids are ascending and distinct.
bool ParsePiece(std::string_view value, Piece* piece);
/// Tells a whole value that only newer software reads from damage; empty for every other one.
std::string NewerPieceText(std::string_view value);

}  // namespace seendb::sets
