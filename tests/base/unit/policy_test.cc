#include "seendb/policy.h"

#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

TEST(Policy, DefaultsAreTheShortVideoPolicy) {
  const Policy policy;
  EXPECT_TRUE(ValidatePolicy(policy).ok());
  EXPECT_EQ(policy.bucket.kind, BucketKind::kMonth);
  EXPECT_EQ(policy.window, 4U);
  EXPECT_EQ(policy.retention, 6U);
  EXPECT_EQ(policy.fpr, 0.01);
  EXPECT_EQ(policy.impressions, 100U);
  EXPECT_FALSE(policy.served_is_seen);
  EXPECT_EQ(policy.max_future_ms, 86'400'000);
}

TEST(Policy, CollectionNames) {
  for (const char* name : {"a", "0", "video", "short-video_2", "9-_"}) {
    EXPECT_TRUE(ValidateCollectionName(name).ok()) << name;
  }
  EXPECT_TRUE(ValidateCollectionName(std::string(64, 'a')).ok());
  for (const char* name : {"", "-a", "_a", "A", "vidéo", "a b", "a/b", "a.b", "aA"}) {
    EXPECT_EQ(ValidateCollectionName(name).code(), StatusCode::kInvalidArgument) << name;
  }
  EXPECT_FALSE(ValidateCollectionName(std::string(65, 'a')).ok());
  EXPECT_FALSE(ValidateCollectionName(std::string("a\0", 2)).ok());
}

struct Change {
  const char* field;
  std::function<void(Policy*)> make;
};

TEST(Policy, EveryLimitNamesItsField) {
  const Change bad[] = {
      {"/bucket",
       [](Policy* p) {
         p->bucket = {BucketKind::kMonth, 1};
       }},
      {"/bucket",
       [](Policy* p) {
         p->bucket = {BucketKind::kDays, 0};
       }},
      {"/bucket",
       [](Policy* p) {
         p->bucket = {BucketKind::kDays, 367};
       }},
      {"/bucket", [](Policy* p) { p->bucket.kind = static_cast<BucketKind>(9); }},
      {"/window", [](Policy* p) { p->window = 0; }},
      {"/window", [](Policy* p) { p->window = 129; }},
      {"/window", [](Policy* p) { p->window = 7; }},
      {"/retention", [](Policy* p) { p->retention = 0; }},
      {"/retention", [](Policy* p) { p->retention = 129; }},
      {"/fpr", [](Policy* p) { p->fpr = 0; }},
      {"/fpr", [](Policy* p) { p->fpr = 0.9e-6; }},
      {"/fpr", [](Policy* p) { p->fpr = 0.51; }},
      {"/fpr", [](Policy* p) { p->fpr = std::nan(""); }},
      {"/impressions", [](Policy* p) { p->impressions = 10'001; }},
      {"/representation", [](Policy* p) { p->representation = static_cast<Representation>(2); }},
      {"/max_filter_bytes", [](Policy* p) { p->max_filter_bytes = kMinFilterBytes - 1; }},
      {"/max_filter_bytes", [](Policy* p) { p->max_filter_bytes = kMaxFilterBytes + 1; }},
      {"/durability", [](Policy* p) { p->durability = static_cast<Durability>(3); }},
      {"/max_future", [](Policy* p) { p->max_future_ms = -1; }},
      {"/max_future", [](Policy* p) { p->max_future_ms = 366LL * 86'400'000 + 1; }},
      {"/utc_offset", [](Policy* p) { p->utc_offset_minutes = 841; }},
      {"/utc_offset", [](Policy* p) { p->utc_offset_minutes = -841; }},
  };
  for (const Change& change : bad) {
    Policy policy;
    change.make(&policy);
    const Status status = ValidatePolicy(policy);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << change.field;
    EXPECT_EQ(status.field(), change.field);
  }
}

TEST(Policy, EveryLimitItselfIsAllowed) {
  const Change good[] = {
      {"days:1",
       [](Policy* p) {
         p->bucket = {BucketKind::kDays, 1};
       }},
      {"days:366",
       [](Policy* p) {
         p->bucket = {BucketKind::kDays, 366};
       }},
      {"window = retention", [](Policy* p) { p->window = p->retention = 128; }},
      {"one bucket", [](Policy* p) { p->window = p->retention = 1; }},
      {"fpr low", [](Policy* p) { p->fpr = 1e-6; }},
      {"fpr high", [](Policy* p) { p->fpr = 0.5; }},
      {"impressions", [](Policy* p) { p->impressions = 10'000; }},
      {"no impressions", [](Policy* p) { p->impressions = 0; }},
      {"bytes low", [](Policy* p) { p->max_filter_bytes = kMinFilterBytes; }},
      {"bytes high", [](Policy* p) { p->max_filter_bytes = kMaxFilterBytes; }},
      {"no future", [](Policy* p) { p->max_future_ms = 0; }},
      {"a year ahead", [](Policy* p) { p->max_future_ms = 366LL * 86'400'000; }},
      {"east", [](Policy* p) { p->utc_offset_minutes = 840; }},
      {"west", [](Policy* p) { p->utc_offset_minutes = -840; }},
  };
  for (const Change& change : good) {
    Policy policy;
    change.make(&policy);
    EXPECT_TRUE(ValidatePolicy(policy).ok()) << change.field;
  }
}

TEST(Policy, PatchesSetWhatTheyHold) {
  Policy base;
  base.impressions = 7;
  EXPECT_EQ(ApplyPatch(base, {}), base);
  PolicyPatch patch;
  patch.bucket = BucketSpec{BucketKind::kDays, 10};
  patch.window = 2;
  patch.retention = 3;
  patch.fpr = 0.02;
  patch.impressions = 5;
  patch.served_is_seen = true;
  patch.representation = Representation::kExact;
  patch.max_filter_bytes = 4096;
  patch.durability = Durability::kSync;
  patch.max_future_ms = 1;
  patch.utc_offset_minutes = 480;
  const Policy expected{{BucketKind::kDays, 10}, 2, 3,  0.02, 5, true, Representation::kExact, 4096,
                        Durability::kSync,       1, 480};
  EXPECT_EQ(ApplyPatch(base, patch), expected);
}

TEST(Policy, FixedFieldsAreNamedWhenTheyWouldChange) {
  const Policy current;
  PolicyPatch patch;
  EXPECT_TRUE(CheckFixedFields(current, patch).ok());
  patch.bucket = current.bucket;
  patch.window = current.window;
  patch.fpr = current.fpr;
  patch.representation = current.representation;
  patch.utc_offset_minutes = current.utc_offset_minutes;
  patch.retention = 100;
  patch.impressions = 1;
  EXPECT_TRUE(CheckFixedFields(current, patch).ok()) << "the same values change nothing";

  patch.window = 5;
  Status status = CheckFixedFields(current, patch);
  EXPECT_EQ(status.code(), StatusCode::kIncompatible);
  EXPECT_EQ(status.field(), "/window");
  patch.bucket = BucketSpec{BucketKind::kDays, 1};
  patch.fpr = 0.02;
  patch.representation = Representation::kExact;
  patch.utc_offset_minutes = 60;
  status = CheckFixedFields(current, patch);
  for (const char* field : {"bucket", "utc_offset", "window", "fpr", "representation"}) {
    EXPECT_NE(status.message().find(field), std::string_view::npos) << field;
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
