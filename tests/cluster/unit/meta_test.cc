// The records of X.meta and their fold: what counts, what does not, what stops a reader.

#include "cluster/meta.h"

#include <gtest/gtest.h>

#include "cluster/cluster_doc.h"

namespace seendb::cluster::SEENDB_TEST_FILE {
namespace {

const std::string kKey = "000102030405060708090a0b0c0d0e0f";

InitRecord Init(uint32_t partitions = 2) {
  return {.uuid = "2f0c6a0e-5d1b-4b7e-9f8e-3a1c5d7e9b2f",
          .partitions = partitions,
          .replicas = 2,
          .hash = 2,
          .key = kKey,
          .at_ms = 1'773'144'000'000};
}
MemberRecord MemberOf(const std::string& node) {
  return {.node = node,
          .url = "http://" + node + ":7373",
          .zone = "z-" + node,
          .build = "0.1.0",
          .log_version = 2};
}

/// A fold that is fed records one by one.
class MetaTest : public ::testing::Test {
 protected:
  Status Take(const MetaRecord& record) { return meta_.Apply(offset_++, EncodeMeta(record)); }
  void Make(std::initializer_list<const char*> nodes) {
    ASSERT_TRUE(Take(Init()).ok());
    for (const char* node : nodes) ASSERT_TRUE(Take(MemberOf(node)).ok());
  }
  /// It did not count, and nothing but the offset changed.
  void ExpectNoEffect(const MetaRecord& record, const std::string& why) {
    Meta before = meta_;
    const Status status = Take(record);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << EncodeMeta(record);
    EXPECT_NE(std::string(status.message()).find(why), std::string::npos) << status.ToString();
    EXPECT_EQ(meta_.next_offset(), offset_);
    EXPECT_EQ(before.members(), meta_.members());
    EXPECT_EQ(before.placement(), meta_.placement());
    EXPECT_EQ(before.collections(), meta_.collections());
    EXPECT_EQ(before.init(), meta_.init());
    EXPECT_EQ(before.log_version(), meta_.log_version());
  }

  Meta meta_;
  int64_t offset_ = 0;
};

TEST(MetaRecordTest, TheDocumentsRecordsAreWhatIsWritten) {
  const std::vector<std::string> lines = test::DocumentBlocks("json");
  ASSERT_EQ(lines.size(), std::variant_size_v<MetaRecord>);
  for (size_t kind = 0; kind < lines.size(); ++kind) {
    const Result<MetaRecord> record = DecodeMeta(lines[kind]);
    ASSERT_TRUE(record.ok()) << lines[kind] << record.status().ToString();
    EXPECT_EQ(record->index(), kind);
    std::string written = EncodeMeta(*record);
    if (const size_t at = written.find("1.0,"); at != std::string::npos) written.erase(at + 1, 2);
    EXPECT_EQ(written, lines[kind]);
  }
}

TEST(MetaRecordTest, WhatIsNotKnownIsIncompatibleAndNamed) {
  const struct {
    const char* record;
    const char* named;
  } kCases[] = {
      {R"({"v":2,"kind":"leave","node":"n1"})", "version 2"},
      {R"({"v":1,"kind":"lease","node":"n1"})", "lease"},
      {R"({"v":1,"kind":"leave","node":"n1","until_ms":5})", "until_ms"},
  };
  for (const auto& one : kCases) {
    const Status status = DecodeMeta(one.record).status();
    EXPECT_EQ(status.code(), StatusCode::kIncompatible) << one.record;
    EXPECT_NE(status.message().find(one.named), std::string_view::npos) << status.ToString();
  }
}

// As deep as a record of 900 KB can be: writing or copying it would end the process.
TEST(MetaRecordTest, WhatIsTooDeepIsPassedOver) {
  const auto deep = [](size_t depth) {
    return R"({"v":1,"kind":"collection","name":"d","at_ms":1,"patch":{"a":)" +
           std::string(depth, '[') + std::string(depth, ']') + "}}";
  };
  const Status status = DecodeMeta(deep(450'000)).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "more than 32 levels deep");
  EXPECT_EQ(DecodeMeta(deep(31)).status().message(), "more than 32 levels deep");
  EXPECT_EQ(DecodeMeta(deep(30)).status().field(), "/patch") << "no such key";
  Meta meta;
  EXPECT_FALSE(meta.Apply(0, deep(450'000)).ok());
  EXPECT_EQ(meta.next_offset(), 1) << "it is not met again";
}

TEST(MetaRecordTest, WhatNoVersionWritesIsInvalidAndNamesTheMember) {
  const struct {
    const char* record;
    const char* field;
  } kCases[] = {
      {"", ""},
      {"[]", ""},
      {"{", ""},
      {R"({"kind":"leave","node":"n1"})", "/v"},
      {R"({"v":0,"kind":"leave","node":"n1"})", "/v"},
      {R"({"v":1,"kind":7})", "/kind"},
      {R"({"v":1,"kind":"leave"})", "/node"},
      {R"({"v":1,"kind":"leave","node":"a b"})", "/node"},
      {R"({"v":1,"kind":"leave","node":5})", "/node"},
      {R"({"v":1,"kind":"member","node":"n","url":"ftp://n:1","zone":"z","weight":1,"build":""})",
       "/url"},
      {R"({"v":1,"kind":"member","node":"n","url":"http://n","zone":"z","weight":1,"build":""})",
       "/url"},
      {R"({"v":1,"kind":"member","node":"n","url":"http://n:1","zone":"z","weight":0,"build":""})",
       "/weight"},
      {R"({"v":1,"kind":"placement","base":-2,"assign":[["n"]]})", "/base"},
      {R"({"v":1,"kind":"placement","base":-1,"assign":[]})", "/assign"},
      {R"({"v":1,"kind":"placement","base":-1,"assign":[[]]})", "/assign"},
      {R"({"v":1,"kind":"placement","base":-1,"assign":[["n","n"]]})", "/assign"},
      {R"({"v":1,"kind":"collection","name":"Upper","patch":{},"at_ms":1})", "/name"},
      {R"({"v":1,"kind":"collection","name":"x","patch":{"windw":1},"at_ms":1})", "/patch"},
      {R"({"v":1,"kind":"collection","name":"x","patch":{},"at_ms":-1})", "/at_ms"},
      {R"({"v":1,"kind":"log_version","version":256})", "/version"},
      {R"({"v":1,"kind":"log_version","version":18446744073709551615})", "/version"},
  };
  for (const auto& one : kCases) {
    const Status status = DecodeMeta(one.record).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << one.record;
    EXPECT_EQ(status.field(), one.field) << one.record << status.ToString();
  }
  InitRecord keyless = Init();
  keyless.key.clear();
  EXPECT_EQ(DecodeMeta(EncodeMeta(keyless)).status().field(), "/key");
  InitRecord keyed = Init();
  keyed.hash = 1;
  EXPECT_EQ(DecodeMeta(EncodeMeta(keyed)).status().field(), "/key");
  keyed.key.clear();
  EXPECT_TRUE(DecodeMeta(EncodeMeta(keyed)).ok());
  InitRecord odd = Init();
  odd.uuid[8] = 'a';
  EXPECT_EQ(DecodeMeta(EncodeMeta(odd)).status().field(), "/uuid");
}

TEST(MetaRecordTest, UrlsOfNodes) {
  for (const char* sound : {"http://h:1", "https://a.b-c:65535", "http://[::1]:7373"}) {
    EXPECT_TRUE(CheckNodeUrl(sound).ok()) << sound;
  }
  for (const char* bad : {"", "http://", "http://:1", "http://h:0", "http://h:65536", "http://h:1/",
                          "http://h", "h:1", "http://h:1x", "http://u@h:1", "http://[::1]",
                          "http://[]:1", "http://[h]:1", "https:/h:1"}) {
    EXPECT_FALSE(CheckNodeUrl(bad).ok()) << bad;
  }
}

TEST_F(MetaTest, NothingCountsBeforeTheInit) {
  ExpectNoEffect(MemberOf("n1"), "not made yet");
  Make({});
  EXPECT_EQ(meta_.init(), Init());
  EXPECT_EQ(meta_.collections().at("default").policy, Policy());
  InitRecord other = Init();
  other.uuid[0] = '3';
  ExpectNoEffect(other, "made before");
}

TEST_F(MetaTest, APlacementCountsOnlyOnTheOneInForce) {
  Make({"n1", "n2"});
  const Assignment first{{"n1", "n2"}, {"n2", "n1"}}, second{{"n1"}, {"n2"}};
  const int64_t offset = offset_;
  ASSERT_TRUE(Take(PlacementRecord{-1, first}).ok());
  EXPECT_EQ(meta_.placement(), (Placement{offset, first}));
  // Two at once: the first in the log wins.
  ASSERT_TRUE(Take(PlacementRecord{offset, second}).ok());
  ExpectNoEffect(PlacementRecord{offset, first}, "in force is that of offset");
  ExpectNoEffect(PlacementRecord{-1, first}, "in force is that of offset");
  EXPECT_EQ(meta_.placement(), (Placement{offset + 1, second}));
}

TEST_F(MetaTest, APlacementNamesMembersAndEveryPartition) {
  Make({"n1"});
  ExpectNoEffect(PlacementRecord{-1, {{"n1"}, {"n2"}}}, "n2 is no member");
  ExpectNoEffect(PlacementRecord{-1, {{"n1"}}}, "1 partitions");
  ExpectNoEffect(PlacementRecord{-1, {{"n1"}, {"n1"}, {"n1"}}}, "3 partitions");
}

TEST_F(MetaTest, AMemberLeavesInTwoSteps) {
  Make({"n1", "n2"});
  ASSERT_TRUE(Take(PlacementRecord{-1, {{"n1"}, {"n2"}}}).ok());
  const int64_t base = meta_.placement().offset;
  ASSERT_TRUE(Take(LeaveRecord{"n1"}).ok());
  EXPECT_TRUE(meta_.members().at("n1").leaving);
  // It still holds a partition: asking again, or starting it again, changes nothing.
  ASSERT_TRUE(Take(LeaveRecord{"n1"}).ok());
  MemberRecord moved = MemberOf("n1");
  moved.url = "http://elsewhere:1";
  ASSERT_TRUE(Take(moved).ok());
  EXPECT_TRUE(meta_.members().at("n1").leaving);
  EXPECT_EQ(meta_.members().at("n1").url, "http://elsewhere:1");
  ASSERT_TRUE(Take(PlacementRecord{base, {{"n2"}, {"n2"}}}).ok());
  ASSERT_TRUE(Take(LeaveRecord{"n1"}).ok());
  EXPECT_FALSE(meta_.members().contains("n1"));
  ExpectNoEffect(LeaveRecord{"n1"}, "no member");
}

TEST_F(MetaTest, ALeaveIsTakenBack) {
  Make({"n1"});
  ASSERT_TRUE(Take(LeaveRecord{"n1"}).ok());
  MemberRecord back = MemberOf("n1");
  back.rejoin = true;
  ASSERT_TRUE(Take(back).ok());
  EXPECT_FALSE(meta_.members().at("n1").leaving);
}

TEST_F(MetaTest, CollectionsKeepTheirFixedFields) {
  Make({});
  ASSERT_TRUE(Take(CollectionRecord{"video", R"({"window":2,"impressions":5})", 7}).ok());
  ASSERT_TRUE(Take(CollectionRecord{"video", R"({"impressions":6,"window":2})", 8}).ok());
  const MetaCollection& video = meta_.collections().at("video");
  EXPECT_EQ(video.policy.window, 2u);
  EXPECT_EQ(video.policy.impressions, 6u);
  EXPECT_EQ(video.made_at_ms, 7);
  const int64_t made_by = video.made_by;
  EXPECT_GT(made_by, 0);
  ExpectNoEffect(CollectionRecord{"video", R"({"window":3})", 9}, "fixed");
  ExpectNoEffect(CollectionRecord{"default", R"({"bucket":"days:3"})", 9}, "fixed");
  ExpectNoEffect(CollectionRecord{"new", R"({"window":100})", 9}, "window");
  ASSERT_TRUE(Take(CollectionGoneRecord{"video", 10}).ok());
  ExpectNoEffect(CollectionGoneRecord{"video", 11}, "no collection video");
  ASSERT_TRUE(Take(CollectionRecord{"video", R"({"window":3})", 12}).ok());
  EXPECT_EQ(meta_.collections().at("video").made_at_ms, 12);
  EXPECT_GT(meta_.collections().at("video").made_by, made_by);
  EXPECT_EQ(meta_.collections().at("default").made_by, 0);
}

TEST_F(MetaTest, TheLogsVersionOnlyGrows) {
  Make({});
  EXPECT_EQ(meta_.log_version(), 1u);
  ExpectNoEffect(LogVersionRecord{1}, "version 1");
  ASSERT_TRUE(Take(LogVersionRecord{3}).ok());
  ExpectNoEffect(LogVersionRecord{2}, "version 3");
}

TEST_F(MetaTest, TheLogsVersionIsOneThatAllMembersRead) {
  Make({"n1", "n2"});
  ExpectNoEffect(LogVersionRecord{3}, "n1 reads log records up to version 2 only");
  for (const char* node : {"n1", "n2"}) {
    MemberRecord newer = MemberOf(node);
    newer.log_version = 3;
    ASSERT_TRUE(Take(newer).ok());
  }
  EXPECT_EQ(meta_.members().at("n1").log_version, 3U);
  ASSERT_TRUE(Take(LogVersionRecord{3}).ok());
  EXPECT_EQ(meta_.log_version(), 3U);
  EXPECT_EQ(*Meta::FromJson(meta_.ToJson()), meta_);
}

TEST_F(MetaTest, AClusterMayBeginWithANewerVersion) {
  InitRecord init = Init();
  init.log_version = 2;
  ASSERT_TRUE(Take(init).ok());
  EXPECT_EQ(meta_.log_version(), 2U);
  EXPECT_EQ(*Meta::FromJson(meta_.ToJson()), meta_);
}

TEST_F(MetaTest, AnUnknownRecordStopsTheFold) {
  Make({"n1"});
  const Meta before = meta_;
  EXPECT_EQ(meta_.Apply(offset_, R"({"v":1,"kind":"lease"})").code(), StatusCode::kIncompatible);
  EXPECT_EQ(meta_, before);  // the offset too
}

TEST_F(MetaTest, ARecordThatWasTakenBeforeHasNoEffect) {
  Make({"n1"});
  const Meta before = meta_;
  EXPECT_TRUE(meta_.Apply(1, EncodeMeta(LeaveRecord{"n1"})).ok());
  EXPECT_EQ(meta_, before);
}

TEST_F(MetaTest, GapsOfTheLogDoNotMatter) {
  ASSERT_TRUE(meta_.Apply(5, EncodeMeta(Init())).ok());
  EXPECT_EQ(meta_.next_offset(), 6);
}

TEST_F(MetaTest, TheCacheHoldsEverything) {
  EXPECT_EQ(*Meta::FromJson(meta_.ToJson()), meta_);
  Make({"n1", "n2"});
  ASSERT_TRUE(Take(PlacementRecord{-1, {{"n1", "n2"}, {"n2"}}}).ok());
  ASSERT_TRUE(Take(LeaveRecord{"n2"}).ok());
  ASSERT_TRUE(Take(LogVersionRecord{2}).ok());
  ASSERT_TRUE(
      Take(CollectionRecord{
               "long", R"({"fpr":0.003,"bucket":"days:5","history":{"enabled":true,"days":400}})",
               5})
          .ok());
  const Result<Meta> read = Meta::FromJson(meta_.ToJson());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, meta_);
  std::string text = meta_.ToJson();
  for (size_t bytes = 0; bytes + 1 < text.size(); bytes += 7) {
    EXPECT_EQ(Meta::FromJson(text.substr(0, bytes)).status().code(), StatusCode::kCorruption);
  }
}

using Nodes = std::set<std::string>;

TEST_F(MetaTest, RemembersWhoWasEverNamed) {
  Make({"n1", "n2", "n3"});
  EXPECT_EQ(meta_.EverNamed(0), Nodes());
  ASSERT_TRUE(Take(PlacementRecord{-1, {{"n1", "n2"}, {"n2"}}}).ok());
  ASSERT_TRUE(Take(PlacementRecord{meta_.placement().offset, {{"n3"}, {"n2"}}}).ok());
  ASSERT_FALSE(Take(PlacementRecord{-1, {{"n1"}, {"n1"}}}).ok());
  ASSERT_TRUE(Take(LeaveRecord{"n1"}).ok());
  ASSERT_TRUE(Take(LeaveRecord{"n1"}).ok());
  EXPECT_EQ(meta_.EverNamed(0), (Nodes{"n1", "n2", "n3"}));
  EXPECT_EQ(meta_.EverNamed(1), Nodes{"n2"});
  EXPECT_EQ(Meta::FromJson(meta_.ToJson())->EverNamed(0), meta_.EverNamed(0));
}

// It can't know who was named before the placement in force.
TEST_F(MetaTest, AFoldOfOlderSoftwareHasOthersToo) {
  Make({"n1", "n2"});
  ASSERT_TRUE(Take(PlacementRecord{-1, {{"n1"}, {"n2"}}}).ok());
  std::string text = meta_.ToJson();
  const size_t at = text.find("\"named\"");
  text.erase(at, text.find("\"collections\"") - at);
  const Result<Meta> read = Meta::FromJson(text);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->EverNamed(0), (Nodes{std::string(kOtherNodes), "n1"}));
}

}  // namespace
}  // namespace seendb::cluster::SEENDB_TEST_FILE
