// Which properties of librdkafka the settings may hand on.

#include "ops/kafka_properties.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include "ops/config.h"

namespace seendb::ops::SEENDB_TEST_FILE {
namespace {

/// The names in librdkafka's own list of its properties.
std::set<std::string> KnownProperties() {
  char* text = nullptr;
  size_t size = 0;
  FILE* const memory = open_memstream(&text, &size);
  rd_kafka_conf_properties_show(memory);
  std::fclose(memory);
  std::istringstream lines(std::string(text, size));
  std::free(text);
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    if (line.find('|') != std::string::npos) names.insert(line.substr(0, line.find(' ')));
  }
  return names;
}

Status Read(const std::string& section, const std::string& property) {
  Config config;
  const std::string rest = section == "kafka"
                               ? R"("topics":[{"topic":"t"}])"
                               : R"("name":"x","advertise":"http://h:1","secret_file":"s")";
  return ReadConfig("{\"" + section + R"(":{"brokers":"a:1",)" + rest + R"(,"properties":{")" +
                        property + R"(":"x"}}})",
                    &config);
}

TEST(KafkaPropertiesTest, OnlyWhatIsListedIsTaken) {
  const auto allowed = AllowedProperties();
  EXPECT_TRUE(std::is_sorted(allowed.begin(), allowed.end()));
  const std::set<std::string> taken(allowed.begin(), allowed.end());
  const std::set<std::string> known = KnownProperties();
  ASSERT_GT(known.size(), 100u);
  for (const std::string& name : taken) EXPECT_TRUE(known.count(name)) << name;
  for (const std::string section : {"kafka", "cluster"}) {
    for (const std::string& name : known) {
      const Status status = Read(section, name);
      EXPECT_EQ(status.ok(), taken.count(name) > 0) << name << ": " << status.ToString();
      if (status.ok()) continue;
      EXPECT_EQ(status.field(), "/" + section + "/properties/" + name);
    }
  }
}

TEST(KafkaPropertiesTest, WhatRunsCodeOrCommandsOrWritesFilesIsNotTaken) {
  for (const char* const name :
       {"plugin.library.paths", "interceptors", "ssl.engine.location", "ssl.engine.id",
        "ssl.providers", "sasl.kerberos.kinit.cmd", "sasl.kerberos.keytab",
        "sasl.kerberos.principal", "sasl.oauthbearer.method", "sasl.oauthbearer.config",
        "sasl.oauthbearer.token.endpoint.url", "enable.sasl.oauthbearer.unsecure.jwt",
        "offset.store.path", "offset.store.method", "opaque", "of.a.later.version"}) {
    const Status status = Read("kafka", name);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(status.field(), std::string("/kafka/properties/") + name);
  }
  EXPECT_EQ(Read("cluster", "sasl.kerberos.kinit.cmd").message(),
            "is not taken: librdkafka runs it as a command of the shell");
  EXPECT_NE(Read("kafka", "ssl.ca.locations").message().find("did you mean `ssl.ca.location`?"),
            std::string_view::npos);
}

}  // namespace
}  // namespace seendb::ops::SEENDB_TEST_FILE
