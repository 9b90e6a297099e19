// seendb/session.h: what every command shares: the flags that say which database, and the outcome.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "http_client.h"
#include "seendb/status.h"

namespace seendb::tool {

/// The flags common to all commands, and what came of the one that ran.
struct Session {
  std::string db;           ///< --db: the database's folder
  std::string url;          ///< --url: a running server
  std::string collection;   ///< --collection; empty: not given
  std::string clock;        ///< --clock manual:MS; empty: the machine's
  int64_t timeout_s = 600;  ///< --timeout: longest wait for an answer of the server
  bool json = false;        ///< --json
  Status result;            ///< of the command
};

/// Which of the common flags a command takes.
enum class Takes {
  kNothing,         ///< --json
  kFolder,          ///< and --db
  kFolderOrServer,  ///< and --db or --url
  kServer,          ///< --json, --url
};

/// Refuses an option given as "", which an unset variable of a script becomes, as if it were left
/// out.
CLI::Validator NotEmpty();

/// Adds the common flags to `command`, bound to `session`.
void AddCommonFlags(CLI::App& command, Session& session, Takes takes);

/// Adds a command that runs `run` when chosen; its outcome goes to session.result.
CLI::App& AddCommand(CLI::App& parent, Session& session, const std::string& name,
                     const std::string& description, Takes takes, std::function<Status()> run);

/// session.collection, or "default".
std::string CollectionOf(const Session& session);

/// Writes to standard output. kIOError.
Status Print(std::string_view text);
/// Prints `json`, indented, as --json asks for.
Status PrintJson(const Json& json);

}  // namespace seendb::tool
