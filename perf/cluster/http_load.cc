// http_load: RunLoad by itself, for drivers in other languages: sends the requests of a file in
// turn and prints what came back as one line of JSON.
//
//   http_load PORT SECONDS CONNECTIONS FILE    FILE: each request whole, behind its size (u32,
//   little-endian)

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "load/load_generator.h"
#include "scenario/common.h"

namespace {

using seendb::perf::Fail;

std::vector<std::string> ReadRequests(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> requests;
  for (size_t at = 0; at < bytes.size();) {
    uint32_t size = 0;
    if (bytes.size() - at < sizeof(size)) Fail("a file of requests that was cut");
    std::memcpy(&size, bytes.data() + at, sizeof(size));
    at += sizeof(size);
    if (bytes.size() - at < size) Fail("a file of requests that was cut");
    requests.push_back(bytes.substr(at, size));
    at += size;
  }
  if (requests.empty()) Fail("no requests");
  return requests;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) Fail("http_load PORT SECONDS CONNECTIONS FILE");
  const seendb::perf::LoadShape load{.port = static_cast<uint16_t>(std::atoi(argv[1])),
                                     .connections = std::strtoull(argv[3], nullptr, 10),
                                     .seconds = std::strtod(argv[2], nullptr)};
  const seendb::perf::LoadResult result = seendb::perf::RunLoad(load, ReadRequests(argv[4]));
  std::printf(
      "{\"answers\":%llu,\"failures\":%llu,\"last_failure\":%d,\"seconds\":%.6f,\"p50_us\":%.1f,"
      "\"p99_us\":%.1f}\n",
      static_cast<unsigned long long>(result.answers),
      static_cast<unsigned long long>(result.failures), result.last_failure, result.seconds,
      seendb::perf::Quantile(result.latency_us, 0.5),
      seendb::perf::Quantile(result.latency_us, 0.99));
}
