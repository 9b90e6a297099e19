// net/stream_target.h: where somebody listens.

#pragma once

#include <string>

#include "seendb/status.h"

namespace seendb::net {

/// See the head of this file.
struct StreamTarget {
  std::string host = {};  ///< a name or an address, without brackets
  std::string port = {};
  bool secure = false;         ///< TLS
  std::string unix_path = {};  ///< a socket of the file system, in place of host and port

  /// "host:port", as HTTP's header Host has it.
  std::string Authority() const;
};

/// `url` is "http://host:port" or "https://host:port". kInvalidArgument ("/url").
Result<StreamTarget> TargetOf(const std::string& url);

}  // namespace seendb::net
