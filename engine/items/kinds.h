// items/kinds.h: numbers the values of a field from 1, in the order in which they come.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "items/condition.h"

namespace seendb::items {

/// See the head of this file.
class Kinds {
 public:
  uint32_t NumberOf(const ItemValueView& value) {
    const Comparable compared = ComparableOf(value);
    if (value.type == ItemFieldType::kText) return Number(compared.second);
    const char* const bytes = reinterpret_cast<const char*>(&compared.first);
    return Number({bytes, sizeof(compared.first)});
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  uint32_t Number(std::string_view key) {
    const auto found = numbers_.find(key);
    if (found != numbers_.end()) return found->second;
    const auto next = static_cast<uint32_t>(numbers_.size() + 1);
    numbers_.emplace(key, next);
    return next;
  }

  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> numbers_;
};

}  // namespace seendb::items
