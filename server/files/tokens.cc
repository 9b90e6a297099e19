#include "files/tokens.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/stat.h>

#include "base/whole_file.h"
#include "files/json_keys.h"
#include "files/writers.h"
#include "seendb/policy.h"
#include "times/time_text.h"

namespace seendb::files {
namespace {

constexpr size_t kNameBytes = 64;
constexpr double kMaxRate = 1e9;
constexpr double kMaxBytes = 1e12;
constexpr double kMaxShare = 1'000;

/// A name as it stands in logs and metrics.
Status CheckTokenName(const std::string& name) {
  const bool sound =
      !name.empty() && name.size() <= kNameBytes &&
      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 127; });
  if (sound) return Status::Ok();
  return Status::InvalidArgument("must be 1 to " + std::to_string(kNameBytes) +
                                 " printable characters without spaces");
}

/// The value of a hexadecimal digit; -1: it is none.
int Nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Setter HexDigest(TokenSet::Digest* to) {
  return [=](const Json& value) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    bool sound = text.size() == 2 * to->size();
    for (size_t i = 0; sound && i < to->size(); ++i) {
      const int high = Nibble(text[2 * i]), low = Nibble(text[2 * i + 1]);
      sound = high >= 0 && low >= 0;
      if (sound) (*to)[i] = static_cast<uint8_t>(high << 4 | low);
    }
    return sound
               ? Status::Ok()
               : Status::InvalidArgument("must be 64 hexadecimal digits, the SHA-256 of the token");
  };
}

/// One of `names`, in the order of the enumerators.
template <typename Enum, size_t kCount>
Setter OneOf(Enum* to, const std::array<std::string_view, kCount>& names) {
  return [=](const Json& value) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) {
      std::string known;
      for (const std::string_view name : names) {
        known.append(known.empty() ? "" : ", ").append(name);
      }
      return Status::InvalidArgument("must be one of " + known);
    }
    *to = static_cast<Enum>(found - names.begin());
    return Status::Ok();
  };
}

Setter Positive(double* to, double most) {
  return [=](const Json& value) {
    const double number = value.is_number() ? value.get<double>() : 0;
    if (!(number > 0) || number > most) {
      return Status::InvalidArgument("must be a number above 0");
    }
    *to = number;
    return Status::Ok();
  };
}

/// Milliseconds since 1970, or a date and time with its zone.
Setter Moment(int64_t* to) {
  return [=](const Json& value) {
    std::optional<int64_t> at_ms;
    if (value.is_number_unsigned()) {
      const auto number = value.get<uint64_t>();
      if (number <= static_cast<uint64_t>(kLastTimeMs)) at_ms = static_cast<int64_t>(number);
    } else if (value.is_string()) {
      at_ms = ParseMoment(value.get_ref<const std::string&>());
    }
    if (!at_ms || *at_ms <= 0) {
      return Status::InvalidArgument(
          "must be a date and time with its zone (\"2027-01-31T00:00:00Z\"), or milliseconds since "
          "1970");
    }
    *to = *at_ms;
    return Status::Ok();
  };
}

Setter CollectionNames(std::vector<std::string>* to) {
  return [=](const Json& value) {
    if (value.is_array() && value.empty()) {
      return Status::InvalidArgument("must name a collection; without the key all are reached");
    }
    return TextList(to, kMaxTokens, ValidateCollectionName)(value);
  };
}

constexpr std::array<std::string_view, 4> kRoleNames = {"read", "write", "admin", "filters"};

Setter PriorityName(std::optional<Priority>* to) {
  return [=](const Json& value) {
    Priority priority{};
    const Status read = OneOf(&priority, admission::kPriorityNames)(value);
    if (read.ok()) *to = priority;
    return read;
  };
}

Status ReadToken(const Json& entry, const std::string& at, Token* token, TokenSet::Digest* digest) {
  const auto name = [token](const Json& value) {
    if (!value.is_string()) return Status::InvalidArgument("must be a string");
    token->name = value.get<std::string>();
    return CheckTokenName(token->name);
  };
  const Status read =
      Apply(entry,
            {{"name", name},
             {"sha256", HexDigest(digest)},
             {"role", OneOf(&token->role, kRoleNames)},
             {"collections", CollectionNames(&token->collections)},
             {"expires", Moment(&token->expires_ms)},
             {"requests_per_s", Positive(&token->limits.requests_per_s, kMaxRate)},
             {"decoded_bytes_per_s", Positive(&token->limits.decoded_bytes_per_s, kMaxBytes)},
             {"work_ms_per_s", Positive(&token->limits.work_ms_per_s, kMaxRate)},
             {"priority", PriorityName(&token->priority)},
             {"share", Positive(&token->share, kMaxShare)}},
            at);
  if (!read.ok()) return read;
  for (const char* const key : {"name", "sha256", "role"}) {
    if (!entry.contains(key)) return Status::InvalidArgument("is missing", at + "/" + key);
  }
  return Status::Ok();
}

}  // namespace

std::string_view RoleName(Role role) noexcept { return kRoleNames[static_cast<size_t>(role)]; }

std::optional<int64_t> ParseMoment(std::string_view text) {
  const bool number = text.find_first_not_of("0123456789.") == std::string_view::npos;
  const std::optional<times::TimeRead> read = times::ReadTime(text, {});
  if (number || !read || read->local) return {};
  return read->at_ms;
}

bool Token::Reaches(std::string_view collection) const {
  return collections.empty() ||
         std::find(collections.begin(), collections.end(), collection) != collections.end();
}

bool Token::HasRightsOf(const Token& other) const {
  if (!Includes(role, other.role)) return false;
  if (collections.empty() || other.collections.empty()) return collections.empty();
  return std::all_of(other.collections.begin(), other.collections.end(),
                     [this](const std::string& one) { return Reaches(one); });
}

const Token* TokenSet::Find(std::string_view token) const {
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return FindDigest(digest);
}

const Token* TokenSet::FindDigest(const Digest& digest) const {
  size_t found = tokens.size();
  for (size_t i = 0; i < digests.size(); ++i) {
    const bool same = CRYPTO_memcmp(digests[i].data(), digest.data(), digest.size()) == 0;
    found = same ? i : found;
  }
  return found == tokens.size() ? nullptr : &tokens[found];
}

const Token* TokenSet::FindName(std::string_view name) const {
  const auto found = std::find_if(tokens.begin(), tokens.end(),
                                  [&](const Token& token) { return token.name == name; });
  return found == tokens.end() ? nullptr : &*found;
}

Result<std::shared_ptr<const TokenSet>> ReadTokens(std::string_view json,
                                                   admission::Tenants* tenants) {
  Json document;
  if (Status status = ParseStrictly(json, &document); !status.ok()) return status;
  if (!document.is_array() || document.size() > kMaxTokens) {
    return Status::InvalidArgument("must be a list of at most " + std::to_string(kMaxTokens) +
                                   " tokens");
  }
  auto set = std::make_shared<TokenSet>();
  for (const Json& entry : document) {
    const std::string at = "/" + std::to_string(set->tokens.size());
    Token token;
    TokenSet::Digest digest{};
    if (Status status = ReadToken(entry, at, &token, &digest); !status.ok()) return status;
    if (set->FindName(token.name) != nullptr) {
      return Status::InvalidArgument("another token has this name", at + "/name");
    }
    if (std::find(set->digests.begin(), set->digests.end(), digest) != set->digests.end()) {
      return Status::InvalidArgument("another entry has this token", at + "/sha256");
    }
    token.digest = digest;
    set->tokens.push_back(std::move(token));
    set->digests.push_back(digest);
  }
  for (Token& token : set->tokens) {
    if (tenants == nullptr) break;
    token.tenant = tenants->Named(token.name, token.limits, token.share);
  }
  return std::shared_ptr<const TokenSet>(std::move(set));
}

Result<std::string> ReadTokensText(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) {
    return Status::IOError("can't read " + path + ": " + std::strerror(errno));
  }
  if (Status writers = CheckWriters(path); !writers.ok()) return writers;
  return ReadWholeFile(path, kMaxTokensFileBytes);
}

Status InFile(const std::string& path, const Status& fault) {
  const std::string field(fault.field());
  return Status::InvalidArgument(
      path + ": " + (field.empty() ? "" : field + ": ") + std::string(fault.message()), field);
}

Result<std::shared_ptr<const TokenSet>> LoadTokens(const std::string& path,
                                                   admission::Tenants* tenants) {
  const Result<std::string> text = ReadTokensText(path);
  if (!text.ok()) return text.status();
  auto read = ReadTokens(*text, tenants);
  if (!read.ok()) return InFile(path, read.status());
  return read;
}

}  // namespace seendb::files
