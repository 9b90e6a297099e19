// Prints calls a second of the client and of Boost.Beast for each case: for perf/clients.py, with
// its arguments.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast.hpp>

#include "seendb/client.h"

namespace {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using Call = std::function<void()>;

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A connection, and the request that it makes each time.
struct Bare {
  Bare(const std::string& base, const std::string& path) : socket(io) {
    const size_t colon = base.rfind(':');
    const auto port = static_cast<uint16_t>(std::stoul(base.substr(colon + 1)));
    socket.connect({boost::asio::ip::address_v4::loopback(), port});
    socket.set_option(tcp::no_delay(true));
    const std::string head = TextOf(path + ".head");
    size_t at = head.find('\n');
    request.method(http::verb::post);
    request.target(head.substr(0, at));
    request.set(http::field::host, base.substr(base.find("//") + 2));
    while (++at < head.size()) {
      const size_t end = std::min(head.find('\n', at), head.size()), name_end = head.find(": ", at);
      request.set(head.substr(at, name_end - at), head.substr(name_end + 2, end - name_end - 2));
      at = end;
    }
    request.body() = TextOf(path + ".body");
    request.prepare_payload();
  }

  void Ask() {
    http::write(socket, request);
    http::response<http::string_body> answer;
    http::read(socket, buffer, answer);
    if (answer.result() != http::status::ok || answer.body().empty()) {
      throw std::runtime_error("no answer");
    }
  }

  boost::asio::io_context io;
  tcp::socket socket;
  boost::beast::flat_buffer buffer;
  http::request<http::string_body> request;
};

double Rate(const Call& call, int count) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) call();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return count / took.count();
}

double Median(std::vector<double> rates) {
  const auto half = static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::sort(rates.begin() + half, rates.end());
  return rates[rates.size() / 2 + rates.size() / 4];
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const std::string base = std::getenv("SEENDB_URL");
  const int rounds = std::atoi(arguments[2]);
  seendb::Client client(base, {.timeout = std::chrono::seconds(30)});
  std::vector<uint64_t> numbers;
  for (uint64_t n = 0; n < 5'000; ++n) numbers.push_back(n);
  std::vector<seendb::client::Id> texts;
  for (int n = 0; n < 500; ++n) texts.emplace_back("video-" + std::to_string(n));
  const std::vector<Call> calls = {
      [&] { client.Filter(uint64_t{1}, numbers); },
      [&] { client.Filter("u", texts); },
      [&] { client.RecordPlays({{.user = "p", .item = "v"}}); },
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    if (rounds == 0) {
      calls[i]();
      continue;
    }
    Bare bare(base, std::string(arguments[1]) + "/" + std::to_string(i));
    const int each = std::atoi(arguments[3 + i]);
    std::vector<double> own, others;
    for (int round = 0; round < rounds; ++round) {
      own.push_back(Rate(calls[i], each));
      others.push_back(Rate([&] { bare.Ask(); }, each));
    }
    std::printf("%.1f %.1f\n", Median(own), Median(others));
  }
  return 0;
}
