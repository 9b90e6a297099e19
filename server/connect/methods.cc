#include "connect/methods.h"

#include <seendb/v1/seendb.pb.h>

#include "connect/event_methods.h"
#include "connect/filter_method.h"
#include "connect/history_method.h"

namespace seendb::connect {
namespace {

template <typename Message>
std::unique_ptr<google::protobuf::Message> Make() {
  return std::make_unique<Message>();
}

constexpr Method kMethods[] = {
    {.name = "Filter",
     .path = "/filter",
     .content_type = "application/octet-stream",
     .make_request = Make<v1::FilterRequest>,
     .make_answer = Make<v1::FilterResponse>,
     .to_route = FilterToRoute,
     .from_route = FilterFromRoute},
    {.name = "RecordPlays",
     .path = "/plays",
     .content_type = "application/json",
     .make_request = Make<v1::RecordPlaysRequest>,
     .make_answer = Make<v1::RecordResponse>,
     .to_route = PlaysToRoute,
     .from_route = RecordedFromRoute},
    {.name = "RecordImpressions",
     .path = "/impressions",
     .content_type = "application/json",
     .make_request = Make<v1::RecordImpressionsRequest>,
     .make_answer = Make<v1::RecordResponse>,
     .to_route = ImpressionsToRoute,
     .from_route = RecordedFromRoute},
    {.name = "RecordExposures",
     .path = "/exposures",
     .content_type = "application/json",
     .make_request = Make<v1::RecordExposuresRequest>,
     .make_answer = Make<v1::RecordResponse>,
     .to_route = ExposuresToRoute,
     .from_route = RecordedFromRoute},
    {.name = "History",
     .http_method = http::Method::kGet,
     .path = "/users/-/history",
     .content_type = "",
     .make_request = Make<v1::HistoryRequest>,
     .make_answer = Make<v1::HistoryResponse>,
     .to_route = HistoryToRoute,
     .from_route = HistoryFromRoute},
};

}  // namespace

std::span<const Method> Methods() { return kMethods; }

}  // namespace seendb::connect
