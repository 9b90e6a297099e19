// The registration of a server at Consul: the body of PUT /v1/agent/service/register.

#include "discovery/consul_service.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace seendb::SEENDB_TEST_FILE {
namespace {

using discovery::ConsulService;
using discovery::MakeConsulService;
using nlohmann::json;

json BodyOf(const ops::ConsulConfig& config, const discovery::Listening& listening) {
  const Result<ConsulService> service = MakeConsulService(config, listening, "box", "1.2.3");
  EXPECT_TRUE(service.ok()) << service.status().ToString();
  return json::parse(service->json);
}

TEST(ConsulService, TellsWhereTheServerListensAndHowToCheckIt) {
  EXPECT_EQ(BodyOf({}, {.address = "10.0.0.7:7373"}), json::parse(R"({
    "ID": "seendb-box-7373", "Name": "seendb", "Address": "10.0.0.7", "Port": 7373,
    "Meta": {"version": "1.2.3", "scheme": "http"},
    "Check": {"Name": "SeenDB is ready", "HTTP": "http://10.0.0.7:7373/readyz", "Interval": "10s",
              "Timeout": "2s", "DeregisterCriticalServiceAfter": "600s"}})"));
}

TEST(ConsulService, OfAllAddressesTellsThePortAlone) {
  for (const auto& [address, checked] :
       {std::pair("0.0.0.0:80", "127.0.0.1:80"), std::pair("[::]:80", "[::1]:80")}) {
    const json body = BodyOf({}, {.address = address});
    EXPECT_FALSE(body.contains("Address"));
    EXPECT_EQ(body["Port"], 80);
    EXPECT_EQ(body["Check"]["HTTP"], "http://" + std::string(checked) + "/readyz");
  }
}

TEST(ConsulService, TellsWhatTheSettingsSay) {
  ops::ConsulConfig config;
  config.service = "seen";
  config.id = "seen-a";
  config.advertise = "[fd00::7]:443";
  config.check = "127.0.0.1:7374";
  config.tags = {"eu", "primary"};
  config.check_interval_s = 3;
  config.forget_after_s = 60;
  const json body = BodyOf(config, {.address = "0.0.0.0:7373", .secure = true});
  EXPECT_EQ(body["ID"], "seen-a");
  EXPECT_EQ(body["Name"], "seen");
  EXPECT_EQ(body["Address"], "fd00::7");
  EXPECT_EQ(body["Port"], 443);
  EXPECT_EQ(body["Tags"], json({"eu", "primary"}));
  EXPECT_EQ(body["Meta"]["scheme"], "https");
  EXPECT_EQ(body["Check"]["HTTP"], "https://127.0.0.1:7374/readyz");
  EXPECT_EQ(body["Check"]["TLSServerName"], "fd00::7");
  EXPECT_EQ(body["Check"]["Interval"], "3s");
  EXPECT_EQ(body["Check"]["DeregisterCriticalServiceAfter"], "60s");
}

TEST(ConsulService, ACheckThatOnlyConnectsAsksForNoPath) {
  ops::ConsulConfig config;
  config.check_connects = true;
  const json check = BodyOf(config, {.address = "[::]:7373", .secure = true})["Check"];
  EXPECT_EQ(check["TCP"], "[::1]:7373");
  EXPECT_FALSE(check.contains("HTTP"));
}

TEST(ConsulService, RefusesWhatIsNoAddress) {
  const auto refused = MakeConsulService({}, {.address = "/run/seendb.sock"}, "box", "1");
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
