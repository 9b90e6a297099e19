// seendb/top_screen.h: what `seendb top` says of a server: rates, slots, buckets. No I/O.

#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "http_client.h"
#include "metrics_text.h"

namespace seendb::tool {

/// Two looks at a server, and what its administrators may see, where the token is theirs.
struct TopLook {
  const MetricsText* before = nullptr;
  const MetricsText* now = nullptr;
  double seconds = 0;             ///< between the two
  const Json* ready = nullptr;    ///< GET /readyz
  const Json* ring = nullptr;     ///< GET /admin/ring; null: not shown to this token
  const Json* buckets = nullptr;  ///< GET /admin/buckets; the same
  double now_s = 0;               ///< the present, in seconds since 1970
};

/// The numbers of the screen, by name; null where one is not known. `slots` and `buckets` are
/// absent where the token may not see them.
Json TopNumbers(const TopLook& look);

/// The same for people. At most `rows` lines of a list; the rest is counted.
std::string TopText(const Json& numbers, size_t rows);

/// The first `rows` lines of `text`, each of `columns` code points at most.
std::string Clipped(const std::string& text, size_t rows, size_t columns);

}  // namespace seendb::tool
