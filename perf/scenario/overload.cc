// Overload: a seendb-server of one thread is asked more than it can answer, by a client that does
// not wait for answers (load/open_loop.h), on the same machine. First the capacity C: answers a
// second to 4 connections that wait. Then requests at multiples of C, and what became of them: the
// share of C that was answered within a second, the rest refused, late or broken; how long
// refusals, answers and probes took; and how soon after the load all is as before.
//
// What the cost of a refusal allows is (1 - k * rho) / (1 - rho) of C at k times C (`bound`), with
// rho = the processor time of a refusal / that of an answer. rho is measured by itself: requests of
// low priority, which are refused by POST /admin/degrade, at half of C.
//
// Then loads of several kinds: priorities, bursts, plays beside filters, clients that try again, a
// tenant that floods; and what admission costs where nothing is refused.

#include <algorithm>
#include <atomic>
#include <ctime>
#include <fstream>
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
/// The first half second of a load is not counted: a lane reports overload only after its queue was
/// never empty for 100 ms or longer. Only the case of bursts counts that phase.
constexpr double kSettleSeconds = 0.5;
/// As many connections as an I/O thread takes in any flood.
constexpr size_t kFewConnections = 256;
/// Candidates of a filter that takes the best part of a millisecond.
constexpr size_t kDear = 20'000;

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

std::vector<std::string> Filters(size_t candidates, const std::string& headers = {},
                                 const std::string& token = {}) {
  std::vector<std::string> requests;
  for (uint64_t user = 0; user < kUsers; ++user) {
    HttpRequest request = FilterOf(user, candidates);
    request.headers = headers;
    request.token = token;
    requests.push_back(Encode(request));
  }
  return requests;
}
std::vector<std::string> FiltersOf(const char* priority, size_t candidates) {
  return Filters(candidates, std::string("SeenDB-Priority: ") + priority + "\r\n");
}

std::vector<std::string> Plays(const std::string& headers = {}) {
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
    request.headers = headers;
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

/// Answers per second to 4 connections, each of which waits for its answer before it asks again,
/// and the processor time per answer.
struct Capacity {
  double per_s = 0;
  double cpu_us = 0;
};
Capacity CapacityOf(const ServerProcess& server, const std::vector<std::string>& requests,
                    double seconds) {
  const double cpu = server.CpuSeconds();
  const LoadResult result = RunLoad({server.port(), 4, seconds}, requests);
  if (result.failures != 0) Fail("overload: status " + std::to_string(result.last_failure));
  const auto answers = static_cast<double>(result.answers);
  return {answers / result.seconds, 1e6 * (server.CpuSeconds() - cpu) / answers};
}
Capacity BestOfThree(const ServerProcess& server, const std::vector<std::string>& requests,
                     double seconds) {
  Capacity best;
  for (int i = 0; i < 3; ++i) {
    const Capacity one = CapacityOf(server, requests, seconds);
    if (one.per_s > best.per_s) best = one;
  }
  return best;
}

/// The processor time of a refusal, us. `requests`: of low priority, which are all refused.
double RefusalUs(const ServerProcess& server, const std::vector<std::string>& requests,
                 double rate_per_s, double seconds) {
  const auto degrade = [&server](const std::string& body) {
    static_cast<void>(RunLoad({server.port(), 1, 0.05},
                              {Encode({"/admin/degrade", "application/json", "", body})}));
  };
  degrade(R"({"level":0,"refuse":["low"],"for_s":600})");
  OpenLoad load;
  load.port = server.port();
  load.rate_per_s = rate_per_s;
  load.seconds = seconds;
  const double cpu = server.CpuSeconds();
  const OpenResult result = RunOpenLoad(load, {requests}).front();
  const double took = server.CpuSeconds() - cpu;
  degrade(R"({"level":"auto"})");
  if (result.answered > 0 || result.refused == 0) Fail("overload: low priority was not refused");
  return 1e6 * took / static_cast<double>(result.refused);
}

/// The processor time of this thread.
double ThreadCpuSeconds() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

struct Kind {
  const char* name;
  std::vector<std::string> requests;
  double share;     // of the requests
  double capacity;  // answers a second, if there was nothing else
};

class Run {
 public:
  Run(const Settings& settings, Report* report)
      : settings_(settings), report_(report), seconds_(settings.quick ? 1 : 3) {}

  /// Requests of one kind at multiples of its capacity. `low`: the same of low priority.
  /// `connections_most`: of the client.
  void Loads(const std::string& what, const ServerProcess& server,
             const std::vector<std::string>& requests, const std::vector<std::string>& low,
             const std::vector<double>& times, size_t connections_most = 4'000) {
    if (!Wants(what)) return;
    const Capacity capacity = BestOfThree(server, requests, seconds_ / 2);
    const double rho = RefusalUs(server, low, capacity.per_s / 2, seconds_ / 2) / capacity.cpu_us;
    const Case where = {{"what", what}, {"load", "closed loop"}};
    Add(where, "answers_per_s", Better::kMore, capacity.per_s);
    Add(where, "rho", Better::kLess, rho);
    for (int round = 0; round < Rounds(); ++round) {
      for (const double k : times) {
        OpenLoad load;
        load.rate_per_s = k * capacity.per_s;
        load.connections_most = connections_most;
        const Case loaded = {{"what", what}, {"load", Number(k) + "x"}};
        One(loaded, server, {{"", requests, 1, capacity.per_s}}, load);
        if (k <= 1) continue;
        Add(loaded, "bound", Better::kNone, std::max(0.0, (1 - k * rho) / (1 - rho)));
        After(loaded, server, requests, capacity.per_s);
      }
    }
  }

  /// Requests of several kinds: the share of each that is answered, and of the capacity together.
  void Mix(const std::string& what, const ServerProcess& server, const std::vector<Kind>& kinds,
           const OpenLoad& load) {
    const Case where = {{"what", what}, {"load", "mixed"}};
    for (int round = 0; round < Rounds(); ++round) One(where, server, kinds, load);
  }

  /// Three times the capacity for 2 s, then 0.8 of it, each request retried up to three times:
  /// reports the share that is answered from 2 s after the peak on.
  void Retries(const ServerProcess& server, const std::vector<std::string>& requests) {
    const std::string what = "3x for 2 s, then 0.8x, 3 instant retries";
    if (!Wants(what)) return;
    const double capacity = BestOfThree(server, requests, seconds_ / 2).per_s;
    const Case where = {{"what", what}, {"load", "retries"}};
    for (int round = 0; round < Rounds(); ++round) {
      OpenLoad load;
      load.port = server.port();
      load.retries = 3;
      load.seconds = 2;
      load.rate_per_s = 3 * capacity;
      static_cast<void>(RunOpenLoad(load, {requests}));
      load.rate_per_s = 0.8 * capacity;
      static_cast<void>(RunOpenLoad(load, {requests}));
      const OpenResult result = RunOpenLoad(load, {requests}).front();
      Add(where, "answered_share", Better::kMore,
          static_cast<double>(result.answered) / static_cast<double>(result.all()));
    }
  }

  double seconds() const { return seconds_; }
  /// Whether such a case is asked for.
  bool Wants(const std::string& what) const {
    return what.find(settings_.only) != std::string::npos;
  }

 private:
  int Rounds() const { return settings_.quick ? 1 : 3; }
  void Add(const Case& where, const std::string& metric, Better better, double value) {
    report_->Add({"overload", where, "seendb", metric, better}, value);
  }

  void One(const Case& where, const ServerProcess& server, const std::vector<Kind>& kinds,
           OpenLoad load) {
    load.port = server.port();
    load.settle_s = load.burst_s > 0 ? 0 : kSettleSeconds;
    load.seconds = load.settle_s + seconds_;
    std::vector<std::vector<std::string>> requests;
    std::vector<double> shares;
    for (const Kind& kind : kinds) {
      requests.push_back(kind.requests);
      shares.push_back(kind.share);
    }
    const double rss = server.ResidentMb();
    Probes probes(server.port());
    const double cpu = ThreadCpuSeconds(), server_cpu = server.CpuSeconds();
    const Stopwatch watch;
    const std::vector<OpenResult> results = RunOpenLoad(load, requests, shares);
    const double busy = (ThreadCpuSeconds() - cpu) / watch.Seconds();
    const double server_busy = (server.CpuSeconds() - server_cpu) / watch.Seconds();
    probes.Stop();
    const double grown = server.ResidentMb() - rss;
    OpenResult sum;
    double offered = 0, answered = 0;  // of the capacity
    for (size_t i = 0; i < kinds.size(); ++i) {
      const OpenResult& one = results[i];
      offered += static_cast<double>(one.offered) / seconds_ / kinds[i].capacity;
      answered += static_cast<double>(one.answered) / seconds_ / kinds[i].capacity;
      sum.Add(one);
      if (kinds.size() == 1 || one.all() == 0) continue;
      Case of_kind = where;
      of_kind.emplace_back("kind", kinds[i].name);
      Add(of_kind, "answered_share", Better::kMore,
          static_cast<double>(one.answered) / static_cast<double>(one.all()));
    }
    Add(where, "offered_of_capacity", Better::kNone, offered);
    Add(where, "answered_of_capacity", Better::kMore, answered);
    const auto share = [&](uint64_t count) {
      return sum.all() == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(sum.all());
    };
    Add(where, "refused_share", Better::kNone, share(sum.refused));
    Add(where, "late_share", Better::kLess, share(sum.late));
    Add(where, "broken_share", Better::kLess, share(sum.broken));
    Add(where, "client_behind_p99_ms", Better::kNone, Quantile(sum.behind_ms, 0.99));
    Add(where, "client_busy", Better::kNone, busy);
    Add(where, "server_busy", Better::kNone, server_busy);
    Add(where, "unsent", Better::kLess, static_cast<double>(sum.unsent));
    Add(where, "answer_p50_ms", Better::kLess, Quantile(sum.answer_ms, 0.5));
    Add(where, "answer_p99_ms", Better::kLess, Quantile(sum.answer_ms, 0.99));
    Add(where, "refusal_p50_ms", Better::kLess, Quantile(sum.refusal_ms, 0.5));
    Add(where, "refusal_p99_ms", Better::kLess, Quantile(sum.refusal_ms, 0.99));
    Add(where, "probe_p99_ms", Better::kLess, probes.P99Ms());
    Add(where, "probes_failed", Better::kLess, static_cast<double>(probes.failures()));
    Add(where, "memory_grown_mb", Better::kLess, grown);
  }

  /// How soon after it a load of half the capacity is answered in full, with a p99 below 50 ms.
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
  const double seconds_;
};

/// Loads of several kinds on the server whose users are filled.
void RunPriorities(Run* run, const ServerProcess& server) {
  const std::string what = "priorities, 4x of 20,000 ids";
  if (!run->Wants(what)) return;
  const double capacity = BestOfThree(server, Filters(kDear), run->seconds() / 2).per_s;
  OpenLoad load;
  load.rate_per_s = 4 * capacity;
  run->Mix(what, server,
           {{"high", FiltersOf("high", kDear), 0.2, capacity},
            {"normal", FiltersOf("normal", kDear), 0.6, capacity},
            {"low", FiltersOf("low", kDear), 0.2, capacity}},
           load);
}

void RunPlaysBeside(Run* run, const ServerProcess& server) {
  const std::string what = "plays beside filters, 2x each";
  if (!run->Wants(what)) return;
  const std::vector<std::string> filters = Filters(kDear), plays = Plays();
  const double capacity = BestOfThree(server, filters, run->seconds() / 2).per_s;
  const double plays_capacity = BestOfThree(server, plays, run->seconds() / 2).per_s;
  const double of_plays = plays_capacity / (plays_capacity + capacity);  // equal work of both
  OpenLoad load;
  load.rate_per_s = 2 * (plays_capacity + capacity);
  run->Mix(
      what, server,
      {{"filter", filters, 1 - of_plays, capacity}, {"plays", plays, of_plays, plays_capacity}},
      load);
}

void RunBursts(Run* run, const ServerProcess& server) {
  const std::string what = "bursts of 3x for 150 ms a second, mean 0.875x";
  if (!run->Wants(what)) return;
  const double capacity = BestOfThree(server, Filters(kDear), run->seconds() / 2).per_s;
  OpenLoad load;
  load.burst_s = 0.15;
  load.burst_times = 3;
  load.rate_per_s = 0.875 * capacity / (0.85 + 0.15 * 3);
  run->Mix(what, server, {{"", Filters(kDear, "SeenDB-Timeout-Ms: 1000\r\n"), 1, capacity}}, load);
}

std::string WriteFile(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  return path;
}

/// A tenant that asks for four times the capacity beside one that asks for 0.3 of it.
void RunTenants(Run* run, const Settings& settings, const std::string& folder) {
  const std::string what = "a tenant at 4x beside one at 0.3x";
  if (!run->Wants(what)) return;
  const std::string tokens = WriteFile(
      folder + "/tokens",
      // The digests of "flood" and "other".
      R"([{"name":"flood","role":"read","sha256":"d8864644c15d33be9c0aef2d08c8fc105adc040de488b0116882a2cc6aa4492b"},)"
      R"({"name":"other","role":"read","sha256":"d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa"}])");
  const std::string config =
      WriteFile(folder + "/settings", R"({"threads":1,"tokens_file":")" + tokens + "\"}");
  const ServerProcess server(settings.server, {"--db", folder + "/tenants", "--listen",
                                               "127.0.0.1:0", "--config", config});
  const std::vector<std::string> flood = Filters(kDear, {}, "flood");
  const double capacity = BestOfThree(server, flood, run->seconds() / 2).per_s;
  OpenLoad load;
  load.rate_per_s = 4.3 * capacity;
  run->Mix(what, server,
           {{"flood", flood, 4 / 4.3, capacity},
            {"other", Filters(kDear, {}, "other"), 0.3 / 4.3, capacity}},
           load);
}

/// What admission costs where nothing is refused: the same questions with and without it, in turn.
void RunCost(const Settings& settings, const std::string& folder, Report* report) {
  const std::string off =
      WriteFile(folder + "/off", R"({"threads":1,"admission":{"enabled":false}})");
  const std::string on = WriteFile(folder + "/on", R"({"threads":1})");
  const ServerProcess without(
      settings.server, {"--db", folder + "/without", "--listen", "127.0.0.1:0", "--config", off});
  const ServerProcess with(settings.server,
                           {"--db", folder + "/with", "--listen", "127.0.0.1:0", "--config", on});
  for (const size_t candidates : {size_t{100}, size_t{5'000}}) {
    const std::vector<std::string> requests = Filters(candidates);
    for (int round = 0; round < 2 * settings.rounds; ++round) {
      for (const bool admission : {false, true}) {
        const Capacity one = CapacityOf(admission ? with : without, requests, 0.5);
        const Case where = {{"what", "cost, filter of " + std::to_string(candidates)},
                            {"load", admission ? "admission" : "none"}};
        report->Add({"overload", where, "seendb", "answers_per_s", Better::kMore}, one.per_s);
        report->Add({"overload", where, "seendb", "cpu_us", Better::kLess}, one.cpu_us);
      }
    }
  }
}

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
  const auto loads = [&](size_t candidates, const std::vector<double>& at, size_t connections) {
    run.Loads("filter, " + Number(static_cast<double>(candidates)) + " candidates", server,
              Filters(candidates), FiltersOf("low", candidates), at, connections);
  };
  loads(kDear, times, 4'000);
  loads(5'000, {4}, 4'000);
  // Of requests that cost little more than a refusal, the number of connections bounds the waits.
  loads(100, {4}, kFewConnections);
  const std::vector<std::string> low_plays = Plays("SeenDB-Priority: low\r\n");
  run.Loads("200 plays", server, Plays(), low_plays, {4}, kFewConnections);
  run.Loads("200 plays of 4,000 connections", server, Plays(), low_plays, {4});
  RunPriorities(&run, server);
  RunPlaysBeside(&run, server);
  RunBursts(&run, server);
  run.Retries(server, Filters(kDear));
  RunTenants(&run, settings, folder.path());
  if (run.Wants("cost")) RunCost(settings, folder.path(), report);
}

}  // namespace seendb::perf
