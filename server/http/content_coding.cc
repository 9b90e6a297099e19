#include "http/content_coding.h"

#include <algorithm>

#include "http/header_list.h"

namespace seendb::http {
namespace {

constexpr int kWholeQ = 1'000;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool Is(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return Lower(a) == b; });
}

/// "0.8" in thousandths: 0 or 1 and at most three digits behind the point.
std::optional<int> ParseQ(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  int q = (text[0] - '0') * kWholeQ;
  int digit_is = kWholeQ / 10;
  for (const char c : text.substr(std::min<size_t>(2, text.size()))) {
    if (c < '0' || c > '9') return std::nullopt;
    q += (c - '0') * digit_is;
    digit_is /= 10;
  }
  return q <= kWholeQ ? std::optional<int>(q) : std::nullopt;
}

/// The q of a member's parameters; 1 where there is none.
std::optional<int> QOf(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view value = CutAt(';', &parameters);
    if (Is(CutAt('=', &value), "q")) return ParseQ(Trim(value));
  }
  return kWholeQ;
}

}  // namespace

std::string_view CodingName(Coding coding) noexcept {
  switch (coding) {
    case Coding::kGzip:
      return "gzip";
    case Coding::kZstd:
      return "zstd";
    case Coding::kIdentity:
      break;
  }
  return "identity";
}

std::optional<Coding> ParseContentEncoding(std::string_view header) noexcept {
  const std::string_view name = Trim(header);
  if (name.empty() || Is(name, "identity")) return Coding::kIdentity;
  if (Is(name, "gzip") || Is(name, "x-gzip")) return Coding::kGzip;
  if (Is(name, "zstd")) return Coding::kZstd;
  return std::nullopt;
}

Coding ChooseCoding(std::string_view accept_encoding) noexcept {
  std::optional<int> gzip, zstd, identity, any;
  while (!accept_encoding.empty()) {
    std::string_view member = CutAt(',', &accept_encoding);
    const std::string_view name = CutAt(';', &member);
    const std::optional<int> q = QOf(member);
    if (!q) continue;
    if (Is(name, "gzip") || Is(name, "x-gzip")) gzip = q;
    if (Is(name, "zstd")) zstd = q;
    if (Is(name, "identity")) identity = q;
    if (name == "*") any = q;
  }
  const int gzip_q = gzip.value_or(any.value_or(0));
  const int zstd_q = zstd.value_or(0);
  const int best = std::max(gzip_q, zstd_q);
  if (best == 0 || identity.value_or(0) > best) return Coding::kIdentity;
  return zstd_q == best ? Coding::kZstd : Coding::kGzip;
}

}  // namespace seendb::http
