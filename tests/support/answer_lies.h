// tests/support/answer_lies.h: those of the lies of tests/lies/table.py that any answer of HTTP may
// be, whatever was asked.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/liar.h"

namespace seendb::test {

inline constexpr size_t kMegabyte = 1u << 20;

struct LieRow {
  const char* lie;
  std::string name;
  Lie told;
};

/// `body_bytes`: more than the reader takes. `pause`: behind each piece of the slow answer.
inline std::vector<LieRow> AnswerLies(size_t body_bytes, std::chrono::milliseconds pause) {
  std::string lists = "[";
  for (size_t i = 0; i < 3 * kMegabyte; ++i) lists += "[],";
  std::string noise;
  for (size_t i = 0; i < kMegabyte; ++i) noise += static_cast<char>((i * 2'654'435'761u) >> 13);
  const std::string head_of_99 = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n";
  return {
      {"too_deep", "a body", {{Answered(Nested(2 * kMegabyte))}}},
      {"too_long", "a body", {{Answered(std::string(body_bytes, ' '))}}},
      {"too_long", "a head", {{"HTTP/1.1 200 OK\r\nX: " + std::string(kMegabyte, 'x')}}},
      {"dense", "a body", {{Answered(lists + "0]")}}},
      {"negative_length", "a body", {{"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"}}},
      {"slow", "a body", {{head_of_99, " ", " ", " ", " ", " ", " ", " "}, pause}},
      {"cut", "a body", {{head_of_99 + "{"}}},
      {"cut", "before a byte", {{""}}},
      {"twice", "an answer", {{Answered("{}") + Answered("{}")}}},
      {"out_of_order", "a body first", {{"{}" + Answered("{}")}}},
      {"noise", "of a megabyte", {{noise}}},
      {"noise", "as a body", {{Answered(noise)}}},
  };
}

}  // namespace seendb::test
