// Feed serves pages without repeats from a generated catalogue:
//   GET /feed?user=U            {"items": [...]}: the next page, best first
//   POST /watched?user=U&item=I

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <seendb/client.h>

namespace http = boost::beast::http;
using Response = http::response<http::string_body>;

constexpr auto kLastKnown = seendb::client::WhenDegraded::kLastKnown;
constexpr size_t kCatalogueSize = 5'000, kPageSize = 20;
constexpr std::chrono::milliseconds kPageTime{200};  // a feed that answers late is of no use

/// Stands for a recommender: the same for a user each time, best first.
std::vector<seendb::client::Id> Candidates(const std::string& user) {
  std::vector<seendb::client::Id> ids;
  for (size_t n = 0; n < kCatalogueSize; ++n) {
    ids.emplace_back("video-" + std::to_string(10'000 + n).substr(1));
  }
  std::seed_seq seed(user.begin(), user.end());
  std::shuffle(ids.begin(), ids.end(), std::mt19937(seed));
  return ids;
}

/// The value of `name` in the target's query, decoded.
std::string Asked(const std::string& target, const std::string& name) {
  const size_t query = target.find('?');
  const size_t at = ("&" + target.substr(query + 1)).find("&" + name + "=");
  if (query == std::string::npos || at == std::string::npos) return {};
  std::string value, text = target.substr(query + at + name.size() + 2);
  text = text.substr(0, text.find('&'));
  for (size_t i = 0; i < text.size(); ++i) {
    const int byte = text[i] == '%' ? std::stoi(text.substr(i + 1, 2), nullptr, 16) : text[i];
    value += static_cast<char>(byte);
    if (text[i] == '%') i += 2;
  }
  return value;
}

Response Answer(seendb::Client& c, const http::request<http::string_body>& request) try {
  const std::string target(request.target()), user = Asked(target, "user");
  Response response(http::status::ok, request.version());
  if (target.starts_with("/feed?")) {
    std::string items;  // kLastKnown: a page without an answer in time, too
    for (const auto& id : c.FillPage(user, Candidates(user), kPageSize, kLastKnown)) {
      items += (items.empty() ? "\"" : ",\"") + id.Text() + "\"";
    }
    response.set(http::field::content_type, "application/json");
    response.body() = "{\"items\":[" + items + "]}";
  } else if (target.starts_with("/watched?")) {
    c.RecordPlays({{.user = user, .item = Asked(target, "item")}});
  } else {
    response.result(http::status::not_found);
  }
  return response;
} catch (const std::exception& error) {  // "invalid_argument" is the browser's fault
  const auto* const told = dynamic_cast<const seendb::client::Error*>(&error);
  const bool is_theirs = !told || told->code == "invalid_argument";
  return {is_theirs ? http::status::bad_request : http::status::service_unavailable, 11,
          error.what()};
}

int main() {
  const char *const url = std::getenv("SEENDB_URL"), *const port = std::getenv("PORT");
  seendb::client::Options options{.timeout = kPageTime, .connections = 16};
  options.on_call = [](const seendb::client::CallReport& call) {  // a metric, in a real service
    if (call.status != 200 || call.tries > 1) std::cerr << call.name << ": " << call.status << "\n";
  };
  seendb::Client c(url ? url : "http://127.0.0.1:7373", options);
  boost::asio::io_context io;
  const auto number = static_cast<uint16_t>(port ? std::atoi(port) : 0);
  boost::asio::ip::tcp::acceptor door(io, {boost::asio::ip::address_v4::loopback(), number});
  std::cout << "listening on http://127.0.0.1:" << door.local_endpoint().port() << std::endl;
  for (;;) {
    std::thread([&c, socket = door.accept()]() mutable {
      boost::beast::flat_buffer buffer;
      boost::system::error_code error;
      for (bool goes_on = true; goes_on && !error;) {
        http::request<http::string_body> request;
        if (http::read(socket, buffer, request, error); error) return;
        Response response = Answer(c, request);
        response.keep_alive(goes_on = request.keep_alive());
        response.prepare_payload();
        http::write(socket, response, error);
      }
    }).detach();
  }
}
