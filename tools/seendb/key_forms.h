// seendb/key_forms.h: the forms that the user's part of an old store's keys has: `watched:42` and
// `watched:{3}:x` both fit `watched:{user}`, and are hardly both keys of users.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "http_client.h"
#include "redis/keys.h"

namespace seendb::tool {

/// The separators of a user's part, and `*` for what lies between them: of "42" `*`, of "{3}:x"
/// `{*}:*`. What ids have themselves ('-', '.', '_', '@') separates nothing.
std::string FormOf(std::string_view user);

/// Why a key is nobody's: it does not fit the template, its user's part is no id, or is of another
/// form than this one (empty: any); for people. Empty: it is a user's.
std::string WhyNobodys(const std::string& key, const redis::KeyTemplate& users,
                       const std::string& form);

/// Counts keys by form. Memory: kFormsMost forms.
class KeyForms {
 public:
  static constexpr size_t kFormsMost = 100, kFormsTold = 10;

  void Add(std::string_view key, std::string_view user);
  size_t size() const { return forms_.size(); }
  /// The form of most keys; empty: there is none.
  std::string First() const;
  /// `[{"form":"*","keys":998,"example":"watched:42"}]`, most keys first.
  Json ToJson() const;
  /// "998 as watched:42 (*), 2 as watched:{3}:x ({*}:*)"; of kFormsTold at most.
  std::string ToText() const;

 private:
  struct Form {
    uint64_t keys = 0;
    std::string example;
  };
  std::map<std::string, Form> forms_;
};

}  // namespace seendb::tool
