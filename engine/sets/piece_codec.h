// sets/piece_codec.h: a piece of a set on disk. The bytes are in engine/doc/facts.md,
// "Shared sets".

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sets/memory_set.h"

namespace seendb::sets {

/// Most ids of a piece.
inline constexpr size_t kPieceItems = 4'096;
/// Keys of pieces begin so.
inline constexpr std::string_view kSetPrefix = "set/";

/// Some ids of one version of a set. Borrows its texts.
struct Piece {
  std::string_view name = {};
  Version version = {};
  uint32_t number = 0;  ///< from 0 on
  uint32_t pieces = 1;  ///< of the version
  std::vector<std::string_view> ids = {};
};

/// The keys of a set's pieces begin with it; no other set's do.
std::string KeyPrefix(std::string_view name);
/// The key of a piece: by name, version and number.
std::string KeyOf(const Piece& piece);
/// The name of the set that a key is of; empty: it is of none.
std::string_view NameInKey(std::string_view key);

/// The value.
std::string EncodePiece(const Piece& piece);
/// False: it is damaged, or breaks a limit. Ids are ascending and distinct.
bool ParsePiece(std::string_view value, Piece* piece);

}  // namespace seendb::sets
