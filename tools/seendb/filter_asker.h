// seendb/filter_asker.h: which items of many users are unseen, asked of a folder or of a server.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "database.h"
#include "play_batch.h"

namespace seendb::tool {

/// Items of one user; the answer is put beside them.
struct FilterQuestion {
  std::string user;
  std::vector<std::string> items;
  std::vector<bool> seen;  ///< one per item
  bool degraded = false;   ///< an item that is not seen may be
};
/// Most items of a question.
inline constexpr size_t kQuestionItems = 2'000;

/// Threads: one.
class FilterAsker {
 public:
  virtual ~FilterAsker() = default;
  /// Answers all questions.
  virtual Status Ask(std::vector<FilterQuestion>* questions) = 0;
};

/// Of an open database, which must outlive it. Only facts of this kind count.
std::unique_ptr<FilterAsker> MakeFilterAsker(Database& database, std::string collection,
                                             EventKind kind);

}  // namespace seendb::tool
