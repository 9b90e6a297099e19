// The flags of seendb-server.

#include <sstream>

#include <CLI/CLI.hpp>

#include "base/whole_file.h"
#include "ops/config.h"
#include "ops/exit_codes.h"
#include "ops/exposure.h"
#include "ops/settings_text.h"

namespace seendb::ops {
namespace {

/// Flags as given; absent ones leave the config file's value.
struct Flags {
  std::string db, config, checkpoints, default_policy, listen, log_level, clock;
  uint32_t threads = 0, shards = 0;
  bool open_damaged = false, confirm_clock = false, check_config = false, print_config = false;
};

CommandLine Refused(const std::string& message) {
  return {.config = std::nullopt,
          .exit_code = kExitUsage,
          .output = "seendb-server: " + message + "\n"};
}

std::string Where(const Status& status) {
  std::string text(status.message());
  if (!status.field().empty()) text = std::string(status.field()) + ": " + text;
  return text;
}

/// Reads the file of --default-policy; what is wrong with it, or nothing.
std::string ReadPolicyFile(const std::string& path, Json* policy) {
  const Result<std::string> text = ReadWholeFile(path, kMaxConfigFileBytes);
  if (!text.ok()) return std::string(text.status().message());
  Config unused;
  Status status = ReadDefaultPolicy(*text, &unused);
  if (status.ok()) status = ParseStrictly(*text, policy);
  return status.ok() ? std::string() : path + ": " + Where(status);
}

FlagValues ValuesOf(const CLI::App& app, const Flags& flags) {
  FlagValues values;
  const auto add = [&](const char* flag, const char* pointer, const Json& value) {
    if (app.count(flag) > 0) values[pointer] = {value, flag};
  };
  add("--db", "/db", flags.db);
  add("--checkpoints", "/checkpoints", flags.checkpoints);
  add("--listen", "/listen", flags.listen);
  add("--threads", "/threads", flags.threads);
  add("--shards", "/engine/shards", flags.shards);
  add("--log-level", "/log_level", flags.log_level);
  add("--clock", "/clock", flags.clock);
  add("--open-damaged", "/engine/open_damaged", true);
  return values;
}

CommandLine Compose(const CLI::App& app, const Flags& flags) {
  Config config;
  FlagValues values = ValuesOf(app, flags);
  if (app.count("--default-policy") > 0) {
    FlagValue& policy = values["/default_policy"];
    policy.flag = "--default-policy";
    const std::string failed = ReadPolicyFile(flags.default_policy, &policy.value);
    if (!failed.empty()) return Refused(failed);
  }
  const Variables variables = OwnVariables();
  const auto named = variables.find(kFileVariable);
  const bool by_variable = app.count("--config") == 0 && named != variables.end();
  const std::string& path = by_variable ? named->second : flags.config;
  const Status read = ReadAllSettings(path, variables, values, &config);
  if (!read.ok()) return Refused(std::string(read.message()));
  if (flags.confirm_clock) config.engine.confirm_clock = true;
  if (flags.print_config) return {.config = std::nullopt, .output = SettingsText(config)};
  if (config.db.empty()) return Refused("--db DIR is missing");
  if (const Status secure = config.require_secure ? CheckSecure(config) : Status(); !secure.ok()) {
    return Refused("require_secure: " + Where(secure));
  }
  return {.config = std::move(config), .check_config = flags.check_config};
}

}  // namespace

CommandLine ReadCommandLine(int argc, const char* const* argv, const std::string& version) {
  Flags flags;
  CLI::App app("Serves a SeenDB database over HTTP.", "seendb-server");
  app.add_option("--db", flags.db, "the database's directory, made where there is none")
      ->type_name("DIR");
  app.add_option("--config", flags.config,
                 "settings as JSON (or by SEENDB_CONFIG); variables and flags win over it")
      ->type_name("FILE");
  app.add_option("--default-policy", flags.default_policy,
                 "the policy of the collection default in a new database, as JSON")
      ->type_name("FILE");
  app.add_option("--checkpoints", flags.checkpoints,
                 "the folder POST /admin/checkpoint copies into, made where there is none")
      ->type_name("DIR");
  app.add_option("--listen", flags.listen, "where to listen (127.0.0.1:7373); port 0: any")
      ->type_name("HOST:PORT");
  app.add_option("--threads", flags.threads, "I/O threads (one per core)")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  app.add_option("--shards", flags.shards, "shards of a new database (4)")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  app.add_option("--log-level", flags.log_level, "debug, info, warn or error (info)")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}))
      ->type_name("LEVEL");
  app.add_option("--clock", flags.clock, "manual:MS: time stands at MS until moved (for tests)")
      ->type_name("CLOCK");
  app.add_flag("--open-damaged", flags.open_damaged,
               "serve although synced log records are missing");
  app.add_flag("--confirm-clock", flags.confirm_clock,
               "the machine's clock is right, however far it went since the database was open");
  app.add_flag(
      "--check-config", flags.check_config,
      "only tell whether the settings, certificates and tokens are in order; make nothing");
  app.add_flag("--print-config", flags.print_config,
               "print the settings as a settings file that says where each came from, without "
               "secrets; make nothing");
  app.set_version_flag("--version", "seendb-server " + version);
  app.footer(
      "Examples:\n"
      "  seendb-server --db db                                  # at http://127.0.0.1:7373\n"
      "  seendb-server --config seendb.json --check-config\n"
      "  seendb-server --db db --listen 127.0.0.1:0             # any port; stdout says which\n"
      "  SEENDB_DB=db SEENDB_ENGINE_SHARDS=8 seendb-server      # any key as a variable\n"
      "The settings are described in server/doc/settings.md, the API by GET /openapi.json and\n"
      "GET /openapi-admin.json.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    const int code = app.exit(error, out, err);
    return {.config = std::nullopt,
            .exit_code = code == 0 ? kExitOk : kExitUsage,
            .output = out.str() + err.str()};
  }
  return Compose(app, flags);
}

}  // namespace seendb::ops
