#include "discovery/registration.h"

#include <utility>

namespace seendb::discovery {
namespace {

constexpr std::chrono::seconds kLookEvery{30}, kRetryAfter{5};

}  // namespace

void Registration::Start(ConsulService service) {
  service_ = std::move(service);
  worker_.Start("consul", [this] { Run(); });
}

void Registration::Stop() { worker_.Stop(); }

void Registration::Run() {
  bool goes_on = true;
  while (goes_on) {
    const Status looked = Look();
    Note(looked);
    goes_on = worker_.Pause(looked.ok() ? kLookEvery : kRetryAfter);
  }
  // The agent may hold an older entry, whatever became of the last try.
  Note(agent_.Deregister(service_.id));
  const MutexLock lock(mutex_);
  registered_ = false;
}

/// Registers unless the agent has the entry: to register again would make its check begin anew.
Status Registration::Look() {
  if (!registered()) return agent_.Register(service_);
  const Result<bool> has = agent_.Has(service_.id);
  if (!has.ok()) return has.status();
  return *has ? Status() : agent_.Register(service_);
}

void Registration::Note(const Status& status) {
  const MutexLock lock(mutex_);
  registered_ = status.ok();
  problem_ = status.ok() ? "" : "consul: " + std::string(status.message());
}

std::string Registration::Problem() const {
  const MutexLock lock(mutex_);
  return problem_;
}

bool Registration::registered() const {
  const MutexLock lock(mutex_);
  return registered_;
}

}  // namespace seendb::discovery
