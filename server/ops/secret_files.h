// server/ops/secret_files.h: files that say who may do what, or hold what nobody else is to know:
// tokens, secrets, passwords, and settings with one of these in them.

#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "files/writers.h"
#include "seendb/status.h"

namespace seendb::ops {

struct Config;

using files::CheckWriters;

/// The same, with the setting `field` at fault; a file that can't be looked at is left to whoever
/// reads it.
Status CheckWriters(const std::string& path, const std::string& field);

/// What is wrong with a file that every user of the machine may read, with the command that mends
/// it; empty: nothing.
std::string ReadableByEverybody(const std::string& path);

/// The JSON pointer of a setting that is a password, a secret or a key, written out in the settings
/// themselves; empty: there is none.
std::string WrittenSecret(const nlohmann::json& settings);

/// The settings with "(not shown)" in place of each such value, and of a login in a URL.
nlohmann::json WithoutSecrets(const nlohmann::json& settings);
/// Refuses settings that WithoutSecrets made, as far as something is hidden in them.
Status CheckShown(const nlohmann::json& settings);

/// Refuses those of the files that the settings name and that others may write, as far as they are
/// there. The error's field is the setting.
Status CheckSecretFiles(const Config& config);

}  // namespace seendb::ops
