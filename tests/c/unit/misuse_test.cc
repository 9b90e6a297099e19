// Callers of the C interface that get something wrong: each is told by an error with a message and
// the argument's name, and nothing is changed.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "seendb/seendb.h"
#include "support/seed.h"

namespace {

using Why = seendb_error**;

class MisuseTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "seendb-c-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    ASSERT_EQ(
        seendb_open((folder_ + "/db").c_str(),
                    R"({"shards":1,"background":false,"max_candidates":1000})", &db_, nullptr),
        SEENDB_OK);
  }
  void TearDown() override {
    EXPECT_EQ(seendb_close(db_, nullptr), SEENDB_OK);
    std::filesystem::remove_all(folder_);
  }

  /// That `call(error)` is refused, for the argument `field`, whether it is asked why or not.
  template <typename Call>
  static void ExpectRefused(const std::string& field, const Call& call) {
    SCOPED_TRACE(field);
    seendb_error* error = nullptr;
    EXPECT_EQ(call(&error), SEENDB_INVALID_ARGUMENT);
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(seendb_error_code(error), SEENDB_INVALID_ARGUMENT);
    EXPECT_EQ(seendb_error_field(error), field);
    EXPECT_STRNE(seendb_error_message(error), "");
    seendb_error_free(error);
    EXPECT_EQ(call(nullptr), SEENDB_INVALID_ARGUMENT);
  }

  std::string folder_;
  seendb_db* db_ = nullptr;
  const seendb_id user_ = seendb_text("u1");
  const seendb_id item_ = seendb_text("v1");
  uint8_t bits_[4] = {};
  char* json_ = nullptr;
};

TEST_F(MisuseTest, NoDatabase) {
  const std::string field = "/db";
  ExpectRefused(field, [&](Why e) { return seendb_open("x", nullptr, nullptr, e); });
  ExpectRefused(field, [&](Why e) { return seendb_put_collection(nullptr, nullptr, nullptr, e); });
  ExpectRefused(field, [&](Why e) { return seendb_delete_collection(nullptr, nullptr, e); });
  ExpectRefused(field, [&](Why e) { return seendb_collections(nullptr, &json_, e); });
  ExpectRefused(field, [&](Why e) {
    return seendb_record_plays(nullptr, nullptr, nullptr, 0, nullptr, nullptr, e);
  });
  ExpectRefused(field, [&](Why e) {
    return seendb_record_impressions(nullptr, nullptr, user_, &item_, 1, 0, nullptr, nullptr, e);
  });
  ExpectRefused(field, [&](Why e) {
    return seendb_filter(nullptr, user_, &item_, 1, nullptr, bits_, 1, nullptr, e);
  });
  ExpectRefused(field, [&](Why e) {
    return seendb_filter_u64(nullptr, user_, nullptr, 0, nullptr, nullptr, 0, nullptr, e);
  });
  ExpectRefused(field, [&](Why e) {
    return seendb_history(nullptr, user_, nullptr, 0, 1, nullptr, &json_, e);
  });
  ExpectRefused(field, [&](Why e) {
    return seendb_look_up_history(nullptr, user_, nullptr, &item_, 1, &json_, e);
  });
  ExpectRefused(
      field, [&](Why e) { return seendb_delete_history(nullptr, user_, nullptr, &item_, 1, e); });
  ExpectRefused(field,
                [&](Why e) { return seendb_clear_history(nullptr, user_, nullptr, 0, 0, e); });
  ExpectRefused(field, [&](Why e) { return seendb_set_recording(nullptr, user_, 1, e); });
  ExpectRefused(field, [&](Why e) { return seendb_inspect(nullptr, user_, nullptr, &json_, e); });
  ExpectRefused(field, [&](Why e) { return seendb_erase(nullptr, user_, nullptr, e); });
  ExpectRefused(field, [&](Why e) { return seendb_drain(nullptr, e); });
  ExpectRefused(field, [&](Why e) { return seendb_sync(nullptr, e); });
  ExpectRefused(field, [&](Why e) { return seendb_checkpoint(nullptr, "x", e); });
  ExpectRefused(field, [&](Why e) { return seendb_stats(nullptr, &json_, e); });
  EXPECT_EQ(seendb_close(nullptr, nullptr), SEENDB_OK);
  EXPECT_EQ(json_, nullptr);
}

TEST_F(MisuseTest, NullArguments) {
  ExpectRefused("/path", [&](Why e) {
    seendb_db* other = db_;
    const auto code = seendb_open(nullptr, nullptr, &other, e);
    EXPECT_EQ(other, nullptr);
    return code;
  });
  ExpectRefused("/path", [&](Why e) {
    seendb_db* other = nullptr;
    return seendb_open("", nullptr, &other, e);
  });
  ExpectRefused("/json", [&](Why e) { return seendb_collections(db_, nullptr, e); });
  ExpectRefused("/json", [&](Why e) { return seendb_stats(db_, nullptr, e); });
  ExpectRefused("/json", [&](Why e) { return seendb_inspect(db_, user_, nullptr, nullptr, e); });
  ExpectRefused("/json", [&](Why e) {
    return seendb_history(db_, user_, nullptr, 0, 1, nullptr, nullptr, e);
  });
  ExpectRefused("/json", [&](Why e) {
    return seendb_look_up_history(db_, user_, nullptr, &item_, 1, nullptr, e);
  });
  ExpectRefused("/plays", [&](Why e) {
    return seendb_record_plays(db_, nullptr, nullptr, 1, nullptr, nullptr, e);
  });
  ExpectRefused("/items", [&](Why e) {
    return seendb_record_impressions(db_, nullptr, user_, nullptr, 1, 0, nullptr, nullptr, e);
  });
  ExpectRefused("/items", [&](Why e) {
    return seendb_filter(db_, user_, nullptr, 1, nullptr, bits_, 1, nullptr, e);
  });
  ExpectRefused("/items", [&](Why e) {
    return seendb_filter_u64(db_, user_, nullptr, 1, nullptr, bits_, 1, nullptr, e);
  });
  ExpectRefused("/unseen", [&](Why e) {
    return seendb_filter(db_, user_, &item_, 1, nullptr, nullptr, 1, nullptr, e);
  });
  ExpectRefused("/items",
                [&](Why e) { return seendb_delete_history(db_, user_, nullptr, nullptr, 1, e); });
  const char* const names[] = {"default", nullptr};
  ExpectRefused("/collections/1",
                [&](Why e) { return seendb_history(db_, user_, names, 2, 1, nullptr, &json_, e); });
  ExpectRefused("/collections",
                [&](Why e) { return seendb_clear_history(db_, user_, nullptr, 1, 0, e); });
  ExpectRefused("/dir", [&](Why e) { return seendb_checkpoint(db_, nullptr, e); });
  ExpectRefused("/dir", [&](Why e) { return seendb_checkpoint(db_, "", e); });
}

TEST_F(MisuseTest, WrongSizes) {
  const std::vector<seendb_id> items(25, item_);
  ExpectRefused("/unseen", [&](Why e) {
    return seendb_filter(db_, user_, items.data(), 25, nullptr, bits_, 3, nullptr, e);
  });
  const uint64_t number = 1;
  for (const size_t count : {size_t{1001}, std::numeric_limits<size_t>::max()}) {
    std::vector<uint8_t> bits(126);
    ExpectRefused(count == 1001 ? "/items" : "/unseen", [&](Why e) {  // it is not read
      return seendb_filter_u64(db_, user_, &number, count, nullptr, bits.data(), bits.size(),
                               nullptr, e);
    });
    ExpectRefused("/plays", [&](Why e) {
      const seendb_play play{};
      return seendb_record_plays(db_, nullptr, &play, count + (count == 1001 ? 10'000'000 : 0),
                                 nullptr, nullptr, e);
    });
    ExpectRefused("/items", [&](Why e) {
      return seendb_delete_history(db_, user_, nullptr, &item_, count, e);
    });
    seendb_filter_options options{};
    options.size = sizeof(options);
    options.exclude = &item_;
    options.exclude_count = count;
    ExpectRefused("/exclude", [&](Why e) {
      return seendb_filter(db_, user_, &item_, 1, &options, bits_, 1, nullptr, e);
    });
  }
  for (const size_t size : {size_t{0}, size_t{8}, sizeof(seendb_filter_options) - 1, size_t{4097},
                            std::numeric_limits<size_t>::max()}) {
    seendb_filter_options options{};
    options.size = size;
    ExpectRefused("/options/size", [&](Why e) {
      return seendb_filter(db_, user_, &item_, 1, &options, bits_, 1, nullptr, e);
    });
    seendb_filtered filtered{};
    filtered.size = size;
    ExpectRefused("/filtered/size", [&](Why e) {
      return seendb_filter(db_, user_, &item_, 1, nullptr, bits_, 1, &filtered, e);
    });
    seendb_recorded recorded{};
    recorded.size = size == sizeof(seendb_filter_options) - 1 ? sizeof(recorded) - 1 : size;
    const seendb_play play{user_, item_, 0, 0, 0, 0, 0, nullptr, nullptr};
    ExpectRefused("/recorded/size", [&](Why e) {
      return seendb_record_plays(db_, nullptr, &play, 1, &recorded, nullptr, e);
    });
  }
  // Nothing of all this was recorded.
  EXPECT_EQ(seendb_filter(db_, user_, &item_, 1, nullptr, bits_, 1, nullptr, nullptr), SEENDB_OK);
  EXPECT_EQ(bits_[0], 1);
}

// A header of later has longer structures: what it adds counts only if it is not 0.
TEST_F(MisuseTest, StructuresOfANewerHeader) {
  struct Newer {
    seendb_filter_options options;
    uint64_t more;
  };
  Newer newer{};
  newer.options.size = sizeof(newer);
  EXPECT_EQ(seendb_filter(db_, user_, &item_, 1, &newer.options, bits_, 1, nullptr, nullptr),
            SEENDB_OK);
  newer.more = 1;
  ExpectRefused("/options/size", [&](Why e) {
    return seendb_filter(db_, user_, &item_, 1, &newer.options, bits_, 1, nullptr, e);
  });
  struct {
    seendb_filtered filtered;
    uint64_t more;
  } told{};
  told.filtered.size = sizeof(told);
  told.more = 7;  // of an earlier call: it is not read
  EXPECT_EQ(seendb_filter(db_, user_, &item_, 1, nullptr, bits_, 1, &told.filtered, nullptr),
            SEENDB_OK);
  EXPECT_EQ(told.filtered.unseen, 1u);
  EXPECT_EQ(told.filtered.size, sizeof(told));
  EXPECT_EQ(told.more, 7u);
}

TEST_F(MisuseTest, IdsThatAreNone) {
  const std::string text(256, 'x');
  const seendb_id unset{};
  const seendb_id no_text{nullptr, 0, 5, SEENDB_ID_TEXT};
  const seendb_id odd{"x", 0, 1, 77};
  for (const seendb_id& id :
       {unset, no_text, odd, seendb_text(""), seendb_text(text.c_str()), seendb_text(nullptr)}) {
    const std::vector<seendb_id> items = {item_, id};
    ExpectRefused("/items/1", [&](Why e) {
      return seendb_filter(db_, user_, items.data(), 2, nullptr, bits_, 1, nullptr, e);
    });
    ExpectRefused("/items/1", [&](Why e) {
      return seendb_record_impressions(db_, nullptr, user_, items.data(), 2, 0, nullptr, nullptr,
                                       e);
    });
    ExpectRefused("/user", [&](Why e) {
      return seendb_record_impressions(db_, nullptr, id, &item_, 1, 0, nullptr, nullptr, e);
    });
    ExpectRefused("/user", [&](Why e) {
      return seendb_filter(db_, id, &item_, 1, nullptr, bits_, 1, nullptr, e);
    });
    ExpectRefused("/plays/0/user", [&](Why e) {
      const seendb_play play{id, item_, 0, 0, 0, 0, 0, nullptr, nullptr};
      return seendb_record_plays(db_, nullptr, &play, 1, nullptr, nullptr, e);
    });
    ExpectRefused("/user", [&](Why e) { return seendb_erase(db_, id, nullptr, e); });
    ExpectRefused("/user", [&](Why e) { return seendb_inspect(db_, id, nullptr, &json_, e); });
    seendb_filter_options options{};
    options.size = sizeof(options);
    options.exclude = items.data();
    options.exclude_count = 2;
    ExpectRefused("/exclude/1", [&](Why e) {
      return seendb_filter(db_, user_, &item_, 1, &options, bits_, 1, nullptr, e);
    });
  }
  // Not zero-terminated: the size alone counts.
  const seendb_id part{"v1234", 0, 2, SEENDB_ID_TEXT};
  const seendb_play play{user_, part, 0, 0, 0, 0, 0, nullptr, nullptr};
  ASSERT_EQ(seendb_record_plays(db_, nullptr, &play, 1, nullptr, nullptr, nullptr), SEENDB_OK);
  ASSERT_EQ(seendb_filter(db_, user_, &item_, 1, nullptr, bits_, 1, nullptr, nullptr), SEENDB_OK);
  EXPECT_EQ(bits_[0], 0);
}

TEST_F(MisuseTest, PlaysThatAreNone) {
  ASSERT_EQ(seendb_put_collection(db_, nullptr, R"({"history":{"enabled":true}})", nullptr),
            SEENDB_OK);
  const auto refuse = [&](const std::string& field, seendb_play play) {
    const std::vector<seendb_play> plays = {{user_, item_, 0, 0, 0, 0, 0, nullptr, nullptr}, play};
    ExpectRefused("/plays/1" + field, [&](Why e) {
      return seendb_record_plays(db_, nullptr, plays.data(), 2, nullptr, nullptr, e);
    });
  };
  const std::string long_text(5000, 'x');
  const std::string long_fields = "{\"a\":\"" + long_text + "\"}";
  const std::string deep = std::string(500, '[') + std::string(500, ']');
  refuse("/says", {user_, item_, 0, 4, 0, 0, 0, nullptr, nullptr});
  refuse("/reserved", {user_, item_, 0, 0, 0, 0, 1, nullptr, nullptr});
  refuse("/progress_s", {user_, item_, 0, SEENDB_SAYS_PROGRESS, -2, 0, 0, nullptr, nullptr});
  refuse("/duration_s", {user_, item_, 0, SEENDB_SAYS_DURATION, 0, -1, 0, nullptr, nullptr});
  refuse("/device", {user_, item_, 0, 0, 0, 0, 0, long_text.c_str(), nullptr});
  refuse("/device", {user_, item_, 0, 0, 0, 0, 0, "\xff", nullptr});
  for (const std::string& fields : {std::string(), std::string("[]"), std::string("{"), long_fields,
                                    deep, std::string("{\"a\":\"\xff\"}")}) {
    refuse("/fields", {user_, item_, 0, 0, 0, 0, 0, nullptr, fields.c_str()});
  }
  ASSERT_EQ(seendb_history(db_, user_, nullptr, 0, 10, nullptr, &json_, nullptr), SEENDB_OK);
  EXPECT_NE(std::string(json_).find("\"entries\":[]"), std::string::npos) << json_;
  seendb_free(json_);
}

TEST_F(MisuseTest, FlagsLimitsAndCursors) {
  seendb_filter_options options{};
  options.size = sizeof(options);
  options.flags = 32;
  ExpectRefused("/options/flags", [&](Why e) {
    return seendb_filter(db_, user_, &item_, 1, &options, bits_, 1, nullptr, e);
  });
  options.flags = SEENDB_FILTER_NO_PLAYS | SEENDB_FILTER_NO_IMPRESSIONS;
  ExpectRefused("/facts", [&](Why e) {
    return seendb_filter(db_, user_, &item_, 1, &options, bits_, 1, nullptr, e);
  });
  options.flags = 0;
  options.deadline_us = -1;
  ExpectRefused("/options/deadline_us", [&](Why e) {
    return seendb_filter(db_, user_, &item_, 1, &options, bits_, 1, nullptr, e);
  });
  ASSERT_EQ(seendb_put_collection(db_, nullptr, R"({"history":{"enabled":true}})", nullptr),
            SEENDB_OK);
  for (const uint32_t limit : {0u, 1001u, UINT32_MAX}) {
    ExpectRefused("/limit", [&](Why e) {
      return seendb_history(db_, user_, nullptr, 0, limit, nullptr, &json_, e);
    });
  }
  ExpectRefused("/cursor", [&](Why e) {
    return seendb_history(db_, user_, nullptr, 0, 1, "no cursor", &json_, e);
  });
  ExpectRefused("/fpr", [&](Why e) { return seendb_put_collection(db_, "c", R"({"fpr":7})", e); });
  ExpectRefused("", [&](Why e) { return seendb_put_collection(db_, "c", "[", e); });
  EXPECT_EQ(json_, nullptr);
}

TEST_F(MisuseTest, ErrorsOfNothing) {
  EXPECT_EQ(seendb_error_code(nullptr), SEENDB_OK);
  EXPECT_STREQ(seendb_error_message(nullptr), "");
  EXPECT_STREQ(seendb_error_field(nullptr), "");
  seendb_error_free(nullptr);
  seendb_free(nullptr);
  EXPECT_STREQ(seendb_code_name(SEENDB_OK), "ok");
  EXPECT_STREQ(seendb_code_name(SEENDB_CLOSED), "closed");
  for (const int code : {-1, 9, 100, 12'345, std::numeric_limits<int>::min()}) {
    EXPECT_STREQ(seendb_code_name(code), "internal");
  }
  seendb_error* error = nullptr;
  EXPECT_EQ(seendb_drain(nullptr, &error), SEENDB_INVALID_ARGUMENT);
  seendb_error* const left = error;  // a success says that there is no error
  EXPECT_EQ(seendb_drain(db_, &error), SEENDB_OK);
  EXPECT_EQ(error, nullptr);
  seendb_error_free(left);
}

// Arguments at random, most of them wrong: an answer, or an error with a message.
TEST_F(MisuseTest, ArgumentsAtRandom) {
  std::mt19937_64 random(seendb::test::Seed());
  const auto below = [&](uint64_t most) { return random() % most; };
  const std::string bytes = "\xff\xfe{\"a\":[1,2\0}u1\xc3\xa9v1 /%";
  const auto any_text = [&]() -> const char* {
    static const char* const kTexts[] = {nullptr,   "",
                                         "default", "c",
                                         "{}",      "{\"fpr\":0.01}",
                                         "\xff",    "{\"history\":{\"enabled\":true}}",
                                         "v1",      "[[[["};
    return kTexts[below(std::size(kTexts))];
  };
  const auto any_id = [&]() -> seendb_id {
    const uint32_t size = static_cast<uint32_t>(below(bytes.size() + 1));
    return {below(4) == 0 ? nullptr : bytes.data(), below(3) * (UINT64_MAX / 2), size,
            static_cast<uint32_t>(below(4))};
  };
  uint64_t done = 0;
  for (int i = 0; i < 4000; ++i) {
    std::vector<seendb_id> items(below(20));
    for (auto& item : items) item = below(3) == 0 ? item_ : any_id();
    std::vector<seendb_play> plays(below(5));
    for (auto& play : plays) {
      play = {any_id(),
              any_id(),
              static_cast<int64_t>(random()),
              static_cast<uint32_t>(below(5)),
              static_cast<int32_t>(random()),
              static_cast<int32_t>(random()),
              0,
              any_text(),
              any_text()};
    }
    std::vector<uint8_t> bits(below(4));
    seendb_filter_options options{};
    options.size = below(2) == 0 ? sizeof(options) : below(sizeof(options));
    options.collection = any_text();
    options.exclude = items.data();
    options.exclude_count = below(items.size() + 1);
    options.limit = static_cast<uint32_t>(below(3));
    options.flags = static_cast<uint32_t>(below(40));
    options.deadline_us = static_cast<int64_t>(below(3)) - 1;
    seendb_filtered filtered{};
    filtered.size = below(2) == 0 ? sizeof(filtered) : below(sizeof(filtered));
    seendb_recorded recorded{};
    recorded.size = below(2) == 0 ? sizeof(recorded) : below(sizeof(recorded));
    seendb_error* error = nullptr;
    seendb_code code = SEENDB_OK;
    int known = 0;
    const char* const names[] = {any_text(), any_text()};
    json_ = nullptr;
    switch (below(11)) {
      case 0:
        code = seendb_record_plays(db_, any_text(), plays.data(), plays.size(), &recorded, &json_,
                                   &error);
        break;
      case 1:
        code = seendb_record_impressions(db_, any_text(), any_id(), items.data(), items.size(),
                                         static_cast<int64_t>(random()), &recorded, &json_, &error);
        break;
      case 2:
        code = seendb_filter(db_, any_id(), items.data(), items.size(), &options, bits.data(),
                             bits.size(), &filtered, &error);
        break;
      case 3: {
        std::vector<uint64_t> numbers(items.size(), random());
        code = seendb_filter_u64(db_, any_id(), numbers.data(), numbers.size(), &options,
                                 bits.data(), bits.size(), &filtered, &error);
        break;
      }
      case 4:
        code = seendb_history(db_, any_id(), names, below(3), static_cast<uint32_t>(below(3)),
                              any_text(), &json_, &error);
        break;
      case 5:
        code = seendb_look_up_history(db_, any_id(), any_text(), items.data(), items.size(), &json_,
                                      &error);
        break;
      case 6:
        code = seendb_delete_history(db_, any_id(), any_text(), items.data(), items.size(), &error);
        break;
      case 7:
        code = seendb_clear_history(db_, any_id(), names, below(3), static_cast<int>(below(2)),
                                    &error);
        break;
      case 8:
        code = seendb_inspect(db_, any_id(), any_text(), &json_, &error);
        break;
      case 9:
        code = seendb_erase(db_, any_id(), &known, &error);
        break;
      default:
        code = seendb_put_collection(db_, any_text(), any_text(), &error);
        break;
    }
    EXPECT_EQ(code != SEENDB_OK, error != nullptr);
    EXPECT_NE(code, SEENDB_INTERNAL) << seendb_error_message(error);
    if (code != SEENDB_OK) {
      EXPECT_STRNE(seendb_error_message(error), "");
      EXPECT_EQ(json_, nullptr);
    }
    done += code == SEENDB_OK ? 1 : 0;
    seendb_error_free(error);
    seendb_free(json_);
  }
  EXPECT_GT(done, 100u) << "too few calls are taken";
}

}  // namespace
