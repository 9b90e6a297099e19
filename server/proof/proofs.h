// server/proof/proofs.h: nodes of a cluster prove to each other that they know its secret, which is
// never sent: the header SeenDB-Peer-Proof of a request. server/doc/cluster-format.md has its
// bytes.
//
//   Proofs proofs("n1");                            // of node n1
//   proofs.SetSecrets({secret});
//   header = proofs.Make(question, body_sha256, "n2");
//   // at n2:
//   if (proofs.Check(header, question).kind == Checked::Kind::kProven && IsBody(header, body)) ...

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "proof/seen_numbers.h"
#include "seendb/status.h"

namespace seendb::proof {

/// The header of a proof, and the scheme of WWW-Authenticate by which a node tells its time.
inline constexpr std::string_view kHeader = "SeenDB-Peer-Proof";
inline constexpr std::string_view kScheme = "SeenDB-Proof";
/// A proof whose time differs by more from that of the node it is for is stale.
inline constexpr int64_t kValidMs = 30'000;
/// A secret, and how many there may be at a time.
inline constexpr size_t kSecretBytesLeast = 16, kSecretBytesMost = 1'024, kSecretsMost = 2;

/// A request, but for its body, as the node that asks and the one that is asked see it alike.
struct Question {
  std::string_view method, target;
  /// "name:value", names in lower case, in any order: see IsProven.
  std::vector<std::string> headers = {};
};

/// Whether a header's value is part of a proof, by its name in lower case.
bool IsProven(std::string_view name);
/// SHA-256 in hexadecimal digits.
std::string Sha256(std::string_view bytes);
/// Whether the body is the one that the proof is of.
bool IsBody(std::string_view proof, std::string_view body);

/// What a proof is worth.
struct Checked {
  enum class Kind : uint8_t {
    kProven,  ///< the node `from` asks, and asks for the first time
    kStale,   ///< somebody who knows the secret has made it: at another time, for another process
              ///< of this node, or for another request
    kNone,    ///< nothing is proven
  };
  Kind kind = Kind::kNone;
  std::string from = {};
  std::string challenge = {};  ///< of a stale one: the value of WWW-Authenticate
};

/// See the head of this file. Threads: any.
class Proofs {
 public:
  using Now = std::function<int64_t()>;
  /// Senders that are remembered at most. A node that is started anew is another one.
  static constexpr size_t kSendersMost = 4'096;

  /// `now_ms`: the time of day, which does not go back; unset: that of this object's beginning, and
  /// what has passed since. `session`: 16 hex digits that no other process has or had; empty: drawn
  /// at random.
  explicit Proofs(std::string node, Now now_ms = {}, std::string session = {});

  /// From now on Make uses the first secret, and Check takes proofs by any of them; at most
  /// kSecretsMost. Without secrets nothing is proven.
  void SetSecrets(std::vector<std::string> secrets);

  /// The header's value, for one sending of a request to the node `to`. The first proof that is
  /// made for a process of that node is stale: Learn is told then what counts there. A sender's
  /// clock may be wrong by any time.
  std::string Make(const Question& question, std::string_view body_sha256,
                   std::string_view to) const;
  /// Takes what a node answered to a stale proof of this one: Make uses that node's time and
  /// session from now on. False: the answer is not by a node that knows the secret.
  bool Learn(std::string_view proof, std::string_view challenge);

  /// Judges a proof; it counts once. The body is checked apart (IsBody).
  Checked Check(std::string_view proof, const Question& question);

 private:
  /// A node that is asked, as it told of itself.
  struct Peer {
    int64_t ahead_ms = 0;  // of this one's clock
    std::string session;
  };
  struct Sender {
    int64_t newest_ms = 0;
    SeenNumbers seen;
  };
  using Secrets = std::shared_ptr<const std::vector<std::string>>;

  Secrets secrets() const;
  bool TakeNumber(const std::string& sender, uint64_t number, int64_t now_ms);

  const std::string node_;
  const Now now_ms_;
  const std::string session_;

  mutable Mutex mutex_{LockRank::kLeaf};
  Secrets secrets_ GUARDED_BY(mutex_);
  mutable uint64_t number_ GUARDED_BY(mutex_) = 0;  // of the last proof
  std::map<std::string, Peer, std::less<>> peers_ GUARDED_BY(mutex_);
  std::map<std::string, std::unique_ptr<Sender>> senders_ GUARDED_BY(mutex_);
};

}  // namespace seendb::proof
