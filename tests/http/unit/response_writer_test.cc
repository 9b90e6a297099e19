// The bytes of answers by themselves.

#include "http/response_writer.h"

#include <string>

#include <gtest/gtest.h>

#include "http/bytes.h"
#include "http/decoder.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

class ResponseWriterTest : public testing::Test {
 protected:
  /// Takes the bytes to be written, as if they were.
  std::string Taken() {
    std::string text;
    for (const boost::asio::const_buffer& buffer : writer_.buffers()) {
      text.append(static_cast<const char*>(buffer.data()), buffer.size());
    }
    writer_.Wrote();
    return text;
  }
  static std::string BodyOf(const std::string& answer) {
    return answer.substr(answer.find("\r\n\r\n") + 4);
  }
  static bool Has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  }

  RequestHead head_;
  Plan plan_;
  MemoryBudget answers_{1u << 20};
  std::string date_ = "Thu, 01 Jan 1970 00:00:00 GMT";
  ResponseWriter writer_{&head_, &plan_, &answers_, &date_};
};

TEST_F(ResponseWriterTest, AnswersOfAPipelineAreGathered) {
  writer_.response.body = "one";
  writer_.Put(/*keep=*/true);
  writer_.response.Clear();
  writer_.response.status = 404;
  writer_.response.body = "two";
  writer_.Put(/*keep=*/false);
  EXPECT_FALSE(writer_.full());
  EXPECT_EQ(Taken(),
            "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
            "Content-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n"
            "Content-Length: 3\r\n\r\none"
            "HTTP/1.1 404 Not Found\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
            "Content-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n"
            "Content-Length: 3\r\nConnection: close\r\n\r\ntwo");
  EXPECT_TRUE(writer_.empty());
}

TEST_F(ResponseWriterTest, ALargeBodyIsWrittenFromWhereItIs) {
  writer_.response.body.assign(20'000, 'x');
  writer_.Put(/*keep=*/true);
  EXPECT_TRUE(writer_.full());
  const auto buffers = writer_.buffers();
  EXPECT_EQ(buffers[1].data(), writer_.response.body.data());
  EXPECT_EQ(BodyOf(Taken()), std::string(20'000, 'x'));
  EXPECT_FALSE(writer_.full());
}

TEST_F(ResponseWriterTest, HeadHasTheLengthAndNoBody) {
  head_.method = Method::kHead;
  writer_.response.body.assign(20'000, 'x');
  writer_.Put(/*keep=*/true);
  const std::string answer = Taken();
  EXPECT_TRUE(Has(answer, "Content-Length: 20000\r\n"));
  EXPECT_EQ(BodyOf(answer), "");
}

TEST_F(ResponseWriterTest, AStreamIsChunked) {
  writer_.PutStreamHead(/*keep=*/true);
  EXPECT_TRUE(writer_.streams());
  writer_.piece = "0123456789abcdef\n";
  writer_.PutPiece();
  writer_.piece.clear();
  writer_.PutPiece();  // an empty chunk would end it
  writer_.PutEnd();
  const std::string answer = Taken();
  EXPECT_TRUE(Has(answer, "Transfer-Encoding: chunked\r\n"));
  EXPECT_EQ(BodyOf(answer), "11\r\n0123456789abcdef\n\r\n0\r\n\r\n");
  writer_.End();
  EXPECT_FALSE(writer_.streams());
}

TEST_F(ResponseWriterTest, AnOldClientGetsAStreamAsItIs) {
  head_.http11 = false;
  writer_.PutStreamHead(/*keep=*/false);
  writer_.piece = "line\n";
  writer_.PutPiece();
  writer_.PutEnd();
  const std::string answer = Taken();
  EXPECT_FALSE(Has(answer, "chunked"));
  EXPECT_EQ(BodyOf(answer), "line\n");
}

TEST_F(ResponseWriterTest, AStreamThatFailsHasNoEnd) {
  writer_.PutStreamHead(/*keep=*/true);
  writer_.response.body = "{}";
  writer_.PutFailure();
  EXPECT_EQ(BodyOf(Taken()), "3\r\n{}\n\r\n");
}

TEST_F(ResponseWriterTest, CompressesOnceAndOnlyWhatIsWorthIt) {
  plan_.compress = true;
  head_.accept_encoding = "gzip";
  writer_.Begin();
  writer_.response.body = "short";
  EXPECT_FALSE(writer_.Encodes());
  const std::string text(100'000, 'x');
  writer_.response.body = text;
  EXPECT_TRUE(writer_.Encodes());
  EXPECT_TRUE(writer_.EncodesMuch());
  writer_.Encode();
  EXPECT_FALSE(writer_.Encodes());
  writer_.Put(/*keep=*/true);
  const std::string answer = Taken();
  EXPECT_TRUE(Has(answer, "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n"));
  MemoryBudget budget(1u << 20);
  Decoder decoder(Coding::kGzip, &budget);
  std::string made(text.size() + 1, '\0');
  EXPECT_EQ(decoder.Put(BodyOf(answer), made.data(), made.size()).made, text.size());
  EXPECT_TRUE(decoder.End());
}

TEST_F(ResponseWriterTest, CountsWhatItHolds) {
  writer_.response.body.assign(300'000, 'x');
  writer_.Charge();
  EXPECT_GE(answers_.used(), 300'000u);
  writer_.Shrink();
  EXPECT_LT(answers_.used(), 10'000u);
  writer_.response.body.assign(300'000, 'x');
  writer_.Charge();
  writer_.Close();
  EXPECT_EQ(answers_.used(), 0u);
}

TEST_F(ResponseWriterTest, RefusesOnlyLargeAnswersOnceTheBudgetIsUsed) {
  answers_.Force(1u << 20);
  plan_.body = BodyMode::kWhole;
  EXPECT_FALSE(writer_.Refuses(1u << 20));
  plan_.large = true;
  EXPECT_TRUE(writer_.Refuses(0));  // no body says that the answer is small
  head_.content_length = 100;
  EXPECT_FALSE(writer_.Refuses(100));
  head_.content_length = 100'000;
  EXPECT_TRUE(writer_.Refuses(0));
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
