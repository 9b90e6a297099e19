#include "simulation/world.h"

#include <algorithm>
#include <utility>

#include "filter/hash.h"
#include "simulation/checks_clock.h"
#include "simulation/checks_counts.h"

namespace seendb::simulation {
namespace {

constexpr char kPath[] = "/db";

}  // namespace

World::World(const Script& script, Opener opener, Tally* tally)
    : options_(script.options),
      opener_(std::move(opener)),
      tally_(tally),
      env_(NewQuickEnv(disk_.env(), script.options_files, &points_)),
      model_(script.options.shards, [shards = script.options.shards](const std::string& user) {
        return ShardOf(IdRef(user), shards);
      }) {
  model_.may_be_set_back =
      std::any_of(script.operations.begin(), script.operations.end(),
                  [](const Operation& one) { return one.verb == Verb::kSetClock; });
  model_.SetPolicy("default", Policy{});
}

World::~World() = default;

void World::Note(uint64_t value) { digest_ = (digest_ ^ value) * 1'099'511'628'211ULL; }

void World::SetTime(int64_t now_ms) {
  clock_.now_ms = now_ms;
  model_.SetTime(now_ms);
}

void World::CheckExcused(const char* what, const Status& status) const {
  if (status.ok() || Excused()) return;
  throw Violation(std::string(what) + ": " + status.ToString() + ", though nothing failed");
}

void World::CountVerdicts(const std::string& collection, const std::vector<Sent>& sent) {
  if (!model_.PolicyOf(collection).history.enabled) return;
  for (const Sent& one : sent) {
    if (!model_.Takes(collection, one)) continue;
    const bool enters =
        model_.history().Judge(collection, one.user, one.at_ms) == HistoryModel::Verdict::kBoth;
    ++(enters ? expected.history_recorded : expected.history_paused);
  }
}

void World::CheckFull() const {
  std::vector<bool> has_current(model_.shards(), false);
  for (const SlotInfo& slot : engine_->Ring()) {
    if (slot.state == "current") has_current[slot.shard] = true;
  }
  if (std::find(has_current.begin(), has_current.end(), false) == has_current.end()) {
    throw Violation("busy, though every shard has a current slot");
  }
}

// ---- Opening ----

void World::TryOpen() {
  ++tally_->opened;
  expected = {};
  counts_known_ = true;
  stopped_.reset();
  failures_at_open_ = disk_.failures();
  Result<std::unique_ptr<Engine>> opened = opener_(kPath, options_, seams());
  if (opened.ok()) {
    engine_ = std::move(opened).value();
    return;
  }
  if (!Excused()) throw Violation("open: " + opened.status().ToString());
}

void World::Open() {
  TryOpen();
  while (engine_ == nullptr) {  // an armed failure met the opening: it is gone now
    if (disk_.crashed()) {
      ++tally_->crashes;
      if (armed_cut_) {
        ++tally_->power_cuts;
        power_was_cut_ = true;
        disk_.PowerCut(*std::exchange(armed_cut_, {}));
      }
      disk_.Revive();
      armed_ = false;
    }
    Disarm();
    reads_fail_ = false;
    TryOpen();
  }
  Settle();
  power_was_cut_ = false;
  if (Excused()) return;
  model_.AllSynced();
  Sweep(engine_.get(), ReadsFail());
}

void World::Settle() {
  SettlePolicies();
  SettleErasures();
  SettlePauses();
  SettleSources();
  for (uint32_t shard = 0; shard < model_.shards(); ++shard) {
    if (power_was_cut_) model_.marks().Cut(shard);
    SettleCalls(shard);
  }
}

void World::Reopen(uint32_t ring_slots) {
  const Status closed = engine_->Close();
  if (closed.ok()) model_.AllSynced();
  CheckExcused("close", closed);
  engine_.reset();
  if (ring_slots != 0) options_.ring_slots = ring_slots;
  Open();
}

void World::Die(std::optional<uint64_t> power_seed) {
  ++tally_->crashes;
  disk_.Crash();
  engine_.reset();
  if (power_seed) {
    ++tally_->power_cuts;
    power_was_cut_ = true;
    disk_.PowerCut(*power_seed);
  }
  armed_cut_.reset();
  reads_fail_ = false;
  disk_.Revive();
  armed_ = false;
  Open();
}

void World::Disarm() {
  disk_.Clear();
  armed_ = false;
}

void World::Arm(const Operation& operation) {
  armed_ = true;
  const int skip = static_cast<int>(operation.number);
  if (operation.verb != Verb::kFail) {
    if (operation.verb == Verb::kCut) armed_cut_ = operation.seed;
    disk_.CrashAt(operation.kinds, operation.part, skip);
    return;
  }
  reads_fail_ = reads_fail_ || (operation.kinds & MemDisk::kReading) != 0;
  const auto error = operation.error == "full" ? rocksdb::IOStatus::NoSpace("full")
                                               : rocksdb::IOStatus::IOError("broken");
  operation.error == "short" ? disk_.FailShort(operation.kinds, operation.part, error, skip, 1)
                             : disk_.Fail(operation.kinds, operation.part, error, skip, 1);
}

void World::Recover(const Status& status) {
  if (disk_.crashed()) return Die(std::exchange(armed_cut_, {}));
  if (status.ok() || !Excused() || stopped_) return;
  const bool asks = status.code() == StatusCode::kIOError ||
                    status.code() == StatusCode::kCorruption ||
                    status.code() == StatusCode::kUnavailable;
  if (!asks) return;
  ++tally_->failures;
  if (StopsOne()) return;
  Sweep(engine_.get(), true);  // reads go on
  const Status closed = engine_->Close();
  if (closed.ok()) model_.AllSynced();
  engine_.reset();
  armed_cut_.reset();
  reads_fail_ = false;
  Disarm();
  Open();
}

// ---- What an opening tells ----

void World::Doubt(const std::string& user, int64_t at_ms) { doubted_erasures_[user] = at_ms; }
void World::Doubt(const std::string& collection, const Policy& policy) {
  doubted_policies_[collection] = policy;
  model_.history().Distrust(collection);
}

void World::SettlePolicies() {
  std::map<std::string, Policy> found;
  for (const CollectionInfo& info : engine_->Collections()) found[info.name] = info.policy;
  const auto same = [](Policy a, const Policy& reported) {
    a.max_filter_bytes = EffectiveMaxFilterBytes(a);
    return a == reported;
  };
  for (const auto& [name, policy] : std::exchange(doubted_policies_, {})) {
    if (!found.contains(name) || !same(policy, found[name])) continue;
    const auto before = model_.policies().find(name);
    const bool begins_anew =
        before != model_.policies().end() && !SameFixedFields(before->second, policy);
    begins_anew ? model_.BeginAnew(name, policy) : model_.SetPolicy(name, policy);
  }
  for (const auto& [name, policy] : model_.policies()) {
    if (!found.contains(name)) throw Violation("the collection " + name + " is gone");
    if (!same(policy, found[name])) throw Violation("the policy of " + name + " is another");
  }
  if (found.size() != model_.policies().size()) throw Violation("collections nobody made");
}

void World::SettleErasures() {
  for (const auto& [user, at_ms] : std::exchange(doubted_erasures_, {})) {
    const Result<UserReport> report = engine_->Inspect(IdRef(user));
    if (!report.ok()) throw Violation("inspect " + user + ": " + report.status().ToString());
    if (!report->erased_at_ms || *report->erased_at_ms < at_ms) continue;
    if (report->erased_at_ms != model_.ErasedAt(user)) {
      model_.Erase(user, *report->erased_at_ms);
      continue;
    }
    // An erasure of before reaches as far: nobody can tell whether this one holds.
    Erasure erasure;
    const Status again = engine_->EraseUser(IdRef(user), {}, &erasure);
    if (!again.ok()) throw Violation("erase " + user + " again: " + again.ToString());
    if (!erasure.written) throw Violation("erase " + user + " again: its erasure is not known");
    ++expected.users_erased;
    model_.Erase(user, std::max(at_ms, erasure.until_ms));
  }
  for (const auto& [of, at_ms] : std::exchange(doubted_forgotten_, {})) {
    const auto& [user, collection] = of;
    const Result<UserReport> report = engine_->Inspect(IdRef(user), collection);
    if (!report.ok()) throw Violation("inspect " + user + ": " + report.status().ToString());
    for (const auto& [name, forgotten_ms] : report->forgotten_at_ms) {
      if (forgotten_ms == at_ms) model_.Forget(name, user, at_ms);
      // A clear of before, as the clock was ahead, reaches further: nobody can tell.
      if (forgotten_ms > at_ms) ForgetAgain(name, user);
    }
  }
}

void World::ForgetAgain(const std::string& collection, const std::string& user) {
  const std::string_view of[] = {collection};
  const Status again = engine_->ClearHistory(IdRef(user), {.collections = of, .filter = true});
  if (!again.ok()) throw Violation("clear " + user + " again: " + again.ToString());
  ++expected.history_cleared;
  model_.history().Clear(collection, user, true);
  model_.Forget(collection, user, model_.now_ms);
}

World::Observed World::Observe(const OpenPlay& play, uint64_t call,
                               const std::vector<OpenCall>& calls) {
  // Of an earlier call; where nothing is lost a later one holds as well.
  if (model_.IsSure(play, in_place_ ? UINT64_MAX : call) ||
      play.bucket < model_.OldestRead(play.collection)) {
    return Observed::kUnknown;
  }
  const Lift* lift = model_.history().LiftOf(play.collection, play.user, play.item);
  if (lift != nullptr && (!lift->ended || !lift->sure)) return Observed::kUnknown;
  const Expected expected_facts = model_.Expect(play.collection, play.user);
  const auto known = expected_facts.played_maybe.find(play.item);
  if (known == expected_facts.played_maybe.end()) return Observed::kUnknown;  // erased since
  Question question;
  question.collection = play.collection;
  question.user = play.user;
  question.filter.items = {play.item};
  question.filter.facts = kFactPlays;
  question.filter.explain = true;
  FilterResponse answer;
  if (!Answer(engine_.get(), question, &answer).ok() || answer.degraded) return Observed::kUnknown;
  if (!answer.unseen.empty()) {
    return BeyondCeiling(model_, play.collection, play.user, play.bucket, engine_.get())
               ? Observed::kUnknown
               : Observed::kAbsent;
  }
  if (answer.reasons[0].kind != ReasonKind::kRing || known->second.size() > 1) {
    return Observed::kUnknown;
  }
  size_t senders = 0;
  for (const OpenCall& other : calls) {
    senders += std::any_of(other.plays.begin(), other.plays.end(), [&](const OpenPlay& p) {
      return p.collection == play.collection && p.user == play.user && p.item == play.item;
    });
  }
  return senders == 1 ? Observed::kPresent : Observed::kUnknown;
}

// A call happened whole in a shard or not at all; of calls of a shard a power cut keeps the first
// ones, however many.
void World::SettleCalls(uint32_t shard) {
  const std::vector<OpenCall> calls = model_.OpenCalls(shard);
  std::map<uint64_t, Observed> seen;
  std::vector<OpenPlay> absent;
  uint64_t last_present = 0, last = 0;
  for (const OpenCall& call : calls) {
    last = call.number;
    Observed& whole = seen[call.number] = ObserveSteps(shard, call, calls);
    if (call.acknowledged && !power_was_cut_) continue;
    for (const OpenPlay& play : call.plays) {
      const Observed one = Observe(play, call.number, calls);
      if (one == Observed::kAbsent) absent.push_back(play);
      if (one == Observed::kUnknown) continue;
      if (whole != Observed::kUnknown && whole != one) {
        throw Violation("half of a call is there: " + play.user + " " + play.item);
      }
      whole = one;
    }
    if (whole == Observed::kPresent) last_present = call.number;
  }
  uint64_t kept = power_was_cut_ ? last_present : last;
  std::set<uint64_t> found;
  for (const OpenCall& call : calls) {
    if (seen[call.number] == Observed::kPresent) found.insert(call.number);
    if (!call.acknowledged) continue;
    if (call.number <= kept && seen[call.number] == Observed::kAbsent) {
      throw Violation("a call was lost and a later one of the shard kept: " +
                      call.plays.front().user + " " + call.plays.front().item);
    }
    if (call.number > kept) ++tally_->lost_calls;
  }
  SettleHistory(shard, kept);
  model_.Settle(shard, kept, found);
  model_.sources().Settle(shard, power_was_cut_, stored_[shard]);
  for (const OpenPlay& play : absent) model_.Gone(play);
}

// ---- Asking ----

// Exposures beside the facts, which count as they do without a question.
seendb::Question World::AskedOf(const ScriptFilter& filter, std::vector<NotEntry>* no) {
  if (!filter.exposed_ms) return {};
  NotEntry& exposed = no->emplace_back(NotEntry{.fact = Fact::kExposed});
  exposed.surface = filter.surface;
  if (*filter.exposed_ms > 0) exposed.within_ms = *filter.exposed_ms;
  if ((filter.facts & kFactPlays) != 0) no->push_back({.fact = Fact::kPlayed});
  if ((filter.facts & kFactImpressions) != 0) no->push_back({.fact = Fact::kServed});
  return {.no = *no};
}

Status World::Answer(Engine* engine, const Question& question, FilterResponse* answer) {
  const ScriptFilter& filter = question.filter;
  std::vector<IdRef> items, exclude;
  for (const std::string& item : filter.items) items.emplace_back(item);
  for (const std::string& item : filter.exclude) exclude.emplace_back(item);
  FilterRequest request;
  request.collection = question.collection;
  request.user = IdRef(question.user);
  request.items = items;
  request.exclude = exclude;
  request.facts = static_cast<uint8_t>(filter.facts);
  request.limit = filter.limit;
  request.explain = filter.explain;
  request.verify = filter.verify;
  request.record = filter.record;
  request.on_error = filter.strict ? OnError::kFail : OnError::kDegrade;
  request.deadline_us = filter.late ? 1 : 0;
  std::vector<NotEntry> no;
  seendb::Question asked = AskedOf(filter, &no);
  std::vector<ItemGroup> of;
  std::vector<std::string_view> names;
  std::vector<CandidateGroups> groups;
  if (filter.marks) {
    for (const std::string& item : filter.items) of.push_back(GroupOf(item));
    for (const ItemGroup& one : of) names.emplace_back(one.group);
    for (size_t i = 0; i < of.size(); ++i) groups.push_back({{&names[i], 1}, of[i].at_ms});
    asked.groups = groups;
  }
  if (filter.exposed_ms || filter.marks) request.question = &asked;
  const Status status = engine->Filter(request, answer);
  if (engine == engine_.get() && status.code() != StatusCode::kNotFound) {
    ++expected.filters;
    expected.candidates += answer->examined;
    expected.candidates_seen += answer->seen;
    expected.filters_degraded += answer->degraded ? 1 : 0;
  }
  if (!status.ok() || !filter.record || answer->recorded) return status;
  // The answer stands; what came of the record is told as if that had been a call of its own.
  const bool busy = engine == engine_.get() && engine->Stats().busy > expected.busy;
  return busy ? Status::Busy("not recorded") : Status::IOError("not recorded");
}

void World::Examine(const Question& question, const Status& status, const FilterResponse& answer,
                    bool note) {
  note = note && !question.filter.late;
  // How compactions group what they merge, and so which filters are wrong, is left to chance.
  const bool blurred = model_.PolicyOf(question.collection).fpr > 0.2;
  if (note) Note(status);
  const ScriptFilter& filter = question.filter;
  const bool busy = status.code() == StatusCode::kBusy && filter.record;
  const bool dropped = filter.strict && status.code() == StatusCode::kUnavailable &&
                       MayMissDropped(model_, question.collection);
  if (!status.ok() && !busy && !filter.late && !ReadsFail() && !dropped) {
    CheckExcused("filter", status);
  }
  if (filter.strict && status.ok() && answer.degraded) {
    throw Violation("degraded, and kFail was asked for");
  }
  // What was to be recorded: the answer stands whether that worked or not.
  if (!status.ok() && status.code() == StatusCode::kUnavailable) return;
  CheckAnswer(model_, question, answer, engine_.get(), ReadsFail(), tally_);
  if (note && !answer.degraded && !blurred) {
    for (const uint32_t at : answer.unseen) Note(at);
    for (const Reason& reason : answer.reasons) {
      // Whether a play in the middle of a drain came before or after it is left to chance.
      const bool ring = reason.kind == ReasonKind::kRing;
      Note(static_cast<uint64_t>(ring ? ReasonKind::kPlay : reason.kind));
    }
    Note(answer.seen);
  }
  if (filter.record) {
    std::vector<Sent> served;
    for (const uint32_t at : answer.unseen) {
      served.push_back({question.user, filter.items[at], answer.recorded_at_ms});
    }
    CheckServedAt(model_, question, answer);
    if (busy) ++expected.busy;
    if (!busy) {
      if (status.ok()) {
        for (const Sent& one : served) {
          model_.Takes(question.collection, one, Model::At::kThisMoment)
              ? ++expected.impressions_accepted
              : ++expected.impressions_refused;
        }
      }
      model_.Serve(question.collection, served, status.ok(), Model::At::kThisMoment);
      if (status.ok() && model_.PolicyOf(question.collection).durability == Durability::kSync &&
          !served.empty() && model_.KeepsServed(question.collection)) {
        model_.Synced(model_.ShardOf(question.user));
      }
    }
  }
}

void World::Sweep(Engine* engine, bool excused, const Operation* but) {
  for (const auto& [collection, policy] : model_.policies()) {
    if (doubted_policies_.contains(collection)) continue;
    for (const std::string& user : model_.UsersOf(collection)) {
      if ((but != nullptr && user == but->user) || Doubts(user)) continue;
      Expected all = model_.Expect(collection, user);
      Question question;
      question.collection = collection;
      question.user = user;
      question.filter.explain = true;
      question.filter.verify = true;
      for (const auto& [item, buckets] : all.played_maybe) question.filter.items.push_back(item);
      for (const std::string& item : all.served_maybe) question.filter.items.push_back(item);
      model_.ExpectExposed(collection, user, INT64_MIN, {}, &all);
      for (const std::string& item : all.exposed_maybe) question.filter.items.push_back(item);
      if (!all.exposed_maybe.empty()) question.filter.exposed_ms = 0;
      FilterResponse answer;
      const Status status = Answer(engine, question, &answer);
      if (!status.ok()) {
        throw Violation("filter " + collection + " " + user + ": " + status.ToString());
      }
      const bool may_miss = excused || stopped_ == model_.ShardOf(user);
      CheckAnswer(model_, question, answer, engine, may_miss, tally_);
      if (!may_miss) CheckCounts(model_, collection, user, engine, tally_);
    }
  }
  excused = excused || stopped_;
  if (!excused) SweepDays(engine, but);
  if (!excused && but == nullptr) SweepSources(engine);
  SweepHistory(engine, excused, but);
}

}  // namespace seendb::simulation
