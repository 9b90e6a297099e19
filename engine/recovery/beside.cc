#include "recovery/beside.h"

#include <algorithm>
#include <utility>

#include <rocksdb/sst_file_reader.h>

#include "items/item_rows.h"
#include "recovery/check.h"
#include "recovery/salvage.h"
#include "seams.h"
#include "sets/set_rows.h"
#include "store/files.h"
#include "store/log_file.h"
#include "store/status.h"

namespace seendb {
namespace {

constexpr int kReadPasses = 5;
constexpr size_t kNamedRowsMost = 1'000;

FileDamage BesideDamage(std::string file, std::string kind, std::string detail,
                        std::optional<uint64_t> offset = {}) {
  return {std::move(file), std::move(kind), {}, offset, std::move(detail)};
}

/// A store that is open to be read.
class OpenBeside {
 public:
  static Result<std::unique_ptr<OpenBeside>> Open(rocksdb::Env* env, const std::string& path,
                                                  const BesideRows& rows) {
    std::unique_ptr<OpenBeside> opened(new OpenBeside);
    rocksdb::DBOptions options;
    options.env = env;
    options.paranoid_checks = false;  // tables are opened when they are read
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
    options.info_log = std::make_shared<NoLog>();
    rocksdb::DB* db = nullptr;
    const rocksdb::Status status =
        rocksdb::DB::OpenForReadOnly(options, path, rows.Families(), &opened->families_, &db);
    opened->db_.reset(db);
    if (!status.ok()) return FromRocks(status, "open " + path);
    return opened;
  }
  ~OpenBeside() {
    for (rocksdb::ColumnFamilyHandle* family : families_) {
      db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
    }
  }

  rocksdb::DB& db() const { return *db_; }
  const std::vector<rocksdb::ColumnFamilyHandle*>& families() const { return families_; }

 private:
  class NoLog final : public rocksdb::Logger {
   public:
    using rocksdb::Logger::Logv;
    void Logv(const char*, va_list) override {}
  };

  OpenBeside() = default;

  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

class BesideChecker {
 public:
  BesideChecker(rocksdb::Env* env, std::string path, const BesideRows& rows)
      : env_(env), path_(std::move(path)), rows_(rows) {}

  Result<BesideFindings> Run() {
    const rocksdb::Status listed = env_->GetChildren(path_, &names_);
    if (!listed.ok()) return FromRocks(listed, "list " + path_);
    std::sort(names_.begin(), names_.end());
    bool begun = false;
    for (const std::string& name : names_) {
      uint64_t bytes = 0;
      if (name[0] == '.' || !env_->GetFileSize(path_ + "/" + name, &bytes).ok()) continue;
      ++found_.files;
      found_.bytes += bytes;
      begun = begun || name == "CURRENT" || name.ends_with(".sst") || name.ends_with(".log");
    }
    if (!begun) {  // it was being made, and is made anew by whoever opens it
      found_.opens = true;
      return std::move(found_);
    }
    const std::string manifest = CheckManifest();
    if (manifest.empty() || !CheckLiveTables(manifest)) CheckEveryTable();
    CheckLogs();
    return std::move(found_);
  }

 private:
  bool Has(const std::string& name) const {
    return std::binary_search(names_.begin(), names_.end(), name);
  }
  void Add(FileDamage damage) { found_.damages.push_back(std::move(damage)); }

  /// Its name; empty: it can't be read.
  std::string CheckManifest() {
    std::string current;
    const rocksdb::Status read = rocksdb::ReadFileToString(env_, path_ + "/CURRENT", &current);
    const std::string name = current.substr(0, current.find('\n'));
    if (!read.ok()) {
      Add(BesideDamage("CURRENT", Has("CURRENT") ? "unreadable" : "missing", ""));
      return {};
    }
    if (!name.starts_with("MANIFEST-") || current != name + "\n") {
      Add(BesideDamage("CURRENT", "damaged", "it names no MANIFEST"));
      return {};
    }
    LogExtent extent;
    const Status whole = ReadLogFile(
        env_, path_ + "/" + name, [](std::string_view) {}, &extent);
    if (!whole.ok()) {
      Add(BesideDamage(name, Has(name) ? "unreadable" : "missing", ""));
      return {};
    }
    if (extent.damaged_bytes == 0 && extent.records > 0) return name;
    Add(BesideDamage(name, "damaged",
                     std::to_string(extent.sound_bytes) + " of " + std::to_string(extent.bytes) +
                         " bytes can be read",
                     extent.sound_bytes));
    return {};
  }

  /// False: RocksDB can't tell which these are.
  bool CheckLiveTables(const std::string& manifest) {
    const auto opened = OpenBeside::Open(env_, path_, rows_);
    if (!opened.ok()) {
      Add(BesideDamage(manifest, "damaged", std::string(opened.status().message())));
      return false;
    }
    found_.opens = true;
    std::vector<rocksdb::LiveFileMetaData> tables;
    (*opened)->db().GetLiveFilesMetaData(&tables);
    for (const rocksdb::LiveFileMetaData& table : tables) {
      std::optional<FileDamage> damage = CheckTable(env_, path_ + table.name, table.size);
      if (!damage) continue;
      rocksdb::Options options;
      options.env = env_;
      rocksdb::SstFileReader reader(options);
      const bool frame = damage->kind != "shortened" && reader.Open(path_ + table.name).ok();
      found_.opens = found_.opens && frame;
      damage->file = table.name.substr(1);
      damage->family = table.column_family_name;
      Add(*std::move(damage));
    }
    return true;
  }

  void CheckEveryTable() {
    for (FileDamage& damage : CheckTablesAmong(env_, path_, names_)) Add(std::move(damage));
  }

  void CheckLogs() {
    for (const std::string& name : names_) {
      if (!name.ends_with(".log")) continue;
      LogExtent extent;
      const Status read = ReadLogFile(
          env_, path_ + "/" + name, [](std::string_view) {}, &extent);
      if (!read.ok()) {
        if (env_->FileExists(path_ + "/" + name).ok()) {  // else a running store let it go
          Add(BesideDamage(name, "unreadable", std::string(read.message())));
        }
      } else if (extent.damaged_bytes > 0) {
        Add(BesideDamage(name, "damaged",
                         std::to_string(extent.damaged_bytes) + " bytes can't be read",
                         extent.sound_bytes));
      }
    }
  }

  rocksdb::Env* const env_;
  const std::string path_;
  const BesideRows& rows_;
  std::vector<std::string> names_;
  BesideFindings found_;
};

/// The faults of the rows of one store, read once.
Status VerifyRows(rocksdb::Env* env, const std::string& root, const std::string& folder,
                  StoresReport* report) {
  const std::unique_ptr<BesideRows> rows = NewBesideRows(folder);
  const auto add = [&](RowFault fault) {
    ++(fault.newer ? report->newer : report->damaged);
    if (report->damages.size() >= kNamedRowsMost) return;
    report->damages.push_back(
        {folder, std::move(fault.name), std::move(fault.reason), fault.newer});
  };
  const Status read = ReadBeside(
      env, root + "/" + folder, *rows,
      [&](size_t family, std::string_view key, std::string_view value) {
        ++report->rows;
        report->bytes += key.size() + value.size();
        if (auto fault = rows->Take(family, key, value)) add(*std::move(fault));
      },
      [&](size_t, const std::string& from, const std::string& to) {
        add({.name = from, .reason = "rows from here to \"" + to + "\" can't be read"});
      });
  for (RowFault& fault : rows->End()) add(std::move(fault));
  return read;
}

}  // namespace

bool IsStoreFolder(std::string_view name) { return std::ranges::count(kStoreFolders, name) > 0; }

std::unique_ptr<BesideRows> NewBesideRows(std::string_view folder) {
  if (folder == "items") return std::make_unique<items::ItemRows>();
  return std::make_unique<sets::SetRows>();
}

Result<BesideFindings> CheckBeside(rocksdb::Env* env, const std::string& path,
                                   const BesideRows& rows) {
  return BesideChecker(env, path, rows).Run();
}

Status ReadBeside(rocksdb::Env* env, const std::string& path, const BesideRows& rows,
                  const std::function<void(size_t, std::string_view, std::string_view)>& visit,
                  const std::function<void(size_t, const std::string&, const std::string&)>& lost) {
  const auto opened = OpenBeside::Open(env, path, rows);
  if (!opened.ok()) return opened.status();
  for (size_t family = 0; family < (*opened)->families().size(); ++family) {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> it(
        (*opened)->db().NewIterator(options, (*opened)->families()[family]));
    const SalvagedTable read = SalvageRows(
        it.get(), [&](std::string_view key, std::string_view value) { visit(family, key, value); });
    for (const UserRange& range : read.lost) lost(family, range.from, range.to);
  }
  return {};
}

Result<StoresReport> VerifyStores(const std::string& path) { return VerifyStores(path, Seams{}); }

// Beside a running server files go while they are read: then all is read again.
Result<StoresReport> VerifyStores(const std::string& path, const Seams& seams) {
  rocksdb::Env* const env = seams.env != nullptr ? seams.env : rocksdb::Env::Default();
  StoresReport all;
  for (const std::string_view name : kStoreFolders) {
    const std::string folder(name);
    if (!env->FileExists(path + "/" + folder + "/CURRENT").ok()) continue;
    StoresReport one;
    Status read;
    for (int pass = 1; pass <= kReadPasses; ++pass) {
      one = {};
      read = VerifyRows(env, path, folder, &one);
      if (read.ok() && one.damaged == 0) break;
      env->SleepForMicroseconds(50'000 * pass);
    }
    if (!read.ok()) return read;
    all.stores.push_back(folder);
    all.rows += one.rows;
    all.bytes += one.bytes;
    all.damaged += one.damaged;
    all.newer += one.newer;
    std::ranges::move(one.damages, std::back_inserter(all.damages));
  }
  return all;
}

}  // namespace seendb
