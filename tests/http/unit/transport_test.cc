// The bytes of a connection by themselves.

#include "http/transport.h"

#include <string>

#include "http/unit/parts_fixture.h"

namespace seendb::http::SEENDB_TEST_FILE {
namespace {

Limits Rated() {
  Limits limits;
  limits.read_bytes_per_s = 1'000;
  return limits;
}

class TransportTest : public PartsTest {
 protected:
  TransportTest() : PartsTest(Rated()) {
    Arrival arrival = Connect();
    arrival.received = "had";
    transport_.emplace(&arrival, &thread_, loop_.get());
  }
  void Write(const std::string& text) {
    transport_->Write({boost::asio::buffer(text), boost::asio::const_buffer()});
  }

  std::optional<Transport> transport_;
};

TEST_F(TransportTest, ReadsBehindWhatItHad) {
  ASSERT_TRUE(transport_->Read(&transport_->in, 100));
  Turn();
  EXPECT_EQ(loop_->told, 0);
  EXPECT_TRUE(transport_->reading());
  Send("more");
  Turn();
  EXPECT_EQ(loop_->told, 1);
  EXPECT_FALSE(transport_->reading());
  EXPECT_EQ(transport_->in.view(), "had");  // until the loop takes it
  EXPECT_EQ(transport_->Receive(), 4u);
  EXPECT_EQ(transport_->in.view(), "hadmore");
  EXPECT_EQ(shared_.counters.bytes_in, 4u);
}

TEST_F(TransportTest, SaysThatThePeerIsGone) {
  ASSERT_TRUE(transport_->Read(&transport_->in, 100));
  Leave();
  Turn();
  EXPECT_EQ(loop_->told, 1);
  EXPECT_FALSE(loop_->all_ok);
}

TEST_F(TransportTest, SaysNothingOnceItIsClosed) {
  ASSERT_TRUE(transport_->Read(&transport_->in, 100));
  transport_->Close();
  Turn();
  EXPECT_EQ(loop_->told, 0);
  EXPECT_EQ(Heard(), "");
}

TEST_F(TransportTest, KeepsTheLoopOfWhatIsUnderWay) {
  ASSERT_TRUE(transport_->Read(&transport_->in, 100));
  const std::weak_ptr<NotingLoop> weak = loop_;
  EXPECT_EQ(weak.use_count(), 2);
  Send("x");
  Turn();
  EXPECT_EQ(weak.use_count(), 1);
}

TEST_F(TransportTest, TellsWhenASlowReaderHasAll) {
  const std::string text(2u << 20, 'x');
  Write(text);
  Turn();
  EXPECT_EQ(loop_->told, 0);
  const auto first = transport_->deadline;
  EXPECT_LE(first, Clock::now() + std::chrono::seconds(5));
  size_t heard = 0;
  ASSERT_TRUE(TurnUntil([&] {
    heard += Heard(100'000).size();
    return loop_->told > 0;
  }));
  heard += Heard().size();
  EXPECT_EQ(heard, text.size());
  EXPECT_EQ(loop_->last, Loop::Event::kWritten);
  EXPECT_TRUE(loop_->all_ok);
  EXPECT_GT(transport_->deadline, first);  // each byte gave it time
  EXPECT_EQ(shared_.counters.bytes_out, text.size());
}

TEST_F(TransportTest, AReaderThatGoesFailsTheWrite) {
  const std::string text(2u << 20, 'x');
  Write(text);
  Turn();
  Leave();
  Turn();
  EXPECT_EQ(loop_->told, 1);
  EXPECT_FALSE(loop_->all_ok);
}

TEST_F(TransportTest, ReadsABodyThatIsHereWithoutATurn) {
  MemoryBudget budget(1u << 20);
  Bytes body(&budget);
  uint64_t left = 6;
  Send("1234");
  transport_->ReadHere(&body, &left);
  EXPECT_EQ(body.view(), "1234");
  EXPECT_EQ(left, 2u);
  Send("56next");
  transport_->ReadHere(&body, &left);
  EXPECT_EQ(body.view(), "123456");
  EXPECT_EQ(left, 0u);
  EXPECT_EQ(loop_->told, 0);
}

TEST_F(TransportTest, DropsWhatItHas) {
  EXPECT_FALSE(transport_->DropsInKernel());  // only TCP does
  EXPECT_EQ(transport_->Drop(2), 0u);
  EXPECT_EQ(transport_->in.view(), "d");
  EXPECT_EQ(transport_->Drop(5), 4u);
}

TEST_F(TransportTest, ReleasesWhatItHas) {
  const Arrival arrival = transport_->Release();
  EXPECT_EQ(arrival.received, "had");
  EXPECT_TRUE(arrival.socket.is_open());
  EXPECT_EQ(arrival.connection.family, AF_UNIX);
}

TEST_F(TransportTest, NoMemoryIsSaid) {
  MemoryBudget budget(1);
  Bytes body(&budget);
  EXPECT_FALSE(transport_->Read(&body, 2 * Bytes::kSmall));
  EXPECT_FALSE(transport_->reading());
}

}  // namespace
}  // namespace seendb::http::SEENDB_TEST_FILE
