// server/http/bytes.h: a growing byte buffer that is never zero-filled, always readable a little
// beyond its end, and counted against a budget shared by all sessions.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace seendb::http {

/// Bytes that all sessions together may hold. Threads: any.
class MemoryBudget {
 public:
  /// A budget of `limit` bytes.
  explicit MemoryBudget(size_t limit) : limit_(limit) {}
  /// True, and counted, when `bytes` more are allowed.
  bool Take(size_t bytes) noexcept;
  /// Counts `bytes` that are there already, limit or not.
  void Force(size_t bytes) noexcept { used_.fetch_add(bytes, std::memory_order_relaxed); }
  /// True when so much is used that nobody should keep memory for later.
  bool Crowded() const noexcept { return used() > limit_ / 2; }
  /// True when nothing more is allowed.
  bool Full() const noexcept { return used() >= limit_; }
  /// Gives back what was taken.
  void Give(size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  /// Taken and not given back.
  size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

 private:
  const size_t limit_;
  std::atomic<size_t> used_{0};
};

/// Bytes taken at the front and appended at the back. Threads: one at a time.
class Bytes {
 public:
  /// A buffer of up to this size is given whatever the budget says, and counted.
  static constexpr size_t kSmall = 16u << 10;

  /// An empty buffer that asks `budget` (borrowed) for its memory.
  explicit Bytes(MemoryBudget* budget) : budget_(budget) {}
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { Release(); }

  /// What is held, followed by kBodyPadding readable bytes.
  std::string_view view() const noexcept { return {data_.get() + begin_, end_ - begin_}; }
  size_t size() const noexcept { return end_ - begin_; }
  bool empty() const noexcept { return begin_ == end_; }

  /// Room for `more` bytes behind the end, or nullptr when the budget is used up and the buffer
  /// would be larger than kSmall.
  char* Reserve(size_t more);
  /// No more than `total` bytes are expected: do not grow beyond without need.
  void Expect(size_t total) noexcept { expected_ = total; }
  /// Bytes that Reserve can give without allocating or moving.
  size_t Room() const noexcept { return capacity_ - end_; }
  /// The first `count` reserved bytes were written.
  void Commit(size_t count) noexcept { end_ += count; }
  /// Copies `bytes` to the back; false when the budget is used up.
  bool Append(std::string_view bytes);
  /// Forgets `count` bytes at the front.
  void Consume(size_t count) noexcept;
  /// Forgets all, and gives memory beyond `keep` bytes back.
  void Clear(size_t keep) noexcept;

 private:
  struct Free {
    void operator()(char* p) const noexcept { std::free(p); }
  };
  void Release() noexcept;

  MemoryBudget* const budget_;
  std::unique_ptr<char[], Free> data_;
  size_t begin_ = 0, end_ = 0, capacity_ = 0;
  size_t expected_ = SIZE_MAX;
};

}  // namespace seendb::http
