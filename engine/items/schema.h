// items/schema.h: the names, types and numbers of an item's fields. A number is never given to
// another field, so that what was stored under it is never read as something else.

#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "items/record.h"

namespace seendb::items {

/// See the head of this file. A value: a store publishes whole ones.
class Schema {
 public:
  struct Numbered {
    ItemField field;
    uint16_t number = 0;
  };

  /// The schema with these fields in place of those it has: same names keep their numbers.
  /// kInvalidArgument, naming the position: too many fields, a name twice or none, another type, a
  /// column of lists, no numbers left.
  Result<Schema> With(const std::vector<ItemField>& fields) const;

  std::string ToJson() const;
  /// kCorruption: the text is not a schema.
  static Result<Schema> FromJson(const std::string& json);

  /// In the order in which they were put.
  const std::vector<Numbered>& fields() const { return fields_; }
  /// By position in fields().
  std::optional<size_t> Find(std::string_view name) const;
  /// The types of all numbers that ever were.
  const Types& types() const { return types_; }
  bool has(uint16_t number) const { return present_[number]; }
  bool is_column(uint16_t number) const { return columns_[number]; }
  /// Whether PutSchema was ever called.
  bool was_put() const { return was_put_; }

 private:
  void Index();

  std::vector<Numbered> fields_;
  std::map<std::string, size_t, std::less<>> by_name_;
  Types types_ = {};
  std::bitset<kMaxItemFields> present_, columns_;
  uint16_t next_ = 0;  // the first number that was never given
  bool was_put_ = false;
};

}  // namespace seendb::items
