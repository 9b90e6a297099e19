// server/http/message.h: a request and a response as plain values, without sockets.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/connection.h"
#include "http/trace_context.h"

namespace seendb::http {

/// The methods the server knows; every other one is kOther.
enum class Method : uint8_t { kGet, kHead, kPost, kPut, kDelete, kOther };

/// A method's name as in the request line ("GET").
std::string_view MethodName(Method method) noexcept;

/// Headers that nodes of a cluster, and clients that know of it, send; as sent, empty: none.
struct RoutingHead {
  std::string user;       ///< SeenDB-User
  std::string position;   ///< SeenDB-Position, several joined by ", "
  std::string route;      ///< SeenDB-Route
  std::string caller;     ///< SeenDB-Caller: who asked the node that passes the request on
  std::string tenant;     ///< SeenDB-Tenant: Ticket::tenant_key there
  std::string proof;      ///< SeenDB-Peer-Proof: that a node of the cluster asks
  std::string all;        ///< every other SeenDB-*: lines "name:value", names in lower case
  int64_t age_ms = 0;     ///< SeenDB-Age-Ms: since its first byte came there
  bool hop = false;       ///< SeenDB-Hop: another node passes it on
  bool failover = false;  ///< SeenDB-Failover: it was passed on because a replica failed

  void Clear();
};

/// The head of a request, after its syntax was checked.
struct RequestHead {
  Method method = Method::kOther;
  std::string target;            ///< as sent
  std::string content_type;      ///< as sent; empty: none
  std::string content_encoding;  ///< as sent; empty: none
  std::string accept;            ///< as sent, several joined by ", "; empty: none
  std::string accept_encoding;   ///< likewise
  std::string host;              ///< as sent; empty: none
  std::string origin;            ///< likewise, several joined by ", "
  std::string fetch_site;        ///< Sec-Fetch-Site, likewise
  std::string authorization;     ///< as sent; a secret: in no log and no answer
  std::string if_none_match;     ///< as sent, several joined by ", "; empty: none
  std::string range;             ///< as sent, several joined by ", "; empty: none
  std::string priority;          ///< SeenDB-Priority, as sent, several joined by ", "
  std::string request_id;        ///< X-Request-Id; empty: none, or none that can be echoed
  TraceContext trace;            ///< traceparent and tracestate, where they are valid
  int64_t timeout_ms = 0;        ///< that the client waits, from its first byte on; 0: not known
  int attempt = 0;               ///< how often it was tried before
  std::string connect_version;   ///< Connect-Protocol-Version, as sent; empty: none
  RoutingHead routing;
  bool expects_continue = false;
  bool http11 = true;
  bool keep_alive = true;
  bool chunked = false;
  std::optional<uint64_t> content_length;
  Connection* connection = nullptr;  ///< that it came by; null: none

  /// True when body bytes follow the head.
  bool HasBody() const { return chunked || content_length.value_or(0) > 0; }
  /// The target up to '?'.
  std::string_view Path() const;
  /// The target behind '?', or nothing.
  std::string_view Query() const;
  /// Back to a fresh head; strings keep their memory.
  void Clear();
};

/// The longest X-Request-Id that is echoed; a longer one is ignored.
inline constexpr size_t kMaxRequestIdBytes = 128;

/// Bytes that may be read (not used) behind every body handed to a handler.
inline constexpr size_t kBodyPadding = 64;

/// How a request waits for something without holding a thread. Owned by its connection. Threads:
/// used by the handler alone; the function of Resume may be called from any thread.
class Waiting {
 public:
  /// What a wait brought.
  struct Came {
    std::shared_ptr<void> given;  ///< null: the wait ended without a value
    int64_t waited_us = 0;        ///< 0: there was no wait
  };
  /// Returns a function that ends the wait and passes a value to Take. Only the first call of the
  /// newest such function counts, and only before the wait has ended; any other call does nothing.
  virtual std::function<void(std::shared_ptr<void>)> Resume() = 0;
  /// What the last wait of this request brought. A second call returns nothing.
  virtual Came Take() = 0;

 protected:
  ~Waiting() = default;
};

/// A request whose body has arrived. Views are borrowed until it is answered.
struct Request {
  const RequestHead& head;
  std::string_view body;       ///< followed by kBodyPadding readable bytes
  Waiting* waiting = nullptr;  ///< null: the handler waits on its thread
  int64_t age_us = 0;  ///< since its first byte came, to whichever node; told anew by a Turn
};

/// An answer. Reuse one object across requests to save its allocations.
struct Response {
  unsigned status = 200;
  std::string body;
  std::string_view content_type = "application/json";
  std::string_view content_encoding;  ///< what `body` is compressed by; empty: it is not
  std::string allow;                  ///< the Allow header of a 405
  int retry_after_s = 0;              ///< the Retry-After header; 0: none
  std::string headers;                ///< more of them, each as "\r\nName: value"; must be clean
  bool close = false;                 ///< close the connection afterwards
  /// Of an error: Error::code, a literal, for logs and metrics.
  std::string_view error_code = {};
  /// The application's own, for Service::Done; 0: none.
  uint64_t log_tag = 0;

  /// Back to an empty 200; the body keeps its memory.
  void Clear();
};

}  // namespace seendb::http
