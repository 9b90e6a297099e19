#include "backup/backup_list.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "cluster/meta_cache.h"
#include "store/collections_file.h"
#include "store/files.h"
#include "text/sha256.h"

namespace seendb::backup {
namespace {

constexpr std::string_view kFirst = "seendb-backup ";
constexpr uint64_t kVersion = 2, kVersionWithoutStores = 1;
constexpr std::string_view kShardPrefix = "shard-";
constexpr size_t kShardDigits = 4, kNameMost = 64, kIdMost = 256;

std::string Sum(std::string_view text) {
  text::Sha256 sum;
  sum.Add(text);
  return sum.Digits();
}

/// All of `text`, and no sign or blank.
template <typename Number>
bool ReadNumber(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

/// Reads a list line by line.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  /// The rest of the next line behind `name` and a blank; nothing if the line has another name.
  std::optional<std::string_view> Take(std::string_view name) {
    const size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) return {};
    std::string_view line = text_.substr(at_, end - at_);
    if (!line.starts_with(name) || line.substr(name.size(), 1) != " ") return {};
    at_ = end + 1;
    return line.substr(name.size() + 1);
  }
  template <typename Number>
  bool TakeNumber(std::string_view name, Number* number) {
    const auto text = Take(name);
    return text && ReadNumber(*text, number);
  }
  size_t at() const { return at_; }

 private:
  const std::string_view text_;
  size_t at_ = 0;
};

bool ReadFile(std::string_view text, BackedFile* file) {
  const size_t first = text.find(' ');
  const size_t second = first == std::string_view::npos ? first : text.find(' ', first + 1);
  if (second == std::string_view::npos) return false;
  file->sha256 = text.substr(0, first);
  file->path = text.substr(second + 1);
  return ReadNumber(text.substr(first + 1, second - first - 1), &file->size) &&
         text::IsSha256(file->sha256) && IsBackedPath(file->path);
}

bool ReadHead(Lines* lines, BackupList* list) {
  if (!lines->TakeNumber("id", &list->id)) return false;
  const auto database = lines->Take("database");
  if (!database || database->empty() || database->size() > kIdMost) return false;
  list->database = *database;
  return lines->TakeNumber("partitions", &list->partitions) &&
         lines->TakeNumber("began_ms", &list->began_ms) &&
         lines->TakeNumber("ended_ms", &list->ended_ms) &&
         lines->TakeNumber("new_bytes", &list->new_bytes);
}

bool ReadFiles(Lines* lines, BackupList* list) {
  std::set<std::string> paths;
  uint64_t left = INT64_MAX;
  while (const auto text = lines->Take("file")) {
    BackedFile file;
    if (!ReadFile(*text, &file) || file.size > left || !paths.insert(file.path).second) {
      return false;
    }
    left -= file.size;
    list->files.push_back(std::move(file));
  }
  return paths.contains("SEENDB");
}

bool IsPlainName(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kNameMost && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), fits);
}

/// The number of the shard in whose folder the path lies.
std::optional<uint32_t> ShardOf(std::string_view path) {
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos || !path.starts_with(kShardPrefix)) return {};
  const std::string_view digits = path.substr(kShardPrefix.size(), slash - kShardPrefix.size());
  uint32_t shard = 0;
  if (digits.size() != kShardDigits || !ReadNumber(digits, &shard)) return {};
  return shard;
}

/// The store in whose folder the path lies; empty: in none.
std::string_view StoreOf(std::string_view path) {
  const std::string_view folder = path.substr(0, path.find('/'));
  const bool below = folder.size() < path.size();
  return below && std::ranges::count(kStoreFolders, folder) > 0 ? folder : std::string_view();
}

}  // namespace

bool IsBackedPath(std::string_view path) {
  if (path == "SEENDB" || path == kCollectionsName || path == cluster::kMetaCacheName) return true;
  const bool in_folder = ShardOf(path) || !StoreOf(path).empty();
  return in_folder && IsPlainName(path.substr(path.find('/') + 1));
}

uint64_t BackupList::Bytes() const {
  uint64_t bytes = 0;
  for (const BackedFile& file : files) bytes += file.size;
  return bytes;
}

std::set<uint32_t> BackupList::Shards() const {
  std::set<uint32_t> shards;
  for (const BackedFile& file : files) {
    if (const auto shard = ShardOf(file.path)) shards.insert(*shard);
  }
  return shards;
}

std::set<std::string> BackupList::Stores() const {
  std::set<std::string> stores;
  for (const BackedFile& file : files) {
    if (const std::string_view store = StoreOf(file.path); !store.empty()) stores.emplace(store);
  }
  return stores;
}

// Software that knows no stores reads what has none.
std::string ListToText(const BackupList& list) {
  const uint64_t version = list.Stores().empty() ? kVersionWithoutStores : kVersion;
  std::string text = std::string(kFirst) + std::to_string(version) + "\n";
  const auto line = [&](const char* name, const std::string& value) {
    text += std::string(name) + " " + value + "\n";
  };
  line("id", std::to_string(list.id));
  line("database", list.database);
  line("partitions", std::to_string(list.partitions));
  line("began_ms", std::to_string(list.began_ms));
  line("ended_ms", std::to_string(list.ended_ms));
  line("new_bytes", std::to_string(list.new_bytes));
  for (const BackedFile& file : list.files) {
    line("file", file.sha256 + " " + std::to_string(file.size) + " " + file.path);
  }
  text += "sum " + Sum(text) + "\n";
  return text;
}

Result<BackupList> ListFromText(std::string_view text) {
  Lines lines(text);
  uint64_t version = 0;
  if (!lines.TakeNumber(kFirst.substr(0, kFirst.size() - 1), &version)) {
    return Status::Corruption("it is no list of a backup");
  }
  if (version < kVersionWithoutStores || version > kVersion) {
    return Status::Incompatible("it has version " + std::to_string(version) +
                                ", this software reads up to " + std::to_string(kVersion));
  }
  BackupList list;
  const bool read = ReadHead(&lines, &list) && ReadFiles(&lines, &list);
  const size_t summed = lines.at();
  const auto sum = lines.Take("sum");
  const bool as_named = version == kVersion || list.Stores().empty();
  if (!read || !as_named || sum != Sum(text.substr(0, summed)) || lines.at() != text.size()) {
    return Status::Corruption("it is not as it was written");
  }
  return list;
}

}  // namespace seendb::backup
