// GET /users/{user}/filter: what the server knows a user to have seen, for another process: a dump
// of the filter (engine/doc/filter-dump.md) or, with `format`, the ids as a set.
// GET /admin/item-hash-key: what tells the items in a dump.

#include "seendb/filter_dump.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <sys/socket.h>

#include "api/catalog.h"
#include "api/events_call.h"
#include "api/id_set.h"
#include "api/milvus_filter.h"
#include "api/name_list.h"
#include "api/routes.h"
#include "wire/json_text.h"

namespace seendb::api {
namespace {

constexpr unsigned kNotModified = 304;
constexpr std::string_view kDumpFormat = "dump";
constexpr std::string_view kDumpType = "application/octet-stream";

bool IsLoopback(std::string_view peer) {
  return peer.starts_with("127.") || peer == "::1" || peer.starts_with("::ffff:127.");
}

/// Fingerprints and their key leave the machine only under TLS and for a token.
Status CheckWay(const Call& call) {
  const http::Connection* const connection = call.request.head.connection;
  const bool local =
      connection != nullptr && (connection->family == AF_UNIX || IsLoopback(connection->peer));
  if (local) return {};
  const bool has_tokens = call.context.access.Current() != nullptr;
  if (connection != nullptr && connection->secure && has_tokens) return {};
  return {StatusCode::kForbidden,
          "filters and their key are given under TLS with tokens_file, by a unix socket or at "
          "loopback alone"};
}

void AppendDigits(uint64_t value, std::string* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) out->push_back(kDigits[(value >> shift) & 15]);
}

void RefuseLargeSet(const Call& call, size_t bytes) {
  call.response.headers.clear();
  http::WriteError(
      {413, "too_large",
       "the answer would have " + std::to_string(bytes) + " bytes (limits.answer_bytes: " +
           std::to_string(call.context.limits.answer_bytes) + ")"},
      &call.response);
}

void TellState(bool degraded, const std::string& etag, http::Response* response) {
  response->headers += "\r\nETag: " + etag;
  response->headers += "\r\nCache-Control: private, no-cache";
  if (degraded) response->headers += "\r\nSeenDB-Degraded: true";
}

Status AnswerDump(Call& call, IdRef user) {
  if (Status way = CheckWay(call); !way.ok()) return way;
  for (const char* const of_sets : {"newest", "collections", "ids", "fpr"}) {
    if (call.Query(of_sets)) {
      return Status::InvalidArgument("is for sets: it needs another format",
                                     "/" + std::string(of_sets));
    }
  }
  FilterDumpRequest request{.user = user};
  Status status = ChooseCollection(call, {}, &request.collection);
  FilterDump dump;
  if (status.ok()) status = call.engine().DumpFilter(request, &dump);
  if (!status.ok()) return status;
  const std::string etag = dump.Etag();
  TellState(dump.degraded, etag, &call.response);
  const std::string& known = call.request.head.if_none_match;
  if (known.find(etag) != std::string::npos) {
    call.response.status = kNotModified;
    return {};
  }
  const std::vector<uint64_t> have = DumpHashesIn(known);
  const size_t bytes = dump.EncodedBytes(have);
  if (bytes > call.context.limits.answer_bytes) {
    RefuseLargeSet(call, bytes);
    return {};
  }
  call.response.content_type = kDumpType;
  call.response.body = dump.Encode(have);
  return {};
}

// ---- Sets ----

struct SeenId {
  std::string id;
  int64_t at_ms = 0;
};

/// The ids that a user has seen in some collections.
class SeenIds {
 public:
  explicit SeenIds(size_t most_bytes) : most_bytes_(most_bytes) {}

  /// Takes in one collection. kIncompatible: it keeps no ids.
  Status Add(Engine& engine, IdRef user, std::string_view collection, const Policy& policy,
             size_t newest) {
    if (!policy.history.enabled && !policy.impression_ids) {
      return Status::Incompatible(
          "the collection \"" + std::string(collection) +
              "\" keeps no ids, and no fingerprint can be turned back into one: switch history or "
              "impression_ids on",
          "/collection");
    }
    FilterDump dump;
    Status status = engine.DumpFilter(
        {.user = user, .collection = collection, .served_ids = policy.impression_ids}, &dump);
    if (!status.ok()) return status;
    degraded_ = degraded_ || dump.degraded;
    for (ServedId& served : dump.served_ids) Note(std::move(served.id), served.at_ms);
    lacks_served_ = lacks_served_ || !policy.impression_ids;
    lacks_played_ = lacks_played_ || !policy.history.enabled;
    return policy.history.enabled
               ? AddPlayed(engine, user, collection, dump.window_begin_ms, newest)
               : status;
  }

  /// The newest first; of one time by id. At most `newest`, all where that is 0.
  std::vector<SeenId> Take(size_t newest) {
    std::vector<SeenId> ids;
    ids.reserve(times_.size());
    for (const auto& [id, at_ms] : times_) ids.push_back({id, at_ms});
    std::stable_sort(ids.begin(), ids.end(),
                     [](const SeenId& a, const SeenId& b) { return a.at_ms > b.at_ms; });
    if (newest != 0 && newest < ids.size()) ids.resize(newest);
    return ids;
  }
  bool degraded() const { return degraded_; }
  bool lacks_served() const { return lacks_served_; }
  bool lacks_played() const { return lacks_played_; }
  /// More than may be answered.
  bool too_large() const { return bytes_ > most_bytes_; }
  size_t bytes() const { return bytes_; }

 private:
  Status AddPlayed(Engine& engine, IdRef user, std::string_view collection, int64_t begin_ms,
                   size_t newest) {
    const std::string_view collections[] = {collection};
    std::string cursor;
    size_t taken = 0;
    do {
      HistoryPage page;
      const Status status = engine.ReadHistory(
          {.user = user, .collections = collections, .limit = kMaxHistoryLimit, .cursor = cursor},
          &page);
      if (!status.ok()) return status;
      degraded_ = degraded_ || page.degraded;
      for (HistoryEntry& entry : page.entries) {
        if (entry.at_ms < begin_ms || too_large()) return {};
        Note(std::move(entry.item), entry.at_ms);
        if (++taken == newest) return {};
      }
      cursor = std::move(page.cursor);
    } while (!cursor.empty());
    return {};
  }

  void Note(std::string id, int64_t at_ms) {
    const auto [at, fresh] = times_.try_emplace(std::move(id), at_ms);
    if (fresh) bytes_ += at->first.size() + 3;
    at->second = std::max(at->second, at_ms);
  }

  const size_t most_bytes_;
  std::map<std::string, int64_t, std::less<>> times_;
  size_t bytes_ = 0;  // about those of the answer
  bool degraded_ = false, lacks_served_ = false, lacks_played_ = false;
};

Status ReadNewest(const Call& call, size_t* newest) {
  const auto text = call.Query("newest");
  if (!text) return {};
  const auto [stop, error] = std::from_chars(text->data(), text->data() + text->size(), *newest);
  if (error == std::errc() && stop == text->data() + text->size() && *newest > 0) return {};
  return Status::InvalidArgument("must be a number of 1 or more", "/newest");
}

Status ReadSetCollections(const Call& call, std::vector<std::string_view>* names) {
  Status status = ReadNames(call, "collections", kMaxUnitedCollections, names);
  if (!status.ok()) return status;
  if (names->empty()) {
    names->emplace_back();
    return ChooseCollection(call, {}, &names->back());
  }
  if (call.Query("collection")) {
    return Status::InvalidArgument("is not taken beside collections", "/collection");
  }
  for (const std::string_view name : *names) {
    if (status = MayUse(call.caller(), name, "/collections"); !status.ok()) return status;
  }
  return {};
}

std::string IdsToJson(std::span<const SeenId> ids, const SeenIds& seen) {
  std::string out = "{\"ids\":[";
  for (const SeenId& one : ids) {
    if (out.back() != '[') out.push_back(',');
    wire::AppendJsonString(one.id, &out);
  }
  out.append("],\"degraded\":").append(seen.degraded() ? "true" : "false");
  out.append(",\"lacks\":[");
  if (seen.lacks_played()) out.append("\"played\"");
  if (seen.lacks_served()) out.append(seen.lacks_played() ? ",\"served\"" : "\"served\"");
  return out + "]}";
}

/// How ids are written as bytes.
struct SetForm {
  Result<std::string> (*to_bytes)(std::span<const SeenId> ids, double rate) = nullptr;
  double rate = 0;  ///< of false positives
};

Result<std::vector<uint64_t>> NumbersOf(std::span<const SeenId> ids) {
  std::vector<uint64_t> numbers;
  numbers.reserve(ids.size());
  for (const SeenId& one : ids) {
    const IdRef id(one.id);
    if (!id.is_number()) {
      return Status::Incompatible(
          "this format has numbers alone, and the user has seen an item whose id is text: ask for "
          "ids",
          "/format");
    }
    numbers.push_back(id.number());
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

template <std::string (*kWrite)(std::span<const uint64_t> numbers)>
Result<std::string> ExactBytes(std::span<const SeenId> ids, double /*rate*/) {
  const Result<std::vector<uint64_t>> numbers = NumbersOf(ids);
  if (!numbers.ok()) return numbers.status();
  return kWrite(*numbers);
}

Result<std::string> MilvusNumbers(std::span<const SeenId> ids, double rate) {
  const Result<std::vector<uint64_t>> numbers = NumbersOf(ids);
  if (!numbers.ok()) return numbers.status();
  if (!numbers->empty() && numbers->back() > std::numeric_limits<int64_t>::max()) {
    return Status::Incompatible(
        "the user has seen an item whose id is above 2^63-1, which no field of Milvus holds: ask "
        "for ids",
        "/format");
  }
  return ToMilvusFilter(*numbers, rate);
}

Result<std::string> MilvusTexts(std::span<const SeenId> ids, double rate) {
  std::vector<std::string_view> texts;
  texts.reserve(ids.size());
  for (const SeenId& one : ids) texts.push_back(one.id);
  return ToMilvusFilter(texts, rate);
}

Status ReadMilvusForm(const Call& call, SetForm* form) {
  const std::string_view type = call.Query("ids").value_or("u64");
  if (type != "u64" && type != "string") {
    return Status::InvalidArgument("must be u64 or string", "/ids");
  }
  *form = {.to_bytes = type == "u64" ? MilvusNumbers : MilvusTexts, .rate = kMilvusRate};
  const auto text = call.Query("fpr");
  if (!text) return {};
  const auto [stop, error] = std::from_chars(text->data(), text->data() + text->size(), form->rate);
  if (error == std::errc() && stop == text->data() + text->size() && form->rate >= kMinMilvusRate &&
      form->rate <= kMaxMilvusRate) {
    return {};
  }
  return Status::InvalidArgument("must be from 0.0001 to 0.05", "/fpr");
}

Status ReadForm(const Call& call, std::string_view format, SetForm* form) {
  if (format == "mbf1") return ReadMilvusForm(call, form);
  for (const char* const milvus : {"ids", "fpr"}) {
    if (call.Query(milvus)) {
      return Status::InvalidArgument("is for the format mbf1", "/" + std::string(milvus));
    }
  }
  if (format == "ids") return {};
  if (format == "roaring") *form = {.to_bytes = ExactBytes<ToRoaring>};
  if (format == "idset") *form = {.to_bytes = ExactBytes<ToPinotIdSet>};
  if (form->to_bytes != nullptr) return {};
  return Status::InvalidArgument("must be dump, ids, roaring, idset or mbf1", "/format");
}

std::string RateText(double rate) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.begin(), text.end(), rate);
  return {text.begin(), end};
}

/// A handle of the answer's bytes: FNV-1a.
std::string EtagOf(std::string_view bytes) {
  uint64_t hash = 0xCBF2'9CE4'8422'2325ULL;
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100'0000'01B3ULL;
  std::string tag = "\"";
  AppendDigits(hash, &tag);
  return tag + "\"";
}

Status AnswerSet(Call& call, IdRef user, std::string_view format) {
  SetForm form;
  size_t newest = 0;
  std::vector<std::string_view> names;
  Status status = ReadForm(call, format, &form);
  if (status.ok()) status = ReadNewest(call, &newest);
  if (status.ok()) status = ReadSetCollections(call, &names);
  SeenIds seen(call.context.limits.answer_bytes);
  for (size_t i = 0; status.ok() && i < names.size(); ++i) {
    const auto entry = call.context.catalog.Find(names[i]);
    if (!entry) return call.context.catalog.Unknown(names[i], "/collection");
    status = seen.Add(call.engine(), user, names[i], entry->policy, newest);
  }
  if (!status.ok()) return status;
  if (seen.too_large()) {
    RefuseLargeSet(call, seen.bytes());
    return {};
  }
  const std::vector<SeenId> ids = seen.Take(newest);
  Result<std::string> body =
      form.to_bytes != nullptr ? form.to_bytes(ids, form.rate) : IdsToJson(ids, seen);
  if (!body.ok()) return body.status();
  if (body->size() > call.context.limits.answer_bytes) {
    RefuseLargeSet(call, body->size());
    return {};
  }
  const std::string etag = EtagOf(*body);
  TellState(seen.degraded(), etag, &call.response);
  call.response.headers += "\r\nSeenDB-False-Positive-Rate: " + RateText(form.rate);
  if (seen.lacks_played()) call.response.headers += "\r\nSeenDB-Lacks: played";
  if (seen.lacks_served()) call.response.headers += "\r\nSeenDB-Lacks: served";
  if (call.request.head.if_none_match.find(etag) != std::string::npos) {
    call.response.status = kNotModified;
    return {};
  }
  if (form.to_bytes != nullptr) call.response.content_type = kDumpType;
  call.response.body = *std::move(body);
  return {};
}

Status AnswerSeen(Call& call) {
  IdRef user;
  if (Status status = PathId(call.plan, 0, "/user", &user); !status.ok()) return status;
  const std::string_view format = call.Query("format").value_or(kDumpFormat);
  return format == kDumpFormat ? AnswerDump(call, user) : AnswerSet(call, user, format);
}

}  // namespace

Status CheckFilterWay(const Call& call) {
  return call.Query("format").value_or(kDumpFormat) == kDumpFormat ? CheckWay(call) : Status();
}

void HandleFilterDump(Call& call) {
  if (const Status status = AnswerSeen(call); !status.ok()) {
    call.response.headers.clear();
    call.Refuse(status);
  }
}

void HandleItemHashKey(Call& call) {
  if (const Status way = CheckWay(call); !way.ok()) return call.Refuse(way);
  const ItemHashKey key = call.engine().ReadItemHashKey();
  std::string& out = call.response.body;
  out.append("{\"version\":").append(std::to_string(key.version)).append(",\"id\":\"");
  AppendDigits(key.id, &out);
  out.append("\",\"secret\":\"");
  for (size_t i = 0; key.version >= 2 && i < key.secret.size(); ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    out.push_back(kDigits[key.secret[i] >> 4]);
    out.push_back(kDigits[key.secret[i] & 15]);
  }
  out.append("\"}");
  call.response.headers += "\r\nCache-Control: no-store";
}

}  // namespace seendb::api
