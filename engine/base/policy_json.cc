// The policy as JSON. Reading is by SAX, so that a repeated field is seen as one.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <limits>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json_pointer.h"
#include "seendb/policy.h"

namespace seendb {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMsPerMinute = 60'000;

struct Unit {
  std::string_view suffix;
  int64_t ms;
};
/// Longest first: a duration is written in the largest unit that divides it.
constexpr Unit kUnits[] = {
    {"d", 86'400'000}, {"h", 3'600'000}, {"m", kMsPerMinute}, {"s", 1'000}, {"ms", 1}};

/// The digits at the front of `*text`, removed from it; nothing where there are none or too many.
std::optional<int64_t> TakeNumber(std::string_view* text) {
  int64_t value = 0;
  if (text->empty() || text->front() < '0' || text->front() > '9') return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return value;
}

std::optional<int64_t> ParseDuration(std::string_view text) {
  const std::optional<int64_t> count = TakeNumber(&text);
  if (!count) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (text != unit.suffix) continue;
    int64_t ms = 0;
    if (__builtin_mul_overflow(*count, unit.ms, &ms)) return std::nullopt;
    return ms;
  }
  return std::nullopt;
}

std::string DurationText(int64_t ms) {
  for (const Unit& unit : kUnits) {
    // Days only from two on: "24h" is how people say a day here.
    if (ms % unit.ms == 0 && ms >= (unit.suffix == "d" ? 2 * unit.ms : unit.ms)) {
      return std::to_string(ms / unit.ms).append(unit.suffix);
    }
  }
  return "0s";
}

/// "+08:00" or "-03:30", within 14 hours.
std::optional<int32_t> ParseOffset(std::string_view text) {
  const auto digit = [&](size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':' || !digit(1) ||
      !digit(2) || !digit(4) || !digit(5)) {
    return std::nullopt;
  }
  const int hours = (text[1] - '0') * 10 + (text[2] - '0');
  const int minutes = (text[4] - '0') * 10 + (text[5] - '0');
  if (minutes > 59 || hours * 60 + minutes > 14 * 60) return std::nullopt;
  return (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
}

std::string OffsetText(int32_t minutes) {
  const unsigned size = static_cast<unsigned>(minutes < 0 ? -minutes : minutes);
  char text[16];
  std::snprintf(text, sizeof(text), "%c%02u:%02u", minutes < 0 ? '-' : '+', size / 60, size % 60);
  return text;
}

std::optional<BucketSpec> ParseBucket(std::string_view text) {
  constexpr std::string_view kDaysPrefix = "days:";
  if (text == "month") return BucketSpec{};
  if (text.substr(0, kDaysPrefix.size()) != kDaysPrefix) return std::nullopt;
  text.remove_prefix(kDaysPrefix.size());
  const bool leading_zero = !text.empty() && text.front() == '0';
  const std::optional<int64_t> days = TakeNumber(&text);
  if (!days || !text.empty() || leading_zero || *days > 366) return std::nullopt;
  return BucketSpec{BucketKind::kDays, static_cast<uint16_t>(*days)};
}

std::string BucketText(const BucketSpec& bucket) {
  if (bucket.kind == BucketKind::kMonth) return "month";
  return "days:" + std::to_string(bucket.days);
}

std::optional<Representation> ParseRepresentation(std::string_view text) {
  if (text == "bloom") return Representation::kBloom;
  if (text == "exact") return Representation::kExact;
  return std::nullopt;
}

std::optional<Durability> ParseDurability(std::string_view text) {
  if (text == "sync") return Durability::kSync;
  if (text == "interval") return Durability::kInterval;
  if (text == "none") return Durability::kNone;
  return std::nullopt;
}

const char* DurabilityText(Durability durability) {
  switch (durability) {
    case Durability::kSync:
      return "sync";
    case Durability::kInterval:
      return "interval";
    case Durability::kNone:
      return "none";
  }
  return "interval";
}

std::optional<DeletedItems> ParseDeletedItems(std::string_view text) {
  if (text == "stay_filtered") return DeletedItems::kStayFiltered;
  if (text == "recommend_again") return DeletedItems::kRecommendAgain;
  return std::nullopt;
}

std::optional<WhenPaused> ParseWhenPaused(std::string_view text) {
  if (text == "filter_learns") return WhenPaused::kFilterLearns;
  if (text == "filter_ignores") return WhenPaused::kFilterIgnores;
  return std::nullopt;
}

Json HistoryJson(const HistoryPolicy& history) {
  const bool again = history.deleted_items == DeletedItems::kRecommendAgain;
  const bool ignores = history.when_paused == WhenPaused::kFilterIgnores;
  return {{"enabled", history.enabled},
          {"ids_only", history.ids_only},
          {"days", history.days},
          {"max_entries", history.max_entries},
          {"deleted_items", again ? "recommend_again" : "stay_filtered"},
          {"when_paused", ignores ? "filter_ignores" : "filter_learns"}};
}

/// Reads the object a policy is, flat but for the object `history` in it, whose fields are told as
/// "history/days". Every event returns false to stop, `failure` set.
class PatchReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  PolicyPatch patch;
  Status failure;

  bool null() override { return WrongType("null"); }
  bool boolean(bool value) override {
    if (field_ == "served_is_seen") return Take(value, &patch.served_is_seen);
    if (field_ == "first_of_day") return Take(value, &patch.first_of_day);
    if (field_ == "history/enabled") return Take(value, &patch.history.enabled);
    if (field_ == "history/ids_only") return Take(value, &patch.history.ids_only);
    return WrongType("a boolean");
  }
  bool number_integer(number_integer_t value) override {
    if (value >= 0) return number_unsigned(static_cast<number_unsigned_t>(value));
    return Number() ? Fail("must not be negative") : WrongType("a number");
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!Number()) return WrongType("a number");
    if (field_ == "fpr") return Take(static_cast<double>(value), &patch.fpr);
    if (field_ == "max_filter_bytes") return Take(uint64_t{value}, &patch.max_filter_bytes);
    if (value > std::numeric_limits<uint32_t>::max()) return Fail("is out of range");
    const auto small = static_cast<uint32_t>(value);
    if (field_ == "window") return Take(small, &patch.window);
    if (field_ == "retention") return Take(small, &patch.retention);
    if (field_ == "history/days") return Take(small, &patch.history.days);
    if (field_ == "history/max_entries") return Take(small, &patch.history.max_entries);
    return Take(small, &patch.impressions);
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    if (inside_ && field_ == "fpr") return Take(value, &patch.fpr);
    return Number() ? Fail("must be a whole number") : WrongType("a number");
  }
  bool string(string_t& value) override {
    if (!inside_) return WrongType("a string");
    if (field_ == "bucket") {
      return Parse(ParseBucket(value), &patch.bucket,
                   "must be \"month\" or \"days:N\" with N from 1 to 366");
    }
    if (field_ == "representation") {
      return Parse(ParseRepresentation(value), &patch.representation,
                   "must be \"bloom\" or \"exact\"");
    }
    if (field_ == "durability") {
      return Parse(ParseDurability(value), &patch.durability,
                   "must be \"sync\", \"interval\" or \"none\"");
    }
    if (field_ == "max_future") {
      return Parse(ParseDuration(value), &patch.max_future_ms,
                   "must be a duration like \"24h\", \"90m\", \"30s\", \"500ms\" or \"7d\"");
    }
    if (field_ == "utc_offset") {
      return Parse(ParseOffset(value), &patch.utc_offset_minutes,
                   "must be like \"+08:00\", from -14:00 to +14:00");
    }
    if (field_ == "history/deleted_items") {
      return Parse(ParseDeletedItems(value), &patch.history.deleted_items,
                   "must be \"stay_filtered\" or \"recommend_again\"");
    }
    if (field_ == "history/when_paused") {
      return Parse(ParseWhenPaused(value), &patch.history.when_paused,
                   "must be \"filter_learns\" or \"filter_ignores\"");
    }
    return WrongType("a string");
  }
  bool binary(binary_t& /*value*/) override { return WrongType("binary data"); }
  bool start_object(size_t /*size*/) override {
    if (inside_ && (field_ != kHistory || in_history_)) return WrongType("an object");
    in_history_ = inside_;
    inside_ = true;
    return true;
  }
  bool key(string_t& name) override {
    field_ = in_history_ ? std::string(kHistory).append("/").append(name) : name;
    const auto is_it = [this](const char* field) { return field_ == field; };
    if (std::none_of(std::begin(kFields), std::end(kFields), is_it) ||
        (!in_history_ && name.find('/') != std::string::npos)) {
      return Fail("is not a field of a policy");
    }
    if (std::find(met_.begin(), met_.end(), field_) != met_.end()) return Fail("is repeated");
    met_.push_back(field_);
    return true;
  }
  bool end_object() override {
    if (in_history_) field_ = kHistory;
    in_history_ = false;
    return true;
  }
  bool start_array(size_t /*size*/) override { return WrongType("an array"); }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string& /*last_token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    // The parser's own words may quote bytes that are not UTF-8: they go no further.
    failure = Status::InvalidArgument("not valid JSON near byte " + std::to_string(position),
                                      field_.empty() ? std::string() : Pointer());
    return false;
  }

 private:
  static constexpr const char kHistory[] = "history";
  static constexpr const char* kFields[] = {"bucket",
                                            "window",
                                            "retention",
                                            "fpr",
                                            "impressions",
                                            "served_is_seen",
                                            "representation",
                                            "max_filter_bytes",
                                            "durability",
                                            "max_future",
                                            "utc_offset",
                                            "first_of_day",
                                            kHistory,
                                            "history/enabled",
                                            "history/ids_only",
                                            "history/days",
                                            "history/max_entries",
                                            "history/deleted_items",
                                            "history/when_paused"};

  bool Number() const {
    return field_ == "window" || field_ == "retention" || field_ == "fpr" ||
           field_ == "impressions" || field_ == "max_filter_bytes" || field_ == "history/days" ||
           field_ == "history/max_entries";
  }
  /// Where the current field is.
  std::string Pointer() const {
    const size_t name = in_history_ ? sizeof(kHistory) : 0;
    return in_history_ && field_.size() >= name
               ? PointerTo(kHistory) + PointerTo(std::string_view(field_).substr(name))
               : PointerTo(field_);
  }
  bool Fail(const std::string& what) {
    failure = Status::InvalidArgument(field_ + " " + what, Pointer());
    return false;
  }
  bool WrongType(const char* given) {
    if (inside_) return Fail(std::string("can't be ") + given);
    failure = Status::InvalidArgument(std::string("a policy is a JSON object, not ") + given);
    return false;
  }
  template <typename T>
  bool Take(T value, std::optional<T>* to) {
    *to = value;
    return true;
  }
  template <typename T>
  bool Parse(const std::optional<T>& parsed, std::optional<T>* to, const char* rule) {
    if (!parsed) return Fail(rule);
    *to = parsed;
    return true;
  }

  bool inside_ = false;
  bool in_history_ = false;
  std::string field_;  ///< empty until the first is met
  std::vector<std::string> met_;
};

/// Limits of each field given, whatever the others will be.
Status ValidatePatch(const PolicyPatch& patch) {
  Policy policy = ApplyPatch(Policy(), patch);
  if (!patch.retention && patch.window) policy.retention = 128;
  if (!patch.window) policy.window = 1;
  return ValidatePolicy(policy);
}

}  // namespace

std::string PolicyToJson(const Policy& policy) {
  Json json;
  json["bucket"] = BucketText(policy.bucket);
  json["window"] = policy.window;
  json["retention"] = policy.retention;
  json["fpr"] = policy.fpr;
  json["impressions"] = policy.impressions;
  json["served_is_seen"] = policy.served_is_seen;
  json["representation"] = policy.representation == Representation::kExact ? "exact" : "bloom";
  json["max_filter_bytes"] = policy.max_filter_bytes;
  json["durability"] = DurabilityText(policy.durability);
  json["max_future"] = DurationText(policy.max_future_ms);
  json["utc_offset"] = OffsetText(policy.utc_offset_minutes);
  // What says nothing is left out: versions that don't know it read such a policy.
  if (!(policy.history == HistoryPolicy())) json["history"] = HistoryJson(policy.history);
  if (policy.first_of_day) json["first_of_day"] = true;
  return json.dump();
}

Result<PolicyPatch> PolicyPatchFromJson(std::string_view json) {
  PatchReader reader;
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &reader)) return reader.failure;
  if (Status s = ValidatePatch(reader.patch); !s.ok()) return s;
  return reader.patch;
}

}  // namespace seendb
