// server/ops/admission_config.h: the setting "admission".

#pragma once

#include "admission/settings.h"
#include "ops/config_keys.h"

namespace seendb::ops {

/// Reads an object with the keys of admission::Settings.
Setter AdmissionSection(admission::Settings* to);

}  // namespace seendb::ops
