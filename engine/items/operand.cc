#include "items/operand.h"

#include <algorithm>
#include <utility>

#include "base/json_pointer.h"

namespace seendb::items {
namespace {

Status CheckHead(const ItemUpdate& update) {
  if (Status status = update.id.Validate(); !status.ok()) return status.WithFieldPrefix("/id");
  if (update.version == 0 || update.version > kMaxItemVersion) {
    return Status::InvalidArgument("a version is from 1 to 9223372036854775807", "/version");
  }
  const bool says_more = update.replace || !update.set.empty() || !update.unset.empty() ||
                         update.expires_at_ms.has_value();
  if (update.remove && says_more) {
    return Status::InvalidArgument("a deletion says nothing else of the item", "/delete");
  }
  if (update.expires_at_ms && *update.expires_at_ms < 0) {
    return Status::InvalidArgument("a time is milliseconds since 1970", "/expires_at");
  }
  return {};
}

Status Unknown(std::string_view name, std::string pointer) {
  return Status::InvalidArgument("the schema has no field " + std::string(name),
                                 std::move(pointer));
}

}  // namespace

Result<State> OperandOf(const ItemUpdate& update, const Schema& schema, uint64_t now_ms,
                        std::deque<std::string>* scratch) {
  if (Status status = CheckHead(update); !status.ok()) return status;
  State state;
  state.time_ms = now_ms;
  if (!update.remove) state.seen = update.version;
  if (update.remove || update.replace) state.floor = update.version;
  if (update.expires_at_ms) {
    state.expires_version = update.version;
    state.expires_ms = static_cast<uint64_t>(*update.expires_at_ms);
  }
  for (const ItemFieldValue& one : update.set) {
    const std::string pointer = "/set" + PointerTo(one.name);
    const auto position = schema.Find(one.name);
    if (!position) return Unknown(one.name, pointer);
    const Schema::Numbered& field = schema.fields()[*position];
    if (field.field.type != TypeOf(one.value)) {
      return Status::InvalidArgument(one.name + " is " + std::string(TypeName(field.field.type)) +
                                         ", not " + std::string(TypeName(TypeOf(one.value))),
                                     pointer);
    }
    Result<Value> value = FromCaller(one.value, &scratch->emplace_back());
    if (!value.ok()) return value.status().WithFieldPrefix(pointer);
    state.cells.push_back({field.number, false, update.version, *value});
  }
  for (size_t i = 0; i < update.unset.size(); ++i) {
    const auto position = schema.Find(update.unset[i]);
    if (!position) return Unknown(update.unset[i], "/unset/" + std::to_string(i));
    state.cells.push_back({schema.fields()[*position].number, true, update.version, {}});
  }
  const auto by_field = [](const Cell& a, const Cell& b) { return a.field < b.field; };
  std::sort(state.cells.begin(), state.cells.end(), by_field);
  const auto twice =
      std::adjacent_find(state.cells.begin(), state.cells.end(),
                         [](const Cell& a, const Cell& b) { return a.field == b.field; });
  if (twice == state.cells.end()) return state;
  const auto& fields = schema.fields();
  const auto named = std::find_if(fields.begin(), fields.end(), [&](const Schema::Numbered& one) {
    return one.number == twice->field;
  });
  return Status::InvalidArgument("the update names " + named->field.name + " twice",
                                 "/set" + PointerTo(named->field.name));
}

}  // namespace seendb::items
