#include "dns.h"

#include <array>
#include <charconv>
#include <memory>
#include <stdexcept>

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <resolv.h>

#include "json.h"

namespace seendb::client::internal {
namespace {

constexpr uint16_t kPort = 53;
constexpr size_t kAnswerBytesMost = 65535;
constexpr int kSrvHead = 6;  // priority, weight, port

[[noreturn]] void GiveUp(const char* why) { throw std::runtime_error(why); }

/// The answer to one question, and a place in it.
class AnswerReader {
 public:
  AnswerReader(const unsigned char* begin, size_t size)
      : begin_(begin), at_(begin + NS_HFIXEDSZ), end_(begin + size) {
    if (size < NS_HFIXEDSZ) GiveUp("the name server's answer is malformed");
  }

  uint16_t CountAt(int offset) const {
    return static_cast<uint16_t>(begin_[offset] << 8 | begin_[offset + 1]);
  }
  uint16_t Read16() {
    Need(2);
    const auto value = static_cast<uint16_t>(at_[0] << 8 | at_[1]);
    at_ += 2;
    return value;
  }
  std::string ReadName() {
    std::array<char, NS_MAXDNAME> name{};
    const int size = dn_expand(begin_, end_, at_, name.data(), name.size());
    if (size < 0) GiveUp("the name server's answer is malformed");
    at_ += size;
    return name.data();
  }
  void Skip(size_t size) {
    Need(size);
    at_ += size;
  }
  const unsigned char* at() const { return at_; }

 private:
  void Need(size_t size) const {
    if (static_cast<size_t>(end_ - at_) < size) GiveUp("the name server's answer is malformed");
  }

  const unsigned char* const begin_;
  const unsigned char* at_;
  const unsigned char* const end_;
};

/// Asks, and calls `read` at the data of each record of that type.
template <typename Read>
void AskServer(const std::string& address, uint16_t port, const std::string& name, uint16_t type,
               Read read) {
  struct __res_state state = {};
  if (res_ninit(&state) != 0) GiveUp("no name server is known");
  const auto close = [](struct __res_state* one) { res_nclose(one); };
  const std::unique_ptr<struct __res_state, decltype(close)> closing(&state, close);
  if (!address.empty()) {
    state.nscount = 1;
    state.nsaddr_list[0] = {};
    state.nsaddr_list[0].sin_family = AF_INET;
    state.nsaddr_list[0].sin_port = htons(port);
    inet_pton(AF_INET, address.c_str(), &state.nsaddr_list[0].sin_addr);
  }
  state.retrans = 1;  // seconds for each server, twice
  state.retry = 2;
  std::vector<unsigned char> answer(kAnswerBytesMost);
  const int size = res_nquery(&state, (name + ".").c_str(), ns_c_in, type, answer.data(),
                              static_cast<int>(answer.size()));
  if (size < 0) {
    GiveUp(state.res_h_errno == HOST_NOT_FOUND ? "there is no such name"
           : state.res_h_errno == NO_DATA      ? "there is no such record"
                                               : "no name server gives an answer");
  }
  AnswerReader reader(answer.data(), std::min(answer.size(), static_cast<size_t>(size)));
  for (int left = reader.CountAt(4); left > 0; --left) {  // questions
    reader.ReadName();
    reader.Skip(NS_QFIXEDSZ);
  }
  for (int left = reader.CountAt(6); left > 0; --left) {
    reader.ReadName();
    const uint16_t this_type = reader.Read16();
    reader.Skip(NS_RRFIXEDSZ - 4);  // class and time to live
    const uint16_t length = reader.Read16();
    AnswerReader data = reader;
    reader.Skip(length);
    if (this_type == type) read(data, length);
  }
}

}  // namespace

NameServer::NameServer(const std::string& place) {
  if (place.empty()) return;
  const size_t colon = std::min(place.find(':'), place.size());
  address_ = place.substr(0, colon);
  port_ = kPort;
  const char* const end = place.data() + place.size();
  in_addr read = {};
  const bool has_port = colon < place.size();
  const auto port = std::from_chars(place.data() + colon + (has_port ? 1 : 0), end, port_);
  if (inet_pton(AF_INET, address_.c_str(), &read) != 1 ||
      (has_port && (port.ec != std::errc() || port.ptr != end || port_ == 0))) {
    throw Refuse("/dns", place + " is no address:port of a name server");
  }
}

std::vector<SrvRecord> NameServer::Records(const std::string& name) const {
  std::vector<SrvRecord> records;
  AskServer(address_, port_, name, ns_t_srv, [&](AnswerReader& data, uint16_t length) {
    if (length < kSrvHead) GiveUp("the name server's answer is malformed");
    SrvRecord one{.priority = data.Read16(), .weight = data.Read16(), .port = data.Read16()};
    one.target = data.ReadName();
    records.push_back(std::move(one));
  });
  return records;
}

std::string NameServer::AddressOf(const std::string& host) const {
  if (address_.empty()) return host;
  std::string found = host;
  try {
    AskServer(address_, port_, host, ns_t_a, [&](AnswerReader& data, uint16_t length) {
      if (length != sizeof(in_addr) || found != host) return;
      std::array<char, INET_ADDRSTRLEN> text{};
      inet_ntop(AF_INET, data.at(), text.data(), text.size());
      found = text.data();
    });
  } catch (const std::runtime_error&) {
    return host;
  }
  return found;
}

}  // namespace seendb::client::internal
