#include "flags.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/suggest.h"
#include "redis/address.h"

namespace seendb::tool {
namespace {

/// What stands where the option's value does, by its type's name: "FILE", "DIR", "TEXT:{csv,tsv}".
void DescribeValue(const CLI::Option& option, OptionInfo* info) {
  if (option.get_expected_max() == 0) return;
  info->value = ValueKind::kText;
  const std::string type = option.get_type_name();
  const size_t open = type.find(":{");
  const size_t close = type.rfind('}');
  if (open != std::string::npos && close != std::string::npos) {
    info->value = ValueKind::kWords;
    info->words = CLI::detail::split(type.substr(open + 2, close - open - 2), ',');
  } else if (type.starts_with("DIR") || type.starts_with("FOLDER")) {
    info->value = ValueKind::kFolder;
  } else if (type.find("FILE") != std::string::npos) {
    info->value = ValueKind::kFile;
  }
}

CommandTree DescribeApp(const CLI::App& app) {
  CommandTree tree{app.get_name(), app.get_description(), {}, {}, {}};
  for (const CLI::Option* const option : app.get_options()) {
    OptionInfo info;
    info.help = option->get_description();
    for (const std::string& name : option->get_lnames()) info.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) info.names.push_back("-" + name);
    DescribeValue(*option, &info);
    (option->get_positional() ? tree.arguments : tree.options).push_back(std::move(info));
  }
  for (const CLI::App* const below : app.get_subcommands([](const CLI::App*) { return true; })) {
    tree.commands.push_back(DescribeApp(*below));
  }
  return tree;
}

/// The first word of the line that nobody knows, explained; empty where there is none.
std::string UnknownWord(const CLI::App& app) {
  const std::vector<std::string> extras =
      app.get_prefix_command() ? std::vector<std::string>() : app.remaining();
  const auto found = std::find_if(extras.begin(), extras.end(),
                                  [](const std::string& word) { return word != "--"; });
  if (found == extras.end()) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    return chosen.empty() ? std::string() : UnknownWord(*chosen.front());
  }
  const std::string word = found->substr(0, found->find('='));
  const CommandTree tree = DescribeApp(app);
  const bool is_option = word.starts_with('-');
  std::vector<std::string> known;
  if (is_option) {
    for (const OptionInfo& option : tree.options) {
      known.insert(known.end(), option.names.begin(), option.names.end());
    }
  } else {
    for (const CommandTree& command : tree.commands) known.push_back(command.name);
  }
  std::string text = is_option        ? "unknown option "
                     : !known.empty() ? "unknown command "
                                      : "unexpected argument ";
  text += "`" + word + "`";
  if (app.get_parent() != nullptr) text += " of `" + app.get_name() + "`";
  const std::vector<std::string_view> words(known.begin(), known.end());
  const std::string nearest(Nearest(word, words));
  if (!nearest.empty()) return text + "; did you mean `" + nearest + "`?";
  if (is_option || known.empty() || app.get_parent() == nullptr) return text;  // --help lists them
  text += "; known: ";
  for (const std::string& name : known) text += (&name == &known.front() ? "" : ", ") + name;
  return text;
}

}  // namespace

Option Option::Required() { return Option(option_->required()); }

Option Option::TypeName(const std::string& name) { return Option(option_->type_name(name)); }

Option Option::Group(const std::string& name) { return Option(option_->group(name)); }

Option Option::Needs(Option other) { return Option(option_->needs(other.option_)); }

Option Option::Between(double low, double high) {
  return Option(option_->check(CLI::Range(low, high)));
}
Option Option::Range(int64_t low, int64_t high) {
  return Option(option_->check(CLI::Range(low, high)));
}

Option Option::OneOf(std::initializer_list<std::string> words) {
  return Option(option_->check(CLI::IsMember(std::vector<std::string>(words))));
}

Option Option::NotEmpty() {
  const auto check = [](const std::string& text) {
    // Behind "--name=" the parser takes the next word, which may be an option.
    return text.empty() || text.starts_with("--") ? "is empty" : "";
  };
  return Option(option_->check(CLI::Validator(check, "")));
}

Option Option::ShowDefault() { return Option(option_->capture_default_str()); }

Option Command::Add(const std::string& name, std::string& target, const std::string& help) {
  return Option(app_->add_option(name, target, help));
}

Option Command::Add(const std::string& name, std::vector<std::string>& target,
                    const std::string& help) {
  return Option(app_->add_option(name, target, help));
}

Option Command::Add(const std::string& name, int32_t& target, const std::string& help) {
  return Option(app_->add_option(name, target, help));
}

Option Command::Add(const std::string& name, int64_t& target, const std::string& help) {
  return Option(app_->add_option(name, target, help));
}

Option Command::Add(const std::string& name, uint32_t& target, const std::string& help) {
  return Option(app_->add_option(name, target, help));
}

Option Command::Add(const std::string& name, uint64_t& target, const std::string& help) {
  return Option(app_->add_option(name, target, help));
}

Option Command::Add(const std::string& name, double& target, const std::string& help) {
  return Option(app_->add_option(name, target, help));
}

Option Command::AddFlag(const std::string& name, bool& target, const std::string& help) {
  return Option(app_->add_flag(name, target, help));
}

Command Command::AddCommand(const std::string& name, const std::string& description,
                            std::function<void()> run) {
  CLI::App* const command = app_->add_subcommand(name, description);
  command->callback([command, run = std::move(run)] {
    if (command->get_subcommands().empty()) run();
  });
  return Command(command);
}

void Command::Examples(const std::vector<std::string>& lines) {
  std::string text = "Examples:";
  for (const std::string& line : lines) text += "\n  " + line;
  app_->footer(text);
}

CommandTree Command::Describe() const { return DescribeApp(*app_); }

void Command::PassTheRest(std::vector<std::string>& rest) {
  app_->prefix_command();
  app_->parse_complete_callback([app = app_, &rest] { rest = app->remaining(); });
}

CommandLine::CommandLine(const std::string& name, const std::string& description,
                         const std::string& footer, const std::string& version)
    : app_(std::make_unique<CLI::App>(description, name)) {
  app_->footer(footer);
  app_->require_subcommand(1);
  app_->set_version_flag("--version", version);
}

CommandLine::~CommandLine() = default;

Command CommandLine::root() { return Command(app_.get()); }

Parsed CommandLine::Parse(int argc, const char* const* argv, bool say_errors) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help and --version come this way too.
    const bool helped = error.get_exit_code() == 0;
    error_ = redis::HideCredentials(error.what());
    const bool is_usage = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) ||
                          error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError);
    const std::string unknown = is_usage ? UnknownWord(*app_) : std::string();
    if (!unknown.empty()) {
      error_ = redis::HideCredentials(unknown);
      if (say_errors) {
        std::fprintf(stderr, "%s\nRun with --help for more information.\n", error_.c_str());
      }
    } else if (helped || say_errors) {
      std::ostringstream out, err;
      app_->exit(error, out, err);
      std::fputs(out.str().c_str(), stdout);
      std::fputs(redis::HideCredentials(err.str()).c_str(), stderr);
    }
    return helped ? Parsed::kHelped : Parsed::kRefused;
  }
  return Parsed::kRan;
}

}  // namespace seendb::tool
