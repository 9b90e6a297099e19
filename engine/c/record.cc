// Plays and impressions: arrays in, counts out, and what was refused as JSON.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"
#include "c/handles.h"

using seendb::Status;
using namespace seendb::c;  // NOLINT(google-build-using-namespace)

namespace seendb::c {
namespace {

constexpr uint32_t kAllSays = SEENDB_SAYS_PROGRESS | SEENDB_SAYS_DURATION;

/// A JSON object, as short as the engine keeps it.
Status CheckFields(const char* fields) {
  const std::string_view text = fields;
  if (text.size() > kMaxFieldsBytes) {
    return Status::InvalidArgument("at most " + std::to_string(kMaxFieldsBytes) + " bytes");
  }
  if (!ParseOutside(text).is_object()) return Status::InvalidArgument("is no JSON object");
  return {};
}

/// A play of C as the engine has it; `watch` is what it points to. The field is one of the play's.
Status TakePlay(const seendb_play& play, Play* event, Watch* watch) {
  Status taken = TakeId(play.user, "/user", &event->user);
  if (taken.ok()) taken = TakeId(play.item, "/item", &event->item);
  if (!taken.ok()) return taken;
  if ((play.says & ~kAllSays) != 0) {
    return Status::InvalidArgument("has a bit that means nothing", "/says");
  }
  if (play.reserved != 0) return Status::InvalidArgument("must be 0", "/reserved");
  if (play.at_ms != 0) event->at_ms = play.at_ms;
  if ((play.says & SEENDB_SAYS_PROGRESS) != 0) watch->progress_s = play.progress_s;
  if ((play.says & SEENDB_SAYS_DURATION) != 0) watch->duration_s = play.duration_s;
  if (play.device != nullptr) watch->device = play.device;
  if (play.fields != nullptr) {
    taken = CheckFields(play.fields);
    if (!taken.ok()) return taken.WithFieldPrefix("/fields");
    watch->fields = play.fields;
  }
  if (play.says != 0 || play.device != nullptr || play.fields != nullptr) event->watch = watch;
  return {};
}

/// The engine's "/3/item" as "/plays/3/item", or as "/items/3", so that it names the caller's
/// array.
Status InList(const char* list, const Status& status) {
  std::string field(status.field());
  const bool numbered = field.size() > 1 && field[1] >= '0' && field[1] <= '9';
  if (!numbered) return status;
  const std::string_view lists_items = "items";
  if (list == lists_items) field = field.substr(0, field.find('/', 1));  // without the last part
  return Status(status.code(), std::string(status.message()),
                std::string("/").append(list).append(field));
}

std::string RefusalsText(const std::vector<Refusal>& refusals) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Refusal& refusal : refusals) {
    list.push_back({{"index", refusal.index},
                    {"code", StatusCodeName(refusal.status.code())},
                    {"message", refusal.status.message()},
                    {"field", refusal.status.field()},
                    {"reason", RefusalReasonName(refusal.reason)}});
  }
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Checks where the caller wants the outcome of a batch, before anything is recorded.
Status TakeOutcome(const seendb_recorded* recorded, char** refusals) {
  if (refusals != nullptr) *refusals = nullptr;
  return CheckSize(recorded, sizeof(seendb_recorded), sizeof(seendb_recorded), "recorded");
}

Status TellOutcome(const char* list, const Result<RecordResult>& result, seendb_recorded* recorded,
                   char** refusals) {
  if (!result.ok()) return InList(list, result.status());
  if (refusals != nullptr && !result->refusals.empty()) {
    Give(RefusalsText(result->refusals), refusals);
  }
  GiveSized(seendb_recorded{0, result->accepted, result->refused, result->outside_window,
                            result->beyond_cap},
            recorded);
  return {};
}

}  // namespace
}  // namespace seendb::c

extern "C" {

seendb_code seendb_record_plays(seendb_db* db, const char* collection, const seendb_play* plays,
                                size_t count, seendb_recorded* recorded, char** refusals,
                                seendb_error** error) {
  return Run(error, [&]() -> Status {
    Status checked = TakeOutcome(recorded, refusals);
    if (checked.ok()) checked = NotNull(db, "db");
    if (checked.ok()) checked = CheckArray(plays, count, SEENDB_MOST_ELEMENTS, "plays");
    if (!checked.ok()) return checked;
    std::vector<seendb::Play> events(count);
    std::vector<seendb::Watch> watches(count);
    for (size_t i = 0; i < count; ++i) {
      checked = TakePlay(plays[i], &events[i], &watches[i]);
      if (!checked.ok()) return checked.WithFieldPrefix("/plays/" + std::to_string(i));
    }
    return TellOutcome("plays", db->engine->RecordPlays(events, {.collection = NameOf(collection)}),
                       recorded, refusals);
  });
}

seendb_code seendb_record_impressions(seendb_db* db, const char* collection, seendb_id user,
                                      const seendb_id* items, size_t count, int64_t at_ms,
                                      seendb_recorded* recorded, char** refusals,
                                      seendb_error** error) {
  return Run(error, [&]() -> Status {
    seendb::IdRef of_user;
    std::vector<seendb::IdRef> ids;
    Status checked = TakeOutcome(recorded, refusals);
    if (checked.ok()) checked = NotNull(db, "db");
    if (checked.ok()) checked = TakeId(user, "/user", &of_user);
    if (checked.ok()) checked = of_user.Validate().WithFieldPrefix("/user");
    if (checked.ok()) checked = TakeIds(items, count, SEENDB_MOST_ELEMENTS, "items", &ids);
    if (!checked.ok()) return checked;
    std::vector<seendb::Impression> events(count);
    for (size_t i = 0; i < count; ++i) {
      events[i] = {of_user, ids[i], {}};
      if (at_ms != 0) events[i].at_ms = at_ms;
    }
    return TellOutcome("items",
                       db->engine->RecordImpressions(events, {.collection = NameOf(collection)}),
                       recorded, refusals);
  });
}

}  // extern "C"
