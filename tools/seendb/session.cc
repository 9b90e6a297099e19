#include "session.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace seendb::tool {
namespace {

constexpr const char* kDefaultUrl = "http://127.0.0.1:7373";
constexpr const char* kUrlVariable = "SEENDB_URL";
constexpr const char* kAdminUrlVariable = "SEENDB_ADMIN_URL";

/// What a flag said, else what the variable says.
std::string FlagOr(const std::string& flag, const char* variable) {
  if (!flag.empty()) return flag;
  const char* const named = std::getenv(variable);
  return named == nullptr ? std::string() : named;
}

}  // namespace

void AddCommonFlags(Command command, Session& session, Takes takes) {
  command.AddFlag("--json", session.json, "Machine-readable output");
  if (takes == Takes::kNothing) return;
  if (takes != Takes::kServer) {
    command.Add("--db", session.db, "The database's folder").TypeName("DIR").NotEmpty();
    command
        .Add("--clock", session.clock, "With --db: take the present to be that many ms since 1970")
        .TypeName("manual:MS");
  }
  if (takes == Takes::kFolder) return;
  command
      .Add("--url", session.url,
           takes == Takes::kServer
               ? "The server (the variable SEENDB_URL, else http://127.0.0.1:7373)"
               : "Without --db: the server (the variable SEENDB_URL, else http://127.0.0.1:7373)")
      .TypeName("URL")
      .NotEmpty();
  command
      .Add("--token-file", session.token_file,
           "A file whose first line is the token for the server (SEENDB_TOKEN_FILE)")
      .TypeName("FILE")
      .NotEmpty();
  command
      .Add("--ca", session.ca,
           "Under https: the certificates to trust, PEM (SEENDB_CA, else the system's)")
      .TypeName("FILE")
      .NotEmpty();
  command
      .Add("--certificate", session.certificate,
           "Under https: our own certificate and key, PEM (SEENDB_CERTIFICATE)")
      .TypeName("FILE")
      .NotEmpty();
  command.Add("--timeout", session.timeout_s, "Seconds to wait for an answer of the server")
      .TypeName("SECONDS")
      .Range(1, 86'400);
}

Command AddCommand(Command parent, Session& session, const std::string& name,
                   const std::string& description, Takes takes, std::function<Status()> run,
                   Collections collections) {
  Command command = parent.AddCommand(name, description,
                                      [&session, run = std::move(run)] { session.result = run(); });
  AddCommonFlags(command, session, takes);
  if (collections == Collections::kOfFlag) {
    command.Add("--collection", session.collection, "The collection").TypeName("NAME").NotEmpty();
  }
  return command;
}

ServerUrl ServerUrlOf(const Session& session) {
  if (!session.url.empty()) return {session.url, "--url"};
  const char* const named = std::getenv(kUrlVariable);
  if (named != nullptr && *named != '\0') return {named, kUrlVariable};
  return {kDefaultUrl, ""};
}

Result<std::unique_ptr<HttpClient>> OpenServer(const Session& session) {
  const ServerUrl chosen = ServerUrlOf(session);
  auto address = ParseServerUrl(chosen.url, chosen.named_by);
  if (!address.ok()) return address.status();
  Credentials credentials{.ca = FlagOr(session.ca, "SEENDB_CA"),
                          .certificate = FlagOr(session.certificate, "SEENDB_CERTIFICATE")};
  if (const std::string file = FlagOr(session.token_file, "SEENDB_TOKEN_FILE"); !file.empty()) {
    Result<std::string> token = ReadTokenFile(file);
    if (!token.ok()) return token.status();
    credentials.token = std::move(token).value();
  }
  std::string hint;
  if (chosen.named_by.empty()) hint = "the default; name another by --url or SEENDB_URL";
  if (chosen.named_by == kUrlVariable) hint = "named by SEENDB_URL";
  auto client = std::make_unique<HttpClient>(std::move(address).value(), session.timeout_s * 1000,
                                             std::move(hint), credentials);
  // Beside --url the variable could be of another server.
  const char* const admin = session.url.empty() ? std::getenv(kAdminUrlVariable) : nullptr;
  if (admin == nullptr || *admin == '\0') return client;
  auto admin_address = ParseServerUrl(admin, kAdminUrlVariable);
  if (!admin_address.ok()) return admin_address.status();
  client->SendAdminTo(std::make_unique<HttpClient>(
      std::move(admin_address).value(), session.timeout_s * 1000,
      std::string("named by ") + kAdminUrlVariable, std::move(credentials)));
  return client;
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
