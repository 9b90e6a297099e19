#include "shard/events.h"

#include "base/utf8.h"
#include "format/day_key.h"

namespace seendb {

// What is kept of a play where there is history; else it is not looked at.
Status CheckWatches(std::span<const Play> plays) {
  for (size_t i = 0; i < plays.size(); ++i) {
    if (plays[i].watch == nullptr) continue;
    const Watch& watch = *plays[i].watch;
    const auto refused = [i](const char* member, const std::string& why) {
      return Status::InvalidArgument(std::string(member) + " " + why,
                                     "/" + std::to_string(i) + "/" + member);
    };
    if (watch.progress_s < kFinished) return refused("progress_s", "must be -1 or not negative");
    if (watch.duration_s < 0) return refused("duration_s", "must not be negative");
    if (watch.device.size() > kMaxDeviceBytes) {
      return refused("device", "is longer than " + std::to_string(kMaxDeviceBytes) + " bytes");
    }
    if (!IsUtf8(watch.device)) return refused("device", "is not valid UTF-8");
    if (watch.fields.size() > kMaxFieldsBytes) {
      return refused("fields", "is longer than " + std::to_string(kMaxFieldsBytes) + " bytes");
    }
  }
  return {};
}

Status CheckDays(std::span<const Play> plays) {
  for (size_t i = 0; i < plays.size(); ++i) {
    if (plays[i].day.empty()) continue;
    const Result<int64_t> day = DayOfText(plays[i].day);
    if (!day.ok()) return day.status().WithFieldPrefix("/" + std::to_string(i) + "/day");
  }
  return {};
}

}  // namespace seendb
