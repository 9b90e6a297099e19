// Poison in the family `default`: the values a shard opens by are refused as damage, by name, and
// nothing is thrown.

#include "support/engine_fixture.h"
#include "support/raw_shard.h"
#include "tables/meta_keys.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class PoisonedNamesTest : public EngineTest {
 protected:
  PoisonedNamesTest() { options_.shards = 1; }

  // What opening says once `key` holds `value`.
  Status OpeningWith(const std::string& key, const std::string& value) {
    Open();
    engine_.reset();
    RawShard(Path()).Put("default", key, value);
    const auto opened = Engine::Open(Path(), options_);
    return opened.ok() ? Status() : opened.status();
  }
};

TEST_F(PoisonedNamesTest, RingState) {
  for (const char* const state :
       {R"({"epoch":"7"})", R"({"epoch":-7})", R"({"epoch":null})", R"([7])", "{}", ""}) {
    const Status opened = OpeningWith(kRingKey, state);
    EXPECT_EQ(opened.code(), StatusCode::kCorruption) << state << opened.ToString();
    EXPECT_NE(opened.message().find("ring state"), std::string_view::npos) << opened.ToString();
    RawShard(Path()).Put("default", kRingKey, RingState(9));
  }
  Open();
}

// Each field is within its own range, and together they are no policy.
TEST_F(PoisonedNamesTest, Policy) {
  const Status opened =
      OpeningWith(std::string(kCollectionPrefix) + "default", R"({"window":6,"retention":2})");
  EXPECT_EQ(opened.code(), StatusCode::kCorruption) << opened.ToString();
  EXPECT_NE(opened.message().find("policy of default"), std::string_view::npos);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
