#include "api/token_watch.h"

#include <utility>

namespace seendb::api {

TokenWatch::TokenWatch(const AccessCheck* access, Caller caller, bool by_name,
                       std::unique_ptr<http::BodyStream> inner)
    : access_(access), caller_(std::move(caller)), by_name_(by_name), inner_(std::move(inner)) {}

size_t TokenWatch::Take(std::string_view bytes, bool last, std::string* out) {
  if (!refusal_) refusal_ = access_->Recheck(*caller_, by_name_);
  return refusal_ ? bytes.size() : inner_->Take(bytes, last, out);
}

void TokenWatch::Finish(http::Response* response) {
  if (refusal_) return http::WriteError(*refusal_, response);
  inner_->Finish(response);
}

}  // namespace seendb::api
