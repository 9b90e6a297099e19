#include "proof/proofs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <new>
#include <optional>
#include <random>
#include <utility>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "base/clock.h"

namespace seendb::proof {
namespace {

constexpr std::string_view kVersion = "1";
constexpr size_t kParts = 9, kSessionDigits = 16, kDigestDigits = 2 * SHA256_DIGEST_LENGTH;
constexpr int64_t kTimeMost = 253'370'764'800'000;  // the year 9999
constexpr size_t kPeersMost = 4'096;
/// Stands for the session of a node that has not told it yet.
constexpr std::string_view kUnknownSession = "0000000000000000";

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

std::string Hex(const Digest& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(kDigestDigits);
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string Mac(const std::string& secret, std::string_view message) {
  Digest digest{};
  unsigned length = 0;
  const auto* const made = HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                                reinterpret_cast<const unsigned char*>(message.data()),
                                message.size(), digest.data(), &length);
  if (made == nullptr) return {};  // short of memory: what has no MAC is equal to none
  return Hex(digest);
}

/// Takes as long whatever differs. Without a MAC nothing is equal.
bool Equal(std::string_view a, std::string_view b) {
  return a.size() == kDigestDigits && b.size() == kDigestDigits &&
         CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

/// The value of a header of a proof.
struct Proof {
  std::string_view from, to, to_session, session, body_sha256, mac;
  std::string_view made_of = {};  ///< all but the MAC
  int64_t time_ms = 0;
  uint64_t number = 0;
};

template <typename Number>
bool ParseNumber(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<Proof> ParseProof(std::string_view header) {
  std::array<std::string_view, kParts> parts;
  std::string_view rest = header;
  for (size_t i = 0; i < kParts; ++i) {
    const size_t space = rest.find(' ');
    if ((space == std::string_view::npos) != (i + 1 == kParts)) return {};
    parts[i] = rest.substr(0, space);
    if (i + 1 < kParts) rest.remove_prefix(space + 1);
  }
  Proof proof{.from = parts[1],
              .to = parts[2],
              .to_session = parts[3],
              .session = parts[5],
              .body_sha256 = parts[7],
              .mac = parts[8]};
  proof.made_of = header.substr(0, header.size() - proof.mac.size() - 1);
  const bool sound = parts[0] == kVersion && !proof.from.empty() &&
                     ParseNumber(parts[4], &proof.time_ms) && proof.time_ms >= 0 &&
                     proof.time_ms < kTimeMost && proof.session.size() == kSessionDigits &&
                     ParseNumber(parts[6], &proof.number) && proof.number > 0 &&
                     proof.body_sha256.size() == kDigestDigits;
  return sound ? std::optional(proof) : std::nullopt;
}

/// What the MAC of a proof is of.
std::string MessageOf(std::string_view made_of, const Question& question) {
  std::vector<std::string_view> headers(question.headers.begin(), question.headers.end());
  std::sort(headers.begin(), headers.end());
  std::string message = "seendb-proof\n";
  const auto add = [&message](std::string_view line) { message.append(line).append("\n"); };
  add(made_of);
  add(question.method);
  add(question.target);
  for (const std::string_view header : headers) add(header);
  return message;
}

/// The MAC of a node's time and session is of this: an answer to that proof.
std::string TimeMessage(std::string_view proof_mac, std::string_view time_and_session) {
  std::string message("seendb-time\n");
  message.append(proof_mac).append("\n").append(time_and_session);
  return message.append("\n");
}

std::string RandomSession() {
  std::random_device random;
  const uint64_t number = (uint64_t{random()} << 32) | random();
  std::array<char, kSessionDigits + 1> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(number));
  return digits.data();
}

Proofs::Now OfThisMachine() {
  return [wall = SystemClock()->NowMs(), boot = SystemClock()->BootMs()] {
    return wall + (SystemClock()->BootMs() - boot);
  };
}

}  // namespace

bool IsProven(std::string_view name) {
  constexpr std::string_view kOwn = "seendb-", kProof = "seendb-peer-proof";
  return name == "content-type" || (name.starts_with(kOwn) && name != kProof);
}

std::string Sha256(std::string_view bytes) {
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return Hex(digest);
}

bool IsBody(std::string_view proof, std::string_view body) {
  const auto parsed = ParseProof(proof);
  return parsed && parsed->body_sha256 == Sha256(body);
}

Proofs::Proofs(std::string node, Now now_ms, std::string session)
    : node_(std::move(node)),
      now_ms_(now_ms ? std::move(now_ms) : OfThisMachine()),
      session_(session.empty() ? RandomSession() : std::move(session)),
      secrets_(std::make_shared<const std::vector<std::string>>()) {}

void Proofs::SetSecrets(std::vector<std::string> secrets) {
  auto kept = std::make_shared<const std::vector<std::string>>(std::move(secrets));
  const MutexLock lock(mutex_);
  secrets_ = std::move(kept);
}

Proofs::Secrets Proofs::secrets() const {
  const MutexLock lock(mutex_);
  return secrets_;
}

std::string Proofs::Make(const Question& question, std::string_view body_sha256,
                         std::string_view to) const {
  int64_t time_ms = now_ms_();
  uint64_t number = 0;
  Secrets known;
  std::string to_session(kUnknownSession);
  {
    const MutexLock lock(mutex_);
    const auto peer = peers_.find(to);
    if (peer != peers_.end()) {
      time_ms += peer->second.ahead_ms;
      to_session = peer->second.session;
    }
    number = ++number_;
    known = secrets_;
  }
  if (known->empty()) return {};
  std::string proof(kVersion);
  proof.append(" ").append(node_).append(" ").append(to).append(" ").append(to_session).append(" ");
  proof.append(std::to_string(time_ms)).append(" ").append(session_).append(" ");
  proof.append(std::to_string(number)).append(" ").append(body_sha256);
  const std::string mac = Mac(known->front(), MessageOf(proof, question));
  return proof.append(" ").append(mac);
}

bool Proofs::Learn(std::string_view proof, std::string_view challenge) {
  const auto parsed = ParseProof(proof);
  if (!parsed || !challenge.starts_with(kScheme)) return false;
  challenge.remove_prefix(kScheme.size());
  const size_t time_end = challenge.find(' ', 1), told_end = challenge.rfind(' ');
  if (!challenge.starts_with(' ') || time_end == challenge.npos || told_end <= time_end) {
    return false;
  }
  const std::string_view told = challenge.substr(1, told_end - 1);
  const std::string_view session = challenge.substr(time_end + 1, told_end - time_end - 1);
  int64_t time_ms = 0;
  if (!ParseNumber(challenge.substr(1, time_end - 1), &time_ms) || time_ms < 0 ||
      time_ms >= kTimeMost || session.size() != kSessionDigits) {
    return false;
  }
  const std::string_view mac = challenge.substr(told_end + 1);
  const Secrets known = secrets();
  const bool is_nodes = std::any_of(known->begin(), known->end(), [&](const std::string& secret) {
    return Equal(Mac(secret, TimeMessage(parsed->mac, told)), mac);
  });
  if (!is_nodes) return false;
  const int64_t ahead_ms = time_ms - now_ms_();
  const MutexLock lock(mutex_);
  if (peers_.size() >= kPeersMost) peers_.clear();  // they are learned anew
  peers_[std::string(parsed->to)] = {ahead_ms, std::string(session)};
  return true;
}

Checked Proofs::Check(std::string_view header, const Question& question) {
  const auto proof = ParseProof(header);
  if (!proof || proof->to != node_) return {};
  const std::string message = MessageOf(proof->made_of, question);
  const Secrets known = secrets();
  const auto made_by = std::find_if(known->begin(), known->end(), [&](const std::string& secret) {
    return Equal(Mac(secret, message), proof->mac);
  });
  if (made_by == known->end()) return {};
  Checked checked{.kind = Checked::Kind::kProven, .from = std::string(proof->from)};
  const int64_t now_ms = now_ms_();
  const bool fits = proof->to_session == session_ && proof->time_ms >= now_ms - kValidMs &&
                    proof->time_ms <= now_ms + kValidMs;
  const std::string sender = std::string(proof->from).append(" ").append(proof->session);
  if (fits && TakeNumber(sender, proof->number, now_ms)) return checked;
  const std::string told = std::to_string(now_ms).append(" ").append(session_);
  checked.kind = Checked::Kind::kStale;
  checked.challenge = std::string(kScheme).append(" ").append(told).append(" ").append(
      Mac(*made_by, TimeMessage(proof->mac, told)));
  return checked;
}

/// Whether the sender's number came for the first time. Senders are forgotten when everything that
/// they have sent is stale.
bool Proofs::TakeNumber(const std::string& sender, uint64_t number, int64_t now_ms) {
  const MutexLock lock(mutex_);
  auto found = senders_.find(sender);
  if (found == senders_.end()) {
    std::erase_if(senders_, [now_ms](const auto& one) {
      return one.second->newest_ms < now_ms - 3 * kValidMs;
    });
    if (senders_.size() >= kSendersMost) return false;
    found = senders_.emplace(sender, std::make_unique<Sender>()).first;
  }
  found->second->newest_ms = std::max(found->second->newest_ms, now_ms);
  return found->second->seen.Take(number);
}

}  // namespace seendb::proof
