#include "ingest/log_ends.h"

namespace seendb::ingest {
namespace {

constexpr size_t kEndsMost = 64;

}  // namespace

void LogEnds::Reached(Time asked_at) {
  if (!whole_at_ || *whole_at_ < asked_at) whole_at_ = asked_at;
}

void LogEnds::Note(int64_t end, Time asked_at, std::optional<int64_t> next) {
  if (!next) return;
  if (*next >= end) return Reached(asked_at);
  if (!ends_.empty() && (end < ends_.back().offset || asked_at < ends_.back().asked_at)) return;
  if (ends_.empty()) apart_ = {};
  if (!ends_.empty() && asked_at - ends_.back().asked_at < apart_) return;
  if (ends_.size() >= kEndsMost) {
    for (size_t i = 0; 2 * i < ends_.size(); ++i) ends_[i] = ends_[2 * i];
    ends_.resize(ends_.size() / 2);
    apart_ = ends_[1].asked_at - ends_[0].asked_at;
  }
  ends_.push_back({asked_at, end});
}

void LogEnds::Advance(int64_t next) {
  for (; !ends_.empty() && ends_.front().offset <= next; ends_.pop_front()) {
    Reached(ends_.front().asked_at);
  }
}

}  // namespace seendb::ingest
