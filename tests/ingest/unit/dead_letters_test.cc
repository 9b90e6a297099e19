// Dead letters in a file.

#include "ingest/dead_letters.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace seendb::ingest::SEENDB_TEST_FILE {
namespace {

TEST(DeadLettersTest, AFileHasALineEach) {
  std::string folder = (std::filesystem::temp_directory_path() / "seendb-dead-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  ops::KafkaConfig config;
  config.dead_letter_file = folder + "/dead.ndjson";
  for (int opening = 0; opening < 2; ++opening) {
    auto letters = DeadLetters::New(config);
    ASSERT_TRUE(letters.ok()) << letters.status().ToString();
    ASSERT_TRUE((*letters)
                    ->Write("plays",
                            {{3, 41 + opening, "because", "k", "{\"a\""},
                             {0, 1, "bytes", "", "\xFF\n", false, {{"uid", "u"}, {"uid", "\xFE"}}}})
                    .ok());
  }
  std::ifstream file(config.dead_letter_file);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], (nlohmann::json{{"topic", "plays"},
                                      {"partition", 3},
                                      {"offset", 41},
                                      {"reason", "because"},
                                      {"key", "k"},
                                      {"payload", "{\"a\""}}));
  EXPECT_EQ(lines[1].at("payload"), "\xEF\xBF\xBD\n");
  EXPECT_EQ(lines[1].at("payload_base64"), "/wo=");
  EXPECT_FALSE(lines[1].contains("key_base64"));
  EXPECT_FALSE(lines[0].contains("headers"));
  EXPECT_EQ(lines[1].at("headers"),
            nlohmann::json::parse(
                R"([{"name":"uid","value":"u"},)"
                "{\"name\":\"uid\",\"value\":\"\xEF\xBF\xBD\",\"value_base64\":\"/g==\"}]"));
  EXPECT_EQ(lines[2].at("offset"), 42);
  std::filesystem::remove_all(folder);
}

TEST(DeadLettersTest, AFileThatCantBeMadeIsRefused) {
  ops::KafkaConfig config;
  config.dead_letter_file = "/no/such/folder/dead";
  EXPECT_EQ(DeadLetters::New(config).status().code(), StatusCode::kIOError);
}

}  // namespace
}  // namespace seendb::ingest::SEENDB_TEST_FILE
