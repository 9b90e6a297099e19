// The header of log records: its bytes, and what is refused by name.

#include "cluster/log_record.h"

#include <gtest/gtest.h>

#include "cluster/cluster_doc.h"
#include "seendb/policy.h"

namespace seendb::cluster::SEENDB_TEST_FILE {
namespace {

constexpr int64_t kNoonMs = 1'773'144'000'000;  // 2026-03-10 12:00 UTC

TEST(LogHeaderTest, ItsBytesAreThoseOfTheDocument) {
  const LogHeader header{LogKind::kPlays, kNoonMs, 0x0123456789abcdef};
  const std::string bytes = EncodeLogHeader(header);
  EXPECT_EQ(test::Hex(bytes), test::DocumentBlocks("hex").at(0));
  EXPECT_EQ(*DecodeLogHeader(bytes), header);
}

TEST(LogHeaderTest, EveryKindIsReadBackUnderTheNameOfTheDocument) {
  const std::string document = test::ClusterDocument();
  for (int number = 1; number <= static_cast<int>(kLastLogKind); ++number) {
    const LogHeader header{static_cast<LogKind>(number), kLastTimeMs, ~uint64_t{0}};
    EXPECT_EQ(*DecodeLogHeader(EncodeLogHeader(header)), header);
    const std::string named =
        std::to_string(number) + " `" + std::string(LogKindName(header.kind)) + "`";
    EXPECT_NE(document.find(named), std::string::npos) << named;
  }
  EXPECT_EQ(LogKindName(static_cast<LogKind>(0)), "unknown");
  EXPECT_EQ(LogKindName(static_cast<LogKind>(static_cast<int>(kLastLogKind) + 1)), "unknown");
}

TEST(LogHeaderTest, ANewerVersionOrKindIsIncompatibleAndNamed) {
  std::string newer = EncodeLogHeader({LogKind::kPlays, kNoonMs, 1});
  newer[0] = 3;
  newer += "what a later version adds";
  Status status = DecodeLogHeader(newer).status();
  EXPECT_EQ(status.code(), StatusCode::kIncompatible);
  EXPECT_NE(status.message().find("version 3"), std::string_view::npos) << status.ToString();
  std::string kind = EncodeLogHeader({LogKind::kPlays, kNoonMs, 1});
  const int next = static_cast<int>(kLastLogKind) + 1;
  kind[1] = static_cast<char>(next);
  status = DecodeLogHeader(kind).status();
  EXPECT_EQ(status.code(), StatusCode::kIncompatible);
  EXPECT_NE(status.message().find("kind " + std::to_string(next)), std::string_view::npos)
      << status.ToString();
}

TEST(LogHeaderTest, OneOfVersion2CarriesHowFarItsWriterHadRead) {
  const LogHeader header{LogKind::kPlays, kNoonMs, 0x0123456789abcdef, 258};
  const std::string bytes = EncodeLogHeader(header);
  EXPECT_EQ(test::Hex(bytes), test::DocumentBlocks("hex").at(1));
  EXPECT_EQ(*DecodeLogHeader(bytes), header);
  for (const size_t size : {kLogHeaderBytes, kLogHeaderBytes2 - 1}) {
    EXPECT_EQ(DecodeLogHeader(bytes.substr(0, size)).status().code(), StatusCode::kCorruption);
  }
  EXPECT_EQ(DecodeLogHeader(bytes + "x").status().code(), StatusCode::kCorruption);
  std::string negative = bytes;
  negative.back() = '\x80';
  EXPECT_EQ(DecodeLogHeader(negative).status().code(), StatusCode::kCorruption);
}

TEST(LogHeaderTest, AKindOfVersion3HasAHeaderOfVersion2) {
  const LogHeader header{LogKind::kMarks, kNoonMs, 0x0123456789abcdef, 258};
  const std::string bytes = EncodeLogHeader(header);
  EXPECT_EQ(test::Hex(bytes), test::DocumentBlocks("hex").at(2));
  EXPECT_EQ(*DecodeLogHeader(bytes), header);
}

TEST(LogHeaderTest, AUsersSetIsOfTheSameVersion) {
  const LogHeader header{LogKind::kUserSet, kNoonMs, 0x0123456789abcdef, 258};
  const std::string bytes = EncodeLogHeader(header);
  EXPECT_EQ(test::Hex(bytes), test::DocumentBlocks("hex").at(3));
  EXPECT_EQ(*DecodeLogHeader(bytes), header);
}

TEST(LogHeaderTest, EveryKindOfVersion3IsTheOneOfTheDocument) {
  const std::vector<std::string> lines = test::DocumentBlocks("hex kinds");
  const std::vector<LogKind> kinds = {
      LogKind::kExposures,          LogKind::kMarkDelete,           LogKind::kPlaysGrouped,
      LogKind::kImpressionsGrouped, LogKind::kHistoryDeleteGrouped, LogKind::kReserve};
  ASSERT_EQ(lines.size(), kinds.size());
  for (size_t i = 0; i < kinds.size(); ++i) {
    const LogHeader header{kinds[i], kNoonMs, 0x0123456789abcdef, 258};
    const std::string bytes = EncodeLogHeader(header);
    EXPECT_EQ(test::Hex(bytes), lines[i]) << LogKindName(kinds[i]);
    EXPECT_EQ(*DecodeLogHeader(bytes), header);
  }
}

TEST(LogHeaderTest, WhatOlderNodesCannotReadIsNotWritten) {
  for (int number = 1; number <= static_cast<int>(kLastLogKind); ++number) {
    const uint32_t since = number <= static_cast<int>(LogKind::kImported) ? 1 : 3;
    EXPECT_TRUE(CheckMayWrite(static_cast<LogKind>(number), since).ok());
    EXPECT_FALSE(CheckMayWrite(static_cast<LogKind>(number), since - 1).ok());
    const Status refused = CheckMayWrite(static_cast<LogKind>(number), 0);
    EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
    EXPECT_NE(refused.message().find(LogKindName(static_cast<LogKind>(number))),
              std::string_view::npos);
  }
}

TEST(LogHeaderTest, DamageIsCorruption) {
  const std::string sound = EncodeLogHeader({LogKind::kTick, kNoonMs, 1});
  for (size_t bytes = 0; bytes < sound.size(); ++bytes) {
    EXPECT_EQ(DecodeLogHeader(sound.substr(0, bytes)).status().code(), StatusCode::kCorruption);
  }
  EXPECT_EQ(DecodeLogHeader(sound + "x").status().code(), StatusCode::kCorruption);
  for (const size_t at : {0u, 1u}) {
    std::string zero = sound;
    zero[at] = 0;
    EXPECT_EQ(DecodeLogHeader(zero).status().code(), StatusCode::kCorruption);
  }
  const std::string late = EncodeLogHeader({LogKind::kTick, kLastTimeMs + 1, 1});
  EXPECT_EQ(DecodeLogHeader(late).status().code(), StatusCode::kCorruption);
  const std::string negative = EncodeLogHeader({LogKind::kTick, -1, 1});
  EXPECT_EQ(DecodeLogHeader(negative).status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace seendb::cluster::SEENDB_TEST_FILE
