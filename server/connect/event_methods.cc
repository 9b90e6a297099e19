#include "connect/event_methods.h"

#include <limits>
#include <utility>

#include <nlohmann/json.hpp>
#include <seendb/v1/seendb.pb.h>

#include "base/outside_json.h"
#include "connect/json_answer.h"
#include "connect/route_text.h"

namespace seendb::connect {
namespace {

namespace pb = google::protobuf;

/// The members that plays and exposures share. The ids are left out where they are not said:
/// the route names what is missing. An id goes as text, which is the same as the number.
template <typename Event>
void AppendWhoAndWhat(const Event& event, std::string* out) {
  if (event.who_case() != Event::WHO_NOT_SET) AppendMember("user", UserOf(event), out);
  if (event.what_case() != Event::WHAT_NOT_SET) AppendMember("item", ItemOf(event), out);
  if (event.has_at_ms()) AppendMember("at", event.at_ms(), out);
  if (event.of_size() == 0) return;
  AppendName("of", out);
  const char* before = "[";
  for (const std::string& group : event.of()) {
    out->append(before);
    wire::AppendJsonString(group, out);
    before = ",";
  }
  out->push_back(']');
}

/// A play's fields, which are JSON of the caller's, as a member.
Status AppendFields(const v1::Play& play, int position, std::string* out) {
  if (play.fields_json().empty()) return {};
  if (!ParseOutside(play.fields_json()).is_object()) {
    return Status::InvalidArgument("must be a JSON object",
                                   "/events/" + std::to_string(position) + "/fields_json");
  }
  AppendName("fields", out);
  out->append(play.fields_json());
  return {};
}

Status AppendPlay(const v1::Play& play, int position, std::string* out) {
  std::string members = "{";
  AppendWhoAndWhat(play, &members);
  if (play.has_progress_s()) AppendMember("progress_s", play.progress_s(), &members);
  if (play.has_duration_s()) AppendMember("duration_s", play.duration_s(), &members);
  if (!play.device().empty()) AppendMember("device", play.device(), &members);
  if (!play.day().empty()) AppendMember("day", play.day(), &members);
  Status status = AppendFields(play, position, &members);
  out->append(members).push_back('}');
  return status;
}

Status AppendExposure(const v1::Exposure& exposure, int, std::string* out) {
  std::string members = "{";
  AppendWhoAndWhat(exposure, &members);
  if (!exposure.surface().empty()) AppendMember("surface", exposure.surface(), &members);
  out->append(members).push_back('}');
  return {};
}

/// `{"events":[...],"collection"}`.
template <typename Request, typename Append>
Status EventsToRoute(const Request& request, Append append, std::string* body) {
  body->assign("{\"events\":[");
  for (int i = 0; i < request.events_size(); ++i) {
    if (i > 0) body->push_back(',');
    if (Status status = append(request.events(i), i, body); !status.ok()) return status;
  }
  body->push_back(']');
  if (!request.collection().empty()) AppendMember("collection", request.collection(), body);
  body->push_back('}');
  return {};
}

void ReadRefusals(const nlohmann::json& answer, v1::RecordResponse* to) {
  for (const nlohmann::json& one : ListAt(answer, "refusals")) {
    v1::Refusal* const refusal = to->add_refusals();
    refusal->set_index(CountAt(one, "index"));
    const auto error = one.find("error");
    if (error == one.end() || !error->is_object()) continue;
    refusal->set_code(TextIn(*error, "code"));
    refusal->set_message(TextIn(*error, "message"));
    refusal->set_field(TextIn(*error, "field"));
  }
}

}  // namespace

Status PlaysToRoute(const pb::Message& message, int64_t, RouteRequest* to) {
  to->target = "/plays";
  return EventsToRoute(static_cast<const v1::RecordPlaysRequest&>(message), AppendPlay, &to->body);
}

Status ExposuresToRoute(const pb::Message& message, int64_t, RouteRequest* to) {
  to->target = "/exposures";
  return EventsToRoute(static_cast<const v1::RecordExposuresRequest&>(message), AppendExposure,
                       &to->body);
}

Status ImpressionsToRoute(const pb::Message& message, int64_t, RouteRequest* to) {
  const auto& request = static_cast<const v1::RecordImpressionsRequest&>(message);
  Status status = CheckIds(request.items(), request.item_numbers(), "items");
  if (!status.ok()) return status;
  to->target = "/impressions";
  std::string& body = to->body;
  body = "{";
  if (request.who_case() != v1::RecordImpressionsRequest::WHO_NOT_SET) {
    AppendMember("user", UserOf(request), &body);
  }
  AppendName("items", &body);
  body.push_back('[');
  const char* before = "";
  for (const std::string& item : request.items()) {
    body.append(before);
    wire::AppendJsonString(item, &body);
    before = ",";
  }
  for (const uint64_t item : request.item_numbers()) {
    body.append(before).append("\"").append(std::to_string(item)).append("\"");
    before = ",";
  }
  body.push_back(']');
  if (!request.collection().empty()) AppendMember("collection", request.collection(), &body);
  if (request.has_at_ms()) AppendMember("at", request.at_ms(), &body);
  if (!request.surface().empty()) AppendMember("surface", request.surface(), &body);
  body.push_back('}');
  return {};
}

Status RecordedFromRoute(const pb::Message&, const http::Response& response, pb::Message* message) {
  auto* const to = static_cast<v1::RecordResponse*>(message);
  const nlohmann::json answer = ParseOutside(response.body);
  if (!answer.is_object()) return Status::Unavailable("the route's answer is no JSON");
  to->set_accepted(CountAt(answer, "accepted"));
  to->set_refused(CountAt(answer, "refused"));
  ReadRefusals(answer, to);
  if (const auto by = answer.find("refused_by"); by != answer.end() && by->is_object()) {
    for (const auto& [reason, count] : by->items()) {
      (*to->mutable_refused_by())[reason] = CountAt(*by, reason.c_str());
    }
  }
  to->set_outside_window(CountAt(answer, "outside_window"));
  to->set_beyond_cap(CountAt(answer, "beyond_cap"));
  to->set_day(TextIn(answer, "day"));
  for (const nlohmann::json& place : ListAt(answer, "first_today")) {
    to->add_first_today(static_cast<uint32_t>(
        WholeNumber(place, std::numeric_limits<uint32_t>::max()).value_or(0)));
  }
  return {};
}

}  // namespace seendb::connect
