// server/api/token_watch.h: a body that streams ends when its token is taken out, expires, or
// loses some of its rights, after it began: a stream may last an hour.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/access.h"
#include "http/service.h"

namespace seendb::api {

/// A stream around another, which looks at the caller's token before each piece. Once that no
/// longer has the rights that it had at the beginning, the stream has failed with 401 unauthorized
/// or 403 forbidden: the other takes no more, what it holds back unrecorded is dropped, and what it
/// has recorded stays. Threads: as http::BodyStream.
class TokenWatch final : public http::BodyStream {
 public:
  /// `access` is borrowed; `caller` is of its tokens. `by_name`: the caller is known by the name in
  /// its certificate, and not by a token.
  TokenWatch(const AccessCheck* access, Caller caller, bool by_name,
             std::unique_ptr<http::BodyStream> inner);

  size_t Take(std::string_view bytes, bool last, std::string* out) override;
  bool AnswersAsItGoes() const override { return inner_->AnswersAsItGoes(); }
  bool Failed() const override { return refusal_.has_value() || inner_->Failed(); }
  bool HasMore() const override { return !refusal_ && inner_->HasMore(); }
  void Attend(http::Waiting* waiting) override { inner_->Attend(waiting); }
  bool Later(int64_t* later_us) const override { return !refusal_ && inner_->Later(later_us); }
  size_t HeldBytes() const override { return inner_->HeldBytes(); }
  void Finish(http::Response* response) override;

 private:
  const AccessCheck* const access_;
  const Caller caller_;
  const bool by_name_;
  const std::unique_ptr<http::BodyStream> inner_;
  std::optional<http::Error> refusal_;
};

}  // namespace seendb::api
