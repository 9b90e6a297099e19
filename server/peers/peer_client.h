// server/peers/peer_client.h: asks other nodes over HTTP, with TLS or without, and holds no thread
// for it: connections that are kept alive, a bounded number of them, on threads of its own.
//
//   client.Ask({.node = "n2", .url = "http://10.0.0.2:7373", .target = "/filter", .body = body},
//              [](PeerAnswer answer) { ... });  // on one of the client's threads, exactly once

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/client_tls.h"
#include "proof/proofs.h"

namespace seendb::peers {

/// Names and values of headers.
using Headers = std::vector<std::pair<std::string, std::string>>;

/// A body, hashed once, by whoever makes it. Copies share the bytes.
struct PeerBody {
  PeerBody() : sha256(proof::Sha256({})) {}
  PeerBody(std::string text)  // NOLINT(google-explicit-constructor)
      : PeerBody(std::make_shared<const std::string>(std::move(text))) {}
  PeerBody(std::string_view the_bytes, std::shared_ptr<const void> of)
      : bytes(the_bytes), owner(std::move(of)), sha256(proof::Sha256(bytes)) {}

  std::string_view bytes;
  std::shared_ptr<const void> owner;  ///< keeps the bytes alive
  std::string sha256;                 ///< of the bytes, in hexadecimal digits

 private:
  explicit PeerBody(const std::shared_ptr<const std::string>& text) : PeerBody(*text, text) {}
};

/// One question to one node.
struct PeerRequest {
  std::string node;  ///< its name; whoever has another one refuses
  std::string url;   ///< "http://host:port" or "https://host:port"
  std::string method = "POST";
  std::string target;  ///< with the query
  Headers headers = {};
  PeerBody body = {};
  std::chrono::milliseconds timeout{1'000};  ///< for all of it; the wait for a connection included
  bool waits_for_none = false;  ///< gets a connection of its own where all of the node's are busy
};

/// What became of it.
struct PeerAnswer {
  enum class Kind : uint8_t {
    kAnswered,  ///< the rest is the answer
    kRefused,   ///< no connection, or a certificate or a proof was refused: nothing was done
    kBroken,    ///< the connection ended before the answer was whole, or it was none
    kTimedOut,  ///< no answer in time
    kFull,      ///< too much is being asked of the node already: nothing was sent
  };
  Kind kind = Kind::kBroken;
  std::string why = {};  ///< of others than kAnswered, for people
  unsigned status = 0;
  Headers headers = {};  ///< names in lower case
  std::string body = {};

  /// The header's value; empty: there is none.
  std::string_view Header(std::string_view name) const;
};

/// What a client holds at most.
struct PeerClientOptions {
  std::shared_ptr<proof::Proofs> proofs = {};  ///< proves who asks; null: nothing is proven
  net::TlsContext tls = {};                    ///< for addresses of https; null: they are refused
  std::string tls_named_by = {};               ///< where it was named whom `tls` trusts, for people
  bool tls_alone = false;                      ///< addresses of http are refused
  size_t threads = 1;                          ///< each has connections of its own
  size_t connections_most = 64;                ///< to one node, of one thread
  size_t waiting_most = 1'024;  ///< requests to one node that wait for a connection, of one thread
  size_t answer_bytes_most = 64u << 20;
  std::chrono::milliseconds idle{30'000};  ///< a connection that nobody used for so long is closed
};

class PeerThread;

/// See the head of this file. Threads: any.
class PeerClient {
 public:
  using Done = std::function<void(PeerAnswer)>;

  explicit PeerClient(const PeerClientOptions& options);
  /// Stops.
  ~PeerClient();
  PeerClient(const PeerClient&) = delete;
  PeerClient& operator=(const PeerClient&) = delete;

  /// Asks. A request on a kept connection that turns out to be closed is sent once more, on a new
  /// one: requests must be such that a repetition does no harm. `done` must not wait.
  void Ask(PeerRequest request, Done done);
  /// Calls `then` after a while, on one of the client's threads; never, where it stops before.
  void After(std::chrono::milliseconds time, std::function<void()> then);
  /// New connections are made with this; those that are busy go on, idle ones are closed.
  void SetTls(const net::TlsContext& tls);
  /// Ends everything: what is under way is kBroken. Waits for the threads; later calls of Ask are
  /// answered kFull.
  void Stop();

 private:
  std::vector<std::unique_ptr<PeerThread>> threads_;
  std::atomic<size_t> next_{0};
};

}  // namespace seendb::peers
