// POST /admin/degrade: a person says how much a loaded server leaves out of its answers.

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "admission/priority.h"
#include "api/routes.h"
#include "wire/json_read.h"
#include "wire/json_text.h"

namespace seendb::api {
namespace {

using admission::Degrade;

constexpr uint64_t kDefaultForS = 3'600;
constexpr uint64_t kMostForS = 7 * 24 * 3'600;

/// 0 to 5, or "auto".
Status ReadLevel(wire::ondemand::value value, std::optional<int>* level) {
  const std::string refusal =
      "must be from 0 to " + std::to_string(admission::kMaxLevel) + ", or \"auto\"";
  std::string_view text;
  if (wire::ReadText(value, &text).ok()) {
    return text == "auto" ? Status::Ok() : Status::InvalidArgument(refusal);
  }
  uint64_t number = 0;
  if (!wire::ReadUint(value, &number).ok() || number > admission::kMaxLevel) {
    return Status::InvalidArgument(refusal);
  }
  *level = static_cast<int>(number);
  return Status::Ok();
}

Status ReadRefused(wire::ondemand::value value, std::array<bool, admission::kPriorities>* refused) {
  return wire::ReadElements(value, admission::kPriorities, "priorities",
                            [&](size_t, wire::ondemand::value element) {
                              std::string_view text;
                              if (Status read = wire::ReadText(element, &text); !read.ok())
                                return read;
                              const auto priority = admission::ParsePriority(text);
                              if (!priority) {
                                return Status::InvalidArgument("must be high, normal or low");
                              }
                              (*refused)[static_cast<size_t>(*priority)] = true;
                              return Status::Ok();
                            });
}

Status ReadForS(wire::ondemand::value value, uint64_t* for_s) {
  if (Status read = wire::ReadUint(value, for_s); !read.ok()) return read;
  if (*for_s >= 1 && *for_s <= kMostForS) return Status::Ok();
  return Status::InvalidArgument("must be from 1 to " + std::to_string(kMostForS));
}

Status ParseOrder(std::string_view body, Degrade::Order* order) {
  constexpr std::array<std::string_view, 3> kFields = {"level", "refuse", "for_s"};
  wire::JsonDocument document;
  wire::FieldSet fields(kFields);
  uint64_t for_s = kDefaultForS;
  Status status =
      wire::ReadObject(body, &document, &fields, [&](size_t field, wire::ondemand::value value) {
        if (field == 0) return ReadLevel(value, &order->level);
        return field == 1 ? ReadRefused(value, &order->refuse) : ReadForS(value, &for_s);
      });
  order->length = std::chrono::seconds(for_s);
  return status.ok() ? fields.Require(0) : status;
}

}  // namespace

void HandleDegrade(Call& call) {
  Degrade::Order order;
  if (const Status status = ParseOrder(call.request.body, &order); !status.ok()) {
    return call.Refuse(status);
  }
  Degrade& degrade = call.context.admission.degrade();
  degrade.ByHand(order, std::chrono::steady_clock::now());
  std::string& body = call.response.body;
  body = "{\"level\":" + std::to_string(degrade.level()) +
         ",\"by_hand\":" + (order.level ? "true" : "false") + ",\"refuse\":[";
  for (size_t i = 0; i < admission::kPriorities; ++i) {
    if (!order.refuse[i]) continue;
    body += body.back() == '[' ? "" : ",";
    wire::AppendJsonString(admission::kPriorityNames[i], &body);
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(order.length);
  body += "],\"for_s\":" + std::to_string(seconds.count()) + "}";
}

}  // namespace seendb::api
