// A filter request with `record` whose record fails: the answer stands, and says so.

#include "support/engine_fixture.h"
#include "support/mem_disk.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class RecordReturnedTest : public EngineTest {
 protected:
  RecordReturnedTest() {
    options_.shards = 1;
    env_ = disk_.env();
  }
  ~RecordReturnedTest() override {
    disk_.Clear();
    engine_.reset();
  }

  Status Ask(std::span<const IdRef> items) {
    FilterRequest request;
    request.user = IdRef("u1");
    request.items = items;
    request.record = true;
    return engine_->Filter(request, &answer_);
  }

  MemDisk disk_;
};

TEST_F(RecordReturnedTest, TheAnswerOutlivesAFailingDisk) {
  Open();
  Play("u1", {"v1"});
  const IdRef items[] = {IdRef("v1"), IdRef("v2"), IdRef("v3")};
  disk_.Fail(MemDisk::kAppend, ".log", rocksdb::IOStatus::IOError("EIO"));
  const Status asked = Ask(items);
  EXPECT_TRUE(asked.ok()) << asked.ToString();
  EXPECT_EQ(answer_.unseen, (std::vector<uint32_t>{1, 2}));
  EXPECT_FALSE(answer_.recorded);
  EXPECT_FALSE(answer_.degraded);
  EXPECT_EQ(engine_->Stats().record_failures, 1u);
}

TEST_F(RecordReturnedTest, TheAnswerOutlivesAFullRing) {
  options_.ring_slots = 2;
  options_.slot_bytes_max = 60'000;
  Open();
  PolicyPatch patch;
  patch.served_is_seen = true;
  ASSERT_TRUE(engine_->PutCollection("default", patch).ok());
  bool full = false;
  for (int user = 0; user < 50 && !full; ++user) {
    const std::string name = "u" + std::to_string(user);
    const seendb::Play play{IdRef(name), IdRef("v1")};
    std::vector<seendb::Play> plays(2000, play);
    const Items many = Numbered(name, 2000);
    for (size_t i = 0; i < many.size(); ++i) plays[i].item = IdRef(many[i]);
    full = engine_->RecordPlays(plays).status().code() == StatusCode::kBusy;
  }
  ASSERT_TRUE(full);
  const IdRef items[] = {IdRef("w1"), IdRef("w2")};
  const Status asked = Ask(items);
  EXPECT_TRUE(asked.ok()) << asked.ToString();
  EXPECT_EQ(answer_.unseen, (std::vector<uint32_t>{0, 1}));
  EXPECT_FALSE(answer_.recorded);
  Drain();
  EXPECT_TRUE(Ask(items).ok());
  EXPECT_TRUE(answer_.recorded);
}

TEST_F(RecordReturnedTest, ADatabaseOpenedReadOnlyRefuses) {
  Open();
  Play("u1", {"v1"});
  Drain();
  options_.read_only = true;
  options_.create_if_missing = false;
  Reopen();
  const IdRef items[] = {IdRef("v1"), IdRef("v2")};
  EXPECT_EQ(Ask(items).code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(answer_.recorded);
}

TEST_F(RecordReturnedTest, AnItemThatIsNoTextIsRefused) {
  Open();
  const IdRef items[] = {IdRef("v1"), IdRef("\xFF")};
  EXPECT_EQ(Ask(items).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
