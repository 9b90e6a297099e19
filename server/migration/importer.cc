#include "migration/importer.h"

#include <chrono>
#include <utility>

namespace seendb::migration {
namespace {

constexpr std::chrono::milliseconds kImportTimeout{5'000};
constexpr std::chrono::milliseconds kImportPause{200};
/// Users imported, synced and noted together.
constexpr size_t kUsersAtOnce = 64;

bool PassesByItself(const Status& status) {
  return status.code() == StatusCode::kBusy || status.code() == StatusCode::kUnavailable;
}

}  // namespace

Importer::Importer(OldLink* link, Sink sink, Counters* counters)
    : link_(*link), sink_(std::move(sink)), counters_(*counters) {
  worker_.Start("importer", [this] { Work(); });
}

void Importer::Want(const std::string& user) {
  {
    const MutexLock lock(mutex_);
    if (queued_.size() >= kUsersMost || !queued_.insert(user).second) return;
    queue_.push_back(user);
  }
  worker_.Wake();
}

void Importer::Pause(bool paused) {
  {
    const MutexLock lock(mutex_);
    paused_ = paused;
  }
  worker_.Wake();
}

size_t Importer::waiting() const {
  const MutexLock lock(mutex_);
  return queued_.size();
}

/// The next users; nobody where none is to be imported now.
std::vector<std::string> Importer::TakeSome() {
  std::vector<std::string> some;
  const MutexLock lock(mutex_);
  while (!queue_.empty() && !paused_ && some.size() < kUsersAtOnce) {
    some.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return some;
}

void Importer::Work() {
  OldClient client(link_, kImportTimeout);
  while (!worker_.stopping()) {
    const std::vector<std::string> some = TakeSome();
    if (some.empty()) {
      worker_.Wait();
      continue;
    }
    const Status imported = Import(client, some);
    if (!imported.ok()) counters_.Add(MigrationCount::kImportsFailed);
    const bool again = PassesByItself(imported);
    Done(some, again);
    if (again) worker_.Pause(kImportPause);
  }
}

void Importer::Done(const std::vector<std::string>& users, bool again) {
  const MutexLock lock(mutex_);
  if (again) {
    queue_.insert(queue_.begin(), users.begin(), users.end());
  } else {
    for (const std::string& user : users) queued_.erase(user);
  }
}

/// Those with long keys one by one, after the others.
Status Importer::Import(OldClient& client, const std::vector<std::string>& users) {
  auto reached = client.Get();
  if (!reached.ok()) return Status::Unavailable(std::string(reached.status().message()));
  redis::KeyReader reader(**reached);
  std::vector<redis::KeyInfo> found;
  const Status looked = reader.Look(KeysOf(users), &found);
  client.Note(looked);
  if (!looked.ok()) return looked;
  std::vector<std::string> others, with_long;
  for (const redis::KeyInfo& key : found) {
    (key.length > redis::kWholeMembers ? with_long : others).push_back(users[key.key]);
  }
  Status imported = ImportWith(reader, client, others);
  for (size_t i = 0; i < with_long.size() && imported.ok(); ++i) {
    imported = ImportWith(reader, client, {with_long[i]});
  }
  return imported;
}

std::vector<std::string> Importer::KeysOf(const std::vector<std::string>& users) const {
  std::vector<std::string> keys;
  keys.reserve(users.size());
  for (const std::string& user : users) keys.push_back(link_.keys().KeyOf(user));
  return keys;
}

/// Reads, records, syncs and notes the users.
Status Importer::ImportWith(redis::KeyReader& reader, OldClient& client,
                            const std::vector<std::string>& users) {
  if (users.empty()) return {};
  const std::vector<std::string> keys = KeysOf(users);
  std::vector<IdRef> whole;
  refused_ = 0;
  Status recorded;
  const Status read = reader.Read(keys, [&](const redis::KeyPiece& piece) {
    const bool sorted = piece.kind == redis::KeyKind::kZset;
    if (sorted) recorded = TakePiece(piece.members, users[piece.key]);
    if (recorded.ok() && piece.last && (sorted || piece.kind == redis::KeyKind::kAbsent)) {
      whole.emplace_back(users[piece.key]);
    }
    return recorded;
  });
  if (!recorded.ok()) return recorded;
  client.Note(read);
  if (!read.ok()) return read;
  if (whole.empty()) return {};
  Status noted = sink_.note(whole);
  if (!noted.ok()) return noted;  // all of it comes again
  counters_.Add(MigrationCount::kImported, whole.size());
  counters_.Add(MigrationCount::kImportRefused, refused_);
  return {};
}

Status Importer::TakePiece(std::span<const redis::Member> members, const std::string& user) {
  std::vector<Play> plays;
  for (const redis::Member& member : members) {
    const auto score = redis::ParseScore(member.score);
    const auto at_ms = score ? redis::ScoreToMs(*score, link_.unit()) : std::nullopt;
    const IdRef item(member.item);
    if (at_ms && item.Validate().ok()) {
      plays.push_back({IdRef(user), item, at_ms});
    } else {
      ++refused_;
    }
  }
  return plays.empty() ? Status() : Record(plays);
}

/// Until the ring takes them. Those that are older than the retention are refused, as in any
/// import.
Status Importer::Record(const std::vector<Play>& plays) {
  for (;;) {
    const Result<uint64_t> recorded = sink_.record(plays);
    if (recorded.ok()) refused_ += *recorded;
    if (recorded.ok() || recorded.status().code() != StatusCode::kBusy || worker_.stopping()) {
      return recorded.status();
    }
    worker_.Pause(kImportPause);
  }
}

}  // namespace seendb::migration
