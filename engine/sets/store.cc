#include "sets/store.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/facts.h"
#include "sets/log_rows.h"
#include "sets/piece_codec.h"
#include "sets/set_ids.h"

namespace seendb::sets {

// The former pieces go with the same write: whoever opens the store finds one version. So does what
// is noted of a log: the sets are not its any more, and whoever follows it reads it anew.
Status Store::WritePieces(std::string_view name, std::span<const std::string_view> ids,
                          const Version& version) {
  rocksdb::WriteBatch batch;
  batch.Delete(rocksdb::Slice(kPlaceKey));
  if (Status status = DeletePieces(name, &batch); !status.ok()) return status;
  for (const Piece& piece : CutPieces(name, version, ids)) {
    batch.Put(KeyOf(piece), EncodePiece(piece));
  }
  return Write(&batch, /*sync=*/true, "write the set");
}

Result<SetInfo> Store::Put(std::string_view name, std::span<const IdRef> items) {
  Status status = CheckSetName(name);
  if (status.ok()) status = CheckSetItems(items);
  if (!status.ok()) return status;
  std::string digits;
  const std::vector<std::string_view> ids = CanonicalTexts(items, &digits);
  const MutexLock lock(write_mutex_);
  if (closed()) return ClosedStore();
  status = CheckRoom(name, MemorySet::BytesOf(ids.size(), TextBytes(ids)));
  if (!status.ok()) return status;
  const SetPtr former = Get(name);  // let go at the end, behind the lock of the sets
  const Version version = NewVersion(former.get());
  SetPtr set = std::make_shared<const MemorySet>(ids, version, false);
  status = WritePieces(name, ids, version);
  if (!status.ok()) return status;
  SetInfo info{std::string(name), set->count(), set->bytes(), version.begun_ms, false};
  Publish(name, std::move(set));
  return info;
}

Status Store::Delete(std::string_view name) {
  const MutexLock lock(write_mutex_);
  if (closed()) return ClosedStore();
  const SetPtr former = Get(name);
  if (former == nullptr) return NoSuchSet(name);
  rocksdb::WriteBatch batch;
  batch.Delete(rocksdb::Slice(kPlaceKey));
  Status status = DeletePieces(name, &batch);
  if (status.ok()) status = Write(&batch, /*sync=*/true, "delete the set");
  if (!status.ok()) return status;
  Publish(name, nullptr);
  return {};
}

}  // namespace seendb::sets

namespace seendb {

Result<std::unique_ptr<SetStore>> SetStore::Open(const std::string& path,
                                                 const SetStoreOptions& options) {
  auto store = std::make_unique<sets::Store>(options);
  if (Status status = store->Load(path); !status.ok()) return status;
  return std::unique_ptr<SetStore>(std::move(store));
}

Status SetStore::Copy(const std::string& path, const std::string& to) {
  std::error_code none;
  if (!std::filesystem::exists(path + "/CURRENT", none)) {
    return Status::NotFound("there are no sets in " + path);
  }
  sets::Store store(SetStoreOptions{});
  Status status = store.OpenDatabase(path);
  if (status.ok()) status = store.Checkpoint(to);
  return status;
}

}  // namespace seendb
