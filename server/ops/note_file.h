// server/ops/note_file.h: small files in which a server keeps what it tells after a restart too.

#pragma once

#include <string>

#include "seendb/status.h"

namespace seendb::ops {

/// Replaces the file by `text`, through `<path>.tmp`: a killed process leaves the former text or
/// the new one. Not synced. Threads: one at a time for a path.
Status ReplaceNote(const std::string& path, const std::string& text);

}  // namespace seendb::ops
