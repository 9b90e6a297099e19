#include "session.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace seendb::tool {

CLI::Validator NotEmpty() {
  const auto check = [](const std::string& text) { return text.empty() ? "is empty" : ""; };
  return CLI::Validator(check, "");
}

void AddCommonFlags(CLI::App& command, Session& session, Takes takes) {
  command.add_flag("--json", session.json, "Machine-readable output");
  if (takes == Takes::kNothing) return;
  if (takes != Takes::kServer) {
    command.add_option("--db", session.db, "The database's folder")->type_name("DIR");
    command.add_option("--collection", session.collection, "The collection")
        ->type_name("NAME")
        ->check(NotEmpty());
    command
        .add_option("--clock", session.clock,
                    "With --db: take the present to be that many ms since 1970")
        ->type_name("manual:MS");
  }
  if (takes == Takes::kFolder) return;
  command.add_option("--url", session.url, "Ask a running server (http://127.0.0.1:7373)")
      ->type_name("URL");
  command.add_option("--timeout", session.timeout_s, "With --url: seconds to wait for an answer")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 86'400));
}

CLI::App& AddCommand(CLI::App& parent, Session& session, const std::string& name,
                     const std::string& description, Takes takes, std::function<Status()> run) {
  CLI::App& command = *parent.add_subcommand(name, description);
  AddCommonFlags(command, session, takes);
  command.callback([&session, &command, run = std::move(run)] {
    // A command with commands of its own leaves the work to the one chosen.
    if (command.get_subcommands().empty()) session.result = run();
  });
  return command;
}

std::string CollectionOf(const Session& session) {
  return session.collection.empty() ? "default" : session.collection;
}

Status Print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return Status::IOError(std::string("can't write the output: ") + std::strerror(errno));
  }
  return {};
}

Status PrintJson(const Json& json) {
  return Print(json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
}

}  // namespace seendb::tool
