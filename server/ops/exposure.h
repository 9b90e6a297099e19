// server/ops/exposure.h: whether the settings leave the server, or what it sends and reads, open to
// others.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ops/config.h"
#include "seendb/status.h"

namespace seendb::ops {

/// What is wrong: it listens beyond this machine, and asks neither for tokens nor for certificates,
/// or for tokens that nothing hides on their way. Empty: nothing.
std::string ExposureOf(const Config& config);

/// The files that the settings name, each behind its setting; of one that is not set the path is
/// empty.
std::vector<std::pair<std::string, std::string>> NamedFiles(const Config& config);

/// What the setting "require_secure" asks for: besides no exposure, TLS to brokers of Kafka and to
/// old stores beyond this machine, with the other side's certificate checked; and that others than
/// its owner can't write any file that the settings name, the settings' own, or the database's
/// folder. kInvalidArgument, whose field is the setting at fault; empty: it is exposed.
Status CheckSecure(const Config& config);

}  // namespace seendb::ops
