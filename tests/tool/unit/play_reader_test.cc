#include "play_reader.h"

#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>

#include "play_batch.h"
#include "seendb/events.h"

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

RecordReader::ReadFn From(std::string text) {
  return [text = std::move(text), at = size_t{0}](char* to, size_t size) mutable -> Result<size_t> {
    const size_t n = std::min(size, text.size() - at);
    std::memcpy(to, text.data() + at, n);
    at += n;
    return n;
  };
}

/// Each row as "user item at", or as "! why".
std::vector<std::string> Rows(const std::string& text, LogFormat format,
                              const PlayColumns& columns = {}) {
  auto reader = PlayReader::Open(From(text), format, columns);
  if (!reader.ok()) return {std::string(reader.status().message())};
  std::vector<std::string> out;
  for (;;) {
    PlayRow row;
    const RowKind kind = (*reader)->Next(&row);
    if (kind == RowKind::kEnd || kind == RowKind::kFailed) return out;
    EXPECT_EQ((*reader)->row_number(), out.size() + 1);
    out.push_back(kind == RowKind::kBad
                      ? "! " + (*reader)->error()
                      : std::string(row.user) + " " + std::string(row.item) + " " +
                            (row.at_ms ? std::to_string(*row.at_ms) : "now"));
  }
}

/// Each row's part about the player, as the NDJSON it is sent as; or "! why".
std::vector<std::string> Watches(const std::string& text, LogFormat format,
                                 const PlayColumns& columns = {}) {
  auto reader = PlayReader::Open(From(text), format, columns);
  if (!reader.ok()) return {std::string(reader.status().message())};
  std::vector<std::string> out;
  PlayRow row;
  for (RowKind kind = (*reader)->Next(&row); kind != RowKind::kEnd; kind = (*reader)->Next(&row)) {
    if (kind == RowKind::kBad) {
      out.push_back("! " + (*reader)->error());
      continue;
    }
    std::string line;
    row.user = row.item = "x";
    row.at_ms = std::nullopt;
    AppendNdjson(row, &line);
    const size_t begin = std::string_view(R"({"user":"x","item":"x")").size();
    out.push_back(line.substr(begin, line.size() - begin - 2));
  }
  return out;
}

using Lines = std::vector<std::string>;

TEST(PlayReader, CsvColumnsByTheirUsualNames) {
  EXPECT_EQ(Rows("time_ms,user_id,video_id,is_like\n1700000000123,7,v1,0\n", LogFormat::kCsv),
            Lines{"7 v1 1700000000123"});
  EXPECT_EQ(Rows("ts,customer_id,stock_code\n1291191960,17850,85123A\n", LogFormat::kCsv),
            Lines{"17850 85123A 1291191960000"});
  EXPECT_EQ(Rows("User\tITEM\tAt\nu\tv\t2023-11-14T22:13:20Z\n", LogFormat::kTsv),
            Lines{"u v 1700000000000"});
}

TEST(PlayReader, CsvColumnsByGivenNames) {
  PlayColumns columns;
  columns.user = "who";
  columns.item = "item_id";
  columns.time = "when";
  EXPECT_EQ(Rows("user,who,item_id,item,when\nx,u,v,y,5\n", LogFormat::kCsv, columns),
            Lines{"u v 5000"});
  columns.time = "missing";
  const Lines rows = Rows("user,who,item_id,item,when\n", LogFormat::kCsv, columns);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_NE(rows[0].find("no time column \"missing\""), std::string::npos) << rows[0];
  EXPECT_NE(rows[0].find("item_id"), std::string::npos) << "names the header: " << rows[0];
}

TEST(PlayReader, TheOrderOfADateIsSaid) {
  const std::string log = "user,item,at\nu,v,01/02/2024\nu,w,15/02/2024 10:00\nu,x,soon\n";
  EXPECT_EQ(Rows(log, LogFormat::kCsv),
            (Lines{"! not a time: \"01/02/2024\"; --date-order dmy or mdy read it",
                   "! not a time: \"15/02/2024 10:00\"; --date-order dmy reads it",
                   "! not a time: \"soon\" (ISO 8601 or a number)"}));
  PlayColumns columns;
  columns.time_form.order = times::DateOrder::kMonthDayYear;
  EXPECT_EQ(Rows(log, LogFormat::kCsv, columns),
            (Lines{"u v 1704153600000",
                   "! not a time in the order mdy: \"15/02/2024 10:00\"; --date-order dmy reads it",
                   "! not a time in the order mdy: \"soon\" (ISO 8601 or a number)"}));
}

TEST(PlayReader, NoHeader) {
  PlayColumns columns;
  columns.header = false;
  EXPECT_EQ(Rows("u,v,5\n", LogFormat::kCsv, columns), Lines{"u v 5000"});
  columns.user = "3";
  columns.item = "1";
  columns.time = "2";
  EXPECT_EQ(Rows("v,5,u\n", LogFormat::kCsv, columns), Lines{"u v 5000"});
  columns.time = "at";
  EXPECT_NE(Rows("v,5,u\n", LogFormat::kCsv, columns)[0].find("number from 1"), std::string::npos);
}

TEST(PlayReader, Now) {
  PlayColumns columns;
  columns.now = true;
  EXPECT_EQ(Rows("user,item\nu,v\n", LogFormat::kCsv, columns), Lines{"u v now"});
  EXPECT_EQ(Rows("{\"user\":1,\"item\":2}\n", LogFormat::kNdjson, columns), Lines{"1 2 now"});
}

TEST(PlayReader, BadRowsSayWhyAndTheNextGoesOn) {
  const Lines rows = Rows(
      "user,item,at\n"
      "u,v\n"
      "u,v,yesterday\n"
      ",v,1\n"
      "u," +
          std::string(256, 'v') +
          ",1\n"
          "u,\xFF,1\n"
          "u,v,1\n",
      LogFormat::kCsv);
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[0], "! 2 fields where 3 are needed");
  EXPECT_EQ(rows[1], "! not a time: \"yesterday\" (ISO 8601 or a number)");
  EXPECT_EQ(rows[2].substr(0, 8), "! user: ");
  EXPECT_EQ(rows[3].substr(0, 8), "! item: ");
  EXPECT_EQ(rows[4].substr(0, 8), "! item: ");
  EXPECT_EQ(rows[5], "u v 1000");
}

TEST(PlayReader, ARowWithMoreFieldsThanTheHeaderIsBad) {
  EXPECT_EQ(Rows("at,user,item\n1,u,v\n2,u,a,b\n3,u,c,, \n4,u,\"d,e\"\n", LogFormat::kCsv),
            (Lines{"u v 1000",
                   "! 4 fields where the header has 3: a delimiter in a field that is not quoted?",
                   "u c 3000", "u d,e 4000"}));
  PlayColumns columns;
  columns.header = false;
  EXPECT_EQ(Rows("u,v,1,x\n", LogFormat::kCsv, columns), Lines{"u v 1000"});
}

TEST(PlayReader, LinesOfBlanksAreNoRowsOfNdjson) {
  EXPECT_EQ(Rows("{\"user\":\"u\",\"item\":\"v\",\"at\":1}\n \t\n\r\n{}\n  ", LogFormat::kNdjson),
            (Lines{"u v 1000",
                   "! no user field; name it by --user-column, or say whose log it is "
                   "by --user"}));
  EXPECT_EQ(Rows("[ ]\n", LogFormat::kNdjson), Lines{});
  EXPECT_EQ(Rows("{\"user\":\"u\",\"item\":[\"v\"],\"at\":1}", LogFormat::kNdjson),
            Lines{"! item: an array; write a line for each of its members"});
}

TEST(PlayReader, Ndjson) {
  EXPECT_EQ(Rows("{\"user\":\"u\",\"item\":18446744073709551615,\"at\":1700000000000}\n"
                 "{\"item_id\":\"\\u00e9\",\"uid\":7,\"ts\":\"2023-11-14\",\"more\":[1]}\n"
                 "{\"user\":\"u\",\"item\":\"v\",\"at\":1700000000.5}\n",
                 LogFormat::kNdjson),
            (Lines{"u 18446744073709551615 1700000000000", "7 \xC3\xA9 1699920000000",
                   "u v 1700000000500"}));
}

TEST(PlayReader, BadNdjson) {
  const Lines rows = Rows(
      "nonsense\n"
      "[1]\n"
      "{\"user\":-1,\"item\":2,\"at\":1}\n"
      "{\"user\":1.5,\"item\":2,\"at\":1}\n"
      "{\"item\":2,\"at\":1}\n"
      "{\"user\":1,\"item\":2}\n"
      "{\"user\":1,\"item\":2,\"at\":-5}\n"
      "{\"user\":1,\"item\":2,\"at\":1e300}\n"
      "{\"user\":\"\\ud800\",\"item\":2,\"at\":1}\n" +
          std::string("{\"user\":1,\"item\":2,\"at\":1}\0more\n", 32) +
          "{\"user\":1,\"item\":2,\"at\":" + std::string(300'000, '[') + std::string(300'000, ']') +
          "}\n",
      LogFormat::kNdjson);
  ASSERT_EQ(rows.size(), 11U);
  for (const std::string& row : rows) EXPECT_EQ(row.substr(0, 2), "! ") << row;
  EXPECT_EQ(rows[4], "! no user field; name it by --user-column, or say whose log it is by --user");
  EXPECT_EQ(rows[5], "! no time field; name it by --time-column or say --now");
}

TEST(PlayReader, WhatPlayersSayInCsv) {
  EXPECT_EQ(Watches("user,item,at,Progress_S,duration_s,device,fields\n"
                    "u,v,1,95,240,tv,\"{\"\"a\"\":[1,\n2]}\"\n"
                    "u,v,1,-1,,,\n"
                    "u,v,1,,240,,\n"
                    "u,v,1,,,,\n"
                    "u,v,1\n"
                    "u,v,1,x,,,\n"
                    "u,v,1,,,,5\n"
                    "u,v,1,,,phone,\n",
                    LogFormat::kCsv),
            (Lines{R"(,"progress_s":95,"duration_s":240,"device":"tv","fields":{"a":[1, 2]})",
                   R"(,"progress_s":-1)", R"(,"duration_s":240)", "", "",
                   "! progress_s: must be a whole number, a span like 1:02:03, or -1 for finished",
                   "! fields: not a JSON object", R"(,"device":"phone")"}));
}

TEST(PlayReader, WhatPlayersSayByGivenColumns) {
  PlayColumns columns;
  columns.watch[kProgress] = "play_time_ms";
  columns.watch[kDuration] = "duration_ms";
  columns.span_unit = SpanUnit::kMillis;
  EXPECT_EQ(Watches("time_ms,user_id,video_id,play_time_ms,duration_ms,progress_s\n"
                    "1,7,8,61802,49866,5\n",
                    LogFormat::kCsv, columns),
            Lines{R"(,"progress_s":61,"duration_s":49)"});
  EXPECT_EQ(Watches(R"({"at":1,"uid":7,"item":8,"play_time_ms":1500,"duration_ms":"2500"})"
                    "\n",
                    LogFormat::kNdjson, columns),
            Lines{R"(,"progress_s":1,"duration_s":2)"});
  columns.watch[kDevice] = "screen";
  const Lines rows = Watches("at,user,item,play_time_ms,duration_ms\n", LogFormat::kCsv, columns);
  EXPECT_NE(rows[0].find("no device column \"screen\""), std::string::npos) << rows[0];
  EXPECT_NE(rows[0].find("--device-column"), std::string::npos) << rows[0];
  PlayColumns numbers;
  numbers.header = false;
  EXPECT_EQ(Watches("u,v,1,9\n", LogFormat::kCsv, numbers), Lines{""});
  numbers.watch[kProgress] = "4";
  EXPECT_EQ(Watches("u,v,1,9\n", LogFormat::kCsv, numbers), Lines{R"(,"progress_s":9)"});
}

TEST(PlayReader, WhatPlayersSayInNdjson) {
  const std::string play = R"({"user":"u","item":"v","at":1,)";
  EXPECT_EQ(
      Watches(play +
                  R"("progress_s":95,"duration_s":240,"device":"\u00e9","fields":{ "n": 1e9 }})" +
                  "\n" + play + R"("progress_s":null,"device":null,"fields":null})" + "\n" + play +
                  R"("progress_s":1.5})" + "\n" + play + R"("progress_s":-2})" + "\n" + play +
                  R"("device":5})" + "\n" + play + R"("fields":"{}"})" + "\n",
              LogFormat::kNdjson),
      (Lines{
          ",\"progress_s\":95,\"duration_s\":240,\"device\":\"\xC3\xA9\",\"fields\":{ \"n\": 1e9 }",
          "", "! progress_s: must be a whole number, a span like 1:02:03, or -1 for finished",
          "! progress_s: must be a whole number, a span like 1:02:03, or -1 for finished",
          "! device: not a string", "! fields: not a JSON object"}));
}

TEST(PlayReader, AQuoteThatIsNotClosedCostsItsOwnRow) {
  EXPECT_EQ(
      Rows("user,item,at\na,v1,1\nb,\"v2,2\nc,v3,3\nd,v4\",4\ne,v5,5\n", LogFormat::kCsv),
      (Lines{"a v1 1000", "! a quote is never closed", "c v3 3000", "d v4\" 4000", "e v5 5000"}));
  // Behind the columns that are read, closed by chance; and without a header.
  EXPECT_EQ(Rows("user,item,at,title\na,v1,1,\"x\nb,v2,2,y\nc,v3,3,z\"\n", LogFormat::kCsv),
            (Lines{"! a quote is never closed", "b v2 2000", "c v3 3000"}));
  PlayColumns columns;
  columns.header = false;
  EXPECT_EQ(Rows("a,\"v1,1\nb,v2,2\nc,v3\",3\n", LogFormat::kCsv, columns),
            (Lines{"! a quote is never closed", "b v2 2000", "c v3\" 3000"}));
  // A text of several lines is none.
  EXPECT_EQ(Rows("user,item,at,text\na,v1,1,\"one, two\nthree, four\"\nb,v2,2,\n", LogFormat::kCsv),
            (Lines{"a v1 1000", "b v2 2000"}));
}

TEST(PlayReader, IdsHaveOneSpelling) {
  EXPECT_EQ(Rows("user, item, at\nu, v, 1\nu ,v\t,2 \nu, \"v\" ,3\nu,\" v \",4\n", LogFormat::kCsv),
            (Lines{"u v 1000", "u v 2000", "u v 3000", "u v 4000"}));
  EXPECT_EQ(
      Rows("\"user\"\t\"item\"\t\"at\"\n\"u\"\t\"v\"\t\"2023-11-14T22:13:20Z\"\n", LogFormat::kTsv),
      Lines{"u v 1700000000000"});
}

TEST(PlayReader, ALogOfOnePerson) {
  PlayColumns columns;
  columns.one_user = "me";
  EXPECT_EQ(Rows("item,at\nv,1\n", LogFormat::kCsv, columns), Lines{"me v 1000"});
  EXPECT_EQ(
      Rows("[{\"item\":\"v\",\"at\":1},\n{\"item\":\"w\",\"at\":2}]", LogFormat::kNdjson, columns),
      (Lines{"me v 1000", "me w 2000"}));
  columns.header = false;
  columns.item = "1";
  columns.time = "2";
  EXPECT_EQ(Rows("v,1\n", LogFormat::kCsv, columns), Lines{"me v 1000"});
}

TEST(PlayReader, FieldsWithinObjects) {
  PlayColumns columns;
  columns.user = "/user/name";
  columns.item = "/track/ids/0";
  columns.time = "/at";
  columns.watch[kFields] = "/more/x";
  EXPECT_EQ(Rows("{\"user\":{\"name\":\"u\"},\"track\":{\"ids\":[7]},\"at\":1,\"more\":{\"x\":{"
                 "\"k\":2}}}\n{\"user\":1}\n",
                 LogFormat::kNdjson, columns),
            (Lines{"u 7 1000",
                   "! no user field; name it by --user-column, or say whose log it is by --user"}));
}

TEST(PlayReader, SaysHowItUnderstandsTheLog) {
  auto reader =
      PlayReader::Open(From("at,uid,\"sku\",device\nbad\n1,u,v\x1B,\n"), LogFormat::kCsv, {});
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(
      (*reader)->ColumnsText(),
      "user from column 2 (uid), item from column 3 (sku), time from column 1 (at), device from "
      "column 4 (device)");
  PlayRow row;
  ASSERT_EQ((*reader)->Next(&row), RowKind::kBad);
  EXPECT_EQ((*reader)->first_row(), "");
  ASSERT_EQ((*reader)->Next(&row), RowKind::kPlay);
  EXPECT_EQ((*reader)->first_row(), "user \"u\", item \"v\\x1b\", 1970-01-01 00:00:01 UTC");
}

TEST(PlayReader, SkipCountsBadRowsToo) {
  auto reader = PlayReader::Open(From("user,item,at\nbad\nu,1,1\nu,2,2\n"), LogFormat::kCsv, {});
  ASSERT_TRUE(reader.ok());
  ASSERT_TRUE((*reader)->Skip(2));
  PlayRow row;
  ASSERT_EQ((*reader)->Next(&row), RowKind::kPlay);
  EXPECT_EQ(row.item, "2");
  EXPECT_EQ((*reader)->row_number(), 3U);
  EXPECT_FALSE((*reader)->Skip(1));
}

TEST(PlayReader, FormatsOfNames) {
  EXPECT_EQ(LogFormatOfName("a.csv").value(), LogFormat::kCsv);
  EXPECT_EQ(LogFormatOfName("d.x/a.tsv.zst").value(), LogFormat::kTsv);
  EXPECT_EQ(LogFormatOfName("a.b.ndjson").value(), LogFormat::kNdjson);
  EXPECT_EQ(LogFormatOfName("a.jsonl.zst").value(), LogFormat::kNdjson);
  for (const char* name : {"-", "a", "a.zst", "csv", "d.csv/a", "a.parquet"}) {
    EXPECT_FALSE(LogFormatOfName(name).ok()) << name;
  }
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
