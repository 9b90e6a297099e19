// A store beside the shards made anew: of its own MANIFEST where that and every table's frame can
// be read, else of the tables and logs that can, by a MANIFEST that RocksDB makes of them.

#include <algorithm>
#include <utility>

#include <rocksdb/write_batch.h>

#include "base/return_if_failed.h"
#include "recovery/beside.h"
#include "store/copy_file.h"
#include "store/status.h"

namespace seendb {
namespace {

constexpr size_t kRowBatchBytes = size_t{1} << 20;
constexpr size_t kNamedNotes = 100;
constexpr char kSeedKey[] = "\xff\xff";  // ids and names are UTF-8
constexpr char kScratch[] = "/from";     // in the new store's folder, while it is made

/// Writes what is read into the new store.
class BesideWriter {
 public:
  Status Open(rocksdb::Env* env, const std::string& path, const BesideRows& rows) {
    rocksdb::DBOptions options;
    options.env = env;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    rocksdb::DB* db = nullptr;
    const rocksdb::Status opened =
        rocksdb::DB::Open(options, path, rows.Families(), &families_, &db);
    db_.reset(db);
    return FromRocks(opened, "make " + path);
  }
  ~BesideWriter() { Let(); }

  void Put(size_t family, std::string_view key, std::string_view value) {
    if (!failed_.ok()) return;
    failed_ = batch_.Put(families_[family], {key.data(), key.size()}, {value.data(), value.size()});
    if (batch_.GetDataSize() >= kRowBatchBytes) Write();
  }
  /// Everything is on disk.
  Status Close() {
    Write();
    if (failed_.ok()) failed_ = db_->Flush({}, families_);
    if (failed_.ok()) failed_ = db_->SyncWAL();
    Let();
    if (failed_.ok()) failed_ = db_->Close();
    db_.reset();
    return FromRocks(failed_, "write the store");
  }

 private:
  void Write() {
    if (failed_.ok()) failed_ = db_->Write({}, &batch_);
    batch_.Clear();
  }
  void Let() {
    for (rocksdb::ColumnFamilyHandle* family : families_) {
      db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
    }
    families_.clear();
  }

  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  rocksdb::WriteBatch batch_;
  rocksdb::Status failed_;
};

/// RocksDB knows a family by its tables alone, and leaves out what a log has of one without any: so
/// each gets a table that has nothing but the deletion of a key that no row has. Its number is
/// above those of the store's own.
Status SeedFamilies(rocksdb::Env* env, const std::string& into, const BesideRows& rows) {
  constexpr uint64_t kNumber = 900'000'000;
  const std::string seeds = into + "/seeds";
  rocksdb::DBOptions options;
  options.env = env;
  options.create_if_missing = options.create_missing_column_families = true;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  rocksdb::DB* opened = nullptr;
  rocksdb::Status status = rocksdb::DB::Open(options, seeds, rows.Families(), &families, &opened);
  const std::unique_ptr<rocksdb::DB> db(opened);
  for (rocksdb::ColumnFamilyHandle* family : families) {
    if (status.ok()) status = db->Delete({}, family, kSeedKey);
    if (status.ok()) status = db->Flush({}, family);
  }
  std::vector<rocksdb::LiveFileMetaData> tables;
  if (status.ok()) db->GetLiveFilesMetaData(&tables);
  for (rocksdb::ColumnFamilyHandle* family : families) {
    db->DestroyColumnFamilyHandle(family).PermitUncheckedError();
  }
  if (status.ok()) status = db->Close();
  for (size_t i = 0; status.ok() && i < tables.size(); ++i) {
    const std::string name = "/" + std::to_string(kNumber + i) + ".sst";
    status = env->RenameFile(seeds + tables[i].name, into + name);
  }
  if (!status.ok()) return FromRocks(status, "make " + seeds);
  return RemoveFolder(env, seeds);
}

/// Links the tables and logs that can be read into the new folder `into`, and makes a MANIFEST.
Status Reassemble(rocksdb::Env* env, const std::string& from, const std::string& into,
                  const BesideFindings& findings, const BesideRows& rows) {
  std::vector<std::string> names;
  Status status = FromRocks(env->GetChildren(from, &names), "list " + from);
  if (status.ok()) status = MakeFolder(env, into);
  for (const std::string& name : names) {
    if (!status.ok()) return status;
    const bool table = name.ends_with(".sst");
    if (!table && !name.ends_with(".log")) continue;
    const bool unusable =
        std::any_of(findings.damages.begin(), findings.damages.end(), [&](const auto& damage) {
          return damage.file == name && (table || damage.kind != "damaged");
        });
    if (unusable || env->LinkFile(from + "/" + name, into + "/" + name).ok()) continue;
    uint64_t bytes = 0;
    status = FromRocks(env->GetFileSize(from + "/" + name, &bytes), "look at " + name);
    if (status.ok()) status = CopyFile(env, from + "/" + name, into + "/" + name, bytes);
  }
  if (status.ok()) status = SeedFamilies(env, into, rows);
  if (!status.ok()) return status;
  rocksdb::DBOptions options;
  options.env = env;
  return FromRocks(
      rocksdb::RepairDB(into, options, rows.Families(), rocksdb::ColumnFamilyOptions()),
      "put " + from + " together");
}

}  // namespace

Status RebuildBeside(rocksdb::Env* env, const std::string& from, const std::string& into,
                     const BesideFindings& findings, BesideRows* rows, BesideOutcome* outcome) {
  std::string source = from;
  if (!findings.opens) {
    source = into + kScratch;
    RETURN_IF_FAILED(Reassemble(env, from, source, findings, *rows));
  }
  uint64_t left_out = 0;
  Status newer;
  const auto leave_out = [&](const RowFault& fault) {
    if (fault.newer) newer = Status::Incompatible(from + ": " + fault.name + ": " + fault.reason);
    if (++left_out > kNamedNotes) return;
    outcome->notes.push_back("\"" + fault.name + "\": " + fault.reason);
  };
  BesideWriter writer;
  Status status = writer.Open(env, into, *rows);
  if (!status.ok()) return status;
  status = ReadBeside(
      env, source, *rows,
      [&](size_t family, std::string_view key, std::string_view value) {
        if (const auto fault = rows->Take(family, key, value)) return leave_out(*fault);
        if (!rows->survives_loss(family, key)) return;
        writer.Put(family, key, value);
        ++outcome->rows;
      },
      [&](size_t, const std::string& begin, const std::string& end) {
        leave_out({.name = begin, .reason = "rows from here to \"" + end + "\" could not be read"});
      });
  for (const RowFault& fault : rows->End()) leave_out(fault);
  if (left_out > kNamedNotes) {
    outcome->notes.push_back("and " + std::to_string(left_out - kNamedNotes) + " more");
  }
  const Status closed = writer.Close();
  if (status.ok()) status = newer.ok() ? closed : newer;
  if (status.ok() && !findings.opens) status = RemoveFolder(env, source);
  outcome->made = rows->makes_store();
  return status;
}

}  // namespace seendb
