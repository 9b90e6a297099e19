// engine/base/utf8.h: is this text UTF-8, or even ASCII?

#pragma once

#include <cstddef>
#include <string_view>

namespace seendb {

/// True for well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing
/// above U+10FFFF. Empty text is well formed. Cost: ASCII is read eight bytes at a time.
bool IsUtf8(std::string_view text) noexcept;

/// The bytes of the first character of `text`, which begins with a byte above 0x7F; 0 where no
/// well-formed one stands there.
size_t Utf8SequenceLength(std::string_view text) noexcept;

/// True when every byte is below 0x80. Cost: a vector of bytes at a time.
bool IsAscii(std::string_view text) noexcept;

/// The longest beginning of `text`, of at most `most` bytes, that cuts no character of UTF-8.
std::string_view Utf8Prefix(std::string_view text, size_t most) noexcept;

}  // namespace seendb
