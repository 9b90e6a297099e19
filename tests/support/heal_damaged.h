// tests/support/heal_damaged.h: a shard whose log fails, and gives back other bytes than were
// synced.

#pragma once

#include <string>

#include <gtest/gtest.h>

#include "seendb/engine.h"
#include "support/mem_disk.h"

namespace seendb {

/// Stops a shard by a failing append, spoils the middle of every log of some size, and heals by
/// RunDue. Precondition: the engine is open with `open_damaged`, and background work is off.
inline void FailAndHealDamaged(MemDisk* disk, Engine* engine) {
  disk->Fail(MemDisk::kAppend, ".log", rocksdb::IOStatus::IOError("EIO"));
  const Play play{IdRef("x"), IdRef("x")};
  ASSERT_FALSE(engine->RecordPlays({&play, 1}).ok());
  for (const std::string& log : disk->Files(".log")) {
    std::string bytes;
    disk->Read(log, &bytes);
    if (bytes.size() < 2'000) continue;
    for (size_t i = bytes.size() / 8; i < bytes.size() - 100; ++i) bytes[i] = 0x5a;
    disk->Write(log, bytes);
  }
  disk->Clear();
  Status due;
  for (int tries = 0; tries < 3; ++tries) {
    due = engine->RunDue();
    if (due.ok()) break;
  }
  ASSERT_TRUE(due.ok()) << due.ToString();
  ASSERT_FALSE(engine->Stats().problems.empty());
}

}  // namespace seendb
