#include "play_batch.h"

#include <charconv>

#include "report_json.h"

namespace seendb::tool {
namespace {

void AppendJsonText(std::string_view text, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  *out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      *out += '\\';
      *out += c;
    } else if (byte < 0x20) {
      *out += "\\u00";
      *out += {kHex[byte >> 4], kHex[byte & 15]};
    } else {
      *out += c;
    }
  }
  *out += '"';
}

void AppendMember(std::string_view name, int64_t number, std::string* out) {
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), number);
  out->append(",\"").append(name).append("\":").append(digits, end);
}

void AppendWatch(const Watch& watch, std::string* out) {
  if (watch.progress_s) AppendMember(kWatchNames[kProgress], *watch.progress_s, out);
  if (watch.duration_s.value_or(0) != 0) {
    AppendMember(kWatchNames[kDuration], *watch.duration_s, out);
  }
  if (!watch.device.empty()) {
    *out += ",\"device\":";
    AppendJsonText(watch.device, out);
  }
  if (watch.fields.empty()) return;
  *out += ",\"fields\":";
  // Line ends of an object are between its tokens, and would end the line here.
  for (const char c : watch.fields) *out += c == '\n' || c == '\r' ? ' ' : c;
}

/// Straight into the engine of a folder.
class EngineSink : public PlaySink {
 public:
  EngineSink(Engine& engine, std::string collection, EventKind kind, std::string surface)
      : engine_(engine),
        collection_(std::move(collection)),
        kind_(kind),
        surface_(std::move(surface)) {}

  Result<SendResult> Send(const PlayBatch& batch) override {
    auto recorded = Record(batch);
    // Without background work a full ring drains only when told to.
    if (!recorded.ok() && recorded.status().code() == StatusCode::kBusy) {
      Status drained = engine_.Drain();
      if (!drained.ok()) return drained;
      recorded = Record(batch);
    }
    if (!recorded.ok()) return recorded.status();
    SendResult result{recorded->accepted, recorded->refused, {}, recorded->outside_window};
    for (size_t i = 0; i < kRefusalReasons; ++i) {
      if (recorded->refused_by[i] == 0) continue;
      result.refused_by.emplace(RefusalReasonName(static_cast<RefusalReason>(i)),
                                recorded->refused_by[i]);
    }
    for (const Refusal& refusal : recorded->refusals) {
      result.refusals.emplace_back(refusal.index, std::string(refusal.status.message()));
    }
    return result;
  }

 private:
  Result<RecordResult> Record(const PlayBatch& batch) {
    if (kind_ == EventKind::kImpressions) {
      impressions_.clear();
      for (size_t i = 0; i < batch.size(); ++i) {
        const PlayRow row = batch.At(i);
        impressions_.push_back({IdRef(row.user), IdRef(row.item), row.at_ms});
      }
      return engine_.RecordImpressions(impressions_, {.collection = collection_});
    }
    if (kind_ == EventKind::kExposures) {
      exposures_.clear();
      for (size_t i = 0; i < batch.size(); ++i) {
        const PlayRow row = batch.At(i);
        exposures_.push_back({IdRef(row.user), IdRef(row.item), row.at_ms, surface_});
      }
      return engine_.RecordExposures(exposures_, {.collection = collection_});
    }
    plays_.clear();
    watches_.clear();
    watches_.reserve(batch.size());  // plays point into it
    for (size_t i = 0; i < batch.size(); ++i) {
      const PlayRow row = batch.At(i);
      plays_.push_back({IdRef(row.user), IdRef(row.item), row.at_ms});
      if (row.watch) plays_.back().watch = &watches_.emplace_back(*row.watch);
    }
    return engine_.RecordPlays(plays_, {.collection = collection_});
  }

  Engine& engine_;
  std::string collection_;
  EventKind kind_;
  std::string surface_;
  std::vector<Impression> impressions_;
  std::vector<Exposure> exposures_;
  std::vector<Play> plays_;
  std::vector<Watch> watches_;
};

/// Every play was refused. The answer is that of 200: a report, not an error.
constexpr unsigned kNothingTaken = 422;

/// POST /plays, /impressions or /exposures of a server, as NDJSON.
class ServerSink : public PlaySink {
 public:
  ServerSink(HttpClient& server, const std::string& collection, EventKind kind,
             std::string surface = {})
      : server_(server),
        kind_(kind),
        surface_(std::move(surface)),
        target_("/" + std::string(KindName(kind)) + "?collection=" + PercentEncode(collection)) {}

  Result<SendResult> Send(const PlayBatch& batch) override {
    body_.clear();
    for (size_t i = 0; i < batch.size(); ++i) {
      PlayRow row = batch.At(i);
      if (kind_ != EventKind::kPlays) row.watch.reset();
      AppendNdjson(row, &body_, surface_);
    }
    retry_after_s_ = 0;
    auto response = server_.Send({.method = "POST",
                                  .target = target_,
                                  .body = body_,
                                  .content_type = "application/x-ndjson"});
    if (!response.ok()) return response.status();
    retry_after_s_ = response->retry_after_s;
    if (response->status != 200 && response->status != kNothingTaken) {
      return StatusOfAnswer(*response);
    }
    const Json answer = ParseAnswer(response->body);
    SendResult result{CountOf(answer, "accepted"),
                      CountOf(answer, "refused"),
                      {},
                      CountOf(answer, "outside_window")};
    if (result.accepted + result.refused != batch.size()) {
      return Status::Unavailable("the server answered for " +
                                 std::to_string(result.accepted + result.refused) + " of " +
                                 std::to_string(batch.size()) + " " + std::string(KindName(kind_)));
    }
    const Json refused_by = answer.value("refused_by", Json::object());
    for (const auto& [reason, count] : refused_by.items()) {
      if (count.is_number_unsigned()) result.refused_by.emplace(reason, count.get<uint64_t>());
    }
    for (const Json& refusal : ListOf(answer, "refusals")) {
      const Json& error = refusal.value("error", Json());
      result.refusals.emplace_back(CountOf(refusal, "index"), error.is_string()
                                                                  ? error.get<std::string>()
                                                                  : TextOf(error, "message"));
    }
    return result;
  }

  int64_t retry_after_s() const override { return retry_after_s_; }

 private:
  HttpClient& server_;
  EventKind kind_;
  std::string surface_;
  std::string target_;
  std::string body_;
  int64_t retry_after_s_ = 0;
};

/// The same with a client of its own.
class OwningServerSink : public PlaySink {
 public:
  OwningServerSink(std::unique_ptr<HttpClient> server, const std::string& collection,
                   EventKind kind)
      : server_(std::move(server)), sink_(*server_, collection, kind) {}

  Result<SendResult> Send(const PlayBatch& batch) override { return sink_.Send(batch); }
  int64_t retry_after_s() const override { return sink_.retry_after_s(); }

 private:
  std::unique_ptr<HttpClient> server_;
  ServerSink sink_;
};

}  // namespace

std::string_view KindName(EventKind kind) {
  switch (kind) {
    case EventKind::kImpressions:
      return "impressions";
    case EventKind::kExposures:
      return "exposures";
    case EventKind::kPlays:
      break;
  }
  return "plays";
}

void PlayBatch::Add(const PlayRow& play, uint64_t row) {
  entries_.push_back({bytes_.size(), static_cast<uint32_t>(play.user.size()),
                      static_cast<uint32_t>(play.item.size()), play.at_ms, row, play.watch});
  bytes_ += play.user;
  bytes_ += play.item;
  if (!play.watch) return;
  bytes_ += play.watch->device;
  bytes_ += play.watch->fields;
}

void PlayBatch::Clear() {
  bytes_.clear();
  entries_.clear();
}

PlayRow PlayBatch::At(size_t index) const {
  const Entry& entry = entries_[index];
  const char* const begin = bytes_.data() + entry.begin;
  const char* const texts = begin + entry.user_bytes + entry.item_bytes;
  PlayRow row{{begin, entry.user_bytes},
              {begin + entry.user_bytes, entry.item_bytes},
              entry.at_ms,
              entry.watch};
  if (row.watch) {
    const size_t device_bytes = row.watch->device.size();
    row.watch->device = {texts, device_bytes};
    row.watch->fields = {texts + device_bytes, row.watch->fields.size()};
  }
  return row;
}

void AppendNdjson(const PlayRow& play, std::string* out, std::string_view surface) {
  *out += "{\"user\":";
  AppendJsonText(play.user, out);
  *out += ",\"item\":";
  AppendJsonText(play.item, out);
  if (play.at_ms) AppendMember("at", *play.at_ms, out);
  if (play.watch) AppendWatch(*play.watch, out);
  if (!surface.empty()) {
    *out += ",\"surface\":";
    AppendJsonText(surface, out);
  }
  *out += "}\n";
}

std::unique_ptr<PlaySink> MakeServerSink(std::unique_ptr<HttpClient> server,
                                         const std::string& collection, EventKind kind) {
  return std::make_unique<OwningServerSink>(std::move(server), collection, kind);
}

std::unique_ptr<PlaySink> MakeSink(Database& database, std::string collection, EventKind kind,
                                   std::string surface) {
  if (HttpClient* server = database.server()) {
    return std::make_unique<ServerSink>(*server, collection, kind, std::move(surface));
  }
  return std::make_unique<EngineSink>(*database.engine(), std::move(collection), kind,
                                      std::move(surface));
}

}  // namespace seendb::tool
