#include "load/open_loop.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <memory>
#include <queue>
#include <string_view>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "scenario/common.h"

namespace seendb::perf {
namespace {

/// One connection, and the request that is under way on it.
struct Client {
  int fd = -1;
  bool busy = false, writes = false;
  size_t kind = 0;
  const std::string* request = nullptr;
  size_t sent = 0;
  double due_s = 0;
  uint64_t number = 0;  // of its request; a timer of another one is void
  int tries_left = 0;
  std::string head;  // of the answer, as far as it came
  bool has_head = false;
  int status = 0;
  size_t left = 0;  // of the answer's body
  bool closes = false;
};

class OpenLoop {
 public:
  OpenLoop(const OpenLoad& load, const std::vector<std::vector<std::string>>& kinds,
           const std::vector<double>& shares)
      : load_(load), kinds_(kinds), shares_(shares), epoll_(epoll_create1(0)), next_(kinds.size()) {
    results_.resize(kinds.size());
  }
  ~OpenLoop() {
    for (const auto& client : clients_) {
      if (client->fd >= 0) close(client->fd);
    }
    close(epoll_);
  }

  std::vector<OpenResult> Run() {
    double due_s = 0;
    uint64_t pending = 0;
    while (true) {
      const double now_s = watch_.Seconds();
      for (; due_s <= now_s && due_s < load_.seconds; due_s += Gap(due_s)) Offer(due_s);
      GiveUp(now_s);
      pending = clients_.size() - idle_.size() - free_.size();
      if (due_s >= load_.seconds && (pending == 0 || timers_.empty())) break;
      const double wait_s = due_s < load_.seconds ? due_s - watch_.Seconds() : 0.005;
      Poll(std::max(0.0, std::min(wait_s, 0.005)));
    }
    return std::move(results_);
  }

 private:
  double Gap(double at_s) {
    const bool burst = load_.burst_s > 0 && at_s - std::floor(at_s) < load_.burst_s;
    const double rate = load_.rate_per_s * (burst ? load_.burst_times : 1);
    return -std::log(1 - Uniform()) / rate;
  }
  double Uniform() { return static_cast<double>(random_.Next() >> 11) * 0x1p-53; }

  size_t PickKind() {
    double at = Uniform();
    for (size_t kind = 0; kind + 1 < shares_.size(); ++kind) {
      if (at < shares_[kind]) return kind;
      at -= shares_[kind];
    }
    return shares_.size() - 1;
  }

  void Offer(double due_s) {
    const size_t kind = PickKind();
    if (!Send(kind, &kinds_[kind][next_[kind]++ % kinds_[kind].size()], due_s, load_.retries)) {
      ++ResultOf(kind, due_s).unsent;
      return;
    }
    OpenResult& result = ResultOf(kind, due_s);
    ++result.offered;
    result.behind_ms.push_back(1e3 * (watch_.Seconds() - due_s));
  }

  OpenResult& ResultOf(size_t kind, double due_s) {
    return due_s < load_.settle_s ? settling_ : results_[kind];
  }

  /// False: there is no connection left.
  bool Send(size_t kind, const std::string* request, double due_s, int tries_left) {
    Client* const client = Connection();
    if (client == nullptr) return false;
    client->busy = true;
    client->kind = kind;
    client->request = request;
    client->tries_left = tries_left;
    client->sent = 0;
    client->due_s = due_s;
    client->number = ++number_;
    client->has_head = false;
    client->head.clear();
    const double from_s = tries_left == load_.retries ? due_s : watch_.Seconds();
    timers_.push({from_s + load_.timeout_s, client->number, client});
    Write(client);
    return true;
  }

  /// Whether the request, which was refused or is late, is sent again. The connection is free.
  bool SendAgain(const Client& ended) {
    return ended.tries_left > 0 &&
           Send(ended.kind, ended.request, ended.due_s, ended.tries_left - 1);
  }

  Client* Connection() {
    while (!idle_.empty()) {
      Client* const client = idle_.back();
      idle_.pop_back();
      if (client->fd >= 0) return client;
      free_.push_back(client);
    }
    if (free_.empty()) {
      if (clients_.size() >= load_.connections_most) return nullptr;
      clients_.push_back(std::make_unique<Client>());
      free_.push_back(clients_.back().get());
    }
    Client* const client = free_.back();
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (client->fd < 0) return nullptr;
    free_.pop_back();
    const int on = 1;
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(load_.port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int begun = connect(client->fd, reinterpret_cast<sockaddr*>(&to), sizeof(to));
    if (begun != 0 && errno != EINPROGRESS) {
      close(client->fd);
      client->fd = -1;
      free_.push_back(client);
      return nullptr;
    }
    epoll_event event{EPOLLIN, {.ptr = client}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, client->fd, &event);
    client->writes = false;
    return client;
  }

  void Watch(Client* client, bool writes) {
    if (client->writes == writes) return;
    client->writes = writes;
    epoll_event event{writes ? static_cast<uint32_t>(EPOLLIN | EPOLLOUT) : EPOLLIN,
                      {.ptr = client}};
    epoll_ctl(epoll_, EPOLL_CTL_MOD, client->fd, &event);
  }

  void Write(Client* client) {
    const std::string& request = *client->request;
    while (client->sent < request.size()) {
      const ssize_t count = send(client->fd, request.data() + client->sent,
                                 request.size() - client->sent, MSG_NOSIGNAL);
      if (count < 0 && (errno == EAGAIN || errno == ENOTCONN)) return Watch(client, true);
      if (count < 0) {
        // The server may have said why before it closed: reading tells.
        client->sent = request.size();
        break;
      }
      client->sent += static_cast<size_t>(count);
    }
    Watch(client, false);
    MaybeEnd(client);  // the answer may have come before
  }

  void Read(Client* client) {
    while (client->fd >= 0) {
      const ssize_t count = recv(client->fd, buffer_, sizeof(buffer_), 0);
      if (count < 0 && errno == EAGAIN) return;
      if (count <= 0) return Broke(client);
      if (!client->busy) return Close(client);  // nothing was asked
      Take(client, {buffer_, static_cast<size_t>(count)});
      if (count < static_cast<ssize_t>(sizeof(buffer_))) return;
    }
  }

  void Take(Client* client, std::string_view bytes) {
    if (!client->has_head) {
      client->head.append(bytes);
      const size_t end = client->head.find("\r\n\r\n");
      if (end == std::string::npos) return;
      const std::string_view head = std::string_view(client->head).substr(0, end + 2);
      std::from_chars(head.data() + 9, head.data() + 12, client->status);
      const size_t at = head.find("Content-Length: ");
      size_t length = 0;
      if (at != head.npos) std::from_chars(head.data() + at + 16, head.data() + end, length);
      client->closes = head.find("Connection: close") != head.npos;
      client->has_head = true;
      bytes.remove_prefix(bytes.size() - (client->head.size() - end - 4));
      client->left = length;
    }
    client->left -= std::min(client->left, bytes.size());
    MaybeEnd(client);
  }

  /// A request has ended once its answer is there, and it was sent wholly.
  void MaybeEnd(Client* client) {
    if (!client->busy || !client->has_head || client->left > 0) return;
    if (client->sent < client->request->size() && !client->closes) return;
    OpenResult& result = ResultOf(client->kind, client->due_s);
    const double ms = 1e3 * (watch_.Seconds() - client->due_s);
    const Client ended = *client;
    client->busy = false;
    client->number = 0;
    if (client->closes) {
      Close(client);
    } else {
      idle_.push_back(client);
    }
    if (ended.status == 200) {
      ++result.answered;
      result.answer_ms.push_back(ms);
    } else if (ended.status == 503 || ended.status == 429) {
      if (SendAgain(ended)) return;
      ++result.refused;
      result.refusal_ms.push_back(ms);
    } else {
      ++result.broken;
    }
  }

  void Broke(Client* client) {
    if (client->busy) ++ResultOf(client->kind, client->due_s).broken;
    Close(client);
  }

  void Close(Client* client) {
    const bool was_idle = !client->busy && client->number == 0;
    close(client->fd);
    client->fd = -1;
    client->busy = false;
    client->number = 0;
    const bool listed = std::find(idle_.begin(), idle_.end(), client) != idle_.end();
    if (!was_idle || !listed) free_.push_back(client);  // else Connection finds it
  }

  void GiveUp(double now_s) {
    while (!timers_.empty() && timers_.front().at_s <= now_s) {
      const Timer timer = timers_.front();
      timers_.pop();
      if (!timer.client->busy || timer.client->number != timer.number) continue;
      const Client ended = *timer.client;
      const linger now{1, 0};
      setsockopt(timer.client->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
      Close(timer.client);
      if (!SendAgain(ended)) ++ResultOf(ended.kind, ended.due_s).late;
    }
  }

  void Poll(double wait_s) {
    epoll_event events[256];
    const timespec wait{0, static_cast<long>(1e9 * wait_s)};
    const int count = epoll_pwait2(epoll_, events, 256, &wait, nullptr);
    for (int i = 0; i < count; ++i) {
      auto* const client = static_cast<Client*>(events[i].data.ptr);
      if (client->fd >= 0 && (events[i].events & EPOLLOUT) != 0 && client->busy) Write(client);
      if (client->fd >= 0 && (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
        Read(client);
      }
    }
  }

  struct Timer {
    double at_s;
    uint64_t number;
    Client* client;
  };

  const OpenLoad load_;
  const std::vector<std::vector<std::string>>& kinds_;
  const std::vector<double> shares_;
  const int epoll_;
  std::vector<size_t> next_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Client*> idle_, free_;
  std::queue<Timer> timers_;  // all timeouts are alike: the first ends first
  uint64_t number_ = 0;
  Random random_{11};
  Stopwatch watch_;
  std::vector<OpenResult> results_;
  OpenResult settling_;  // of what was due before load_.settle_s
  char buffer_[1 << 18];
};

}  // namespace

void OpenResult::Add(const OpenResult& other) {
  offered += other.offered;
  unsent += other.unsent;
  answered += other.answered;
  refused += other.refused;
  late += other.late;
  broken += other.broken;
  answer_ms.insert(answer_ms.end(), other.answer_ms.begin(), other.answer_ms.end());
  refusal_ms.insert(refusal_ms.end(), other.refusal_ms.begin(), other.refusal_ms.end());
  behind_ms.insert(behind_ms.end(), other.behind_ms.begin(), other.behind_ms.end());
}

std::vector<OpenResult> RunOpenLoad(const OpenLoad& load,
                                    const std::vector<std::vector<std::string>>& kinds,
                                    const std::vector<double>& shares) {
  return std::make_unique<OpenLoop>(load, kinds, shares)->Run();
}

}  // namespace seendb::perf
