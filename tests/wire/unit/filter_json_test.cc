// The hot path's parser against nlohmann's on the same bytes, and what it refuses and echoes.

#include "wire/filter_json.h"

#include <optional>
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/seed.h"
#include "wire/unit/padded.h"

namespace seendb::wire::SEENDB_TEST_FILE {
namespace {

using Json = nlohmann::json;
using test::Padded;

constexpr size_t kMaxItems = 50;

/// What a request means, whatever read it.
struct Meaning {
  std::string user, collection = "default";
  std::vector<std::string> items, exclude;
  unsigned facts = kFactsAll;
  uint64_t limit = 0, deadline_us = 0;
  bool explain = false, record = false, verify = false, fail = false;
  bool operator==(const Meaning&) const = default;
};

std::optional<Meaning> ByServer(std::string_view body, std::string* why = nullptr) {
  const Padded padded(body);
  JsonDocument document;
  FilterCall call;
  const Status status = ParseFilter(padded.view(), kMaxItems, &document, &call);
  if (why != nullptr) *why = status.ToString();
  if (!status.ok()) return std::nullopt;
  const FilterRequest& request = call.request;
  Meaning meaning;
  meaning.user = request.user.ToString();
  meaning.collection = request.collection;
  for (const IdRef& id : request.items) meaning.items.push_back(id.ToString());
  for (const IdRef& id : request.exclude) meaning.exclude.push_back(id.ToString());
  meaning.facts = request.facts;
  meaning.limit = request.limit;
  meaning.deadline_us = static_cast<uint64_t>(request.deadline_us);
  meaning.explain = request.explain;
  meaning.record = request.record;
  meaning.verify = request.verify;
  meaning.fail = request.on_error == OnError::kFail;
  return meaning;
}

/// nlohmann's reading; nothing where it, or the contract, refuses.
class Reference {
 public:
  static std::optional<Meaning> Read(std::string_view body) {
    // nlohmann skips a byte order mark, and takes a NUL for the end.
    if (body.substr(0, 3) == "\xEF\xBB\xBF") return std::nullopt;
    if (body.find('\0') != std::string_view::npos) return std::nullopt;
    std::vector<std::set<std::string>> open;
    bool repeated = false;
    const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
      if (event == Json::parse_event_t::object_start) open.emplace_back();
      if (event == Json::parse_event_t::object_end) open.pop_back();
      if (event == Json::parse_event_t::key) {
        repeated |= !open.back().insert(parsed.get<std::string>()).second;
      }
      return true;
    };
    const Json json = Json::parse(body.begin(), body.end(), watch, false);
    if (json.is_discarded() || !json.is_object() || repeated) return std::nullopt;
    Reference reference;
    reference.skips_ = json.contains("invalid") && json["invalid"] == "skip";
    for (const auto& [key, value] : json.items()) reference.Member(key, value);
    if (!json.contains("user") || !json.contains("items")) return std::nullopt;
    if (!reference.good_) return std::nullopt;
    return reference.meaning_;
  }

 private:
  std::string Id(const Json& value) {
    if (value.is_number_unsigned()) return std::to_string(value.get<uint64_t>());
    good_ &= value.is_string() && !value.get_ref<const std::string&>().empty() &&
             value.get_ref<const std::string&>().size() <= kMaxIdBytes;
    return value.is_string() ? value.get<std::string>() : "";
  }
  static bool StandsForNone(const Json& value) {
    if (!value.is_string()) return value.is_null();
    const std::string& text = value.get_ref<const std::string&>();
    return text.empty() || text.size() > kMaxIdBytes;
  }
  std::vector<std::string> Ids(const Json& value) {
    std::vector<std::string> ids;
    good_ &= value.is_array() && value.size() <= kMaxItems;
    if (good_) {
      for (const Json& id : value) {
        if (!skips_ || !StandsForNone(id)) ids.push_back(Id(id));
      }
    }
    return ids;
  }
  uint64_t Number(const Json& value) {
    good_ &= value.is_number_unsigned();
    return value.is_number_unsigned() ? value.get<uint64_t>() : 0;
  }
  bool Flag(const Json& value) {
    good_ &= value.is_boolean();
    return value.is_boolean() && value.get<bool>();
  }
  std::string Word(const Json& value, std::set<std::string> allowed) {
    good_ &= value.is_string() && (allowed.empty() || allowed.contains(value.get<std::string>()));
    return good_ ? value.get<std::string>() : "";
  }
  void Known(const std::string& key) {
    good_ &= std::set<std::string>{"exclude", "collection", "limit",    "deadline_ms", "explain",
                                   "record",  "verify",     "on_error", "facts",       "invalid"}
                 .contains(key);
  }
  void Member(const std::string& key, const Json& value) {
    if (value.is_null() && key != "user" && key != "items") return Known(key);
    if (key == "user") {
      meaning_.user = Id(value);
    } else if (key == "items") {
      meaning_.items = Ids(value);
    } else if (key == "exclude") {
      meaning_.exclude = Ids(value);
    } else if (key == "collection") {
      meaning_.collection = Word(value, {});
    } else if (key == "limit") {
      const uint64_t limit = Number(value);
      good_ &= limit > 0;
      meaning_.limit = std::min<uint64_t>(limit, UINT32_MAX);
    } else if (key == "deadline_ms") {
      const uint64_t ms = Number(value);
      meaning_.deadline_us = ms > 86'400'000 ? 0 : ms == 0 ? 1 : ms * 1'000;
    } else if (key == "explain") {
      meaning_.explain = Flag(value);
    } else if (key == "record") {
      meaning_.record = Flag(value);
    } else if (key == "verify") {
      meaning_.verify = Flag(value);
    } else if (key == "on_error") {
      meaning_.fail = Word(value, {"fail", "degrade"}) == "fail";
    } else if (key == "invalid") {
      Word(value, {"skip", "refuse"});
    } else if (key == "facts") {
      good_ &= value.is_array();
      if (value.is_array() && value.empty()) return;
      meaning_.facts = 0;
      for (const Json& fact : value.is_array() ? value : Json::array()) {
        meaning_.facts |= Word(fact, {"plays", "impressions"}) == "plays" ? 1u : 2u;
      }
    } else {
      good_ = false;
    }
  }

  Meaning meaning_;
  bool good_ = true;
  bool skips_ = false;
};

const char* const kSeeds[] = {
    R"({"user":"u1","items":["v1"],"facts":[],"limit":null,"explain":null,"collection":null})",
    R"({"user":"u1","items":["v1",2,"v3"],"collection":"default"})",
    R"({"user":7,"items":[],"facts":["plays"],"limit":5,"exclude":["v9",1],"explain":true})",
    R"({"items":["\u00e9","\ud83d\ude00","a\"b"],"user":"\\","on_error":"fail","deadline_ms":3})",
    R"( { "user" : "x" , "items" : [ 18446744073709551615 , "0" ] , "record" : false, "verify":true } )",
    R"({"user":"u","items":["",null,1,"v"],"exclude":[null,"w"],"invalid":"skip"})",
    "{\"user\":\"caf\xC3\xA9\",\"items\":[\"\xE6\xBC\xA2\"],\"facts\":[\"impressions\",\"plays\"]}",
};
const char* const kPieces[] = {
    "\"",
    ",",
    ":",
    "[",
    "]",
    "{",
    "}",
    "\\",
    "\\u",
    "\\ud83d",
    "\\udc00",
    "null",
    "true",
    "-1",
    "1.0",
    "1e3",
    "00",
    "18446744073709551616",
    " ",
    "\n",
    "\t",
    "\x01",
    "\xC3",
    "\xED\xA0\x80",
    "\xF4\x90\x80\x80",
    "\"items\":[]",
    "\"user\":1,",
    "\"x\":1,",
    "\"limit\":0,",
    "\"us\\u0065r\":2,",
    "[[[[",
    "/",
    "\\n",
    "\\x",
    "9",
    "\"\"",
};

TEST(FilterJsonTest, AgreesWithNlohmannOnMutatedRequests) {
  std::mt19937_64 random(test::Seed());
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  size_t accepted = 0, refused = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string body = kSeeds[below(std::size(kSeeds))];
    for (size_t edits = below(4); edits > 0; --edits) {
      const size_t at = below(body.size() + 1);
      switch (below(4)) {
        case 0:
          body.insert(at, kPieces[below(std::size(kPieces))]);
          break;
        case 1:
          body.erase(at, 1 + below(4));
          break;
        case 2:
          if (at < body.size()) body[at] = static_cast<char>(random());
          break;
        default:
          body.insert(at, body.substr(below(body.size() + 1), below(12)));
          break;
      }
    }
    const std::optional<Meaning> expected = Reference::Read(body);
    std::string why;
    const std::optional<Meaning> got = ByServer(body, &why);
    ASSERT_EQ(got.has_value(), expected.has_value()) << body << "\nserver: " << why;
    if (!expected) {
      ++refused;
      continue;
    }
    ++accepted;
    ASSERT_TRUE(*got == *expected) << body;
  }
  EXPECT_GT(accepted, 5'000u);
  EXPECT_GT(refused, 5'000u);
}

struct Refused {
  const char* body;
  const char* field;
  const char* says;  // part of the message
};

/// For the names of the tests.
void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.field; }

class FilterRefusals : public testing::TestWithParam<Refused> {};

TEST_P(FilterRefusals, NamesTheInput) {
  const Padded body(GetParam().body);
  JsonDocument document;
  FilterCall call;
  const Status status = ParseFilter(body.view(), kMaxItems, &document, &call);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << GetParam().body;
  EXPECT_EQ(status.field(), GetParam().field) << GetParam().body;
  EXPECT_NE(status.message().find(GetParam().says), std::string_view::npos)
      << GetParam().body << ": " << status.message();
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, FilterRefusals,
    testing::Values(
        Refused{"", "", "JSON"}, Refused{"   ", "", "JSON"}, Refused{"[]", "", "object"},
        Refused{"7", "", "object"}, Refused{R"({"user":"u","items":[]} x)", "", "JSON"},
        Refused{R"({"user":"u","items":[]}{})", "", "follows"},
        Refused{R"({"items":[]})", "/user", "missing"},
        Refused{R"({"user":"u"})", "/items", "missing"},
        Refused{R"({"user":"","items":[]})", "/user", "empty"},
        Refused{R"({"user":["u"],"items":[]})", "/user", "id must be"},
        Refused{R"({"user":"u","items":["a",""]})", "/items/1", "empty"},
        Refused{R"({"user":"u","items":["a","b",-1]})", "/items/2", "unsigned"},
        Refused{R"({"user":"u","items":[1.5]})", "/items/0", "unsigned"},
        Refused{R"({"user":"u","items":[1e3]})", "/items/0", "unsigned"},
        Refused{R"({"user":"u","items":[18446744073709551616]})", "/items/0", "unsigned"},
        Refused{R"({"user":"u","items":[true]})", "/items/0", "id must be"},
        Refused{R"({"user":"u","items":[[1]]})", "/items/0", "id must be"},
        Refused{R"({"user":"u","items":["\ud800"]})", "/items/0", "surrogate"},
        Refused{R"({"user":"u","items":["\udc00x"]})", "/items/0", "surrogate"},
        Refused{"{\"user\":\"u\",\"items\":[\"\xFF\"]}", "", "UTF-8"},
        Refused{R"({"user":"u","items":"v"})", "/items", "array"},
        Refused{R"({"user":"u","items":{}})", "/items", "array"},
        Refused{R"({"user":"u","items":[],"extra":1})", "/extra", "unknown"},
        Refused{R"({"user":"u","items":[],"a/b~c":1})", "/a~1b~0c", "unknown"},
        Refused{R"({"user":"u","items":[],"user":"v"})", "/user", "repeated"},
        Refused{R"({"user":"u","items":[],"us\u0065r":"v"})", "/user", "repeated"},
        Refused{R"({"user":"u","items":[],"limit":0})", "/limit", "at least 1"},
        Refused{R"({"user":"u","items":[],"limit":-1})", "/limit", "integer"},
        Refused{R"({"user":"u","items":[],"limit":"5"})", "/limit", "integer"},
        Refused{R"({"user":null,"items":[]})", "/user", "missing"},
        Refused{R"({"user":"u","items":[],"limit":null,"limit":1})", "/limit", "repeated"},
        Refused{R"({"user":"u","items":[],"facts":["views"]})", "/facts/0", "must be"},
        Refused{R"({"user":"u","items":[],"facts":"plays"})", "/facts", "array"},
        Refused{R"({"user":"u","items":[],"exclude":["a",{}]})", "/exclude/1", "id must be"},
        Refused{R"({"user":"u","items":[],"explain":1})", "/explain", "true or false"},
        Refused{R"({"user":"u","items":[],"record":"yes"})", "/record", "true or false"},
        Refused{R"({"user":"u","items":[],"verify":[]})", "/verify", "true or false"},
        Refused{R"({"user":"u","items":[],"on_error":"panic"})", "/on_error", "must be"},
        Refused{R"({"user":"u","items":[],"collection":1})", "/collection", "string"},
        Refused{R"({"user":"u","items":[],"invalid":"drop"})", "/invalid", "must be"},
        Refused{R"({"user":"u","items":[1,null]})", "/items/1", "id must be"},
        Refused{R"({"user":"u","items":[1,""],"invalid":"refuse"})", "/items/1", "empty"},
        Refused{R"({"user":"u","items":[1],"exclude":[""]})", "/exclude/0", "empty"},
        Refused{R"({"user":"","items":[],"invalid":"skip"})", "/user", "empty"},
        Refused{R"({"user":"u","items":["",1.5],"invalid":"skip"})", "/items/1", "id must be"},
        Refused{R"({"user":"u","items":[nul],"invalid":"skip"})", "/items/0", "JSON syntax"},
        Refused{R"({"user":"u","items":[],"deadline_ms":1.5})", "/deadline_ms", "integer"}));

TEST(FilterJsonTest, RefusesIdsAndListsOverTheLimit) {
  const std::string longest(kMaxIdBytes, 'x');
  EXPECT_TRUE(ByServer(R"({"user":")" + longest + R"(","items":[]})"));
  std::string why;
  EXPECT_FALSE(ByServer(R"({"user":")" + longest + R"(x","items":[]})", &why));
  EXPECT_NE(why.find("255"), std::string::npos) << why;
  std::string items = "1";
  for (size_t i = 1; i < kMaxItems; ++i) items += ",1";
  EXPECT_TRUE(ByServer(R"({"user":1,"items":[)" + items + "]}"));
  EXPECT_FALSE(ByServer(R"({"user":1,"items":[)" + items + ",1]}", &why));
  EXPECT_NE(why.find("/items"), std::string::npos) << why;
}

TEST(FilterJsonTest, RefusesDeepNestingQuickly) {
  const std::string deep(1'000'000, '[');
  EXPECT_FALSE(ByServer(R"({"user":"u","items":)" + deep));
  EXPECT_FALSE(ByServer(deep));
}

TEST(FilterJsonTest, EchoesTokensAsTheyCame) {
  const Padded body(R"({"user":"u","items":["v\u0031", 2 ,"2","é","a\"b"],"explain":true})");
  JsonDocument document;
  FilterCall call;
  ASSERT_TRUE(ParseFilter(body.view(), kMaxItems, &document, &call).ok());
  FilterResponse response;
  response.unseen = {0, 1, 3, 4};
  response.seen = 1;
  response.examined = 5;
  response.reasons.resize(5);
  response.reasons[2] = {ReasonKind::kPlay, BucketIndexOf(Policy(), 1'700'000'000'000)};
  std::string out;
  AppendFilterAnswer(call, response, Policy(), {}, &out);
  EXPECT_EQ(out, R"({"unseen":["v\u0031",2,"é","a\"b"],"seen":1,"examined":5,)"
                 R"("unseen_share":0.8,"degraded":false,"reasons":{"2":"play:2023-11"}})");
}

TEST(FilterJsonTest, TellsWhatWasRefuted) {
  const Padded body(R"({"user":"u","items":[1,2,3],"explain":true,"verify":true})");
  JsonDocument document;
  FilterCall call;
  ASSERT_TRUE(ParseFilter(body.view(), kMaxItems, &document, &call).ok());
  FilterResponse response;
  response.unseen = {0, 2};
  response.seen = response.refuted = 1;
  response.examined = 3;
  const int64_t bucket = BucketIndexOf(Policy(), 1'700'000'000'000);
  response.reasons = {{}, {ReasonKind::kPlay, bucket}, {ReasonKind::kRefuted, bucket - 1}};
  std::string out;
  AppendFilterAnswer(call, response, Policy(), {}, &out);
  EXPECT_EQ(
      out,
      R"({"unseen":[1,3],"seen":1,"examined":3,)"
      R"("unseen_share":0.6666666666666666,"refuted":1,"degraded":false,"reasons":{"2":"play:2023-11","3":"refuted:2023-10"}})");
}

TEST(FilterJsonTest, CountsDuplicatesWhereThereAreAny) {
  const Padded body(R"({"user":"u","items":[1,"1",2,2]})");
  JsonDocument document;
  FilterCall call;
  ASSERT_TRUE(ParseFilter(body.view(), kMaxItems, &document, &call).ok());
  FilterResponse response;
  response.unseen = {0, 2};
  response.duplicates = 2;
  response.examined = 4;
  std::string out;
  AppendFilterAnswer(call, response, Policy(), {}, &out);
  EXPECT_EQ(out, R"({"unseen":[1,2],"seen":0,"duplicates":2,"examined":4,"unseen_share":0.5,)"
                 R"("degraded":false})");
}

// Whether they may be skipped comes behind the items.
TEST(FilterJsonTest, CountsWhatStandsForNoIdAmongTheExamined) {
  const std::string too_long = '"' + std::string(kMaxIdBytes + 1, 'x') + '"';
  const Padded body(R"({"user":"u","items":["",1,null,2,)" + too_long +
                    R"(,3],"exclude":["",4],"invalid":"skip"})");
  JsonDocument document;
  FilterCall call;
  ASSERT_TRUE(ParseFilter(body.view(), kMaxItems, &document, &call).ok());
  ASSERT_EQ(call.items.size(), 3u);
  EXPECT_EQ(call.exclude.size(), 1u);
  EXPECT_EQ(call.no_ids, (std::vector<uint32_t>{0, 2, 4}));
  FilterResponse response;
  response.unseen = {0};
  response.examined = 1;  // stopped by a limit
  std::string out;
  AppendFilterAnswer(call, response, Policy(), {}, &out);
  EXPECT_EQ(out, R"({"unseen":[1],"seen":0,"excluded":0,"invalid":2,"examined":3,)"
                 R"("unseen_share":0.3333333333333333,"degraded":false})");
  response.unseen = {0, 1, 2};
  response.examined = 3;
  out.clear();
  AppendFilterAnswer(call, response, Policy(), {}, &out);
  EXPECT_EQ(out, R"({"unseen":[1,2,3],"seen":0,"excluded":0,"invalid":3,"examined":6,)"
                 R"("unseen_share":0.5,"degraded":false})");
}

TEST(FilterJsonTest, ExplainsARepeatedItemOnce) {
  const Padded body(R"({"user":"u","items":[7,"7","\u0037","w"],"explain":true,"exclude":["q"]})");
  JsonDocument document;
  FilterCall call;
  ASSERT_TRUE(ParseFilter(body.view(), kMaxItems, &document, &call).ok());
  FilterResponse response;
  response.seen = 3;
  response.excluded = 1;
  response.examined = 4;
  response.degraded = true;
  response.missing = {"2023-10", "deadline"};
  response.reasons.assign(4, {ReasonKind::kRing, 0});
  response.reasons[3].kind = ReasonKind::kExcluded;
  std::string out;
  AppendFilterAnswer(call, response, Policy(), {}, &out);
  EXPECT_EQ(out, R"({"unseen":[],"seen":3,"excluded":1,"examined":4,"unseen_share":0,)"
                 R"("degraded":true,"missing":["2023-10","deadline"],"reasons":{"7":"ring"}})");
}

TEST(FilterJson, CandidatesMayHaveGroups) {
  const Padded padded(std::string_view(R"({"user":"u","items":["a",{"at":7,"of":["g","h"],"id":5},)"
                                       R"({"id":"c","same_as":["s","\"t"]}],"explain":true})"));
  JsonDocument document;
  FilterCall call;
  ASSERT_TRUE(ParseFilter(padded.view(), kMaxItems, &document, &call).ok());
  ASSERT_NE(call.request.question, nullptr);
  const std::span<const CandidateGroups> groups = call.request.question->groups;
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_TRUE(groups[0].of.empty());
  ASSERT_EQ(groups[1].of.size(), 2u);
  EXPECT_EQ(groups[1].of[1], "h");
  EXPECT_EQ(groups[1].at_ms, 7);
  EXPECT_TRUE(groups[2].of.empty());
  EXPECT_TRUE(groups[1].same_as.empty());
  ASSERT_EQ(groups[2].same_as.size(), 2u);
  EXPECT_EQ(groups[2].same_as[1], "\"t");
  FilterResponse answer;
  answer.unseen = {1, 2};
  answer.examined = 3;
  answer.seen = 1;
  answer.reasons = {{ReasonKind::kMarked, 0, "\"g"}, {}, {}};
  std::string out;
  AppendFilterAnswer(call, answer, Policy(), {}, &out);
  EXPECT_EQ(
      out,
      R"({"unseen":[5,"c"],"seen":1,"examined":3,)"
      R"("unseen_share":0.6666666666666666,"undated":0,"degraded":false,"reasons":{"a":"mark:\"g"}})");
  out.clear();
  answer.unseen = {0, 1};
  answer.reasons = {{}, {}, {ReasonKind::kSame, 0, groups[2].same_as[1]}};
  AppendFilterAnswer(call, answer, Policy(), {}, &out);
  EXPECT_NE(out.find(R"("reasons":{"c":"same:\"t"}})"), std::string::npos) << out;
  const Padded plain(std::string_view(R"({"user":"u","items":["a"]})"));
  ASSERT_TRUE(ParseFilter(plain.view(), kMaxItems, &document, &call).ok());
  EXPECT_EQ(call.request.question, nullptr);
}

}  // namespace
}  // namespace seendb::wire::SEENDB_TEST_FILE
