// seendb/go_on.h: the command line that goes on where a load stopped, to be pasted into a shell.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace seendb::tool {

/// `word` as a POSIX shell reads it back.
std::string ShellQuote(std::string_view word);

/// `argv` with `--skip rows` in place of the --skip that it has. With `rows` 0 as it is: the
/// state of --resume knows where to go on. The passwords of URLs of Redis are left out.
std::string GoOnLine(const std::vector<std::string>& argv, uint64_t rows);

}  // namespace seendb::tool
