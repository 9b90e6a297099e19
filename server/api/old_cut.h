// server/api/old_cut.h: what an old store knows of one filter request's candidates.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "migration/question.h"
#include "seendb/events.h"
#include "seendb/status.h"

namespace seendb::api {

/// Takes from a request the candidates that the old store has: they are seen, and the engine is not
/// asked about them. Gives them back when the answer is there.
class OldCut {
 public:
  /// Changes `*request`, which is borrowed until the end. `answer` may be null: nobody was asked.
  OldCut(std::shared_ptr<const migration::OldAnswer> answer, FilterRequest* request);
  OldCut(const OldCut&) = delete;
  OldCut& operator=(const OldCut&) = delete;
  /// The request is as it was.
  ~OldCut();

  /// kUnavailable: the old store did not answer, and the request asks to fail rather than be
  /// degraded.
  Status Check() const;
  /// Makes the request whole again, and the engine's answer to what was left one to it. Where the
  /// old store did not answer it is degraded, missing "old_store".
  void Tell(FilterResponse* response);

 private:
  void TellReasons(FilterResponse* response) const;

  FilterRequest& request_;
  const std::span<const IdRef> items_;
  const seendb::Question* const asked_;  // null: nothing but facts
  const std::shared_ptr<const migration::OldAnswer> answer_;
  std::vector<IdRef> left_;
  std::vector<uint32_t> positions_;      // of each of left_, in items_
  std::vector<CandidateGroups> groups_;  // of each of left_, where candidates have some
  seendb::Question question_;            // with these
};

}  // namespace seendb::api
