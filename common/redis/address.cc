#include "redis/address.h"

#include <array>
#include <charconv>
#include <optional>

namespace seendb::redis {
namespace {

template <typename Number>
bool ReadNumber(std::string_view text, Number low, Number high, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && *number >= low &&
         *number <= high;
}

/// `text` with each %XX as its byte; nothing where a % is followed by anything else.
std::optional<std::string> PercentDecode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    unsigned byte = 0;
    const std::string_view hex = text.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), byte, 16);
    if (hex.size() != 2 || error != std::errc() || end != hex.data() + 2) return {};
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

constexpr uint32_t kDatabaseMax = 1'000'000;

/// What stands behind the credentials: HOST[:PORT][/DB]. What is wrong with it, or nothing.
const char* ReadPlace(std::string_view place, Address* address) {
  const size_t slash = place.find('/');
  if (slash != std::string_view::npos && slash + 1 < place.size()) {
    if (!ReadNumber(place.substr(slash + 1), 0u, kDatabaseMax, &address->database)) {
      return "what follows the slash is the number of a database";
    }
  }
  place = place.substr(0, slash);
  size_t colon = place.rfind(':');
  if (place.starts_with('[')) {
    const size_t close = place.find(']');
    if (close == std::string_view::npos) return "a bracket is open";
    address->target.host = place.substr(1, close - 1);
    colon = close + 1 < place.size() ? close + 1 : std::string_view::npos;
    if (colon != std::string_view::npos && place[colon] != ':') return "write [HOST]:PORT";
  } else {
    address->target.host = place.substr(0, colon);
  }
  if (address->target.host.empty()) return "the host is missing";
  address->target.port =
      colon == std::string_view::npos ? "6379" : std::string(place.substr(colon + 1));
  unsigned port = 0;
  if (!ReadNumber<unsigned>(address->target.port, 1, 65'535, &port)) {
    return "the port is a number from 1 to 65535";
  }
  return nullptr;
}

const char* ReadUnix(std::string_view path, Address* address) {
  if (path.starts_with("//")) path.remove_prefix(2);
  const size_t question = path.find('?');
  if (question != std::string_view::npos) {
    const std::string_view query = path.substr(question + 1);
    if (!query.starts_with("db=") ||
        !ReadNumber(query.substr(3), 0u, kDatabaseMax, &address->database)) {
      return "behind the question mark stands db=N";
    }
  }
  address->target.unix_path = path.substr(0, question);
  return address->target.unix_path.empty() ? "the path is missing; write unix:PATH" : nullptr;
}

const char* ReadCredentials(std::string_view text, Address* address) {
  const size_t colon = text.find(':');
  // Redis's own URLs: "user:password@", ":password@"; "password@" alone is no user.
  const auto user = PercentDecode(colon == std::string_view::npos ? "" : text.substr(0, colon));
  const auto password =
      PercentDecode(colon == std::string_view::npos ? text : text.substr(colon + 1));
  if (!user || !password) return "a % in the user or the password is followed by two hex digits";
  address->user = *user;
  address->password = *password;
  return nullptr;
}

constexpr std::array<uint16_t, 256> MakeCrcTable() {
  std::array<uint16_t, 256> table{};
  for (unsigned i = 0; i < 256; ++i) {
    auto crc = static_cast<uint16_t>(i << 8);
    for (int bit = 0; bit < 8; ++bit) {
      const bool carry = (crc & 0x8000) != 0;
      crc = static_cast<uint16_t>(crc << 1);
      if (carry) crc ^= 0x1021;
    }
    table[i] = crc;
  }
  return table;
}

}  // namespace

std::string Address::ToText() const {
  const std::string db = std::to_string(database);
  if (!target.unix_path.empty()) {
    return "unix:" + target.unix_path + (database == 0 ? "" : "?db=" + db);
  }
  const bool ipv6 = target.host.find(':') != std::string::npos;
  return (target.secure ? "rediss://" : "redis://") +
         (ipv6 ? "[" + target.host + "]" : target.host) + ":" + target.port +
         (database == 0 ? "" : "/" + db);
}

Result<Address> ParseAddress(std::string_view url, std::string_view named_by) {
  Address address;
  const char* wrong = nullptr;
  if (url.starts_with("unix:")) {
    wrong = ReadUnix(url.substr(5), &address);
  } else {
    address.target.secure = url.starts_with("rediss://");
    if (!address.target.secure && !url.starts_with("redis://")) {
      wrong = "write redis://HOST:PORT, rediss://HOST:PORT or unix:PATH";
    } else {
      url.remove_prefix(address.target.secure ? 9 : 8);
      const size_t at = url.rfind('@');  // a password may have one that is not written as %40
      if (at != std::string_view::npos) wrong = ReadCredentials(url.substr(0, at), &address);
      if (wrong == nullptr) {
        wrong = ReadPlace(at == std::string_view::npos ? url : url.substr(at + 1), &address);
      }
    }
  }
  if (wrong != nullptr) return Status::InvalidArgument(std::string(named_by) + ": " + wrong);
  return address;
}

std::string HideCredentials(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t begin = text.find("redis");
    if (begin != std::string_view::npos) begin = text.find("://", begin);
    if (begin == std::string_view::npos) break;
    begin += 3;
    out += text.substr(0, begin);
    text.remove_prefix(begin);
    const size_t at = text.substr(0, text.find_first_of(" \t\r\n'\"`")).rfind('@');
    if (at != std::string_view::npos) text.remove_prefix(at + 1);
  }
  return out += text;
}

uint16_t SlotOf(std::string_view key) noexcept {
  static constexpr std::array<uint16_t, 256> kTable = MakeCrcTable();
  const size_t open = key.find('{');
  if (open != std::string_view::npos) {
    const size_t close = key.find('}', open + 1);
    if (close != std::string_view::npos && close != open + 1) {
      key = key.substr(open + 1, close - open - 1);
    }
  }
  unsigned crc = 0;
  for (const char c : key) {
    crc = ((crc << 8) ^ kTable[((crc >> 8) ^ static_cast<unsigned char>(c)) & 0xff]) & 0xffff;
  }
  return static_cast<uint16_t>(crc % kSlots);
}

}  // namespace seendb::redis
