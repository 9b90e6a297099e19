// Sets of users: what is asked is checked, and the user's shard reads or changes them.

#include "with_user_sets.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/facts.h"
#include "base/return_if_failed.h"
#include "call_time.h"
#include "shard/shard.h"

namespace seendb {
namespace {

Status CheckNamed(const IdRef& user, std::string_view name) {
  const Status valid = user.Validate().WithFieldPrefix("/user");
  return valid.ok() ? CheckSetName(name).WithFieldPrefix("/name") : valid;
}

Status CheckSaid(const CallTime& at_ms, int64_t now_ms) {
  const Status status = CheckTime(at_ms, now_ms);
  return status.ok() ? status : Status(status.code(), std::string(status.message()), "/at");
}

}  // namespace

Result<UserSetInfo> WithUserSets::PutUserSet(const UserSet& set) {
  const int64_t now_ms = set.arrived_ms.value_or(user_sets_.clock->NowMs());
  RETURN_IF_FAILED(user_sets_.check_writable());
  RETURN_IF_FAILED(CheckUserSet(set));
  RETURN_IF_FAILED(CheckSaid(set.at_ms, now_ms));
  const Result<std::shared_ptr<Shard>> shard = user_sets_.shards->Of(set.user);
  if (!shard.ok()) return shard.status();
  std::vector<std::string> texts;
  texts.reserve(set.items.size());
  for (const IdRef& id : set.items) texts.push_back(id.ToString());
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  // A set is of no collection: the one that syncs soonest says how it is written.
  const auto collections = user_sets_.catalog->All();
  const bool sync = std::any_of(collections->begin(), collections->end(), [](const auto& one) {
    return one.second->policy.durability == Durability::kSync;
  });
  UserSetInfo info;
  RETURN_IF_FAILED((*shard)->PutOwnSet(set.user.ToString(), set, {texts.begin(), texts.end()},
                                       now_ms, sync, &info));
  return info;
}

Result<bool> WithUserSets::DeleteUserSet(IdRef user, std::string_view name, CallTime at_ms) {
  const int64_t now_ms = at_ms.of_log ? *at_ms.ms : user_sets_.clock->NowMs();
  RETURN_IF_FAILED(user_sets_.check_writable());
  RETURN_IF_FAILED(CheckNamed(user, name));
  RETURN_IF_FAILED(CheckSaid(at_ms, now_ms));
  const Result<std::shared_ptr<Shard>> shard = user_sets_.shards->Of(user);
  if (!shard.ok()) return shard.status();
  bool deleted = false;
  RETURN_IF_FAILED((*shard)->DeleteOwnSet(user.ToString(), name, at_ms, now_ms, &deleted));
  return deleted;
}

Status WithUserSets::ListUserSets(IdRef user, UserSetList* list) {
  *list = {};
  RETURN_IF_FAILED(user_sets_.check_open());
  RETURN_IF_FAILED(user.Validate().WithFieldPrefix("/user"));
  const Result<std::shared_ptr<Shard>> shard = user_sets_.shards->Of(user);
  return shard.ok() ? (*shard)->ListOwnSets(user.ToString(), list) : shard.status();
}

Status WithUserSets::ReadUserSet(IdRef user, std::string_view name, std::string_view after,
                                 size_t limit, UserSetPage* page) {
  *page = {};
  Status valid = user_sets_.check_open();
  if (valid.ok()) valid = CheckNamed(user, name);
  if (valid.ok() && (limit < 1 || limit > kMaxUserSetItems)) {
    valid =
        Status::InvalidArgument("must be from 1 to " + std::to_string(kMaxUserSetItems), "/limit");
  }
  if (!valid.ok()) return valid;
  const Result<std::shared_ptr<Shard>> shard = user_sets_.shards->Of(user);
  if (!shard.ok()) return shard.status();
  return (*shard)->ReadOwnSet(user.ToString(), name, after, limit, page);
}

}  // namespace seendb
