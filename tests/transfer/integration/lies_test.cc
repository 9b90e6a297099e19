// A node that lies while a shard is fetched from it: in the manifest of the copy, and in its
// pieces. Each of the lies of tests/lies/table.py; the lint asks for them by name.

#include "support/answer_lies.h"
#include "transfer/copy.h"
#include "transfer/files.h"
#include "transfer/integration/node_fixture.h"

namespace seendb::transfer::SEENDB_TEST_FILE {
namespace {

using test::Answered;
using test::kMegabyte;
using test::Liar;
using test::Lie;
using test::LieRow;
using test::Nested;

constexpr char kIdentity[] = R"({"format":2,"id":"u","shards":3,"hash":1})";

class TransferLiesTest : public TransferTest {
 protected:
  void SetUp() override {
    fs::create_directories(target_db_);
    std::ofstream(target_db_ + "/SEENDB") << kIdentity;
    settings_.db = target_db_;
    settings_.node = "n2";
    settings_.reserve_bytes = 1'000'000;
    settings_.answer_timeout = milliseconds(500);
    settings_.pause = milliseconds(0);
    settings_.silent_most = milliseconds(300);
    settings_.stuck_most = milliseconds(1'000);
    manifest_ = {.id = "c1",
                 .part = kShard,
                 .kind = ReadKind(target_db_).value(),
                 .next_offsets = {},
                 .files = {{"CURRENT", 5, Sum("abcde")}, {"000007.sst", 4'000, 7}}};
  }
  static uint32_t Sum(const std::string& bytes) {
    Crc32c sum;
    sum.Add(bytes);
    return sum.value();
  }
  /// The honest manifest, with a change.
  std::string Manifest(const std::function<void(nlohmann::json*)>& change) const {
    nlohmann::json json = nlohmann::json::parse(ManifestToJson(manifest_));
    change(&json);
    return Answered(json.dump());
  }
  static std::string Piece(const std::string& bytes, const std::string& range) {
    return Answered(bytes, "206 Partial Content", "Content-Range: " + range + "\r\n");
  }

  /// Lies that any answer may be.
  static std::vector<LieRow> Answers() {
    std::vector<LieRow> rows = test::AnswerLies(33 * kMegabyte, milliseconds(200));
    const auto add = [&rows](const char* lie, const std::string& name, const std::string& text) {
      rows.push_back({lie, name, {{text}}});
    };
    add("too_deep", "an error", Answered(R"({"error":)" + Nested(kMegabyte) + "}", "409 X"));
    add("too_long", "an error",
        Answered(R"({"error":{"code":"x","message":")" + std::string(kMegabyte, 'x') + R"("}})",
                 "409 X"));
    for (const char* status : {"200 OK", "206 X", "100 X", "204 X", "404 X", "503 X", "999 X"}) {
      for (const char* body : {"", "7", "null", "[]", "{}", "<html>"}) {
        add("wrong_type", std::string(status) + " " + body, Answered(body, status));
      }
    }
    add("huge_length", "a body",
        "HTTP/1.1 206 OK\r\nContent-Length: 9223372036854775807\r\n\r\n{}");
    return rows;
  }

  /// Fails in time, and leaves nothing but what it has begun.
  Status ExpectRefused(const Liar& liar) {
    const auto began = std::chrono::steady_clock::now();
    const Result<Fetched> fetched = Fetcher(settings_).Fetch(kShard, {"n1", liar.url()}, Never);
    EXPECT_FALSE(fetched.ok());
    EXPECT_LT(std::chrono::steady_clock::now() - began, milliseconds(10'000));
    EXPECT_GT(liar.asked(), 0);
    EXPECT_LT(fetched.status().message().size(), 2'000u);
    for (const std::string& name : InTransit(target_db_)) {
      EXPECT_EQ(name, "fetch-0001.part");
    }
    size_t others = 0;
    for (const auto& one : fs::directory_iterator(target_db_)) {
      const std::string name = one.path().filename().string();
      if (name != "SEENDB" && name != kTransitName) ++others;
    }
    EXPECT_EQ(others, 0u);
    return fetched.status();
  }

  FetchSettings settings_;
  transfer::Manifest manifest_;
};

TEST_F(TransferLiesTest, InTheManifest) {
  using Json = nlohmann::json;
  std::vector<LieRow> rows = Answers();
  const auto add = [&](const char* lie, const char* name,
                       const std::function<void(Json*)>& change) {
    rows.push_back({lie, name, {{Manifest(change)}}});
  };
  add("wrong_type", "files", [](Json* json) { (*json)["files"] = 7; });
  add("wrong_type", "a name", [](Json* json) { (*json)["files"][0]["name"] = "../../x"; });
  add("negative_length", "a file", [](Json* json) { (*json)["files"][0]["size"] = -1; });
  add("huge_length", "a file", [](Json* json) { (*json)["files"][0]["size"] = INT64_MAX; });
  add("huge_length", "a shard", [](Json* json) { (*json)["partition"] = 4'000'000'000u; });
  add("twice", "a file", [](Json* json) { (*json)["files"][1] = (*json)["files"][0]; });
  for (const LieRow& row : rows) {
    SCOPED_TRACE(std::string(row.lie) + ": " + row.name);
    const Liar liar([&](const std::string&) { return row.told; });
    EXPECT_FALSE(ExpectRefused(liar).ok());
  }
}

TEST_F(TransferLiesTest, InThePieces) {
  std::vector<LieRow> rows = Answers();
  rows.push_back({"wrong_type", "other bytes", {{Piece("ABCDE", "bytes 0-4/5")}}});
  rows.push_back({"wrong_type", "no range", {{Piece("abcde", "x")}}});
  rows.push_back({"cut", "a piece", {{Piece("a", "bytes 0-0/5")}}});
  rows.push_back({"too_long", "a piece", {{Piece("abcdefgh", "bytes 0-7/5")}}});
  rows.push_back({"too_long", "a range", {{Piece("abcde", "bytes " + std::string(4'000, '9'))}}});
  rows.push_back({"negative_length", "a range", {{Piece("abcde", "bytes -1-4/5")}}});
  rows.push_back({"huge_length", "a file", {{Piece("abcde", "bytes 0-4/18446744073709551615")}}});
  rows.push_back({"out_of_order", "a piece", {{Piece("bcdea", "bytes 1-5/5")}}});
  const std::string honest = Answered(ManifestToJson(manifest_));
  for (const LieRow& row : rows) {
    SCOPED_TRACE(std::string(row.lie) + ": " + row.name);
    const Liar liar([&](const std::string& head) {
      return head.starts_with("GET") ? row.told : Lie{{honest}};
    });
    EXPECT_FALSE(ExpectRefused(liar).ok());
  }
}

// Each copy brings a little, and is given up: it looks as if the fetch went on.
TEST_F(TransferLiesTest, CopiesWithoutAnEnd) {
  std::atomic<int> copies{0};
  const Liar liar([&](const std::string& head) {
    if (head.starts_with("POST")) {
      ++copies;
      return Lie{{Answered(ManifestToJson(manifest_))}};
    }
    const bool first = head.find("CURRENT") != std::string::npos;
    return Lie{{first ? Piece("abcde", "bytes 0-4/5") : Answered("{}", "404 X")}};
  });
  settings_.stuck_most = milliseconds(3'600'000);
  const auto fetched = Fetcher(settings_).Fetch(kShard, {"n1", liar.url()}, Never);
  EXPECT_NE(fetched.status().message().find("ended none"), std::string_view::npos)
      << fetched.status().ToString();
  EXPECT_LE(copies, 1'001);
}

}  // namespace
}  // namespace seendb::transfer::SEENDB_TEST_FILE
