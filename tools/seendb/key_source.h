// seendb/key_source.h: the keys of an old store, page by page, from a place that can be noted.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "http_client.h"
#include "redis/client.h"
#include "seendb/status.h"

namespace seendb::tool {

/// Keys, and where to go on once they are dealt with.
struct KeyPage {
  std::vector<std::string> keys;
  Json after;            ///< a place for KeySource::GoTo
  double fraction = -1;  ///< of all keys dealt with by then, 0..1; below 0 where nobody knows
};

/// Most keys of a page (SCAN may give some more).
inline constexpr size_t kKeysOfPage = 500;

/// Keys in an order that is the same after a break. A key may come twice; none is left out that is
/// there from the beginning to the end. Threads: one.
class KeySource {
 public:
  virtual ~KeySource() = default;
  /// Begins at a place that a page named `after`; before the first Next.
  virtual Status GoTo(const Json& place) = 0;
  /// The next page, maybe without keys. False: there are no more. kUnavailable: try again.
  virtual Result<bool> Next(KeyPage* page) = 0;
};

/// The keys of all primaries that match a pattern (SCAN). A place holds while the nodes run on with
/// the same slots. A node that was started anew, or got other slots, is walked from its beginning:
/// a cursor of SCAN means nothing there. `client` must outlive it.
std::unique_ptr<KeySource> ScanKeys(redis::Client& client, std::string pattern);

/// The lines of a file; plain, gzip or zstd. kNotFound, kIOError.
Result<std::unique_ptr<KeySource>> FileKeys(const std::string& path);

/// How a topic is read.
struct TopicFlags {
  std::string brokers, topic;
  std::vector<std::string> properties;  ///< "NAME=VALUE" of librdkafka
};
/// The messages of a topic of Kafka, up to what is in it when this is called: the value of each is
/// a key; where it is empty, the message's key. kUnavailable, kNotFound, kInvalidArgument.
Result<std::unique_ptr<KeySource>> TopicKeys(const TopicFlags& flags);

}  // namespace seendb::tool
