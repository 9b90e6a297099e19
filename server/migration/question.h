// server/migration/question.h: what a filter request asks an old store, and what it hears.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace seendb::migration {

/// Which of these items are members of the user's key?
struct Question {
  std::string user;
  std::vector<std::string> items;
  std::chrono::steady_clock::time_point until;  ///< no answer by then is none
};

/// The answer.
struct OldAnswer {
  bool got = false;           ///< false: the old store did not answer in time
  std::vector<bool> members;  ///< got: of each item

  /// Whether it has the item at that position of the question.
  bool Has(size_t position) const { return position < members.size() && members[position]; }
};

/// Takes the answer, on any thread, maybe before the asking call has returned. Quick.
using OnAnswer = std::function<void(std::shared_ptr<const OldAnswer>)>;

}  // namespace seendb::migration
