// /users/{user}/sets: a user's own sets of items, which end by themselves.

#include "seendb/user_sets.h"

#include "api/commands.h"
#include "api/paging.h"
#include "api/routes.h"
#include "api/status_http.h"
#include "base/facts.h"
#include "wire/sets_json.h"

namespace seendb::api {
namespace {

constexpr size_t kDefaultUserSetPage = 1'000;

/// A set as it is asked for; it borrows the others.
Status ReadUserSetCall(const Call& call, wire::JsonDocument* document, std::vector<IdRef>* items,
                       UserSet* set) {
  set->name = call.plan.arguments[1];
  const Status status = PathId(call.plan, 0, "/user", &set->user);
  return status.ok() ? wire::ParseUserSet(call.request.body, document, items, set) : status;
}

Status AnswerPutUserSet(Call& call) {
  wire::JsonDocument document(&call.context.unsafe_integers);
  std::vector<IdRef> items;
  UserSet set;
  const Status status = ReadUserSetCall(call, &document, &items, &set);
  if (!status.ok()) return status;
  const Result<UserSetInfo> info = call.engine().PutUserSet(set);
  if (info.ok()) wire::AppendUserSetInfo(*info, &call.response.body);
  return info.status();
}

Status AnswerUserSets(Call& call) {
  IdRef user;
  UserSetList list;
  Status status = PathId(call.plan, 0, "/user", &user);
  if (status.ok()) status = call.engine().ListUserSets(user, &list);
  if (status.ok()) wire::AppendUserSets(list, &call.response.body);
  return status;
}

Status AnswerUserSet(Call& call) {
  IdRef user;
  size_t limit = kDefaultUserSetPage;
  std::string_view after;
  Status status = PathId(call.plan, 0, "/user", &user);
  if (status.ok()) status = ReadPage(call, kMaxUserSetItems, &limit, &after);
  if (!status.ok()) return status;
  UserSetPage page;
  status = call.engine().ReadUserSet(user, call.plan.arguments[1], after, limit, &page);
  if (status.ok()) wire::AppendUserSetPage(page, &call.response.body);
  return status;
}

Status AnswerDeleteUserSet(Call& call) {
  IdRef user;
  Status status = PathId(call.plan, 0, "/user", &user);
  if (!status.ok()) return status;
  const Result<bool> deleted = call.engine().DeleteUserSet(user, call.plan.arguments[1]);
  if (!deleted.ok()) return deleted.status();
  AnswerDeleted(*deleted, &call.response);
  return status;
}

}  // namespace

Status UserSetForLog(const Call& call, size_t most, std::string* value) {
  wire::JsonDocument document(&call.context.unsafe_integers);
  std::vector<IdRef> items;
  UserSet set;
  Status status = ReadUserSetCall(call, &document, &items, &set);
  if (status.ok()) status = CheckUserSet(set);
  if (status.ok()) status = CheckSaidAt(set.at_ms, call.engine().NowMs());
  if (!status.ok()) return status;
  wire::AppendUserSetRecord(set, value);
  if (value->size() <= most) return status;
  return Status::InvalidArgument(
      "has more than " + std::to_string(most) + " bytes in the cluster's log", "/items");
}

Status UserSetDeletionForLog(const Call& call, std::string* value) {
  wire::AppendUserSetDeletion(call.plan.arguments[1], value);
  return CheckSetName(call.plan.arguments[1]).WithFieldPrefix("/name");
}

void AnswerDeleted(bool was_there, http::Response* response) {
  response->body = was_there ? "{\"deleted\":true}" : "{\"deleted\":false}";
}

void HandlePutUserSet(Call& call) {
  if (const Status status = AnswerPutUserSet(call); !status.ok()) call.Refuse(status);
}

void HandleUserSets(Call& call) {
  if (const Status status = AnswerUserSets(call); !status.ok()) call.Refuse(status);
}

void HandleUserSet(Call& call) {
  if (const Status status = AnswerUserSet(call); !status.ok()) call.Refuse(status);
}

void HandleDeleteUserSet(Call& call) {
  if (const Status status = AnswerDeleteUserSet(call); !status.ok()) call.Refuse(status);
}

}  // namespace seendb::api
