#include "transfer/copy.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include <nlohmann/json.hpp>

#include "base/disk_file.h"
#include "base/outside_json.h"
#include "transfer/files.h"

namespace seendb::transfer {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kIdentityBytesMost = 1u << 20;
constexpr size_t kFileNameMost = 64, kIdMost = 64, kFilesMost = 200'000;
constexpr size_t kTextMost = 256;
constexpr uint32_t kShardsMost = 1'024;

bool IsPlain(std::string_view name, size_t most) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= most && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), fits);
}

/// A value that is missing or another one; the field is its path.
struct BadField {
  std::string why, field;
};

const Json& Member(const Json& of, const char* name) {
  if (!of.is_object()) throw BadField{"must be an object", ""};
  const auto found = of.find(name);
  if (found == of.end()) throw BadField{"is missing", std::string("/") + name};
  return *found;
}

std::string Text(const Json& of, const char* name) {
  const Json& value = Member(of, name);
  if (!value.is_string() || value.get_ref<const std::string&>().size() > kTextMost) {
    throw BadField{"must be a text of at most 256 bytes", std::string("/") + name};
  }
  return value.get<std::string>();
}

uint64_t Whole(const Json& of, const char* name, uint64_t most) {
  const auto number = WholeNumber(Member(of, name), most);
  if (!number) {
    throw BadField{"must be a whole number up to " + std::to_string(most), std::string("/") + name};
  }
  return *number;
}

bool Flag(const Json& of, const char* name) {
  const Json& value = Member(of, name);
  if (!value.is_boolean()) throw BadField{"must be true or false", std::string("/") + name};
  return value.get<bool>();
}

const Json& List(const Json& of, const char* name, size_t most) {
  const Json& value = Member(of, name);
  if (!value.is_array() || value.size() > most) {
    throw BadField{"must be a list of at most " + std::to_string(most), std::string("/") + name};
  }
  return value;
}

void AddKind(const CopyKind& kind, Json* to) {
  (*to)["format"] = kind.format;
  (*to)["uuid"] = kind.uuid;
  (*to)["shards"] = kind.shards;
  (*to)["hash"] = kind.hash;
}

CopyKind KindOf(const Json& of) {
  CopyKind kind;
  kind.format = static_cast<int64_t>(Whole(of, "format", INT32_MAX));
  kind.uuid = Text(of, "uuid");
  kind.shards = static_cast<uint32_t>(Whole(of, "shards", kShardsMost));
  kind.hash = Text(of, "hash");
  return kind;
}

Manifest ManifestOf(const Json& json) {
  Manifest manifest;
  manifest.id = Text(json, "id");
  if (!IsPlain(manifest.id, kIdMost)) throw BadField{"is no id of a copy", "/id"};
  manifest.part = static_cast<uint32_t>(Whole(json, "partition", kShardsMost));
  manifest.kind = KindOf(json);
  for (const Json& one : List(json, "next_offsets", kFilesMost)) {
    manifest.next_offsets.push_back(
        {.topic = Text(one, "topic"),
         .partition = static_cast<uint32_t>(Whole(one, "partition", INT32_MAX)),
         .next_offset = static_cast<int64_t>(Whole(one, "next_offset", INT64_MAX))});
  }
  std::set<std::string_view> names;
  uint64_t left = INT64_MAX;
  const Json& files = List(json, "files", kFilesMost);
  for (const Json& one : files) {
    CopyEntry entry{.name = Text(one, "name"),
                    .size = Whole(one, "size", left),
                    .crc32c = static_cast<uint32_t>(Whole(one, "crc32c", UINT32_MAX))};
    if (!IsCopyFileName(entry.name))
      throw BadField{"has a name that no file of a copy has", "/files"};
    left -= entry.size;
    manifest.files.push_back(std::move(entry));
  }
  for (const CopyEntry& entry : manifest.files) {
    if (!names.insert(entry.name).second) throw BadField{"names a file twice", "/files"};
  }
  if (manifest.files.empty()) throw BadField{"is empty", "/files"};
  return manifest;
}

}  // namespace

Result<CopyKind> ReadKind(const std::string& db) {
  const Result<DiskFile> file = DiskFile::OpenToRead(db + "/SEENDB");
  if (!file.ok()) return file.status();
  std::string text;
  if (Status read = file->Read(0, kIdentityBytesMost, &text); !read.ok()) return read;
  const Json identity = ParseOutside<Json>(text);
  try {
    CopyKind kind;
    kind.format = static_cast<int64_t>(Whole(identity, "format", INT32_MAX));
    kind.uuid = Text(identity, "id");
    kind.shards = static_cast<uint32_t>(Whole(identity, "shards", kShardsMost));
    Crc32c key;  // the key itself goes to nobody
    if (identity.contains("hash_key")) key.Add(Text(identity, "hash_key"));
    char hash[32];
    std::snprintf(hash, sizeof(hash), "%llu/%08x",
                  static_cast<unsigned long long>(Whole(identity, "hash", UINT32_MAX)),
                  key.value());
    kind.hash = hash;
    return kind;
  } catch (const BadField& bad) {
    return Status::Corruption(db + "/SEENDB: " + bad.field + " " + bad.why);
  }
}

Status CheckSameKind(const CopyKind& here, const CopyKind& there) {
  std::string differences;
  const auto compare = [&](const char* name, const std::string& ours, const std::string& theirs) {
    if (ours == theirs) return;
    differences += differences.empty() ? "" : "; ";
    differences += std::string(name) + " is " + ours + " here and " + theirs + " there";
  };
  compare("format", std::to_string(here.format), std::to_string(there.format));
  if (here.format != there.format) differences += " (upgrade the older node)";
  compare("uuid", here.uuid, there.uuid);
  compare("shards", std::to_string(here.shards), std::to_string(there.shards));
  compare("hash", here.hash, there.hash);
  if (differences.empty()) return {};
  return Status::Incompatible("a shard of another database or format: " + differences);
}

bool IsCopyFileName(std::string_view name) { return IsPlain(name, kFileNameMost); }

uint64_t Manifest::Bytes() const {
  uint64_t sum = 0;
  for (const CopyEntry& entry : files) sum += entry.size;
  return sum;
}

std::string ManifestToJson(const Manifest& manifest) {
  Json json = {{"version", kCopyVersion}, {"id", manifest.id}};
  if (manifest.part.store.empty()) {
    json["partition"] = manifest.part.shard;
  } else {
    json["store"] = manifest.part.store;
  }
  AddKind(manifest.kind, &json);
  json["next_offsets"] = Json::array();
  for (const CopyOffset& one : manifest.next_offsets) {
    json["next_offsets"].push_back(
        {{"topic", one.topic}, {"partition", one.partition}, {"next_offset", one.next_offset}});
  }
  json["files"] = Json::array();
  for (const CopyEntry& entry : manifest.files) {
    json["files"].push_back({{"name", entry.name}, {"size", entry.size}, {"crc32c", entry.crc32c}});
    if (!entry.sha256.empty()) json["files"].back()["sha256"] = entry.sha256;
  }
  return json.dump();
}

Result<Manifest> ManifestFromJson(std::string_view text) {
  if (text.size() > kManifestBytesMost) return Status::Corruption("the manifest is too long");
  const Json json = ParseOutside<Json>(text);
  try {
    return ManifestOf(json);
  } catch (const BadField& bad) {
    return Status::Corruption("the manifest of a copy: " + bad.field + " " + bad.why);
  }
}

std::string CopyRequestToJson(const CopyRequest& request) {
  Json json = {{"version", kCopyVersion}, {"node", request.node}};
  AddKind(request.kind, &json);
  return json.dump();
}

Result<CopyRequest> CopyRequestFromJson(std::string_view text) {
  const Json json = ParseOutside<Json>(text);
  try {
    CopyRequest request{.node = Text(json, "node"), .kind = KindOf(json)};
    if (json.contains("run")) request.run = Text(json, "run");
    if (json.contains("sha256")) request.sha256 = Flag(json, "sha256");
    return request;
  } catch (const BadField& bad) {
    return Status::InvalidArgument(bad.why, bad.field);
  }
}

}  // namespace seendb::transfer
