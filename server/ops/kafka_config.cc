#include "ops/kafka_config.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "base/json_pointer.h"
#include "ops/kafka_properties.h"
#include "seendb/ingest.h"
#include "seendb/policy.h"
#include "times/time_zone.h"

namespace seendb::ops {
namespace {

/// "user", or "/a/b" with ~1 for a slash and ~0 for a tilde in a name.
Setter Path(std::vector<std::string>* to) {
  return [=](const Json& value) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    const Status refused = Status::InvalidArgument("must be a member's name, or a path \"/a/b\"");
    if (text.empty()) return refused;
    to->clear();
    if (text.front() != '/') {
      to->push_back(text);
      return Status::Ok();
    }
    for (size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '/') {
        to->emplace_back();
      } else if (text[at] != '~') {
        to->back() += text[at];
      } else if (++at < text.size() && (text[at] == '0' || text[at] == '1')) {
        to->back() += text[at] == '0' ? '~' : '/';
      } else {
        return refused;
      }
    }
    const bool empty = std::any_of(to->begin(), to->end(), [](const auto& s) { return s.empty(); });
    return empty ? refused : Status::Ok();
  };
}

/// A path, or "@key", or "@header:NAME".
Setter IdPlace(std::vector<std::string>* path, RecordPlace* place) {
  return [=](const Json& value) {
    constexpr std::string_view kHeader = "@header:";
    *place = {};
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    if (text == "@key") place->key = true;
    if (text.starts_with(kHeader)) place->header = text.substr(kHeader.size());
    if (*place) {
      path->clear();
      return Status::Ok();
    }
    if (!text.starts_with(kHeader) && Path(path)(value).ok()) return Status::Ok();
    return Status::InvalidArgument(
        "must be a member's name, a path \"/a/b\", \"@key\" or \"@header:NAME\"");
  };
}

/// The value that a word stands for.
template <typename T, size_t N>
Setter WordOf(T* to, const std::array<std::pair<std::string_view, T>, N>& words) {
  return [=](const Json& value) {
    std::string all;
    for (const auto& [word, meaning] : words) {
      if (value == word) {
        *to = meaning;
        return Status::Ok();
      }
      all += (all.empty() ? "" : ", ") + std::string(word);
    }
    return Status::InvalidArgument("must be one of " + all);
  };
}

constexpr std::array<std::pair<std::string_view, AtUnit>, 4> kAtUnits = {{{"ms", AtUnit::kMillis},
                                                                          {"s", AtUnit::kSeconds},
                                                                          {"us", AtUnit::kMicros},
                                                                          {"ns", AtUnit::kNanos}}};
constexpr std::array<std::pair<std::string_view, Fact>, 2> kKinds = {
    {{"plays", Fact::kPlayed}, {"impressions", Fact::kServed}}};
constexpr std::string_view kMark = "mark", kItem = "item";

Setter FactOf(KafkaTopic* topic) {
  return [=](const Json& value) {
    topic->marks = value == kMark;
    topic->items = value == kItem;
    if (topic->marks || topic->items) return Status::Ok();
    for (size_t i = 0; i < kFactCount; ++i) {
      topic->fact = static_cast<Fact>(i);
      if (value == FactName(topic->fact)) return Status::Ok();
    }
    return Status::InvalidArgument("must be one of played, served, exposed, mark, item");
  };
}

constexpr std::array<std::pair<std::string_view, Framing>, 2> kFramings = {
    {{"none", Framing::kNone}, {"confluent", Framing::kConfluent}}};

Setter ZoneName(std::string* to) {
  return [=](const Json& value) {
    const std::string name = value.is_string() ? value.get<std::string>() : "";
    const auto zone = times::TimeZone::Named(name);
    if (!zone.ok()) return Status::InvalidArgument(std::string(zone.status().message()));
    *to = name;
    return Status::Ok();
  };
}

Setter TopicName(std::string* to) {
  const auto set = [=](const Json& value) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    const bool known = std::all_of(text.begin(), text.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '.' || c == '_' || c == '-';
    });
    if (text.empty() || text.size() > kMaxTopicBytes || !known) {
      return Status::InvalidArgument("must be 1-249 of A-Z a-z 0-9 . _ -");
    }
    *to = text;
    return Status::Ok();
  };
  return Setter(set, Written::kText);
}

/// Whether the paths of two members lead to one place, or one through the other.
bool Overlap(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const size_t both = std::min(a.size(), b.size());
  return both > 0 && std::equal(a.begin(), a.begin() + static_cast<ptrdiff_t>(both), b.begin());
}

/// Which topics have a member.
enum class HeldBy : uint8_t { kAll, kPlays, kShown, kFacts, kMarks };

/// Why a topic has not what others have; null: it may have it.
const char* WhyNot(const KafkaTopic& topic, HeldBy held_by) {
  const bool played = topic.fact == Fact::kPlayed && !topic.marks;
  switch (held_by) {
    case HeldBy::kPlays:
      return played ? nullptr : "is of plays only";
    case HeldBy::kShown:
      return played || topic.marks ? "is of impressions and exposures only" : nullptr;
    case HeldBy::kFacts:
      return topic.marks ? "is not of marks" : nullptr;
    case HeldBy::kMarks:
      return topic.marks ? nullptr : "is of marks only";
    case HeldBy::kAll:
      break;
  }
  return nullptr;
}

/// Members that lead to one place, and what events of a kind have not.
Status CheckPaths(const KafkaTopic& topic) {
  struct Row {
    const char* name;
    const std::vector<std::string>* path;
    HeldBy held_by;
  };
  const std::array<Row, 13> all = {{{"user", &topic.user, HeldBy::kAll},
                                    {"item", &topic.item, HeldBy::kAll},
                                    {"at", &topic.at, HeldBy::kAll},
                                    {"progress_s", &topic.progress_s, HeldBy::kPlays},
                                    {"duration_s", &topic.duration_s, HeldBy::kPlays},
                                    {"device", &topic.device, HeldBy::kPlays},
                                    {"fields", &topic.fields, HeldBy::kPlays},
                                    {"day", &topic.day, HeldBy::kPlays},
                                    {"surface", &topic.surface, HeldBy::kShown},
                                    {"of", &topic.of, HeldBy::kFacts},
                                    {"same_as", &topic.same_as, HeldBy::kFacts},
                                    {"group", &topic.group, HeldBy::kMarks},
                                    {"until", &topic.until, HeldBy::kMarks}}};
  for (size_t i = 0; i < all.size(); ++i) {
    const char* const why_not = WhyNot(topic, all[i].held_by);
    if (why_not != nullptr && !all[i].path->empty()) {
      return Status::InvalidArgument(why_not, PointerTo(all[i].name));
    }
    for (size_t j = 0; j < i; ++j) {
      if (!Overlap(*all[j].path, *all[i].path)) continue;
      return Status::InvalidArgument("leads to where " + std::string(all[j].name) + " does",
                                     PointerTo(all[i].name));
    }
  }
  const RecordPlace &user = topic.user_place, &item = topic.item_place;
  if (item && user.key == item.key && user.header == item.header) {
    return Status::InvalidArgument("is where user is", "/item");
  }
  const char* const why_not = WhyNot(topic, HeldBy::kPlays);
  if (why_not != nullptr && !topic.first_of_day_topic.empty()) {
    return Status::InvalidArgument(why_not, "/first_of_day_topic");
  }
  return Status::Ok();
}

/// Marks have usual places, too, and no item.
Status SettleMarks(const Json& value, KafkaTopic* topic) {
  if (!topic->marks) return Status::Ok();
  if (value.contains("item")) return Status::InvalidArgument("marks have none", "/item");
  topic->item.clear();
  if (topic->group.empty()) topic->group = {"group"};
  if (topic->until.empty()) topic->until = {"until"};
  return Status::Ok();
}

/// An update says itself of which item it is, and when.
Status SettleItems(const Json& value, KafkaTopic* topic) {
  constexpr std::array<std::string_view, 4> kTaken = {"topic", "fact", "framing", "gaps"};
  for (const auto& [key, unused] : value.items()) {
    if (std::find(kTaken.begin(), kTaken.end(), key) != kTaken.end()) continue;
    return Status::InvalidArgument("updates of items have none", PointerTo(key));
  }
  topic->collection.clear();
  topic->user.clear();
  topic->item.clear();
  return Status::Ok();
}

Status ReadTopic(const Json& value, KafkaTopic* topic) {
  Fact kind = Fact::kPlayed;
  Status status = Apply(value,
                        {{"topic", TopicName(&topic->topic)},
                         {"collection", Name(&topic->collection)},
                         {"kind", WordOf(&kind, kKinds)},
                         {"fact", FactOf(topic)},
                         {"user", IdPlace(&topic->user, &topic->user_place)},
                         {"item", IdPlace(&topic->item, &topic->item_place)},
                         {"at", Path(&topic->at)},
                         {"at_unit", WordOf(&topic->at_unit, kAtUnits)},
                         {"time_zone", ZoneName(&topic->time_zone)},
                         {"framing", WordOf(&topic->framing, kFramings)},
                         {"progress_s", Path(&topic->progress_s)},
                         {"duration_s", Path(&topic->duration_s)},
                         {"device", Path(&topic->device)},
                         {"fields", Path(&topic->fields)},
                         {"day", Path(&topic->day)},
                         {"surface", Path(&topic->surface)},
                         {"of", Path(&topic->of)},
                         {"same_as", Path(&topic->same_as)},
                         {"group", Path(&topic->group)},
                         {"until", Path(&topic->until)},
                         {"first_of_day_topic", TopicName(&topic->first_of_day_topic)},
                         {"gaps", OneOf(&topic->gaps_expected, "alarm", "expected")}},
                        "");
  if (!status.ok()) return status;
  if (topic->topic.empty()) return Status::InvalidArgument("missing key", "/topic");
  if (value.contains("kind")) {
    if (value.contains("fact")) return Status::InvalidArgument("there is a fact too", "/kind");
    topic->fact = kind;
  }
  if (topic->items) return SettleItems(value, topic);
  status = SettleMarks(value, topic);
  return status.ok() ? CheckPaths(*topic) : status;
}

Setter Topics(std::vector<KafkaTopic>* to) {
  return [=](const Json& value) {
    if (!value.is_array() || value.empty()) {
      return Status::InvalidArgument("must be an array of at least one topic");
    }
    to->clear();
    std::set<std::string> names;
    for (size_t i = 0; i < value.size(); ++i) {
      KafkaTopic topic;
      Status status = ReadTopic(value[i], &topic);
      if (status.ok() && !names.insert(topic.topic).second) {
        status = Status::InvalidArgument("topic named twice", "/topic");
      }
      if (!status.ok()) return status.WithFieldPrefix("/" + std::to_string(i));
      to->push_back(std::move(topic));
    }
    return Status::Ok();
  };
}

/// A topic that is written to is not to be consumed.
Status CheckWritten(const KafkaConfig& config) {
  const auto consumed = [&](const std::string& name) {
    return std::any_of(config.topics.begin(), config.topics.end(),
                       [&](const KafkaTopic& topic) { return topic.topic == name; });
  };
  const auto refused = [](const std::string& field) {
    return Status::InvalidArgument("is consumed as well", field);
  };
  if (consumed(config.dead_letter_topic)) return refused("/dead_letter_topic");
  for (size_t i = 0; i < config.topics.size(); ++i) {
    if (consumed(config.topics[i].first_of_day_topic)) {
      return refused("/topics/" + std::to_string(i) + "/first_of_day_topic");
    }
  }
  return Status::Ok();
}

Setter Start(KafkaConfig* to) {
  return [=](const Json& value) {
    if (value == "earliest" || value == "latest") {
      to->start = value == "earliest" ? KafkaStart::kEarliest : KafkaStart::kLatest;
      return Status::Ok();
    }
    const Status read = Integer(&to->start_ms, 0, kLastTimeMs)(value);
    if (!read.ok()) {
      return Status::InvalidArgument("must be earliest, latest or a time in ms since 1970");
    }
    to->start = KafkaStart::kTime;
    return Status::Ok();
  };
}

Setter Partitions(std::optional<std::vector<int32_t>>* to) {
  const auto set = [=](const Json& value) {
    to->reset();
    if (value == "all") return Status::Ok();
    const Status refused =
        Status::InvalidArgument("must be \"all\" or an array of partitions, each once");
    if (!value.is_array() || value.empty()) return refused;
    std::set<int32_t> listed;
    for (const Json& one : value) {
      int32_t partition = 0;
      if (!Integer(&partition, 0, 1'000'000)(one).ok()) return refused;
      if (!listed.insert(partition).second) return refused;
    }
    to->emplace(listed.begin(), listed.end());
    return Status::Ok();
  };
  return Setter(set, Written::kNumbers);
}

Keys KeysOf(KafkaConfig* config) {
  constexpr int64_t kDayMs = 86'400'000;
  return {{"brokers", Name(&config->brokers)},
          {"group", Name(&config->group)},
          {"start", Start(config)},
          {"dead_letter_topic", TopicName(&config->dead_letter_topic)},
          {"dead_letter_file", Name(&config->dead_letter_file)},
          {"topics", Topics(&config->topics)},
          {"partitions", Partitions(&config->partitions)},
          {"batch_messages", Integer(&config->batch_messages, 1, 1'000'000)},
          {"batch_ms", Integer(&config->batch_ms, 1, 10'000)},
          {"queued_bytes", Integer(&config->queued_bytes, 1 << 20, int64_t{2} << 30)},
          {"message_bytes", Integer(&config->message_bytes, 1'024, int64_t{1} << 30)},
          {"refresh_ms", Integer(&config->refresh_ms, 50, kDayMs)},
          {"commit_ms", Integer(&config->commit_ms, 50, kDayMs)},
          {"properties", Properties(&config->properties)}};
}

Status Check(const KafkaConfig& config) {
  if (config.topics.empty()) return Status::InvalidArgument("missing key", "/topics");
  if (!config.dead_letter_topic.empty() && !config.dead_letter_file.empty()) {
    return Status::InvalidArgument("there is a dead_letter_topic too", "/dead_letter_file");
  }
  return CheckWritten(config);
}

}  // namespace

Setter Kafka(std::optional<KafkaConfig>* to) { return SectionOf(to, KeysOf, Check); }

bool HasItemTopics(const KafkaConfig& kafka) {
  return std::any_of(kafka.topics.begin(), kafka.topics.end(),
                     [](const KafkaTopic& topic) { return topic.items; });
}

Status SettleKafka(const ClusterConfig* cluster, bool keeps_items, KafkaConfig* kafka) {
  const auto refused = [](const std::string& why, const std::string& field) {
    return Status::InvalidArgument(why, "/kafka" + field);
  };
  for (size_t i = 0; i < kafka->topics.size(); ++i) {
    if (keeps_items || !kafka->topics[i].items) continue;
    return refused("items.bytes is 0: there is no store of items",
                   "/topics/" + std::to_string(i) + "/fact");
  }
  if (cluster == nullptr) {
    return kafka->brokers.empty() ? refused("missing key", "/brokers") : Status();
  }
  if (kafka->brokers.empty()) {
    kafka->brokers = cluster->brokers;
    kafka->properties.insert(cluster->properties.begin(), cluster->properties.end());
  }
  if (kafka->partitions) {
    return refused("a node of a cluster reads those of the shards that it holds", "/partitions");
  }
  if (kafka->start == KafkaStart::kLatest) {
    return refused("replicas that begin at different moments would differ: say earliest, or a time",
                   "/start");
  }
  const auto is_own = [&](const std::string& topic) {
    return topic == cluster->name + ".log" || topic == cluster->name + ".meta";
  };
  constexpr const char* kOwn = "is a topic of the cluster itself";
  if (is_own(kafka->dead_letter_topic)) return refused(kOwn, "/dead_letter_topic");
  for (size_t i = 0; i < kafka->topics.size(); ++i) {
    const std::string at = "/topics/" + std::to_string(i);
    if (is_own(kafka->topics[i].topic)) return refused(kOwn, at + "/topic");
    if (is_own(kafka->topics[i].first_of_day_topic)) {
      return refused(kOwn, at + "/first_of_day_topic");
    }
    const KafkaTopic& topic = kafka->topics[i];
    constexpr const char* kNotYet = "is not there at a node of a cluster yet";
    if (topic.items || topic.marks || topic.fact == Fact::kExposed) {
      const std::string_view fact = topic.items   ? kItem
                                    : topic.marks ? kMark
                                                  : FactName(topic.fact);
      return refused(std::string(fact) + " " + kNotYet, at + "/fact");
    }
    if (!topic.surface.empty()) return refused(kNotYet, at + "/surface");
    if (!topic.of.empty()) return refused(kNotYet, at + "/of");
    if (!topic.same_as.empty()) return refused(kNotYet, at + "/same_as");
  }
  return {};
}

}  // namespace seendb::ops
