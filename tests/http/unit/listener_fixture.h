// A service that echoes, a listener in front of it and a blocking client, for tests over real
// sockets.

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admission/admission.h"
#include "http/listener.h"
#include "http/wait.h"

namespace seendb::http {

using std::chrono::milliseconds;

/// Echoes bodies; "/drop" wants none; "/slow", "/slower" and "/slow-probe" wait on a worker
/// of kEngine, kSlow and kProbe until released; "/probe" is answered by kProbe, and is a probe;
/// "/large" may answer much; "/throw" throws;
/// "/lines" streams; "/wait/MS" waits without a thread until it is resumed, MS at the most (0: no
/// limit; "/task?..." does as Wander says), and "/wait-lines" does so before each piece it streams;
/// "/count/N" answers N lines once its body has come, "/fail/N" a failure behind N lines; "/later"
/// is answered by what is given to it ("/later-worker" by a handler of kSlow, "/later-throw" by one
/// that throws once it has asked, "/later-work" by one that works on a worker for 100 ms then);
/// "/healthz" is a probe; "/hold" waits on its I/O thread until released, "/hold-probe" does so
/// without a turn in its lane; "/work" keeps its thread busy for a millisecond; of "/limited" one
/// is taken each second.
class EchoService : public Service {
 public:
  class Lines final : public BodyStream {
   public:
    size_t Take(std::string_view bytes, bool, std::string* out) override {
      out->append(bytes);
      return bytes.size();
    }
    bool AnswersAsItGoes() const override { return true; }
    bool Failed() const override { return false; }
    void Finish(Response*) override {}
  };

  class Counting final : public BodyStream {
   public:
    Counting(int lines, bool fails) : lines_(lines), fails_(fails) {}
    size_t Take(std::string_view bytes, bool last, std::string* out) override {
      if (last && line_ == lines_) failed_ = fails_;
      if (last && line_ < lines_) *out += std::to_string(line_++) + "\n";
      return bytes.size();
    }
    bool AnswersAsItGoes() const override { return true; }
    bool Failed() const override { return failed_; }
    bool HasMore() const override { return line_ < lines_ || (fails_ && !failed_); }
    void Finish(Response* response) override {
      WriteError({503, "unavailable", "no more"}, response);
    }

   private:
    const int lines_;
    const bool fails_;
    int line_ = 0;
    bool failed_ = false;
  };

  class WaitingLines final : public BodyStream {
   public:
    explicit WaitingLines(EchoService* of) : of_(of) {}
    void Attend(Waiting* wait) override { waiting_ = wait; }
    size_t Take(std::string_view bytes, bool, std::string* out) override {
      const Waiting::Came came = waiting_->Take();
      later_ = came.waited_us == 0 && !bytes.empty();
      if (later_) {
        of_->Park(waiting_->Resume());
        return 0;
      }
      out->append(bytes);
      return bytes.size();
    }
    bool AnswersAsItGoes() const override { return true; }
    bool Later(int64_t*) const override { return later_; }
    bool Failed() const override { return false; }
    void Finish(Response*) override {}

   private:
    EchoService* const of_;
    Waiting* waiting_ = nullptr;
    bool later_ = false;
  };

  Plan Begin(const RequestHead& head) override {
    Plan plan;
    plan.route = 0;
    plan.body = BodyMode::kWhole;
    if (head.Path() == "/slow") plan.executor = Executor::kEngine;
    if (head.Path() == "/drop") plan.body = BodyMode::kDiscard;
    if (head.Path() == "/later-worker") plan.executor = Executor::kSlow;
    if (head.Path() == "/throw-slow" || head.Path() == "/slower") plan.executor = Executor::kSlow;
    if (head.Path() == "/probe" || head.Path() == "/slow-probe") plan.executor = Executor::kProbe;
    plan.probe =
        head.Path() == "/probe" || head.Path() == "/healthz" || head.Path() == "/hold-probe";
    if (head.Path() == "/work") plan.ticket.route = 2;
    if (head.Path() == "/limited") plan.ticket.tenant = &limited;
    if (head.Path() == "/hold") {  // what it takes says nothing of what the others do
      plan.ticket.route = 1;
      plan.ticket.cls = admission::Class::kAdmin;
    }
    plan.large = head.Path() == "/large";
    if (head.Path() == "/lines") {
      plan.body = BodyMode::kStream;
      plan.stream = std::make_unique<Lines>();
    }
    if (head.Path() == "/wait-lines") {
      plan.body = BodyMode::kStream;
      plan.stream = std::make_unique<WaitingLines>(this);
    }
    for (const std::string_view path : {"/count/", "/fail/"}) {
      if (!head.Path().starts_with(path)) continue;
      plan.body = BodyMode::kStream;
      plan.executor = Executor::kEngine;
      const int lines = std::stoi(std::string(head.Path().substr(path.size())));
      plan.stream = std::make_unique<Counting>(lines, path == "/fail/");
    }
    if (head.Path() == "/throw-at-once") throw std::runtime_error("thrown");
    if (head.Path() == "/refused") {
      plan.refused = true;
      plan.refusal = {404, "not_found", "no"};
    }
    return plan;
  }
  Task<> Handle(const Plan& plan, const Request& request, Response* response) override {
    if (request.head.Path().starts_with("/task")) return Wander(plan, request, response);
    if (request.head.Path().starts_with("/later")) return AnswerLater(request, response);
    if (request.head.Path().starts_with("/wait/")) return Wait(request, response);
    Answer(request, response);
    return {};
  }
  Task<> AnswerLater(const Request& request, Response* response) {
    const std::string path(request.head.Path());
    response->body = "not this";
    Response told = co_await Given<Response>([this, &path](Give<Response> give) {
      Keep(std::move(give));
      if (path == "/later-throw") throw std::runtime_error("thrown");
    });
    *response = std::move(told);
    if (path == "/later-work" && co_await OnWorker(Executor::kEngine)) {
      std::this_thread::sleep_for(milliseconds(100));
    }
  }
  void Answer(const Request& request, Response* response) {
    if (request.head.Path() == "/work") {
      const auto until = std::chrono::steady_clock::now() + milliseconds(1);
      while (std::chrono::steady_clock::now() < until) continue;
    }
    if (request.head.Path().starts_with("/slow") || request.head.Path().starts_with("/hold")) {
      ++waiting;
      released.wait();
    }
    if (request.head.Path().substr(0, 6) == "/throw") throw std::runtime_error("thrown");
    ++handled;
    response->body = std::string(request.head.target) + ":" + std::string(request.body);
  }
  void Done(const Outcome& outcome) override {
    last_status = outcome.status;
    const std::lock_guard lock(mutex);
    done.push_back({outcome.status, std::string(outcome.error_code), outcome.took, outcome.waited,
                    outcome.worked, outcome.bytes_in, outcome.bytes_out});
  }
  /// What Done was told of a request.
  struct Told {
    unsigned status;
    std::string error_code;
    std::chrono::nanoseconds took, waited, worked;
    uint64_t bytes_in, bytes_out;
  };
  /// Waits until Done was called so many times, and returns the last of these.
  Told DoneOf(size_t count) {
    while (true) {
      {
        const std::lock_guard lock(mutex);
        if (done.size() >= count) return done[count - 1];
      }
      std::this_thread::sleep_for(milliseconds(1));
    }
  }

  Task<> Wait(const Request& request, Response* response) {
    Park(request.waiting->Resume());
    const int64_t limit_ms = std::stoll(std::string(request.head.Path().substr(6)));
    const Waiting::Came came = co_await Resumed(1'000 * limit_ms);
    given += came.given != nullptr;
    co_await Turn(Executor::kInline);
    Answer(request, response);
  }
  void Keep(Give<Response> give) {
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(give));
  }
  /// A task of "/task?..." goes by the letters of its query: 'g' waits for what GivenOne gives, 'w'
  /// goes to a worker, 't' takes a turn of kEngine, 'i' one of its I/O thread, 'x' throws. Tells
  /// where it was: "io" or "worker".
  Task<> Wander(const Plan& plan, const Request& request, Response* response) {
    const Alive here(&alive);
    const std::thread::id began = std::this_thread::get_id();
    const std::string steps(request.head.Query());
    std::string told;
    for (const char step : steps) {
      if (step == 'w' && !co_await OnWorker(Executor::kEngine)) told += "refused ";
      if (step == 't') co_await Turn(Executor::kEngine);
      if (step == 'i') co_await Turn(Executor::kInline);
      if (step == 'g')
        told += co_await Given<std::string>([this](Give<std::string> give) {
          const std::lock_guard lock(mutex);
          gives.push_back(std::move(give));
        });
      if (step == 'x') throw std::runtime_error("thrown");
      if (step == 's') {
        ++waiting;
        released.wait();
      }
      told += std::this_thread::get_id() == began ? " io" : " worker";
    }
    ++handled;
    response->body = told + " " + std::string(request.body) + std::to_string(plan.route);
  }
  /// Waits until a task waits for a value, and takes what gives it.
  Give<std::string> GivenOne() {
    while (true) {
      {
        const std::lock_guard lock(mutex);
        if (!gives.empty()) {
          Give<std::string> first = std::move(gives.front());
          gives.erase(gives.begin());
          return first;
        }
      }
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
  /// Counts tasks that have not ended.
  struct Alive {
    explicit Alive(std::atomic<int>* of) : count(*of) { ++count; }
    Alive(const Alive&) = delete;
    Alive& operator=(const Alive&) = delete;
    ~Alive() { --count; }
    std::atomic<int>& count;
  };
  /// Waits until so many have been kept, and takes these, the first.
  std::vector<Give<Response>> Kept(size_t count) {
    while (true) {
      {
        const std::lock_guard lock(mutex);
        if (kept.size() >= count) {
          const auto end = kept.begin() + static_cast<ptrdiff_t>(count);
          std::vector<Give<Response>> taken(std::make_move_iterator(kept.begin()),
                                            std::make_move_iterator(end));
          kept.erase(kept.begin(), end);
          return taken;
        }
      }
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
  void Park(std::function<void(std::shared_ptr<void>)> resume) {
    const std::lock_guard lock(mutex);
    parked.push_back(std::move(resume));
  }
  /// Waits until so many requests have been parked, and takes what resumes them.
  std::vector<std::function<void(std::shared_ptr<void>)>> Parked(size_t count) {
    while (true) {
      {
        const std::lock_guard lock(mutex);
        if (parked.size() >= count) return std::exchange(parked, {});
      }
      std::this_thread::sleep_for(milliseconds(1));
    }
  }

  std::mutex mutex;
  std::vector<std::function<void(std::shared_ptr<void>)>> parked;
  std::vector<Give<Response>> kept;
  std::vector<Give<std::string>> gives;
  std::atomic<int> alive{0};  ///< tasks
  std::atomic<int> given{0};  ///< of the waits that were resumed
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  std::atomic<int> waiting{0}, handled{0};
  admission::Tenant limited{"limited", 1};
  std::vector<Told> done;
  std::atomic<unsigned> last_status{0};
};

/// A blocking client socket.
class Peer {
 public:
  explicit Peer(const std::string& address) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    const auto parts = ParseHostPort(address);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(parts->second);
    inet_pton(AF_INET, parts->first.c_str(), &to.sin_addr);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  }
  ~Peer() {
    if (fd_ >= 0) close(fd_);
  }
  /// Closes with a reset, as a client does that gives up.
  void Reset() {
    const linger now{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    close(std::exchange(fd_, -1));
  }
  void Send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  /// Reads until `text` has come, the peer closes or `timeout` passes.
  std::string ReadUntil(std::string_view text, milliseconds timeout = milliseconds(10'000)) {
    const auto until = std::chrono::steady_clock::now() + timeout;
    std::string got;
    while (got.find(text) == std::string::npos || text.empty()) {
      const auto left = until - std::chrono::steady_clock::now();
      pollfd waiting{fd_, POLLIN, 0};
      const auto ms = std::chrono::duration_cast<milliseconds>(left).count();
      if (ms <= 0 || poll(&waiting, 1, static_cast<int>(ms)) <= 0) return got + "<timeout>";
      char buffer[65'536];
      const ssize_t count = recv(fd_, buffer, sizeof(buffer), 0);
      if (count <= 0) return got + "<closed>";
      got.append(buffer, static_cast<size_t>(count));
    }
    return got;
  }
  std::string ReadToEnd() { return ReadUntil(""); }

 private:
  int fd_;
};

inline std::string Get(const std::string& path, const std::string& headers = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n";
}
inline std::string Post(const std::string& path, const std::string& body) {
  return "POST " + path + " HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

class ListenerTest : public testing::Test {
 protected:
  void Start(Limits limits = {}, size_t threads = 2) {
    listener_.emplace(&service_, ListenerOptions{.limits = limits,
                                                 .threads = threads,
                                                 .workers = {.engine = 2, .slow = 1, .probe = 1},
                                                 .admission = &admission_});
    ASSERT_EQ(listener_->Open("127.0.0.1", 0), std::nullopt);
    listener_->Start();
  }
  Peer Connect() { return Peer(listener_->address()); }

  EchoService service_;
  admission::Admission admission_;
  std::optional<Listener> listener_;
};

}  // namespace seendb::http
