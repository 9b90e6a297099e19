// connect/route_text.h: what requests of routes are written of: ids, queries, members of JSON.

#pragma once

#include <string>
#include <string_view>

#include <google/protobuf/repeated_field.h>

#include "seendb/status.h"
#include "wire/json_text.h"

namespace seendb::connect {

/// Appends `text` as a part of a path or a query.
void AppendEscaped(std::string_view text, std::string* out);
/// Appends `name=text` behind '?' or '&'.
void AppendQuery(std::string_view name, std::string_view text, std::string* target);
/// Appends `,"name":"text"`; the comma only behind a member.
void AppendMember(std::string_view name, std::string_view text, std::string* out);
/// The same of a number.
void AppendMember(std::string_view name, int64_t number, std::string* out);
/// Appends a name, with what goes before it.
void AppendName(std::string_view name, std::string* out);

/// Refuses ids of both forms, and texts that are no ids; `name` is the field of the texts.
Status CheckIds(const google::protobuf::RepeatedPtrField<std::string>& texts,
                const google::protobuf::RepeatedField<uint64_t>& numbers, std::string_view name);

/// The user as text, of a message with the fields `user` and `user_number`. Empty: nobody's.
template <typename Message>
std::string UserOf(const Message& message) {
  return message.who_case() == Message::kUserNumber ? std::to_string(message.user_number())
                                                    : message.user();
}

/// The item of a message with the fields `item` and `item_number`, as text. Empty: it says no item.
template <typename Message>
std::string ItemOf(const Message& message) {
  return message.what_case() == Message::kItemNumber ? std::to_string(message.item_number())
                                                     : message.item();
}

}  // namespace seendb::connect
