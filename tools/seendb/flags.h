// seendb/flags.h: the command line and the flags of each command, without the parser behind them.
// CLI11 costs seconds of every source that includes it: flags.cc alone does.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "command_tree.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace seendb::tool {

/// A handle of one flag or argument, valid as long as the parser is. Threads: one.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  /// The command is refused without it.
  Option Required();
  /// The word for its value in --help.
  Option TypeName(const std::string& name);
  /// The heading under which --help lists it.
  Option Group(const std::string& name);
  /// Refuses it unless `other` is given too.
  Option Needs(Option other);
  /// Refuses numbers outside [low, high].
  Option Range(int64_t low, int64_t high);
  /// The same of numbers with fractions.
  Option Between(double low, double high);
  /// Refuses words that are not listed.
  Option OneOf(std::initializer_list<std::string> words);
  /// Refuses "", which an unset variable of a script becomes.
  Option NotEmpty();
  /// --help shows the value its target has now.
  Option ShowDefault();

 private:
  CLI::Option* option_;
};

/// A handle of one command, valid as long as the parser is. Names are "--name" for options and
/// "name" for arguments by position. Targets are borrowed until the line is parsed. Threads: one.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Option Add(const std::string& name, std::string& target, const std::string& help);
  Option Add(const std::string& name, std::vector<std::string>& target, const std::string& help);
  Option Add(const std::string& name, int32_t& target, const std::string& help);
  Option Add(const std::string& name, int64_t& target, const std::string& help);
  Option Add(const std::string& name, uint32_t& target, const std::string& help);
  Option Add(const std::string& name, uint64_t& target, const std::string& help);
  Option Add(const std::string& name, double& target, const std::string& help);
  Option AddFlag(const std::string& name, bool& target, const std::string& help);

  /// A command below this one. `run` is called where it is chosen and no command below it is.
  Command AddCommand(const std::string& name, const std::string& description,
                     std::function<void()> run);
  /// Lists whole command lines at the end of --help.
  void Examples(const std::vector<std::string>& lines);
  /// The commands and flags below this one, as they were added.
  CommandTree Describe() const;
  /// Puts everything from the first unknown word on into `rest`, as it stands.
  void PassTheRest(std::vector<std::string>& rest);

 private:
  CLI::App* app_;
};

/// What became of a command line.
enum class Parsed {
  kRan,      ///< the command that it names was called
  kHelped,   ///< --help or --version was answered on standard output
  kRefused,  ///< it can't be read; nothing was called
};

/// The whole command line: the commands and the flags in front of them. Threads: one.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& description, const std::string& footer,
              const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// What all commands lie below.
  Command root();
  /// Reads the line and calls the command that it names. With `say_errors`, a line that is refused
  /// is explained on standard error. An unknown word is told with the known one that is nearest.
  Parsed Parse(int argc, const char* const* argv, bool say_errors);
  /// Why the line was refused.
  const std::string& error() const { return error_; }

 private:
  const std::unique_ptr<CLI::App> app_;
  std::string error_;
};

}  // namespace seendb::tool
