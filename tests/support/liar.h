// tests/support/liar.h: a server that lies: what it is asked is read up to the end of its head, and
// answered with whatever a test says.

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

namespace seendb::test {

/// An answer, sent piece by piece; then the connection is closed.
struct Lie {
  std::vector<std::string> pieces;
  std::chrono::milliseconds pause{0};  ///< behind each piece
};

/// Listens on a port of its own until it is destroyed; clients that are there then are cut off.
class Liar {
 public:
  /// `says`: the answer to a head; called on threads of its own.
  using Says = std::function<Lie(const std::string& head)>;

  explicit Liar(Says says) : says_(std::move(says)), accepting_([this] { Accept(); }) {}
  Liar(const Liar&) = delete;
  Liar& operator=(const Liar&) = delete;
  ~Liar() {
    stopping_ = true;
    boost::system::error_code ignored;
    boost::asio::io_context io;
    tcp::socket(io).connect(acceptor_.local_endpoint(), ignored);
    accepting_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const auto& client : clients_) client->shutdown(tcp::socket::shutdown_both, ignored);
    }
    talks_.clear();
  }

  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  int asked() const { return asked_; }

 private:
  using tcp = boost::asio::ip::tcp;

  void Accept() {
    for (;;) {
      auto client = std::make_shared<tcp::socket>(io_);
      boost::system::error_code failed;
      acceptor_.accept(*client, failed);
      if (failed || stopping_) return;
      const std::lock_guard lock(mutex_);
      clients_.push_back(client);
      talks_.emplace_back([this, client] { Talk(*client); });
    }
  }
  void Talk(tcp::socket& client) {
    std::string head;
    boost::system::error_code failed;
    boost::asio::read_until(client, boost::asio::dynamic_buffer(head), "\r\n\r\n", failed);
    if (failed) return;
    ++asked_;
    const Lie lie = says_(head);
    for (const std::string& piece : lie.pieces) {
      boost::asio::write(client, boost::asio::buffer(piece), failed);
      if (failed || stopping_) return;
      std::this_thread::sleep_for(lie.pause);
    }
    client.shutdown(tcp::socket::shutdown_send, failed);
    // Else what it has not read would take its answer away.
    char rest[4096];
    while (!failed) client.read_some(boost::asio::buffer(rest), failed);
  }

  const Says says_;
  boost::asio::io_context io_;
  tcp::acceptor acceptor_{io_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)};
  std::atomic<bool> stopping_{false};
  std::atomic<int> asked_{0};
  std::mutex mutex_;
  std::vector<std::shared_ptr<tcp::socket>> clients_;
  std::vector<std::jthread> talks_;
  std::thread accepting_;
};

/// A whole answer of HTTP.
inline std::string Answered(const std::string& body, const std::string& status = "200 OK",
                            const std::string& headers = "") {
  return "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// So many arrays in each other.
inline std::string Nested(size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

}  // namespace seendb::test
