// tests/ingest/integration/wait_for.h: waiting for what a consumer does in its own time.

#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "ingest/consumer.h"

namespace seendb::test {

/// Waits until `reached`; fails after `patience`, with `what` and the state of the consumer.
inline void WaitFor(const ingest::Consumer& consumer, const std::function<bool()>& reached,
                    const char* what, std::chrono::seconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!reached()) {
    ASSERT_LT(std::chrono::steady_clock::now(), until)
        << what << "; " << ops::IngestStateToJson(consumer.State());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace seendb::test
