// shard/collection.h: a collection as the hot path needs it: looked up once a call, and then
// shared.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "seendb/policy.h"

namespace seendb {

/// Never changed: another policy is another object.
struct Collection {
  std::string name;
  uint16_t id = 0;        ///< of the process: that of its entries in the rings
  uint64_t making = 0;    ///< Making::number
  uint64_t revision = 0;  ///< CollectionRecord::revision
  Policy policy;
};
using CollectionPtr = std::shared_ptr<const Collection>;  ///< never null
using CollectionMap = std::map<std::string, CollectionPtr, std::less<>>;

}  // namespace seendb
