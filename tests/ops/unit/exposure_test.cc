#include "ops/exposure.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <unistd.h>

#include "ops/exit_codes.h"

namespace seendb::ops::SEENDB_TEST_FILE {
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
    EXPECT_NE(output.find("require_secure: "), std::string::npos) << output;
  }
  EXPECT_EQ(Start(at + tls + tokens + "}").first, 0);
  EXPECT_EQ(Start(R"({"require_secure":true,"listen":"127.0.0.1:1"})").first, 0);
  EXPECT_EQ(Start(R"({"require_secure":false,"listen":"0.0.0.0:1"})").first, 0);
}

Config WithKafka(const std::string& brokers, std::map<std::string, std::string> properties) {
  Config config;
  config.kafka.emplace();
  config.kafka->brokers = brokers;
  config.kafka->properties = std::move(properties);
  return config;
}

TEST(CheckSecure, KafkaBeyondThisMachineNeedsTls) {
  const std::string protocol = "/kafka/properties/security.protocol";
  for (const char* const brokers : {"k.example:9092", "127.0.0.1:1,10.0.0.1:2", "PLAINTEXT://k:1",
                                    "[2001:db8::1]:9092", "::ffff:10.0.0.1", "localhost.example"}) {
    EXPECT_EQ(CheckSecure(WithKafka(brokers, {})).field(), protocol) << brokers;
    EXPECT_EQ(CheckSecure(WithKafka(brokers, {{"security.protocol", "sasl_plaintext"}})).field(),
              protocol);
    EXPECT_TRUE(CheckSecure(WithKafka(brokers, {{"security.protocol", "SASL_SSL"}})).ok());
    EXPECT_TRUE(CheckSecure(WithKafka(brokers, {{"security.protocol", "ssl"}})).ok()) << brokers;
  }
  for (const char* const brokers : {"127.0.0.1:9092", "localhost:1, 127.8.0.1:2", "[::1]:9092",
                                    "localhost", "::1", "ssl://127.0.0.1:1"}) {
    EXPECT_TRUE(CheckSecure(WithKafka(brokers, {})).ok()) << brokers;
  }
  Config node;
  node.cluster.emplace();
  node.cluster->brokers = "k.example:1";
  EXPECT_EQ(CheckSecure(node).field(), "/cluster/properties/security.protocol");
  node.cluster->properties["security.protocol"] = "ssl";
  EXPECT_TRUE(CheckSecure(node).ok());
}

TEST(CheckSecure, TlsToKafkaIsWorthNothingWhereNobodyLooksAtTheCertificate) {
  const auto with = [](const std::string& name, const std::string& value) {
    return CheckSecure(WithKafka("k:1", {{"security.protocol", "ssl"}, {name, value}}));
  };
  const std::string verified = "enable.ssl.certificate.verification";
  EXPECT_EQ(with(verified, "false").field(), "/kafka/properties/" + verified);
  EXPECT_EQ(with(verified, "0").field(), "/kafka/properties/" + verified);
  EXPECT_TRUE(with(verified, "true").ok());
  const std::string name = "ssl.endpoint.identification.algorithm";
  EXPECT_EQ(with(name, "none").field(), "/kafka/properties/" + name);
  EXPECT_TRUE(with(name, "https").ok());
}

TEST(CheckSecure, AnOldStoreBeyondThisMachineNeedsTls) {
  const auto with = [](const std::string& url) {
    Config config;
    config.migration.emplace_back();
    config.migration.back().collection = "a/b";
    config.migration.back().redis = url;
    return CheckSecure(config);
  };
  const Status refused = with("redis://u:hunter2@r.example:6379");
  EXPECT_EQ(refused.field(), "/migration/a~1b/redis");
  EXPECT_EQ(refused.message().find("hunter2"), std::string_view::npos) << refused.ToString();
  for (const char* const url : {"rediss://r.example:6379", "redis://127.0.0.1:1", "redis://[::1]:1",
                                "redis://localhost", "unix:/run/redis.sock"}) {
    EXPECT_TRUE(with(url).ok()) << url;
  }
}

TEST(CheckSecure, FilesThatOthersMayWriteAreRefused) {
  namespace fs = std::filesystem;
  const std::string folder = testing::TempDir() + "check_secure." + std::to_string(getpid());
  fs::create_directories(folder);
  const std::string path = folder + "/file";
  std::ofstream(path) << "x";
  fs::permissions(path, fs::perms::group_write, fs::perm_options::add);
  Config files;
  files.tls.emplace();
  files.cluster.emplace();
  files.kafka.emplace();
  files.migration.emplace_back();
  files.migration.back().collection = "v";
  files.migration.back().redis = "unix:/r";
  const std::pair<const char*, std::string*> kFiles[] = {
      {"", &files.given.file},
      {"/tokens_file", &files.tokens_file},
      {"/tls/certificate", &files.tls->certificate},
      {"/tls/key", &files.tls->key},
      {"/tls/client_ca", &files.tls->client_ca},
      {"/cluster/ca", &files.cluster->ca},
      {"/cluster/secret_file", &files.cluster->secret_file},
      {"/cluster/properties/ssl.ca.location", &files.cluster->properties["ssl.ca.location"]},
      {"/kafka/properties/ssl.key.location", &files.kafka->properties["ssl.key.location"]},
      {"/migration/v/redis_ca", &files.migration[0].ca},
      {"/migration/v/redis_password_file", &files.migration[0].password_file},
  };
  for (const auto& [field, file] : kFiles) {
    *file = path;
    const Status refused = CheckSecure(files);
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument) << field;
    EXPECT_EQ(refused.field(), field);
    EXPECT_NE(refused.message().find("chmod go-w " + path), std::string_view::npos);
    file->clear();
  }
  EXPECT_TRUE(CheckSecure(files).ok());
  files.db = folder;
  files.checkpoints = folder;
  EXPECT_TRUE(CheckSecure(files).ok());
  fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(CheckSecure(files).field(), "/db");
  files.db = folder + "/absent";
  EXPECT_EQ(CheckSecure(files).field(), "/checkpoints");
  fs::remove_all(folder);
}

TEST(CheckSecure, IsAskedForByRequireSecure) {
  const std::string kafka = R"("kafka":{"brokers":"k:1","topics":[{"topic":"t"}]})";
  const auto [code, output] = Start(R"({"require_secure":true,)" + kafka + "}");
  EXPECT_EQ(code, kExitUsage);
  EXPECT_NE(output.find("require_secure: /kafka/properties/security.protocol: must be"),
            std::string::npos)
      << output;
  EXPECT_EQ(Start("{" + kafka + "}").first, 0);
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
