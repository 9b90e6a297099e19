#include "items/value.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"

namespace seendb::items {
namespace {

constexpr size_t kI64Bytes = 8;
constexpr size_t kLengthBytes = 2;

void PutOrdered(std::string* out, uint64_t value, size_t bytes) {
  for (size_t i = bytes; i-- > 0;) out->push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t Ordered(std::string_view bytes) {
  uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

Status CheckText(std::string_view text) {
  if (text.size() > kMaxItemBytes) {
    return Status::InvalidArgument("a text of " + std::to_string(text.size()) +
                                   " bytes is longer than an item may be (65536)");
  }
  if (!IsUtf8(text)) return Status::InvalidArgument("a text is UTF-8, this one is not");
  return {};
}

Status CheckEntries(size_t entries) {
  if (entries <= kMaxItemListEntries) return {};
  return Status::InvalidArgument("a list of " + std::to_string(entries) +
                                 " entries is longer than 1000");
}

/// Calls `visit` with each entry of a list of texts; false where its bytes are none.
template <typename Visit>
bool ForEachText(std::string_view bytes, const Visit& visit) {
  while (!bytes.empty()) {
    if (bytes.size() < kLengthBytes) return false;
    const auto length = static_cast<size_t>(Ordered(bytes.substr(0, kLengthBytes)));
    bytes.remove_prefix(kLengthBytes);
    if (bytes.size() < length) return false;
    visit(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return true;
}

struct TypeWithName {
  ItemFieldType type;
  std::string_view name;
};
constexpr TypeWithName kTypeNames[] = {
    {ItemFieldType::kBool, "bool"},        {ItemFieldType::kI64, "i64"},
    {ItemFieldType::kF32, "f32"},          {ItemFieldType::kText, "text"},
    {ItemFieldType::kI64List, "list_i64"}, {ItemFieldType::kTextList, "list_text"}};

}  // namespace

int Compare(const Value& a, const Value& b) {
  if (a.type != b.type) return a.type < b.type ? -1 : 1;
  if (a.number != b.number) return a.number < b.number ? -1 : 1;
  return a.bytes.compare(b.bytes);
}

ItemFieldType TypeOf(const ItemValue& value) {
  return static_cast<ItemFieldType>(value.index() + 1);  // ItemValue names them in this order
}

Result<Value> FromCaller(const ItemValue& value, std::string* scratch) {
  Value made;
  made.type = TypeOf(value);
  switch (made.type) {
    case ItemFieldType::kBool:
      made.number = std::get<bool>(value) ? 1 : 0;
      break;
    case ItemFieldType::kI64:
      made.number = OrderedNumber(std::get<int64_t>(value));
      break;
    case ItemFieldType::kF32:
      if (!std::isfinite(std::get<float>(value))) {
        return Status::InvalidArgument("not a finite number");
      }
      made.number = OrderedReal(std::get<float>(value));
      break;
    case ItemFieldType::kText:
      made.bytes = std::get<std::string>(value);
      if (Status status = CheckText(made.bytes); !status.ok()) return status;
      break;
    case ItemFieldType::kI64List: {
      const auto& list = std::get<std::vector<int64_t>>(value);
      if (Status status = CheckEntries(list.size()); !status.ok()) return status;
      for (const int64_t entry : list) PutOrdered(scratch, OrderedNumber(entry), kI64Bytes);
      made.bytes = *scratch;
      break;
    }
    case ItemFieldType::kTextList: {
      const auto& list = std::get<std::vector<std::string>>(value);
      if (Status status = CheckEntries(list.size()); !status.ok()) return status;
      for (const std::string& entry : list) {
        if (Status status = CheckText(entry); !status.ok()) return status;
        if (entry.size() > UINT16_MAX) return Status::InvalidArgument("an entry is too long");
        PutOrdered(scratch, entry.size(), kLengthBytes);
        scratch->append(entry);
      }
      made.bytes = *scratch;
      break;
    }
  }
  return made;
}

ItemValue ToCaller(const Value& value) {
  switch (value.type) {
    case ItemFieldType::kBool:
      return value.number != 0;
    case ItemFieldType::kI64:
      return NumberOf(value.number);
    case ItemFieldType::kF32:
      return RealOf(static_cast<uint32_t>(value.number));
    case ItemFieldType::kText:
      return std::string(value.bytes);
    case ItemFieldType::kI64List: {
      std::vector<int64_t> list;
      for (size_t at = 0; at + kI64Bytes <= value.bytes.size(); at += kI64Bytes) {
        list.push_back(NumberOf(Ordered(value.bytes.substr(at, kI64Bytes))));
      }
      return list;
    }
    case ItemFieldType::kTextList:
      break;
  }
  std::vector<std::string> list;
  ForEachText(value.bytes, [&](std::string_view entry) { list.emplace_back(entry); });
  return list;
}

bool AnyEntry(ItemFieldType type, std::string_view list,
              const std::function<bool(std::string_view)>& is_it) {
  bool any = false;
  if (type == ItemFieldType::kTextList) {
    ForEachText(list, [&](std::string_view entry) { any = any || is_it(entry); });
    return any;
  }
  for (size_t at = 0; !any && at + kI64Bytes <= list.size(); at += kI64Bytes) {
    any = is_it(list.substr(at, kI64Bytes));
  }
  return any;
}

std::string EntryOf(int64_t number) {
  std::string bytes;
  PutOrdered(&bytes, OrderedNumber(number), kI64Bytes);
  return bytes;
}

bool IsSound(const Value& value) {
  switch (value.type) {
    case ItemFieldType::kBool:
      return value.number <= 1;
    case ItemFieldType::kI64:
      return true;
    case ItemFieldType::kF32:
      return value.number <= UINT32_MAX &&
             std::isfinite(RealOf(static_cast<uint32_t>(value.number)));
    case ItemFieldType::kText:
      return value.bytes.size() <= kMaxItemBytes;
    case ItemFieldType::kI64List:
      return value.bytes.size() % kI64Bytes == 0 &&
             value.bytes.size() / kI64Bytes <= kMaxItemListEntries;
    case ItemFieldType::kTextList: {
      size_t entries = 0;
      return ForEachText(value.bytes, [&](std::string_view) { ++entries; }) &&
             entries <= kMaxItemListEntries;
    }
  }
  return false;
}

std::string_view TypeName(ItemFieldType type) {
  for (const TypeWithName& each : kTypeNames) {
    if (each.type == type) return each.name;
  }
  return "unknown";
}

std::optional<ItemFieldType> TypeOfName(std::string_view name) {
  for (const TypeWithName& each : kTypeNames) {
    if (each.name == name) return each.type;
  }
  return {};
}

}  // namespace seendb::items
