#include "exit_code.h"

namespace seendb::tool {

const char* const kExitCodeHelp =
    "Exit codes:\n"
    "  0  done\n"
    "  1  failed: the file system refused, or the engine was closed\n"
    "  2  usage: a malformed command line, id, policy or log\n"
    "  3  incompatible: made with other shards, hash, operators or fixed policy, or newer;\n"
    "     a folder that is not the engine's lies where it makes its own\n"
    "  4  damage: stored or compressed bytes failed a check (verify found some)\n"
    "  5  busy: another process has the database open, or the ring is full\n"
    "  6  not found: no such database, collection, bucket or file\n"
    "  7  unavailable: the server can't be reached, or something needed can't be read now\n"
    "  8  rows: load, produce or redis import went through, and more rows were refused or bad "
    "than\n"
    "     --max-refused allows; the others are recorded\n"
    "  9  denied: the server asks for a token (--token-file), or for one that may do this\n"
    "  10  missing: redis compare found items that the old store calls seen and SeenDB does not\n"
    "  130, 143  load was interrupted (SIGINT, SIGTERM); it says how to go on\n";

int ExitCodeOf(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::kOk:
      return 0;
    case StatusCode::kIOError:
    case StatusCode::kClosed:
      return 1;
    case StatusCode::kInvalidArgument:
      return kExitUsage;
    case StatusCode::kIncompatible:
      return 3;
    case StatusCode::kCorruption:
      return 4;
    case StatusCode::kBusy:
      return 5;
    case StatusCode::kNotFound:
      return 6;
    case StatusCode::kUnavailable:
    case StatusCode::kIncomplete:
      return 7;
    case StatusCode::kForbidden:
      return 9;
  }
  return 1;
}

}  // namespace seendb::tool
