// server/files/token_file.h: changes to the file of tokens while servers read it.
//
// The new file is written beside the old one ("x.part"), judged as a server would, synced and
// renamed, so that a reader finds the one or the other. It keeps the owner and the mode of the old
// one; where there was none its owner alone may read it. A link is followed, and stays. The file
// beside is locked while a change is under way; a second one waits for it.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "seendb/status.h"

namespace seendb::files {

/// A new token: 256 random bits in 43 characters (base64url). kUnavailable: no random bits come.
Result<std::string> MakeToken();
/// A SHA-256 as the file has it.
std::string HexOf(const std::array<uint8_t, 32>& digest);
/// The SHA-256 of a token, in the same form.
std::string DigestOf(std::string_view token);

/// Adds an entry. The file may be missing. kInvalidArgument: the file can't be read as tokens,
/// others may write it, it has that name already, or the entry is wrong; nothing has changed.
/// kBusy: another change takes more than 10 s. kIOError.
Status AddToken(const std::string& path, const nlohmann::ordered_json& entry);
/// Takes the entry of that name out. As AddToken; kNotFound: there is none.
Status RemoveToken(const std::string& path, std::string_view name);

}  // namespace seendb::files
