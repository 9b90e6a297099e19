#include "seendb/events.h"

namespace seendb {

std::string_view RefusalReasonName(RefusalReason reason) noexcept {
  switch (reason) {
    case RefusalReason::kTooOld:
      return "too_old";
    case RefusalReason::kInFuture:
      return "in_future";
    case RefusalReason::kSeconds:
      return "seconds";
    case RefusalReason::kErased:
      return "erased";
    case RefusalReason::kCleared:
      return "cleared";
  }
  return "unknown";
}

}  // namespace seendb
