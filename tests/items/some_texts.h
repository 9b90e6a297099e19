// tests/items/some_texts.h: texts of records: in them, or beside them under numbers from 0.

#pragma once

#include <deque>
#include <optional>
#include <string>

#include "items/record.h"

namespace seendb::items {

class SomeTexts final : public Texts {
 public:
  explicit SomeTexts(bool beside) : beside_(beside) {}

  std::optional<uint32_t> NumberFor(uint16_t, std::string_view text) override {
    if (!beside_) return {};
    for (size_t i = 0; i < texts_.size(); ++i) {
      if (texts_[i] == text) return static_cast<uint32_t>(i);
    }
    texts_.emplace_back(text);
    return static_cast<uint32_t>(texts_.size() - 1);
  }
  std::string_view TextOf(uint32_t number) const override { return texts_.at(number); }

 private:
  const bool beside_;
  std::deque<std::string> texts_;
};

}  // namespace seendb::items
