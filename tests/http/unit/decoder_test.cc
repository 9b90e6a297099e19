// Compressed bodies, whole, in pieces, broken, and far larger than they look.

#include "http/decoder.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "http/unit/coding_sample.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

constexpr size_t kNoLimit = SIZE_MAX / 2;

/// Feeds `coded` in pieces of `most_in`, with room for `most_out` at a time.
std::string Decode(Decoder* decoder, std::string_view coded, size_t most_in = SIZE_MAX,
                   size_t most_out = 4'096) {
  std::string all, piece(most_out, '\0');
  while (!decoder->error()) {
    const std::string_view in = coded.substr(0, most_in);
    const Decoder::Step step = decoder->Put(in, piece.data(), piece.size());
    coded.remove_prefix(step.taken);
    all.append(piece, 0, step.made);
    if (step.made < most_out && coded.empty()) return all;
  }
  return all;
}

class DecoderTest : public ::testing::TestWithParam<Coding> {
 protected:
  /// The refusal of `coded`, whether while it comes or at its end.
  Error Refusal(std::string_view coded) {
    Decoder decoder(GetParam(), &budget_);
    Decode(&decoder, coded);
    EXPECT_FALSE(decoder.End());
    return decoder.error().value_or(Error{0, "none", ""});
  }

  MemoryBudget budget_{kNoLimit};
};

// What repeats itself alone.
TEST_P(DecoderTest, AHundredTimesAsMuchIsTooMuchAfter16Megabytes) {
  const std::string repeats(17u << 20, 'a');
  const Error refusal = Refusal(Encoded(GetParam(), repeats));
  EXPECT_EQ(refusal.status, 413u);
  EXPECT_EQ(refusal.code, "too_large");
  EXPECT_NE(refusal.message.find("at byte "), std::string::npos) << refusal.message;
  const std::string few(16u << 20, 'a');
  Decoder decoder(GetParam(), &budget_);
  EXPECT_EQ(Decode(&decoder, Encoded(GetParam(), few), SIZE_MAX, 1u << 20).size(), few.size());
  EXPECT_TRUE(decoder.End());
  // Members and frames one after the other are one body.
  std::string parts;
  for (int i = 0; i < 5; ++i) parts += Encoded(GetParam(), repeats.substr(0, 4u << 20));
  EXPECT_EQ(Refusal(parts).status, 413u);
}

TEST_P(DecoderTest, TextMayBeLongerThan16Megabytes) {
  std::string text;
  const std::string once = Text(1u << 20);
  for (int i = 0; i < 18; ++i) text += once + std::to_string(i);
  std::string coded;
  for (size_t at = 0; at < text.size(); at += 1u << 20) {  // each for itself, as logs are
    coded += Encoded(GetParam(), text.substr(at, 1u << 20));
  }
  Decoder decoder(GetParam(), &budget_);
  EXPECT_EQ(Decode(&decoder, coded, SIZE_MAX, 1u << 20), text);
  EXPECT_TRUE(decoder.End());
}

TEST_P(DecoderTest, TakesAnyPieces) {
  const std::string text = Text(300'000);
  const std::string coded = Encoded(GetParam(), text);
  EXPECT_LT(coded.size(), text.size() / 2);
  for (const auto& [in, out] : {std::pair<size_t, size_t>{SIZE_MAX, 400'000},
                                {1, 1'000},
                                {1'000, 1},
                                {7, 13},
                                {SIZE_MAX, text.size()}}) {
    Decoder decoder(GetParam(), &budget_);
    ASSERT_TRUE(Decode(&decoder, coded, in, out) == text) << in << " " << out;
    EXPECT_TRUE(decoder.End());
  }
  EXPECT_EQ(budget_.used(), 0u);
}

TEST_P(DecoderTest, TakesSeveralMembersAndEmptyOnes) {
  const std::string one = Encoded(GetParam(), "one"), none = Encoded(GetParam(), "");
  for (const size_t in : {size_t{1}, SIZE_MAX}) {
    Decoder decoder(GetParam(), &budget_);
    EXPECT_EQ(Decode(&decoder, none + one + none + one, in), "oneone");
    EXPECT_TRUE(decoder.End());
  }
}

TEST_P(DecoderTest, RefusesEveryTruncation) {
  const std::string coded = Encoded(GetParam(), Text(500));
  for (size_t size = 0; size < coded.size(); ++size) {
    const Error error = Refusal(coded.substr(0, size));
    EXPECT_EQ(error.status, 400u);
    EXPECT_EQ(error.message, "Content-Encoding " + std::string(CodingName(GetParam())) +
                                 ": its end is missing, at byte " + std::to_string(size) +
                                 " of the compressed body");
  }
}

TEST_P(DecoderTest, RefusesBytesBehindTheEnd) {
  const std::string coded = Encoded(GetParam(), "text");
  for (const char byte : {'x', '\0', '\n'}) {
    EXPECT_NE(Refusal(coded + byte)
                  .message.find("there are bytes behind its end, at byte " +
                                std::to_string(coded.size())),
              std::string::npos);
  }
  EXPECT_EQ(Refusal(coded + coded.substr(0, 3)).status, 400u);
}

TEST_P(DecoderTest, RefusesOtherBytes) {
  const Coding other = GetParam() == Coding::kGzip ? Coding::kZstd : Coding::kGzip;
  for (const std::string& bytes :
       {std::string("{\"user\":\"u\"}"), Encoded(other, "text"), std::string(100, '\0')}) {
    const Error error = Refusal(bytes);
    EXPECT_EQ(error.status, 400u);
    EXPECT_NE(error.message.find("Content-Encoding " + std::string(CodingName(GetParam()))),
              std::string::npos);
  }
}

TEST_P(DecoderTest, NeverTakesADamagedTextForWhole) {
  const std::string text = Text(2'000);
  const std::string coded = Encoded(GetParam(), text);
  std::mt19937_64 random(test::Seed());
  for (int round = 0; round < 2'000; ++round) {
    std::string damaged = coded;
    damaged[random() % damaged.size()] ^= static_cast<char>(1u << random() % 8);
    Decoder decoder(GetParam(), &budget_);
    const std::string got = Decode(&decoder, damaged, 1 + random() % 500, 1 + random() % 500);
    EXPECT_TRUE(!decoder.End() || got == text);  // a header's free bits change nothing
  }
  EXPECT_EQ(budget_.used(), 0u);
}

TEST_P(DecoderTest, RefusesBeyondItsBudget) {
  MemoryBudget small(10'000);
  Decoder decoder(GetParam(), &small);
  Decode(&decoder, Encoded(GetParam(), "text"));
  ASSERT_TRUE(decoder.error().has_value());
  EXPECT_EQ(decoder.error()->status, 503u);
  EXPECT_EQ(small.used(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Codings, DecoderTest, ::testing::Values(Coding::kGzip, Coding::kZstd),
                         [](const auto& of) { return std::string(CodingName(of.param)); });

TEST(ZstdDecoderTest, RefusesWindowsThatHttpDoesNotAllow) {
  MemoryBudget budget(kNoLimit);
  for (const int window_log : {24, 27, 31}) {
    Decoder decoder(Coding::kZstd, &budget);
    EXPECT_EQ(Decode(&decoder, ZstdBomb(1, window_log)), "");
    ASSERT_TRUE(decoder.error().has_value()) << window_log;
    EXPECT_EQ(decoder.error()->status, 400u);
    EXPECT_LT(budget.used(), 1u << 20);
  }
}

TEST(ZstdDecoderTest, CountsTheWindow) {
  const std::string frame = ZstdBomb(200);
  MemoryBudget budget(kNoLimit);
  Decoder decoder(Coding::kZstd, &budget);
  char piece[1'000];
  EXPECT_EQ(decoder.Put(frame, piece, sizeof(piece)).made, sizeof(piece));
  EXPECT_GT(budget.used(), 8u << 20);
  EXPECT_LT(budget.used(), 10u << 20);

  MemoryBudget small(1u << 20);
  Decoder refused(Coding::kZstd, &small);
  Decode(&refused, frame);
  ASSERT_TRUE(refused.error().has_value());
  EXPECT_EQ(refused.error()->status, 503u);
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
