// format/journal_codec.h: one accepted batch of plays of one shard (format.md, "Journal record").

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "filter/hash.h"
#include "format/bytes.h"

namespace seendb {

/// What records of both kinds have in common (history_journal.h has the other): a head with the
/// collection and a number that those of the plays are relative to, then the plays; a run of plays
/// of one user names the user once.
class JournalWriter {
 public:
  /// Plays added since Begin.
  uint32_t count() const { return count_; }
  /// The finished record; valid until the next Begin.
  std::string_view Finish();

 protected:
  void BeginRecord(Tag tag, std::string_view collection, int64_t base);
  /// Begins a play; the rest of it is appended to what this returns.
  std::string* AddUser(std::string_view user);
  void AddRelative(int64_t number);

 private:
  std::string bytes_;
  std::string plays_;
  std::string last_user_;
  int64_t base_ = 0;
  uint32_t count_ = 0;
};

/// Reads in place what JournalWriter writes.
class JournalReader {
 public:
  std::string_view collection() const { return collection_; }
  uint32_t count() const { return count_; }
  bool ok() const { return ok_; }

 protected:
  bool BeginRecord(Tag tag, std::string_view record);
  /// Begins a play: its user; false at the end.
  bool NextUser(std::string_view* user);
  int64_t ReadRelative();
  /// Ends a play; false where it is malformed, or `sound` is false.
  bool EndPlay(bool sound);
  Reader* in() { return &in_; }

 private:
  Reader in_{std::string_view()};
  std::string_view collection_;
  std::string_view user_;
  int64_t base_ = 0;
  uint32_t count_ = 0;
  uint32_t read_ = 0;
  bool ok_ = false;
};

/// Writes one record play by play.
class JournalEncoder : public JournalWriter {
 public:
  /// Starts a record for `collection`. Buckets are stored relative to `base_bucket`.
  void Begin(std::string_view collection, int64_t base_bucket) {
    BeginRecord(Tag::kJournal, collection, base_bucket);
  }
  /// Adds an accepted play. `user` is the canonical text, 1-255 bytes.
  void Add(std::string_view user, int64_t bucket, Fingerprint item);
};

/// Reads a record in place.
class JournalDecoder : public JournalReader {
 public:
  /// Checks tag and checksum; false where the record is damaged.
  bool Begin(std::string_view record) { return BeginRecord(Tag::kJournal, record); }
  /// The next play; false at the end, or where the record is malformed (then ok() is false).
  bool Next(std::string_view* user, int64_t* bucket, Fingerprint* item);
};

/// Journal keys are sequences, big-endian, so that RocksDB's order is the order of arrival.
std::string SequenceKey(uint64_t sequence);
/// The sequence of a key; false where it is none.
bool ParseSequenceKey(std::string_view key, uint64_t* sequence);

}  // namespace seendb
