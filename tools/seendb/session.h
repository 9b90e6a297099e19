// seendb/session.h: what every command shares: the flags that say which database, and the outcome.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "flags.h"
#include "http_client.h"
#include "seendb/status.h"

namespace seendb::tool {

/// The flags common to all commands, and what came of the one that ran.
struct Session {
  std::string db;           ///< --db: the database's folder
  std::string url;          ///< --url: a running server
  std::string token_file;   ///< --token-file: the token that the server is shown
  std::string ca;           ///< --ca: the certificates that the server's must come from
  std::string certificate;  ///< --certificate: our own, and its key
  std::string collection;   ///< --collection; empty: not given
  std::string clock;        ///< --clock manual:MS; empty: the machine's
  int64_t timeout_s = 600;  ///< --timeout: longest wait for an answer of the server
  bool json = false;        ///< --json
  Status result;            ///< of the command
  /// The exit code of a failed `result` where its own does not fit; 0: its own.
  int exit_code = 0;
  /// The name of that code, as --json says it.
  const char* exit_name = "";
  std::vector<std::string> argv;  ///< the whole command line
};

/// Which of the common flags a command takes.
enum class Takes {
  kNothing,         ///< --json
  kFolder,          ///< and --db
  kFolderOrServer,  ///< and --db or --url
  kServer,          ///< --json, --url
};

/// Adds the common flags to `command`, bound to `session`.
void AddCommonFlags(Command command, Session& session, Takes takes);

/// Whether a command that takes a folder goes by --collection; others refuse it.
enum class Collections { kAll, kOfFlag };

/// Adds a command that runs `run` when chosen; its outcome goes to session.result.
Command AddCommand(Command parent, Session& session, const std::string& name,
                   const std::string& description, Takes takes, std::function<Status()> run,
                   Collections collections = Collections::kAll);

/// A server's URL and where it was named: "--url", "SEENDB_URL" or "" for the default.
struct ServerUrl {
  std::string url;
  std::string named_by;
};

/// The server that a command asks: --url, else the variable SEENDB_URL, else
/// http://127.0.0.1:7373.
ServerUrl ServerUrlOf(const Session& session);
/// A client of that server, with what --token-file, --ca and --certificate name, else the variables
/// SEENDB_TOKEN_FILE, SEENDB_CA and SEENDB_CERTIFICATE. It is not connected yet. kInvalidArgument:
/// the URL or the token can't be read.
Result<std::unique_ptr<HttpClient>> OpenServer(const Session& session);

/// session.collection, or "default".
std::string CollectionOf(const Session& session);

/// Writes to standard output. kIOError.
Status Print(std::string_view text);
/// Prints `json`, indented, as --json asks for.
Status PrintJson(const Json& json);

}  // namespace seendb::tool
