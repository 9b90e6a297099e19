#include "ops/exposure.h"

#include <gtest/gtest.h>

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
  config.tls.reset();
  config.tokens_file = "tokens.json";
  EXPECT_EQ(ExposureOf(config), "");
}

}  // namespace
}  // namespace seendb::ops
