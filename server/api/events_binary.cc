#include "api/events_binary.h"

#include <limits>
#include <string>
#include <vector>

#include "api/binary_body.h"
#include "base/facts.h"

namespace seendb::api {
namespace {

/// What all events of a user's body have, and their items.
struct OneUser {
  IdRef user;
  std::optional<int64_t> at_ms;
  std::vector<IdRef> items;
};

Status ReadOneUser(const Call& call, std::string_view user, OneUser* read) {
  Result<BinaryBody> body = BinaryBody::Of(call);
  if (!body.ok()) return body.status();
  read->user = IdRef(user);
  if (Status status = read->user.Validate(); !status.ok()) {
    return Status::InvalidArgument(std::string(status.message()), "/user");
  }
  std::optional<uint64_t> at;
  if (Status status = ReadQueryNumber(call, "at", &at); !status.ok()) return status;
  if (at > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return Status::InvalidArgument("must be a time in milliseconds since 1970", "/at");
  }
  if (at) read->at_ms = static_cast<int64_t>(*at);
  Status status = body->ReadIds(call.context.max_candidates, &read->items);
  return status.ok() ? CheckCount(call, read->items.size(), "events") : status;
}

Status ReadRows(const Call& call, std::vector<Play>* plays) {
  Result<BinaryBody> body = BinaryBody::Of(call);
  if (!body.ok()) return body.status();
  if (call.Query("at")) {
    return Status::InvalidArgument("belongs beside user: without it each row has its time", "/at");
  }
  while (!body->AtEnd()) {
    Play& play = plays->emplace_back();
    Status status = body->ReadId(&play.user);
    if (status.ok()) status = body->ReadId(&play.item);
    if (status.ok()) status = body->ReadTime(&play.at_ms);
    if (!status.ok()) return status;
  }
  return CheckCount(call, plays->size(), "events");
}

}  // namespace

Status ParseBinaryPlays(const Call& call, wire::PlaysCall* plays) {
  const auto user = call.Query("user");
  if (!user) return ReadRows(call, &plays->plays);
  OneUser one;
  Status status = ReadOneUser(call, *user, &one);
  for (const IdRef& item : one.items) plays->plays.push_back({one.user, item, one.at_ms});
  return status;
}

Status ParseBinaryImpressions(const Call& call, wire::ImpressionsCall* served) {
  const auto user = call.Query("user");
  if (!user) return Status::InvalidArgument("missing query parameter", "/user");
  OneUser one;
  Status status = ReadOneUser(call, *user, &one);
  for (const IdRef& item : one.items) served->impressions.push_back({one.user, item, one.at_ms});
  return status;
}

Status ParseBinaryExposures(const Call& call, wire::ExposuresCall* exposed) {
  const std::string_view surface = call.Query("surface").value_or("");
  if (call.Query("surface") && surface.empty()) {
    return Status::InvalidArgument("must have from 1 to 32 bytes", "/surface");
  }
  if (Status status = CheckSurface(surface); !status.ok()) {
    return Status(status.code(), std::string(status.message()), "/surface");
  }
  wire::PlaysCall shown;
  Status status = ParseBinaryPlays(call, &shown);
  for (const Play& one : shown.plays) {
    exposed->exposures.push_back(
        {.user = one.user, .item = one.item, .at_ms = one.at_ms, .surface = surface});
  }
  return status;
}

}  // namespace seendb::api
