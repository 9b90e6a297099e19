#include "transport.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <thread>

#include "base/outside_json.h"
#include "net/client_tls.h"

namespace seendb::client::internal {
namespace {

using std::chrono::milliseconds;

/// The server ends the wait, and the connection stays usable: the client waits a little longer.
constexpr milliseconds kGrace{50};
constexpr milliseconds kFirstWait{10};
constexpr int kDoublingsMost = 7;                // 1.3 s
constexpr int64_t kWaitMost = int64_t{1} << 30;  // of seconds, as ns: still far from overflow

enum HttpStatus {
  kOk = 200,
  kRedirects = 300,
  kOtherNode = 421,
  kUnprocessable = 422,
  kTooManyRequests = 429,
  kBadGateway = 502,
  kUnavailable = 503,
  kGatewayTimeout = 504
};

/// Digits alone; many of them are a great number.
std::optional<int64_t> WholeFrom(std::string_view text) {
  if (text.empty()) return {};
  int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return {};
    value = std::min(kWaitMost, value * 10 + (c - '0'));
  }
  return value;
}

Error ErrorFrom(const Reply& reply) {
  const Json told = ParseOutside(reply.body);
  const Json* const error = told.is_object() && told.contains("error") && told["error"].is_object()
                                ? &told["error"]
                                : nullptr;
  const auto text = [&](const char* name) {
    return error && error->contains(name) && (*error)[name].is_string()
               ? (*error)[name].get<std::string>()
               : std::string();
  };
  if (const std::string code = text("code"); !code.empty()) {
    return {code, text("message"), text("field"), reply.status};
  }
  const bool of_proxy = reply.status == kBadGateway || reply.status == kGatewayTimeout;
  return {of_proxy ? "unavailable" : "protocol",
          "HTTP " + std::to_string(reply.status) +
              ", and not in SeenDB's words: " + reply.body.substr(0, 100),
          {},
          reply.status};
}

bool IsVisible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

bool IsWell(const Outcome& outcome) {
  return outcome.reply && outcome.reply->status < kTooManyRequests;
}

std::vector<std::string> NotEmpty(std::vector<std::string> urls) {
  if (urls.empty()) throw Refuse("/url", "no server is named");
  return urls;
}

Outcome Failed(const char* code, const char* message) {
  return {.reply = {}, .error = Error(code, message), .unsent = false};
}

}  // namespace

Transport::Transport(std::vector<std::string> urls, Options options, StandIn stand_in)
    : options_(std::move(options)),
      stand_in_(std::move(stand_in)),
      files_{.ca = options_.ca, .certificate = options_.certificate, .key = options_.key},
      servers_(NotEmpty(std::move(urls)), options_) {
  if (options_.connections < 1) throw Refuse("/connections", "is at least 1");
  if (files_.ca.empty() && files_.certificate.empty()) return;
  if (const auto made = net::MakeTlsContext(files_); !made.ok()) {
    const Status& wrong = made.status();
    throw Refuse(std::string(wrong.field()), std::string(wrong.message()));
  }
}

Clock::time_point Transport::EndOf(const std::optional<milliseconds>& timeout) const {
  return Clock::now() + std::clamp<milliseconds>(timeout.value_or(options_.timeout),
                                                 milliseconds(0), std::chrono::hours(24));
}

void Transport::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& [url, pool] : pools_) pool->CloseIdle();
}

std::shared_ptr<Pool> Transport::PoolOf(const std::string& url) {
  const std::lock_guard lock(mutex_);
  if (closed_) throw Error("closed", "the client is closed");
  std::shared_ptr<Pool>& pool = pools_[url];
  if (!pool) pool = std::make_shared<Pool>(ParseUrl(url), files_, options_.connections);
  return pool;
}

std::string Transport::Token() {
  if (options_.token_file.empty()) return options_.token;
  std::error_code error;
  const auto changed = std::filesystem::last_write_time(options_.token_file, error);
  const std::lock_guard lock(mutex_);
  if (!error && (changed != token_changed_ || token_.empty())) {
    std::ifstream file(options_.token_file);
    std::string line;
    if (!std::getline(file, line)) error = std::make_error_code(std::errc::io_error);
    while (!line.empty() && static_cast<unsigned char>(line.back()) <= ' ') line.pop_back();
    token_ = line;
    token_changed_ = changed;
  }
  if (error) throw Refuse("/token_file", options_.token_file + ": " + error.message());
  return token_;
}

Headers Transport::HeadersOf(const Request& request, const Headers& more, Clock::time_point end) {
  Headers headers = more;
  const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
  headers.emplace_back("SeenDB-Timeout-Ms", std::to_string(std::max<int64_t>(left.count(), 1)));
  if (const std::string token = Token(); !token.empty()) {
    if (!IsVisible(token)) throw Refuse("/token", "a token has no blanks");
    headers.emplace_back("Authorization", "Bearer " + token);
  }
  if (request.user) {
    if (const Position position = positions_.Get(*request.user); !position.empty()) {
      headers.emplace_back("SeenDB-Position", ToText(position));
    }
  }
  return headers;
}

Outcome Transport::Once(const std::string& url, const Request& request, const Headers& headers) {
  const std::shared_ptr<Pool> pool = PoolOf(url);
  const auto left = request.end - Clock::now();
  if (left < milliseconds(1)) return Failed("timeout", "no answer in time");
  const Headers all = HeadersOf(request, headers, request.end);
  Attempt attempt(*pool, request, all, request.end + kGrace);
  if (attempt.Send(Clock::now() + left / 3)) attempt.Receive();
  if (attempt.outcome().unsent) servers_.MarkAway(url);
  return std::move(attempt.outcome());
}

/// One thread asks both: it waits for the first bytes of either. The rest is dropped with its
/// connection.
///
Outcome Transport::Hedged(const std::vector<std::string>& urls, size_t at, const Request& request,
                          const Headers& headers, int* tries) {
  const std::string &here = urls[at], &there = urls[(at + 1) % urls.size()];
  const auto left = request.end - Clock::now();
  const auto hedge = std::min<Clock::duration>(options_.hedge, left / 3);
  const Headers first_headers = HeadersOf(request, headers, request.end);
  const std::shared_ptr<Pool> here_pool = PoolOf(here), there_pool = PoolOf(there);
  Attempt first(*here_pool, request, first_headers, request.end + kGrace);
  const auto wait_end = Clock::now() + hedge;
  if (!first.Send(wait_end)) {
    if (first.outcome().unsent) servers_.MarkAway(here);
    return std::move(first.outcome());
  }
  if (WaitForFirst({&first}, wait_end) == 0 || !budget_.Second()) {
    first.Receive();
    return std::move(first.outcome());
  }
  ++*tries;
  Headers again = HeadersOf(request, headers, request.end);
  again.emplace_back("SeenDB-Attempt", "1");
  Attempt second(*there_pool, request, again, request.end + kGrace);
  if (!second.Send(Clock::now() + (request.end - Clock::now()) / 3)) {
    if (second.outcome().unsent) servers_.MarkAway(there);
    first.Receive();
    return std::move(first.outcome());
  }
  const bool other_way = WaitForFirst({&first, &second}, request.end + kGrace) == 1;
  Attempt& quick = other_way ? second : first;
  Attempt& slow = other_way ? first : second;
  quick.Receive();
  if (IsWell(quick.outcome())) return std::move(quick.outcome());
  slow.Receive();
  const bool use_slow = !quick.outcome().reply || IsWell(slow.outcome());
  return std::move(use_slow ? slow.outcome() : quick.outcome());
}

void Transport::LookUp(Clock::time_point end) {
  const auto gone = servers_.LookUp(Clock::now() + (end - Clock::now()) / 3);
  const std::lock_guard lock(mutex_);
  for (const std::string& url : gone) pools_.erase(url);
}

void Transport::LearnPlacement(Clock::time_point end) {
  if (!options_.cluster || !servers_.TakeLearning()) return;
  const Request request{
      .method = "GET", .path = "/cluster", .end = Clock::now() + (end - Clock::now()) / 3};
  const auto urls = servers_.Find({}).urls;
  if (urls.empty()) return servers_.LearnSoon();
  const Outcome outcome = Once(urls.front(), request, {});
  auto placement = outcome.reply && outcome.reply->status == kOk
                       ? ReadPlacement(outcome.reply->body)
                       : std::nullopt;
  if (placement) {
    servers_.Learn(std::move(*placement));
  } else {
    servers_.LearnSoon();
  }
}

std::optional<milliseconds> Transport::WaitBefore(const Request& request, const Outcome& outcome,
                                                  int attempt) {
  if (request.once || (attempt >= options_.retries && !request.patient)) return {};
  milliseconds wait = kFirstWait * (1 << std::min(attempt, kDoublingsMost));
  if (outcome.reply) {
    const int status = outcome.reply->status;
    if (status != kTooManyRequests && status != kUnavailable) return {};
    if (const auto ms = WholeFrom(outcome.reply->Header("SeenDB-Retry-After-Ms"))) {
      wait = milliseconds(*ms);
    } else if (const auto seconds = WholeFrom(outcome.reply->Header("Retry-After"))) {
      wait = milliseconds(*seconds * 1000);
    }
  } else if (outcome.error->code != "unavailable") {
    return {};
  }
  return budget_.Jitter(wait);
}

Reply Transport::AskStandIn(const Request& request, Progress* progress) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) throw Error("closed", "the client is closed");
  }
  progress->tries = 1;
  try {
    Reply reply = stand_in_(request);
    progress->status = reply.status;
    return reply;
  } catch (const Error& error) {
    progress->status = error.status;
    throw;
  }
}

Reply Transport::AskAgain(const Request& request, Progress* progress) {
  LookUp(request.end);
  LearnPlacement(request.end);
  budget_.First();
  Servers::Route route = servers_.Find(request.user);
  if (route.urls.empty()) throw servers_.Nobody();
  size_t at = 0, moves = 0;
  for (int attempt = 0;;) {
    Headers headers;
    if (attempt > 0) headers.emplace_back("SeenDB-Attempt", std::to_string(attempt));
    if (route.direct) headers.emplace_back("SeenDB-Route", "direct");
    ++progress->tries;
    progress->status = 0;
    const bool hedges =
        request.hedge && options_.hedge.count() > 0 && attempt == 0 && route.urls.size() > 1;
    Outcome outcome = hedges ? Hedged(route.urls, at, request, headers, &progress->tries)
                             : Once(route.urls[at], request, headers);
    if (outcome.reply) {
      const int status = progress->status = outcome.reply->status;
      if ((status >= kOk && status < kRedirects) || status == kUnprocessable) {
        return std::move(*outcome.reply);
      }
      outcome.error = ErrorFrom(*outcome.reply);
      if (status == kOtherNode && route.direct) {  // the map is old: any node passes it on
        servers_.LearnSoon();
        route = servers_.Find({});
        at = 0;
        continue;
      }
    } else if (outcome.unsent && moves + 1 < route.urls.size()) {  // nothing was done: the next one
      ++moves;
      at = (at + 1) % route.urls.size();
      route.direct = false;
      continue;
    }
    const auto wait = WaitBefore(request, outcome, attempt);
    if (!wait || Clock::now() + *wait > request.end || (!request.patient && !budget_.Second())) {
      throw *outcome.error;
    }
    if (route.urls.size() > 1) {
      at = (at + 1) % route.urls.size();
      route.direct = false;
    }
    std::this_thread::sleep_for(*wait);
    ++attempt;
  }
}

Reply Transport::Ask(Request request) {
  const auto began = Clock::now();
  Progress progress;
  const auto report = [&] {
    if (!options_.on_call) return;
    const std::string name =
        request.name.empty() ? request.method + " " + request.path : request.name;
    options_.on_call(
        {.name = name,
         .took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began),
         .status = progress.status,
         .tries = progress.tries});
  };
  if (!IsVisible(request.path) || !request.path.starts_with('/')) {
    throw Refuse("/path", "begins with /, and is encoded");
  }
  try {
    Reply reply = stand_in_ ? AskStandIn(request, &progress) : AskAgain(request, &progress);
    report();
    return reply;
  } catch (const Error&) {
    report();
    throw;
  }
}

Reply Transport::Ask(Request request, const Json& body) {
  request.body = Write(body);
  request.content_type = "application/json";
  return Ask(std::move(request));
}

void Transport::Note(const Reply& reply, const std::vector<std::string>& users) {
  const Position told = ReadPosition(reply.Header("SeenDB-Position"));
  if (told.empty() || told.size() > kPartsMost) return;
  for (const std::string& user : users) {
    positions_.Update(user, [&](Position& position) { Advance(&position, told); });
  }
}

}  // namespace seendb::client::internal
