// redis/key_reader.h: the members of keys of an old store, many keys at a time, in pieces.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/client.h"
#include "seendb/status.h"

namespace seendb::redis {

/// What a key holds.
enum class KeyKind { kZset, kList, kSet, kHash, kAbsent, kOther };

/// A member as Redis gives it; `score` is a hash's value, and empty where the kind has none.
struct Member {
  std::string_view item;
  std::string_view score;
};

/// A key, as KeyReader::Look finds it.
struct KeyInfo {
  size_t key = 0;  ///< position in the span of keys
  KeyKind kind = KeyKind::kAbsent;
  uint64_t length = 0;
  std::string type = {};  ///< of what is no sorted set: as TYPE names it
};

/// Part of a key's members.
struct KeyPiece {
  size_t key = 0;  ///< position in the span of keys
  KeyKind kind = KeyKind::kAbsent;
  std::string_view type;  ///< of kOther: as TYPE names it
  std::span<const Member> members;
  uint64_t begin = 0;  ///< of a list: the position of the first
  bool last = true;    ///< no piece of this key follows
};

/// Keys with at most so many members are read by one command, which sees them at one moment. Those
/// that are longer are walked by ZSCAN, SSCAN or HSCAN: a member that is there all the time is
/// among what they give, whatever changes meanwhile, though maybe twice. (A list has no such walk:
/// a longer one that is trimmed at its head meanwhile may be read with a gap.) A key that gives far
/// more than it said it has, or says that it has more than kKeyMembersMost, fails (walk_limit.h).
inline constexpr uint64_t kWholeMembers = 5'000;
/// Members asked for at once, at most about so many: it bounds our memory, and how long Redis keeps
/// others waiting (some milliseconds).
inline constexpr uint64_t kMembersAtOnce = 10'000;

/// See the head of this file. Threads: one.
class KeyReader {
 public:
  /// Takes a piece; its views end with the call. A failure ends the reading.
  using OnPiece = std::function<Status(const KeyPiece&)>;
  /// Called before Redis is asked for about so many members.
  using OnAsk = std::function<Status(uint64_t members)>;

  /// `client` must outlive it.
  explicit KeyReader(Client& client) : client_(client) {}
  void SetOnAsk(OnAsk on_ask) { on_ask_ = std::move(on_ask); }
  /// Hashes are read, of fields and values; otherwise they are kOther.
  void ReadHashes() { hashes_ = true; }
  /// Members asked for at once, in place of kMembersAtOnce; a key that is read whole may have more.
  void SetAtOnce(uint64_t members) { at_once_ = members; }

  /// Reads all keys; each has at least one piece. kUnavailable: something was not answered, or a
  /// walk does not end; pieces may have come. kForbidden, kInvalidArgument: Redis refuses.
  Status Read(std::span<const std::string> keys, const OnPiece& on_piece);
  /// Says of each key which kind it is, and how long. Failures as Read.
  Status Look(std::span<const std::string> keys, std::vector<KeyInfo>* found);

 private:
  /// How far a long key was read.
  struct Position {
    std::string cursor = "0";  // "0" again at the end
    uint64_t offset = 0;       // members that were read; where a list goes on
  };

  Status Ask();
  Status AskTypes(std::span<const std::string> keys, std::vector<KeyInfo>* found);
  Status ReadWhole(std::span<const std::string> keys, std::span<const KeyInfo> group,
                   const OnPiece& on_piece);
  Status Walk(const std::string& name, const KeyInfo& key, const OnPiece& on_piece);
  Status Step(const std::string& name, const KeyInfo& key, Position* position,
              const OnPiece& on_piece);
  Status Give(const KeyInfo& key, std::span<redisReply* const> elements, uint64_t begin, bool last,
              const OnPiece& on_piece);

  Client& client_;
  OnAsk on_ask_ = [](uint64_t) { return Status(); };
  uint64_t at_once_ = kMembersAtOnce;
  bool hashes_ = false;
  Pipeline pipeline_;
  std::vector<Reply> replies_;
  std::vector<Member> members_;
};

}  // namespace seendb::redis
