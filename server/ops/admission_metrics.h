// server/ops/admission_metrics.h: what /metrics says of overload.

#pragma once

#include <vector>

#include <prometheus/metric_family.h>

#include "admission/admission.h"

namespace seendb::ops {

/// Appends the families of the admission layer, as of `now`.
void CollectAdmission(const admission::Admission& admission, admission::Time now,
                      std::vector<prometheus::MetricFamily>* families);

}  // namespace seendb::ops
