#include "connect/codec.h"

#include <algorithm>
#include <limits>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver.h>
#include <google/protobuf/util/type_resolver_util.h>
#include <google/protobuf/wire_format_lite.h>

#include "base/outside_json.h"
#include "base/utf8.h"

namespace seendb::connect {
namespace {

namespace pb = google::protobuf;
using Wire = pb::internal::WireFormatLite;

constexpr char kTypes[] = "type.seendb";
constexpr size_t kMessageBytes = 200;  // of what protobuf says of a body

/// Skips a message, counting the fields that have a length: elements of lists, among others. False
/// where it is broken, or deeper than any of ours.
bool CountElements(pb::io::CodedInputStream* in, uint32_t* elements) {
  while (const uint32_t tag = in->ReadTag()) {
    if (Wire::GetTagWireType(tag) == Wire::WIRETYPE_LENGTH_DELIMITED) ++*elements;
    if (!Wire::SkipField(in, tag)) return false;
  }
  return in->ConsumedEntireMessage();
}

/// Counts before anything is made of the body. The parts of an event are not counted: an empty text
/// there is two bytes and becomes forty.
Status JudgeElements(std::string_view body) {
  pb::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(body.data()),
                              static_cast<int>(body.size()));
  uint32_t elements = 0;
  if (!CountElements(&in, &elements)) return Status::InvalidArgument("the body is no such message");
  if (elements <= kMostElements) return {};
  return Status::InvalidArgument("more than " + std::to_string(kMostElements) +
                                 " texts or events in a body");
}

pb::util::TypeResolver* Types() {
  static pb::util::TypeResolver* const types =
      pb::util::NewTypeResolverForDescriptorPool(kTypes, pb::DescriptorPool::generated_pool());
  return types;
}

Status JsonToProto(std::string_view body, const pb::Message& message, std::string* bytes) {
  if (body.empty()) return Status::InvalidArgument("the body is empty, and no JSON");
  const JsonShape shape = JsonShapeOf(body);
  if (shape.depth > kOutsideDepthMost || shape.values > kOutsideValuesMost) {
    return Status::InvalidArgument("the body is JSON of too many values, or too deep");
  }
  const std::string type = std::string(kTypes) + "/" + message.GetDescriptor()->full_name();
  const pb::util::Status read =
      pb::util::JsonToBinaryString(Types(), type, std::string(body), bytes);
  if (read.ok()) return {};
  const std::string said(read.message().data(), read.message().size());
  return Status::InvalidArgument("the body is no such message as JSON: " +
                                 std::string(Utf8Prefix(said, kMessageBytes)));
}

}  // namespace

std::optional<Form> FormOf(std::string_view content_type) {
  std::string type;
  for (const char c : content_type.substr(0, content_type.find(';'))) {
    if (c != ' ' && c != '\t') {
      type += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  if (type == "application/proto") return Form::kProto;
  if (type == "application/json") return Form::kJson;
  return {};
}

std::string_view TypeOf(Form form) {
  return form == Form::kProto ? "application/proto" : "application/json";
}

Status Decode(Form form, std::string_view body, pb::Message* message) {
  if (body.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return Status::InvalidArgument("the body is too large for protobuf");
  }
  std::string bytes;
  if (form == Form::kJson) {
    if (Status read = JsonToProto(body, *message, &bytes); !read.ok()) return read;
    body = bytes;
  }
  if (Status judged = JudgeElements(body); !judged.ok()) return judged;
  if (message->ParseFromArray(body.data(), static_cast<int>(body.size()))) return {};
  return Status::InvalidArgument("the body is no such message");
}

Status Encode(Form form, const pb::Message& message, std::string* body) {
  body->clear();
  if (form == Form::kProto) {
    return message.SerializeToString(body) ? Status() : Status::InvalidArgument("too large");
  }
  const pb::util::Status written = pb::util::MessageToJsonString(message, body);
  return written.ok() ? Status() : Status::Unavailable("the answer can't be written as JSON");
}

void SilenceProtobuf() { pb::SetLogHandler(nullptr); }

}  // namespace seendb::connect
