// Error answers are JSON whatever the message holds.

#include "http/error.h"

#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/seed.h"
#include "wire/json_text.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

using Json = nlohmann::json;

TEST(ErrorTest, HasOneShape) {
  Response response;
  WriteError({503, "busy", "say \"when\"\n", "/items/3"}, &response);
  EXPECT_EQ(response.status, 503u);
  EXPECT_EQ(response.retry_after_s, 1);
  EXPECT_EQ(response.body,
            R"({"error":{"code":"busy","message":"say \"when\"\n","field":"/items/3"}})");
  WriteError({400, "invalid_argument", "no", ""}, &response);
  EXPECT_EQ(response.retry_after_s, 0);
  EXPECT_EQ(response.body, R"({"error":{"code":"invalid_argument","message":"no","field":""}})");
}

TEST(ErrorTest, AnyBytesBecomeAJsonString) {
  std::mt19937_64 random(test::Seed());
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (size_t n = random() % 12; n > 0; --n) {
      const std::string pieces[] = {"\xE6\xBC\xA2", "\xF0\x9F\x98\x80", "\xED\xA0\x80", "\xC0\x80",
                                    std::string(1, static_cast<char>(random()))};
      text += pieces[random() % std::size(pieces)];
    }
    std::string out;
    wire::AppendJsonString(text, &out);
    const Json json = Json::parse(out, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << testing::PrintToString(text) << out;
    // nlohmann replaces ill-formed bytes its own way; well-formed text must come through as it is.
    const Json whole = Json(text);
    const std::string dumped = whole.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (dumped.find("\xEF\xBF\xBD") == std::string::npos) {
      ASSERT_EQ(json.get<std::string>(), text);
    }
  }
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
