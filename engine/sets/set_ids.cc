#include "sets/set_ids.h"

#include <algorithm>

#include "base/facts.h"
#include "seendb/set_store.h"

namespace seendb::sets {

Status CheckSetItems(std::span<const IdRef> items) {
  if (items.size() > kMaxSetItems) {
    return Status::InvalidArgument("more than " + std::to_string(kMaxSetItems) + " ids", "/items");
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const Status valid = items[i].Validate();
    if (!valid.ok()) return valid.WithFieldPrefix("/items/" + std::to_string(i));
  }
  return {};
}

std::vector<std::string_view> CanonicalTexts(std::span<const IdRef> items, std::string* digits) {
  const auto numbers =
      std::count_if(items.begin(), items.end(), [](const IdRef& id) { return id.is_number(); });
  digits->reserve(static_cast<size_t>(numbers) * kMaxDecimalDigits);  // it must not move
  std::vector<std::string_view> texts;
  texts.reserve(items.size());
  for (const IdRef& id : items) {
    const size_t begin = digits->size();
    if (id.is_number()) id.AppendTo(digits);
    texts.push_back(id.is_number() ? std::string_view(*digits).substr(begin) : id.text());
  }
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

uint64_t TextBytes(std::span<const std::string_view> ids) {
  uint64_t bytes = 0;
  for (const std::string_view id : ids) bytes += id.size();
  return bytes;
}

}  // namespace seendb::sets
