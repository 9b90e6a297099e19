#include "sets/set_rows.h"

#include <utility>

#include "sets/log_rows.h"
#include "sets/piece_codec.h"

namespace seendb::sets {

void SetReader::Take(std::string_view value) {
  Piece piece;
  const bool sound = ParsePiece(value, &piece) && !piece.deletion;
  if (!sound) {
    newest_.damaged = true;  // whichever version it is of lacks it
    return;
  }
  const bool same = !newest_.values.empty() && newest_.version.begun_ms == piece.version.begun_ms &&
                    newest_.version.nonce == piece.version.nonce;
  if (!same && !newest_.values.empty()) {
    if (newest_.whole()) whole_ = std::move(newest_);
    newest_ = {};
  }
  newest_.version = piece.version;
  newest_.pieces = piece.pieces;
  newest_.damaged = newest_.damaged || piece.number != newest_.values.size();
  newest_.values.emplace_back(value);
}

std::vector<rocksdb::ColumnFamilyDescriptor> SetRows::Families() const {
  return {{rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions()}};
}

std::optional<RowFault> SetRows::Take(size_t, std::string_view key, std::string_view value) {
  if (key == kFormatKey) {
    if (value == kFormat) return {};
    return RowFault{
        .name = "format", .reason = "it is \"" + std::string(value) + "\"", .newer = true};
  }
  if (key.starts_with(kLogPrefix)) return TakeOfLog(key, value);
  const std::string_view name = NameInKey(key);
  if (name.empty()) return RowFault{.name = std::string(key), .reason = "it is a key of no set"};
  if (std::string newer = NewerPieceText(value); !newer.empty()) {
    return RowFault{.name = std::string(name), .reason = std::move(newer), .newer = true};
  }
  if (name != name_) EndSet();
  name_ = name;
  reader_.Take(value);
  Piece piece;
  if (ParsePiece(value, &piece) && piece.name == name) return {};
  return RowFault{.name = std::string(name), .reason = "a piece of the set is damaged"};
}

bool SetRows::survives_loss(size_t, std::string_view key) const {
  return !key.starts_with(kLogPrefix);
}

// A store that lacks some of these reads its log anew, which has them.
std::optional<RowFault> SetRows::TakeOfLog(std::string_view key, std::string_view value) {
  LogPlace place;
  LogVersion version;
  Piece of, piece;
  bool sound = false;
  if (key == kPlaceKey) {
    sound = ParsePlace(value, &place);
  } else if (ParseVersionKey(key, &of)) {
    sound = ParseLogVersion(value, &version);
  } else if (ParseUnfinishedKey(key, &of)) {
    sound = ParsePiece(value, &piece) && piece.name == of.name;
  }
  if (sound) return {};
  return RowFault{.name = std::string(key), .reason = "it is no note of a log"};
}

void SetRows::EndSet() {
  if (!name_.empty() && !reader_.Best().whole()) {
    short_.push_back({.name = name_, .reason = "the set lacks a piece"});
  }
  reader_ = {};
}

std::vector<RowFault> SetRows::End() {
  EndSet();
  name_.clear();
  return std::move(short_);
}

}  // namespace seendb::sets
