// The bytes of hash version 2, kept in tests/golden/v2: a key in the identities, and fingerprints
// by it. Never edited, as those of v1.

#include <array>
#include <cstdio>
#include <sstream>
#include <string>

#include "filter/item_hash.h"
#include "format/unit/format_testing.h"
#include "store/files.h"
#include "store/shard_identity.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

const std::string kKeyedFolder = "tests/golden/v2/";
constexpr std::array<uint8_t, 16> kGoldenKey = {0, 1, 2,  3,  4,  5,  6,  7,
                                                8, 9, 10, 11, 12, 13, 14, 15};

ItemHashId GoldenHash() { return {.version = 2, .key = HashKeyOf(kGoldenKey)}; }

TEST(GoldenKey, InTheIdentityOfTheDatabase) {
  const std::string golden = test::ReadProjectFile(kKeyedFolder + "SEENDB.json");
  const Result<Identity> read = Identity::FromJson(golden);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->format, 1);
  EXPECT_EQ(read->hash, GoldenHash());
  EXPECT_EQ(read->ToJson(), golden);
}

TEST(GoldenKey, InTheIdentityOfAShard) {
  const std::string golden = test::ReadProjectFile(kKeyedFolder + "shard_identity.json");
  const auto read = ShardIdentity::FromJson(golden);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->shard, 3u);
  EXPECT_EQ(read->hash, GoldenHash());
  EXPECT_EQ(read->ToJson() + "\n", golden);
  const std::string without = R"({"format":1,"id":"a","shard":0,"shards":1)";
  EXPECT_EQ(ShardIdentity::FromJson(without + "}")->hash, (ItemHashId{.version = 1, .key = {}}));
  for (const std::string damaged : {R"(,"hash":2})", R"(,"hash":2,"hash_key":"00"})"}) {
    EXPECT_FALSE(ShardIdentity::FromJson(without + damaged).has_value()) << damaged;
  }
}

// kind, id, fingerprint: one id a line.
TEST(GoldenKey, Fingerprints) {
  const ItemHash hash(GoldenHash());
  std::istringstream lines(test::ReadProjectFile(kKeyedFolder + "fingerprints.tsv"));
  std::string line;
  int read = 0;
  while (std::getline(lines, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string kind, id, fingerprint;
    fields >> kind >> id >> fingerprint;
    ASSERT_TRUE(fields) << line;
    char made[24];
    std::snprintf(made, sizeof(made), "%012llx",
                  static_cast<unsigned long long>(hash.Of(IdRef(id))));
    EXPECT_EQ(made, fingerprint) << line;
    ++read;
  }
  EXPECT_GE(read, 12);
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
