#include "base/json_pointer.h"

namespace seendb {

std::string PointerTo(std::string_view key) {
  std::string pointer = "/";
  for (const char c : key) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

}  // namespace seendb
