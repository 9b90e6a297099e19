// ring/gate.h: many pass together, or one alone.
//
// Writers and drain batches pass a shard's gate together; a rotation, an erasure or a drop closes
// it, waits until those inside have left, and is alone. So a journal write always goes to the
// current slot's family, a drain batch never names a dropped family, and an erasure meets no
// batch half way. Fair: whoever arrives after a closer waits for it. A thread must not pass a
// gate it is already inside.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace seendb {

/// See the head of this file.
class Gate {
 public:
  /// Inside together with others while it lives.
  class Scope {
   public:
    explicit Scope(Gate& gate) : gate_(&gate) { gate.Enter(); }
    Scope(Scope&& other) noexcept : gate_(other.gate_) { other.gate_ = nullptr; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    Scope& operator=(Scope&&) = delete;
    ~Scope() {
      if (gate_ != nullptr) gate_->Leave();
    }

   private:
    Gate* gate_;
  };

  /// Alone while it lives.
  class Exclusive {
   public:
    explicit Exclusive(Gate& gate) : gate_(gate) { gate.Close(); }
    Exclusive(const Exclusive&) = delete;
    Exclusive& operator=(const Exclusive&) = delete;
    ~Exclusive() { gate_.Open(); }

   private:
    Gate& gate_;
  };

 private:
  void Enter() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closers_ == 0; });
    ++inside_;
  }
  void Leave() {
    const std::lock_guard lock(mutex_);
    if (--inside_ == 0 && closers_ > 0) changed_.notify_all();
  }
  void Close() {
    std::unique_lock lock(mutex_);
    ++closers_;
    changed_.wait(lock, [this] { return inside_ == 0 && !alone_; });
    alone_ = true;
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    alone_ = false;
    --closers_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  uint32_t inside_ = 0;
  uint32_t closers_ = 0;
  bool alone_ = false;
};

}  // namespace seendb
