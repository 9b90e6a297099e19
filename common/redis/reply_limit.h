// redis/reply_limit.h: how much the reply to a command may be. A Redis, or who answers in its
// place, decides neither how much memory a reader takes nor for how long it reads.

#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace seendb::redis {

/// Elements of all its arrays together, and bytes as they are sent.
struct ReplyLimit {
  size_t elements = 0;
  size_t bytes = 0;
};

/// The most that the reply to a command may be: for ZMSCORE by its number of words, for commands
/// that read members by the pieces in which KeyReader reads them, for others little.
ReplyLimit LimitOf(std::span<const std::string_view> words);

}  // namespace seendb::redis
