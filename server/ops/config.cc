#include "ops/config.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json_pointer.h"
#include "base/siphash.h"
#include "base/whole_file.h"
#include "ops/admission_config.h"
#include "ops/config_keys.h"
#include "ops/host_port_key.h"
#include "ops/secret_files.h"
#include "seendb/policy.h"

namespace seendb::ops {
namespace {

constexpr size_t kNamesMost = 256;

/// "00:00-05:00" to minutes of the day.
Setter Maintenance(Options* to) {
  const auto set = [=](const Json& value) {
    int begin_h = 0, begin_m = 0, end_h = 0, end_m = 0;
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    const auto number = [&](size_t at, int* into, int max) {
      if (text[at] < '0' || text[at] > '9' || text[at + 1] < '0' || text[at + 1] > '9') {
        return false;
      }
      *into = (text[at] - '0') * 10 + (text[at + 1] - '0');
      return *into <= max;
    };
    if (text.size() != 11 || text[2] != ':' || text[5] != '-' || text[8] != ':' ||
        !number(0, &begin_h, 23) || !number(3, &begin_m, 59) || !number(6, &end_h, 24) ||
        !number(9, &end_m, 59) || end_h * 60 + end_m > 1440) {
      return Status::InvalidArgument("must look like \"00:00-05:00\"");
    }
    to->maintenance_begin_minute = begin_h * 60 + begin_m;
    to->maintenance_end_minute = (end_h * 60 + end_m) % 1440;
    return Status::Ok();
  };
  const auto shown = [to] {
    char text[16];
    std::snprintf(text, sizeof(text), "%02d:%02d-%02d:%02d", to->maintenance_begin_minute / 60 % 24,
                  to->maintenance_begin_minute % 60, to->maintenance_end_minute / 60 % 24,
                  to->maintenance_end_minute % 60);
    return Json(text);
  };
  return Setter(set, Written::kText).Showing(shown);
}

Keys LimitKeys(Config* config) {
  constexpr int64_t kMaxBytes = int64_t{1} << 40;
  constexpr int64_t kMaxMs = 24 * 3'600'000;
  http::Limits& limits = config->limits;
  return {{"body_bytes", Integer(&limits.body_bytes, 1'024, int64_t{1} << 30)},
          {"line_bytes", Integer(&limits.line_bytes, 1'024, int64_t{1} << 30)},
          {"header_bytes", Integer(&limits.header_bytes, 1'024, 1 << 20)},
          {"header_ms", Integer(&limits.header_ms, 1, kMaxMs)},
          {"idle_ms", Integer(&limits.idle_ms, 1, kMaxMs)},
          {"transfer_ms", Integer(&limits.transfer_ms, 1, kMaxMs)},
          {"stream_ms", Integer(&limits.stream_ms, 0, 366 * kMaxMs)},
          {"read_bytes_per_s", Integer(&limits.read_bytes_per_s, 0, int64_t{1} << 30)},
          {"connections", Integer(&limits.connections, 1, 1'000'000)},
          {"connections_per_peer", Integer(&limits.connections_per_peer, 0, 1'000'000)},
          {"failed_tokens_per_minute", Integer(&limits.failed_tokens_per_minute, 0, 1'000'000)},
          {"inflight_bytes", Integer(&limits.inflight_bytes, 1 << 20, kMaxBytes)},
          {"answer_bytes", Integer(&limits.answer_bytes, 1 << 20, kMaxBytes)},
          {"backlog", Integer(&limits.backlog, 1, 65'535)},
          {"queue", Integer(&limits.queue, 1, 1'000'000)},
          {"shutdown_delay_ms", Integer(&limits.shutdown_delay_ms, 0, kMaxMs)},
          {"shutdown_ms", Integer(&limits.shutdown_ms, 0, kMaxMs)},
          {"candidates", Integer(&config->engine.max_candidates, 1, 10'000'000)}};
}

/// The key by which a new database hashes items. It is a secret: no message repeats it.
Setter ItemHashKey(Options* to) {
  const auto set = [=](const Json& value) {
    const auto key = ParseKeyBytes(value.is_string() ? value.get<std::string>() : "");
    if (!key) return Status::InvalidArgument("must be a string of 32 hexadecimal digits");
    to->item_hash_key = key;
    return Status::Ok();
  };
  return Setter(set, Written::kText);
}

Keys EngineKeys(Options* options) {
  constexpr int64_t kMaxBytes = int64_t{1} << 44;
  return {{"shards", Integer(&options->shards, 0, 1'024)},
          {"item_hash_key", ItemHashKey(options)},
          {"open_damaged", Flag(&options->open_damaged)},
          {"ring_slots", Integer(&options->ring_slots, 2, 64)},
          {"slot_ms", Integer(&options->slot_ms, 1, 366LL * 86'400'000)},
          {"slot_bytes", Integer(&options->slot_bytes_max, 1, kMaxBytes)},
          {"short_term_bytes", Integer(&options->short_term_bytes, 0, kMaxBytes)},
          {"block_cache_bytes", Integer(&options->block_cache_bytes, 0, kMaxBytes)},
          {"user_cache_bytes", Integer(&options->user_cache_bytes, 0, kMaxBytes)},
          {"write_buffer_bytes", Integer(&options->write_buffer_bytes, 1 << 20, kMaxBytes)},
          {"background_threads", Integer(&options->background_threads, 1, 256)},
          {"max_column_families", Integer(&options->max_column_families, 1, 100'000)},
          {"max_collections", Integer(&options->max_collections, 1, 10'000)},
          {"list_limit", Integer(&options->list_limit, 16, 65'535)},
          {"sync_interval_ms", Integer(&options->sync_interval_ms, 1, 86'400'000)},
          {"erase_within_days", Integer(&options->erase_within_days, 1, 3'650)},
          {"outbox_max", Integer(&options->outbox_max, 1, 1'000'000'000)},
          {"clock_jump_ms", Integer(&options->clock_jump_ms, 0, 36'600LL * 86'400'000)},
          {"maintenance", Maintenance(options)}};
}

/// The files of TLS.
Keys TlsKeys(http::TlsFiles* files) {
  return {{"certificate", Name(&files->certificate)},
          {"key", Name(&files->key)},
          {"client_ca", Name(&files->client_ca)}};
}

Status CheckTls(const http::TlsFiles& files) {
  if (files.certificate.empty()) return Status::InvalidArgument("is missing", "/certificate");
  return files.key.empty() ? Status::InvalidArgument("is missing", "/key") : Status::Ok();
}

/// A host's name as it stands in a Host header, without the port; or "*".
Status CheckHostName(const std::string& name) {
  constexpr std::string_view kMembers =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  if (name == "*") return Status::Ok();
  if (!name.empty() && name.size() <= 253 && name.back() != '.' &&
      name.find_first_not_of(kMembers) == std::string::npos) {
    return Status::Ok();
  }
  return Status::InvalidArgument("must be a host's name without scheme and port, or \"*\"");
}

/// An origin as browsers send it: "https://host" or "http://host:port".
Status CheckOrigin(const std::string& origin) {
  const size_t scheme = origin.find("://");
  const std::string_view name = std::string_view(origin).substr(0, std::min(scheme, origin.size()));
  const bool sound = scheme != std::string::npos && origin.size() <= 300 &&
                     (name == "http" || name == "https") && origin.size() > scheme + 3 &&
                     origin.find_first_of("/?# *", scheme + 3) == std::string::npos;
  return sound ? Status::Ok()
               : Status::InvalidArgument("must look like \"https://host\" or \"http://host:port\"");
}

/// Other nodes reach this one as it listens.
Status CheckScheme(const Config& config) {
  const bool secure = config.cluster->advertise.starts_with("https://");
  if (secure == config.tls.has_value()) return {};
  return Status::InvalidArgument(secure ? "is https, and the server has no certificate: set tls"
                                        : "must be https: with tls the server speaks nothing else",
                                 "/cluster/advertise");
}

/// With a key of each start the audit could not tell one user from another over two starts.
Status CheckAuditUsers(const Config& config) {
  if (config.audit->clear_users || !config.access_log.user_key.empty()) return {};
  return Status::InvalidArgument(
      "is missing: the audit hashes users by it; or set audit.users to \"clear\"",
      "/access_log/user_key");
}

/// The parser repeats what it has read last, which may be a password.
Status WithoutWhatWasRead(const Status& malformed) {
  const std::string_view message = malformed.message();
  return Status::InvalidArgument(std::string(message.substr(0, message.find("; last read"))),
                                 std::string(malformed.field()));
}

/// The same text with blanks in place of comments, "// ..." to the end of a line. Zero bytes stay,
/// and are refused.
std::string BlankComments(std::string_view json) {
  std::string out(json);
  bool in_text = false;
  for (size_t at = 0; at < out.size(); ++at) {
    if (out[at] == '"') in_text = !in_text;
    if (in_text && out[at] == '\\') ++at;
    if (in_text || out.compare(at, 2, "//") != 0) continue;
    for (; at < out.size() && out[at] != '\n' && out[at] != '\r'; ++at) {
      if (out[at] != '\0') out[at] = ' ';
    }
  }
  return out;
}

Status ParseDocument(std::string_view json, Json* document) {
  const Status parsed = ParseStrictly(BlankComments(json), document);
  return parsed.ok() ? parsed : WithoutWhatWasRead(parsed);
}

/// From SIGTERM on, for the other nodes to learn that this one leaves.
constexpr int64_t kClusterDelayMs = 2'000;

bool Names(const Json& document, const char* section, const char* key) {
  return document.contains(section) && document.at(section).contains(key);
}

}  // namespace

size_t ThreadsOf(const Config& config) {
  return config.threads > 0 ? config.threads : std::max(1u, std::thread::hardware_concurrency());
}

Keys ConfigKeys(Config* config) {
  const auto clock = [config](const Json& value) {
    if (!value.is_string()) return Status::InvalidArgument("must be a string");
    return ReadClock(value.get<std::string>(), config);
  };
  const auto level = [config](const Json& value) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    if (text != "debug" && text != "info" && text != "warn" && text != "error") {
      return Status::InvalidArgument("must be debug, info, warn or error");
    }
    config->log_level = text;
    return Status::Ok();
  };
  const auto default_policy = [config](const Json& value) {
    return ReadDefaultPolicy(value.dump(), config);
  };
  return {{"db", Text(&config->db)},
          {"checkpoints", Text(&config->checkpoints)},
          {"listen", HostPort(&config->listen)},
          {"admin_listen", HostPort(&config->admin_listen)},
          {"unix_listen", Name(&config->unix_listen)},
          {"tls", SectionOf(&config->tls, TlsKeys, CheckTls)},
          {"tokens_file", Name(&config->tokens_file)},
          {"authenticate_once", Flag(&config->authenticate_once)},
          {"require_secure", Flag(&config->require_secure)},
          {"hosts", TextList(&config->hosts, kNamesMost, CheckHostName)},
          {"origins", TextList(&config->origins, kNamesMost, CheckOrigin)},
          {"threads", Integer(&config->threads, 0, 1'024)},
          {"log_level",
           Setter(level, Written::kText).Showing([config] { return Json(config->log_level); })},
          {"access_log", AccessLog(&config->access_log)},
          {"audit", SectionOf(&config->audit, AuditKeys, CheckAudit)},
          {"core_dumps", Flag(&config->core_dumps)},
          {"unsafe_integers", OneOf(&config->refuse_unsafe_integers, "count", "refuse")},
          {"compress_filter", Flag(&config->compress_filter)},
          {"clock", Setter(clock, Written::kText)},  // without one there is none to show
          {"limits", Section(LimitKeys(config))},
          {"admission", AdmissionSection(&config->admission)},
          {"consul", Consul(&config->consul)},
          {"items", Section(ItemsKeys(&config->items))},
          {"kafka", Kafka(&config->kafka)},
          {"cluster", Cluster(&config->cluster)},
          {"migration", Migration(&config->migration)},
          {"default_policy", default_policy},
          {"engine", Section(EngineKeys(&config->engine))}};
}

namespace {

Status ReadSettings(const Json& document, Config* config) {
  Status status = Apply(document, ConfigKeys(config), "");
  if (status.ok() && config->cluster && !Names(document, "limits", "shutdown_delay_ms")) {
    config->limits.shutdown_delay_ms = kClusterDelayMs;
  }
  if (status.ok() && config->kafka) {
    status = SettleKafka(config->cluster ? &*config->cluster : nullptr, config->items.bytes > 0,
                         &*config->kafka);
  }
  if (status.ok() && config->cluster) status = CheckScheme(*config);
  if (status.ok() && config->audit) status = CheckAuditUsers(*config);
  return status;
}

/// The error with who is at fault before it: the flag, the variable or the file.
Status Told(const Status& status, const GivenSettings& given) {
  const std::string message(status.message()), field(status.field());
  std::string by = NameOf(given, field);
  if (by.starts_with("--")) return Status(status.code(), by + " " + message, field);
  if (by.empty()) by = given.file;
  return Status(status.code(),
                (by.empty() ? "" : by + ": ") + (field.empty() ? "" : field + ": ") + message,
                field);
}

/// The file's settings. Errors begin with its path.
Status ReadDocument(const std::string& path, Json* document) {
  const Result<std::string> text = ReadWholeFile(path, kMaxConfigFileBytes);
  if (!text.ok()) return text.status();
  if (Status parsed = ParseDocument(*text, document); !parsed.ok()) {
    return Told(parsed, {.file = path});
  }
  const std::string secret = WrittenSecret(*document);
  const Status writers = secret.empty() ? Status() : CheckWriters(path);
  if (writers.ok()) return writers;
  return Status::InvalidArgument(
      std::string(writers.message()) + " (it holds a secret: " + secret + ")", secret);
}

}  // namespace

Status ReadConfig(std::string_view json, Config* config) {
  Json document;
  if (Status status = ParseDocument(json, &document); !status.ok()) return status;
  return ReadSettings(document, config);
}

Status ReadAllSettings(const std::string& path, const Variables& variables, const FlagValues& flags,
                       Config* config) {
  GivenSettings given{.file = path, .flags = flags};
  Status status = path.empty() ? Status() : ReadDocument(path, &given.document);
  if (status.ok()) status = AddVariables(ConfigKeys(config), variables, &given);
  if (!status.ok()) return status;
  AddFlags(&given);
  status = CheckShown(given.document);
  if (status.ok()) status = ReadSettings(given.document, config);
  if (!status.ok()) status = Told(status, given);
  config->given = std::move(given);
  return status;
}

Status ReadDefaultPolicy(std::string_view json, Config* config) {
  const Result<PolicyPatch> patch = PolicyPatchFromJson(json);
  if (!patch.ok()) return patch.status();
  if (Status valid = ValidatePolicy(ApplyPatch({}, *patch)); !valid.ok()) return valid;
  config->engine.default_policy = *patch;
  config->default_policy = true;
  return Status::Ok();
}

Status ReadClock(std::string_view text, Config* config) {
  constexpr std::string_view kPrefix = "manual:";
  int64_t ms = 0;
  if (text.substr(0, kPrefix.size()) == kPrefix) {
    const std::string_view number = text.substr(kPrefix.size());
    const char* const end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, ms);
    if (error == std::errc() && stop == end && ms >= 0 && ms <= kLastTimeMs) {
      config->manual_clock_ms = ms;
      return Status::Ok();
    }
  }
  return Status::InvalidArgument("must be \"manual:MS\", MS in milliseconds since 1970, at most " +
                                 std::to_string(kLastTimeMs));
}

}  // namespace seendb::ops
