// tests/support/seed.h: the seed of a property test: another for each tree, or SEENDB_SEED's;
// printed, so that a failure can be run again.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "support/fresh_seed.h"

namespace seendb::test {

/// SEENDB_SEED, or else `usual`, or else a fresh one; printed with the running test's name.
inline uint64_t Seed(std::optional<uint64_t> usual = {}) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string name =
      test ? std::string(test->test_suite_name()) + "." + test->name() : std::string("?");
  uint64_t seed = usual ? *usual : FreshSeed(name);
  if (const char* text = std::getenv("SEENDB_SEED")) seed = std::strtoull(text, nullptr, 0);
  std::cout << name << ": SEENDB_SEED=" << seed << std::endl;
  ::testing::Test::RecordProperty("seed", std::to_string(seed));
  return seed;
}

}  // namespace seendb::test
