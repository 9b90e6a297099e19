#include "table.h"

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

TEST(Table, AlignsColumns) {
  Table table({{"name"}, {"n", Align::kRight}, {"why"}});
  table.Add({"a", "1", "x"});
  table.Add({"long name", "1,000", ""});
  EXPECT_EQ(table.ToString(),
            "NAME           N  WHY\n"
            "a              1  x\n"
            "long name  1,000\n");
}

TEST(Table, CountsCodePointsNotBytes) {
  Table table({{"id"}, {"x"}});
  table.Add({"\xC3\xA9\xC3\xA9", "1"});
  table.Add({"ab", "2"});
  EXPECT_EQ(table.ToString(), "ID  X\n\xC3\xA9\xC3\xA9  1\nab  2\n");
}

TEST(Table, MissingCellsAreEmptyAndExtraOnesDropped) {
  Table table({{"a"}, {"b"}});
  EXPECT_TRUE(table.empty());
  table.Add({"1"});
  table.Add({"1", "2", "3"});
  EXPECT_FALSE(table.empty());
  EXPECT_EQ(table.ToString(), "A  B\n1\n1  2\n");
}

TEST(Table, ControlCharactersCannotMoveTheCursor) {
  Table table({{"id"}});
  table.Add({std::string("a\x1b[2J\nb\x7f")});
  EXPECT_EQ(table.ToString(), "ID\na\\x1b[2J\\x0ab\\x7f\n");
}

TEST(Table, NorCharactersOfMoreBytes) {
  EXPECT_EQ(Printable("a\xC2\x9B"
                      "2J"),
            "a\\xc2\\x9b2J")
      << "C1: the short form of ESC [";
  EXPECT_EQ(Printable("\xE2\x80\xAE"
                      "txt"),
            "\\xe2\\x80\\xaetxt")
      << "right-to-left override";
  EXPECT_EQ(Printable("\xE2\x81\xA6"), "\\xe2\\x81\\xa6") << "isolate";
  EXPECT_EQ(Printable("\xD8\x9C"), "\\xd8\\x9c") << "Arabic letter mark";
  EXPECT_EQ(Printable("\xE2\x80\xA8"), "\\xe2\\x80\\xa8") << "line separator";
  EXPECT_EQ(Printable("\xC2\xA0\xE2\x82\xAC\xE2\x80\x93"), "\xC2\xA0\xE2\x82\xAC\xE2\x80\x93");
  EXPECT_EQ(Printable("\xC2"), "\xC2") << "cut short";
  EXPECT_EQ(Printable("\xE2\x80\x8B\xEF\xBB\xBF\xC2\xAD"),
            "\\xe2\\x80\\x8b\\xef\\xbb\\xbf\\xc2\\xad")
      << "of no width";
  EXPECT_EQ(Printable("\xF3\xA0\x81\x81"), "\\xf3\\xa0\\x81\\x81") << "tag";
  EXPECT_EQ(Printable("\xF0\x9F\x99\x82\xE1\x82\xA0"), "\xF0\x9F\x99\x82\xE1\x82\xA0");
}

TEST(Facts, AlignsNames) {
  Facts facts;
  facts.Add("a", "1");
  facts.Add("long", "2\r");
  EXPECT_EQ(facts.ToString(), "  a     1\n  long  2\\x0d\n");
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
