#include "redis_importer.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "key_forms.h"
#include "member_time.h"
#include "seendb/id.h"
#include "state_file.h"

namespace seendb::tool {
namespace {

constexpr double kNoteEveryS = 0.25;
constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::milliseconds kPingEvery{100};

double NowS() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

/// What a working thread has for itself.
struct RedisImporter::Worker {
  std::unique_ptr<redis::Client> client;
  std::unique_ptr<PlaySink> sink;
  std::unique_ptr<ImportNotes> notes;  // null: users are not noted
  std::vector<std::string> users;      // of the page, all of whose members were read
  PlayBatch batch;
  Status sink_failure;  // was waited for already
};

RedisImporter::RedisImporter(RedisImportOptions options, KeySource& keys, Pace& pace,
                             RedisTally begin, MakeClient make_client, MakeSinkOf make_sink,
                             MakeNotes make_notes)
    : options_(std::move(options)),
      keys_(keys),
      pace_(pace),
      make_client_(std::move(make_client)),
      make_sink_(std::move(make_sink)),
      make_notes_(std::move(make_notes)),
      tally_(std::move(begin)) {}

RedisTally RedisImporter::tally() const {
  const MutexLock lock(mutex_);
  return tally_;
}

bool RedisImporter::Stopped() const {
  const MutexLock lock(mutex_);
  return !failure_.ok() || InterruptedBy() != 0;
}

void RedisImporter::Fail(Status why) {
  const MutexLock lock(mutex_);
  if (failure_.ok()) failure_ = std::move(why);
  changed_.NotifyAll();
}

Patience RedisImporter::PatienceOf() const {
  return {options_.retry_s, {}, [this] { return Stopped(); }};
}

bool RedisImporter::Push(Page* page) {
  const MutexLock lock(mutex_);
  if (queue_.size() >= 2 * size_t{options_.parallel}) return false;
  queue_.push_back(std::move(*page));
  changed_.NotifyAll();
  return true;
}

bool RedisImporter::Pop(Page* page) {
  const MutexLock lock(mutex_);
  while (queue_.empty() && !fed_ && failure_.ok()) changed_.Wait(mutex_);
  if (queue_.empty() || !failure_.ok() || InterruptedBy() != 0) return false;
  *page = std::move(queue_.front());
  queue_.pop_front();
  changed_.NotifyAll();
  return true;
}

void RedisImporter::Done(const Page& page, const RedisTally& tally) {
  const MutexLock lock(mutex_);
  finished_.emplace(page.number, Finished{page.keys, tally});
  for (auto first = finished_.begin(); first != finished_.end() && first->first == next_page_;
       first = finished_.begin()) {
    tally_.Add(first->second.tally);
    place_ = std::move(first->second.keys.after);
    fraction_ = first->second.keys.fraction;
    place_is_new_ = true;
    ++next_page_;
    finished_.erase(first);
  }
  changed_.NotifyAll();
}

Status RedisImporter::NoteState(bool now) {
  if (options_.state.empty() || (!now && NowS() - noted_at_s_ < kNoteEveryS)) return {};
  Json state = options_.identity;
  {
    const MutexLock lock(mutex_);
    if (!std::exchange(place_is_new_, false)) return {};
    state["counts"] = ToJson(tally_);
    state["place"] = place_;
  }
  noted_at_s_ = NowS();
  return WriteStateFile(options_.state, state);
}

Status RedisImporter::Tick(const OnProgress& on_progress) {
  double fraction = -1;
  uint64_t members = 0;
  {
    const MutexLock lock(mutex_);
    changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kTick);
    fraction = fraction_;
    members = tally_.members;
  }
  on_progress(fraction, members);
  return NoteState(false);
}

/// Queues the pages, and waits until they are done.
Status RedisImporter::Feed(const OnProgress& on_progress) {
  uint64_t number = 0;
  bool more = true;
  while (more && !Stopped()) {
    Page page{number++, {}};
    Status status = TryPatiently(PatienceOf(), [&] {
      auto next = keys_.Next(&page.keys);
      if (next.ok()) more = *next;
      return next.status();
    });
    if (!status.ok()) return status;
    while (more && !Stopped() && !Push(&page)) {
      status = Tick(on_progress);
      if (!status.ok()) return status;
    }
    status = NoteState(false);
    if (!status.ok()) return status;
  }
  {
    const MutexLock lock(mutex_);
    fed_ = true;
    changed_.NotifyAll();
  }
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (!failure_.ok() || InterruptedBy() != 0 || next_page_ + (more ? 0 : 1) == number)
        return {};
    }
    Status status = Tick(on_progress);
    if (!status.ok()) return status;
  }
}

Status RedisImporter::Run(const OnProgress& on_progress) {
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < options_.parallel; ++i) threads.emplace_back([this] { Work(); });
  threads.emplace_back([this] { WatchLatency(); });
  Status fed = Feed(on_progress);
  if (!fed.ok()) Fail(fed);
  {
    const MutexLock lock(mutex_);
    fed_ = ended_ = true;
    changed_.NotifyAll();
    end_.NotifyAll();
  }
  for (std::thread& thread : threads) thread.join();
  Status noted = NoteState(true);
  const MutexLock lock(mutex_);
  return failure_.ok() ? noted : failure_;
}

Status RedisImporter::OpenWorker(Worker& worker) {
  Status status = TryPatiently(PatienceOf(), [&] {
    auto client = make_client_();
    if (!client.ok()) return client.status();
    worker.client = std::move(client).value();
    return Status();
  });
  if (!status.ok()) return status;
  auto sink = make_sink_();
  if (!sink.ok()) return sink.status();
  worker.sink = std::move(sink).value();
  auto notes = make_notes_();
  if (!notes.ok()) return notes.status();
  worker.notes = std::move(notes).value();
  return {};
}

void RedisImporter::Work() {
  Worker worker;
  const Patience patience = PatienceOf();
  Status status = OpenWorker(worker);
  Page page;
  while (status.ok() && Pop(&page)) {
    RedisTally tally;
    // What is repeated of a page that failed half-way is harmless.
    status = TryPatiently(patience, [&] {
      tally = {};
      worker.batch.Clear();
      worker.users.clear();
      Status imported = ImportPage(worker, page, &tally);
      return worker.sink_failure.ok() ? imported : Status::Closed();
    });
    if (!worker.sink_failure.ok()) status = worker.sink_failure;
    if (status.ok() && worker.notes && !worker.users.empty()) {
      status = TryPatiently(patience, [&] { return worker.notes->Note(worker.users); });
    }
    if (status.ok()) Done(page, tally);
  }
  if (!status.ok()) Fail(status);
}

Status RedisImporter::ImportPage(Worker& worker, const Page& page, RedisTally* tally) {
  redis::KeyReader reader(*worker.client);
  if (options_.hashes) reader.ReadHashes();
  reader.SetOnAsk([this](uint64_t members) { return WaitFor(members); });
  reader.SetAtOnce(pace_.Piece(redis::kMembersAtOnce));
  // Keys of another shape are not read: nobody is theirs.
  std::vector<std::string> keys;
  for (const std::string& key : page.keys.keys) {
    std::string why = WhyNobodys(key, options_.users, options_.form);
    if (why.empty()) {
      keys.push_back(key);
      continue;
    }
    const auto user = options_.users.UserOf(key);
    const bool named = user && IdRef(*user).Validate().ok();
    tally->LeaveOut(key, named ? "another_form" : "no_user", std::move(why));
  }
  Status status = reader.Read(keys, [&](const redis::KeyPiece& piece) {
    return TakePiece(worker, keys[piece.key], piece, tally);
  });
  return status.ok() ? Flush(worker, tally) : status;
}

Status RedisImporter::TakePiece(Worker& worker, const std::string& key,
                                const redis::KeyPiece& piece, RedisTally* tally) {
  if (piece.kind == redis::KeyKind::kAbsent) {
    ++tally->absent_keys;
    worker.users.emplace_back(*options_.users.UserOf(key));  // nothing is left to import
    return {};
  }
  const TimeOfMembers times{options_.unit, options_.at_ms, piece.kind};
  if (piece.kind == redis::KeyKind::kOther || !times.known()) {
    if (!piece.last) return {};
    const std::string type(piece.type);
    if (piece.kind != redis::KeyKind::kOther) {
      tally->LeaveOut(key, "no_times", "has no times: say --at");
    } else {
      tally->LeaveOut(key, type, "holds a " + type + (type == "hash" ? ": say --hashes" : ""));
    }
    return {};
  }
  const std::string_view user = *options_.users.UserOf(key);
  for (size_t i = 0; i < piece.members.size(); ++i) {
    const redis::Member& member = piece.members[i];
    TakeMember(worker, user, member, times.Of(member, piece.begin + i), tally);
    if (worker.batch.size() < options_.batch_plays) continue;
    Status flushed = Flush(worker, tally);
    if (!flushed.ok()) return flushed;
  }
  if (!piece.last) return {};
  ++tally->users;
  worker.users.emplace_back(user);
  return {};
}

void RedisImporter::TakeMember(Worker& worker, std::string_view user, const redis::Member& member,
                               std::optional<int64_t> at_ms, RedisTally* tally) {
  ++tally->members;
  if (Status valid = IdRef(member.item).Validate(); !valid.ok()) {
    tally->Refuse("malformed", 1);
    tally->Describe(std::string(user) + " " + std::string(member.item.substr(0, kMaxIdBytes)),
                    std::string(valid.message()));
    return;
  }
  if (!at_ms) {
    tally->Refuse("no_time", 1);
    tally->Describe(std::string(user) + " " + std::string(member.item),
                    "the score " + std::string(member.score) + " is no time");
    return;
  }
  worker.batch.Add({user, member.item, at_ms}, 0);
}

Status RedisImporter::Flush(Worker& worker, RedisTally* tally) {
  if (Stopped()) return Status::Closed("the import was stopped");
  if (worker.batch.size() == 0) return {};
  auto sent = SendPatiently(*worker.sink, worker.batch, PatienceOf());
  if (!sent.ok()) {
    worker.sink_failure = sent.status();
    return sent.status();
  }
  tally->accepted += sent->accepted;
  tally->outside_window += sent->outside_window;
  tally->refused += sent->refused;
  for (const auto& [reason, count] : sent->refused_by) tally->refused_by[reason] += count;
  for (const auto& [index, why] : sent->refusals) {
    if (index >= worker.batch.size()) break;
    const PlayRow play = worker.batch.At(index);
    tally->Describe(std::string(play.user) + " " + std::string(play.item), why);
  }
  worker.batch.Clear();
  return {};
}

/// Keeps to the pace.
Status RedisImporter::WaitFor(uint64_t members) {
  double wait_s = pace_.Take(members, NowS());
  while (wait_s > 0 && !Stopped()) {
    const double step_s = std::min(wait_s, 0.1);
    std::this_thread::sleep_for(std::chrono::duration<double>(step_s));
    wait_s -= step_s;
  }
  return Stopped() ? Status::Closed("the import was stopped") : Status();
}

/// Asks each node in turn how long an answer takes, as the old service feels it.
void RedisImporter::WatchLatency() {
  std::unique_ptr<redis::Client> client;
  std::vector<redis::Node> nodes;
  for (size_t turn = 0;; ++turn) {
    {
      const MutexLock lock(mutex_);
      if (ended_ || !failure_.ok()) return;
      end_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kPingEvery);
      if (ended_ || !failure_.ok()) return;
    }
    if (nodes.empty()) {
      auto made = make_client_();
      if (!made.ok()) continue;
      client = std::move(made).value();
      auto found = client->Nodes();
      if (!found.ok()) continue;
      nodes = std::move(found).value();
    }
    const double begin_s = NowS();
    auto answered = client->RunOn(nodes[turn % nodes.size()].address, {"PING"});
    if (answered.ok() && !answered->is_error()) {
      pace_.Note((NowS() - begin_s) * 1e3, NowS());
    } else {
      nodes.clear();  // lost, or another cluster by now
    }
  }
}

}  // namespace seendb::tool
