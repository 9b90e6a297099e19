#include "seendb/status.h"

#include <cassert>
#include <cstdio>
#include <cstdlib>

namespace seendb {

std::string_view StatusCodeName(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kInvalidArgument:
      return "invalid_argument";
    case StatusCode::kNotFound:
      return "not_found";
    case StatusCode::kIncompatible:
      return "incompatible";
    case StatusCode::kCorruption:
      return "corruption";
    case StatusCode::kBusy:
      return "busy";
    case StatusCode::kIOError:
      return "io_error";
    case StatusCode::kUnavailable:
      return "unavailable";
    case StatusCode::kClosed:
      return "closed";
    case StatusCode::kIncomplete:
      return "incomplete";
    case StatusCode::kForbidden:
      return "forbidden";
  }
  return "unknown";
}

Status::Status(StatusCode code, std::string message, std::string field)
    : rep_(std::make_unique<Rep>(Rep{code, std::move(message), std::move(field)})) {
  assert(code != StatusCode::kOk);
}

Status::Status(const Status& other)
    : rep_(other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) rep_ = other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr;
  return *this;
}

Status Status::InvalidArgument(std::string message, std::string field) {
  return {StatusCode::kInvalidArgument, std::move(message), std::move(field)};
}
Status Status::NotFound(std::string message, std::string field) {
  return {StatusCode::kNotFound, std::move(message), std::move(field)};
}
Status Status::Incompatible(std::string message, std::string field) {
  return {StatusCode::kIncompatible, std::move(message), std::move(field)};
}
Status Status::Corruption(std::string message) {
  return {StatusCode::kCorruption, std::move(message)};
}
Status Status::Busy(std::string message) { return {StatusCode::kBusy, std::move(message)}; }
Status Status::IOError(std::string message) { return {StatusCode::kIOError, std::move(message)}; }
Status Status::Unavailable(std::string message) {
  return {StatusCode::kUnavailable, std::move(message)};
}
Status Status::Closed(std::string message) { return {StatusCode::kClosed, std::move(message)}; }

std::string_view Status::message() const noexcept {
  return rep_ ? std::string_view(rep_->message) : std::string_view();
}

std::string_view Status::field() const noexcept {
  return rep_ ? std::string_view(rep_->field) : std::string_view();
}

std::string Status::ToString() const {
  std::string text(StatusCodeName(code()));
  if (ok()) return text;
  text.append(": ").append(rep_->message);
  if (!rep_->field.empty()) text.append(" (at ").append(rep_->field).append(")");
  return text;
}

Status Status::WithFieldPrefix(std::string_view prefix) const {
  Status prefixed(*this);
  if (prefixed.rep_) prefixed.rep_->field.insert(0, prefix);
  return prefixed;
}

void internal::AbortWithoutValue(const Status& failure) noexcept {
  std::fprintf(stderr, "seendb: value() of a Result that failed: %s\n", failure.ToString().c_str());
  std::abort();
}

}  // namespace seendb
