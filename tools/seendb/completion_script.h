// seendb/completion_script.h: what a shell needs to complete the tool's command lines, generated
// from the commands themselves.

#pragma once

#include <string>

#include "command_tree.h"

namespace seendb::tool {

/// A script for bash, to be sourced.
std::string BashCompletion(const CommandTree& root);
/// A script for zsh: to be sourced after compinit, or kept as `_NAME` in a folder of $fpath.
std::string ZshCompletion(const CommandTree& root);

}  // namespace seendb::tool
