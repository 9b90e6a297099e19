// server/api/united.h: the collections whose facts count in one filter request, where it names
// several.

#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "api/context.h"
#include "seendb/events.h"
#include "seendb/policy.h"

namespace seendb::api {

/// See the head of this file. Threads: one.
class United {
 public:
  /// Finds them: kNotFound of an unknown one, kForbidden of one that the caller does not reach,
  /// with
  /// "/collections/<index>".
  Status Find(const Context& context, const FilterRequest& request, const files::Token* caller);
  /// Their policies, by their places in the request; as good as this object.
  std::vector<const Policy*> policies() const;

 private:
  std::vector<std::shared_ptr<const CatalogEntry>> entries_;
};

/// Whether what counts in the request is of its own collection, too.
bool CountsOwn(const FilterRequest& request);

/// Whether one of the others moves in from an old store that may know more of the user. It is not
/// asked: an answer that names several collections is degraded for it.
bool OldStoreMayKnow(const Context& context, const FilterRequest& request);

}  // namespace seendb::api
