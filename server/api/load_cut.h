// server/api/load_cut.h: what a loaded server leaves out of one filter request's answer.

#pragma once

#include <cstddef>
#include <span>

#include "admission/degrade.h"
#include "seendb/events.h"
#include "seendb/policy.h"

namespace seendb::api {

/// Takes from a request what its collection's policy (`on_load`) and the level of degradation allow
/// to leave out, and gives it back when the answer is there. A request that asks to fail rather
/// than be degraded is left alone. Candidates that are left out are the last ones: they are not
/// examined, and so in no answer.
class LoadCut {
 public:
  /// Changes `*request`, which is borrowed until the end.
  LoadCut(const admission::Degrade& degrade, admission::Priority priority, const LoadPolicy& policy,
          FilterRequest* request);
  LoadCut(const LoadCut&) = delete;
  LoadCut& operator=(const LoadCut&) = delete;
  /// The request is as it was.
  ~LoadCut();

  /// Whether less is asked than was.
  bool cuts() const;
  /// Says in the answer that something was left out: `degraded`, missing "load". False: nothing
  /// was.
  bool Tell(FilterResponse* response) const;

 private:
  FilterRequest& request_;
  const std::span<const IdRef> items_;
  const bool verify_;
};

}  // namespace seendb::api
