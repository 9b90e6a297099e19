#include "sets/log_rows.h"

#include <charconv>

#include "seendb/set_store.h"

namespace seendb::sets {
namespace {

constexpr size_t kNumberBytes = 4;  // of a piece, at the end of its key

/// Takes a number and the blank behind it, if one follows.
template <typename Number>
bool TakeNumber(std::string_view* text, Number* number) {
  const char* const end = text->data() + text->size();
  const auto [behind, error] = std::from_chars(text->data(), end, *number);
  if (error != std::errc()) return false;
  text->remove_prefix(static_cast<size_t>(behind - text->data()));
  if (text->empty()) return true;
  if (text->front() != ' ') return false;
  text->remove_prefix(1);
  return !text->empty();
}

/// The key of a version's piece without the piece's number.
std::string PieceKeyPrefix(std::string_view name, const VersionId& id) {
  std::string key = KeyOf({.name = name, .version = {id.begun_ms, id.nonce}});
  key.resize(key.size() - kNumberBytes);
  return key;
}

}  // namespace

std::string EncodePlace(const LogPlace& place) {
  return std::to_string(place.next_offset) + " " + place.log;
}

bool ParsePlace(std::string_view value, LogPlace* place) {
  *place = {};
  if (!TakeNumber(&value, &place->next_offset) || place->next_offset < 0) return false;
  place->log = value;
  return !value.empty();
}

std::string EncodeLogVersion(const LogVersion& version) {
  std::string text = std::to_string(static_cast<int>(version.state));
  text += version.deletion ? " 1 " : " 0 ";
  text += std::to_string(version.order) + " " + std::to_string(version.pieces);
  return text + " " + std::to_string(version.since_ms);
}

bool ParseLogVersion(std::string_view value, LogVersion* version) {
  *version = {};
  int state = 0, deletion = 0;
  if (!TakeNumber(&value, &state) || !TakeNumber(&value, &deletion)) return false;
  if (!TakeNumber(&value, &version->order) || !TakeNumber(&value, &version->pieces)) return false;
  if (!TakeNumber(&value, &version->since_ms) || !value.empty()) return false;
  if (state < 0 || state > 2 || deletion < 0 || deletion > 1) return false;
  if (version->order < -1 || version->pieces < 1 || version->pieces > kMaxSetItems) return false;
  version->state = static_cast<LogVersion::State>(state);
  version->deletion = deletion == 1;
  version->missing = version->pieces;
  return true;
}

std::string VersionKey(std::string_view name, const VersionId& id) {
  return std::string(kVersionPrefix) + PieceKeyPrefix(name, id);
}

std::string UnfinishedKey(const Piece& piece) {
  return std::string(kUnfinishedPrefix) + KeyOf(piece);
}

std::string UnfinishedKeyPrefix(std::string_view name, const VersionId& id) {
  return std::string(kUnfinishedPrefix) + PieceKeyPrefix(name, id);
}

bool ParseVersionKey(std::string_view key, Piece* piece) {
  if (!key.starts_with(kVersionPrefix)) return false;
  key.remove_prefix(kVersionPrefix.size());
  Piece of;
  const std::string whole = std::string(key) + std::string(kNumberBytes, '\0');
  if (!ParsePieceKey(whole, &of)) return false;
  *piece = {.name = key.substr(kSetPrefix.size() + 1, of.name.size()), .version = of.version};
  return true;
}

bool ParseUnfinishedKey(std::string_view key, Piece* piece) {
  if (!key.starts_with(kUnfinishedPrefix)) return false;
  return ParsePieceKey(key.substr(kUnfinishedPrefix.size()), piece);
}

}  // namespace seendb::sets
