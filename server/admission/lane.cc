#include "admission/lane.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "admission/admission.h"

namespace seendb::admission {
namespace {

using std::chrono::milliseconds;

constexpr Duration kMostBurst = milliseconds(500);
/// In a burst a request may wait for its timeout divided by this.
constexpr int kBurstOfTimeout = 4;
/// A request that costs less than so many refusals is answered.
constexpr double kCheapRefusals = 4;
/// The most of the time that reading has while requests are cheap, and in a flood.
constexpr double kAnsweringShare = 0.25;
/// When its body has come, a request is refused if the work before it exceeds this many times its
/// limit.
constexpr int kBodyTimes = 2;
/// A request of a tenant that asks for less than its share may wait for this many times the limit.
constexpr int kBelowShareTimes = 2;
/// A request without a timeout that waited so long waits in vain.
constexpr Duration kLeastStale = milliseconds(250);
constexpr int kStaleTimes = 4;
/// Under overload streams get a tenth of the time: one part for nine parts of requests. They may
/// save up, or owe, kMostStreamCredit.
constexpr int kStreamOf = 9;
constexpr Duration kMostStreamCredit = milliseconds(10);
constexpr Duration kLooksForGone = milliseconds(20);
constexpr double kRefusalMemory = 64, kReadingMemory = 16;
/// A refusal's measured cost is capped at this many times the mean: the thread was descheduled in a
/// longer one.
constexpr double kMostRefusals = 4;

void Count(std::atomic<uint64_t>* counter) { counter->fetch_add(1, std::memory_order_relaxed); }

template <typename T>
void Put(std::atomic<T>* gauge, T value) {
  gauge->store(value, std::memory_order_relaxed);
}

Duration Times(double factor, Duration of) {
  return Duration(static_cast<int64_t>(factor * static_cast<double>(of.count())));
}

/// How long a request may wait while there is no overload.
Duration Patience(const Settings& settings, const Ticket& ticket) {
  const Duration burst = milliseconds(settings.burst_ms);
  return std::clamp<Duration>(ticket.timeout / kBurstOfTimeout, burst, std::max(burst, kMostBurst));
}

/// A repeated request counts one step lower: first tries are what ends an overload.
Priority StepOf(const Ticket& ticket) {
  if (!ticket.retried || ticket.priority == Priority::kLow) return ticket.priority;
  return static_cast<Priority>(static_cast<int>(ticket.priority) + 1);
}

}  // namespace

Lane::Lane(Admission* admission, LaneOptions options)
    : admission_(admission),
      options_(std::move(options)),
      dice_(std::hash<std::string>{}(options_.name) | 1) {
  assert(options_.parallel > 0);
  Renew();
}

Lane::~Lane() {
  requests_.clear();
  streams_.clear();
}

void Lane::Renew() {
  const uint64_t version = admission_->version();
  if (version == settings_version_) return;
  settings_version_ = version;
  settings_ = admission_->Current();
  const int64_t target_ms = options_.disk ? settings_.disk_target_ms : settings_.target_ms;
  overload_.Set(milliseconds(target_ms), milliseconds(settings_.interval_ms));
}

Verdict Lane::Head(Entry* entry, Time now) {
  assert(entry->state_ == Entry::State::kOut);
  Renew();
  const Ticket& ticket = entry->ticket;
  if (ticket.cls == Class::kProbe) return {};
  if (ticket.retried) Count(&counters_.retried);
  const Duration estimate = costs_.Estimate(ticket);
  ++heads_;
  Offer(ticket, estimate, now);
  const Verdict verdict = Judge(ticket, estimate, now);
  if (verdict.admitted()) {
    entry->state_ = Entry::State::kAdmitted;
    CountBytes(entry);
  }
  Publish(now);
  return verdict;
}

/// What is asked counts, whether or not it is taken.
void Lane::Offer(const Ticket& ticket, Duration estimate, Time now) {
  Duration full = estimate;
  if (full_costs_.Knows(ticket)) full = std::max(full, full_costs_.Estimate(ticket));
  Duration reading{0};  // of the pieces of a stream it is in no count of heads
  if (ticket.cls != Class::kStream) {
    reading = Duration(static_cast<int64_t>(reading_ns_));
    const double weight = ticket.tenant == nullptr ? 1 : ticket.tenant->weight();
    shares_.Asked(ticket.tenant_key, weight, estimate + reading, options_.parallel, now);
    overload_.Came(Patience(settings_, ticket));
  }
  load_.Offer(estimate + reading, options_.parallel, now);
  full_load_.Offer(full + reading, options_.parallel, now);
  if (overload_.Renew(requests_.empty(), load_.At(now), now)) Count(&counters_.episodes);
}

/// The time until what waits now has been run.
Duration Lane::Wait() const { return work_ / static_cast<int64_t>(options_.parallel); }

/// Whether the lane can answer all callers within an interval, if they all ask at once. A refusal
/// would only make them ask again.
bool Lane::FewCallers() const {
  const auto callers = static_cast<int64_t>(callers_);
  return callers > 0 && callers * overload_.MeanCost() <= overload_.Interval();
}

/// The wait that a request may find.
Duration Lane::LimitOf(const Ticket& ticket, Duration estimate, Time now) const {
  if (!overload_.over()) return std::max(overload_.Interval(), Patience(settings_, ticket));
  const bool alone = !shares_.HasOthers(ticket.tenant_key);
  const bool cheap = static_cast<double>(estimate.count()) < kCheapRefusals * refusal_ns_;
  if (cheap || (alone && FewCallers())) {
    return std::max<Duration>(overload_.Interval(), milliseconds(settings_.burst_ms));
  }
  const double factor = settings_.priority_factors[static_cast<size_t>(StepOf(ticket))];
  const Duration limit = Times(factor, overload_.Limit());
  if (alone) return limit;
  const double share = shares_.ShareOf(ticket.tenant_key);
  if (shares_.LoadOf(ticket.tenant_key, now) <= share) return kBelowShareTimes * limit;
  const Duration own = Times(share, limit * static_cast<int64_t>(options_.parallel));
  return shares_.WorkOf(ticket.tenant_key) > own ? Duration(-1) : limit;
}

Verdict Lane::Judge(const Ticket& ticket, Duration estimate, Time now) {
  Duration wait{0};
  const Reason rate = ticket.tenant == nullptr ? Reason::kNone : ticket.tenant->Admit(now, &wait);
  if (rate != Reason::kNone) {
    Verdict verdict = Refuse(ticket, rate, Place::kHead, now);
    verdict.retry_after = wait;
    return verdict;
  }
  if (!settings_.enabled) return {};
  const Reason reason = JudgeQueue(ticket, estimate, now);
  return reason == Reason::kNone ? Verdict{} : Refuse(ticket, reason, Place::kHead, now);
}

Reason Lane::JudgeQueue(const Ticket& ticket, Duration estimate, Time now) const {
  if (admission_->degrade().Refuses(ticket.priority)) return Reason::kByHand;
  if (ticket.timeout > Duration(0) &&
      now - ticket.first_byte + Wait() + estimate > ticket.timeout) {
    return Reason::kTimeout;
  }
  if (shares_.HasOthers(ticket.tenant_key) &&
      shares_.BytesOf(ticket.tenant_key) + ticket.bytes > settings_.tenant_bytes) {
    return Reason::kMemory;
  }
  if (requests_.empty()) return Reason::kNone;
  const Duration limit = LimitOf(ticket, estimate, now);
  if (limit < Duration(0)) return Reason::kShare;
  return Wait() > limit ? Reason::kOverloaded : Reason::kNone;
}

Verdict Lane::Refuse(const Ticket& ticket, Reason reason, Place place, Time now) {
  Count(&counters_.refused[static_cast<size_t>(place)][static_cast<size_t>(reason)]
                          [static_cast<size_t>(ticket.priority)]);
  // Half of the time that the overload has lasted, and by chance up to as much again.
  const Duration lasted = overload_.over() ? Duration(now - overload_.since()) : Duration(0);
  const Duration most = std::chrono::seconds(settings_.retry_after_max_s);
  const Duration base = std::clamp<Duration>(lasted / 2, std::chrono::seconds(1), most);
  dice_ ^= dice_ << 13;
  dice_ ^= dice_ >> 7;
  dice_ ^= dice_ << 17;
  return {reason,
          base + Duration(static_cast<int64_t>(dice_ % static_cast<uint64_t>(base.count() + 1)))};
}

Verdict Lane::Complete(Entry* entry, Time came, Time now) {
  assert(entry->state_ == Entry::State::kOut || entry->state_ == Entry::State::kAdmitted);
  const bool passed_on = entry->state_ == Entry::State::kOut;
  const Ticket& ticket = entry->ticket;
  const bool stream = ticket.cls == Class::kStream;
  const Duration estimate = costs_.Estimate(ticket);
  if (passed_on) {
    Renew();
    Offer(ticket, estimate, now);
  }
  const Duration limit = std::max(overload_.Limit(), LimitOf(ticket, estimate, now));
  if (settings_.enabled && !stream && !requests_.empty() && Wait() > kBodyTimes * limit) {
    Out(entry);
    return Refuse(ticket, Reason::kOverloaded, Place::kBody, now);
  }
  entry->came_ = came;
  entry->estimate_ = estimate;
  entry->state_ = Entry::State::kWaits;
  CountBytes(entry);
  if (stream) {
    streams_.push_back(*entry);
  } else {
    if (requests_.empty()) overload_.CameToEmpty(now);
    entry->counted_work_ = shares_.Add(ticket.tenant_key, estimate, 0);
    requests_.push_back(*entry);
    work_ += estimate;
  }
  Publish(now);
  return {};
}

Lane::Turn Lane::Take(Time now) {
  Renew();
  if (overload_.Renew(requests_.empty(), load_.At(now), now)) Count(&counters_.episodes);
  if (empty()) {
    Publish(now);
    return {};
  }
  Turn turn;
  if (IsStreamsTurn()) {
    turn.entry = &streams_.front();
  } else {
    turn.entry = &requests_.front();
    const Reason reason = JudgeWaiting(*turn.entry, now);
    if (reason != Reason::kNone) {
      turn.verdict = Refuse(turn.entry->ticket, reason, Place::kQueue, now);
      Out(turn.entry);
      Publish(now);
      return turn;
    }
    // The loop is late. Of the oldest nobody knows who waits still; the newest are in time.
    if (IsStale(*turn.entry, now)) turn.entry = &requests_.back();
  }
  Unqueue(turn.entry);
  turn.entry->state_ = Entry::State::kRuns;
  if (requests_.empty()) overload_.Emptied(now);
  counters_.queued.Add(now - turn.entry->came_);
  Publish(now);
  return turn;
}

bool Lane::IsStreamsTurn() const {
  if (streams_.empty()) return false;
  if (requests_.empty()) return true;
  if (overload_.over()) return stream_credit_ > Duration(0);
  return streams_.front().came_ <= requests_.front().came_;
}

/// Whether the oldest is to be refused after all.
Reason Lane::JudgeWaiting(const Entry& entry, Time now) const {
  if (!settings_.enabled) return Reason::kNone;
  const Ticket& ticket = entry.ticket;
  if (ticket.timeout > Duration(0)) {
    const Duration age = now - ticket.first_byte;
    return age + entry.estimate_ > ticket.timeout ? Reason::kTimeout : Reason::kNone;
  }
  return overload_.over() && IsStale(entry, now) ? Reason::kStale : Reason::kNone;
}

bool Lane::IsStale(const Entry& entry, Time now) const {
  return entry.ticket.timeout == Duration(0) &&
         now - entry.came_ > std::max(kLeastStale, kStaleTimes * overload_.Limit());
}

void Lane::Done(Entry* entry, Duration took, Time now) {
  assert(entry->state_ == Entry::State::kRuns);
  const Ticket& ticket = entry->ticket;
  costs_.Learn(ticket, took);
  if (admission_->degrade().level() == 0 || !full_costs_.Knows(ticket)) {
    full_costs_.Learn(ticket, took);
  }
  if (ticket.cls == Class::kStream) {
    stream_credit_ -= took;
  } else {
    overload_.Served(took);
    stream_credit_ += took / kStreamOf;
    Count(&counters_.answered);
  }
  stream_credit_ = overload_.over()
                       ? std::clamp(stream_credit_, -kMostStreamCredit, kMostStreamCredit)
                       : Duration(0);
  if (ticket.tenant != nullptr) ticket.tenant->AddWork(took, now);
  Out(entry);
  Publish(now);
}

void Lane::Remove(Entry* entry) {
  if (entry->waits()) {
    Count(&counters_.gone);
    Unqueue(entry);
    Put(&counters_.waiting, static_cast<int64_t>(size()));
    Put(&counters_.work_ns, Wait().count());
  }
  Out(entry);
}

void Lane::SpentReading(Duration took) {
  read_ += took;
  if (heads_ == 0) return;
  const double each = static_cast<double>(read_.count()) / static_cast<double>(heads_);
  reading_ns_ += (each - reading_ns_) / kReadingMemory;
  read_ = Duration(0);
  heads_ = 0;
}

void Lane::SpentRefusing(Duration took, Duration late) {
  const double ns = std::min(static_cast<double>(took.count()), kMostRefusals * refusal_ns_);
  refusal_ns_ += (ns - refusal_ns_) / kRefusalMemory;
  counters_.refusals.Add(late);
}

void Lane::LoopGap(Duration gap) { counters_.gaps.Add(gap); }

bool Lane::LooksForGone(Time now) const {
  if (requests_.empty()) return false;
  return overload_.over() || now - requests_.front().came_ > kLooksForGone;
}

bool Lane::CheapRequests() const {
  return overload_.over() &&
         static_cast<double>(overload_.MeanCost().count()) < kCheapRefusals * refusal_ns_;
}

double Lane::IntakeShare(bool flooded) const {
  const double share = settings_.intake_share;
  return flooded || CheapRequests() ? std::min(kAnsweringShare, share) : share;
}

/// Counts the bytes of the ticket for its tenant, instead of what was counted.
void Lane::CountBytes(Entry* entry) {
  const auto bytes = static_cast<int64_t>(std::min<uint64_t>(entry->ticket.bytes, INT64_MAX));
  if (entry->counted_ && entry->bytes_ == bytes) return;
  const int64_t before = entry->counted_ ? entry->bytes_ : 0;
  entry->counted_ = shares_.Add(entry->ticket.tenant_key, Duration(0), bytes - before);
  entry->bytes_ = bytes;
}

void Lane::Unqueue(Entry* entry) {
  if (entry->ticket.cls == Class::kStream) {
    streams_.erase(List::s_iterator_to(*entry));
  } else {
    requests_.erase(List::s_iterator_to(*entry));
    work_ -= entry->estimate_;
    if (entry->counted_work_) shares_.Add(entry->ticket.tenant_key, -entry->estimate_, 0);
    entry->counted_work_ = false;
  }
  entry->state_ = Entry::State::kAdmitted;
}

void Lane::Out(Entry* entry) {
  if (entry->waits()) Unqueue(entry);
  if (entry->counted_) shares_.Add(entry->ticket.tenant_key, Duration(0), -entry->bytes_);
  entry->counted_ = false;
  entry->bytes_ = 0;
  entry->state_ = Entry::State::kOut;
}

void Lane::Publish(Time now) {
  Put(&counters_.waiting, static_cast<int64_t>(size()));
  Put(&counters_.work_ns, Wait().count());
  Put(&counters_.load, load_.At(now));
  Put(&counters_.full_load, full_load_.At(now));
  Put(&counters_.load_at, now);
  Put(&counters_.overloaded, overload_.over());
}

}  // namespace seendb::admission
