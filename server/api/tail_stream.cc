// GET /admin/tail: the requests that this server answers, as they are answered, as NDJSON: one line
// for each that is shown, and each second a line {"ts":...,"matched":N,"lost":N} of what came and
// what was lost. It looks four times a second for what is to be shown, and so nobody wakes it.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include "api/routes.h"
#include "api/status_http.h"
#include "api/tail.h"
#include "base/json_pointer.h"
#include "ops/log.h"
#include "ops/user_hash.h"
#include "wire/json_text.h"

namespace seendb::api {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookEvery{250}, kSumEvery{1'000};
constexpr int64_t kSecondsDefault = 10, kSecondsMost = 3'600;

struct TailAsk {
  TailFilter filter;
  std::chrono::seconds span{kSecondsDefault};
};

Status WrongAsk(std::string_view name, std::string_view what) {
  return Status::InvalidArgument(std::string(what), PointerTo(name));
}

template <typename Number>
bool ReadNumber(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

/// "503", or "5xx" for all from 500 to 599.
Status ReadStatus(std::string_view text, TailFilter* filter) {
  unsigned first = 0;
  const bool hundred = text.size() == 3 && text.substr(1) == "xx";
  const bool read = ReadNumber(hundred ? text.substr(0, 1) : text, &first);
  if (hundred) first *= 100;
  if (!read || first < 100 || first > 599) {
    return WrongAsk("status", "must be a status from 100 to 599, or of a hundred, as 5xx");
  }
  filter->status_least = first;
  filter->status_most = first + (hundred ? 99 : 0);
  return {};
}

Status ReadRoute(std::string_view text, TailFilter* filter) {
  const std::span<const Route> routes = Routes();
  const auto found = std::find_if(routes.begin(), routes.end(),
                                  [text](const Route& route) { return RouteLabel(route) == text; });
  if (found == routes.end() && !text.empty()) {
    return WrongAsk("route",
                    "must be a method and a path of the API, as \"POST /filter\", or empty");
  }
  filter->route = found == routes.end() ? -1 : static_cast<int>(found - routes.begin());
  return {};
}

Status ReadAsk(const http::Plan& plan, TailAsk* ask) {
  for (const auto& [name, value] : plan.query) {
    Status status;
    if (name == "route") {
      status = ReadRoute(value, &ask->filter);
    } else if (name == "status") {
      status = ReadStatus(value, &ask->filter);
    } else if (name == "sample") {
      double& sample = ask->filter.sample;
      if (!ReadNumber(value, &sample) || !(sample > 0 && sample <= 1)) {
        status = WrongAsk(name, "must be a share: more than 0, at most 1");
      }
    } else if (name == "seconds") {
      int64_t seconds = 0;
      if (!ReadNumber(value, &seconds) || seconds < 1 || seconds > kSecondsMost) {
        status = WrongAsk(name, "must be from 1 to " + std::to_string(kSecondsMost));
      }
      ask->span = std::chrono::seconds(seconds);
    }
    if (!status.ok()) return status;
  }
  return {};
}

void AppendMember(std::string_view name, int64_t value, std::string* out) {
  out->append(",\"").append(name).append("\":").append(std::to_string(value));
}

void AppendText(std::string_view name, std::string_view value, std::string* out) {
  if (value.empty()) return;
  out->append(",\"").append(name).append("\":");
  wire::AppendJsonString(value, out);
}

void AppendTime(int64_t at_ms, std::string* out) {
  out->append("{\"ts\":\"").append(ops::TimeText(at_ms)).append("\"");
}

void AppendRow(const TailRow& row, std::string* out) {
  AppendTime(row.at_ms, out);
  out->append(",\"route\":");
  wire::AppendJsonString(
      row.route < 0 ? std::string() : RouteLabel(Routes()[static_cast<size_t>(row.route)]), out);
  AppendMember("status", row.status, out);
  AppendText("reason", row.error, out);
  AppendMember("took_us", row.took_us, out);
  AppendMember("waited_us", row.waited_us, out);
  AppendMember("worked_us", row.worked_us, out);
  AppendMember("bytes_in", static_cast<int64_t>(row.bytes_in), out);
  AppendMember("bytes_out", static_cast<int64_t>(row.bytes_out), out);
  AppendText("token", row.token, out);
  if (row.user != 0) AppendText("user", ops::HashText(row.user), out);
  out->append("}\n");
}

class TailStream final : public http::BodyStream {
 public:
  TailStream(Context* context, const TailAsk& ask) : context_(*context), ask_(ask) {}

  size_t Take(std::string_view bytes, bool last, std::string* out) override {
    if (last) Look(Clock::now(), out);
    return bytes.size();
  }
  bool AnswersAsItGoes() const override { return true; }
  bool Failed() const override { return !failure_.ok(); }
  bool HasMore() const override { return !done_; }
  bool Later(int64_t* later_us) const override {
    *later_us = later_us_;
    return later_us_ > 0;
  }
  size_t HeldBytes() const override { return watch_ ? Tail::kRowsMost * sizeof(TailRow) : 0; }
  void Finish(http::Response* response) override {
    if (Failed()) http::WriteError(ToHttpError(failure_), response);
  }

 private:
  /// Begins, looks, or says when there is something to look at.
  void Look(Clock::time_point now, std::string* out) {
    later_us_ = 0;
    if (done_ || Failed()) return;
    if (!begun_) return Begin(now, out);
    const bool leaves = context_.health->phase() >= ops::Phase::kLeaving;
    if (now < next_ && !leaves) return Rest(now);
    Tell(watch_->Take(), out);
    next_ = now + kLookEvery;
    done_ = leaves || now >= until_;
    if (done_ || now >= next_sum_) TellSum(now, out);
    if (done_) {
      watch_.reset();
    } else if (out->empty()) {
      Rest(now);
    }
  }

  void Begin(Clock::time_point now, std::string* out) {
    begun_ = true;
    auto watch = context_.tail.Begin(ask_.filter);
    if (!watch.ok()) {
      failure_ = watch.status();
      return;
    }
    watch_.emplace(std::move(watch).value());
    until_ = now + ask_.span;
    next_ = now + kLookEvery;
    TellSum(now, out);  // whoever asked knows that it watches
  }

  void Rest(Clock::time_point now) {
    const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(next_ - now);
    later_us_ = std::max<int64_t>(rest.count(), 1);
  }

  void Tell(const Tail::Heard& heard, std::string* out) {
    matched_ += heard.matched;
    lost_ += heard.lost;
    for (const TailRow& row : heard.rows) AppendRow(row, out);
  }

  void TellSum(Clock::time_point now, std::string* out) {
    next_sum_ = now + kSumEvery;
    AppendTime(ops::MachineTimeMs(), out);
    AppendMember("matched", static_cast<int64_t>(std::exchange(matched_, 0)), out);
    AppendMember("lost", static_cast<int64_t>(std::exchange(lost_, 0)), out);
    out->append("}\n");
  }

  Context& context_;
  const TailAsk ask_;
  std::optional<Tail::Watch> watch_;  // from the first look to the last one
  Clock::time_point until_, next_, next_sum_;
  uint64_t matched_ = 0, lost_ = 0;  // since the last sum
  bool begun_ = false, done_ = false;
  int64_t later_us_ = 0;
  Status failure_;
};

}  // namespace

std::unique_ptr<http::BodyStream> StreamTail(Context& context, const http::Plan& plan,
                                             Status* refusal) {
  TailAsk ask;
  *refusal = ReadAsk(plan, &ask);
  if (!refusal->ok()) return nullptr;
  return std::make_unique<TailStream>(&context, ask);
}

}  // namespace seendb::api
