#include "ops/admission_config.h"

#include <array>
#include <string>
#include <utility>

namespace seendb::ops {
namespace {

Setter Fraction(double* to, double min, double max, const char* range) {
  const auto set = [=](const Json& value) {
    if (!value.is_number() || !(value.get<double>() >= min && value.get<double>() <= max)) {
      return Status::InvalidArgument(std::string("must be a number within ") + range);
    }
    *to = value.get<double>();
    return Status::Ok();
  };
  return Setter(set).Showing([to] { return Json(*to); });
}

/// Of high, normal and low, none more than the one before.
Setter PriorityFactors(std::array<double, 3>* to) {
  const auto set = [=](const Json& value) {
    const auto sound = [&] {
      if (!value.is_array() || value.size() != to->size()) return false;
      double last = 100;
      for (const Json& factor : value) {
        const double number = factor.is_number() ? factor.get<double>() : -1;
        if (!(number >= 0 && number <= last)) return false;
        last = number;
      }
      return true;
    };
    if (!sound()) {
      return Status::InvalidArgument(
          "must be three numbers within 0..100, of high, normal and low, none above the one "
          "before");
    }
    for (size_t i = 0; i < to->size(); ++i) (*to)[i] = value[i].get<double>();
    return Status::Ok();
  };
  return Setter(set, Written::kNumbers).Showing([to] { return Json(*to); });
}

}  // namespace

Setter AdmissionSection(admission::Settings* to) {
  constexpr int64_t kMaxMs = 3'600'000;
  return Section(
      {{"enabled", Flag(&to->enabled)},
       {"target_ms", Integer(&to->target_ms, 1, kMaxMs)},
       {"interval_ms", Integer(&to->interval_ms, 1, kMaxMs)},
       {"burst_ms", Integer(&to->burst_ms, 0, kMaxMs)},
       {"disk_target_ms", Integer(&to->disk_target_ms, 1, kMaxMs)},
       {"slice_us", Integer(&to->slice_us, 1, 1'000'000)},
       {"intake_share", Fraction(&to->intake_share, 0.05, 0.95, "0.05..0.95")},
       {"priority_factors", PriorityFactors(&to->priority_factors)},
       {"max_timeout_ms", Integer(&to->max_timeout_ms, 1, 24 * kMaxMs)},
       {"default_timeout_ms", Integer(&to->default_timeout_ms, 0, 24 * kMaxMs)},
       {"retry_after_max_s", Integer(&to->retry_after_max_s, 1, 3'600)},
       {"discard_bytes", Integer(&to->discard_bytes, 0, int64_t{1} << 30)},
       {"degrade", Section({{"min_share", Fraction(&to->degrade_min_share, 0.1, 1, "0.1..1")},
                            {"up_ms", Integer(&to->degrade_up_ms, 1, kMaxMs)},
                            {"down_ms", Integer(&to->degrade_down_ms, 1, kMaxMs)}})}});
}

}  // namespace seendb::ops
