// recovery/kept.h: where a repair keeps what is damaged, and how a folder that it made anew takes
// the place of the damaged one.

#pragma once

#include <string>

#include <rocksdb/env.h>

#include "seendb/status.h"

namespace seendb {

/// In a folder being made anew: it is ours to remove.
inline constexpr char kRebuilding[] = "REBUILDING";
/// In one that has only to be put in its place.
inline constexpr char kRebuilt[] = "REBUILT";

/// Gives the folder `name` below `root`, which has both marks, the name `place`.
Status PutRebuiltInPlace(rocksdb::Env* env, const std::string& root, const std::string& name,
                         const std::string& place);

/// The folder of one run of a repair below `<root>/damaged`. Threads: one.
class KeptFiles {
 public:
  KeptFiles() = default;
  /// `dry_run`: nothing is made or moved.
  KeptFiles(rocksdb::Env* env, std::string root, bool dry_run)
      : env_(env), root_(std::move(root)), dry_run_(dry_run) {}

  bool dry_run() const { return dry_run_; }
  /// "damaged/0002", which is made with the first call; with `below` ("/shard-0003") that in it.
  Result<std::string> Folder(const std::string& below = {});
  /// Links (or copies) a file there, or with `move` takes it there. Its new path below the root.
  Result<std::string> Keep(const std::string& file, bool move);

 private:
  std::string In(const std::string& file) const { return root_ + "/" + file; }

  rocksdb::Env* env_ = nullptr;
  std::string root_;
  bool dry_run_ = false;
  std::string folder_;  // "damaged/0001"
};

}  // namespace seendb
