#include "sets/piece_codec.h"

#include "format/bytes.h"
#include "seendb/set_store.h"

namespace seendb::sets {
namespace {

// Behind the name: when it was begun, the nonce, the piece's number.
constexpr size_t kVersionBytes = 8 + 8 + 4;
// A piece is full of ids, or of bytes but for one id more.
constexpr uint64_t kMostPieces =
    (kMaxSetItems + kPieceItems - 1) / kPieceItems + kMaxSetBytes / (kPieceBytes - kMaxIdBytes) + 1;
constexpr uint32_t kFlagDeletion = 1;

// Big-endian, so that keys are ordered as numbers are.
void PutOrdered(uint64_t number, unsigned bytes, std::string* out) {
  for (unsigned i = bytes; i-- > 0;) out->push_back(static_cast<char>(number >> (8 * i)));
}

uint64_t OrderedAt(std::string_view bytes, size_t at, unsigned count) {
  uint64_t number = 0;
  for (unsigned i = 0; i < count; ++i) number = number << 8 | static_cast<uint8_t>(bytes[at + i]);
  return number;
}

}  // namespace

std::vector<Piece> CutPieces(std::string_view name, const Version& version,
                             std::span<const std::string_view> ids) {
  std::vector<Piece> pieces(1, {.name = name, .version = version});
  size_t bytes = 0;
  for (const std::string_view id : ids) {
    if (pieces.back().ids.size() == kPieceItems || bytes + id.size() > kPieceBytes) {
      pieces.push_back({.name = name, .version = version});
      bytes = 0;
    }
    pieces.back().ids.push_back(id);
    bytes += id.size();
  }
  for (uint32_t i = 0; i < pieces.size(); ++i) {
    pieces[i].number = i;
    pieces[i].pieces = static_cast<uint32_t>(pieces.size());
  }
  return pieces;
}

std::string KeyPrefix(std::string_view name) {
  std::string key(kSetPrefix);
  key.push_back(static_cast<char>(name.size()));
  key.append(name);
  return key;
}

std::string KeyOf(const Piece& piece) {
  std::string key = KeyPrefix(piece.name);
  PutOrdered(static_cast<uint64_t>(piece.version.begun_ms), 8, &key);
  PutOrdered(piece.version.nonce, 8, &key);
  PutOrdered(piece.number, 4, &key);
  return key;
}

std::string_view NameInKey(std::string_view key) {
  if (!key.starts_with(kSetPrefix) || key.size() == kSetPrefix.size()) return {};
  key.remove_prefix(kSetPrefix.size());
  const size_t size = static_cast<uint8_t>(key.front());
  return key.size() == 1 + size + kVersionBytes ? key.substr(1, size) : std::string_view();
}

bool ParsePieceKey(std::string_view key, Piece* piece) {
  *piece = {};
  piece->name = NameInKey(key);
  if (piece->name.empty() || piece->name.size() > kMaxSetNameBytes) return false;
  const std::string_view version = key.substr(key.size() - kVersionBytes);
  piece->version.begun_ms = static_cast<int64_t>(OrderedAt(version, 0, 8));
  piece->version.nonce = OrderedAt(version, 8, 8);
  piece->number = static_cast<uint32_t>(OrderedAt(version, 16, 4));
  return piece->number < kMostPieces;
}

std::string EncodePiece(const Piece& piece) {
  std::string out(1, static_cast<char>(Tag::kSetPiece));
  PutVarint(&out, piece.deletion ? kFlagDeletion : 0);
  PutVarint(&out, piece.name.size());
  out.append(piece.name);
  PutZigzag(&out, piece.version.begun_ms);
  PutU64(&out, piece.version.nonce);
  PutVarint(&out, piece.number);
  PutVarint(&out, piece.pieces);
  PutVarint(&out, piece.ids.size());
  for (const std::string_view id : piece.ids) {
    PutVarint(&out, id.size());
    out.append(id);
  }
  Seal32(&out);
  return out;
}

bool ParsePiece(std::string_view value, Piece* piece) {
  *piece = {};
  std::string_view body;
  if (!Open32(value, Tag::kSetPiece, &body)) return false;
  Reader reader(body);
  const uint64_t flags = reader.Varint();
  if (flags > kFlagDeletion) return false;
  piece->deletion = flags == kFlagDeletion;
  piece->name = reader.Bytes(reader.Varint());
  piece->version.begun_ms = reader.Zigzag();
  piece->version.nonce = reader.U64();
  piece->number = reader.Varint32();
  piece->pieces = reader.Varint32();
  const uint32_t count = reader.Varint32();
  if (!reader.ok() || piece->name.empty() || piece->name.size() > kMaxSetNameBytes) return false;
  if (piece->pieces > kMostPieces || piece->number >= piece->pieces) return false;
  if (count > kPieceItems || (piece->deletion && (count > 0 || piece->pieces > 1))) return false;
  piece->ids.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const std::string_view id = reader.Bytes(reader.Varint());
    if (!reader.ok() || id.empty() || id.size() > kMaxIdBytes) return false;
    if (i > 0 && id <= piece->ids.back()) return false;
    piece->ids.push_back(id);
  }
  return reader.remaining() == 0;
}

std::string NewerPieceText(std::string_view value) {
  if (std::string newer = NewerText(value); !newer.empty()) return newer;
  std::string_view body;
  if (!Open32(value, Tag::kSetPiece, &body)) return {};
  const uint64_t flags = Reader(body).Varint();
  if (flags <= kFlagDeletion) return {};
  return "a piece of a set has flags that this software does not know (" + std::to_string(flags) +
         ")";
}

}  // namespace seendb::sets
