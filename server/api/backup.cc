// Backups over HTTP: `seendb backup create --url` (server/doc/backup.md).
//
//   GET    /admin/backup                                   what a backup needs besides the shards
//   POST   /admin/backup                                   one has succeeded
//   POST   /admin/backup/shards/{partition}                a copy is made: its manifest
//   GET    /admin/backup/shards/{partition}/{copy}/{file}  with Range: part of a file
//   DELETE /admin/backup/shards/{partition}/{copy}         the copy ends

#include "api/backup.h"

#include <array>
#include <chrono>
#include <cstdint>

#include "api/routes.h"
#include "wire/json_read.h"

namespace seendb::api {
namespace {

Status ParseNote(std::string_view body, ops::BackupNote* note) {
  constexpr std::array<std::string_view, 4> kFields = {"id", "bytes", "new_bytes", "took_ms"};
  const std::array<uint64_t*, 4> into = {&note->id, &note->bytes, &note->new_bytes, &note->took_ms};
  wire::JsonDocument document;
  wire::FieldSet fields(kFields);
  Status status =
      wire::ReadObject(body, &document, &fields, [&](size_t index, wire::ondemand::value value) {
        const Status read = wire::ReadUint(value, into.at(index));
        if (!read.ok() || *into.at(index) <= uint64_t{INT64_MAX}) return read;
        return Status::InvalidArgument("must be less than 2^63");
      });
  for (size_t index = 0; status.ok() && index < kFields.size(); ++index) {
    status = fields.Require(index);
  }
  return status;
}

}  // namespace

void HandleBackup(Call& call) { call.context.backup.state(call); }

http::Task<> HandleBackupShard(Call call) { return call.context.backup.shards(call); }

void HandleBackedUp(Call& call) {
  ops::BackupNote note;
  Status status = ParseNote(call.request.body, &note);
  if (!status.ok()) return call.Refuse(status);
  using Milliseconds = std::chrono::milliseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  note.at_ms = std::chrono::duration_cast<Milliseconds>(now).count();
  status = call.context.backup.last.Note(note);
  if (!status.ok()) return call.Refuse(status);
  call.response.body = R"({"ok":true})";
}

}  // namespace seendb::api
