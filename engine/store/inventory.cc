#include "store/inventory.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sstream>

#include "format/bytes.h"
#include "store/files.h"
#include "store/log_file.h"
#include "store/status.h"

namespace seendb {
namespace {

constexpr char kHead[] = "seendb files 1";
constexpr std::string_view kManifestPrefix = "MANIFEST-";

std::string Hex(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

bool ParseNumber(std::string_view text, uint64_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

bool ManifestNumber(std::string_view name, uint64_t* number) {
  if (!name.starts_with(kManifestPrefix)) return false;
  return ParseNumber(name.substr(kManifestPrefix.size()), number);
}

}  // namespace

std::string LogName(uint64_t number) {
  char name[32];
  std::snprintf(name, sizeof(name), "%06llu.log", static_cast<unsigned long long>(number));
  return name;
}

Result<std::vector<uint64_t>> LogNumbers(rocksdb::Env* env, const std::string& shard_path) {
  std::vector<std::string> names;
  const rocksdb::Status listed = env->GetChildren(shard_path, &names);
  if (!listed.ok()) return FromRocks(listed, "list " + shard_path);
  std::vector<uint64_t> numbers;
  for (const std::string& name : names) {
    uint64_t number = 0;
    if (!name.ends_with(".log")) continue;
    if (ParseNumber(std::string_view(name).substr(0, name.size() - 4), &number)) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string Inventory::ToText() const {
  std::string text =
      std::string(kHead) + "\nmanifest " + manifest + " " + std::to_string(manifest_bytes) + "\n";
  for (const uint64_t log : logs) text += "log " + std::to_string(log) + "\n";
  return text + "sum " + Hex(HashBytes(text)) + "\n";
}

std::optional<Inventory> Inventory::FromText(const std::string& text) {
  const size_t sum = text.rfind("sum ");
  if (sum == std::string::npos || !text.starts_with(kHead)) return {};
  if (text.substr(sum) != "sum " + Hex(HashBytes(std::string_view(text).substr(0, sum))) + "\n") {
    return {};
  }
  Inventory inventory;
  std::istringstream lines(text.substr(0, sum));
  std::string line, word;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    words >> word;
    if (word == "manifest") {
      words >> inventory.manifest >> inventory.manifest_bytes;
    } else if (word == "log") {
      words >> inventory.logs.emplace_back();
    }
    if (!words) return {};
  }
  if (inventory.manifest.empty()) return {};
  return inventory;
}

// The MANIFEST's size comes first: should a flush come between, it has grown, and an opening that
// finds it longer than noted asks for no log.
Inventory TakeInventory(rocksdb::DB* db) {
  Inventory inventory;
  std::vector<std::string> files;
  if (!db->GetLiveFiles(files, &inventory.manifest_bytes, false).ok()) return {};
  for (const std::string& file : files) {
    if (file.starts_with("/MANIFEST-")) inventory.manifest = file.substr(1);
  }
  uint64_t kept_from = 0;
  db->GetIntProperty(rocksdb::DB::Properties::kMinLogNumberToKeep, &kept_from);
  const Result<std::vector<uint64_t>> logs = LogNumbers(db->GetEnv(), db->GetName());
  if (!logs.ok()) return inventory;
  inventory.logs.assign(std::lower_bound(logs->begin(), logs->end(), kept_from), logs->end());
  return inventory;
}

std::optional<Inventory> ReadInventory(rocksdb::Env* env, const std::string& shard_path) {
  std::string text;
  if (!rocksdb::ReadFileToString(env, shard_path + "/FILES", &text).ok()) return {};
  return Inventory::FromText(text);
}

Status WriteInventory(rocksdb::Env* env, const std::string& shard_path,
                      const Inventory& inventory) {
  return ReplaceFile(env, shard_path + "/FILES", inventory.ToText(), false);
}

Status CheckManifest(rocksdb::Env* env, const std::string& shard_path) {
  const std::string current_path = shard_path + "/CURRENT";
  std::string current;
  const rocksdb::Status read = rocksdb::ReadFileToString(env, current_path, &current);
  if (!read.ok()) return Status::Corruption("CURRENT can't be read: " + read.ToString());
  uint64_t number = 0;
  if (!current.ends_with('\n') ||
      !ManifestNumber(std::string_view(current).substr(0, current.size() - 1), &number)) {
    return Status::Corruption("CURRENT is damaged: it names no MANIFEST");
  }
  current.pop_back();
  const std::optional<Inventory> noted = ReadInventory(env, shard_path);
  // Where another one was noted nothing is known of this one: RocksDB goes on with a new MANIFEST
  // even where it failed to make CURRENT name it.
  LogExtent extent;
  const Status scanned = ReadLogFile(
      env, shard_path + "/" + current, [](std::string_view) {}, &extent);
  if (!scanned.ok()) {
    return Status::Corruption(current + " can't be read: " + std::string(scanned.message()));
  }
  const bool cut_short =
      noted && noted->manifest == current && extent.sound_bytes < noted->manifest_bytes;
  if (extent.damaged_bytes == 0 && extent.records > 0 && !cut_short) return {};
  const uint64_t wanted = std::max(extent.bytes, cut_short ? noted->manifest_bytes : 0);
  return Status::Corruption(current + " is damaged: " + std::to_string(extent.sound_bytes) +
                            " of " + std::to_string(wanted) + " bytes can be read");
}

// A log is let go only after the MANIFEST has grown or has been replaced.
Result<std::string> MissingLogs(rocksdb::Env* env, const std::string& shard_path) {
  const std::optional<Inventory> noted = ReadInventory(env, shard_path);
  if (!noted) return std::string();
  const Result<std::vector<uint64_t>> found = LogNumbers(env, shard_path);
  if (!found.ok()) return found.status();
  // Read after the logs were listed: a running engine may let some go meanwhile.
  std::string current;
  uint64_t bytes = 0;
  const std::string manifest = shard_path + "/" + noted->manifest;
  if (!rocksdb::ReadFileToString(env, shard_path + "/CURRENT", &current).ok() ||
      current != noted->manifest + "\n" || !env->GetFileSize(manifest, &bytes).ok() ||
      bytes != noted->manifest_bytes) {
    return std::string();
  }
  std::string missing;
  for (const uint64_t log : noted->logs) {
    if (std::binary_search(found->begin(), found->end(), log)) continue;
    missing += (missing.empty() ? "" : ", ") + LogName(log);
  }
  return missing.empty() ? missing : "logs are missing: " + missing;
}

}  // namespace seendb
