#include "recovery/check.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include <rocksdb/file_checksum.h>
#include <rocksdb/sst_file_reader.h>

#include "base/return_if_failed.h"
#include "format/bytes.h"
#include "store/database_options.h"
#include "store/files.h"
#include "store/log_file.h"
#include "store/status.h"
#include "tables/meta_keys.h"

namespace seendb {
namespace {

constexpr size_t kFooterBytes = 53;
constexpr size_t kReadBytes = 1 << 20;

FileDamage Damage(std::string file, std::string kind, std::string detail,
                  std::optional<uint64_t> offset = {}) {
  return {std::move(file), std::move(kind), {}, offset, std::move(detail)};
}

std::string KindOf(const rocksdb::Status& status) {
  if (status.IsNotFound() || status.IsPathNotFound()) return "missing";
  return status.IsIOError() ? "unreadable" : "damaged";
}

// "... in /db/shard-0000/000012.sst offset 4096 size 512"
std::optional<uint64_t> OffsetIn(const std::string& message) {
  const size_t at = message.rfind(" offset ");
  if (at == std::string::npos) return {};
  uint64_t offset = 0;
  const char* const begin = message.data() + at + 8;
  const auto [end, error] = std::from_chars(begin, message.data() + message.size(), offset);
  if (error != std::errc()) return {};
  return offset;
}

// RocksDB reads no more of a footer (up to format 5) than it needs: the rest is zero.
bool FooterIsClean(rocksdb::Env* env, const std::string& path, uint64_t bytes) {
  std::unique_ptr<rocksdb::RandomAccessFile> file;
  char scratch[kFooterBytes];
  rocksdb::Slice footer;
  if (bytes < kFooterBytes || !env->NewRandomAccessFile(path, &file, {}).ok() ||
      !file->Read(bytes - kFooterBytes, kFooterBytes, &footer, scratch).ok() ||
      footer.size() != kFooterBytes) {
    return false;
  }
  Reader version(std::string_view(footer.data() + 41, 4));
  if (version.U8() > 5) return true;  // has a checksum of its own
  Reader in(std::string_view(footer.data() + 1, 40));
  for (int handle = 0; handle < 4; ++handle) in.Varint();
  while (in.ok() && in.remaining() > 0) {
    if (in.U8() != 0) return false;
  }
  return in.ok();
}

class ShardChecker {
 public:
  ShardChecker(rocksdb::Env* env, std::string path) : env_(env), path_(std::move(path)) {}

  Result<ShardFindings> Run() {
    logs_ = ReadLogNotes(env_, path_);
    const rocksdb::Status listed = env_->GetChildren(path_, &names_);
    if (!listed.ok()) return FromRocks(listed, "list " + path_);
    std::sort(names_.begin(), names_.end());
    for (const std::string& name : names_) {
      uint64_t bytes = 0;
      if (name[0] == '.' || !env_->GetFileSize(path_ + "/" + name, &bytes).ok()) continue;
      ++found_.files;
      found_.bytes += bytes;
    }
    if (Has(kRepairName)) {
      found_.damages.push_back(
          Damage(kRepairName, "unfinished", "a repair was begun and not finished"));
    }
    CheckCurrent();
    CheckNotes();
    CheckOptions();
    CheckIdentityFile();
    ShardLogs logs_before;
    RETURN_IF_FAILED(ReadLogs(env_, path_, &logs_before));
    // RocksDB would end the process.
    const bool repeats = !RepeatsText(logs_before).empty();
    if (!found_.manifest.empty() && !repeats) OpenLeniently();
    CheckTables();
    RETURN_IF_FAILED(CheckLogs());
    return std::move(found_);
  }

 private:
  bool Has(const std::string& name) const {
    return std::binary_search(names_.begin(), names_.end(), name);
  }
  void Add(FileDamage damage) { found_.damages.push_back(std::move(damage)); }

  std::optional<FileDamage> ManifestDamage(const std::string& name) const {
    LogExtent extent;
    const Status read = ReadLogFile(
        env_, path_ + "/" + name, [](std::string_view) {}, &extent);
    if (!read.ok()) return Damage(name, Has(name) ? "unreadable" : "missing", "");
    const uint64_t was =
        logs_.noted && logs_.noted->manifest == name ? logs_.noted->manifest_bytes : 0;
    if (extent.damaged_bytes == 0 && extent.records > 0 && extent.sound_bytes >= was) return {};
    const uint64_t wanted = std::max(extent.bytes, was);
    return Damage(
        name, extent.bytes < was ? "shortened" : "damaged",
        std::to_string(extent.sound_bytes) + " of " + std::to_string(wanted) + " bytes can be read",
        extent.sound_bytes);
  }

  // Without CURRENT: the newest MANIFEST that can be read.
  std::string FindManifest() const {
    std::string newest;
    for (const std::string& name : names_) {
      if (!name.starts_with("MANIFEST-") || ManifestDamage(name)) continue;
      newest = name;
    }
    return newest;
  }

  void CheckCurrent() {
    std::string current;
    const rocksdb::Status read = rocksdb::ReadFileToString(env_, path_ + "/CURRENT", &current);
    const bool others = std::any_of(names_.begin(), names_.end(), [](const std::string& name) {
      return name.starts_with("MANIFEST-");
    });
    std::string name = current.substr(0, current.find('\n'));
    if (!read.ok()) {
      Add(Damage("CURRENT", KindOf(read), ""));
    } else if (!name.starts_with("MANIFEST-") || current != name + "\n" || (!Has(name) && others)) {
      Add(Damage("CURRENT", "damaged", "it names no MANIFEST"));
    } else {
      std::optional<FileDamage> damage = ManifestDamage(name);
      if (!damage) {
        found_.manifest = name;
      } else {
        Add(*std::move(damage));
      }
      return;
    }
    found_.manifest = FindManifest();
    if (!found_.manifest.empty()) return;
    name = logs_.noted ? logs_.noted->manifest : "MANIFEST";
    if (!others) return Add(Damage(name, "missing", ""));
    for (const std::string& other : names_) {
      if (!other.starts_with("MANIFEST-")) continue;
      if (std::optional<FileDamage> damage = ManifestDamage(other)) Add(*std::move(damage));
    }
  }

  // One is written right after the other, at every sync.
  void CheckNotes() {
    const auto check = [&](const char* name, bool sound, const char* other) {
      if (sound) return;
      if (Has(name)) {
        Add(Damage(name, "damaged", "its checksum is another (a power cut may do that too)"));
      } else if (Has(other)) {
        Add(Damage(name, "missing", ""));
      }
    };
    check("SYNCED", logs_.synced.has_value(), "FILES");
    check("FILES", logs_.noted.has_value(), "SYNCED");
  }

  bool IsAsNoted(const std::string& name, uint64_t sum) const {
    std::string bytes;
    return rocksdb::ReadFileToString(env_, path_ + "/" + name, &bytes).ok() &&
           HashBytes(bytes) == sum;
  }

  // RocksDB keeps the newest two.
  void CheckOptions() {
    if (!logs_.noted) return;
    std::vector<std::string> noted;
    for (const auto& [name, sum] : logs_.noted->sums) {
      if (!name.starts_with("OPTIONS-")) continue;
      noted.push_back(name);
      if (Has(name) && !IsAsNoted(name, sum))
        Add(Damage(name, "damaged", "its checksum is another"));
    }
    const bool newer = std::any_of(names_.begin(), names_.end(), [&](const std::string& name) {
      return name.starts_with("OPTIONS-") && !noted.empty() && name > noted.back();
    });
    if (newer) return;
    for (size_t i = noted.size() < 2 ? 0 : noted.size() - 2; i < noted.size(); ++i) {
      if (!Has(noted[i])) Add(Damage(noted[i], "missing", ""));
    }
  }

  void CheckIdentityFile() {
    if (logs_.noted && logs_.noted->sums.contains("IDENTITY")) {
      if (!Has("IDENTITY")) {
        Add(Damage("IDENTITY", "missing", ""));
      } else if (!IsAsNoted("IDENTITY", logs_.noted->sums.at("IDENTITY"))) {
        Add(Damage("IDENTITY", "damaged", "its checksum is another"));
      }
      return;
    }
    if (!Has("IDENTITY")) return;  // a copy that has not been opened yet has none
    std::string id;
    const rocksdb::Status read = rocksdb::ReadFileToString(env_, path_ + "/IDENTITY", &id);
    const bool text = std::all_of(id.begin(), id.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ||
             c == '-' || c == '\n';
    });
    if (!read.ok() || !text || id.size() < 36) Add(Damage("IDENTITY", "damaged", "it is no id"));
  }

  // With the MANIFEST alone: tables are opened when they are read.
  void OpenLeniently() {
    const bool current =
        std::none_of(found_.damages.begin(), found_.damages.end(),
                     [](const FileDamage& damage) { return damage.file == "CURRENT"; });
    if (!current) return;
    Result<LdbSetup> setup = LdbSetupFor(path_, env_);
    if (!setup.ok()) {
      return Add(Damage(found_.manifest, "damaged", std::string(setup.status().message())));
    }
    setup->options.paranoid_checks = false;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* opened = nullptr;
    const rocksdb::Status status =
        rocksdb::DB::OpenForReadOnly(setup->options, path_, setup->families, &handles, &opened);
    if (!status.ok()) return Add(Damage(found_.manifest, "damaged", status.ToString()));
    const std::unique_ptr<rocksdb::DB> db(opened);
    found_.opens = true;
    db->GetLiveFilesMetaData(&found_.tables);
    recovered_ = db->GetLatestSequenceNumber();
    std::string stored;
    if (db->Get({}, db->DefaultColumnFamily(), kIdentityKey, &stored).ok()) {
      found_.identity = ShardIdentity::FromJson(stored);
    }
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
  }

  // Every byte, by the checksum that the MANIFEST has of the file.
  std::optional<FileDamage> CheckWhole(const rocksdb::LiveFileMetaData& table) const {
    rocksdb::FileChecksumGenContext context;
    context.requested_checksum_func_name = table.file_checksum_func_name;
    const auto checksum =
        rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator(context);
    if (checksum == nullptr || table.file_checksum_func_name != checksum->Name()) return {};
    std::unique_ptr<rocksdb::SequentialFile> file;
    rocksdb::Status status = env_->NewSequentialFile(path_ + table.name, &file, {});
    const auto buffer = std::make_unique_for_overwrite<char[]>(kReadBytes);
    rocksdb::Slice piece;
    do {
      if (status.ok()) status = file->Read(kReadBytes, &piece, buffer.get());
      if (!status.ok()) return Damage({}, KindOf(status), status.ToString());
      checksum->Update(piece.data(), piece.size());
    } while (!piece.empty());
    checksum->Finalize();
    if (checksum->GetChecksum() == table.file_checksum) return {};
    return Damage({}, "damaged", "the file's checksum is another, though its blocks can be read");
  }

  void CheckTables() {
    if (found_.opens) {
      for (const rocksdb::LiveFileMetaData& table : found_.tables) {
        std::optional<FileDamage> damage = CheckTable(env_, path_ + table.name, table.size);
        if (!damage) damage = CheckWhole(table);
        if (!damage) continue;
        damage->file = table.name.substr(1);
        damage->family = table.column_family_name;
        Add(*std::move(damage));
      }
      return;
    }
    for (FileDamage& damage : CheckTablesAmong(env_, path_, names_)) Add(std::move(damage));
  }

  Status CheckLogs() {
    RETURN_IF_FAILED(ReadLogs(env_, path_, &logs_));
    std::vector<uint64_t> named;
    for (const LogShortage& log : ShortagesOf(logs_)) {
      named.push_back(log.number);
      Add(Damage(LogName(log.number), log.missing ? "missing" : "shortened",
                 log.missing ? ""
                             : "it has " + std::to_string(log.bytes) + " of " +
                                   std::to_string(log.bytes_was) + " bytes",
                 log.missing ? std::optional<uint64_t>() : log.bytes));
    }
    for (const LogState& log : logs_.all) {
      if (log.read.ok()) {
        found_.logs.push_back(log);
        if (!log.repeats_at) continue;
        named.push_back(log.number);
        Add(Damage(LogName(log.number), "damaged", kRecordsAgain, log.repeats_at));
      } else {
        Add(Damage(LogName(log.number), "unreadable", std::string(log.read.message())));
      }
    }
    uint64_t last = 0;
    bool told = false;  // a gap in front of the next record is another log's
    for (size_t i = 0; i < found_.logs.size(); ++i) {
      const LogState& log = found_.logs[i];
      const auto newer = std::span(found_.logs).subspan(i + 1);
      const LogState* const next = newer.empty() ? nullptr : newer.data();
      last = std::max(last, log.last_sequence);
      const bool lacks = logs_.synced && LacksSynced(log, newer, *logs_.synced);
      const bool gap = next != nullptr && last != 0 && !told && next->first_sequence > last + 1;
      told = next != nullptr && next->records == 0 && (told || lacks);
      const bool short_of_synced = next == nullptr && named.empty() && found_.opens &&
                                   logs_.synced && std::max(last, recovered_) < *logs_.synced;
      if (std::find(named.begin(), named.end(), log.number) != named.end()) continue;
      if (log.damaged_bytes == 0 && !lacks && !gap && !short_of_synced) continue;
      const bool shortened = log.damaged_bytes == 0 && log.sound_bytes == log.bytes;
      const uint64_t lost_bytes =
          log.damaged_bytes == 0 && lacks ? log.bytes - log.sound_bytes : log.damaged_bytes;
      std::string detail = lost_bytes != 0 ? std::to_string(lost_bytes) + " bytes can't be read"
                                           : "it ends before what was synced";
      Add(Damage(LogName(log.number), shortened ? "shortened" : "damaged", std::move(detail),
                 log.sound_bytes));
    }
    if (found_.logs.empty() && named.empty() && found_.opens && logs_.synced &&
        recovered_ < *logs_.synced) {
      Add(Damage("*.log", "missing", "what was synced is in no table"));
    }
    return {};
  }

  rocksdb::Env* const env_;
  const std::string path_;
  std::vector<std::string> names_;
  ShardLogs logs_;
  uint64_t recovered_ = 0;
  ShardFindings found_;
};

}  // namespace

std::optional<FileDamage> CheckTable(rocksdb::Env* env, const std::string& path, uint64_t bytes) {
  uint64_t found = 0;
  const rocksdb::Status sized = env->GetFileSize(path, &found);
  if (!sized.ok()) return Damage({}, env->FileExists(path).ok() ? "unreadable" : "missing", "");
  if (bytes != 0 && found != bytes) {
    return Damage({}, found < bytes ? "shortened" : "damaged",
                  "it has " + std::to_string(found) + " of " + std::to_string(bytes) + " bytes",
                  std::min(found, bytes));
  }
  rocksdb::Options options;
  options.env = env;
  rocksdb::SstFileReader reader(options);
  rocksdb::Status sound = reader.Open(path);
  if (sound.ok()) sound = reader.VerifyChecksum();
  if (!sound.ok()) {
    const std::string text = sound.ToString();
    return Damage({}, KindOf(sound), text, OffsetIn(text));
  }
  if (FooterIsClean(env, path, found)) return {};
  return Damage({}, "damaged", "its footer is not as RocksDB writes it", found - kFooterBytes);
}

bool HasRecordsAgain(const ShardFindings& findings) {
  return std::any_of(findings.damages.begin(), findings.damages.end(),
                     [](const FileDamage& damage) { return damage.detail == kRecordsAgain; });
}

Result<ShardFindings> CheckShard(rocksdb::Env* env, const std::string& path) {
  return ShardChecker(env, path).Run();
}

std::vector<FileDamage> CheckTablesAmong(rocksdb::Env* env, const std::string& folder,
                                         const std::vector<std::string>& names) {
  std::vector<FileDamage> found;
  for (const std::string& name : names) {
    if (!name.ends_with(".sst")) continue;
    std::optional<FileDamage> damage = CheckTable(env, folder + "/" + name, 0);
    if (!damage) continue;
    damage->file = name;
    found.push_back(*std::move(damage));
  }
  return found;
}

}  // namespace seendb
