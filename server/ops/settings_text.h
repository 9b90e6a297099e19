// server/ops/settings_text.h: settings as people are told of them: by the flag --print-config, and
// which of them changed.

#pragma once

#include <string>
#include <vector>

#include "ops/config.h"

namespace seendb::ops {

/// A settings file that gives the same settings: each key with its value, and behind it as a
/// comment the file, the variable or the flag that it came from, or "default". Keys without a value
/// are comments, and so are variables that set nothing. Secrets read "(not shown)", with which the
/// file is refused (CheckShown).
std::string SettingsText(Config config);

/// The keys whose values differ: "limits.queue". A key whose default stands in one of the two
/// differs from one that is absent.
std::vector<std::string> ChangedSettings(const Json& before, const Json& after);

}  // namespace seendb::ops
