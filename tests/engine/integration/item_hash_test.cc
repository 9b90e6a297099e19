// The hash of a database's items: its version and its key are kept with the database, checked
// where a shard or an opening has others, and carried by checkpoints.

#include "filter/item_hash.h"

#include <fstream>

#include <sys/stat.h>

#include "store/files.h"
#include "support/engine_fixture.h"
#include "support/raw_shard.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

namespace fs = std::filesystem;

class ItemHashDatabaseTest : public EngineTest {
 protected:
  static Identity IdentityOf(const std::string& folder) {
    const Result<std::optional<Identity>> read = ReadIdentity(rocksdb::Env::Default(), folder);
    EXPECT_TRUE(read.ok() && read->has_value()) << read.status().ToString();
    return read.ok() && read->has_value() ? **read : Identity{};
  }
  void ExpectRefused(const std::string& field, const std::string& text) {
    const Status refused = TryOpen();
    EXPECT_EQ(refused.code(), StatusCode::kIncompatible) << refused.ToString();
    EXPECT_EQ(refused.field(), field);
    EXPECT_NE(std::string(refused.message()).find(text), std::string::npos) << refused.ToString();
  }
  static void ExpectOfOwnerAlone(const std::string& path) {
    struct stat found {};
    ASSERT_EQ(stat(path.c_str(), &found), 0) << path;
    EXPECT_EQ(found.st_mode & (S_IRWXG | S_IRWXO), 0u) << path;
    EXPECT_EQ(found.st_mode & S_IRUSR, static_cast<mode_t>(S_IRUSR)) << path;
  }
  // Another key in the identity of a shard.
  static void ForgeKey(const std::string& folder, uint32_t shard) {
    RawShard raw(folder, shard);
    std::string identity = raw.All("default")["identity"];
    const size_t at = identity.find("\"hash_key\":\"");
    ASSERT_NE(at, std::string::npos) << identity;
    identity[at + 12] = identity[at + 12] == '0' ? '1' : '0';
    raw.Put("default", "identity", identity);
  }
};

TEST_F(ItemHashDatabaseTest, ANewDatabaseDrawsAKeyThatItsOwnerAloneReads) {
  options_.item_hash_key.reset();
  Open();
  const ItemHashId first = IdentityOf(Path()).hash;
  EXPECT_EQ(first.version, 2u);
  EXPECT_NE(first.key, HashKey{});
  ExpectOfOwnerAlone(Path() + "/SEENDB");
  ExpectOfOwnerAlone(ShardPath(Path(), 0));
  Play("u", {"v"});
  Reopen();
  EXPECT_EQ(IdentityOf(Path()).hash, first);
  EXPECT_EQ(Unseen("u", {"v", "w"}), Items{"w"});
  engine_.reset();
  fs::remove_all(Path());
  Open();
  EXPECT_NE(IdentityOf(Path()).hash, first);
}

TEST_F(ItemHashDatabaseTest, AKeyThatIsGivenIsTheDatabasesOrRefused) {
  Open();
  EXPECT_EQ(HashKeyToText(IdentityOf(Path()).hash.key), "000102030405060708090a0b0c0d0e0f");
  engine_.reset();
  options_.item_hash_key = {1};
  ExpectRefused("/item_hash_key", "another key");
  options_.item_hash_key.reset();
  Open();
}

TEST_F(ItemHashDatabaseTest, VersionOneHasNoKey) {
  options_.item_hash = 1;
  EXPECT_EQ(TryOpen().field(), "/item_hash_key");
  options_.item_hash_key.reset();
  Open();
  Play("u", {"v"});
  Serve("u", {"w"});
  EXPECT_EQ(IdentityOf(Path()).hash, (ItemHashId{.version = 1, .key = {}}));
  std::ifstream file(Path() + "/SEENDB");
  const std::string identity(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(identity.find("hash_key"), std::string::npos) << identity;
  options_.item_hash = 2;  // without effect on a database that is there
  Reopen();
  Drain();
  EXPECT_EQ(Unseen("u", {"v", "w", "x"}), Items{"x"});
  engine_.reset();
  EXPECT_EQ(RawShard(Path()).All("default")["identity"].find("hash"), std::string::npos);
  options_.item_hash_key = {};
  options_.item_hash_key.emplace();
  ExpectRefused("/item_hash_key", "no key");
  options_.item_hash = 3;
  EXPECT_EQ(TryOpen().field(), "/item_hash");
}

TEST_F(ItemHashDatabaseTest, AShardOfAnotherKeyIsRefused) {
  Open();
  engine_.reset();
  ForgeKey(Path(), 1);
  ExpectRefused("", "hash_key");
  EXPECT_EQ(std::string(TryOpen().message()).find("0f"), std::string::npos) << "it names no key";
}

TEST_F(ItemHashDatabaseTest, ACheckpointCarriesTheKey) {
  options_.item_hash_key.reset();
  Open();
  Play("u", {"v"});
  Drain();
  Play("u", {"staged"});
  const std::string copy = dir_ + "/copy";
  ASSERT_TRUE(engine_->Checkpoint(copy).ok());
  EXPECT_EQ(IdentityOf(copy).hash, IdentityOf(Path()).hash);
  ExpectOfOwnerAlone(copy + "/SEENDB");
  ExpectOfOwnerAlone(ShardPath(copy, 1));
  engine_.reset();
  fs::rename(copy, Path() + "2");
  fs::remove_all(Path());
  fs::rename(Path() + "2", Path());
  Open();
  EXPECT_EQ(Unseen("u", {"v", "staged", "x"}), Items{"x"});
}

TEST_F(ItemHashDatabaseTest, AShardIsAttachedWithTheDatabasesKeyOnly) {
  Open();
  Play("u", {"v"});
  const uint32_t shard = engine_->ShardOf(IdRef("u"));
  const std::string kept = dir_ + "/kept";
  fs::create_directory(kept);
  for (const std::string name : {"sound", "forged"}) {
    fs::create_directory(kept + "/" + name);
    const auto copied = engine_->CheckpointShard(shard, ShardPath(kept + "/" + name, shard));
    ASSERT_TRUE(copied.ok()) << copied.status().ToString();
  }
  ASSERT_NO_FATAL_FAILURE(ForgeKey(kept + "/forged", shard));
  ASSERT_TRUE(engine_->DetachShard(shard, Detached::kRemoved).ok());
  const Status refused = engine_->AttachShard(shard, ShardPath(kept + "/forged", shard));
  EXPECT_EQ(refused.code(), StatusCode::kIncompatible) << refused.ToString();
  EXPECT_EQ(refused.field(), "/folder");
  const Status attached = engine_->AttachShard(shard, ShardPath(kept + "/sound", shard));
  ASSERT_TRUE(attached.ok()) << attached.ToString();
  EXPECT_EQ(Unseen("u", {"v", "x"}), Items{"x"});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
