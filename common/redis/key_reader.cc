#include "redis/key_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "redis/keys.h"
#include "redis/walk_limit.h"

namespace seendb::redis {
namespace {

constexpr uint64_t kPieceMembers = 1'000;
const std::string kPieceText = std::to_string(kPieceMembers);

bool IsWrongType(const Reply& reply) {
  return reply.is_error() && reply.text().starts_with("WRONGTYPE");
}

/// How keys of a kind are read.
struct KindRow {
  KeyKind kind;
  const char* type;    // as TYPE names it
  const char* length;  // the command that counts
  std::vector<std::string_view>
      whole;         // the command that reads all, and its arguments behind the key
  const char* scan;  // the command that walks; null: by ranges
  bool pairs;        // a member and its score, or a field and its value
};
const std::array<KindRow, 4>& Kinds() {
  static const std::array<KindRow, 4> kinds = {{
      {KeyKind::kZset, "zset", "ZCARD", {"ZRANGE", "0", "-1", "WITHSCORES"}, "ZSCAN", true},
      {KeyKind::kList, "list", "LLEN", {"LRANGE", "0", "-1"}, nullptr, false},
      {KeyKind::kSet, "set", "SCARD", {"SMEMBERS"}, "SSCAN", false},
      {KeyKind::kHash, "hash", "HLEN", {"HGETALL"}, "HSCAN", true},
  }};
  return kinds;
}
/// Precondition: it is one of them.
const KindRow& RowOf(KeyKind kind) {
  return *std::find_if(Kinds().begin(), Kinds().end(),
                       [kind](const KindRow& row) { return row.kind == kind; });
}

}  // namespace

/// Sends the pipeline and takes its replies.
Status KeyReader::Ask() {
  auto replies = client_.Run(pipeline_);
  if (!replies.ok()) return replies.status();
  replies_ = std::move(replies).value();
  return {};
}

/// Which kind each key is and how long; ZCARD alone, where all are sorted sets.
Status KeyReader::Look(std::span<const std::string> keys, std::vector<KeyInfo>* found) {
  pipeline_.Clear();
  for (const std::string& key : keys) pipeline_.Add({"ZCARD", key}, key);
  Status status = Ask();
  bool others = false;
  for (size_t i = 0; i < keys.size() && status.ok(); ++i) {
    KeyInfo key{i, KeyKind::kZset, static_cast<uint64_t>(replies_[i].integer())};
    if (IsWrongType(replies_[i])) {
      others = true;
      key.kind = KeyKind::kOther;
    } else {
      status = replies_[i].status();
      if (key.length == 0) key.kind = KeyKind::kAbsent;
    }
    found->push_back(std::move(key));
  }
  return status.ok() && others ? AskTypes(keys, found) : status;
}

/// The keys that are no sorted sets.
Status KeyReader::AskTypes(std::span<const std::string> keys, std::vector<KeyInfo>* found) {
  pipeline_.Clear();
  std::vector<KeyInfo*> others;
  for (KeyInfo& key : *found) {
    if (key.kind != KeyKind::kOther) continue;
    others.push_back(&key);
    pipeline_.Add({"TYPE", keys[key.key]}, keys[key.key]);
  }
  Status status = Ask();
  for (size_t i = 0; i < others.size() && status.ok(); ++i) {
    status = replies_[i].status();
    others[i]->type = replies_[i].text();
    for (const KindRow& row : Kinds()) {
      const bool reads = row.kind != KeyKind::kHash || hashes_;
      if (reads && others[i]->type == row.type) others[i]->kind = row.kind;
    }
    if (others[i]->type == "none") others[i]->kind = KeyKind::kAbsent;
  }
  if (!status.ok()) return status;
  pipeline_.Clear();
  std::erase_if(others, [](const KeyInfo* key) {
    return key->kind == KeyKind::kAbsent || key->kind == KeyKind::kOther;
  });
  for (const KeyInfo* const key : others) {
    const std::string& name = keys[key->key];
    pipeline_.Add({RowOf(key->kind).length, name}, name);
  }
  status = Ask();
  for (size_t i = 0; i < others.size() && status.ok(); ++i) {
    status = replies_[i].status();
    others[i]->length = static_cast<uint64_t>(replies_[i].integer());
    if (others[i]->length == 0) others[i]->kind = KeyKind::kAbsent;
  }
  return status;
}

Status KeyReader::Give(const KeyInfo& key, std::span<redisReply* const> elements, uint64_t begin,
                       bool last, const OnPiece& on_piece) {
  members_.clear();
  const size_t step = RowOf(key.kind).pairs ? 2 : 1;
  for (size_t i = 0; i + step <= elements.size(); i += step) {
    members_.push_back({Reply::TextOf(*elements[i]),
                        step == 2 ? Reply::TextOf(*elements[i + 1]) : std::string_view()});
  }
  return on_piece({key.key, key.kind, key.type, members_, begin, last});
}

/// Short keys, each by one command, all in one pipeline.
Status KeyReader::ReadWhole(std::span<const std::string> keys, std::span<const KeyInfo> group,
                            const OnPiece& on_piece) {
  pipeline_.Clear();
  for (const KeyInfo& key : group) {
    const std::string& name = keys[key.key];
    std::vector<std::string_view> command = RowOf(key.kind).whole;
    command.insert(command.begin() + 1, name);
    pipeline_.Add(command, name);
  }
  Status status = Ask();
  for (size_t i = 0; i < group.size() && status.ok(); ++i) {
    // The key may have become another one since.
    status = IsWrongType(replies_[i]) ? Status::Unavailable("Redis: a key changed its type")
                                      : replies_[i].status();
    if (status.ok()) status = Give(group[i], replies_[i].elements(), 0, true, on_piece);
  }
  return status;
}

/// The next piece of a long key.
Status KeyReader::Step(const std::string& name, const KeyInfo& key, Position* position,
                       const OnPiece& on_piece) {
  pipeline_.Clear();
  if (key.kind == KeyKind::kList) {
    pipeline_.Add({"LRANGE", name, std::to_string(position->offset),
                   std::to_string(position->offset + kPieceMembers - 1)},
                  name);
  } else {
    pipeline_.Add({RowOf(key.kind).scan, name, position->cursor, "COUNT", kPieceText}, name);
  }
  Status status = Ask();
  if (status.ok()) status = replies_[0].status();
  if (!status.ok()) return status;
  std::span<redisReply* const> elements = replies_[0].elements();
  const uint64_t begin = position->offset;
  if (key.kind == KeyKind::kList) {
    position->offset += elements.size();
    position->cursor = elements.size() < kPieceMembers ? "0" : "more";
  } else {
    if (elements.size() != 2) return Status::Unavailable("Redis: a scan's answer can't be read");
    const std::string_view next = Reply::TextOf(*elements[0]);
    if (!GoesOn(position->cursor, next)) return Status::Unavailable("Redis: a scan does not go on");
    position->cursor = next;
    elements = Reply::ElementsOf(*elements[1]);
    position->offset += elements.size() / (RowOf(key.kind).pairs ? 2 : 1);
  }
  return Give(key, elements, begin, position->cursor == "0", on_piece);
}

/// All of a long key.
Status KeyReader::Walk(const std::string& name, const KeyInfo& key, const OnPiece& on_piece) {
  if (key.length > kKeyMembersMost) {
    return Status::Unavailable("Redis: a key has more members than " +
                               std::to_string(kKeyMembersMost) + ", it says");
  }
  WalkLimit limit(key.length, kPieceMembers);
  Position position;
  for (;;) {
    const uint64_t before = position.offset;
    Status status = on_ask_(kPieceMembers);
    if (status.ok()) status = Step(name, key, &position, on_piece);
    if (!status.ok() || position.cursor == "0") return status;
    if (!limit.Take(position.offset - before)) {
      return Status::Unavailable("Redis: a key of " + std::to_string(key.length) +
                                 " members does not end");
    }
  }
}

Status KeyReader::Read(std::span<const std::string> keys, const OnPiece& on_piece) {
  std::vector<KeyInfo> found;
  Status status = Look(keys, &found);
  std::vector<KeyInfo> group;
  uint64_t members = 0;
  const auto read_group = [&] {
    Status read = group.empty() ? Status() : on_ask_(members);
    if (read.ok() && !group.empty()) read = ReadWhole(keys, group, on_piece);
    group.clear();
    members = 0;
    return read;
  };
  for (KeyInfo& key : found) {
    if (!status.ok()) return status;
    if (key.kind == KeyKind::kAbsent || key.kind == KeyKind::kOther) {
      status = on_piece({key.key, key.kind, key.type, {}, 0, true});
      continue;
    }
    if (key.length > kWholeMembers) {
      status = Walk(keys[key.key], key, on_piece);
      continue;
    }
    if (members + key.length > at_once_) status = read_group();
    members += key.length;
    group.push_back(std::move(key));
  }
  return status.ok() ? read_group() : status;
}

}  // namespace seendb::redis
