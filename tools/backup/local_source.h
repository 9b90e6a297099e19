// backup/local_source.h: a database that this process has open, alone.

#pragma once

#include <string>

#include "backup/meter.h"
#include "backup/source.h"
#include "seendb/engine.h"

namespace seendb::backup {

/// The copy of a shard lies in `<db>/tmp/snapshot-backup`, as links: where the process is killed,
/// the next one removes it, or a server when it starts. Every file is read for its checksum.
class LocalSource : public Source {
 public:
  /// Borrows the engine and the meter.
  LocalSource(Engine* engine, std::string db, Meter* meter);
  ~LocalSource() override { LocalSource::Drop(); }
  LocalSource(const LocalSource&) = delete;
  LocalSource& operator=(const LocalSource&) = delete;

  Result<Origin> Describe() override;
  Result<std::map<std::string, std::string>> RootFiles() override;
  Result<std::vector<BackedFile>> Take(uint32_t shard) override;
  Status Read(const BackedFile& file, uint64_t offset, uint64_t bytes, std::string* to) override;
  void Drop() override;

 private:
  Result<BackedFile> Sum(const std::string& name, const std::string& path) const;

  Engine& engine_;
  const std::string db_, copy_;
  Meter& meter_;
};

}  // namespace seendb::backup
