// server/http/probe.h: tells the requests that watch the process from all others by their first
// bytes.

#pragma once

#include <algorithm>
#include <string_view>

namespace seendb::http {

/// What the first bytes of a request say.
enum class FirstBytes : uint8_t {
  kProbe,      ///< GET or HEAD of [/v1]/healthz, /readyz or /metrics
  kOther,      ///< anything else
  kNeedsMore,  ///< it may be either still
};

/// The longest beginning that decides.
inline constexpr size_t kProbeBytes = 32;

/// See the head of this file.
constexpr FirstBytes JudgeFirstBytes(std::string_view bytes) noexcept {
  constexpr std::string_view kMethods[] = {"GET ", "HEAD "};
  constexpr std::string_view kVersions[] = {"", "/v1"};
  constexpr std::string_view kPaths[] = {"/healthz", "/readyz", "/metrics"};
  bool needs_more = bytes.empty();
  for (const std::string_view method : kMethods) {
    for (const std::string_view version : kVersions) {
      for (const std::string_view path : kPaths) {
        std::string_view rest = bytes;
        bool fits = true;
        for (const std::string_view part : {method, version, path}) {
          const size_t most = std::min(part.size(), rest.size());
          fits = fits && rest.substr(0, most) == part.substr(0, most);
          rest.remove_prefix(most);
        }
        if (!fits) continue;
        if (bytes.size() <= method.size() + version.size() + path.size()) {
          needs_more = true;
        } else if (rest.front() == ' ' || rest.front() == '?') {
          return FirstBytes::kProbe;
        }
      }
    }
  }
  return needs_more ? FirstBytes::kNeedsMore : FirstBytes::kOther;
}

}  // namespace seendb::http
