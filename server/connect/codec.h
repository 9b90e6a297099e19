// connect/codec.h: messages as bodies: protobuf, or JSON as protobuf maps it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "seendb/status.h"

namespace google::protobuf {
class Message;
}

namespace seendb::connect {

/// How a body is written.
enum class Form : uint8_t { kProto, kJson };

/// Most texts and events of a request's lists: an empty one is two bytes that become hundreds.
inline constexpr uint32_t kMostElements = 65'536;

/// The form that a Content-Type names; nothing: another.
std::optional<Form> FormOf(std::string_view content_type);
/// The Content-Type of a form.
std::string_view TypeOf(Form form);

/// Reads a request. kInvalidArgument: the body is no such message, or its lists are too long, or an
/// object of its JSON has an unknown name. The size of the body is judged by whoever reads it.
Status Decode(Form form, std::string_view body, google::protobuf::Message* message);
/// Writes an answer; it replaces `*body`.
Status Encode(Form form, const google::protobuf::Message& message, std::string* body);

/// Has protobuf write no lines of its own to stderr about what callers send.
void SilenceProtobuf();

}  // namespace seendb::connect
