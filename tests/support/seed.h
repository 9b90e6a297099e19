// tests/support/seed.h: the seed of a property test: a new one each run, or SEENDB_SEED's; printed,
// so that a failure can be run again.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace seendb::test {

/// SEENDB_SEED, or else `usual`, or else a random number; printed with the running test's name.
inline uint64_t Seed(std::optional<uint64_t> usual = {}) {
  const uint64_t fresh = (uint64_t{std::random_device()()} << 32) | std::random_device()();
  uint64_t seed = usual.value_or(fresh);
  if (const char* text = std::getenv("SEENDB_SEED")) seed = std::strtoull(text, nullptr, 0);
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::cout << (test ? test->test_suite_name() : "?") << "." << (test ? test->name() : "?")
            << ": SEENDB_SEED=" << seed << std::endl;
  ::testing::Test::RecordProperty("seed", std::to_string(seed));
  return seed;
}

}  // namespace seendb::test
