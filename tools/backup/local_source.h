// backup/local_source.h: a database that this process has open, alone.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backup/meter.h"
#include "backup/source.h"
#include "seendb/engine.h"

namespace seendb::backup {

/// How each store beside the shards is copied, from its folder into a new one, by its name.
using StoreCopies =
    std::map<std::string, std::function<Status(const std::string& from, const std::string& to)>>;

/// The copy of a shard or a store lies in `<db>/tmp/snapshot-backup`, as links: where the process
/// is killed, the next one removes it, or a server when it starts. Every file is read for its
/// checksum.
class LocalSource : public Source {
 public:
  /// Borrows the engine and the meter.
  LocalSource(Engine* engine, std::string db, StoreCopies stores, Meter* meter);
  ~LocalSource() override { LocalSource::Drop(); }
  LocalSource(const LocalSource&) = delete;
  LocalSource& operator=(const LocalSource&) = delete;

  Result<Origin> Describe() override;
  Result<std::map<std::string, std::string>> RootFiles() override;
  Result<std::vector<BackedFile>> Take(const std::string& folder) override;
  Status Read(const BackedFile& file, uint64_t offset, uint64_t bytes, std::string* to) override;
  void Drop() override;

 private:
  Status Copy(const std::string& folder);
  Result<BackedFile> Sum(const std::string& name, const std::string& path) const;

  Engine& engine_;
  const std::string db_, copy_;
  const StoreCopies stores_;
  Meter& meter_;
};

}  // namespace seendb::backup
