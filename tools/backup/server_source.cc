#include "backup/server_source.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <utility>

#include "store/files.h"
#include "text/sha256.h"

namespace seendb::backup {
namespace {

using tool::HttpRequest;
using tool::HttpResponse;
using tool::Json;

constexpr const char* kStateTarget = "/admin/backup";
constexpr uint64_t kManifestBytesMost = 64u << 20, kStateBytesMost = 64u << 20;
constexpr size_t kManifestValuesMost = 2'000'000, kTextMost = 256;
constexpr uint64_t kPartitionsMost = 1'024;
constexpr unsigned kPartial = 206, kTooMany = 429;

std::string RandomRun() {
  std::random_device random;
  char run[24];
  std::snprintf(run, sizeof(run), "%08x%08x", random(), random());
  return run;
}

Status Odd(const std::string& what) {
  return Status::Corruption("the server's answer is not as it should be: " + what);
}

std::string TextAt(const Json& object, const char* name, size_t most = kTextMost) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || found == object.end() || !found->is_string()) return {};
  std::string text = found->get<std::string>();
  return text.size() <= most ? text : std::string();
}

/// A whole number up to `most`; more where it is something else.
uint64_t NumberAt(const Json& object, const char* name, uint64_t most) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || found == object.end()) return most + 1;
  const auto number = WholeNumber(*found, most);
  return number ? *number : most + 1;
}

const Json& ListAt(const Json& object, const char* name) {
  static const Json kNone = Json::array();
  const auto found = object.is_object() ? object.find(name) : object.end();
  const bool there = object.is_object() && found != object.end() && found->is_array();
  return there ? *found : kNone;
}

/// "12" of "shard-0012"; a store has its own name.
std::string PartOf(const std::string& folder) {
  constexpr std::string_view kShard = "shard-";
  if (!folder.starts_with(kShard)) return folder;
  return std::to_string(std::strtoul(folder.c_str() + kShard.size(), nullptr, 10));
}

/// A failure that may pass by itself, where the server says so.
Status FailureOf(const HttpResponse& response) {
  const Status told = tool::StatusOfAnswer(response);
  if (response.status != kTooMany) return told;
  return Status::Busy(std::string(told.message()));
}

Result<Json> Ask(tool::HttpClient* server, const HttpRequest& request) {
  const Result<HttpResponse> response = server->Send(request);
  if (!response.ok()) return response.status();
  if (response->status != 200) return FailureOf(*response);
  Json json = tool::ParseAnswer(response->body, request.answer_values_most);
  if (json.is_discarded() || !json.is_object()) return Odd("it is no object");
  return json;
}

}  // namespace

ServerSource::ServerSource(tool::HttpClient* server, std::string asker)
    : server_(*server), asker_(std::move(asker)), run_(RandomRun()) {}

Result<Origin> ServerSource::Describe() {
  const Result<Json> json =
      Ask(&server_, {.target = kStateTarget, .answer_bytes_most = kStateBytesMost});
  if (json.status().code() == StatusCode::kNotFound) {
    return Status::NotFound("the server knows no backups: its software is older than this");
  }
  if (!json.ok()) return json.status();
  Origin origin;
  origin.database = TextAt(*json, "uuid");
  const uint64_t partitions = NumberAt(*json, "shards", kPartitionsMost);
  if (origin.database.empty() || origin.database.find_first_of(" \n") != std::string::npos) {
    return Odd("uuid");
  }
  if (partitions == 0 || partitions > kPartitionsMost) return Odd("shards");
  origin.partitions = static_cast<uint32_t>(partitions);
  for (const Json& one : ListAt(*json, "partitions")) {
    const auto number = WholeNumber(one, partitions - 1);
    if (!number || origin.shards.size() == partitions) return Odd("partitions");
    origin.shards.push_back(static_cast<uint32_t>(*number));
  }
  for (const Json& one : ListAt(*json, "stores")) {
    const std::string name = one.is_string() ? one.get<std::string>() : "";
    if (std::ranges::count(kStoreFolders, name) == 0) return Odd("stores");
    if (std::ranges::count(origin.stores, name) > 0) return Odd("stores");
    origin.stores.push_back(name);
  }
  kind_ = Json::object();
  for (const char* const name : {"format", "uuid", "shards", "hash"}) {
    if (json->contains(name)) kind_[name] = (*json)[name];
  }
  return origin;
}

Result<std::map<std::string, std::string>> ServerSource::RootFiles() {
  const Result<Json> json =
      Ask(&server_, {.target = kStateTarget, .answer_bytes_most = kStateBytesMost});
  if (!json.ok()) return json.status();
  std::map<std::string, std::string> files;
  for (const Json& one : ListAt(*json, "files")) {
    const std::string name = TextAt(one, "name");
    if (!IsBackedPath(name) || name.find('/') != std::string::npos) return Odd("files");
    if (!files.emplace(name, TextAt(one, "text", kStateBytesMost)).second) return Odd("files");
  }
  if (!files.contains("SEENDB")) return Odd("files");
  return files;
}

Result<std::vector<BackedFile>> ServerSource::Take(const std::string& folder) {
  const std::string part = PartOf(folder);
  Json body = kind_;
  body["node"] = asker_;
  body["run"] = run_;
  body["sha256"] = true;
  const std::string text = body.dump();
  const Result<Json> json = Ask(&server_, {.method = "POST",
                                           .target = std::string(kStateTarget) + "/shards/" + part,
                                           .body = text,
                                           .answer_bytes_most = kManifestBytesMost,
                                           .answer_values_most = kManifestValuesMost});
  if (!json.ok()) return json.status();
  part_ = part;
  copy_ = TextAt(*json, "id");
  const bool store = part == folder;
  const std::string told = store ? TextAt(*json, "store")
                                 : std::to_string(NumberAt(*json, "partition", kPartitionsMost));
  if (copy_.empty() || told != part) return Odd("id");
  std::vector<BackedFile> files;
  uint64_t left = INT64_MAX;
  for (const Json& one : ListAt(*json, "files")) {
    BackedFile file{folder + "/" + TextAt(one, "name"), NumberAt(one, "size", left),
                    TextAt(one, "sha256")};
    if (!IsBackedPath(file.path) || file.size > left || !text::IsSha256(file.sha256)) {
      return Odd("files");
    }
    left -= file.size;
    files.push_back(std::move(file));
  }
  if (files.empty()) return Odd("files");
  return files;
}

std::string ServerSource::CopyTarget() const {
  return std::string(kStateTarget) + "/shards/" + part_ + "/" + tool::PercentEncode(copy_);
}

Status ServerSource::Read(const BackedFile& file, uint64_t offset, uint64_t bytes,
                          std::string* to) {
  const std::string name = file.path.substr(file.path.find('/') + 1);
  Result<HttpResponse> response = server_.Send(
      {.target = CopyTarget() + "/" + name,
       .answer_bytes_most = bytes + kTextMost * kTextMost,
       .range = "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + bytes - 1)});
  if (!response.ok()) {
    copy_.clear();  // asked for again, the server gives the same copy, if it has it still
    return response.status();
  }
  if (response->status == 404) {
    copy_.clear();
    return Status::Unavailable("the server keeps the copy of " + part_ + " no longer");
  }
  if (response->status != kPartial) {
    const Status failed = FailureOf(*response);
    return failed.ok() ? Odd(file.path) : failed;
  }
  *to = std::move(response->body);
  return {};
}

void ServerSource::Drop() {
  if (copy_.empty()) return;
  const Result<HttpResponse> ended = server_.Send({.method = "DELETE", .target = CopyTarget()});
  static_cast<void>(ended);  // the server ends it by itself
  copy_.clear();
}

Status ServerSource::Tell(const BackupList& list) {
  const Json body = {{"id", list.id},
                     {"bytes", list.Bytes()},
                     {"new_bytes", list.new_bytes},
                     {"took_ms", static_cast<uint64_t>(list.ended_ms - list.began_ms)}};
  const std::string text = body.dump();
  return server_.Call({.method = "POST", .target = kStateTarget, .body = text}).status();
}

}  // namespace seendb::backup
