// tests/http/unit/coding_sample.h: compressed texts for tests.

#pragma once

#include <random>
#include <string>
#include <string_view>

#include "http/encoder.h"
#include "support/seed.h"

namespace seendb::http {

/// `text` in one gzip member or zstd frame.
inline std::string Encoded(Coding coding, std::string_view text) {
  std::string out;
  Encoder(coding).Put(text, /*end=*/true, &out);
  return out;
}

/// Words of few letters: compresses to about a third.
inline std::string Text(size_t size) {
  std::mt19937_64 random(test::Seed());
  std::string text(size, ' ');
  for (char& c : text) c = "abcdefg\n"[random() % 8];
  return text;
}

/// A zstd frame of `blocks` blocks, each 4 bytes that stand for 128 KB of spaces, which asks for a
/// window of 2^`window_log` bytes.
inline std::string ZstdBomb(size_t blocks, int window_log = 23) {
  std::string frame("\x28\xB5\x2F\xFD\x00", 5);
  frame.push_back(static_cast<char>((window_log - 10) << 3));
  constexpr unsigned kRunOf128K = ((128u << 10) << 3) | (1u << 1);
  for (size_t i = 0; i < blocks; ++i) {
    const unsigned head = kRunOf128K | (i + 1 == blocks ? 1u : 0u);
    for (int shift = 0; shift < 24; shift += 8) frame.push_back(static_cast<char>(head >> shift));
    frame.push_back(' ');
  }
  return frame;
}

}  // namespace seendb::http
