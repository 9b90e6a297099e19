// What an Encoder makes can be read at once, and to the end, by a Decoder.

#include "http/encoder.h"

#include <string>

#include <gtest/gtest.h>

#include "http/decoder.h"
#include "http/unit/coding_sample.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

class EncoderTest : public ::testing::TestWithParam<Coding> {};

TEST_P(EncoderTest, EachPieceCanBeReadAtOnce) {
  MemoryBudget budget(SIZE_MAX / 2);
  Encoder encoder(GetParam());
  Decoder decoder(GetParam(), &budget);
  std::string read(1u << 20, '\0');
  for (const size_t size : {1u, 10u, 100'000u, 3u, 700'000u}) {
    const std::string text = Text(size);
    std::string coded;
    encoder.Put(text, /*end=*/false, &coded);
    const Decoder::Step step = decoder.Put(coded, read.data(), read.size());
    EXPECT_EQ(step.taken, coded.size());
    EXPECT_TRUE(read.substr(0, step.made) == text) << size;
    EXPECT_LT(coded.size(), size * 2 / 3 + 40);
  }
  EXPECT_GT(encoder.HeldBytes(), 10'000u);
  std::string end;
  encoder.Put({}, /*end=*/true, &end);
  EXPECT_EQ(decoder.Put(end, read.data(), read.size()).made, 0u);
  EXPECT_TRUE(decoder.End());
}

TEST_P(EncoderTest, AppendsWhatCannotBeCompressed) {
  std::mt19937_64 random(test::Seed());
  std::string text(200'000, '\0');
  for (char& c : text) c = static_cast<char>(random());
  std::string coded = "before";
  Encoder(GetParam()).Put(text, /*end=*/true, &coded);
  ASSERT_TRUE(coded.starts_with("before"));
  MemoryBudget budget(SIZE_MAX / 2);
  Decoder decoder(GetParam(), &budget);
  std::string read(text.size() + 1, '\0');
  EXPECT_EQ(decoder.Put(coded.substr(6), read.data(), read.size()).made, text.size());
  EXPECT_TRUE(decoder.End());
  read.pop_back();
  EXPECT_TRUE(read == text);
}

INSTANTIATE_TEST_SUITE_P(Codings, EncoderTest, ::testing::Values(Coding::kGzip, Coding::kZstd),
                         [](const auto& of) { return std::string(CodingName(of.param)); });

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
