#include "api/unsafe_integers.h"

#include <nlohmann/json.hpp>

#include "ops/log.h"

namespace seendb::api {

void UnsafeIntegers::Note(uint64_t count) {
  uint64_t since = 0;
  if (!Count(count, std::chrono::steady_clock::now(), &since)) return;
  ops::Log(ops::LogLevel::kWarn, "unsafe_integers",
           {{"ids", since},
            {"hint",
             "JSON numbers beyond 2^53: callers that keep numbers as doubles send others "
             "than they mean; send ids as text"}});
}

bool UnsafeIntegers::Count(uint64_t count, Time now, uint64_t* since) {
  total_.fetch_add(count, std::memory_order_relaxed);
  const MutexLock lock(mutex_);
  untold_ += count;
  if (now < next_) return false;
  *since = untold_;
  untold_ = 0;
  next_ = now + kPause;
  return true;
}

Status UnsafeIntegers::Judge() const {
  if (!refuses) return Status::Ok();
  return Status::InvalidArgument(
      "a number beyond 2^53, which callers that keep numbers as doubles can't send as they mean "
      "it: send it as text (the setting unsafe_integers)");
}

}  // namespace seendb::api
