// tests/support/mem_tree.h: the folders and files of a MemDisk, and what of them a power cut
// forgets. Pure data: no locks, no errors but "not there". A file remembers how much of it was
// synced, a folder which of its names were.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>

namespace seendb {

struct MemNode;
using MemNodePtr = std::shared_ptr<MemNode>;
using MemNames = std::map<std::string, MemNodePtr, std::less<>>;

/// A file or a folder. Several names may lead to one file.
struct MemNode {
  bool folder = false;
  uint64_t modified_s = 0;
  // A file. The bytes are shared with clones until either writes.
  std::shared_ptr<std::string> bytes = std::make_shared<std::string>();
  uint64_t synced = 0;  ///< so many of `bytes` survive a power cut
  /// Synced bytes that were cut off since: a power cut may bring them back.
  std::shared_ptr<const std::string> synced_before;
  // A folder.
  MemNames names, synced_names;

  /// The bytes, to be changed.
  std::string& Own();
  void Append(std::string_view more);
  void Truncate(uint64_t size);
  /// What is there now survives a power cut.
  void Sync();
};

/// What a power cut does to bytes that were not synced.
enum class MemTear : uint8_t {
  kShorten,  ///< the file ends at any byte
  kGarbage,  ///< or goes on with a block of zeros or of noise
  kNothing,  ///< nothing of them is left, nor of names
};

/// See the head of this file. Paths are absolute; repeated and trailing slashes don't matter.
class MemTree {
 public:
  MemTree();
  MemTree(MemTree&&) = default;
  MemTree& operator=(MemTree&&) = default;

  /// Null where there is nothing.
  MemNodePtr Find(std::string_view path) const;
  /// The folder a path lies in, null where there is none; `name` is the rest.
  MemNodePtr Parent(std::string_view path, std::string* name) const;
  /// Calls for each file and folder, parents first.
  void ForEach(const std::function<void(const std::string&, const MemNode&)>& visit) const;
  /// Bytes of all files, each once.
  uint64_t bytes() const;

  /// Forgets what was not synced, or part of it: each name and each tail by a throw of the dice.
  void PowerCut(uint64_t seed, MemTear tear);
  MemTree Clone() const;

 private:
  MemNodePtr root_;
};

}  // namespace seendb
