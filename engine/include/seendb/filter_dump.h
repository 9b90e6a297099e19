// seendb/filter_dump.h: all that the plain question asks about one user, as bytes that another
// process can ask by itself (engine/doc/filter-dump.md has the layout to the byte).
//
//   FilterDump dump;
//   Status s = engine->DumpFilter({.user = user}, &dump);
//   const std::string bytes = dump.Encode({});         // all parts
//   const std::string later = dump.Encode(dump.Hashes());  // the head alone: the caller has them
//
// A dump has fingerprints, not ids. Who has the key of these (ReadItemHashKey) can tell which of
// the ids that it knows are in a dump.
//
// Threads: plain values; views must outlive the call they are passed to.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/cxx20.h"
#include "seendb/id.h"
#include "seendb/status.h"

namespace seendb {

/// The version of the layout.
inline constexpr uint8_t kFilterDumpVersion = 1;

/// The kind of content of a part of a dump. The numbers never change.
enum class DumpPartKind : uint8_t {
  kRing = 1,         ///< plays that are not drained yet
  kImpressions = 2,  ///< served items that count
  kExposures = 3,    ///< exposed items that count
  kRecord = 4,       ///< overrides: items whose plays don't count
  kMarks = 5,        ///< marked groups, as text
  kBucket = 6,       ///< the seen filter of one bucket
};

/// One part.
struct DumpPart {
  DumpPartKind kind = DumpPartKind::kRing;
  int64_t begin_ms = 0;  ///< of the bucket; 0: it is of no bucket
  int64_t end_ms = 0;    ///< of the bucket, exclusive
  uint64_t hash = 0;     ///< of kind, begin_ms and body
  std::string body;

  /// Sets `hash`.
  void Seal();
};

/// A served item whose id is kept.
struct ServedId {
  std::string id;     ///< canonical text
  int64_t at_ms = 0;  ///< when it was served last
};

/// Whose dump.
struct FilterDumpRequest {
  IdRef user = {};                          ///< whose
  std::string_view collection = "default";  ///< kNotFound if unknown
  bool served_ids = false;                  ///< fill FilterDump::served_ids
};

/// The dump, of one moment.
struct FilterDump {
  int64_t as_of_ms = 0;         ///< the moment
  int64_t window_begin_ms = 0;  ///< of the oldest bucket that counts
  /// From then on less may count: the window moves, or an exposed item is no longer counted. Until
  /// then, and if nothing is recorded, the answers stay the same.
  int64_t valid_until_ms = 0;
  uint32_t hash_version = 0;         ///< of the fingerprints
  uint64_t key_id = 0;               ///< ItemHashKey::id
  bool degraded = false;             ///< something could not be read
  std::vector<std::string> missing;  ///< as FilterResponse::missing
  std::vector<DumpPart> parts;       ///< by kind, buckets newest first; none is empty
  /// Counted served items, where Policy::impression_ids keeps their ids.
  std::vector<ServedId> served_ids;

  /// The hash of all but as_of_ms and the parts.
  uint64_t FrameHash() const;
  /// The hashes of the parts, in their order.
  std::vector<uint64_t> Hashes() const;
  /// Names the frame and all parts: two dumps with the same one have the same answers.
  std::string Etag() const;
  /// The bytes, without the bodies of parts that `have` names.
  std::string Encode(std::span<const uint64_t> have) const;
  /// How many bytes Encode makes.
  size_t EncodedBytes(std::span<const uint64_t> have) const;
};

/// The hashes that a text of ETags names (FilterDump::Etag); those of other texts are passed over.
std::vector<uint64_t> DumpHashesIn(std::string_view etags);

/// The key that makes fingerprints out of ids. A secret.
struct ItemHashKey {
  uint32_t version = 0;               ///< of the hash; version 1 has no key
  std::array<uint8_t, 192> secret{};  ///< XXH3's secret, of version 2
  uint64_t id = 0;                    ///< names the key and tells nothing of it; 0: version 1
};

/// The part of an engine that gives filters away. Threads: any, at once.
class FilterDumps {
 public:
  /// All that the plain question asks about a user, into `*dump` (cleared first). kUnavailable: the
  /// shard is being opened anew. Cost: that of a filter request, and a copy of what it read.
  virtual Status DumpFilter(const FilterDumpRequest& request, FilterDump* dump) = 0;
  /// The database's key.
  virtual ItemHashKey ReadItemHashKey() const = 0;

 protected:
  ~FilterDumps() = default;
};

}  // namespace seendb
