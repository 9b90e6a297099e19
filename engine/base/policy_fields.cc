#include "base/policy_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/duration_text.h"
#include "base/durations.h"
#include "base/policy_lists.h"

namespace seendb {
namespace {

using Json = nlohmann::ordered_json;
using Kind = PolicyField::Kind;

constexpr int64_t kMaxFutureMs = 366 * kMsPerDay;
constexpr int32_t kMaxOffsetMinutes = 14 * 60;
constexpr int64_t kMaxBucketDays = 366;

// -- Values. A codec has `Value`, `kKind`, Rule(), Valid(), Write() and Read(), which gives nothing
// for what can't be a `Value`; Valid() then checks the limits.

/// The digits at the front of `*text`, removed from it; nothing where there are none or too many.
std::optional<int64_t> TakeNumber(std::string_view* text) {
  int64_t value = 0;
  if (text->empty() || text->front() < '0' || text->front() > '9') return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return value;
}

struct Flag {
  using Value = bool;
  static constexpr Kind kKind = Kind::kBoolean;
  static std::string Rule() { return "must be true or false"; }
  static bool Valid(bool) { return true; }
  static Json Write(bool value) { return value; }
  static std::optional<bool> Read(const FieldValue& value) { return std::get<bool>(value); }
};

template <typename T, T kMin, T kMax>
struct Whole {
  using Value = T;
  static constexpr Kind kKind = Kind::kWhole;
  static std::string Rule() {
    return "must be from " + std::to_string(kMin) + " to " + std::to_string(kMax);
  }
  static bool Valid(T value) { return value >= kMin && value <= kMax; }
  static Json Write(T value) { return value; }
  static std::optional<T> Read(const FieldValue& value) {
    const uint64_t number = std::get<uint64_t>(value);
    if (number > std::numeric_limits<T>::max()) return std::nullopt;
    return static_cast<T>(number);
  }
};
template <uint32_t kMin, uint32_t kMax>
using Count = Whole<uint32_t, kMin, kMax>;

struct FilterBytes : Whole<uint64_t, kMinFilterBytes, kMaxFilterBytes> {
  static std::string Rule() {
    return "must be 0 or from " + std::to_string(kMinFilterBytes) + " to " +
           std::to_string(kMaxFilterBytes);
  }
  static bool Valid(uint64_t bytes) { return bytes == 0 || Whole::Valid(bytes); }
};

struct Fpr {
  using Value = double;
  static constexpr Kind kKind = Kind::kFraction;
  static std::string Rule() { return "must be from 0.000001 to 0.5"; }
  static bool Valid(double fpr) { return fpr >= 1e-6 && fpr <= 0.5; }
  static Json Write(double fpr) { return fpr; }
  static std::optional<double> Read(const FieldValue& value) { return std::get<double>(value); }
};

struct LeastShare {
  using Value = double;
  static constexpr Kind kKind = Kind::kFraction;
  static std::string Rule() { return "must be from 0.1 to 1"; }
  static bool Valid(double share) { return share >= 0.1 && share <= 1; }
  static Json Write(double share) { return share; }
  static std::optional<double> Read(const FieldValue& value) { return std::get<double>(value); }
};

/// "month" or "days:10".
struct BucketText {
  using Value = BucketSpec;
  static constexpr Kind kKind = Kind::kText;
  static std::string Rule() { return "must be \"month\" or \"days:N\" with N from 1 to 366"; }
  static bool Valid(const BucketSpec& bucket) {
    if (bucket.kind == BucketKind::kMonth) return bucket.days == 0;
    return bucket.kind == BucketKind::kDays && bucket.days >= 1 && bucket.days <= kMaxBucketDays;
  }
  static Json Write(const BucketSpec& bucket) {
    if (bucket.kind == BucketKind::kMonth) return "month";
    return "days:" + std::to_string(bucket.days);
  }
  static std::optional<BucketSpec> Read(const FieldValue& value) {
    constexpr std::string_view kDaysPrefix = "days:";
    auto text = std::get<std::string_view>(value);
    if (text == "month") return BucketSpec{};
    if (!text.starts_with(kDaysPrefix)) return std::nullopt;
    text.remove_prefix(kDaysPrefix.size());
    const bool leading_zero = text.starts_with('0');
    const std::optional<int64_t> days = TakeNumber(&text);
    if (!days || !text.empty() || leading_zero || *days > kMaxBucketDays) return std::nullopt;
    return BucketSpec{BucketKind::kDays, static_cast<uint16_t>(*days)};
  }
};

/// Milliseconds as "24h", "90m", "30s", "500ms" or "7d".
struct Duration {
  using Value = int64_t;
  static constexpr Kind kKind = Kind::kText;
  static std::string Rule() {
    return "must be a duration like \"24h\", \"90m\", \"30s\", \"500ms\" or \"7d\", from 0 to 366 "
           "days";
  }
  static bool Valid(int64_t ms) { return ms >= 0 && ms <= kMaxFutureMs; }
  static Json Write(int64_t ms) { return DurationText(ms); }
  static std::optional<int64_t> Read(const FieldValue& value) {
    return DurationOfText(std::get<std::string_view>(value));
  }
};

/// Minutes as "+08:00" or "-03:30".
struct UtcOffset {
  using Value = int32_t;
  static constexpr Kind kKind = Kind::kText;
  static std::string Rule() { return "must be like \"+08:00\", from -14:00 to +14:00"; }
  static bool Valid(int32_t minutes) {
    return minutes >= -kMaxOffsetMinutes && minutes <= kMaxOffsetMinutes;
  }
  static Json Write(int32_t minutes) {
    const unsigned size = static_cast<unsigned>(minutes < 0 ? -minutes : minutes);
    char text[16];
    std::snprintf(text, sizeof(text), "%c%02u:%02u", minutes < 0 ? '-' : '+', size / 60, size % 60);
    return text;
  }
  static std::optional<int32_t> Read(const FieldValue& value) {
    const auto text = std::get<std::string_view>(value);
    const auto digit = [&](size_t i) { return text[i] >= '0' && text[i] <= '9'; };
    if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':' || !digit(1) ||
        !digit(2) || !digit(4) || !digit(5)) {
      return std::nullopt;
    }
    const int hours = (text[1] - '0') * 10 + (text[2] - '0');
    const int minutes = (text[4] - '0') * 10 + (text[5] - '0');
    if (minutes > 59) return std::nullopt;
    return (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
  }
};

/// The names of an enumeration's values.
template <typename Enum, size_t kSize>
using Names = std::array<std::pair<Enum, std::string_view>, kSize>;

constexpr Names<Representation, 2> kRepresentations = {
    {{Representation::kBloom, "bloom"}, {Representation::kExact, "exact"}}};
constexpr Names<Durability, 3> kDurabilities = {{{Durability::kSync, "sync"},
                                                 {Durability::kInterval, "interval"},
                                                 {Durability::kNone, "none"}}};
constexpr Names<DeletedItems, 2> kDeletedItems = {
    {{DeletedItems::kStayFiltered, "stay_filtered"},
     {DeletedItems::kRecommendAgain, "recommend_again"}}};
constexpr Names<WhenPaused, 2> kWhenPaused = {
    {{WhenPaused::kFilterLearns, "filter_learns"}, {WhenPaused::kFilterIgnores, "filter_ignores"}}};

constexpr Names<VerifyOnLoad, 2> kVerifyOnLoad = {
    {{VerifyOnLoad::kKeep, "keep"}, {VerifyOnLoad::kDrop, "drop"}}};

template <const auto& kNames>
struct Named {
  using Value = std::remove_const_t<decltype(kNames[0].first)>;
  static constexpr Kind kKind = Kind::kText;
  static std::string Rule() {
    std::string rule = "must be ";
    for (size_t i = 0; i < kNames.size(); ++i) {
      if (i > 0) rule.append(i + 1 < kNames.size() ? ", " : " or ");
      rule.append("\"").append(kNames[i].second).append("\"");
    }
    return rule;
  }
  static bool Valid(Value value) { return Find(value) != nullptr; }
  static Json Write(Value value) {
    const auto* const found = Find(value);
    return found == nullptr ? kNames[0].second : found->second;
  }
  static std::optional<Value> Read(const FieldValue& text) {
    for (const auto& [value, name] : kNames) {
      if (name == std::get<std::string_view>(text)) return value;
    }
    return std::nullopt;
  }

 private:
  static const std::pair<Value, std::string_view>* Find(Value value) {
    const auto is_it = [&](const auto& one) { return one.first == value; };
    const auto* const found = std::find_if(kNames.begin(), kNames.end(), is_it);
    return found == kNames.end() ? nullptr : found;
  }
};

// -- Rows

template <auto kMember>
struct Of {
  static auto& In(auto& policy) { return policy.*kMember; }
};
template <auto kMember>
struct OfHistory {
  static auto& In(auto& policy) { return policy.history.*kMember; }
};
template <auto kMember>
struct OfLoad {
  static auto& In(auto& policy) { return policy.on_load.*kMember; }
};
template <auto kMember>
struct OfExposures {
  static auto& In(auto& policy) { return policy.exposures.*kMember; }
};

/// How a field behaves besides its value.
struct Nature {
  bool fixed = false;
  bool omitted_default = false;
};
constexpr Nature kFixed{.fixed = true};
/// For what came later: software that does not know the field reads a policy without it.
constexpr Nature kOmittedDefault{.omitted_default = true};

template <typename Codec, typename Member, typename Patch>
constexpr PolicyField Row(std::string_view name, Nature nature) {
  return {.name = name,
          .kind = Codec::kKind,
          .fixed = nature.fixed,
          .omitted_default = nature.omitted_default,
          .rule = &Codec::Rule,
          .valid = [](const Policy& policy) { return Codec::Valid(Member::In(policy)); },
          .is_default =
              [](const Policy& policy) {
                const Policy defaults;
                return Member::In(policy) == Member::In(defaults);
              },
          .changes =
              [](const PolicyPatch& patch, const Policy& policy) {
                const auto& given = Patch::In(patch);
                return given.has_value() && !(*given == Member::In(policy));
              },
          .apply =
              [](const PolicyPatch& patch, Policy* policy) {
                if (const auto& given = Patch::In(patch)) Member::In(*policy) = *given;
              },
          .write = [](const Policy& policy) { return Codec::Write(Member::In(policy)); },
          .read =
              [](const FieldValue& value, PolicyPatch* patch) {
                const std::optional<typename Codec::Value> read = Codec::Read(value);
                if (!read || !Codec::Valid(*read)) return false;
                Patch::In(*patch) = *read;
                return true;
              }};
}

/// The row of a member that is a list: an object or an array.
template <typename Codec, Kind kKind, auto kMember, auto kPatch>
constexpr PolicyField ListField(std::string_view name) {
  return {.name = name,
          .kind = kKind,
          .fixed = false,
          .omitted_default = true,
          .rule = &Codec::Rule,
          .valid = [](const Policy& policy) { return Codec::Check(policy.*kMember).ok(); },
          .is_default = [](const Policy& policy) { return (policy.*kMember).empty(); },
          .changes =
              [](const PolicyPatch& patch, const Policy& policy) {
                const auto& given = patch.*kPatch;
                return given.has_value() && *given != policy.*kMember;
              },
          .apply =
              [](const PolicyPatch& patch, Policy* policy) {
                if (const auto& given = patch.*kPatch) policy->*kMember = *given;
              },
          .write = [](const Policy& policy) { return Codec::Write(policy.*kMember); },
          .read = [](const FieldValue&, PolicyPatch*) { return false; },
          .read_parts =
              [](const Json& json, PolicyPatch* patch) {
                return Codec::Read(json, &(patch->*kPatch).emplace());
              },
          .check_parts = [](const Policy& policy) { return Codec::Check(policy.*kMember); }};
}

template <typename Codec, auto kMember, auto kPatch>
constexpr PolicyField Field(std::string_view name, Nature nature = {}) {
  return Row<Codec, Of<kMember>, Of<kPatch>>(name, nature);
}
template <typename Codec, auto kMember, auto kPatch>
constexpr PolicyField HistoryField(std::string_view name) {
  return Row<Codec, OfHistory<kMember>, OfHistory<kPatch>>(name, kOmittedDefault);
}
template <typename Codec, auto kMember, auto kPatch>
constexpr PolicyField LoadField(std::string_view name) {
  return Row<Codec, OfLoad<kMember>, OfLoad<kPatch>>(name, kOmittedDefault);
}
template <typename Codec, auto kMember, auto kPatch>
constexpr PolicyField ExposuresField(std::string_view name) {
  return Row<Codec, OfExposures<kMember>, OfExposures<kPatch>>(name, kOmittedDefault);
}

using P = Policy;
using Q = PolicyPatch;
using H = HistoryPolicy;
using G = HistoryPatch;

constexpr PolicyField kFields[] = {
    Field<BucketText, &P::bucket, &Q::bucket>("bucket", kFixed),
    Field<Count<1, 128>, &P::window, &Q::window>("window", kFixed),
    Field<Count<1, 128>, &P::retention, &Q::retention>("retention"),
    Field<Fpr, &P::fpr, &Q::fpr>("fpr", kFixed),
    Field<Count<0, 10'000>, &P::impressions, &Q::impressions>("impressions"),
    Field<Flag, &P::served_is_seen, &Q::served_is_seen>("served_is_seen"),
    Field<Named<kRepresentations>, &P::representation, &Q::representation>("representation",
                                                                           kFixed),
    Field<FilterBytes, &P::max_filter_bytes, &Q::max_filter_bytes>("max_filter_bytes"),
    Field<Named<kDurabilities>, &P::durability, &Q::durability>("durability"),
    Field<Duration, &P::max_future_ms, &Q::max_future_ms>("max_future"),
    Field<UtcOffset, &P::utc_offset_minutes, &Q::utc_offset_minutes>("utc_offset", kFixed),
    HistoryField<Flag, &H::enabled, &G::enabled>("history/enabled"),
    HistoryField<Flag, &H::ids_only, &G::ids_only>("history/ids_only"),
    HistoryField<Count<1, 3'660>, &H::days, &G::days>("history/days"),
    HistoryField<Count<1, 1'000'000>, &H::max_entries, &G::max_entries>("history/max_entries"),
    HistoryField<Named<kDeletedItems>, &H::deleted_items, &G::deleted_items>(
        "history/deleted_items"),
    HistoryField<Named<kWhenPaused>, &H::when_paused, &G::when_paused>("history/when_paused"),
    Field<Flag, &P::first_of_day, &Q::first_of_day>("first_of_day", kOmittedDefault),
    Field<Flag, &P::impression_ids, &Q::impression_ids>("impression_ids", kOmittedDefault),
    LoadField<LeastShare, &LoadPolicy::min_share, &LoadPatch::min_share>("on_load/min_share"),
    LoadField<Named<kVerifyOnLoad>, &LoadPolicy::verify, &LoadPatch::verify>("on_load/verify"),
    ExposuresField<Count<1, 10'000>, &ExposurePolicy::recent, &ExposurePatch::recent>(
        "exposures/recent"),
    ExposuresField<Count<1, 3'660>, &ExposurePolicy::days, &ExposurePatch::days>("exposures/days"),
    Field<Flag, &P::exposed_is_seen, &Q::exposed_is_seen>("exposed_is_seen", kOmittedDefault),
    ListField<CountedKinds, Kind::kObject, &P::counts, &Q::counts>("counts"),
    ListField<PolicyCaps, Kind::kArray, &P::caps, &Q::caps>("caps"),
};

// -- A member without a row does not compile.

struct Anything {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor): it stands for any member's value
};

template <typename T, size_t... kIndex>
consteval bool IsMadeFrom(std::index_sequence<kIndex...> /*members*/) {
  return requires { T{(static_cast<void>(kIndex), Anything{})...}; };
}

template <typename T, size_t kCount = 0>
consteval size_t MembersOf() {
  if constexpr (IsMadeFrom<T>(std::make_index_sequence<kCount + 1>())) {
    return MembersOf<T, kCount + 1>();
  } else {
    return kCount;
  }
}

static_assert(std::size(kFields) == MembersOf<Policy>() - 3 + MembersOf<HistoryPolicy>() +
                                        MembersOf<LoadPolicy>() + MembersOf<ExposurePolicy>(),
              "a field of Policy (or of an object in it) has no row");

}  // namespace

Status PolicyField::Refusal(const Status& why) const {
  const std::string path = std::string(name).append(why.field());
  return Status(why.code(), path + " " + std::string(why.message()), "/" + path);
}

std::span<const PolicyField> PolicyFields() { return kFields; }

}  // namespace seendb
