#include "api/filter_items.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "wire/items_json.h"

namespace seendb::api {
namespace {

/// Values that an I/O thread tells by itself.
constexpr size_t kValuesToldInline = 4'096;

std::string FirstAskedMember(const wire::FilterCall& call) {
  if (!call.rules.where.empty()) return "/where";
  if (!call.rules.at_most.field.empty()) return "/at_most";
  return call.rules.drop_unknown ? "/unknown" : "/fields";
}

/// Why the store could not be asked any more, for who asks a schema that was just changed.
Status LostFields(const Status& why) {
  if (why.code() == StatusCode::kClosed) return why;
  return Status::Unavailable("the schema of items was changed meanwhile: " +
                             std::string(why.message()));
}

}  // namespace

Status FilterItems::Begin(const Context& context, wire::FilterCall* call) {
  asks_ = wire::AsksItems(*call);
  if (asks_) {
    if (Status begun = BeginRules(context, call); !begun.ok()) return begun;
  }
  if (!context.items.has_groups() || context.router != nullptr) return {};
  asks_ = true;
  const Result<ItemDoor::Opened> opened = context.items.Use();
  return opened.ok() ? FillGroups(*opened, call) : opened.status();
}

Status FilterItems::BeginRules(const Context& context, wire::FilterCall* call) {
  if (context.router != nullptr) {
    return Status::Incompatible("nodes of a cluster don't have items yet", FirstAskedMember(*call));
  }
  const Result<ItemDoor::Opened> opened = context.items.Use();
  if (!opened.ok()) return opened.status().WithFieldPrefix(FirstAskedMember(*call));
  for (size_t i = 0; i < call->fields.size(); ++i) {
    if (opened->types->contains(call->fields[i])) continue;
    return Status::InvalidArgument("the schema has no field " + call->fields[i],
                                   "/fields/" + std::to_string(i));
  }
  store_ = opened->store;
  const ItemRules& rules = call->rules;
  if (rules.where.empty() && rules.at_most.field.empty() && !rules.drop_unknown) return {};
  Result<std::unique_ptr<ItemJudge>> made = ItemJudge::Make(*store_, rules);
  if (!made.ok()) return made.status();
  judge_ = std::move(made).value();
  call->request.judge = judge_.get();
  return {};
}

Status FilterItems::FillGroups(const ItemDoor::Opened& opened, wire::FilterCall* call) {
  std::vector<std::string> fields;
  // The place in `fields` of such a field, if there is one.
  const auto ask = [&](std::string_view name, ItemFieldType type) -> std::optional<size_t> {
    const auto field = opened.types->find(name);
    if (field == opened.types->end() || field->second != type) return {};
    fields.emplace_back(name);
    return fields.size() - 1;
  };
  const std::optional<size_t> of_place = ask(ItemDoor::kGroupsField, ItemFieldType::kTextList);
  const std::optional<size_t> same_place = ask(ItemDoor::kSameField, ItemFieldType::kTextList);
  const std::optional<size_t> time_place = ask(ItemDoor::kTimeField, ItemFieldType::kI64);
  struct Own {
    size_t candidate;
    bool same;
    size_t first, count;  // of groups_
  };
  std::vector<Own> owns;
  const bool none_sent = call->groups.empty();
  call->groups.resize(call->items.size());
  const Status read = opened.store->Visit(call->items, fields, [&](size_t i, const ItemView& item) {
    CandidateGroups& candidate = call->groups[i];
    if (time_place && !candidate.at_ms) {
      if (const auto at = item.Field(*time_place)) candidate.at_ms = at->number;
    }
    const size_t sent = candidate.of.size() + candidate.same_as.size();
    size_t room = kMaxCandidateGroups - std::min(kMaxCandidateGroups, sent);
    const auto take = [&](const std::optional<size_t>& place, bool same) {
      const auto names = place ? item.Field(*place) : std::nullopt;
      if (!names || names->type != ItemFieldType::kTextList) return;
      const size_t first = groups_.size();
      names->ForEachText([&](std::string_view group) {
        if (group.empty() || group.size() > kMaxGroupBytes || room == 0) return;
        --room;
        groups_.push_back(*texts_.emplace(group).first);
      });
      owns.push_back({i, same, first, groups_.size() - first});
    };
    // Groups that make an item seen must not be pushed out by those that it is counted by.
    if (candidate.same_as.empty()) take(same_place, true);
    if (candidate.of.empty()) take(of_place, false);
  });
  if (!read.ok()) return LostFields(read);
  if (none_sent && groups_.empty()) {
    call->groups.clear();
    return {};
  }
  for (const Own& own : owns) {
    CandidateGroups& candidate = call->groups[own.candidate];
    (own.same ? candidate.same_as : candidate.of) =
        std::span(groups_).subspan(own.first, own.count);
  }
  call->question.groups = call->groups;
  call->request.question = &call->question;
  return {};
}

bool FilterItems::TellsMuch(const wire::FilterCall& call) {
  const size_t limit = call.request.limit == 0 ? call.items.size() : call.request.limit;
  return std::min(call.items.size(), limit) * call.fields.size() > kValuesToldInline;
}

void FilterItems::AppendFields(const wire::FilterCall& call, const FilterResponse& response,
                               std::string* members) const {
  if (call.fields.empty()) return;
  std::vector<IdRef> unseen;
  unseen.reserve(response.unseen.size());
  for (const uint32_t index : response.unseen) unseen.push_back(call.items[index]);
  members->append(",\"fields\":{");
  size_t left_out = 0;
  bool first = true;
  std::vector<ItemFieldValue> values;
  const Status read =
      store_->Visit(unseen, call.fields, [&](size_t position, const ItemView& item) {
        if (members->size() > kMaxFilterFieldBytes) {
          ++left_out;
          return;
        }
        values.clear();
        for (size_t i = 0; i < call.fields.size(); ++i) {
          if (const auto value = item.Field(i)) values.push_back({call.fields[i], value->Copy()});
        }
        if (!std::exchange(first, false)) members->push_back(',');
        wire::AppendIdKey(call.tokens[response.unseen[position]], members);
        wire::AppendItemFields(values, members);
      });
  members->push_back('}');
  if (left_out > 0) members->append(",\"fields_left_out\":").append(std::to_string(left_out));
  // The impressions are recorded, so the request must not fail any more: no fields are told.
  if (!read.ok()) *members = ",\"fields\":{}";
}

}  // namespace seendb::api
