// format/journal_codec.h: one accepted batch of plays of one shard (format.md, "Journal record").

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "filter/hash.h"
#include "format/bytes.h"

namespace seendb {

/// Writes one record play by play; a run of plays of one user names the user once.
class JournalEncoder {
 public:
  /// Starts a record for `collection`. Buckets are stored relative to `base_bucket`.
  void Begin(std::string_view collection, int64_t base_bucket);
  /// Adds an accepted play. `user` is the canonical text, 1-255 bytes.
  void Add(std::string_view user, int64_t bucket, Fingerprint item);
  /// Plays added since Begin.
  uint32_t count() const { return count_; }
  /// The finished record; valid until the next Begin.
  std::string_view Finish();

 private:
  std::string bytes_;
  std::string plays_;
  std::string last_user_;
  int64_t base_bucket_ = 0;
  uint32_t count_ = 0;
};

/// Reads a record in place.
class JournalDecoder {
 public:
  /// Checks tag and checksum; false where the record is damaged.
  bool Begin(std::string_view record);
  std::string_view collection() const { return collection_; }
  uint32_t count() const { return count_; }
  /// The next play; false at the end, or where the record is malformed (then ok() is false).
  bool Next(std::string_view* user, int64_t* bucket, Fingerprint* item);
  bool ok() const { return ok_; }

 private:
  Reader in_{std::string_view()};
  std::string_view collection_;
  std::string_view user_;
  int64_t base_bucket_ = 0;
  uint32_t count_ = 0;
  uint32_t read_ = 0;
  bool ok_ = false;
};

/// Journal keys are sequences, big-endian, so that RocksDB's order is the order of arrival.
std::string SequenceKey(uint64_t sequence);
/// The sequence of a key; false where it is none.
bool ParseSequenceKey(std::string_view key, uint64_t* sequence);

}  // namespace seendb
