#include "router/log_writer.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "wire/appended.h"
#include "wire/failure_json.h"

namespace seendb::router {
namespace {

using peers::PeerAnswer;
using wire::Appended;
using Clock = std::chrono::steady_clock;

/// A node that has not answered for so long is asked whether it is there, again and again: it may
/// wait for Kafka. It has the second time to say so.
constexpr std::chrono::milliseconds kSilent{900}, kSaysSo{400};

Status RefusalOf(const PeerAnswer& answer) {
  Status told = wire::FailureOf(answer.body, StatusCode::kUnavailable);
  if (!told.message().empty()) return told;
  return {told.code(), "another node refused it"};
}

/// Of a path's query.
std::string PercentEncoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kDigits[byte >> 4];
    encoded += kDigits[byte & 15];
  }
  return encoded;
}

}  // namespace

/// A record that is on its way to whoever leads its partition.
struct LogWriter::Way {
  OwnedRecord record;
  peers::Headers headers;
  replica::Time until;
  Done done;
  std::set<std::string> asked;  // nodes; none of them took anything
};

/// A record that was sent to a node.
struct LogWriter::Sent {
  std::shared_ptr<Way> way;
  std::string node, url;
  std::atomic<bool> over{false};  // it was answered, or is waited for no longer
};

LogWriter::LogWriter(const RouterNode* node, peers::PeerClient* client,
                     std::function<int64_t()> now_ms)
    : node_(*node), client_(*client), now_ms_(std::move(now_ms)) {}

void LogWriter::Append(OwnedRecord record, peers::Headers headers, replica::Time until,
                       Done done) const {
  Stamp(&record);
  TryNext(std::make_shared<Way>(
      Way{std::move(record), std::move(headers), until, std::move(done), {}}));
}

void LogWriter::AppendAll(std::vector<OwnedRecord> records, const peers::Headers& headers,
                          replica::Time until,
                          std::function<void(std::vector<Result<Appended>>)> done) const {
  struct Gathered {
    std::vector<Result<Appended>> results;
    std::atomic<size_t> open;
    std::function<void(std::vector<Result<Appended>>)> done;
  };
  const size_t count = records.size();
  if (count == 0) return done({});
  const auto all = std::make_shared<Gathered>();
  all->results.resize(count, Status::Unavailable("not told"));
  all->open = count;
  all->done = std::move(done);
  for (size_t i = 0; i < count; ++i) {
    Append(std::move(records[i]), headers, until, [all, i](Result<Appended> result) {
      all->results[i] = std::move(result);
      if (all->open.fetch_sub(1) == 1) all->done(std::move(all->results));
    });
  }
}

void LogWriter::Stamp(OwnedRecord* record) const {
  if (record->meta_offset < 0) record->meta_offset = node_.meta_offset();
}

void LogWriter::AppendHere(const OwnedRecord& record, replica::Time until, Done done) const {
  node_.append({.partition = record.partition,
                .kind = record.kind,
                .key = record.key,
                .value = record.value,
                .arrival_ms = std::max(now_ms_(), record.arrival_least_ms),
                .meta_offset = record.meta_offset},
               until, std::move(done));
}

void LogWriter::TryNext(const std::shared_ptr<Way>& way) const {
  const OwnedRecord& record = way->record;
  const auto table = node_.table();
  const bool known = table != nullptr && record.partition < table->partitions();
  const std::optional<cluster::Holder> leader =
      known ? table->of(record.partition).leader : std::nullopt;
  if (!leader || !way->asked.insert(leader->node).second) {
    return way->done(Status::Unavailable("no node leads the partition of the user just now"));
  }
  if (leader->here) return AppendHere(record, way->until, way->done);
  peers::PeerRequest request;
  request.node = leader->node;
  request.url = leader->url;
  request.target = "/internal/append?partition=" + std::to_string(record.partition) +
                   "&kind=" + std::string(cluster::LogKindName(record.kind)) +
                   "&key=" + PercentEncoded(record.key) +
                   "&meta=" + std::to_string(record.meta_offset);
  request.headers = way->headers;
  request.timeout =
      std::max(std::chrono::duration_cast<std::chrono::milliseconds>(way->until - Clock::now()),
               std::chrono::milliseconds(1));
  request.headers.emplace_back("SeenDB-Timeout-Ms", std::to_string(request.timeout.count()));
  request.headers.emplace_back("Content-Type", "application/json");
  request.body = record.value;
  const auto sent = std::make_shared<Sent>();
  sent->way = way;
  sent->node = leader->node;
  sent->url = leader->url;
  client_.Ask(std::move(request), [this, sent](const PeerAnswer& answer) {
    if (!sent->over.exchange(true)) Take(sent->way, sent->node, answer);
  });
  WatchSilence(sent);
}

void LogWriter::WatchSilence(const std::shared_ptr<Sent>& sent) const {
  client_.After(kSilent, [this, sent] {
    if (sent->over) return;
    peers::PeerRequest request;
    request.node = sent->node;
    request.url = sent->url;
    request.method = "GET";
    request.target = "/internal/status";
    request.timeout = kSaysSo;
    request.waits_for_none = true;
    client_.Ask(std::move(request), [this, sent](const PeerAnswer& answer) {
      if (answer.kind == PeerAnswer::Kind::kAnswered) return WatchSilence(sent);
      if (!sent->over.exchange(true)) GiveUp(sent->way, sent->node);
    });
  });
}

void LogWriter::GiveUp(const std::shared_ptr<Way>& way, const std::string& node) const {
  node_.note(node, Met::kLost);
  way->done(
      Status::Unavailable("the node that leads the partition did not answer; "
                          "the outcome is open, repeating is harmless"));
}

void LogWriter::Take(const std::shared_ptr<Way>& way, const std::string& node,
                     const PeerAnswer& answer) const {
  constexpr unsigned kOk = 200, kUnauthorized = 401, kMisdirected = 421;
  switch (answer.kind) {
    case PeerAnswer::Kind::kAnswered:
      // The other node refuses this one, not its caller: an authority was replaced, say.
      if (answer.status == kUnauthorized) {
        node_.note(node, Met::kRefused);
        return TryNext(way);
      }
      node_.note(node, Met::kServed);
      if (answer.status == kOk) return way->done(wire::AppendedFromJson(answer.body));
      if (answer.status == kMisdirected) return TryNext(way);
      return way->done(RefusalOf(answer));
    case PeerAnswer::Kind::kRefused:
      node_.note(node, Met::kRefused);
      return TryNext(way);
    case PeerAnswer::Kind::kFull:
      return way->done(Status::Busy("too much is on its way to the node that leads"));
    case PeerAnswer::Kind::kBroken:
    case PeerAnswer::Kind::kTimedOut:
      return GiveUp(way, node);
  }
}

}  // namespace seendb::router
