// Sets for all users at nodes: each node has all, and answers for itself.

#include <filesystem>

#include "router/unit/small_cluster.h"
#include "seendb/set_log.h"

namespace seendb::test::SEENDB_TEST_FILE {
namespace {

using SharedSetsAtNodesTest = SmallCluster;

// The sets for all users are at each node, which answers for itself; until it is ready it has none.
TEST_F(SharedSetsAtNodesTest, EachNodeAnswersForItsSets) {
  const peers::PeerAnswer early = Ask(*nodes[0], "PUT", "/sets/s", R"({"items":["a"]})");
  EXPECT_EQ(early.status, 409u) << early.body;
  std::vector<std::unique_ptr<SetLog>> sets;
  std::vector<SetRecord> topic;
  char folder[] = "/tmp/seendb-node-sets-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const auto follow = [&](SetLog& store) {
    std::vector<SetLogEntry> entries;
    for (const SetRecord& record : topic) {
      entries.push_back({static_cast<int64_t>(entries.size()), record.key, *record.value});
    }
    return store.Apply(entries, static_cast<int64_t>(topic.size()));
  };
  for (size_t i = 0; i < 2; ++i) {
    SetLogOptions options;
    options.append = [&, i](std::span<const SetRecord> records) {
      topic.insert(topic.end(), records.begin(), records.end());
      return follow(*sets[i]);
    };
    auto opened = SetLog::Open(folder + ("/" + std::to_string(i)), options);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    sets.push_back(std::move(opened).value());
    nodes[i]->context->sets.Serve(sets[i].get());
  }
  EXPECT_EQ(Ask(*nodes[0], "GET", "/sets", "").status, 503u) << "they are being read";
  sets[0]->SetCurrent(true), sets[1]->SetCurrent(true);
  const peers::Headers lines = {{"Content-Type", "application/x-ndjson"}};
  const std::string some = R"({"items":["a",7]})";
  EXPECT_EQ(Ask(*nodes[0], "PUT", "/sets/s", some + "\n" + some + "\n", lines).status, 200u);
  EXPECT_NE(Ask(*nodes[0], "GET", "/sets/s", "").body.find(R"("items":["7","a"])"),
            std::string::npos);
  EXPECT_EQ(Ask(*nodes[1], "GET", "/sets/s", "").status, 404u) << "it has not read it yet";
  ASSERT_TRUE(follow(*sets[1]).ok());
  EXPECT_EQ(Ask(*nodes[1], "GET", "/sets/s", "").status, 200u);
  EXPECT_EQ(Ask(*nodes[1], "DELETE", "/sets/s", "").status, 200u);
  ASSERT_TRUE(follow(*sets[0]).ok());
  EXPECT_EQ(Ask(*nodes[0], "GET", "/sets", "").body.find(R"("name")"), std::string::npos);
  const std::lock_guard lock(mutex);
  for (uint32_t p = 0; p < kPartitions; ++p) EXPECT_TRUE(log[p].empty());
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(sets[i]->Close().ok());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace seendb::test::SEENDB_TEST_FILE
