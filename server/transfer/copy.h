// server/transfer/copy.h: what a copy of a shard is made of, as two nodes tell each other.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "seendb/status.h"

namespace seendb::transfer {

/// The folder in a database's folder where copies of shards lie while they are made or fetched.
/// The engine attaches from there, by renaming.
inline constexpr char kTransitName[] = "tmp";

/// The longest JSON text of a manifest that is read.
inline constexpr size_t kManifestBytesMost = 32u << 20;

/// Which database a shard is of, and how it lies on disk. Only between two that are the same can a
/// shard move.
struct CopyKind {
  int64_t format = 0;   ///< of the layout on disk
  std::string uuid;     ///< the database's id, which is the cluster's
  uint32_t shards = 0;  ///< the number of partitions
  std::string hash;     ///< the version of the item hash, and a checksum of its key
};

/// What the database in the folder `db` is. kNotFound: there is none; kCorruption.
Result<CopyKind> ReadKind(const std::string& db);

/// kIncompatible, naming every difference, where shards of the two do not fit each other.
Status CheckSameKind(const CopyKind& here, const CopyKind& there);

/// One file of a copy.
struct CopyEntry {
  std::string name;  ///< without a folder; see IsCopyFileName
  uint64_t size = 0;
  uint32_t crc32c = 0;
  std::string sha256 = {};  ///< in lower-case digits; empty: nobody asked for it
};

/// Whether a file of a copy may have this name: it stays within its folder, whoever sent it.
bool IsCopyFileName(std::string_view name);

/// How far a copy has read a partition of a topic, at least.
struct CopyOffset {
  std::string topic;
  uint32_t partition = 0;
  int64_t next_offset = 0;
};

/// The thing that is copied: a shard, or a store beside the shards ("items", "sets").
struct CopyPart {
  /// A shard.
  CopyPart(uint32_t number = 0) : shard(number) {}  // NOLINT: shards are parts
  /// A store.
  static CopyPart Store(std::string name) {
    CopyPart part;
    part.store = std::move(name);
    return part;
  }

  uint32_t shard;
  std::string store = {};  ///< empty: a shard

  /// Both the same.
  friend bool operator==(const CopyPart&, const CopyPart&) = default;
};

/// A copy of a part that a node keeps for another one, or for a backup, to fetch.
struct Manifest {
  std::string id;  ///< of the copy
  CopyPart part = {};
  CopyKind kind;
  std::vector<CopyOffset> next_offsets;
  std::vector<CopyEntry> files;

  /// The size of all files together.
  uint64_t Bytes() const;
};

/// The "version" that nodes of today write into both bodies (server/doc/cluster-format.md). It
/// grows with what is added; what a member means stays, and one that is not known is passed over.
inline constexpr int kCopyVersion = 1;

/// The answer to the request for a copy. Nodes fetch shards alone: ManifestFromJson reads no other.
std::string ManifestToJson(const Manifest& manifest);
/// kCorruption, saying what is wrong: not a manifest, a name that IsCopyFileName refuses or that is
/// there twice, sizes that don't add up.
Result<Manifest> ManifestFromJson(std::string_view text);

/// Who asks for a copy, and what it must be.
struct CopyRequest {
  std::string node;
  CopyKind kind;
  std::string run = {};  ///< of a backup: copies that were made for another run of it end
  bool sha256 = false;   ///< whether the manifest is to have the files' SHA-256
};

/// The body of the request for a copy.
std::string CopyRequestToJson(const CopyRequest& request);
/// kInvalidArgument with the field at fault.
Result<CopyRequest> CopyRequestFromJson(std::string_view text);

}  // namespace seendb::transfer
