#include "shard/history_cursor.h"

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

TEST(HistoryCursor, RoundTripsAsTextForAUrl) {
  HistoryCursor cursor;
  cursor.at_ms = -1;
  cursor.collection = "video";
  cursor.item = "\xC3\xA9 & %";
  cursor.shown = {{"books", 0}, {"video", 123'456}};
  const std::string text = cursor.ToText();
  EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos);
  HistoryCursor read;
  ASSERT_TRUE(read.FromText(text));
  EXPECT_EQ(read.at_ms, cursor.at_ms);
  EXPECT_EQ(read.collection, cursor.collection);
  EXPECT_EQ(read.item, cursor.item);
  EXPECT_EQ(read.shown, cursor.shown);
}

TEST(HistoryCursor, OtherTextIsRefused) {
  HistoryCursor cursor;
  cursor.at_ms = 1'773'144'000'000;
  cursor.collection = "video";
  cursor.item = "v1";
  const std::string text = cursor.ToText();
  HistoryCursor read;
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(read.FromText(std::string_view(text).substr(0, size))) << size;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == 'a' ? 'b' : 'a';
    EXPECT_FALSE(read.FromText(changed)) << i;
    changed[i] = 'G';
    EXPECT_FALSE(read.FromText(changed)) << i;
  }
  EXPECT_FALSE(read.FromText(text + text));
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
