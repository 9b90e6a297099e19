// server/http/reply.h: the answer to a request, for a handler that answers later than it returns.
//
//   void Ask(const Request& request, Peer* peer) {
//     auto reply = std::make_shared<Reply>(request.reply_to->Defer());
//     peer->Ask([reply](std::string text) {  // from any thread, whenever it comes
//       Response response;
//       response.body = std::move(text);
//       reply->Send(std::move(response));
//     });
//   }  // no thread is held meanwhile

#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "http/executor.h"
#include "http/message.h"

namespace seendb::http {

class Reply;

/// The connection of a request, as a handler and its Reply see it.
class ReplyTo {
 public:
  /// The handler answers by the Reply, before or after it returns; what it leaves in `*response` is
  /// dropped. Called by the handler while it runs, at most once. The request's views end, as
  /// always, when the handler returns: what is needed later is copied.
  virtual Reply Defer() = 0;

 protected:
  ~ReplyTo() = default;

 private:
  friend class Reply;
  /// Answers request `number`, unless it was answered otherwise. Any thread.
  virtual void Answer(std::shared_ptr<ReplyTo> self, uint64_t number, Response response) = 0;
  /// False, and `job` is not taken, where the workers take no more. Any thread.
  virtual bool Post(Executor executor, std::function<void()> job) = 0;
};

/// Answers one request exactly once; destroyed unsent, it answers 500. The connection takes no
/// other request meanwhile, so answers stay in order; the request counts as in flight, and no limit
/// of time cuts it off: the holder has to have one. Where the client has left, the answer is
/// dropped. Threads: any one at a time. The Listener must outlive every call; a Reply may outlive
/// the Listener, and then answers nobody.
class Reply {
 public:
  /// Of no request.
  Reply() = default;
  /// For connections: answers request `number` of `to`.
  Reply(std::weak_ptr<ReplyTo> to, uint64_t number);
  Reply(Reply&& other) noexcept;
  Reply& operator=(Reply&& other) noexcept;
  ~Reply();

  /// True while it is to be sent.
  bool pending() const { return pending_; }
  /// Answers. Precondition: pending().
  void Send(Response response);
  /// Runs `job` on the workers of `executor` (not kInline) with this Reply. False, and nothing has
  /// changed, where too many jobs wait for them, they have stopped, or the connection is gone.
  /// Precondition: pending().
  bool Post(Executor executor, std::function<void(Reply)> job);

 private:
  std::weak_ptr<ReplyTo> to_;
  uint64_t number_ = 0;
  bool pending_ = false;
};

}  // namespace seendb::http
