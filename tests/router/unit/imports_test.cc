// What a migration has imported, on its way through the log.

#include "router/imports.h"

#include "router/unit/small_cluster.h"

namespace seendb::test::SEENDB_TEST_FILE {
namespace {

class ImportsTest : public SmallCluster {
 protected:
  router::Imports ImportsOf(SmallNode& node) {
    return {&node.router->writer(), [&node](IdRef user) { return node.engine.ShardOf(user); }};
  }
};

TEST_F(ImportsTest, PlaysAndNotesGoIntoThePartitionsOfTheirUsers) {
  const router::Imports imports = ImportsOf(*nodes[0]);
  const std::string first = UserOf(1), second = UserOf(2);
  const Play plays[] = {{IdRef(first), IdRef("a\"b"), nodes[0]->engine.now_ms - 1},
                        {IdRef(second), IdRef(uint64_t{7}), nodes[0]->engine.now_ms - 2}};
  EXPECT_TRUE(imports.Record("default", plays).ok());
  const IdRef users[] = {IdRef(first), IdRef(second), IdRef(uint64_t{5})};
  EXPECT_TRUE(imports.Note("default", "watched:{user}", users).ok());
  const std::lock_guard lock(mutex);
  ASSERT_EQ(log[1].size(), 2u);  // "5" ends with the byte 53: partition 1
  ASSERT_EQ(log[2].size(), 2u);
  const Json recorded = Json::parse(log[1][0].value);
  EXPECT_EQ(recorded["events"][0]["user"], first);
  EXPECT_EQ(recorded["events"][0]["item"], "a\"b");
  EXPECT_EQ(recorded["events"][0]["at"], nodes[0]->engine.now_ms - 1);
  EXPECT_EQ(Json::parse(log[2][0].value)["events"][0]["item"], 7);
  EXPECT_EQ(log[1][1].kind, cluster::LogKind::kImported);
  EXPECT_EQ(log[1][1].key, first);
  EXPECT_EQ(Json::parse(log[1][1].value),
            Json::parse(R"({"collection":"default","key":"watched:{user}","users":["u1",5]})"));
  EXPECT_EQ(Json::parse(log[2][1].value)["users"], Json::parse(R"(["u2"])"));
}

TEST_F(ImportsTest, NotesOfManyUsersAreCut) {
  const router::Imports imports = ImportsOf(*nodes[1]);
  std::vector<std::string> texts;
  for (int i = 0; i < 10'000; ++i) texts.push_back(std::to_string(i) + UserOf(3));
  std::vector<IdRef> users(texts.begin(), texts.end());
  EXPECT_TRUE(imports.Note("default", "watched:{user}", users).ok());
  const std::lock_guard lock(mutex);
  size_t noted = 0;
  EXPECT_EQ(log[3].size(), 3u);
  for (const LogRow& row : log[3]) {
    EXPECT_LE(row.value.size(), cluster::kLogValueBytesMost);
    const size_t own = Json::parse(row.value)["users"].size();
    EXPECT_LE(own, cluster::kLogEventsMost);
    noted += own;
  }
  EXPECT_EQ(noted, users.size());
}

TEST_F(ImportsTest, FailsWhereKafkaIsAway) {
  kafka_away = true;
  const IdRef user("u1");
  const Play play{user, IdRef("a"), std::nullopt};
  const router::Imports imports = ImportsOf(*nodes[0]);
  EXPECT_EQ(imports.Record("default", {&play, 1}).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(imports.Note("default", "k:{user}", {&user, 1}).code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace seendb::test::SEENDB_TEST_FILE
