#include "completion_script.h"

#include <functional>
#include <string_view>

namespace seendb::tool {
namespace {

/// In single quotes, as bash and zsh read them.
std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

/// Visits each command with its path: "" for the root, "/collections/put".
void Walk(const CommandTree& tree, const std::string& path,
          const std::function<void(const CommandTree&, const std::string&)>& visit) {
  visit(tree, path);
  for (const CommandTree& below : tree.commands) Walk(below, path + "/" + below.name, visit);
}

/// The kind of a value as the scripts' functions take it.
std::string KindText(const OptionInfo& option) {
  switch (option.value) {
    case ValueKind::kNone:
      return "none";
    case ValueKind::kText:
      return "text";
    case ValueKind::kFile:
      return "file";
    case ValueKind::kFolder:
      return "folder";
    case ValueKind::kWords:
      break;
  }
  std::string text = "words";
  for (const std::string& word : option.words) text += " " + word;
  return text;
}

/// A function that sets `kind` for the value of option $2 of the command $1.
std::string ValueFunction(const CommandTree& root) {
  std::string out = "_" + root.name + "_value() {\n  case \"$1 $2\" in\n";
  Walk(root, "", [&](const CommandTree& tree, const std::string& path) {
    for (const OptionInfo& option : tree.options) {
      if (option.value == ValueKind::kNone) continue;
      std::string patterns;
      for (const std::string& name : option.names) {
        patterns += (patterns.empty() ? "" : "|") + Quoted(path + " " + name);
      }
      out += "    " + patterns + ") kind=" + Quoted(KindText(option)) + ";;\n";
    }
  });
  return out + "    *) kind=none;;\n  esac\n}\n";
}

/// A function that sets `below` to the path of the command $2 of the command $1, or to nothing.
std::string CommandFunction(const CommandTree& root) {
  std::string out = "_" + root.name + "_command() {\n  case \"$1 $2\" in\n";
  Walk(root, "", [&](const CommandTree& tree, const std::string& path) {
    for (const CommandTree& command : tree.commands) {
      out += "    " + Quoted(path + " " + command.name) +
             ") below=" + Quoted(path + "/" + command.name) + ";;\n";
    }
  });
  return out + "    *) below=;;\n  esac\n}\n";
}

/// A function that sets `commands` and `options` of the command $1 by `list`, and `kind` of its
/// first argument by position.
std::string ListFunction(const CommandTree& root,
                         const std::function<std::string(const CommandTree&)>& list) {
  std::string out = "_" + root.name + "_list() {\n  case \"$1\" in\n";
  Walk(root, "", [&](const CommandTree& tree, const std::string& path) {
    const std::string kind = tree.arguments.empty() ? "none" : KindText(tree.arguments.front());
    out += "    " + Quoted(path) + ")\n" + list(tree) + "      kind=" + Quoted(kind) + ";;\n";
  });
  return out + "  esac\n}\n";
}

/// The list as words between blanks.
std::string PlainList(const CommandTree& tree) {
  std::string commands;
  for (const CommandTree& command : tree.commands) {
    commands += (commands.empty() ? "" : " ") + command.name;
  }
  std::string options;
  for (const OptionInfo& option : tree.options) {
    for (const std::string& name : option.names) options += (options.empty() ? "" : " ") + name;
  }
  return "      commands=" + Quoted(commands) + "\n      options=" + Quoted(options) + "\n";
}

/// The list as zsh's _describe takes it: NAME:DESCRIPTION.
std::string DescribedList(const CommandTree& tree) {
  std::string commands;
  for (const CommandTree& command : tree.commands) {
    commands += " " + Quoted(command.name + ":" + command.help);
  }
  std::string options;
  for (const OptionInfo& option : tree.options) {
    for (const std::string& name : option.names) options += " " + Quoted(name + ":" + option.help);
  }
  return "      commands=(" + commands + ")\n      options=(" + options + ")\n";
}

std::string Replaced(std::string text, std::string_view name) {
  for (size_t at = 0; (at = text.find("NAME", at)) != std::string::npos; at += name.size()) {
    text.replace(at, 4, name);
  }
  return text;
}

// bash cuts "--option=value" at the "=" into three words.
constexpr const char* kBash = R"(_NAME() {
  local path= below= kind= commands= options= i word before=${COMP_WORDS[COMP_CWORD-1]}
  local now=${COMP_WORDS[COMP_CWORD]}
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -* ]]; then
      _NAME_value "$path" "$word"
      if [[ $kind != none && ${COMP_WORDS[i+1]} != = ]]; then ((++i)); fi
      continue
    fi
    _NAME_command "$path" "$word"
    if [[ -n $below ]]; then path=$below; fi
  done
  if [[ $now == = ]]; then now=; fi
  if [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
  if [[ ${COMP_WORDS[COMP_CWORD]} == = ]]; then before=${COMP_WORDS[COMP_CWORD-1]}; fi
  kind=none
  if [[ $before == -* ]]; then _NAME_value "$path" "$before"; fi
  COMPREPLY=()
  if [[ $kind == none ]]; then
    _NAME_list "$path"
    if [[ $now == -* ]]; then
      COMPREPLY=($(compgen -W "$options" -- "$now"))
      return
    fi
    COMPREPLY=($(compgen -W "$commands" -- "$now"))
    if [[ -n ${COMPREPLY[*]} ]]; then return; fi
  fi
  case $kind in
    words*) COMPREPLY=($(compgen -W "${kind#words}" -- "$now")) ;;
    file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$now") ;;
    folder) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$now") ;;
  esac
}
complete -F _NAME NAME
)";

constexpr const char* kZsh = R"(_NAME() {
  local where= below= kind= word before=${words[CURRENT-1]} i
  local -a commands options
  for ((i = 2; i < CURRENT; ++i)); do
    word=${words[i]}
    if [[ $word == -* ]]; then
      _NAME_value "$where" "$word"
      if [[ $kind != none ]]; then ((++i)); fi
      continue
    fi
    _NAME_command "$where" "$word"
    if [[ -n $below ]]; then where=$below; fi
  done
  kind=none
  if [[ $before == -* ]]; then _NAME_value "$where" "$before"; fi
  if [[ $kind == none ]]; then
    _NAME_list "$where"
    if [[ ${words[CURRENT]} == -* ]]; then
      _describe -o 'option' options
      return
    fi
    if ((${#commands})); then _describe 'command' commands; fi
  fi
  case $kind in
    words*) compadd -- ${=kind#words} ;;
    file) _files ;;
    folder) _files -/ ;;
  esac
}
if [[ ${funcstack[1]} == _NAME ]]; then _NAME "$@"; else compdef _NAME NAME; fi
)";

}  // namespace

std::string BashCompletion(const CommandTree& root) {
  return Replaced("# bash completion for NAME, written by: NAME completion bash\n", root.name) +
         CommandFunction(root) + ValueFunction(root) + ListFunction(root, PlainList) +
         Replaced(kBash, root.name);
}

std::string ZshCompletion(const CommandTree& root) {
  return Replaced("#compdef NAME\n# written by: NAME completion zsh\n", root.name) +
         CommandFunction(root) + ValueFunction(root) + ListFunction(root, DescribedList) +
         Replaced(kZsh, root.name);
}

}  // namespace seendb::tool
