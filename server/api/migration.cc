// /admin/migration: collections that move in from an old store.

#include "migration/migration.h"

#include <array>
#include <string>
#include <vector>

#include "api/routes.h"
#include "wire/json_read.h"

namespace seendb::api {
namespace {

/// Users that are noted in one request at most.
constexpr size_t kImportedMost = 10'000;

/// `{"collection":...}`, or nothing: all. `force`: null where it is no field.
Status ParseWhich(std::string_view body, std::string* collection, bool* force) {
  if (body.empty()) return Status::Ok();
  constexpr std::array<std::string_view, 2> kWhichFields = {"collection", "force"};
  wire::JsonDocument document;
  const std::span<const std::string_view> known = kWhichFields;
  wire::FieldSet fields(known.first(force == nullptr ? 1 : 2));
  return wire::ReadObject(body, &document, &fields, [&](size_t field, wire::ondemand::value value) {
    if (field == 1) return wire::ReadBool(value, force);
    std::string_view text;
    Status read = wire::ReadText(value, &text);
    if (read.ok() && text.empty()) read = Status::InvalidArgument("is empty");
    *collection = text;
    return read;
  });
}

struct ImportedCall {
  std::string_view collection, key;
  std::vector<IdRef> users;
  bool everybody = false;
};

Status ParseImported(std::string_view body, wire::JsonDocument* document, ImportedCall* imported) {
  constexpr std::array<std::string_view, 4> kImportedFields = {"collection", "key", "users",
                                                               "everybody"};
  constexpr size_t kRequired = 3;
  wire::FieldSet fields(kImportedFields);
  Status status =
      wire::ReadObject(body, document, &fields, [&](size_t field, wire::ondemand::value value) {
        if (field == 0) return wire::ReadText(value, &imported->collection);
        if (field == 1) return wire::ReadText(value, &imported->key);
        if (field == 3) return wire::ReadBool(value, &imported->everybody);
        return wire::ReadElements(
            value, kImportedMost, "users", [&](size_t, wire::ondemand::value user) {
              std::string_view token;
              const Status read = wire::ReadId(user, &imported->users.emplace_back(), &token);
              return read.ok() ? imported->users.back().Validate() : read;
            });
      });
  for (size_t i = 0; i < kRequired && status.ok(); ++i) status = fields.Require(i);
  return status;
}

using Change = std::function<Status(migration::Migration&)>;

/// Calls `change` for what the body names, and answers with what there is then. With `check` the
/// body may say "force"; else nothing is changed unless `check` passes for all.
void ChangeMigrations(Call& call, const Change& change, const Change& check = {}) {
  std::string collection;
  bool force = false;
  Status status = ParseWhich(call.request.body, &collection, check ? &force : nullptr);
  migration::Migrations* const all = call.context.migrations;
  if (status.ok() && all == nullptr) {
    status = Status::NotFound("the settings have no migration");
  }
  if (status.ok() && check && !force) status = all->ForEach(collection, check);
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
  ChangeMigrations(
      call, [](migration::Migration& one) { return one.Finish(); },
      [](const migration::Migration& one) { return one.CheckFinished(); });
}

void HandleImportedUsers(Call& call) {
  wire::JsonDocument document(&call.context.unsafe_integers);
  ImportedCall imported;
  Status status = ParseImported(call.request.body, &document, &imported);
  if (!status.ok()) return call.Refuse(status);
  migration::Migrations* const all = call.context.migrations;
  migration::Migration* const one = all == nullptr ? nullptr : all->Find(imported.collection);
  status = one == nullptr ? Status::NotFound("the settings have no migration of it", "/collection")
                          : one->NoteImported(imported.key, imported.users, imported.everybody);
  if (!status.ok()) return call.Refuse(status);
  call.response.body = "{\"noted\":" + std::to_string(imported.users.size()) + "}";
}

}  // namespace seendb::api
