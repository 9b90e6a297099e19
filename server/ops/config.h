// server/ops/config.h: everything seendb-server can be told, from a JSON file and from flags.
//
// Keys and defaults are listed in server/doc/settings.md. Unknown and repeated keys, wrong types
// and values out of range are refused with kInvalidArgument whose field is the key's JSON pointer.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/settings.h"
#include "http/limits.h"
#include "http/tls_files.h"
#include "ops/access_log_config.h"
#include "ops/audit_config.h"
#include "ops/cluster_config.h"
#include "ops/config_keys.h"
#include "ops/consul_config.h"
#include "ops/environment.h"
#include "ops/items_config.h"
#include "ops/kafka_config.h"
#include "ops/migration_config.h"
#include "seendb/options.h"
#include "seendb/status.h"

namespace seendb::ops {

/// The server's settings.
struct Config {
  GivenSettings given;                     ///< what was given, and by what
  std::string db;                          ///< the database's directory
  std::string checkpoints;                 ///< the folder for checkpoints; empty: none are taken
  std::string listen = "127.0.0.1:7373";   ///< host:port
  std::string admin_listen;                ///< host:port of /admin/* and /metrics; empty: `listen`
  std::string unix_listen;                 ///< a path; empty: none
  std::optional<http::TlsFiles> tls;       ///< "tls"; unset: TCP without TLS
  std::string tokens_file;                 ///< empty: no tokens are asked for
  bool authenticate_once = false;          ///< a connection shows its token only once
  bool require_secure = false;             ///< it starts only if ExposureOf finds nothing
  uint32_t threads = 0;                    ///< I/O threads; 0: as many as the machine has cores
  std::vector<std::string> hosts;          ///< names that clients may reach it by; "*": any
  std::vector<std::string> origins;        ///< pages that may make browsers ask
  std::string log_level = "info";          ///< debug, info, warn, error
  bool core_dumps = false;                 ///< a crash writes one; others may see the memory
  bool refuse_unsafe_integers = false;     ///< "unsafe_integers" is "refuse"
  bool compress_filter = false;            ///< answers of filters are compressed where asked
  std::optional<int64_t> manual_clock_ms;  ///< --clock manual:MS
  AccessLogConfig access_log;              ///< "access_log"
  std::optional<AuditConfig> audit;        ///< "audit"; unset: there is none
  http::Limits limits;                     ///< "limits"
  admission::Settings admission;           ///< "admission"
  ItemsConfig items;                       ///< "items"
  std::optional<ConsulConfig> consul;      ///< "consul"; unset: no catalog has it
  std::optional<KafkaConfig> kafka;        ///< "kafka"; unset: nothing is consumed
  std::optional<ClusterConfig> cluster;    ///< "cluster"; unset: it is a server by itself
  std::vector<MigrationConfig> migration;  ///< "migration"; empty: nothing moves in
  bool default_policy = false;             ///< "default_policy" was given; it is in `engine`
  Options engine;                          ///< "engine", and "limits"/"candidates"
};

/// How many I/O threads a server with these settings has.
size_t ThreadsOf(const Config& config);

/// Reads a config document over `*config`; what it does not name stays as it is. A line may end
/// with a comment, "// ...".
Status ReadConfig(std::string_view json, Config* config);

/// The most bytes of a file of settings or of a policy.
inline constexpr size_t kMaxConfigFileBytes = 1u << 20;

/// All keys, which set and show the values of `*config`; borrowed.
Keys ConfigKeys(Config* config);

/// Reads a file, over it the variables of the environment (environment.h), and over both the flags,
/// into `*config`, whose `given` tells them. An empty path: no file. What is wrong names the file,
/// the variable or the flag. Refused are files that others may write if a secret is in them.
Status ReadAllSettings(const std::string& path, const Variables& variables, const FlagValues& flags,
                       Config* config);

/// Reads the policy that `default` has in a new database.
Status ReadDefaultPolicy(std::string_view json, Config* config);

/// Reads "manual:MS".
Status ReadClock(std::string_view text, Config* config);

/// What the command line asked for.
struct CommandLine {
  std::optional<Config> config;  ///< set: run with it
  bool check_config = false;     ///< only look at it (--check-config)
  int exit_code = 0;             ///< no config: end with this
  std::string output = {};       ///< and print this (help and version to stdout, errors to stderr)
};

/// Reads flags and, through --config, a file; flags win. `version`: what --version says.
CommandLine ReadCommandLine(int argc, const char* const* argv, const std::string& version);

}  // namespace seendb::ops
