// Lines cut from pieces of any size are the lines of the whole.

#include "wire/lines.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/seed.h"

namespace seendb::wire::SEENDB_TEST_FILE {
namespace {

constexpr size_t kLimit = 8;

std::vector<std::string> Expected(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(end - at > kLimit ? "<too long>" : text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Feeds `text` in random pieces, as a session does: what is not taken comes again.
std::vector<std::string> Cut(const std::string& text, std::mt19937_64* random) {
  LineCutter cutter(kLimit);
  std::vector<std::string> lines;
  std::string held;
  size_t fed = 0;
  bool last = false;
  while (!last) {
    const size_t step = std::min<size_t>((*random)() % 7, text.size() - fed);
    held.append(text, fed, step);
    fed += step;
    last = fed == text.size();
    size_t taken = 0;
    std::string_view line;
    while (true) {
      const auto found = cutter.Next(held, last, &taken, &line);
      if (found == LineCutter::Found::kNeedsMore) break;
      lines.emplace_back(found == LineCutter::Found::kTooLong ? "<too long>" : line);
    }
    held.erase(0, taken);
    EXPECT_LE(held.size(), kLimit) << "memory must stay bounded";
  }
  EXPECT_TRUE(held.empty());
  return lines;
}

TEST(LinesTest, PiecesMakeNoDifference) {
  std::mt19937_64 random(test::Seed());
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (size_t n = random() % 60; n > 0; --n) text += "abc\n\nxyzw"[random() % 9];
    ASSERT_EQ(Cut(text, &random), Expected(text)) << testing::PrintToString(text);
  }
}

}  // namespace
}  // namespace seendb::wire::SEENDB_TEST_FILE
