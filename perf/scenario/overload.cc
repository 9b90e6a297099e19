// Overload: a seendb-server of one thread is asked more than it can answer, by a client that does
// not wait for answers (load/open_loop.h), on the same machine. First the capacity C: answers a
// second to 8 connections that wait. Then requests at multiples of C, and what became of them: the
// share of C that was answered within a second, the rest refused, late or broken; how long
// refusals, answers and probes took; and how soon after the load all is as before.
//
// What the cost of a refusal allows is (1 - k * rho) / (1 - rho) of C at k times C, with rho = that
// cost / the cost of an answer. `rho_most` is what it would be if all the time that answers did not
// take had gone into refusals.

#include <algorithm>
#include <atomic>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load/load_generator.h"
#include "load/open_loop.h"
#include "load/server_process.h"
#include "scenario/all.h"
#include "scenario/world.h"

namespace seendb::perf {
namespace {

constexpr uint64_t kUsers = 32;
constexpr int kDocument = 2'000;

HttpRequest FilterOf(uint64_t user, size_t candidates) {
  Asking asking;
  asking.candidates = candidates;
  HttpRequest request{"/filter", "application/json", "", R"({"user":")" + std::to_string(user)};
  request.body += R"(","items":[)";
  const Question question = Ask(user, asking);
  for (size_t i = 0; i < question.texts.size(); ++i) {
    request.body.append(i == 0 ? "\"" : ",\"").append(question.texts[i]).append("\"");
  }
  request.body += "]}";
  return request;
}

std::vector<std::string> Filters(size_t candidates) {
  std::vector<std::string> requests;
  for (uint64_t user = 0; user < kUsers; ++user) {
    requests.push_back(Encode(FilterOf(user, candidates)));
  }
  return requests;
}

std::vector<std::string> Plays() {
  std::vector<std::string> requests;
  Random random(5);
  for (int d = 0; d < 64; ++d) {
    HttpRequest request{"/plays", "application/json", "", R"({"events":[)"};
    for (int i = 0; i < 200; ++i) {
      request.body += i == 0 ? "" : ",";
      request.body += R"({"user":)" + std::to_string(random.Below(20'000)) + R"(,"item":)" +
                      std::to_string(random.Below(uint64_t{1} << 30)) + "}";
    }
    request.body += "]}";
    requests.push_back(Encode(request));
  }
  return requests;
}

/// What the users have played, over HTTP: months of plays are not needed to make a filter dear.
void Fill(uint16_t port) {
  std::vector<std::string> documents;
  for (uint64_t user = 0; user < kUsers; ++user) {
    HttpRequest request{"/plays", "application/x-ndjson", "", ""};
    for (uint64_t i = 0; i < kDocument; ++i) {
      request.body += R"({"user":")" + std::to_string(user) + R"(","item":")" +
                      std::to_string(PlayedItem(user, 0, i)) + "\"}\n";
    }
    documents.push_back(Encode(request));
  }
  static_cast<void>(RunLoad({port, 1, 0.5}, documents));
}

/// Asks a probe every 50 ms on a connection of its own, as a kubelet does.
class Probes {
 public:
  explicit Probes(uint16_t port) : port_(port), thread_([this] { Run(); }) {}
  ~Probes() { Stop(); }
  void Stop() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  double P99Ms() const { return Quantile(ms_, 0.99); }
  uint64_t failures() const { return failures_; }

 private:
  void Run() {
    for (int i = 0; !over_; ++i) {
      const Stopwatch watch;
      if (!Ask(i % 2 == 0 ? "/healthz" : "/readyz")) ++failures_;
      ms_.push_back(1e3 * watch.Seconds());
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  bool Ask(const std::string& path) const {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port_);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval most{5, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
    const std::string request =
        "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    char answer[512];
    const bool ok = connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0 &&
                    send(fd, request.data(), request.size(), MSG_NOSIGNAL) > 0 &&
                    recv(fd, answer, sizeof(answer), 0) > 12 &&
                    std::string_view(answer, 12) == "HTTP/1.1 200";
    close(fd);
    return ok;
  }

  const uint16_t port_;
  std::atomic<bool> over_{false};
  std::vector<double> ms_;
  uint64_t failures_ = 0;
  std::thread thread_;
};

double CapacityOf(uint16_t port, const std::vector<std::string>& requests, double seconds) {
  const LoadResult result = RunLoad({port, 8, seconds}, requests);
  if (result.failures != 0) Fail("overload: status " + std::to_string(result.last_failure));
  return static_cast<double>(result.answers) / result.seconds;
}

class Run {
 public:
  Run(const Settings& settings, Report* report) : settings_(settings), report_(report) {}

  /// `connections_most`: of the client.
  void Loads(const std::string& what, const ServerProcess& server,
             const std::vector<std::string>& requests, const std::vector<double>& times,
             size_t connections_most = 4'000) {
    connections_most_ = connections_most;
    const double seconds = settings_.quick ? 1 : 3;
    double capacity = 0;
    for (int i = 0; i < 3; ++i) {
      capacity = std::max(capacity, CapacityOf(server.port(), requests, seconds / 2));
    }
    Add({{"what", what}, {"load", "closed loop"}}, "answers_per_s", Better::kMore, capacity);
    for (const double k : times) One(what, server, requests, capacity, k, seconds);
  }

 private:
  void Add(const Case& where, const std::string& metric, Better better, double value) {
    report_->Add({"overload", where, "seendb", metric, better}, value);
  }

  void One(const std::string& what, const ServerProcess& server,
           const std::vector<std::string>& requests, double capacity, double k, double seconds) {
    OpenLoad load;
    load.port = server.port();
    load.rate_per_s = k * capacity;
    load.seconds = seconds;
    load.connections_most = connections_most_;
    const double rss = server.ResidentMb();
    Probes probes(server.port());
    const OpenResult result = RunOpenLoad(load, {requests}).front();
    probes.Stop();
    const double grown = server.ResidentMb() - rss;
    const Case where = {{"what", what}, {"load", Number(k) + "x"}};
    const double good = static_cast<double>(result.answered) / seconds;
    const double offered = static_cast<double>(result.offered) / seconds;
    Add(where, "offered_of_capacity", Better::kNone, offered / capacity);
    Add(where, "answered_of_capacity", Better::kMore, good / capacity);
    const double refused = static_cast<double>(result.refused) / seconds;
    if (refused > 0) {
      const double rho = std::max(0.0, 1 - good / capacity) * capacity / refused;
      Add(where, "rho_most", Better::kNone, rho);
    }
    const auto share = [&](uint64_t count) {
      return result.all() == 0 ? 0.0
                               : static_cast<double>(count) / static_cast<double>(result.all());
    };
    Add(where, "refused_share", Better::kNone, share(result.refused));
    Add(where, "late_share", Better::kLess, share(result.late));
    Add(where, "broken_share", Better::kLess, share(result.broken));
    Add(where, "unsent", Better::kLess, static_cast<double>(result.unsent));
    Add(where, "answer_p50_ms", Better::kLess, Quantile(result.answer_ms, 0.5));
    Add(where, "answer_p99_ms", Better::kLess, Quantile(result.answer_ms, 0.99));
    Add(where, "refusal_p50_ms", Better::kLess, Quantile(result.refusal_ms, 0.5));
    Add(where, "refusal_p99_ms", Better::kLess, Quantile(result.refusal_ms, 0.99));
    Add(where, "probe_p99_ms", Better::kLess, probes.P99Ms());
    Add(where, "probes_failed", Better::kLess, static_cast<double>(probes.failures()));
    Add(where, "memory_grown_mb", Better::kLess, grown);
    if (k > 1) After(where, server, requests, capacity);
  }

  /// How soon after the load a moderate one is answered as ever.
  void After(const Case& where, const ServerProcess& server,
             const std::vector<std::string>& requests, double capacity) {
    OpenLoad load;
    load.port = server.port();
    load.rate_per_s = capacity / 2;
    load.seconds = 0.25;
    const Stopwatch watch;
    double back_s = 0;
    while (watch.Seconds() < 3) {
      const OpenResult result = RunOpenLoad(load, {requests}).front();
      const bool well = result.answered == result.offered && Quantile(result.answer_ms, 0.99) < 50;
      if (well) break;
      back_s = watch.Seconds();
    }
    Add(where, "back_after_s", Better::kLess, back_s);
  }

  const Settings& settings_;
  Report* const report_;
  size_t connections_most_ = 0;
};

}  // namespace

void RunOverload(const Settings& settings, Report* report) {
  if (settings.server.empty()) {
    report->Note("overload", "absent: no server program was named (--server)");
    return;
  }
  const TemporaryFolder folder;
  const ServerProcess server(settings.server, {"--db", folder.path() + "/db", "--listen",
                                               "127.0.0.1:0", "--threads", "1"});
  Fill(server.port());
  Run run(settings, report);
  const std::vector<double> times =
      settings.quick ? std::vector<double>{0.9, 4} : std::vector<double>{0.9, 2, 4, 10};
  run.Loads("filter, 20,000 candidates", server, Filters(20'000), times);
  run.Loads("filter, 5,000 candidates", server, Filters(5'000), {4});
  // Of requests that cost little more than a refusal, the number of connections bounds the waits.
  run.Loads("filter, 100 candidates", server, Filters(100), {4}, 256);
  run.Loads("200 plays", server, Plays(), {4});
}

}  // namespace seendb::perf
