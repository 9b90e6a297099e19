// tests/support/sample.h: which cases of an exhaustive campaign are tried.
//
// SEENDB_SAMPLE=N takes every N-th; all of them unless told. SEENDB_SAMPLE_TURN=T begins with the
// T-th: tools/test gives the day's number, so that in N days each case has been tried.

#pragma once

#include <cstddef>
#include <cstdlib>

namespace seendb::test {

/// One in how many; at least 1.
inline size_t SampleEvery() {
  const char* const text = std::getenv("SEENDB_SAMPLE");
  const size_t every = text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
  return every == 0 ? 1 : every;
}

/// Which of them.
inline size_t SampleTurn() {
  const char* const text = std::getenv("SEENDB_SAMPLE_TURN");
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10) % SampleEvery();
}

/// Is the case with this number among the sample?
inline bool Sampled(size_t number) { return number % SampleEvery() == SampleTurn(); }

/// How many of `count` rounds that differ by their dice alone; rounded up.
inline size_t SampledOf(size_t count) { return (count + SampleEvery() - 1) / SampleEvery(); }

}  // namespace seendb::test
