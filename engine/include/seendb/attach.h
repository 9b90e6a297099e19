// seendb/attach.h: how a shard comes into a database that is open, and how it goes.
//
// Engine::ReplaceShard opens the new shard in its folder before it closes the former one, and
// whenever the process ends, one of the two is in the place. What the former one alone has is
// lost. On failure the former one serves again; Engine::RunDue, or the background, tries until it
// does.
//
// Threads: plain values.

#pragma once

#include <cstdint>
#include <string>

namespace seendb {

/// What becomes of the folder of a shard that is detached.
enum class Detached : uint8_t {
  kKept,    ///< it stays in the database's folder, as `shard-0003.detached`
  kRemoved  ///< it is deleted
};

/// What a caller allows, or says, where a shard is attached, or takes the place of another. None of
/// it is needed for a copy of the same database that was not changed.
struct AttachOptions {
  /// The folder may know later collections, or later policies, than the database. They then hold
  /// for all shards: a collection that was deleted or made again there is deleted in the others.
  /// For a database whose collections come out of a log that the folder is ahead in.
  bool newer_collections = false;
  /// Of Engine::ReplaceShard: the former shard may lose what it acknowledged and has in memory
  /// alone, as after a failure of its disk: the caller has it elsewhere, as a log has.
  bool former_may_lose = false;
  /// Of Engine::AttachShard without a folder: what was lost with the shard that lay there before,
  /// for people. As long as a bucket of the time of this call is read, answers of the shard say
  /// `degraded`, missing `log`. Empty: nothing was lost. Beside a folder it is kInvalidArgument
  /// ("/former_lost").
  std::string former_lost = {};
};

}  // namespace seendb
