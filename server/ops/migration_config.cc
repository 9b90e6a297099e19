#include "ops/migration_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/json_pointer.h"
#include "redis/address.h"
#include "redis/keys.h"
#include "seendb/policy.h"

namespace seendb::ops {
namespace {

constexpr std::array<std::string_view, 3> kUntil = {"old_store", "degraded", "ignore"};
constexpr size_t kCollectionsMost = 64;

Setter RedisUrl(std::string* to) {
  return [=](const Json& value) {
    if (Status status = Name(to)(value); !status.ok()) return status;
    return redis::ParseAddress(*to, "a URL of Redis").status();
  };
}

Setter UserKey(std::string* to) {
  return [=](const Json& value) {
    if (Status status = Name(to)(value); !status.ok()) return status;
    if (to->size() > 512) return Status::InvalidArgument("must have at most 512 bytes");
    return redis::KeyTemplate::Parse(*to, "the key").status();
  };
}

Setter TimeUnit(std::string* to) {
  return [=](const Json& value) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    if (text != "s" && text != "ms" && text != "us") {
      return Status::InvalidArgument("must be s, ms or us");
    }
    *to = text;
    return Status::Ok();
  };
}

Setter UntilMigratedBy(UntilMigrated* to) {
  return [=](const Json& value) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    const auto found = std::find(kUntil.begin(), kUntil.end(), text);
    if (found == kUntil.end()) {
      return Status::InvalidArgument("must be old_store, degraded or ignore");
    }
    *to = static_cast<UntilMigrated>(found - kUntil.begin());
    return Status::Ok();
  };
}

Setter ShadowShare(double* to) {
  return [=](const Json& value) {
    const double share = value.is_number() ? value.get<double>() : -1;
    if (!std::isfinite(share) || share < 0 || share > 1) {
      return Status::InvalidArgument("must be a number from 0 to 1");
    }
    *to = share;
    return Status::Ok();
  };
}

Status ReadOne(const Json& value, MigrationConfig* to) {
  bool capped = false;
  const auto cap = [&](const Json& number) {
    capped = true;
    return Integer(&to->cap, 0, 1'000'000'000)(number);
  };
  Status status = Apply(value,
                        {{"redis", RedisUrl(&to->redis)},
                         {"redis_password_file", Name(&to->password_file)},
                         {"redis_ca", Name(&to->ca)},
                         {"key", UserKey(&to->key)},
                         {"score_unit", TimeUnit(&to->score_unit)},
                         {"until_migrated", UntilMigratedBy(&to->until_migrated)},
                         {"budget_ms", Integer(&to->budget_ms, 1, 60'000)},
                         {"dual_write", Flag(&to->dual_write)},
                         {"cap", cap},
                         {"queue_bytes", Integer(&to->queue_bytes, 1 << 20, int64_t{1} << 40)},
                         {"shadow", ShadowShare(&to->shadow)}},
                        "");
  if (status.ok() && to->redis.empty()) status = Status::InvalidArgument("missing key", "/redis");
  if (status.ok() && to->key.empty()) status = Status::InvalidArgument("missing key", "/key");
  if (status.ok() && to->dual_write && !capped) {
    // What it trims is gone: nobody gets that by default.
    status = Status::InvalidArgument(
        "missing key: how many members dual_write leaves in a key; 0: all", "/cap");
  }
  return status;
}

}  // namespace

Setter Migration(std::vector<MigrationConfig>* to) {
  return [=](const Json& value) {
    if (!value.is_object() || value.size() > kCollectionsMost) {
      return Status::InvalidArgument("must be an object of at most 64 collections");
    }
    std::vector<MigrationConfig> all;
    for (const auto& [name, settings] : value.items()) {
      MigrationConfig& one = all.emplace_back();
      one.collection = name;
      Status status = ValidateCollectionName(name);
      if (status.ok()) status = ReadOne(settings, &one);
      if (status.ok()) continue;
      return Status::InvalidArgument(std::string(status.message()),
                                     PointerTo(name) + std::string(status.field()));
    }
    *to = std::move(all);
    return Status::Ok();
  };
}

}  // namespace seendb::ops
