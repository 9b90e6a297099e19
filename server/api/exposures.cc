// POST /exposures as one JSON document, or in binary. Lines of NDJSON are in event_stream.cc.

#include "api/catalog.h"
#include "api/events_binary.h"
#include "api/events_call.h"
#include "api/routes.h"
#include "wire/exposures_json.h"
#include "wire/media_type.h"

namespace seendb::api {
namespace {

/// Records what was parsed and answers what became of it. kIncomplete: nothing was done, it would
/// wait for a disk.
Status Record(Call& call, const wire::ExposuresCall& exposed) {
  std::string_view collection;
  Status status = ChooseCollection(call, exposed.collection, &collection);
  if (!status.ok()) return status;
  const auto entry = call.context.catalog.Find(collection);
  if (!entry) return call.context.catalog.Unknown(collection, "/collection");
  const Result<RecordResult> result =
      call.engine().RecordExposures(exposed.exposures, {collection, WaitsForNoDisk(call)});
  status = result.status();
  if (status.ok()) {
    AnswerRecorded(CountRecorded(&call.context, *entry, EventKind::kExposures, collection, *result),
                   &call.response);
  }
  const bool at_event = !status.field().empty() && status.field() != "/collection";
  return at_event ? status.WithFieldPrefix("/events") : status;
}

Status TryExposures(Call& call) {
  wire::JsonDocument document(&call.context.unsafe_integers);
  wire::ExposuresCall exposed;
  Status status = wire::IsBinary(call.request.head.content_type)
                      ? ParseBinaryExposures(call, &exposed)
                      : wire::ParseExposures(call.request.body, &document, &exposed);
  if (status.ok() && !exposed.exposures.empty()) {
    call.response.log_tag = call.context.requests.TagOf(exposed.exposures.front().user);
  }
  if (status.ok()) status = Record(call, exposed);
  if (status.code() == StatusCode::kIncomplete) document.Discard();
  return status;
}

}  // namespace

http::Task<> HandleExposures(Call call) { return RecordWhereItMay(call, TryExposures); }

}  // namespace seendb::api
