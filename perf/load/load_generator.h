// load/load_generator.h: loads an HTTP/1.1 server: keep-alive connections, one request on the way
// each (pipelining depth 1), all from one thread.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace seendb::perf {

/// A request of any content type, but for its connection.
struct HttpRequest {
  std::string target;        ///< "/filter"
  std::string content_type;  ///< "application/json"
  std::string accept;        ///< empty: none
  std::string body;
  std::string token = {};    ///< shown as a bearer token; empty: none
  std::string headers = {};  ///< more of them, each "Name: value\r\n"
};

/// The whole POST as bytes.
std::string Encode(const HttpRequest& request);

/// Where and how hard.
struct LoadShape {
  uint16_t port = 0;  ///< on 127.0.0.1
  size_t connections = 4;
  double seconds = 1;
  bool tls = false;                 ///< under TLS; the server's certificate is not looked at
  bool connections_of_one = false;  ///< a connection of its own for each request
};

/// What came back.
struct LoadResult {
  uint64_t answers = 0;   ///< with status 200
  uint64_t failures = 0;  ///< with another
  int last_failure = 0;   ///< its status
  double seconds = 0;
  std::vector<double> latency_us;
};

/// Sends the requests (Encode) in turn until the time is over. A connection whose request
/// is refused ends; one that breaks ends the program.
LoadResult RunLoad(const LoadShape& load, const std::vector<std::string>& requests);

}  // namespace seendb::perf
