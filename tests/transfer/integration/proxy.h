// A door in front of a server, which looks at what the server sends, changes it, or breaks off.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

namespace seendb::transfer {

/// Listens on a port of its own and passes connections on, until it is destroyed.
class Proxy {
 public:
  /// Sees bytes on their way to the client: of which connection, after how many others. False: the
  /// connection is broken off behind half of them.
  using Look = std::function<bool(size_t connection, uint64_t passed, std::string* bytes)>;

  Proxy(uint16_t server, Look look)
      : server_(boost::asio::ip::address_v4::loopback(), server), look_(std::move(look)) {
    Accept();
    thread_ = std::thread([this] { context_.run(); });
  }
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;
  ~Proxy() {
    context_.stop();
    thread_.join();
  }
  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }

 private:
  using tcp = boost::asio::ip::tcp;
  using Error = boost::system::error_code;
  struct Link {
    tcp::socket client, server;
    size_t number;
    uint64_t passed = 0;
    std::array<char, 65'536> up = {}, down = {};
    std::string down_text = {};

    void Break() {
      client.close();
      server.close();
    }
  };

  void Accept() {
    acceptor_.async_accept([this](Error failed, tcp::socket client) {
      if (failed) return;
      auto link =
          std::make_shared<Link>(Link{std::move(client), tcp::socket(context_), connections_++});
      link->server.async_connect(server_, [this, link](Error refused) {
        if (refused) return link->Break();
        Up(link);
        Down(link);
      });
      Accept();
    });
  }
  void Up(const std::shared_ptr<Link>& link) {
    link->client.async_read_some(
        boost::asio::buffer(link->up), [this, link](Error failed, size_t bytes) {
          if (failed) return link->Break();
          boost::asio::async_write(link->server, boost::asio::buffer(link->up, bytes),
                                   [this, link](Error lost, size_t) {
                                     if (lost) return link->Break();
                                     Up(link);
                                   });
        });
  }
  void Down(const std::shared_ptr<Link>& link) {
    link->server.async_read_some(
        boost::asio::buffer(link->down), [this, link](Error failed, size_t bytes) {
          if (failed) return link->Break();
          link->down_text.assign(link->down.data(), bytes);
          const bool whole = look_(link->number, link->passed, &link->down_text);
          link->passed += bytes;
          if (!whole) link->down_text.resize(bytes / 2);
          boost::asio::async_write(link->client, boost::asio::buffer(link->down_text),
                                   [this, link, whole](Error lost, size_t) {
                                     if (lost || !whole) return link->Break();
                                     Down(link);
                                   });
        });
  }

  boost::asio::io_context context_{1};
  const tcp::endpoint server_;
  const Look look_;
  tcp::acceptor acceptor_{context_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)};
  size_t connections_ = 0;
  std::thread thread_;
};

}  // namespace seendb::transfer
