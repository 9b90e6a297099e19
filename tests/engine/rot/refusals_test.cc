// Numbers of an identity are read as they stand; a newer format is refused; an erasure takes the
// copies of damaged journal records too.

#include "filter/hash.h"
#include "store/files.h"
#include "support/engine_fixture.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " is not in " << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(IdentityNumbers, AreReadAsTheyStand) {
  Identity identity;
  identity.id = "id";
  identity.shards = 2;
  const std::string sound = identity.ToJson();
  ASSERT_TRUE(Identity::FromJson(sound).ok()) << sound;
  for (const char* shards : {"4294967298", "2.9", "0", "-1", "1025", "18446744073709551615"}) {
    const std::string json = Replaced(sound, "\"shards\": 2", std::string("\"shards\": ") + shards);
    EXPECT_EQ(Identity::FromJson(json).status().code(), StatusCode::kCorruption) << json;
  }
  const std::string format = "\"format\": " + std::to_string(identity.format);
  EXPECT_EQ(Identity::FromJson(Replaced(sound, format, "\"format\": 0")).status().code(),
            StatusCode::kCorruption);
  EXPECT_EQ(Identity::FromJson(Replaced(sound, format, "\"format\": 4294967297")).status().code(),
            StatusCode::kIncompatible);
}

class RefusalsTest : public EngineTest {
 protected:
  RefusalsTest() { options_.shards = 1; }
};

TEST_F(RefusalsTest, AShardOfANewerFormat) {
  Open();
  engine_.reset();
  {
    RawShard shard(Path());
    const std::string stored = shard.All("default")["identity"];
    shard.Put("default", "identity", Replaced(stored, "\"format\":2", "\"format\":3"));
  }
  const auto opened = Engine::Open(Path(), options_);
  EXPECT_EQ(opened.status().code(), StatusCode::kIncompatible) << opened.status().ToString();
}

TEST_F(RefusalsTest, AnErasureTakesDamagedCopies) {
  Open();
  engine_.reset();
  RawShard(Path()).Put("ring/0", "no sequence", "some bytes, forget-me and others");
  RawShard(Path()).Put("ring/0", "no sequence either", "some bytes of another");
  Open();
  engine_.reset();
  EXPECT_TRUE(RawShard(Path()).All("default").contains(
      "damaged/ring/0/" + rocksdb::Slice("no sequence").ToString(true)));
  Open();
  ASSERT_TRUE(engine_->EraseUser(IdRef("forget-me")).ok());
  ASSERT_TRUE(engine_->Drain().ok());
  Reopen();
  engine_.reset();
  bool other = false;
  for (const auto& [key, value] : RawShard(Path()).All("default")) {
    EXPECT_EQ(value.find("forget-me"), std::string::npos) << key;
    other = other || value == "some bytes of another";
  }
  EXPECT_TRUE(other) << "only the user's are taken";
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
