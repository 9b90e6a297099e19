// Requests out of bytes, wherever these are cut.

#include "http/request_reader.h"

#include <string>
#include <string_view>

#include "http/unit/coding_sample.h"
#include "http/unit/parts_fixture.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

using Got = RequestReader::Got;

constexpr std::string_view kChunked =
    "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n";

Limits Small() {
  Limits limits;
  limits.body_bytes = 20'000;
  limits.header_bytes = 500;
  return limits;
}

class RequestReaderTest : public PartsTest {
 protected:
  RequestReaderTest() : PartsTest(Small()), budget_(1u << 20) {
    Arrival arrival = Connect();
    transport_.emplace(&arrival, &thread_, loop_.get());
    reader_.emplace(&*transport_, &budget_);
    plan_.body = BodyMode::kWhole;
  }
  /// Asks for more, which is `bytes`.
  void Bring(std::string_view bytes, bool in_body) {
    ASSERT_TRUE(reader_->Ask(in_body ? &plan_ : nullptr));
    Send(bytes);
    Turn();
    ASSERT_TRUE(loop_->all_ok);
    reader_->Received();
  }
  /// Reads a request of which all has come in `in`. Its body, or what is wrong.
  std::string Read() {
    reader_->Prepare();
    Got got = reader_->TakeHead();
    if (got == Got::kNothing) return "(cut)";
    if (got == Got::kBroken) return reader_->error().message;
    reader_->Begin(Clock::now());
    if (const auto error = reader_->Expect(&plan_)) return error->message;
    return ReadBody();
  }
  std::string ReadBody() {
    Got got = Got::kSome;
    while (!reader_->complete() && got == Got::kSome) got = reader_->TakeBody(&plan_);
    if (got == Got::kBroken) return reader_->error().message;
    return reader_->complete() ? std::string(reader_->body.view()) : "(cut)";
  }
  void Has(std::string_view bytes) { ASSERT_TRUE(transport_->in.Append(bytes)); }

  MemoryBudget budget_;
  std::optional<Transport> transport_;
  std::optional<RequestReader> reader_;
  Plan plan_;
};

TEST_F(RequestReaderTest, ACutMakesNoDifference) {
  for (const std::string_view request :
       {kChunked,
        std::string_view("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n\r\nabcdefg")}) {
    for (size_t cut = 1; cut < request.size(); ++cut) {
      reader_->Prepare();
      Bring(request.substr(0, cut), /*in_body=*/false);
      std::string_view rest = request.substr(cut);
      Got got = reader_->TakeHead();
      if (got == Got::kNothing) {
        EXPECT_FALSE(reader_->before_head());
        Bring(rest, /*in_body=*/false);
        rest = {};
        got = reader_->TakeHead();
      }
      ASSERT_EQ(got, Got::kSome) << cut;
      reader_->Begin(Clock::now());
      ASSERT_FALSE(reader_->Expect(&plan_));
      if (!rest.empty()) {
        ASSERT_EQ(ReadBody(), "(cut)") << cut;
        Bring(rest, /*in_body=*/true);
      }
      ASSERT_EQ(ReadBody(), "abcdefg") << cut;
      EXPECT_EQ(reader_->TakeBytesIn(true), request.size()) << cut;
      reader_->End(0);
      EXPECT_TRUE(reader_->before_head());
    }
  }
  EXPECT_TRUE(transport_->in.empty());
  EXPECT_EQ(budget_.used(), 0u);
}

TEST_F(RequestReaderTest, PipelinedRequestsAreTakenOneByOne) {
  Has(Post("/1", "one") + Get("/2") + std::string(kChunked) + "GET /4");
  for (const std::string body : {"one", "", "abcdefg"}) {
    EXPECT_EQ(Read(), body);
    reader_->End(0);
  }
  EXPECT_EQ(Read(), "(cut)");
  EXPECT_FALSE(reader_->before_head());
}

TEST_F(RequestReaderTest, EmptyLinesBeginNoHeadAndGiveNoTime) {
  reader_->Prepare();
  Bring("\r\n", /*in_body=*/false);
  EXPECT_EQ(reader_->TakeHead(), Got::kNothing);
  EXPECT_TRUE(reader_->before_head());
  Bring("\r\n", /*in_body=*/false);
  const auto until = transport_->deadline;
  EXPECT_EQ(reader_->TakeHead(), Got::kNothing);
  std::this_thread::sleep_for(milliseconds(2));
  Bring("G", /*in_body=*/false);
  EXPECT_EQ(transport_->deadline, until);
}

TEST_F(RequestReaderTest, ABegunHeadHasItsTimeAndNoMore) {
  reader_->Prepare();
  Bring("GET", /*in_body=*/false);
  EXPECT_EQ(reader_->TakeHead(), Got::kNothing);
  Bring(" /", /*in_body=*/false);
  const auto until = transport_->deadline;
  EXPECT_EQ(reader_->TakeHead(), Got::kNothing);
  std::this_thread::sleep_for(milliseconds(2));
  Bring("a", /*in_body=*/false);
  EXPECT_EQ(transport_->deadline, until);
}

TEST_F(RequestReaderTest, SaysWhatIsWrong) {
  Has("GET\r\n\r\n");
  EXPECT_NE(Read(), "(cut)");
  EXPECT_EQ(reader_->error().status, 400u);
}

TEST_F(RequestReaderTest, TooLargeABodyIsRefusedAtItsHead) {
  Has("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 20001\r\n\r\n");
  EXPECT_EQ(Read(), "request body over 20000 bytes");
}

TEST_F(RequestReaderTest, ARefusedBodyIsReadIfItIsSmall) {
  plan_.refused = true;
  plan_.refusal = {404, "not_found", "no"};
  Has(Post("/a", "dropped") + std::string(kChunked));
  EXPECT_EQ(Read(), "");
  reader_->End(0);
  EXPECT_EQ(Read(), "no");
}

TEST_F(RequestReaderTest, ABodyIsDropped) {
  Has("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nabc");
  reader_->Prepare();
  ASSERT_EQ(reader_->TakeHead(), Got::kSome);
  reader_->Begin(Clock::now());
  reader_->BeginDrop();
  EXPECT_FALSE(reader_->Drop());
  reader_->End(0);
  Bring("def" + Get("/next"), /*in_body=*/false);
  EXPECT_TRUE(reader_->Drop());
  EXPECT_FALSE(reader_->drops());
  EXPECT_EQ(Read(), "");
  EXPECT_EQ(reader_->head.target, "/next");
}

TEST_F(RequestReaderTest, ACompressedBodyComesInPieces) {
  const std::string text(19'000, 'x'), coded = Encoded(Coding::kGzip, text);
  plan_.coding = Coding::kGzip;
  Has(Post("/a", coded) + "rest");
  reader_->Prepare();
  ASSERT_EQ(reader_->TakeHead(), Got::kSome);
  reader_->Begin(Clock::now());
  ASSERT_FALSE(reader_->Expect(&plan_));
  ASSERT_EQ(reader_->TakeBody(&plan_), Got::kSome);
  EXPECT_TRUE(reader_->has_more());
  EXPECT_EQ(ReadBody(), text);
  EXPECT_FALSE(reader_->has_more());
  EXPECT_EQ(transport_->in.view(), "rest");
}

TEST_F(RequestReaderTest, ACompressedBodyOverTheLimitIsBroken) {
  plan_.coding = Coding::kZstd;
  Has(Post("/a", Encoded(Coding::kZstd, std::string(20'001, 'x'))));
  EXPECT_EQ(Read(), "decoded request body over 20000 bytes");
}

TEST_F(RequestReaderTest, ACompressedBodyWithoutItsEndIsRefused) {
  std::string coded = Encoded(Coding::kGzip, "some text");
  coded.resize(coded.size() - 3);
  plan_.coding = Coding::kGzip;
  Has(Post("/a", coded));
  Read();
  EXPECT_TRUE(reader_->complete());
  EXPECT_TRUE(plan_.refused);
  EXPECT_EQ(plan_.refusal.status, 400u);
}

TEST_F(RequestReaderTest, AStreamIsHandedOnAsItComes) {
  plan_.body = BodyMode::kStream;
  Has("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc");
  reader_->Prepare();
  ASSERT_EQ(reader_->TakeHead(), Got::kSome);
  reader_->Begin(Clock::now());
  ASSERT_FALSE(reader_->Expect(&plan_));
  ASSERT_EQ(reader_->TakeBody(&plan_), Got::kSome);
  EXPECT_EQ(reader_->news(), 3u);
  reader_->Consume(2);
  EXPECT_EQ(reader_->news(), 0u);
  EXPECT_EQ(reader_->TakeBody(&plan_), Got::kNothing);
  Bring("defghi", /*in_body=*/true);
  ASSERT_EQ(reader_->TakeBody(&plan_), Got::kSome);
  EXPECT_EQ(reader_->news(), 6u);
  EXPECT_EQ(reader_->body.view(), "cdefghi");
  EXPECT_TRUE(reader_->complete());
}

TEST_F(RequestReaderTest, ARequestThatTimedOutLeavesTheReadItsBuffer) {
  reader_->Prepare();
  ASSERT_TRUE(reader_->Ask(nullptr));
  reader_->End(0);
  Send("late");
  Turn();
  EXPECT_EQ(loop_->told, 1);
  EXPECT_TRUE(transport_->in.empty());
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
