// store/scan.h: keys and values of every family as text, and whether a value is sound. For the
// admin tool: ldb's key formatter, scan, verify.

#pragma once

#include <string>
#include <string_view>

#include "store/families.h"

namespace seendb {

/// A key in printable form.
std::string KeyText(const FamilyName& family, std::string_view key);
/// What keeps a value, or a part of it, from being read.
struct ValueFault {
  std::string reason;  ///< for people; empty: nothing
  bool newer = false;  ///< it is of a newer version: whole, but not for this software
};

/// A value decoded into one line; damaged ones say so, and those of newer versions.
std::string ValueText(const FamilyName& family, std::string_view value);
/// Why only newer software may go on with this journal record or user record; empty for every other
/// value. Cheap: there may be many.
std::string NewerReason(FamilyName::Kind kind, std::string_view value);
/// What is wrong with a key's value.
ValueFault FaultOf(FamilyName::Kind kind, std::string_view key, std::string_view value);

}  // namespace seendb
