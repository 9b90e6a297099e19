#include "merge/operands_merged.h"

namespace seendb {

uint64_t& OperandsMergedOnThisThread() {
  static thread_local uint64_t operands = 0;
  return operands;
}

}  // namespace seendb
