// seendb/command_tree.h: the commands and their flags as data, for what is generated from them.

#pragma once

#include <string>
#include <vector>

namespace seendb::tool {

/// What may stand where a value is wanted.
enum class ValueKind {
  kNone,    ///< a flag: no value
  kText,    ///< anything
  kFile,    ///< a file's name
  kFolder,  ///< a folder's name
  kWords,   ///< one of OptionInfo::words
};

/// One option, or one argument by position.
struct OptionInfo {
  std::vector<std::string> names;  ///< "--collection", "-h"; an argument by position has none
  std::string help;
  ValueKind value = ValueKind::kNone;
  std::vector<std::string> words;
};

/// One command with all below it.
struct CommandTree {
  std::string name;
  std::string help;
  std::vector<OptionInfo> options;
  std::vector<OptionInfo> arguments;
  std::vector<CommandTree> commands;
};

}  // namespace seendb::tool
