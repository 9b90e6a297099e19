// /admin/migration: collections that move in from an old store.

#include "migration/migration.h"

#include <array>
#include <string>
#include <vector>

#include "api/json_read.h"
#include "api/routes.h"

namespace seendb::api {
namespace {

/// Users that are noted in one request at most.
constexpr size_t kImportedMost = 10'000;

/// `{"collection":...}`, or nothing: all.
Status ParseWhich(std::string_view body, std::string* collection) {
  if (body.empty()) return Status::Ok();
  constexpr std::array<std::string_view, 1> kWhichFields = {"collection"};
  JsonDocument document;
  FieldSet fields(kWhichFields);
  return ReadObject(body, &document, &fields, [&](size_t, ondemand::value value) {
    std::string_view text;
    Status read = ReadText(value, &text);
    if (read.ok() && text.empty()) read = Status::InvalidArgument("is empty");
    *collection = text;
    return read;
  });
}

struct ImportedCall {
  std::string_view collection, key;
  std::vector<IdRef> users;
};

Status ParseImported(std::string_view body, JsonDocument* document, ImportedCall* imported) {
  constexpr std::array<std::string_view, 3> kImportedFields = {"collection", "key", "users"};
  FieldSet fields(kImportedFields);
  Status status = ReadObject(body, document, &fields, [&](size_t field, ondemand::value value) {
    if (field == 0) return ReadText(value, &imported->collection);
    if (field == 1) return ReadText(value, &imported->key);
    return ReadElements(value, kImportedMost, "users", [&](size_t, ondemand::value user) {
      std::string_view token;
      const Status read = ReadId(user, &imported->users.emplace_back(), &token);
      return read.ok() ? imported->users.back().Validate() : read;
    });
  });
  for (size_t i = 0; i < kImportedFields.size() && status.ok(); ++i) status = fields.Require(i);
  return status;
}

/// Calls `change` for what the body names, and answers with what there is then.
void ChangeMigrations(Call& call, const std::function<Status(migration::Migration&)>& change) {
  std::string collection;
  Status status = ParseWhich(call.request.body, &collection);
  migration::Migrations* const all = call.context.migrations;
  if (status.ok() && all == nullptr) {
    status = Status::NotFound("the settings have no migration");
  }
  if (status.ok()) status = all->ForEach(collection, change);
  if (!status.ok()) return call.Refuse(status);
  HandleMigration(call);
}

}  // namespace

void HandleMigration(Call& call) {
  const migration::Migrations* const all = call.context.migrations;
  call.response.body = ops::MigrationStatesToJson(
      all == nullptr ? std::vector<ops::MigrationState>() : all->States());
}

void HandlePauseMigration(Call& call) {
  ChangeMigrations(call, [](migration::Migration& one) { return one.Pause(true); });
}

void HandleResumeMigration(Call& call) {
  ChangeMigrations(call, [](migration::Migration& one) { return one.Pause(false); });
}

void HandleFinishMigration(Call& call) {
  ChangeMigrations(call, [](migration::Migration& one) { return one.Finish(); });
}

void HandleImportedUsers(Call& call) {
  JsonDocument document;
  ImportedCall imported;
  Status status = ParseImported(call.request.body, &document, &imported);
  if (!status.ok()) return call.Refuse(status);
  migration::Migrations* const all = call.context.migrations;
  migration::Migration* const one = all == nullptr ? nullptr : all->Find(imported.collection);
  status = one == nullptr ? Status::NotFound("the settings have no migration of it", "/collection")
                          : one->NoteImported(imported.key, imported.users);
  if (!status.ok()) return call.Refuse(status);
  call.response.body = "{\"noted\":" + std::to_string(imported.users.size()) + "}";
}

}  // namespace seendb::api
