#include "items/column.h"

namespace seendb::items {
namespace {

template <typename T>
uint64_t WordAt(const Chunked<std::atomic<T>>& words, uint32_t item) {
  const std::atomic<T>* word = words.Find(item);
  return word == nullptr ? 0 : word->load();
}

template <typename T>
void SetWord(Chunked<std::atomic<T>>* words, uint32_t item, uint64_t word) {
  std::atomic<T>* place = word == 0 ? words->Find(item) : &words->Make(item);
  if (place != nullptr) place->store(static_cast<T>(word));
}

}  // namespace

Column::Column(ItemFieldType type) {
  if (type == ItemFieldType::kBool) {
    narrow_ = std::make_unique<Chunked<std::atomic<uint8_t>>>();
  } else if (type == ItemFieldType::kI64) {
    wide_ = std::make_unique<Chunked<std::atomic<uint64_t>>>();
  } else {
    middle_ = std::make_unique<Chunked<std::atomic<uint32_t>>>();
  }
}

void Column::Set(uint32_t item, uint64_t word) {
  if (narrow_) SetWord(narrow_.get(), item, word);
  if (middle_) SetWord(middle_.get(), item, word);
  if (wide_) SetWord(wide_.get(), item, word);
}

uint64_t Column::Get(uint32_t item) const {
  if (middle_) return WordAt(*middle_, item);
  return wide_ ? WordAt(*wide_, item) : WordAt(*narrow_, item);
}

void Column::Prefetch(uint32_t item) const {
  if (middle_) {
    __builtin_prefetch(middle_->Find(item));
  } else if (wide_) {
    __builtin_prefetch(wide_->Find(item));
  } else {
    __builtin_prefetch(narrow_->Find(item));
  }
}

uint64_t Column::bytes() const {
  if (middle_) return middle_->bytes();
  return wide_ ? wide_->bytes() : narrow_->bytes();
}

}  // namespace seendb::items
