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

constexpr char kHead[] = "seendb files 1\n";
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

namespace {

std::vector<uint64_t> NumbersOf(const std::vector<std::string>& names) {
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

bool IsSummed(std::string_view name) {
  return name == "IDENTITY" || (name.starts_with("OPTIONS-") && !name.ends_with(".dbtmp"));
}

// What is needed of the logs on disk; their sizes, but of the last, which may grow, only that it
// is empty.
void NoteLogs(rocksdb::DB* db, const std::vector<std::string>& names, const Inventory& before,
              Inventory* inventory) {
  uint64_t kept_from = 0;
  db->GetIntProperty(rocksdb::DB::Properties::kMinLogNumberToKeep, &kept_from);
  const std::vector<uint64_t> logs = NumbersOf(names);
  inventory->logs.assign(std::lower_bound(logs.begin(), logs.end(), kept_from), logs.end());
  for (const uint64_t log : inventory->logs) {
    const auto known = before.log_bytes.find(log);
    uint64_t bytes = known == before.log_bytes.end() ? 0 : known->second;
    if (bytes == 0 && !db->GetEnv()->GetFileSize(db->GetName() + "/" + LogName(log), &bytes).ok()) {
      continue;
    }
    if (log != inventory->logs.back() || bytes == 0) inventory->log_bytes[log] = bytes;
  }
}

}  // namespace

Result<std::vector<uint64_t>> LogNumbers(rocksdb::Env* env, const std::string& shard_path) {
  std::vector<std::string> names;
  const rocksdb::Status listed = env->GetChildren(shard_path, &names);
  if (!listed.ok()) return FromRocks(listed, "list " + shard_path);
  return NumbersOf(names);
}

std::string Inventory::ToText() const {
  std::string text =
      std::string(kHead) + "manifest " + manifest + " " + std::to_string(manifest_bytes) + "\n";
  for (const uint64_t log : logs) {
    text += "log " + std::to_string(log);
    const auto bytes = log_bytes.find(log);
    text += bytes == log_bytes.end() ? "\n" : " " + std::to_string(bytes->second) + "\n";
  }
  for (const auto& [name, sum] : sums) text += "file " + Hex(sum) + " " + name + "\n";
  for (const auto& [number, name] : families) {
    text += "family " + std::to_string(number) + " " + name + "\n";
  }
  for (const auto& [name, json] : policies) text += "policy " + name + " " + json + "\n";
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
      uint64_t log = 0, bytes = 0;
      if (!(words >> log)) return {};
      inventory.logs.push_back(log);
      if (words >> bytes) inventory.log_bytes[log] = bytes;
      if (words.eof()) words.clear();
    } else if (word == "file") {
      std::string name;
      uint64_t hash = 0;
      words >> std::hex >> hash >> name;
      inventory.sums[name] = hash;
    } else if (word == "family") {
      uint32_t number = 0;
      words >> number;
      words >> inventory.families[number];
    } else if (word == "policy") {
      std::string name;
      words >> name;
      std::getline(words >> std::ws, inventory.policies[name]);
    }
    if (!words) return {};
  }
  if (inventory.manifest.empty()) return {};
  return inventory;
}

// The MANIFEST's size comes first: should a flush come between, it has grown, and an opening that
// finds it longer than noted asks for no log.
Inventory TakeInventory(rocksdb::DB* db, const Inventory& before) {
  Inventory inventory;
  std::vector<std::string> files, names;
  if (!db->GetLiveFiles(files, &inventory.manifest_bytes, false).ok()) return {};
  for (const std::string& file : files) {
    if (file.starts_with("/MANIFEST-")) inventory.manifest = file.substr(1);
  }
  if (!db->GetEnv()->GetChildren(db->GetName(), &names).ok()) return inventory;
  NoteLogs(db, names, before, &inventory);
  for (const std::string& name : names) {
    if (!IsSummed(name)) continue;
    const auto known = before.sums.find(name);
    std::string bytes;
    if (known != before.sums.end()) {
      inventory.sums.insert(*known);
    } else if (rocksdb::ReadFileToString(db->GetEnv(), db->GetName() + "/" + name, &bytes).ok()) {
      inventory.sums[name] = HashBytes(bytes);
    }
  }
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

Status CheckManifest(rocksdb::Env* env, const std::string& shard_path,
                     const std::optional<Inventory>& noted) {
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
bool IsCurrent(rocksdb::Env* env, const std::string& shard_path, const Inventory& noted) {
  std::string current;
  uint64_t bytes = 0;
  return rocksdb::ReadFileToString(env, shard_path + "/CURRENT", &current).ok() &&
         current == noted.manifest + "\n" &&
         env->GetFileSize(shard_path + "/" + noted.manifest, &bytes).ok() &&
         bytes == noted.manifest_bytes;
}

}  // namespace seendb
