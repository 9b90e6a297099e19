#include "wire/filter_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>

#include "wire/caps_json.h"
#include "wire/exposures_json.h"
#include "wire/item_rules_json.h"
#include "wire/json_text.h"
#include "wire/repeats_json.h"

namespace seendb::wire {
namespace {

enum FilterField : size_t {
  kUserField,
  kItemsField,
  kCollectionField,
  kFactsField,
  kLimitField,
  kExcludeField,
  kExplainField,
  kOnErrorField,
  kDeadlineField,
  kRecordField,
  kVerifyField,
  kInvalidField,
  kNotField,
  kWhenShortField,
  kWhereField,
  kAtMostField,
  kUnknownField,
  kItemFieldsField,
  kCapsField,
  kSetsField,
  kCollectionsField,
};
constexpr std::array<std::string_view, 21> kFields = {
    "user",     "items",       "collection", "facts",  "limit",   "exclude",      "explain",
    "on_error", "deadline_ms", "record",     "verify", "invalid", "not",          "when_short",
    "where",    "at_most",     "unknown",    "fields", "caps",    "exclude_sets", "collections"};

// What stands for no id is left out. `*refusal` is that of the first, for who does not want that:
// whether it may be left out can come behind it.
struct IdsReading {
  std::vector<IdRef>* ids;
  std::vector<std::string_view>* tokens;  // may be null
  std::vector<uint32_t>* no_ids;          // may be null
  GroupsReader* groups;                   // null: ids alone
  Status* refusal;
};

bool IsObject(ondemand::value& value) { return *value.raw_json_token().data() == '{'; }

Status ReadIds(ondemand::value value, const char* name, size_t max_ids, const IdsReading& into) {
  std::string_view token;
  return ReadElements(value, max_ids, "ids", [&](size_t position, ondemand::value item) {
    IdRef id;
    bool no_id = false;
    Status status = into.groups != nullptr && IsObject(item)
                        ? into.groups->Read(item, into.ids->size(), &id, &token, &no_id)
                        : ReadId(item, &id, &token, &no_id);
    if (no_id) {
      if (into.no_ids != nullptr) into.no_ids->push_back(static_cast<uint32_t>(position));
      if (into.refusal->ok()) {
        *into.refusal = Within(std::move(status), PointerTo(name) + "/" + std::to_string(position));
      }
      return Status::Ok();
    }
    if (!status.ok()) return status;
    into.ids->push_back(id);
    if (into.tokens != nullptr) into.tokens->push_back(token);
    return Status::Ok();
  });
}

Status ReadFacts(ondemand::value value, uint8_t* facts) {
  *facts = 0;
  Status status = ReadElements(value, SIZE_MAX, "facts", [&](size_t, ondemand::value item) {
    std::string_view name;
    if (Status read = ReadText(item, &name); !read.ok()) return read;
    if (name != "plays" && name != "impressions") {
      return Status::InvalidArgument("must be \"plays\" or \"impressions\"");
    }
    *facts = static_cast<uint8_t>(*facts | (name == "plays" ? kFactPlays : kFactImpressions));
    return Status::Ok();
  });
  if (*facts == 0) *facts = kFactsAll;  // generated clients send an empty list for none
  return status;
}

Status ReadLimit(ondemand::value value, uint32_t* limit) {
  uint64_t number = 0;
  if (Status status = ReadUint(value, &number); !status.ok()) return status;
  if (number == 0) return Status::InvalidArgument("must be at least 1");
  *limit = static_cast<uint32_t>(std::min<uint64_t>(number, UINT32_MAX));
  return Status::Ok();
}

Status ReadOnError(ondemand::value value, OnError* on_error) {
  std::string_view text;
  if (Status status = ReadText(value, &text); !status.ok()) return status;
  if (text != "degrade" && text != "fail") {
    return Status::InvalidArgument("must be \"degrade\" or \"fail\"");
  }
  *on_error = text == "fail" ? OnError::kFail : OnError::kDegrade;
  return Status::Ok();
}

Status ReadInvalid(ondemand::value value, bool* skip) {
  std::string_view text;
  if (Status status = ReadText(value, &text); !status.ok()) return status;
  if (text != "refuse" && text != "skip") {
    return Status::InvalidArgument("must be \"refuse\" or \"skip\"");
  }
  *skip = text == "skip";
  return Status::Ok();
}

Status ReadDeadline(ondemand::value value, int64_t* deadline_us) {
  uint64_t ms = 0;
  if (Status status = ReadUint(value, &ms); !status.ok()) return status;
  *deadline_us = DeadlineUs(ms);
  return Status::Ok();
}

Status ReadField(size_t field, ondemand::value value, size_t max_candidates, FilterCall* call,
                 Status* refusal) {
  FilterRequest& request = call->request;
  std::string_view token;
  switch (field) {
    case kUserField:
      return ReadId(value, &request.user, &token);
    case kItemsField:
      return ReadIds(value, "items", max_candidates,
                     {&call->items, &call->tokens, &call->no_ids, &call->groups_read, refusal});
    case kCollectionField:
      return ReadText(value, &request.collection);
    case kFactsField:
      return ReadFacts(value, &request.facts);
    case kLimitField:
      return ReadLimit(value, &request.limit);
    case kExcludeField:
      call->has_exclude = true;
      return ReadIds(value, "exclude", max_candidates,
                     {&call->exclude, nullptr, nullptr, nullptr, refusal});
    case kExplainField:
      return ReadBool(value, &request.explain);
    case kOnErrorField:
      return ReadOnError(value, &request.on_error);
    case kDeadlineField:
      return ReadDeadline(value, &request.deadline_us);
    case kRecordField:
      return ReadBool(value, &request.record);
    case kVerifyField:
      return ReadBool(value, &request.verify);
    case kNotField:
      return ReadNot(value, &call->no);
    case kWhenShortField:
      return ReadWhenShort(value, &call->when_short.emplace());
    case kWhereField:
      return ReadWhere(value, &call->rules.where);
    case kAtMostField:
      return ReadAtMost(value, &call->rules.at_most);
    case kUnknownField:
      return ReadUnknown(value, &call->rules.drop_unknown);
    case kItemFieldsField:
      return ReadItemNames(value, &call->fields);
    case kCapsField:
      return ReadCaps(value, &call->caps);
    case kSetsField:
      call->has_exclude = true;
      return ReadSetNames(value, &call->sets);
    case kCollectionsField:
      return ReadElements(value, kMaxUnitedCollections, "collections",
                          [&](size_t, ondemand::value name) {
                            return ReadText(name, &call->collections.emplace_back());
                          });
    default:
      return ReadInvalid(value, &call->skips_invalid);
  }
}

void AppendNumber(uint64_t number, std::string* out) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  out->append(digits, static_cast<size_t>(end - digits));
}

void AppendReason(const FilterCall& call, const Reason& reason, const Policy& own_policy,
                  std::string* out) {
  const Policy& policy =
      reason.collection == 0 ? own_policy : *call.policies[reason.collection - 1u];
  switch (reason.kind) {
    case ReasonKind::kImpression:
      out->append("\"impression\"");
      return;
    case ReasonKind::kRing:
      out->append("\"ring\"");
      return;
    case ReasonKind::kRefutedImpression:
      out->append("\"refuted:impression\"");
      return;
    case ReasonKind::kExposed:
      out->append("\"exposed\"");
      return;
    case ReasonKind::kMarked:
      return AppendJsonString(std::string("mark:").append(reason.group), out);
    case ReasonKind::kJudged:
      if (reason.rule == kItemUnknownRule) {
        out->append("\"unknown\"");
      } else {
        out->append("\"where:").append(std::to_string(reason.rule - 1)).append("\"");
      }
      return;
    case ReasonKind::kTooMany:
      return AppendJsonString("at_most:" + call.rules.at_most.field, out);
    case ReasonKind::kSame:
      return AppendJsonString(std::string("same:").append(reason.group), out);
    case ReasonKind::kCapped:
      return AppendJsonString(std::string("cap:").append(reason.group), out);
    case ReasonKind::kInSet:
      return AppendJsonString(std::string("set:").append(reason.group), out);
    case ReasonKind::kOldStore:
      out->append("\"old_store\"");
      return;
    case ReasonKind::kRefuted:
      out->append("\"refuted:").append(BucketLabel(policy, reason.bucket_index)).append("\"");
      return;
    default:
      out->append("\"play:").append(BucketLabel(policy, reason.bucket_index)).append("\"");
      return;
  }
}

// Ids as they came.
void AppendTokens(const FilterCall& call, std::span<const uint32_t> positions, std::string* out) {
  char before = '[';
  for (const uint32_t position : positions) {
    out->push_back(before);
    out->append(call.tokens[position]);
    before = ',';
  }
  out->append(positions.empty() ? "[]" : "]");
}

// How many that stand for no id lie among the first candidates, of which `examined` are ids.
size_t InvalidWithin(const FilterCall& call, size_t examined) {
  size_t invalid = 0;
  while (invalid < call.no_ids.size() && call.no_ids[invalid] <= examined + invalid) ++invalid;
  return invalid;
}

/// One member an item seen, refuted or dropped by a rule, keyed by its text; an item asked twice is
/// explained once.
void AppendReasons(const FilterCall& call, const FilterResponse& response, const Policy& policy,
                   std::string* out) {
  std::set<std::string> said;
  out->append(",\"reasons\":{");
  for (size_t i = 0; i < response.reasons.size(); ++i) {
    const Reason& reason = response.reasons[i];
    if (reason.kind == ReasonKind::kUnseen || reason.kind == ReasonKind::kExcluded) continue;
    if (!said.insert(call.items[i].ToString()).second) continue;
    if (said.size() > 1) out->push_back(',');
    AppendIdKey(call.tokens[i], out);
    AppendReason(call, reason, policy, out);
  }
  out->push_back('}');
}

}  // namespace

int64_t DeadlineUs(uint64_t ms) {
  constexpr uint64_t kMaxMs = 24ULL * 3'600'000;
  return ms > kMaxMs ? 0 : std::max<int64_t>(1, static_cast<int64_t>(ms) * 1'000);
}

Status ParseFilter(std::string_view body, size_t max_candidates, JsonDocument* document,
                   FilterCall* call) {
  call->request = FilterRequest();
  call->items.clear();
  call->exclude.clear();
  call->tokens.clear();
  call->no_ids.clear();
  call->collections.clear();
  call->policies.clear();
  call->no.clear();
  call->caps.clear();
  call->sets.clear();
  call->groups_read.Clear();
  call->when_short.reset();
  call->rules = {};
  call->fields.clear();
  call->has_exclude = false;
  call->skips_invalid = false;
  Status refusal;
  FieldSet fields(kFields);
  Status status = ReadObject(body, document, &fields, [&](size_t field, ondemand::value value) {
    return ReadField(field, value, max_candidates, call, &refusal);
  });
  if (status.ok()) status = fields.Require(kUserField);
  if (status.ok()) status = fields.Require(kItemsField);
  if (status.ok() && !call->skips_invalid) status = std::move(refusal);
  if (!status.ok()) return status;
  // Generated clients send an empty list for none.
  if (!call->no.empty() && fields.Has(kFactsField)) {
    return Status::InvalidArgument("says what counts; leave facts out", "/not");
  }
  call->groups_read.Finish(call->items.size(), &call->groups);
  call->question = Question{.no = call->no,
                            .groups = call->groups,
                            .when_short = call->when_short,
                            .caps = call->caps,
                            .exclude_sets = call->sets};
  const bool asked = !call->no.empty() || !call->groups.empty() || call->when_short ||
                     !call->caps.empty() || !call->sets.empty();
  if (asked) call->request.question = &call->question;
  call->request.items = call->items;
  call->request.collections = call->collections;
  call->request.exclude = call->exclude;
  return Status::Ok();
}

bool AsksItems(const FilterCall& call) {
  const ItemRules& rules = call.rules;
  return !rules.where.empty() || !rules.at_most.field.empty() || rules.drop_unknown ||
         !call.fields.empty();
}

void AppendIdKey(std::string_view token, std::string* out) {
  const bool text = token.front() == '"';
  if (!text) out->push_back('"');
  out->append(token).append(text ? ":" : "\":");
}

void AppendFilterAnswer(const FilterCall& call, const FilterResponse& response,
                        const Policy& policy, std::string_view more, std::string* out) {
  size_t bytes = 128;
  for (const std::vector<uint32_t>* returned : {&response.unseen, &response.repeats}) {
    for (const uint32_t index : *returned) bytes += call.tokens[index].size() + 1;
  }
  out->reserve(out->size() + bytes);
  out->append("{\"unseen\":");
  AppendTokens(call, response.unseen, out);
  if (call.when_short) {
    out->append(",\"repeats\":");
    AppendTokens(call, response.repeats, out);
  }
  out->append(",\"seen\":");
  AppendNumber(response.seen, out);
  if (call.has_exclude || call.request.judge != nullptr || !call.caps.empty()) {
    out->append(",\"excluded\":");
    AppendNumber(response.excluded, out);
  }
  if (response.duplicates > 0) {
    out->append(",\"duplicates\":");
    AppendNumber(response.duplicates, out);
  }
  const size_t invalid = InvalidWithin(call, response.examined);
  if (invalid > 0) {
    out->append(",\"invalid\":");
    AppendNumber(invalid, out);
  }
  out->append(",\"examined\":");
  AppendNumber(response.examined + invalid, out);
  AppendUnseenShare(response.unseen.size(), response.examined + invalid, out);
  if (call.request.verify) {
    out->append(",\"refuted\":");
    AppendNumber(response.refuted, out);
  }
  if (!call.groups.empty()) {
    out->append(",\"undated\":");
    AppendNumber(response.undated, out);
  }
  out->append(response.degraded ? ",\"degraded\":true" : ",\"degraded\":false");
  if (response.degraded) {
    out->append(",\"missing\":[");
    for (size_t i = 0; i < response.missing.size(); ++i) {
      if (i > 0) out->push_back(',');
      AppendJsonString(response.missing[i], out);
    }
    out->push_back(']');
  }
  AppendFactsTold(response.coarse, response.beyond, out);
  if (call.request.record && !response.recorded) out->append(",\"recorded\":false");
  if (response.beyond_cap > 0) {
    out->append(",\"beyond_cap\":");
    AppendNumber(response.beyond_cap, out);
  }
  if (call.request.explain) AppendReasons(call, response, policy, out);
  out->append(more);
  out->push_back('}');
}

}  // namespace seendb::wire
