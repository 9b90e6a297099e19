// seendb/odd_ids.h: ids of a log that are spelled as no system means them: a list where one id
// should be, a number that a spreadsheet or a table of floats wrote, the name of "nothing". They
// are loaded as they are, and the load says so once.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "session.h"

namespace seendb::tool {

/// What is odd about an id.
enum class OddId : uint8_t {
  kInvisible,   ///< a no-break space or a character without width at an end
  kEscape,      ///< `a\tb`, `a\\b`: a backslash as tab-separated output of databases has it
  kList,        ///< "v1 v2", "v1|v2", "[1, 2]": blanks or separators within
  kFloat,       ///< "123.0"
  kScientific,  ///< "1.2E+11"
  kNothing,     ///< "NULL", "NaN", "None", "nil", "undefined", "N/A", in any case
  kQuote,       ///< a quote at one end alone
  kNot,         ///< nothing
};

/// What is odd about `id`: the first of the above that fits.
OddId OddnessOf(std::string_view id);

/// Counts them. Threads: one.
class OddIds {
 public:
  /// Looks at an id of a row.
  void Look(std::string_view id, uint64_t row);
  /// A line for each kind that was found, with the first example: what it is, how many, and what to
  /// do. Empty: none was found.
  std::string ToText() const;
  /// `[{"kind":"list","count":3,"row":1,"example":"v1 v2"}]`.
  Json ToJson() const;

 private:
  struct Found {
    uint64_t count = 0, row = 0;
    std::string example;
  };
  std::array<Found, static_cast<size_t>(OddId::kNot)> found_;
};

}  // namespace seendb::tool
