// base/return_if_failed.h: passing a failure on to the caller, in one line.

#pragma once

#include "seendb/status.h"

/// Evaluates an expression of type Status once. A failure is returned by the enclosing function,
/// which returns Status or Result. Not in coroutines.
#define RETURN_IF_FAILED(...)                                                                   \
  do {                                                                                          \
    if (::seendb::Status failure_here = (__VA_ARGS__); !failure_here.ok()) return failure_here; \
  } while (false)
