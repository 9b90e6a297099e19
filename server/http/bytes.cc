#include "http/bytes.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "http/message.h"

namespace seendb::http {

bool MemoryBudget::Take(size_t bytes) noexcept {
  const size_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
  if (before + bytes <= limit_) return true;
  Give(bytes);
  return false;
}

char* Bytes::Reserve(size_t more) {
  if (Room() >= more && data_) return data_.get() + end_;
  const size_t held = size();
  if (data_ && capacity_ >= held + more && begin_ >= held) {  // moving is cheap: no overlap
    std::memcpy(data_.get(), data_.get() + begin_, held);
  } else {
    const size_t doubled = std::min({capacity_ * 2, capacity_ + (16u << 20), expected_});
    size_t wanted = std::max(held + more, doubled);
    if (!budget_->Take(wanted)) {
      wanted = held + more;
      if (wanted > kSmall) return nullptr;
      budget_->Force(wanted);
    }
    std::unique_ptr<char[], Free> grown(static_cast<char*>(std::malloc(wanted + kBodyPadding)));
    if (!grown) {
      budget_->Give(wanted);
      throw std::bad_alloc();
    }
    if (held > 0) std::memcpy(grown.get(), data_.get() + begin_, held);
    budget_->Give(capacity_);
    data_ = std::move(grown);
    capacity_ = wanted;
  }
  begin_ = 0;
  end_ = held;
  return data_.get() + end_;
}

bool Bytes::Append(std::string_view bytes) {
  if (bytes.empty()) return true;
  char* const to = Reserve(bytes.size());
  if (to == nullptr) return false;
  std::memcpy(to, bytes.data(), bytes.size());
  Commit(bytes.size());
  return true;
}

void Bytes::Consume(size_t count) noexcept {
  begin_ += count;
  if (begin_ == end_) begin_ = end_ = 0;
}

void Bytes::Clear(size_t keep) noexcept {
  begin_ = end_ = 0;
  if (capacity_ > keep) Release();
}

void Bytes::Release() noexcept {
  budget_->Give(capacity_);
  data_.reset();
  capacity_ = begin_ = end_ = 0;
}

}  // namespace seendb::http
