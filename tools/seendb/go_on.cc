#include "go_on.h"

#include "redis/address.h"

namespace seendb::tool {

std::string ShellQuote(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,%+@";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string GoOnLine(const std::vector<std::string>& argv, uint64_t rows) {
  std::string line;
  for (size_t i = 0; i < argv.size(); ++i) {
    if (rows != 0 && argv[i] == "--skip") {
      ++i;  // and its value
      continue;
    }
    if (rows != 0 && argv[i].starts_with("--skip=")) continue;
    line += (line.empty() ? "" : " ") + ShellQuote(redis::HideCredentials(argv[i]));
  }
  return rows == 0 ? line : line + " --skip " + std::to_string(rows);
}

}  // namespace seendb::tool
