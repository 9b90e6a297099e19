#include "ops/exposure.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <unistd.h>

#include "ops/exit_codes.h"

namespace seendb::ops {
namespace {

Config Listening(const std::string& at) {
  Config config;
  config.listen = at;
  return config;
}

TEST(Exposure, OnlyBeyondThisMachine) {
  for (const char* const at : {"127.0.0.1:7373", "127.8.9.1:1", "[::1]:1", "localhost:1"}) {
    EXPECT_EQ(ExposureOf(Listening(at)), "") << at;
  }
  for (const char* const at : {"0.0.0.0:7373", "[::]:1", "10.0.0.1:1", "seen.example.com:1"}) {
    EXPECT_NE(ExposureOf(Listening(at)).find(at), std::string::npos) << at;
  }
}

TEST(Exposure, TheDoorForAdministrationCountsToo) {
  Config config = Listening("127.0.0.1:1");
  config.admin_listen = "0.0.0.0:2";
  EXPECT_NE(ExposureOf(config).find("0.0.0.0:2"), std::string::npos);
}

TEST(Exposure, TokensOrCertificatesOfClientsCloseIt) {
  Config config = Listening("0.0.0.0:1");
  config.tls.emplace();
  EXPECT_NE(ExposureOf(config), "") << "TLS alone lets everybody in";
  config.tls->client_ca = "ca.pem";
  EXPECT_EQ(ExposureOf(config), "");
}

TEST(Exposure, TokensBeyondThisMachineNeedTls) {
  Config config = Listening("0.0.0.0:1");
  config.tokens_file = "tokens.json";
  EXPECT_NE(ExposureOf(config).find("0.0.0.0:1 in clear"), std::string::npos) << ExposureOf(config);
  config.tls.emplace();
  EXPECT_EQ(ExposureOf(config), "");
  config.tls.reset();
  config.listen = "127.0.0.1:1";
  EXPECT_EQ(ExposureOf(config), "");
  config.admin_listen = "10.0.0.1:2";
  EXPECT_NE(ExposureOf(config).find("10.0.0.1:2 in clear"), std::string::npos);
}

// The exit code and the error of a start with these settings.
std::pair<int, std::string> Start(const std::string& json) {
  const std::string path =
      testing::TempDir() + "exposure_test." + std::to_string(getpid()) + ".json";
  std::ofstream(path) << json;
  const std::array<const char*, 5> args = {"seendb-server", "--db", "db", "--config", path.c_str()};
  const CommandLine line = ReadCommandLine(args.size(), args.data(), "1");
  std::filesystem::remove(path);
  return {line.config ? 0 : line.exit_code, line.output};
}

TEST(Exposure, RequireSecureRefusesToStart) {
  const std::string tls = R"(,"tls":{"certificate":"c.pem","key":"k.pem"})";
  const std::string tokens = R"(,"tokens_file":"tokens.json")";
  const std::string at = R"({"require_secure":true,"listen":"0.0.0.0:1")";
  for (const std::string& more : {std::string(), tls, tokens}) {
    const auto [code, output] = Start(at + more + "}");
    EXPECT_EQ(code, kExitUsage) << more;
    EXPECT_NE(output.find("/require_secure: "), std::string::npos) << output;
  }
  EXPECT_EQ(Start(at + tls + tokens + "}").first, 0);
  EXPECT_EQ(Start(R"({"require_secure":true,"listen":"127.0.0.1:1"})").first, 0);
  EXPECT_EQ(Start(R"({"require_secure":false,"listen":"0.0.0.0:1"})").first, 0);
}

}  // namespace
}  // namespace seendb::ops
