// What TLS and tokens cost: one thread of load, 4 connections, a seendb-server of one thread that
// knows nobody, so that the filter itself is as short as it gets. Keep-alive requests of 50 and of
// 5,000 ids, and connections of one request each (under TLS 1.3, P-256, a full handshake). Beside
// the requests per second: the processor time of the server per request.

#include <fstream>

#include "load/load_generator.h"
#include "load/server_process.h"
#include "scenario/all.h"
#include "scenario/common.h"

namespace seendb::perf {
namespace {

constexpr char kToken[] = "bench";
// Its SHA-256.
constexpr char kTokenDigest[] = "1b32c28cb38c05480eccc1bd60ff97029b57a05c96718b96dad7e9d84894f549";

// One way to run the server.
struct Guard {
  const char* name;
  bool tls;
  size_t tokens;  // in its file
};
constexpr Guard kGuards[] = {{"none", false, 0},
                             {"1 token", false, 1},
                             {"1,000 tokens", false, 1'000},
                             {"tls", true, 0},
                             {"tls, 1 token", true, 1}};

// Key and certificate, by the program openssl.
void MakeCertificate(const std::string& folder) {
  const std::string command =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
      "-subj /CN=bench -keyout " +
      folder + "/key -out " + folder + "/certificate 2>/dev/null && chmod 600 " + folder + "/key";
  if (std::system(command.c_str()) != 0) Fail("no certificate: is openssl installed?");
}

// The settings for a guard; the path of the file.
std::string MakeSettings(const Guard& guard, const std::string& folder) {
  const std::string path = folder + "/settings", tokens = folder + "/tokens";
  std::ofstream out(path);
  out << "{\"threads\":1";
  if (guard.tls) {
    out << R"(,"tls":{"certificate":")" << folder << R"(/certificate","key":")" << folder
        << "/key\"}";
  }
  if (guard.tokens > 0) {
    out << R"(,"tokens_file":")" << tokens << "\"";
    std::ofstream list(tokens);
    for (size_t i = 0; i < guard.tokens; ++i) {
      std::string digest = std::to_string(i);
      digest.insert(0, 64 - digest.size(), '0');
      if (i + 1 == guard.tokens) digest = kTokenDigest;
      list << (i == 0 ? "[" : ",") << R"({"name":"t)" << i << R"(","role":"read","sha256":")"
           << digest << "\"}";
    }
    list << "]";
  }
  out << "}";
  return path;
}

std::string FilterOf(int ids, const Guard& guard) {
  HttpRequest request{"/filter", "application/json", "", R"({"user":"u","items":[)"};
  for (int i = 0; i < ids; ++i) {
    request.body += (i == 0 ? "\"" : ",\"") + std::to_string(1'000'000'000'000 + i) + "\"";
  }
  request.body += "]}";
  if (guard.tokens > 0) request.token = kToken;
  return Encode(request);
}

struct Work {
  const char* what;
  int ids;
  bool connects;
};
constexpr Work kWorks[] = {{"50 ids, keep-alive", 50, false},
                           {"5,000 ids, keep-alive", 5'000, false},
                           {"50 ids, connection of its own", 50, true}};

}  // namespace

void RunSecrets(const Settings& settings, Report* report) {
  if (settings.server.empty()) {
    report->Note("secrets", "absent: no server program was named (--server)");
    return;
  }
  const TemporaryFolder folder;
  MakeCertificate(folder.path());
  const double seconds = settings.quick ? 0.3 : 2;
  for (int round = 0; round < settings.rounds; ++round) {
    for (const Guard& guard : kGuards) {
      const ServerProcess server(
          settings.server, {"--db", folder.path() + "/db", "--listen", "127.0.0.1:0", "--config",
                            MakeSettings(guard, folder.path())});
      for (const Work& work : kWorks) {
        const std::vector<std::string> requests = {FilterOf(work.ids, guard)};
        LoadShape load{server.port(), 4, 0.2, guard.tls, work.connects};
        RunLoad(load, requests);
        load.seconds = seconds;
        const double before = server.CpuSeconds();
        const LoadResult result = RunLoad(load, requests);
        const double cpu_s = server.CpuSeconds() - before;
        if (result.failures != 0) Fail("HTTP: status " + std::to_string(result.last_failure));
        const auto answers = static_cast<double>(result.answers);
        const Case where = {{"what", work.what}};
        report->Add({"secrets", where, guard.name, "requests_per_s", Better::kMore},
                    answers / result.seconds);
        report->Add({"secrets", where, guard.name, "server_cpu_us"}, cpu_s / answers * 1e6);
      }
    }
  }
}

}  // namespace seendb::perf
