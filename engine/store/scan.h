// store/scan.h: keys and values of every family as text, and whether a value is sound. For the
// admin tool: ldb's key formatter, scan, verify.

#pragma once

#include <string>
#include <string_view>

#include "store/families.h"

namespace seendb {

/// A key in printable form.
std::string KeyText(const FamilyName& family, std::string_view key);
/// A value decoded into one line; damaged ones say so.
std::string ValueText(const FamilyName& family, std::string_view value);
/// What is wrong with a key's value; empty where it is sound.
std::string DamageOf(const FamilyName& family, std::string_view key, std::string_view value);

}  // namespace seendb
