// A Redis that answers with more than was asked for, or sends a client elsewhere.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include "redis/client.h"
#include "redis/key_reader.h"
#include "redis/keys.h"
#include "redis/reply_limit.h"
#include "redis/walk_limit.h"

namespace seendb::redis::SEENDB_TEST_FILE {
namespace {

using boost::asio::ip::tcp;

/// Answers each piece that comes with what `says` makes of it. Its clients go before it does.
class LyingRedis {
 public:
  using Says = std::function<std::string(const std::string& asked)>;

  explicit LyingRedis(Says says)
      : says_(std::move(says)),
        acceptor_(io_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)),
        port_(acceptor_.local_endpoint().port()),
        thread_([this] { Serve(); }) {}
  ~LyingRedis() {
    stopping_ = true;
    boost::system::error_code ignored;
    boost::asio::io_context io;
    tcp::socket(io).connect({boost::asio::ip::address_v4::loopback(), port_}, ignored);
    thread_.join();
    for (std::thread& talk : talks_) talk.join();
  }

  std::string at() const { return "127.0.0.1:" + std::to_string(port_); }
  int connections() const { return connections_; }

 private:
  void Serve() {
    for (;;) {
      tcp::socket socket(io_);
      boost::system::error_code failed;
      acceptor_.accept(socket, failed);
      if (failed || stopping_) return;
      ++connections_;
      talks_.emplace_back([this, socket = std::move(socket)]() mutable { Talk(&socket); });
    }
  }
  void Talk(tcp::socket* socket) const {
    std::array<char, 65'536> asked{};
    for (;;) {
      boost::system::error_code failed;
      const size_t size = socket->read_some(boost::asio::buffer(asked), failed);
      if (failed) return;
      boost::asio::write(*socket, boost::asio::buffer(says_({asked.data(), size})), failed);
    }
  }

  const Says says_;
  boost::asio::io_context io_;
  tcp::acceptor acceptor_;
  const uint16_t port_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> connections_{0};
  std::vector<std::thread> talks_;
  std::thread thread_;
};

std::unique_ptr<Client> ClientOf(const LyingRedis& redis) {
  auto address = ParseAddress("redis://user:secret@" + redis.at(), "url");
  EXPECT_TRUE(address.ok()) << address.status().ToString();
  auto client = Client::Open(*address, {.timeout = std::chrono::milliseconds(20'000)});
  EXPECT_TRUE(client.ok()) << client.status().ToString();
  return std::move(client).value();
}

/// What becomes of ZMSCORE of three members.
Status Asked(Client* client) {
  Pipeline pipeline;
  pipeline.Add({"ZMSCORE", "key", "a", "b", "c"}, "key");
  return client->Run(pipeline).status();
}

Status AskedOfOneThatSays(const std::string& reply) {
  LyingRedis redis([&](const std::string& asked) -> std::string {
    if (asked.find("AUTH") != std::string::npos) return "+OK\r\n";
    if (asked.find("CLUSTER") != std::string::npos) return "-ERR no cluster\r\n";
    return reply;
  });
  return Asked(ClientOf(redis).get());
}

TEST(RedisLimits, RepliesAreAsLongAsWhatWasAsked) {
  EXPECT_TRUE(AskedOfOneThatSays("*3\r\n$1\r\n1\r\n$-1\r\n$2\r\n12\r\n").ok());
  const std::string deep = "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n";
  for (const std::string& reply :
       {std::string("*10000000\r\n"), std::string("*2000000000\r\n:1\r\n"), deep,
        std::string("*2\r\n*2\r\n:1\r\n:1\r\n*2\r\n:1\r\n:1\r\n"),
        "$2000000000\r\n" + std::string(200'000, 'x'), "+" + std::string(200'000, 'x'),
        "-" + std::string(200'000, 'x'), "*3\r\n$2000000000\r\n" + std::string(200'000, 'x')}) {
    const Status status = AskedOfOneThatSays(reply);
    EXPECT_EQ(status.code(), StatusCode::kUnavailable) << reply.substr(0, 40);
    EXPECT_NE(status.message().find("more than was asked for"), std::string::npos)
        << reply.substr(0, 40) << ": " << status.ToString();
  }
}

TEST(RedisLimits, AReplyTooManyIsNoReplyToTheNextCommand) {
  LyingRedis redis([](const std::string& asked) -> std::string {
    if (asked.find("AUTH") != std::string::npos) return "+OK\r\n";
    if (asked.find("CLUSTER") != std::string::npos) return "-ERR no cluster\r\n";
    return "*3\r\n:1\r\n:1\r\n:1\r\n*3\r\n:2\r\n:2\r\n:2\r\n";
  });
  const auto client = ClientOf(redis);
  EXPECT_TRUE(Asked(client.get()).ok());
  const Status second = Asked(client.get());
  EXPECT_EQ(second.code(), StatusCode::kUnavailable);
  EXPECT_NE(second.message().find("nobody asked"), std::string::npos) << second.ToString();
  EXPECT_TRUE(Asked(client.get()).ok()) << "a connection of its own";
}

TEST(RedisLimits, ErrorsAreToldInShort) {
  const Status told = AskedOfOneThatSays("-ERR " + std::string(50'000, 'x') + "\r\n");
  EXPECT_TRUE(told.ok()) << "an error is a reply";
  redisReply* const error = static_cast<redisReply*>(calloc(1, sizeof(redisReply)));
  ASSERT_NE(error, nullptr);
  error->type = REDIS_REPLY_ERROR;
  error->len = 50'000;
  error->str = static_cast<char*>(calloc(1, error->len + 1));
  ASSERT_NE(error->str, nullptr);
  std::fill_n(error->str, error->len, 'x');
  EXPECT_LT(Reply(error).status().message().size(), 300u);
}

TEST(RedisLimits, AScanThatStandsStillIsTold) {
  EXPECT_TRUE(GoesOn("0", "0"));
  EXPECT_TRUE(GoesOn("0", "7"));
  EXPECT_TRUE(GoesOn("7", "0"));
  EXPECT_FALSE(GoesOn("7", "7"));
  EXPECT_FALSE(GoesOn("7", ""));
}

/// Reads a key that says it has `length` members, and goes on for ever.
Status ReadOfOneWithoutEnd(const std::string& type, const std::string& length, uint64_t* members) {
  uint64_t cursor = 0;
  LyingRedis redis([&](const std::string& asked) -> std::string {
    const auto asks = [&](const char* word) { return asked.find(word) != std::string::npos; };
    if (asks("AUTH")) return "+OK\r\n";
    if (asks("CLUSTER")) return "-ERR no cluster\r\n";
    if (asks("ZCARD")) return type == "zset" ? length : "-WRONGTYPE no\r\n";
    if (asks("TYPE")) return "+" + type + "\r\n";
    if (asks("LLEN")) return length;
    if (asks("ZSCAN")) {
      const std::string next = std::to_string(++cursor);
      return "*2\r\n$" + std::to_string(next.size()) + "\r\n" + next + "\r\n*0\r\n";
    }
    std::string page = "*2000\r\n";
    for (int i = 0; i < 2'000; ++i) page += "$1\r\na\r\n";
    return page;
  });
  const auto client = ClientOf(redis);
  KeyReader reader(*client);
  const std::vector<std::string> keys = {"k"};
  return reader.Read(keys, [&](const KeyPiece& piece) {
    *members += piece.members.size();
    return Status();
  });
}

TEST(RedisLimits, AKeyThatDoesNotEndIsTold) {
  for (const char* const type : {"list", "zset"}) {
    uint64_t members = 0;
    const Status status = ReadOfOneWithoutEnd(type, ":6000\r\n", &members);
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    EXPECT_NE(status.message().find("does not end"), std::string::npos) << status.ToString();
    EXPECT_LT(members, 130'000u);
    for (const char* const length : {":9223372036854775807\r\n", ":-1\r\n"}) {
      members = 0;
      const Status refused = ReadOfOneWithoutEnd(type, length, &members);
      EXPECT_NE(refused.message().find("more members than"), std::string::npos)
          << refused.ToString();
      EXPECT_EQ(members, 0u);
    }
  }
}

TEST(RedisLimits, AnHonestWalkHasRoom) {
  // A table that was emptied to a tenth, walked while it shrinks, whose key doubles meanwhile.
  WalkLimit limit(100'000, 1'000);
  for (int piece = 0; piece < 1'000; ++piece) EXPECT_TRUE(limit.Take(piece % 10 == 0 ? 4'000 : 0));
  WalkLimit none(0, 1'000);
  EXPECT_TRUE(none.Take(5'000));
}

TEST(RedisLimits, ByCommand) {
  const auto limit = [](std::vector<std::string_view> words) { return LimitOf(words); };
  EXPECT_EQ(limit({"ZMSCORE", "k", "a", "b"}).elements, 4u);
  EXPECT_GT(limit({"ZRANGE", "k", "0", "-1", "WITHSCORES"}).elements, 10'000u);
  EXPECT_GT(limit({"CLUSTER", "SLOTS"}).elements, 16'384u * 8);
  EXPECT_LT(limit({"ZADD", "k", "1", "a"}).bytes, 100'000u);
  EXPECT_LT(limit({}).bytes, 100'000u);
}

TEST(RedisLimits, RedirectionsLeadToNamedNodesAlone) {
  for (const char* const word : {"MOVED", "ASK"}) {
    std::atomic<int> shown{0};
    LyingRedis stranger([&](const std::string& asked) {
      if (asked.find("secret") != std::string::npos) ++shown;
      return std::string("+OK\r\n");
    });
    std::string own;
    LyingRedis redis([&](const std::string& asked) -> std::string {
      if (asked.find("AUTH") != std::string::npos) return "+OK\r\n";
      if (asked.find("SLOTS") == std::string::npos) {
        return "-" + std::string(word) + " 12539 " + stranger.at() + "\r\n";
      }
      return "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:" +
             own.substr(own.rfind(':') + 1) + "\r\n";
    });
    own = redis.at();
    const auto client = ClientOf(redis);
    ASSERT_TRUE(client->is_cluster());
    const Status status = Asked(client.get());
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    EXPECT_NE(status.message().find("CLUSTER SLOTS does not name"), std::string::npos)
        << status.ToString();
    EXPECT_EQ(stranger.connections(), 0);
    EXPECT_EQ(shown, 0);
  }
}

}  // namespace
}  // namespace seendb::redis::SEENDB_TEST_FILE
