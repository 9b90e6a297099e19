// Which coding a header names or likes best.

#include "http/content_coding.h"

#include <gtest/gtest.h>

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

TEST(ContentCodingTest, ReadsContentEncoding) {
  EXPECT_EQ(ParseContentEncoding(""), Coding::kIdentity);
  EXPECT_EQ(ParseContentEncoding("Identity"), Coding::kIdentity);
  for (const char* const gzip : {"gzip", "x-gzip", "GZip", " gzip\t"}) {
    EXPECT_EQ(ParseContentEncoding(gzip), Coding::kGzip) << gzip;
  }
  EXPECT_EQ(ParseContentEncoding("zstd"), Coding::kZstd);
  for (const char* const other : {"br", "deflate", "gzip, gzip", "gzip,", "identity, gzip", "gzipx",
                                  "gzi", "x-zstd", "gzip;q=1"}) {
    EXPECT_EQ(ParseContentEncoding(other), std::nullopt) << other;
  }
}

TEST(ContentCodingTest, ChoosesByAcceptEncoding) {
  const struct {
    const char* header;
    Coding chosen;
  } cases[] = {
      {"", Coding::kIdentity},
      {"gzip", Coding::kGzip},
      {"GZIP", Coding::kGzip},
      {"x-gzip", Coding::kGzip},
      {"gzip, deflate, br", Coding::kGzip},
      {"deflate,gzip;q=1.0,*;q=0.5", Coding::kGzip},
      {"zstd", Coding::kZstd},
      {"gzip, zstd", Coding::kZstd},
      {"gzip;q=0.9, zstd;q=0.8", Coding::kGzip},
      {"gzip;q=0.001", Coding::kGzip},
      {"gzip;q=0", Coding::kIdentity},
      {"gzip; q=0.000", Coding::kIdentity},
      {"gzip ; Q=0 , zstd ; q=0", Coding::kIdentity},
      {"*", Coding::kGzip},
      {"*;q=0", Coding::kIdentity},
      {"*, gzip;q=0", Coding::kIdentity},
      {"identity", Coding::kIdentity},
      {"identity, gzip;q=0.5", Coding::kIdentity},
      {"identity;q=0.5, gzip;q=0.5", Coding::kGzip},
      {"deflate, br", Coding::kIdentity},
      {"gzip;q=2", Coding::kIdentity},
      {"gzip;q=1.001", Coding::kIdentity},
      {"gzip;q=0.0001", Coding::kIdentity},
      {"gzip;q=", Coding::kIdentity},
      {"gzip;q=-1", Coding::kIdentity},
      {"gzip;q=x, zstd", Coding::kZstd},
      {", ,gzip,", Coding::kGzip},
      {";q=1", Coding::kIdentity},
  };
  for (const auto& [header, chosen] : cases) EXPECT_EQ(ChooseCoding(header), chosen) << header;
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
