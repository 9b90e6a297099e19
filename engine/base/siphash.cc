#include "base/siphash.h"

#include <bit>
#include <cstring>
#include <random>

namespace seendb {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they are");

struct SipState {
  std::array<uint64_t, 4> v;

  void Rounds(int count) {
    for (int i = 0; i < count; ++i) {
      v[0] += v[1];
      v[1] = std::rotl(v[1], 13) ^ v[0];
      v[0] = std::rotl(v[0], 32);
      v[2] += v[3];
      v[3] = std::rotl(v[3], 16) ^ v[2];
      v[0] += v[3];
      v[3] = std::rotl(v[3], 21) ^ v[0];
      v[2] += v[1];
      v[1] = std::rotl(v[1], 17) ^ v[2];
      v[2] = std::rotl(v[2], 32);
    }
  }
  void Add(uint64_t word) {
    v[3] ^= word;
    Rounds(2);
    v[0] ^= word;
  }
};

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

HashKey HashKeyOf(const std::array<uint8_t, 16>& bytes) noexcept {
  HashKey key;
  std::memcpy(&key.low, bytes.data(), sizeof(key.low));
  std::memcpy(&key.high, bytes.data() + sizeof(key.low), sizeof(key.high));
  return key;
}

std::optional<std::array<uint8_t, 16>> ParseKeyBytes(std::string_view text) {
  std::array<uint8_t, sizeof(HashKey)> bytes{};
  if (text.size() != 2 * bytes.size()) return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    const int digit = DigitOf(text[i]);
    if (digit < 0) return std::nullopt;
    bytes[i / 2] = static_cast<uint8_t>(bytes[i / 2] << 4 | digit);
  }
  return bytes;
}

std::optional<HashKey> ParseHashKey(std::string_view text) {
  const auto bytes = ParseKeyBytes(text);
  if (!bytes) return std::nullopt;
  return HashKeyOf(*bytes);
}

std::string HashKeyToText(const HashKey& key) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint64_t word : {key.low, key.high}) {
    for (unsigned byte = 0; byte < sizeof(word); ++byte) {
      const uint64_t value = word >> (8 * byte) & 0xFF;
      text.push_back(kDigits[value >> 4]);
      text.push_back(kDigits[value & 15]);
    }
  }
  return text;
}

HashKey RandomHashKey() {
  std::random_device random;
  const auto word = [&random] { return uint64_t{random()} << 32 | random(); };
  return {word(), word()};
}

uint64_t SipHash(const HashKey& key, std::string_view text) noexcept {
  SipState state{{key.low ^ 0x736f6d6570736575ULL, key.high ^ 0x646f72616e646f6dULL,
                  key.low ^ 0x6c7967656e657261ULL, key.high ^ 0x7465646279746573ULL}};
  const uint64_t length = text.size();
  while (text.size() >= sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof(word));
    state.Add(word);
    text.remove_prefix(sizeof(word));
  }
  uint64_t last = length << 56;
  for (size_t i = 0; i < text.size(); ++i) {
    last |= uint64_t{static_cast<uint8_t>(text[i])} << (8 * i);
  }
  state.Add(last);
  state.v[2] ^= 0xff;
  state.Rounds(4);
  return state.v[0] ^ state.v[1] ^ state.v[2] ^ state.v[3];
}

}  // namespace seendb
