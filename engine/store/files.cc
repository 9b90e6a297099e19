#include "store/files.h"

#include <cstdio>
#include <vector>

#include <nlohmann/json.hpp>

#include "filter/hash.h"
#include "format/bytes.h"
#include "merge/seen_operator.h"
#include "merge/small_operators.h"
#include "store/copy_file.h"
#include "store/real_disk.h"
#include "store/status.h"

namespace seendb {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kHistoryOperator[] = "history";

Json Operators(bool history, int format) {
  Json names = {{"seen", kSeenOperatorName},
                {"impressions", kImpressionsOperatorName},
                {"users", kUsersOperatorName}};
  if (history) {
    names[kHistoryOperator] = format == 1 ? kFirstHistoryOperatorName : kHistoryOperatorName;
  }
  return names;
}

// Numbers are read as they stand: JSON's 2.9 or 4294967298 is no 2. What is no number at all
// throws.
int64_t WholeNumber(const Json& json, const char* name) {
  const Json& value = json.at(name);
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) return INT64_MAX;
  if (value.is_number_float()) return -1;
  return value.get<int64_t>();
}

}  // namespace

Status ReplaceFile(rocksdb::Env* env, const std::string& path, const std::string& bytes, bool sync,
                   FileReaders readers) {
  const std::string fresh = path + ".tmp";
  rocksdb::Status status;
  if (readers == FileReaders::kOwner) {
    // Made empty, so that nobody reads a byte before the mode is set.
    status = rocksdb::WriteStringToFile(env, "", fresh);
    if (status.ok()) LeaveToOwner(env, fresh);
  }
  if (status.ok()) status = rocksdb::WriteStringToFile(env, bytes, fresh, sync);
  if (status.ok()) status = env->RenameFile(fresh, path);
  if (status.ok() && sync) return SyncFolder(env, path.substr(0, path.rfind('/')));
  return FromRocks(status, "write " + path);
}

std::string Identity::ToJson() const {
  Json json = {{"format", format}, {"id", id}, {"shards", shards}, {"hash", hash.version}};
  if (hash.version > 1) json["hash_key"] = HashKeyToText(hash.key);
  json["operators"] = Operators(history, format);
  json["ready"] = ready;
  return json.dump(2) + "\n";
}

Identity Identity::Renewed() const {
  Identity renewed = *this;
  renewed.format = kFormatVersion;
  renewed.history = true;
  return renewed;
}

Result<Identity> Identity::FromJson(const std::string& json) {
  const Json parsed = Json::parse(json, nullptr, false);
  Identity identity;
  try {
    const int64_t format = WholeNumber(parsed, "format");
    if (format > kFormatVersion) {
      return Status::Incompatible("the database has format " + std::to_string(format) +
                                  ", this version reads up to " + std::to_string(kFormatVersion));
    }
    if (format < 1) return Status::Corruption("identity: format is " + std::to_string(format));
    identity.format = static_cast<int>(format);
    identity.id = parsed.at("id").get<std::string>();
    const int64_t shards = WholeNumber(parsed, "shards");
    if (shards < 1 || shards > 1024) {
      return Status::Corruption("identity: shards is " + std::to_string(shards));
    }
    identity.shards = static_cast<uint32_t>(shards);
    const int64_t hash = WholeNumber(parsed, "hash");
    if (hash < 0 || hash > UINT32_MAX) {
      return Status::Corruption("identity: hash is " + std::to_string(hash));
    }
    identity.hash.version = static_cast<uint32_t>(hash);
    const bool known = hash >= kOldestHashVersion && hash <= kNewestHashVersion;
    if (known && hash > 1) {
      const auto key = ParseHashKey(parsed.at("hash_key").get<std::string>());
      if (!key) return Status::Corruption("identity: hash_key is no key");
      identity.hash.key = *key;
    }
    identity.ready = parsed.at("ready").get<bool>();
    std::string differences;
    if (!known) {
      differences += " hash is " + std::to_string(hash) + ", here up to " +
                     std::to_string(kNewestHashVersion) + ";";
    }
    // Databases from before there was history don't name its operator.
    identity.history = parsed.at("operators").contains(kHistoryOperator);
    const Json operators = Operators(identity.history, identity.format);
    for (const auto& [family, name] : operators.items()) {
      const std::string stored = parsed.at("operators").at(family).get<std::string>();
      if (stored == name.get<std::string>()) continue;
      differences += " merge operator of " + family + " is " + stored + ", here " +
                     name.get<std::string>() + ";";
    }
    if (!differences.empty()) {
      differences.pop_back();
      return Status::Incompatible("the database was made otherwise:" + differences);
    }
  } catch (const nlohmann::json::exception& e) {
    return Status::Corruption(std::string("identity: ") + e.what());
  }
  return identity;
}

std::string ShardPath(const std::string& root, uint32_t shard) {
  char name[24];
  std::snprintf(name, sizeof(name), "/shard-%04u", shard);
  return root + name;
}

Result<std::optional<Identity>> ReadIdentity(rocksdb::Env* env, const std::string& root) {
  const std::string path = root + "/SEENDB";
  if (env->FileExists(path).IsNotFound()) return std::optional<Identity>();
  std::string json;
  const rocksdb::Status read = rocksdb::ReadFileToString(env, path, &json);
  if (!read.ok()) return FromRocks(read, "read " + path);
  Result<Identity> identity = Identity::FromJson(json);
  if (!identity.ok()) {
    const Status s = identity.status();
    return Status(s.code(), path + ": " + std::string(s.message()) +
                                "; if the file is damaged, run: seendb repair");
  }
  return std::optional<Identity>(*identity);
}

Status WriteIdentity(rocksdb::Env* env, const std::string& root, const Identity& identity) {
  return ReplaceFile(env, root + "/SEENDB", identity.ToJson(), true, FileReaders::kOwner);
}

Status SyncLogs(rocksdb::Env* env, const std::string& shard_path) {
  std::vector<std::string> names;
  const rocksdb::Status listed = env->GetChildren(shard_path, &names);
  if (listed.IsNotFound()) return {};
  if (!listed.ok()) return FromRocks(listed, "list " + shard_path);
  for (const std::string& name : names) {
    if (!name.ends_with(".log")) continue;
    std::unique_ptr<rocksdb::WritableFile> log;
    rocksdb::Status status =
        env->ReopenWritableFile(shard_path + "/" + name, &log, rocksdb::EnvOptions());
    if (status.ok()) status = log->Sync();
    if (status.ok()) status = log->Close();
    if (!status.ok()) return FromRocks(status, "sync " + name);
  }
  return {};
}

std::optional<uint64_t> ReadSyncedSequence(rocksdb::Env* env, const std::string& shard_path) {
  std::string bytes;
  if (!rocksdb::ReadFileToString(env, shard_path + "/SYNCED", &bytes).ok()) return {};
  Reader in(bytes);
  const uint64_t sequence = in.U64();
  const uint64_t checksum = in.U64();
  if (!in.ok() || in.remaining() != 0) return {};
  if (checksum != HashBytes(std::string_view(bytes).substr(0, 8))) return {};
  return sequence;
}

Status WriteSyncedSequence(rocksdb::Env* env, const std::string& shard_path, uint64_t sequence,
                           bool sync) {
  std::string bytes;
  PutU64(&bytes, sequence);
  PutU64(&bytes, HashBytes(bytes));
  return ReplaceFile(env, shard_path + "/SYNCED", bytes, sync);
}

}  // namespace seendb
