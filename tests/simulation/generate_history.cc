#include "simulation/generate_history.h"

#include <algorithm>
#include <map>
#include <utility>

#include "seendb/events.h"
#include "seendb/history.h"
#include "simulation/dice.h"

namespace seendb::simulation {
namespace {

constexpr int64_t kHour = 3'600'000;

class Decorator {
 public:
  Decorator(uint64_t seed, std::vector<Operation> operations)
      : dice_(seed ^ 0x6869'7374'6f72'79ULL), given_(std::move(operations)) {}

  std::vector<Operation> Run() {
    if (dice_.Chance(50)) return std::move(given_);
    for (size_t i = 0; i < given_.size(); ++i) {
      Operation& operation = given_[i];
      if (operation.verb == Verb::kClock) now_ms_ = operation.number;
      if (operation.verb == Verb::kMiddle && i + 2 < given_.size()) {
        made_.push_back(operation);
        made_.push_back(given_[++i]);
        Middle(&given_[++i]);
        continue;
      }
      Change(&operation);
      made_.push_back(operation);
      if (i == 0) Default();
      if (operation.verb == Verb::kPlay && dice_.Chance(10)) Repeat(operation);
      while (dice_.Chance(25)) Add();
    }
    return std::move(made_);
  }

 private:
  // ---- Policies ----

  // At most 25 buckets of history: the families of a database are limited.
  HistoryPatch Loose(const std::string& collection, bool all) {
    HistoryPatch patch;
    const uint32_t most = 25 * collections_.at(collection);
    if (all || dice_.Chance(50)) {
      patch.days = std::min(most, dice_.Of<uint32_t>({1, 10, 40, 90, 90, 400}));
    }
    if (dice_.Chance(50)) patch.max_entries = dice_.Of<uint32_t>({1, 4, 12, 10'000, 10'000});
    if (dice_.Chance(15)) patch.ids_only = dice_.Chance(50);
    if (dice_.Chance(50)) patch.deleted_items = static_cast<DeletedItems>(dice_.Below(2));
    if (dice_.Chance(50)) patch.when_paused = static_cast<WhenPaused>(dice_.Below(2));
    return patch;
  }
  void Default() {
    collections_["default"] = 30;
    Operation put;
    put.verb = Verb::kPut;
    put.collection = "default";
    put.patch.history = Loose("default", true);
    put.patch.history.enabled = dice_.Chance(75);
    made_.push_back(std::move(put));
  }
  void Switch() {
    Operation put;
    put.verb = Verb::kPut;
    put.collection = Collection();
    put.patch.history = Loose(put.collection, false);
    if (dice_.Chance(40)) put.patch.history.enabled = dice_.Chance(60);
    made_.push_back(std::move(put));
  }

  // ---- What is there already ----

  void Change(Operation* operation) {
    if (operation->verb == Verb::kPlay) return Watched(operation);
    if (operation->verb != Verb::kPut) return;
    const BucketSpec bucket = operation->patch.bucket.value_or(BucketSpec{});
    const uint32_t days = bucket.kind == BucketKind::kMonth ? 30 : bucket.days;
    if (!collections_.emplace(operation->collection, days).second) {
      operation->patch.retention.reset();
      return;
    }
    operation->patch.history = Loose(operation->collection, true);
    operation->patch.history.enabled = dice_.Chance(75);
  }

  // Few values, so that the same report and another one of the same time are met. Much is not said.
  ScriptWatch Watch() {
    ScriptWatch watch;
    if (dice_.Chance(70)) watch.progress_s = static_cast<int32_t>(dice_.Between(-1, 4));
    if (dice_.Chance(50)) watch.duration_s = static_cast<int32_t>(dice_.Between(0, 2));
    if (dice_.Chance(30)) watch.device = dice_.Of({"tv", "phone"});
    if (dice_.Chance(30)) watch.fields = std::string(dice_.Below(dice_.Chance(5) ? 1000 : 20), 'f');
    return watch;
  }
  void Watched(Operation* operation) {
    std::vector<ScriptEvent> events;
    for (ScriptEvent& event : operation->events) {
      if (dice_.Chance(20) && !known_[event.user].empty()) {
        event.item = dice_.Of(known_[event.user]);
      }
      if (dice_.Chance(80)) event.watch = Watch();
      known_[event.user].push_back(event.item);
      if (users_.empty() || users_.back() != event.user) users_.push_back(event.user);
      events.push_back(event);
      while (dice_.Chance(15)) {  // a heartbeat, of any time
        events.push_back(event);
        events.back().watch = Watch();
        if (event.at_ms) *events.back().at_ms += dice_.Between(-1, 1);
      }
    }
    operation->events = std::move(events);
    played_.push_back(*operation);
  }
  // Again, now or long ago, as it was or a little later.
  void Repeat(const Operation& operation) {
    Operation again = dice_.Chance(50) ? operation : dice_.Of(played_);
    if (dice_.Chance(50)) {
      for (ScriptEvent& event : again.events) {
        event.watch = Watch();
        if (event.at_ms && dice_.Chance(50)) *event.at_ms += kHour;
      }
    }
    made_.push_back(std::move(again));
  }
  void Middle(Operation* call) {
    Change(call);
    const size_t copies = made_.size() - 1;
    const bool copied = made_[copies].verb == Verb::kCheckpoint;
    if (call->verb == Verb::kFilter && !users_.empty() && dice_.Chance(60)) {
      copied ? Read() : dice_.Chance(60) ? Write() : Read();
    } else {
      made_.push_back(*call);
    }
  }

  // ---- What is new ----

  std::string Collection() {
    auto at = collections_.begin();
    std::advance(at, static_cast<int64_t>(dice_.Below(collections_.size())));
    return at->first;
  }
  const std::string& User() { return users_[users_.size() - 1 - dice_.Skewed(users_.size())]; }
  Operation& New(Verb verb) {
    Operation& operation = made_.emplace_back();
    operation.verb = verb;
    operation.user = User();
    return operation;
  }
  void NewOfItems(Verb verb, int64_t most) {
    Operation& operation = New(verb);
    operation.collection = Collection();
    const std::vector<std::string>& known = known_[operation.user];
    for (int64_t i = dice_.Between(1, most); i > 0; --i) {
      operation.filter.items.push_back(dice_.Chance(95)
                                           ? known[known.size() - 1 - dice_.Skewed(known.size())]
                                           : "f" + std::to_string(i));
    }
  }
  std::vector<std::string> Some() {
    std::vector<std::string> of;
    while (dice_.Chance(40)) of.push_back(Collection());
    return of;
  }

  void Add() {
    if (users_.empty()) return;
    if (dice_.Chance(4)) return Switch();
    dice_.Chance(55) ? Read() : Write();
  }
  void Read() {
    const int64_t kind = dice_.Between(0, 9);
    if (kind < 4) {
      NewOfItems(Verb::kLookup, 20);
    } else if (kind < 7) {
      Operation& operation = New(Verb::kHistory);
      operation.of = Some();
      operation.filter.limit = dice_.Of<uint32_t>({1, 2, 5, 5, 20, 1000});
      reading_ = operation.user;
    } else {
      Operation& operation = New(Verb::kMore);
      if (!reading_.empty()) operation.user = reading_;
      operation.number = dice_.Of<int64_t>({0, 1, 1, 1, 2});
    }
  }
  void Write() {
    if (dice_.Chance(8)) return DeleteAhead();
    const int64_t kind = dice_.Between(0, 9);
    if (kind < 5) return NewOfItems(Verb::kDelete, 5);
    if (kind < 6) {
      Operation& operation = New(Verb::kClear);
      operation.of = Some();
      operation.number = dice_.Chance(40) ? 1 : 0;
    } else {
      New(dice_.Chance(50) ? Verb::kPause : Verb::kResume);
    }
  }

  // A play ahead of the clock, which is deleted; then others about that time, as a device goes on
  // whose clock is right, or as a message is sent again.
  void DeleteAhead() {
    NewOfItems(Verb::kDelete, 1);
    Operation deletion = std::move(made_.back());
    const int64_t ahead_ms = now_ms_ + dice_.Between(1, 20 * kHour);
    made_.back() = {};
    made_.back().verb = Verb::kPlay;
    made_.back().collection = deletion.collection;
    made_.back().events.push_back({deletion.user, deletion.filter.items[0], ahead_ms});
    Operation again = made_.back();
    made_.push_back(std::move(deletion));
    again.events.resize(2, again.events[0]);
    for (ScriptEvent& event : again.events) {
      event.watch = Watch();
      event.at_ms =
          dice_.Chance(50) ? ahead_ms + dice_.Between(-1, 1) : dice_.Between(now_ms_ - 1, ahead_ms);
    }
    made_.push_back(std::move(again));
  }

  Dice dice_;
  std::vector<Operation> given_, made_, played_;
  std::map<std::string, uint32_t> collections_;            // days of a bucket
  std::vector<std::string> users_;                         // of all plays
  std::map<std::string, std::vector<std::string>> known_;  // of a user: everything played
  std::string reading_;                                    // who began a list last
  int64_t now_ms_ = 0;
};

}  // namespace

void AddHistory(uint64_t seed, Script* script) {
  script->operations = Decorator(seed, std::move(script->operations)).Run();
}

}  // namespace seendb::simulation
