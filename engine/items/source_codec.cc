#include "items/source_codec.h"

#include <charconv>
#include <cstdint>

#include "format/bytes.h"

namespace seendb::items {
namespace {

constexpr Tag kSourceTag{0xb1};
constexpr size_t kMaxTopicBytes = 249;  // Kafka's

}  // namespace

Status CheckSource(const ItemSource& source) {
  if (source.topic.empty() || source.topic.size() > kMaxTopicBytes) {
    return Status::InvalidArgument("must have 1-249 bytes", "/topic");
  }
  if (source.partition < 0) return Status::InvalidArgument("is negative", "/partition");
  if (source.next_offset < 0) return Status::InvalidArgument("is negative", "/next_offset");
  if (source.last_time_ms < -1) return Status::InvalidArgument("is negative", "/last_time_ms");
  return {};
}

std::string SourceKey(const ItemSource& source) {
  return kSourcePrefix + std::to_string(source.partition) + "/" + source.topic;
}

std::string EncodeSource(const ItemSource& source) {
  std::string out(1, static_cast<char>(kSourceTag));
  PutVarint(&out, static_cast<uint64_t>(source.next_offset));
  PutZigzag(&out, source.last_time_ms);
  Seal32(&out);
  return out;
}

bool ParseSource(std::string_view key, std::string_view value, ItemSource* source) {
  const std::string_view prefix = kSourcePrefix;
  if (!key.starts_with(prefix)) return false;
  key.remove_prefix(prefix.size());
  const char* const end = key.data() + key.size();
  const auto [behind, error] = std::from_chars(key.data(), end, source->partition);
  if (error != std::errc() || behind == end || *behind != '/') return false;
  source->topic.assign(behind + 1, end);
  std::string_view body;
  if (!Open32(value, kSourceTag, &body)) return false;
  Reader reader(body);
  source->next_offset = static_cast<int64_t>(reader.Varint());
  source->last_time_ms = reader.Zigzag();
  return reader.ok() && reader.remaining() == 0 && CheckSource(*source).ok();
}

}  // namespace seendb::items
