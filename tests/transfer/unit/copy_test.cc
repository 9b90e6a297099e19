// What two nodes tell each other of a copy, and what they refuse.

#include "transfer/copy.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cluster/cluster_doc.h"

namespace seendb::transfer::SEENDB_TEST_FILE {
namespace {

using Json = nlohmann::json;

CopyKind Kind() { return {.format = 1, .uuid = "u-1", .shards = 64, .hash = "2/0a1b2c3d"}; }

Manifest Sample() {
  return {.id = "00c0ffee",
          .part = 7,
          .kind = Kind(),
          .next_offsets = {{"feed.log", 7, 1'234}},
          .files = {{"000012.sst", 3'000'000'000, 0xFFFFFFFF}, {"CURRENT", 16, 0}}};
}

/// The status of the sample with a change.
Status Changed(const std::function<void(Json*)>& change) {
  Json json = Json::parse(ManifestToJson(Sample()));
  change(&json);
  return ManifestFromJson(json.dump()).status();
}

TEST(CopyManifestTest, IsReadAsItWasWritten) {
  const Result<Manifest> read = ManifestFromJson(ManifestToJson(Sample()));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(ManifestToJson(*read), ManifestToJson(Sample()));
  EXPECT_EQ(read->part.shard, 7u);
  EXPECT_EQ(read->Bytes(), 3'000'000'016u);
  EXPECT_EQ(read->files[0].crc32c, 0xFFFFFFFF);
  ASSERT_EQ(read->next_offsets.size(), 1u);
  EXPECT_EQ(read->next_offsets[0].next_offset, 1'234);
}

TEST(CopyManifestTest, BothBodiesAreAsThePageHasThem) {
  const std::vector<std::string> page = cluster::test::DocumentBlocks("json copy");
  ASSERT_EQ(page.size(), 2u);
  EXPECT_EQ(CopyRequestToJson({.node = "n2", .kind = Kind()}), page[0]);
  EXPECT_EQ(ManifestToJson(Sample()), page[1]);
  ASSERT_TRUE(CopyRequestFromJson(page[0]).ok());
  const Result<Manifest> read = ManifestFromJson(page[1]);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(ManifestToJson(*read), page[1]);
}

TEST(CopyManifestTest, WhatANewerNodeAddsIsPassedOver) {
  EXPECT_TRUE(Changed([](Json* json) { (*json)["more"] = {1, {2}}; }).ok());
  EXPECT_TRUE(Changed([](Json* json) { (*json)["files"][0]["more"] = 1; }).ok());
  EXPECT_TRUE(Changed([](Json* json) { (*json)["version"] = 9; }).ok());
}

TEST(CopyManifestTest, RefusesWhatIsNone) {
  for (const char* text : {"", "null", "[]", "{}", "{\"id\":\"a\"}", "{\"id\":1}", "nonsense"}) {
    EXPECT_EQ(ManifestFromJson(text).status().code(), StatusCode::kCorruption) << text;
  }
  for (const char* gone :
       {"id", "partition", "format", "uuid", "shards", "hash", "next_offsets", "files"}) {
    const Status status = Changed([&](Json* json) { json->erase(gone); });
    EXPECT_EQ(status.code(), StatusCode::kCorruption) << gone;
    EXPECT_NE(status.message().find(gone), std::string_view::npos) << status.ToString();
  }
  EXPECT_FALSE(Changed([](Json* json) { (*json)["id"] = "../x"; }).ok());
  EXPECT_FALSE(Changed([](Json* json) { (*json)["partition"] = -1; }).ok());
  EXPECT_FALSE(Changed([](Json* json) { (*json)["files"] = Json::array(); }).ok());
  EXPECT_FALSE(Changed([](Json* json) { (*json)["files"][1] = (*json)["files"][0]; }).ok());
  EXPECT_FALSE(Changed([](Json* json) { (*json)["files"][0]["crc32c"] = 1ull << 32; }).ok());
  // A sum of sizes that would not fit into 64 bits.
  EXPECT_FALSE(Changed([](Json* json) {
                 (*json)["files"][0]["size"] = INT64_MAX;
                 (*json)["files"][1]["size"] = INT64_MAX;
               }).ok());
}

TEST(CopyManifestTest, RefusesNamesThatLeaveTheFolder) {
  for (const char* name : {"", ".", "..", "../SEENDB", "/etc/passwd", "a/b", ".hidden", "a\\b",
                           "a b", "a\nb", "\xC3\xA4"}) {
    EXPECT_FALSE(IsCopyFileName(name)) << name;
    EXPECT_FALSE(Changed([&](Json* json) { (*json)["files"][0]["name"] = name; }).ok()) << name;
  }
  EXPECT_FALSE(IsCopyFileName(std::string(65, 'a')));
  EXPECT_FALSE(IsCopyFileName(std::string_view("a\0b", 3)));
  for (const char* name : {"000012.sst", "000013.log", "CURRENT", "MANIFEST-000004", "IDENTITY",
                           "OPTIONS-000007", "SYNCED", "FILES"}) {
    EXPECT_TRUE(IsCopyFileName(name)) << name;
  }
}

TEST(CopyRequestTest, IsReadAsItWasWrittenAndNamesTheFieldAtFault) {
  const CopyRequest request{.node = "n2", .kind = Kind()};
  const Result<CopyRequest> read = CopyRequestFromJson(CopyRequestToJson(request));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->node, "n2");
  EXPECT_TRUE(CheckSameKind(read->kind, request.kind).ok());
  for (const char* field : {"node", "format", "uuid", "shards", "hash"}) {
    Json json = Json::parse(CopyRequestToJson(request));
    json.erase(field);
    const Status missing = CopyRequestFromJson(json.dump()).status();
    EXPECT_EQ(missing.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(missing.field(), std::string("/") + field);
    json[field] = Json::array();
    EXPECT_EQ(CopyRequestFromJson(json.dump()).status().field(), std::string("/") + field);
  }
  EXPECT_EQ(CopyRequestFromJson("{").status().code(), StatusCode::kInvalidArgument);
}

TEST(CopyRequestTest, ABackupNamesItsRunAndAsksForSha256) {
  Json json = Json::parse(CopyRequestToJson({.node = "backup-1", .kind = Kind()}));
  EXPECT_FALSE(CopyRequestFromJson(json.dump())->sha256);
  json["run"] = "r1";
  json["sha256"] = true;
  const Result<CopyRequest> read = CopyRequestFromJson(json.dump());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->run, "r1");
  EXPECT_TRUE(read->sha256);
  json["run"] = 1;
  EXPECT_EQ(CopyRequestFromJson(json.dump()).status().field(), "/run");
  json["run"] = "r1";
  json["sha256"] = "yes";
  EXPECT_EQ(CopyRequestFromJson(json.dump()).status().field(), "/sha256");
}

TEST(CopyKindTest, EveryDifferenceIsNamed) {
  EXPECT_TRUE(CheckSameKind(Kind(), Kind()).ok());
  const CopyKind other{.format = 2, .uuid = "u-2", .shards = 4, .hash = "1/00000000"};
  const Status differs = CheckSameKind(Kind(), other);
  EXPECT_EQ(differs.code(), StatusCode::kIncompatible);
  for (const char* name : {"format is 1 here and 2 there", "uuid", "shards", "hash"}) {
    EXPECT_NE(differs.message().find(name), std::string_view::npos) << differs.ToString();
  }
  CopyKind newer = Kind();
  newer.format = 2;
  EXPECT_EQ(CheckSameKind(Kind(), newer).message().find("uuid"), std::string_view::npos);
}

class ReadKindTest : public ::testing::Test {
 protected:
  ReadKindTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "seendb-kind-XXXXXX").string();
    dir_ = mkdtemp(pattern.data());
  }
  ~ReadKindTest() override { std::filesystem::remove_all(dir_); }
  Result<CopyKind> Read(const std::string& identity) {
    std::ofstream(dir_ + "/SEENDB") << identity;
    return ReadKind(dir_);
  }
  std::string dir_;
};

TEST_F(ReadKindTest, TellsTheHashButNotItsKey) {
  EXPECT_EQ(ReadKind(dir_).status().code(), StatusCode::kNotFound);
  const std::string key = "000102030405060708090a0b0c0d0e0f";
  const Result<CopyKind> kind =
      Read(R"({"format":1,"id":"u","shards":4,"hash":2,"hash_key":")" + key + R"(","x":0})");
  ASSERT_TRUE(kind.ok()) << kind.status().ToString();
  EXPECT_EQ(kind->uuid, "u");
  EXPECT_EQ(kind->shards, 4u);
  EXPECT_EQ(kind->hash.substr(0, 2), "2/");
  EXPECT_EQ(CopyRequestToJson({"n", *kind}).find(key.substr(0, 8)), std::string::npos);
  const Result<CopyKind> other = Read(
      R"({"format":1,"id":"u","shards":4,"hash":2,"hash_key":"ff0102030405060708090a0b0c0d0e0f"})");
  ASSERT_TRUE(other.ok());
  EXPECT_NE(other->hash, kind->hash);
  EXPECT_EQ(Read(R"({"format":1,"id":"u","shards":4,"hash":1})")->hash, "1/00000000");
  EXPECT_EQ(Read("torn").status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace seendb::transfer::SEENDB_TEST_FILE
