// server/ops/exposure.h: whether the settings leave the server open to whoever reaches it.

#pragma once

#include <string>

#include "ops/config.h"

namespace seendb::ops {

/// What is wrong: it listens beyond this machine, and asks neither for tokens nor for certificates,
/// or for tokens that nothing hides on their way. Empty: nothing.
std::string ExposureOf(const Config& config);

}  // namespace seendb::ops
