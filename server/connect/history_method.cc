#include "connect/history_method.h"

#include <cstdint>

#include <nlohmann/json.hpp>
#include <seendb/v1/seendb.pb.h>

#include "base/outside_json.h"
#include "connect/json_answer.h"
#include "connect/route_text.h"

namespace seendb::connect {
namespace {

namespace pb = google::protobuf;

int64_t SignedAt(const nlohmann::json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_number_integer() ? at->get<int64_t>() : 0;
}

void ReadEntry(const nlohmann::json& entry, v1::HistoryEntry* to) {
  to->set_collection(TextIn(entry, "collection"));
  to->set_item(TextIn(entry, "item"));
  to->set_at_ms(SignedAt(entry, "at"));
  to->set_progress_s(static_cast<int32_t>(SignedAt(entry, "progress_s")));
  to->set_duration_s(static_cast<int32_t>(SignedAt(entry, "duration_s")));
  to->set_device(TextIn(entry, "device"));
  const auto fields = entry.find("fields");
  if (fields != entry.end()) to->set_fields_json(fields->dump());
}

}  // namespace

Status HistoryToRoute(const pb::Message& message, int64_t, RouteRequest* to) {
  const auto& request = static_cast<const v1::HistoryRequest&>(message);
  const std::string user = UserOf(request);
  if (user.empty()) return Status::InvalidArgument("user or user_number is needed", "/user");
  to->target = "/users/";
  AppendEscaped(user, &to->target);
  to->target += "/history";
  std::string names;
  for (int i = 0; i < request.collections_size(); ++i) {
    const std::string& name = request.collections(i);
    if (name.empty() || name.find(',') != std::string::npos) {
      return Status::InvalidArgument("is no name of a collection",
                                     "/collections/" + std::to_string(i));
    }
    if (!names.empty()) names.push_back(',');
    names.append(name);
  }
  if (!names.empty()) AppendQuery("collection", names, &to->target);
  if (request.limit() > 0) AppendQuery("limit", std::to_string(request.limit()), &to->target);
  if (!request.cursor().empty()) AppendQuery("cursor", request.cursor(), &to->target);
  return {};
}

Status HistoryFromRoute(const pb::Message&, const http::Response& response, pb::Message* message) {
  auto* const to = static_cast<v1::HistoryResponse*>(message);
  const auto answer = ParseOutside<nlohmann::json>(response.body);
  if (!answer.is_object()) return Status::Unavailable("the route's answer is no JSON");
  for (const nlohmann::json& entry : ListAt(answer, "entries")) ReadEntry(entry, to->add_entries());
  to->set_cursor(TextIn(answer, "cursor"));
  const auto degraded = answer.find("degraded");
  to->set_degraded(degraded != answer.end() && degraded->is_boolean() && degraded->get<bool>());
  for (const nlohmann::json& missing : ListAt(answer, "missing")) {
    if (missing.is_string()) to->add_missing(missing.get<std::string>());
  }
  const auto kept = answer.find("kept");
  to->set_not_kept(kept != answer.end() && kept->is_boolean() && !kept->get<bool>());
  return {};
}

}  // namespace seendb::connect
