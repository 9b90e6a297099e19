#include "migration/old_store.h"

#include <string_view>
#include <utility>

namespace seendb::migration {
namespace {

/// Connections: a slow question of one does not hold up the other.
constexpr size_t kAskers = 2;
/// Candidates that are asked about in one go.
constexpr size_t kItemsAtOnce = 20'000;
constexpr std::chrono::milliseconds kAskTimeout{1'000};

std::shared_ptr<const OldAnswer> NotGot() {
  static const auto answer = std::make_shared<const OldAnswer>();
  return answer;
}

/// What ZMSCORE says of so many items; not got where it says anything else.
std::shared_ptr<const OldAnswer> AnswerOf(const redis::Reply& reply, size_t items) {
  const auto elements = reply.elements();
  if (elements.size() != items) return NotGot();
  auto answer = std::make_shared<OldAnswer>();
  answer->got = true;
  answer->members.reserve(items);
  for (const redisReply* const score : elements) {
    answer->members.push_back(score->type != REDIS_REPLY_NIL);
  }
  return answer;
}

}  // namespace

OldStore::OldStore(OldLink* link, Counters* counters) : link_(*link), counters_(*counters) {
  for (size_t i = 0; i < kAskers; ++i) threads_.emplace_back([this] { Work(); });
  threads_.emplace_back([this] { Expire(); });
}

OldStore::~OldStore() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    asked_.NotifyAll();
    sooner_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
  for (const auto& [expiry, pending] : expiries_) Answer(*pending, NotGot());
}

void OldStore::Ask(Question question, OnAnswer on_answer) {
  counters_.Add(MigrationCount::kLookups);
  auto pending = std::make_shared<Pending>();
  pending->question = std::move(question);
  pending->on_answer = std::move(on_answer);
  {
    const MutexLock lock(mutex_);
    const size_t items = pending->question.items.size();
    if (!stopping_ && waiting_.size() < kWaitingMost && waiting_items_ + items <= kItemsMost) {
      const Expiry expiry(pending->question.until, pending.get());
      const auto placed = expiries_.emplace(expiry, pending).first;
      if (placed == expiries_.begin()) sooner_.NotifyAll();
      waiting_items_ += items;
      waiting_.push_back(std::move(pending));
      asked_.NotifyOne();
      return;
    }
  }
  Answer(*pending, NotGot());
}

/// Calls back, if nobody else has.
void OldStore::Answer(Pending& pending, std::shared_ptr<const OldAnswer> answer) {
  if (pending.answered.exchange(true)) return;
  if (!answer->got) counters_.Add(MigrationCount::kLookupsFailed);
  pending.on_answer(std::move(answer));
}

/// What waits, as much of it as is asked in one go; nothing once it ends.
std::vector<OldStore::PendingPtr> OldStore::TakeSome() {
  std::vector<PendingPtr> some;
  size_t items = 0;
  const MutexLock lock(mutex_);
  while (waiting_.empty() && !stopping_) asked_.Wait(mutex_);
  while (!waiting_.empty() && !stopping_ && items < kItemsAtOnce) {
    PendingPtr next = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_items_ -= next->question.items.size();
    if (next->answered) continue;  // too late
    items += next->question.items.size();
    some.push_back(std::move(next));
  }
  return some;
}

void OldStore::Work() {
  OldClient client(link_, kAskTimeout);
  for (;;) {
    const std::vector<PendingPtr> some = TakeSome();
    if (!some.empty()) AskAll(client, some);
    const MutexLock lock(mutex_);
    if (stopping_) return;
  }
}

void OldStore::AskAll(OldClient& client, const std::vector<PendingPtr>& some) {
  redis::Pipeline pipeline;
  std::vector<std::string_view> words;
  for (const PendingPtr& one : some) {
    const std::string key = link_.keys().KeyOf(one->question.user);
    words = {"ZMSCORE", key};
    words.insert(words.end(), one->question.items.begin(), one->question.items.end());
    pipeline.Add(words, key);
  }
  const auto replies = client.Run(pipeline);
  for (size_t i = 0; i < some.size(); ++i) {
    if (!replies.ok()) {
      Answer(*some[i], NotGot());
      continue;
    }
    Answer(*some[i], AnswerOf((*replies)[i], some[i]->question.items.size()));
  }
  Forget(some);
}

/// They are answered: nobody waits for their time to be over.
void OldStore::Forget(const std::vector<PendingPtr>& some) {
  const MutexLock lock(mutex_);
  for (const PendingPtr& one : some) expiries_.erase({one->question.until, one.get()});
}

/// Answers those whose time is over.
void OldStore::Expire() {
  for (;;) {
    std::vector<PendingPtr> late;
    {
      const MutexLock lock(mutex_);
      if (stopping_) return;
      if (expiries_.empty()) {
        sooner_.Wait(mutex_);
      } else if (const auto first = expiries_.begin()->first.first; first > Clock::now()) {
        sooner_.WaitUntil(mutex_, first);
      }
      while (!expiries_.empty() && expiries_.begin()->first.first <= Clock::now()) {
        late.push_back(std::move(expiries_.begin()->second));
        expiries_.erase(expiries_.begin());
      }
    }
    for (const PendingPtr& pending : late) Answer(*pending, NotGot());
  }
}

}  // namespace seendb::migration
