// Shards come and go beside calls that write, read and look: each call answers, or says that the
// shard is absent; nothing that was acknowledged is lost.

#include <atomic>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "support/engine_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class AttachConcurrencyTest : public EngineTest {};

TEST_F(AttachConcurrencyTest, NothingAcknowledgedIsLost) {
  constexpr int kRounds = 6;
  options_.shards = 2;
  options_.background = true;
  Open();
  const Items users = Numbered("u", 20);
  std::atomic<bool> stop{false};
  std::vector<std::map<std::string, Items>> played(2);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < played.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; !stop; ++n) {
        const std::string& user = users[static_cast<size_t>(n) % users.size()];
        const std::string item = "v" + std::to_string(t) + "-" + std::to_string(n);
        const seendb::Play play{IdRef(user), IdRef(item)};
        const auto result = engine_->RecordPlays({&play, 1});
        if (result.ok()) {
          played[t][user].push_back(item);
        } else {
          EXPECT_EQ(result.status().code(), StatusCode::kUnavailable) << result.status().ToString();
        }
        const IdRef items[] = {IdRef(item)};
        FilterRequest request;
        request.user = IdRef(user);
        request.items = items;
        FilterResponse response;
        const Status answered = engine_->Filter(request, &response);
        EXPECT_TRUE(answered.ok() || answered.code() == StatusCode::kUnavailable)
            << answered.ToString();
        if (result.ok() && answered.ok()) {
          EXPECT_TRUE(response.unseen.empty()) << item;
        }
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) {
      EXPECT_EQ(engine_->Stats().shards, 2U);
      static_cast<void>(engine_->Drain());
      static_cast<void>(engine_->Sync());
      static_cast<void>(engine_->PutCollection("article", {}));
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    const auto shard = static_cast<uint32_t>(round % 2);
    const std::string place = Path() + "/shard-000" + std::to_string(shard);
    const Status detached = engine_->DetachShard(shard, Detached::kKept);
    EXPECT_TRUE(detached.ok()) << detached.ToString();
    const Status attached = engine_->AttachShard(shard, place + ".detached");
    EXPECT_TRUE(attached.ok()) << attached.ToString();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  size_t all = 0;
  for (const auto& of_thread : played) {
    for (const auto& [user, items] : of_thread) {
      EXPECT_EQ(Unseen(user, items), Items{}) << user;
      all += items.size();
    }
  }
  EXPECT_GT(all, 0U);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
