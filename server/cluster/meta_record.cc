#include "cluster/meta_record.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "base/json_pointer.h"
#include "base/outside_json.h"
#include "base/utf8.h"

namespace seendb::cluster {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMetaVersion = 1;
constexpr size_t kBuildBytesMost = 100;
constexpr size_t kNameBytesMost = 253;

constexpr std::array<std::string_view, std::variant_size_v<MetaRecord>> kMetaKindNames{
    "init", "member", "placement", "collection", "collection_gone", "leave", "log_version"};

bool IsHex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f".
bool IsUuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool dash = at == 8 || at == 13 || at == 18 || at == 23;
    if (dash ? text[at] != '-' : !IsHex(text.substr(at, 1))) return false;
  }
  return true;
}

/// Reads the members of a record, each once; the first failure stays.
class MetaReader {
 public:
  explicit MetaReader(const Json& object) : object_(object) {}

  std::string Text(const char* name, size_t bytes_most) {
    const Json* const value = Find(name);
    if (value == nullptr) return {};
    if (!value->is_string()) return Fail(name, "must be a string"), std::string();
    auto text = value->get<std::string>();
    if (text.size() > bytes_most) return Fail(name, "is too long"), std::string();
    return text;
  }
  template <typename T>
  T Number(const char* name, int64_t min, int64_t max) {
    const Json* const value = Find(name);
    if (value == nullptr) return T{};
    const bool whole = value->is_number_integer() &&
                       !(value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX);
    if (!whole || value->get<int64_t>() < min || value->get<int64_t>() > max) {
      Fail(name,
           "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max));
      return T{};
    }
    return static_cast<T>(value->get<int64_t>());
  }
  double Weight(const char* name) {
    const Json* const value = Find(name);
    if (value == nullptr) return 0;
    const double weight = value->is_number() ? value->get<double>() : 0;
    if (!std::isfinite(weight) || weight <= 0 || weight > kWeightMost) {
      Fail(name, "must be above 0 and at most 1000");
    }
    return weight;
  }
  int64_t Time(const char* name) { return Number<int64_t>(name, 0, kLastTimeMs); }
  std::string NodeName(const char* name) {
    std::string text = Text(name, kNameBytesMost);
    if (status_.ok()) Judge(name, CheckNodeName(text));
    return text;
  }
  std::string CollectionName(const char* name) {
    std::string text = Text(name, kNameBytesMost);
    if (status_.ok()) Judge(name, ValidateCollectionName(text));
    return text;
  }
  std::string Patch(const char* name) {
    const Json* const value = Find(name);
    if (value == nullptr) return {};
    std::string text = value->dump(-1, ' ', false, Json::error_handler_t::replace);
    Judge(name, PolicyPatchFromJson(text).status());
    return text;
  }
  bool Has(const char* name) const { return object_.contains(name); }
  bool True(const char* name) {
    const Json* const value = Find(name);
    if (value == nullptr || value->is_boolean()) return value != nullptr && value->get<bool>();
    return Fail(name, "must be true or false"), false;
  }
  Assignment Lists(const char* name) {
    Assignment assign;
    const Json* const value = Find(name);
    if (value == nullptr) return assign;
    if (!value->is_array() || value->empty() || value->size() > kPartitionsMost) {
      return Fail(name, "must be a list with a list of nodes for each partition"), assign;
    }
    for (const Json& list : *value) assign.push_back(ReadList(name, list));
    return assign;
  }
  void Judge(const char* name, const Status& status) {
    if (!status.ok()) Fail(name, std::string(status.message()));
  }
  void Fail(const char* name, const std::string& what) {
    if (status_.ok()) {
      status_ = Status::InvalidArgument(std::string(name) + " " + what, PointerTo(name));
    }
  }
  /// The first failure; kIncompatible where a member was not asked for.
  Status Finish() const {
    for (const auto& [name, value] : object_.items()) {
      if (read_.contains(name) || name == "v" || name == "kind") continue;
      return Status::Incompatible(
          "a record of X.meta with a member that this software does not "
          "know: " +
          std::string(Utf8Prefix(name, 64)));
    }
    return status_;
  }

 private:
  const Json* Find(const char* name) {
    read_.insert(name);
    const auto found = object_.find(name);
    if (found != object_.end()) return &*found;
    Fail(name, "is missing");
    return nullptr;
  }
  std::vector<std::string> ReadList(const char* name, const Json& list) {
    std::vector<std::string> nodes;
    if (!list.is_array() || list.empty() || list.size() > kReplicasMost) {
      return Fail(name, "must have 1 to 16 nodes for each partition"), nodes;
    }
    for (const Json& one : list) {
      const std::string node = one.is_string() ? one.get<std::string>() : "";
      Judge(name, CheckNodeName(node));
      if (std::find(nodes.begin(), nodes.end(), node) != nodes.end()) {
        Fail(name, "names a node twice for one partition");
      }
      nodes.push_back(node);
    }
    return nodes;
  }

  const Json& object_;
  std::set<std::string> read_;
  Status status_;
};

uint32_t ReadLogVersion(const char* name, MetaReader* reader) {
  return reader->Number<uint32_t>(name, 1, 255);
}

InitRecord ReadInit(MetaReader* reader) {
  InitRecord record;
  record.uuid = reader->Text("uuid", 36);
  if (!IsUuid(record.uuid)) reader->Fail("uuid", "is no UUID in lower case");
  record.partitions = reader->Number<uint32_t>("partitions", 1, kPartitionsMost);
  record.replicas = reader->Number<uint32_t>("replicas", 1, kReplicasMost);
  record.hash = reader->Number<uint32_t>("hash", 1, 2);
  if (reader->Has("key") || record.hash == 2) {
    record.key = reader->Text("key", 32);
    if (record.hash != 2 || record.key.size() != 32 || !IsHex(record.key)) {
      reader->Fail("key", "is 32 hex digits in lower case, with hash 2 alone");
    }
  }
  record.at_ms = reader->Time("at_ms");
  if (reader->Has("default_policy")) record.default_policy = reader->Patch("default_policy");
  if (reader->Has("log_version")) record.log_version = ReadLogVersion("log_version", reader);
  return record;
}

MemberRecord ReadMember(MetaReader* reader) {
  MemberRecord record;
  record.node = reader->NodeName("node");
  record.url = reader->Text("url", 300);
  reader->Judge("url", CheckNodeUrl(record.url));
  record.zone = reader->NodeName("zone");
  record.weight = reader->Weight("weight");
  record.build = reader->Text("build", kBuildBytesMost);
  record.rejoin = reader->Has("rejoin") && reader->True("rejoin");
  if (reader->Has("log_version")) record.log_version = ReadLogVersion("log_version", reader);
  return record;
}

MetaRecord ReadKind(size_t kind, MetaReader* reader) {
  switch (kind) {
    case 0:
      return ReadInit(reader);
    case 1:
      return ReadMember(reader);
    case 2: {
      const int64_t base = reader->Number<int64_t>("base", -1, INT64_MAX);
      return PlacementRecord{base, reader->Lists("assign")};
    }
    case 3: {
      std::string name = reader->CollectionName("name"), patch = reader->Patch("patch");
      return CollectionRecord{std::move(name), std::move(patch), reader->Time("at_ms")};
    }
    case 4: {
      std::string name = reader->CollectionName("name");
      return CollectionGoneRecord{std::move(name), reader->Time("at_ms")};
    }
    case 5:
      return LeaveRecord{reader->NodeName("node")};
    default:
      return LogVersionRecord{ReadLogVersion("version", reader)};
  }
}

// The members of each kind, in the order of the document.
void Write(const InitRecord& record, Json* json) {
  (*json)["uuid"] = record.uuid;
  (*json)["partitions"] = record.partitions;
  (*json)["replicas"] = record.replicas;
  (*json)["hash"] = record.hash;
  if (!record.key.empty()) (*json)["key"] = record.key;
  (*json)["at_ms"] = record.at_ms;
  if (record.default_policy != "{}") (*json)["default_policy"] = Json::parse(record.default_policy);
  if (record.log_version > 1) (*json)["log_version"] = record.log_version;
}
void Write(const MemberRecord& record, Json* json) {
  (*json)["node"] = record.node;
  (*json)["url"] = record.url;
  (*json)["zone"] = record.zone;
  (*json)["weight"] = record.weight;
  (*json)["build"] = record.build;
  if (record.rejoin) (*json)["rejoin"] = true;
  if (record.log_version > 1) (*json)["log_version"] = record.log_version;
}
void Write(const PlacementRecord& record, Json* json) {
  (*json)["base"] = record.base;
  (*json)["assign"] = record.assign;
}
void Write(const CollectionRecord& record, Json* json) {
  (*json)["name"] = record.name;
  (*json)["patch"] = Json::parse(record.patch);
  (*json)["at_ms"] = record.at_ms;
}
void Write(const CollectionGoneRecord& record, Json* json) {
  (*json)["name"] = record.name;
  (*json)["at_ms"] = record.at_ms;
}
void Write(const LeaveRecord& record, Json* json) { (*json)["node"] = record.node; }
void Write(const LogVersionRecord& record, Json* json) { (*json)["version"] = record.version; }

}  // namespace

std::string_view MetaKindName(const MetaRecord& record) { return kMetaKindNames[record.index()]; }

std::string EncodeMeta(const MetaRecord& record) {
  Json json{{"v", kMetaVersion}, {"kind", MetaKindName(record)}};
  std::visit([&](const auto& one) { Write(one, &json); }, record);
  return json.dump();
}

Result<MetaRecord> DecodeMeta(std::string_view text) {
  if (text.size() > kMetaBytesMost)
    return Status::InvalidArgument("a record beyond 1,000,000 bytes");
  const Json json = ParseOutside<Json>(text);
  if (!json.is_object()) {
    return Status::InvalidArgument(JsonDepth(text) > kOutsideDepthMost
                                       ? "more than " + std::to_string(kOutsideDepthMost) +
                                             " levels deep"
                                       : "no JSON object");
  }
  const auto version = json.find("v"), kind = json.find("kind");
  if (version == json.end() || !version->is_number_unsigned() || version->get<uint64_t>() == 0) {
    return Status::InvalidArgument("v must be a version", "/v");
  }
  if (version->get<uint64_t>() > kMetaVersion) {
    return Status::Incompatible("a record of X.meta of version " + version->dump() +
                                "; this software reads version " + std::to_string(kMetaVersion));
  }
  if (kind == json.end() || !kind->is_string()) {
    return Status::InvalidArgument("kind must be a string", "/kind");
  }
  const std::string& name = kind->get_ref<const std::string&>();
  const auto known = std::find(kMetaKindNames.begin(), kMetaKindNames.end(), name);
  if (known == kMetaKindNames.end()) {
    return Status::Incompatible("a record of X.meta of a kind that this software does not know: " +
                                std::string(Utf8Prefix(name, 64)));
  }
  MetaReader reader(json);
  MetaRecord record = ReadKind(static_cast<size_t>(known - kMetaKindNames.begin()), &reader);
  if (Status status = reader.Finish(); !status.ok()) return status;
  return record;
}

Status CheckNodeName(std::string_view name) {
  constexpr std::string_view kFirst =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const bool sound =
      !name.empty() && name.size() <= kNameBytesMost &&
      kFirst.find(name[0]) != std::string_view::npos &&
      std::all_of(name.begin(), name.end(), [&](char c) {
        return c == '.' || c == '-' || c == '_' || kFirst.find(c) != std::string_view::npos;
      });
  return sound ? Status()
               : Status::InvalidArgument("must be 1 to 253 letters, digits, '.', '-' and '_'");
}

Status CheckNodeUrl(std::string_view url) {
  const Status bad = Status::InvalidArgument("must look like \"http://host:7373\"");
  const std::string_view scheme = url.substr(0, url.starts_with("https://") ? 8 : 7);
  if (scheme != "http://" && scheme != "https://") return bad;
  const std::string_view rest = url.substr(scheme.size());
  const size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || url.size() > 300) return bad;
  const std::string_view host = rest.substr(0, colon), port = rest.substr(colon + 1);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const std::string_view inside = bracketed ? host.substr(1, host.size() - 2) : host;
  const bool is_host =
      bracketed ? inside.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos
                : CheckNodeName(inside).ok();
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool is_port =
      error == std::errc() && end == port.data() + port.size() && number > 0 && number <= 65'535;
  return is_host && is_port ? Status() : bad;
}

}  // namespace seendb::cluster
