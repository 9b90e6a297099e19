// seendb/id.h: the opaque ids of users and items.
//
// An id is 1-255 bytes of UTF-8 text, or an unsigned 64-bit integer. The text "123" (canonical
// decimal: no sign, no leading zero, fits 64 bits) and the integer 123 are one id. An `IdRef`
// borrows text; the bytes must stay alive and unchanged for the call it is passed to.
//
//   seendb::IdRef by_text("v1"), by_number(uint64_t{42}), the_same("42");
//
// Threads: a value. Cost: construction reads at most 20 bytes and never allocates.

#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "seendb/cxx20.h"
#include "seendb/status.h"

namespace seendb {

/// Longest id, in bytes of UTF-8.
inline constexpr size_t kMaxIdBytes = 255;
/// Digits of the largest integer id.
inline constexpr size_t kMaxDecimalDigits = 20;

/// A user or item id, canonical from construction on. A default-made IdRef is empty, which every
/// call of the engine refuses with kInvalidArgument.
class IdRef {
 public:
  /// The empty id.
  constexpr IdRef() noexcept = default;
  /// An integer id.
  constexpr explicit IdRef(uint64_t number) noexcept : number_(number), is_number_(true) {}
  /// A text id, borrowed; canonical decimals become integer ids.
  explicit IdRef(std::string_view text) noexcept
      : data_(text.data()),
        size_(static_cast<uint32_t>(text.size() < UINT32_MAX ? text.size() : UINT32_MAX)) {
    if (size_ - 1 < kMaxDecimalDigits && text.front() <= '9') MakeNumber();
  }
  /// The same of zero-terminated text.
  explicit IdRef(const char* text) noexcept : IdRef(std::string_view(text)) {}
  /// The same of a string.
  explicit IdRef(const std::string& text) noexcept : IdRef(std::string_view(text)) {}

  /// True for an integer id (given as one, or as canonical decimal text).
  constexpr bool is_number() const noexcept { return is_number_; }
  /// The integer. Precondition: is_number().
  constexpr uint64_t number() const noexcept {
    assert(is_number_);
    return number_;
  }
  /// The borrowed text; empty for an integer id.
  constexpr std::string_view text() const noexcept { return {data_, size_}; }
  /// kInvalidArgument for an empty or over-long id or one that is not UTF-8.
  Status Validate() const;
  /// Appends the canonical text form (decimal for integers).
  void AppendTo(std::string* out) const;
  /// The canonical text form.
  std::string ToString() const;

  /// Equal canonical forms.
  friend bool operator==(const IdRef& a, const IdRef& b) noexcept {
    return a.is_number_ == b.is_number_ &&
           (a.is_number_ ? a.number_ == b.number_ : a.text() == b.text());
  }

 private:
  /// Becomes an integer id if the text is a canonical decimal.
  void MakeNumber() noexcept;

  const char* data_ = nullptr;
  uint64_t number_ = 0;
  uint32_t size_ = 0;
  bool is_number_ = false;
};

}  // namespace seendb
