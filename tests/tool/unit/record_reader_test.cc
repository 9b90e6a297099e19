#include "record_reader.h"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

/// Gives `text` in pieces of at most `piece` bytes.
RecordReader::ReadFn Pieces(std::string text, size_t piece) {
  return [text = std::move(text), piece, at = size_t{0}](char* to,
                                                         size_t size) mutable -> Result<size_t> {
    const size_t n = std::min({size, piece, text.size() - at});
    std::memcpy(to, text.data() + at, n);
    at += n;
    return n;
  };
}

std::string NameOf(RecordKind kind) {
  switch (kind) {
    case RecordKind::kRecord:
      return "record";
    case RecordKind::kTooLong:
      return "<too long>";
    case RecordKind::kOpen:
      return "<open>";
    case RecordKind::kEnd:
      return "<end>";
    case RecordKind::kFailed:
      return "<failed>";
  }
  return "?";
}

std::vector<std::string> ReadAll(const std::string& text, RecordFormat format, size_t limit = 100,
                                 size_t piece = 1000) {
  RecordReader reader(Pieces(text, piece), format, limit);
  std::vector<std::string> out;
  for (;;) {
    std::span<char> record;
    const RecordKind kind = reader.Next(&record);
    if (kind == RecordKind::kEnd) return out;
    out.push_back(kind == RecordKind::kRecord ? std::string(record.begin(), record.end())
                                              : NameOf(kind));
    if (kind == RecordKind::kFailed) return out;
  }
}

using Records = std::vector<std::string>;
constexpr RecordFormat kCsv = {',', true};
constexpr RecordFormat kTsv = {'\t', false};

TEST(RecordReader, LineEnds) {
  EXPECT_EQ(ReadAll("a\nb\r\nc", kTsv), (Records{"a", "b", "c"}));
  EXPECT_EQ(ReadAll("a\n\n\r\nb\n", kTsv), (Records{"a", "b"}));
  EXPECT_EQ(ReadAll("", kTsv), Records{});
  EXPECT_EQ(ReadAll("\n", kCsv), Records{});
}

TEST(RecordReader, DropsTheByteOrderMark) {
  EXPECT_EQ(ReadAll("\xEF\xBB\xBFuser,item\n1,2\n", kCsv, 100, 1), (Records{"user,item", "1,2"}));
}

TEST(RecordReader, QuotedLineEndsBelongToTheRecord) {
  const std::string text = "a,\"x\ny\",b\n\"\"\"\n\",c\nd\n";
  const Records want = {"a,\"x\ny\",b", "\"\"\"\n\",c", "d"};
  for (size_t piece = 1; piece < 30; ++piece) {
    EXPECT_EQ(ReadAll(text, kCsv, 100, piece), want) << "pieces of " << piece;
  }
  EXPECT_EQ(ReadAll("a\t\"x\ny\"\n", kTsv), (Records{"a\t\"x", "y\""})) << "TSV has no quotes";
}

TEST(RecordReader, AQuoteWithinAFieldIsACharacter) {
  EXPECT_EQ(ReadAll("5\" pipe,1\nb,2\n", kCsv), (Records{"5\" pipe,1", "b,2"}));
}

TEST(RecordReader, TooLongLinesAreSkipped) {
  const std::string line(101, 'x');
  for (const size_t piece : {1UL, 7UL, 1000UL}) {
    EXPECT_EQ(ReadAll("a\n" + line + "\nb\n" + line, kTsv, 100, piece),
              (Records{"a", "<too long>", "b", "<too long>"}));
    EXPECT_EQ(ReadAll(std::string(100, 'x') + "\n", kTsv, 100, piece),
              Records{std::string(100, 'x')});
  }
  // Far beyond the first buffer.
  EXPECT_EQ(ReadAll(std::string(3 << 20, 'x') + "\nb\n", kTsv, 1 << 20, 1 << 16),
            (Records{"<too long>", "b"}));
}

TEST(RecordReader, AnOpenQuoteCostsOneLine) {
  for (const size_t piece : {1UL, 1000UL}) {
    EXPECT_EQ(ReadAll("a,\"x\nb,2\nc,3\n", kCsv, 100, piece), (Records{"<open>", "b,2", "c,3"}));
    EXPECT_EQ(ReadAll("a,\"x\n" + std::string(90, 'y') + "\n" + std::string(90, 'z') + "\n", kCsv,
                      100, piece),
              (Records{"<open>", std::string(90, 'y'), std::string(90, 'z')}));
  }
}

TEST(RecordReader, AQuotedFieldThatReachesOverARecordWasNeverClosed) {
  const std::string text = "a,\"x\nb,2\nc,\"3\n\"y\nz\",4\nd,5\"\n";
  for (size_t piece = 1; piece < 40; ++piece) {
    RecordReader reader(Pieces(text, piece), kCsv, 100);
    reader.SetIsRecord([](std::string_view line) { return line == "b,2"; });
    Records got;
    std::span<char> record;
    for (RecordKind kind = reader.Next(&record); kind != RecordKind::kEnd;
         kind = reader.Next(&record)) {
      got.push_back(kind == RecordKind::kRecord ? std::string(record.begin(), record.end())
                                                : NameOf(kind));
    }
    EXPECT_EQ(got, (Records{"<open>", "b,2", "c,\"3\n\"y", "z\",4", "d,5\""}));
  }
}

// `1}",v` is a record by itself only if its quote is a character.
TEST(RecordReader, ALineThatEndsAFieldIsNoRecordWhereAllTogetherAreOne) {
  const auto records = [](const std::string& text) {
    RecordReader reader(Pieces(text, 7), kCsv, 100);
    reader.SetIsRecord([](std::string_view lines) {
      std::string copy(lines);
      std::vector<std::string_view> fields;
      return SplitFields(copy, kCsv, &fields) && fields.size() == 2;
    });
    Records got;
    std::span<char> record;
    for (RecordKind kind = reader.Next(&record); kind != RecordKind::kEnd;
         kind = reader.Next(&record)) {
      got.push_back(kind == RecordKind::kRecord ? std::string(record.begin(), record.end())
                                                : NameOf(kind));
    }
    return got;
  };
  EXPECT_EQ(records("\"a\n1}\",v\r\nb,2\n"), (Records{"\"a\n1}\",v", "b,2"}));
  EXPECT_EQ(records("\"a\n1\"\",v\"\nb,2\n"), (Records{"<open>", "1\"\",v\"", "b,2"}));
  EXPECT_EQ(records("\"a,1\nb,2\nc,\"3\"\n"), (Records{"<open>", "b,2", "c,\"3\""}));
}

TEST(RecordReader, KnowsWhereItIsAndWhatItHasRead) {
  const std::string text = "\xEF\xBB\xBFhead\r\n\nfirst\n\"se\ncond\"\nhalf";
  const std::vector<std::string> read = {"\xEF\xBB\xBFhead\r\n", "\nfirst\n", "\"se\ncond\"\n",
                                         "half"};
  for (const size_t piece : {1UL, 3UL, 1000UL}) {
    RecordReader reader(Pieces(text, piece), kCsv);
    std::string so_far;
    for (const std::string& one : read) {
      std::span<char> record;
      ASSERT_EQ(reader.Next(&record), RecordKind::kRecord);
      std::fill(record.begin(), record.end(), 'x');  // as unquoting may
      PrefixHash before, whole;
      before.Add(so_far.data(), so_far.size());
      EXPECT_EQ(reader.position_before(), so_far.size());
      EXPECT_EQ(reader.hash_before(), before.Text());
      so_far += one;
      whole.Add(so_far.data(), so_far.size());
      EXPECT_EQ(reader.position(), so_far.size());
      EXPECT_EQ(reader.hash(), whole.Text());
      EXPECT_EQ(reader.ended(), one != "half");
    }
    RecordReader again(Pieces(text, piece), kCsv);
    ASSERT_TRUE(again.SkipTo(so_far.size() - 4));
    std::span<char> record;
    ASSERT_EQ(again.Next(&record), RecordKind::kRecord);
    EXPECT_EQ(std::string(record.begin(), record.end()), "half");
    EXPECT_EQ(again.hash(), reader.hash());
    EXPECT_FALSE(again.SkipTo(so_far.size() + 1));
  }
}

TEST(RecordReader, PassesOnTheSourcesFailure) {
  RecordReader reader([](char*, size_t) -> Result<size_t> { return Status::IOError("gone"); },
                      kCsv);
  std::span<char> record;
  EXPECT_EQ(reader.Next(&record), RecordKind::kFailed);
  EXPECT_EQ(reader.status().message(), "gone");
}

std::vector<std::string> Split(std::string record, RecordFormat format, bool* ok) {
  std::vector<std::string_view> fields;
  *ok = SplitFields(record, format, &fields);
  return {fields.begin(), fields.end()};
}

TEST(SplitFields, Csv) {
  bool ok = false;
  EXPECT_EQ(Split("a,b,c", kCsv, &ok), (Records{"a", "b", "c"}));
  EXPECT_EQ(Split(",,", kCsv, &ok), (Records{"", "", ""}));
  EXPECT_EQ(Split("\"a,b\",\"say \"\"hi\"\"\",\"\"", kCsv, &ok),
            (Records{"a,b", "say \"hi\"", ""}));
  EXPECT_TRUE(ok);
  EXPECT_EQ(Split("5\" pipe,x", kCsv, &ok), (Records{"5\" pipe", "x"}));
  EXPECT_TRUE(ok);
  EXPECT_EQ(Split(" a ,\t\"b, c\" , d e ", kCsv, &ok), (Records{"a", "b, c", "d e"}));
  EXPECT_TRUE(ok);
  Split("\"a\"b,c", kCsv, &ok);
  EXPECT_FALSE(ok);
}

TEST(SplitFields, Tsv) {
  bool ok = false;
  EXPECT_EQ(Split("\"a\t\"b\"\t", kTsv, &ok), (Records{"\"a", "b", ""}));
  EXPECT_TRUE(ok);
  EXPECT_EQ(Split("\"say \"\"hi\"\"\"\t a \t\"", kTsv, &ok), (Records{"say \"hi\"", "a", "\""}));
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
