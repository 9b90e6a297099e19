#include "ops/ingest_state.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace seendb::ops {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson OrNull(const std::optional<int64_t>& number) {
  return number ? OrderedJson(*number) : OrderedJson(nullptr);
}

}  // namespace

std::optional<int64_t> IngestPartition::Lag() const {
  if (!applied_offset || !high_watermark) return {};
  return std::max<int64_t>(0, *high_watermark - *applied_offset);
}

std::string IngestStateToJson(const IngestState& state) {
  OrderedJson topics = OrderedJson::array();
  for (const IngestTopic& topic : state.topics) {
    OrderedJson partitions = OrderedJson::array();
    for (const IngestPartition& one : topic.partitions) {
      OrderedJson row = {{"partition", one.partition},
                         {"applied_offset", OrNull(one.applied_offset)},
                         {"high_watermark", OrNull(one.high_watermark)},
                         {"lag", OrNull(one.Lag())},
                         {"rate", one.rate},
                         {"dead_letters", one.dead_letters},
                         {"misrouted", one.misrouted},
                         {"lost", one.lost},
                         {"alarms", one.alarms}};
      if (!one.held.empty()) row["held"] = one.held;
      partitions.push_back(std::move(row));
    }
    OrderedJson shown = {{"topic", topic.topic}};
    if (!topic.collection.empty()) shown["collection"] = topic.collection;
    shown["partitions"] = std::move(partitions);
    topics.push_back(std::move(shown));
  }
  const OrderedJson document = {{"topics", std::move(topics)}};
  return document.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace seendb::ops
