// sets/store.h: SetStore over a RocksDB with one family: what is put goes to the database first, in
// one synced batch, and to memory then; what is asked comes from memory alone.

#pragma once

#include <span>
#include <string_view>

#include "sets/base_store.h"

namespace seendb::sets {

/// See the head of this file.
class Store final : public BaseStore {
 public:
  explicit Store(const SetStoreOptions& options) : BaseStore(options) {}

  Result<SetInfo> Put(std::string_view name, std::span<const IdRef> items) override;
  Status Delete(std::string_view name) override;

 private:
  Status WritePieces(std::string_view name, std::span<const std::string_view> ids,
                     const Version& version);
};

}  // namespace seendb::sets
