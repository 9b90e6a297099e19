#include "ops/access_log_config.h"

#include <algorithm>
#include <string_view>

#include "ops/user_hash.h"

namespace seendb::ops {
namespace {

constexpr std::string_view kModes[] = {"off", "sampled", "slow", "all"};  // by their value

Setter Mode(AccessLogMode* to) {
  const auto set = [=](const Json& value) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    const auto* const found = std::find(std::begin(kModes), std::end(kModes), text);
    if (found == std::end(kModes)) {
      return Status::InvalidArgument("must be off, sampled, slow or all");
    }
    *to = static_cast<AccessLogMode>(found - std::begin(kModes));
    return Status::Ok();
  };
  return Setter(set, Written::kText).Showing([to] {
    return Json(kModes[static_cast<size_t>(*to)]);
  });
}

Setter Share(double* to) {
  const auto set = [=](const Json& value) {
    if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() <= 1)) {
      return Status::InvalidArgument("must be a number within 0..1");
    }
    *to = value.get<double>();
    return Status::Ok();
  };
  return Setter(set).Showing([to] { return Json(*to); });
}

Setter Key(std::string* to) {
  const auto set = [=](const Json& value) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    if (!ParseHashKey(text)) {
      return Status::InvalidArgument("must be a string of 32 hexadecimal digits");
    }
    *to = text;
    return Status::Ok();
  };
  return Setter(set, Written::kText);
}

}  // namespace

Setter AccessLog(AccessLogConfig* to) {
  return Section({{"mode", Mode(&to->mode)},
                  {"sample", Share(&to->sample)},
                  {"slow_ms", Integer(&to->slow_ms, 0, 24 * 3'600'000)},
                  {"lines_per_s", Integer(&to->lines_per_s, 1, 1'000'000)},
                  {"user_key", Key(&to->user_key)}});
}

}  // namespace seendb::ops
