// server/ops/kafka_properties.h: which properties of librdkafka the settings may hand on:
// "properties" of "kafka" and "cluster". Those are taken that a table names. Among the others are
// some that load libraries, run commands or write files, and a new version of librdkafka may bring
// more of them.

#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "ops/config_keys.h"

namespace seendb::ops {

/// The names that are taken. server/doc/kafka.md lists them.
std::span<const std::string_view> AllowedProperties();

/// An object of properties; one that is not taken is refused by its name.
Setter Properties(std::map<std::string, std::string>* to);

}  // namespace seendb::ops
