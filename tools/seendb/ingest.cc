// seendb ingest: what is consumed from Kafka, and how far.

#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "database.h"
#include "report_json.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

/// A number of the report, or a dash where it is not known.
std::string Known(const Json& object, const char* name) {
  const auto at = object.find(name);
  if (at == object.end() || !at->is_number_integer()) return "-";
  return FormatCount(at->get<uint64_t>());
}

std::string NotesOf(const Json& partition) {
  std::string notes;
  for (const Json& alarm : ListOf(partition, "alarms")) {
    notes += (notes.empty() ? "" : ", ") + alarm.get<std::string>();
  }
  const std::string held = TextOf(partition, "held");
  if (!held.empty()) notes += (notes.empty() ? "held: " : "; held: ") + held;
  return notes;
}

std::string SourcesText(const Json& report) {
  Table table({{"topic"},
               {"collection"},
               {"partition", Align::kRight},
               {"next offset", Align::kRight},
               {"end", Align::kRight},
               {"lag", Align::kRight},
               {"rate", Align::kRight},
               {"dead letters", Align::kRight},
               {"notes"}});
  for (const Json& topic : ListOf(report, "topics")) {
    const std::string name = TextOf(topic, "topic");
    const Json& partitions = ListOf(topic, "partitions");
    if (partitions.empty()) table.Add({name, TextOf(topic, "collection"), "-"});
    for (const Json& one : partitions) {
      table.Add({name, TextOf(topic, "collection"), FormatCount(CountOf(one, "partition")),
                 Known(one, "applied_offset"), Known(one, "high_watermark"), Known(one, "lag"),
                 one.contains("rate") ? FormatRate(NumberOf(one, "rate")) : "-",
                 FormatCount(CountOf(one, "dead_letters")), NotesOf(one)});
    }
  }
  return table.empty() ? "nothing is consumed\n" : table.ToString();
}

/// What a folder knows without a broker: the offsets it has applied.
Json OfFolder(Engine& engine) {
  Json topics = Json::array();
  for (const SourceInfo& source : engine.Sources()) {
    if (topics.empty() || topics.back()["topic"] != source.topic) {
      topics.push_back({{"topic", source.topic}, {"partitions", Json::array()}});
    }
    Json row = {{"partition", source.partition},
                {"applied_offset", nullptr},
                {"high_watermark", nullptr},
                {"lag", nullptr},
                {"dead_letters", source.counts.dead_letters}};
    if (source.next_offset) row["applied_offset"] = *source.next_offset;
    if (source.held) row["held"] = "until its topic is forgotten (--forget)";
    topics.back()["partitions"].push_back(std::move(row));
  }
  return {{"topics", std::move(topics)}};
}

Status Show(const Session& session) {
  auto database = Database::Open(session, Access::kRead);
  if (!database.ok()) return database.status();
  HttpClient* server = (*database)->server();
  auto report = server != nullptr ? server->Call({.target = "/admin/ingest"})
                                  : Result<Json>(OfFolder(*(*database)->engine()));
  if (!report.ok()) return (*database)->Close(report.status());
  return (*database)->Close(session.json ? PrintJson(*report) : Print(SourcesText(*report)));
}

Status Forget(const Session& session, const std::string& topic) {
  if (session.db.empty()) {
    return Status::InvalidArgument("--forget wants the folder of a stopped server: say --db DIR");
  }
  auto database = Database::Open(session, Access::kWrite);
  if (!database.ok()) return database.status();
  return (*database)->Close((*database)->engine()->ForgetTopic(topic));
}

/// "TOPIC/PARTITION@OFFSET".
struct MessagePlace {
  std::string topic;
  uint32_t partition = 0;
  int64_t offset = 0;
};

Result<MessagePlace> ParsePlace(std::string_view text) {
  const auto refused = [&] {
    return Status::InvalidArgument("--skip: `" + Printable(text) +
                                   "` is not of the form TOPIC/PARTITION@OFFSET");
  };
  const size_t at = text.rfind('@');
  const size_t slash = at == text.npos ? at : text.rfind('/', at);
  if (slash == text.npos || slash == 0) return refused();
  MessagePlace place;
  place.topic = text.substr(0, slash);
  const auto read = [](std::string_view digits, auto* number) {
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, *number);
    return error == std::errc() && stop == end;
  };
  const bool whole = read(text.substr(slash + 1, at - slash - 1), &place.partition) &&
                     read(text.substr(at + 1), &place.offset);
  if (!whole || place.offset < 0) return refused();
  return place;
}

/// Passes over the message that the partition goes on with.
Status SkipMessage(Engine& engine, const MessagePlace& place) {
  for (const SourceInfo& source : engine.Sources()) {
    if (source.topic != place.topic || source.partition != place.partition) continue;
    if (!source.next_offset || *source.next_offset == place.offset) continue;
    return Status::InvalidArgument("--skip: the partition goes on with offset " +
                                   std::to_string(*source.next_offset));
  }
  const std::vector<int64_t> passed_over = {place.offset};
  const SourceStep step{.topic = place.topic,
                        .partition = place.partition,
                        .next_offset = place.offset + 1,
                        .dead_letters = passed_over};
  return engine.Ingest({.sources = {&step, 1}}).status();
}

Status Skip(const Session& session, const std::string& text) {
  const Result<MessagePlace> place = ParsePlace(text);
  if (!place.ok()) return place.status();
  if (session.db.empty()) {
    return Status::InvalidArgument("--skip wants the folder of a stopped server: say --db DIR");
  }
  auto database = Database::Open(session, Access::kWrite);
  if (!database.ok()) return database.status();
  return (*database)->Close(SkipMessage(*(*database)->engine(), *place));
}

}  // namespace

void AddIngest(Command app, Session& session) {
  auto topic = std::make_shared<std::string>();
  auto skipped = std::make_shared<std::string>();
  Command command =
      AddCommand(app, session, "ingest",
                 "List the partitions consumed from Kafka: offset, lag, rate, dead letters, alarms",
                 Takes::kFolderOrServer, [&session, topic, skipped] {
                   if (!skipped->empty()) return Skip(session, *skipped);
                   return topic->empty() ? Show(session) : Forget(session, *topic);
                 });
  command
      .Add("--forget", *topic,
           "With --db: forget the offsets and counts of a topic that was made anew")
      .TypeName("TOPIC");
  command
      .Add("--skip", *skipped,
           "With --db: pass over the message that a partition goes on with, say one that no "
           "consumer survives")
      .TypeName("TOPIC/PARTITION@OFFSET");
  command.Examples({"seendb ingest", "seendb ingest --db db"});
}

}  // namespace seendb::tool
