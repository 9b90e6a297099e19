#include "sets/log_store.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/facts.h"
#include "base/pause_point.h"
#include "base/return_if_failed.h"
#include "sets/set_ids.h"
#include "store/status.h"

namespace seendb::sets {

using State = LogVersion::State;

namespace {

constexpr size_t kLeftoversMost = 4'096;
// No row has this key.
constexpr std::string_view kTryKey = "log/try";

/// A set of which it is not known whether it has more members.
class MaybeMore final : public ItemSet {
 public:
  explicit MaybeMore(std::shared_ptr<const MemorySet> known) : known_(std::move(known)) {}

  void Find(std::span<const IdRef> items, uint8_t* hits) const override {
    if (known_ != nullptr) return known_->Find(items, hits);
    std::fill(hits, hits + items.size(), uint8_t{0});
  }
  bool damaged() const override { return true; }

 private:
  const std::shared_ptr<const MemorySet> known_;
};

/// See SetLog::Leftovers. `changed`: the sets that were changed here; those of which nothing has
/// ended any more are taken off.
std::vector<SetRecord> LeftoversOf(const Versions& versions,
                                   std::chrono::steady_clock::time_point now,
                                   std::optional<std::chrono::milliseconds> old,
                                   std::map<std::string, bool, std::less<>>* changed) {
  std::erase_if(*changed,
                [&](const auto& one) { return !one.second && !versions.HasEnded(one.first); });
  std::vector<SetRecord> records;
  versions.ForEach([&](const std::string& name, const VersionId& id, const LogVersion& version) {
    const bool ended = version.state == State::kDead && changed->contains(name);
    const bool is_old =
        old && version.seen && version.state != State::kCounts && now - *version.seen >= *old;
    if ((!ended && !is_old) || records.size() >= kLeftoversMost) return;
    Piece piece{.name = name, .version = {id.begun_ms, id.nonce}};
    for (; piece.number < version.pieces; ++piece.number) records.push_back({KeyOf(piece), {}});
  });
  return records;
}

}  // namespace

LogStore::LogStore(const SetLogOptions& options)
    : log_(options.log), append_(options.append), base_(options.store) {}

Status LogStore::Load(const std::string& path) {
  RETURN_IF_FAILED(base_.Load(path));
  const size_t before = base_.List().size();
  {
    const MutexLock lock(mutex_);
    RETURN_IF_FAILED(LoadLog());
  }
  dropped_ = before - base_.List().size();
  return {};
}

Status LogStore::LoadLog() {
  int64_t next_offset = 0;
  Versions versions;
  const Result<bool> read = ReadRows(&next_offset, &versions);
  if (!read.ok()) return read.status();
  if (!*read) return DropAll();
  versions_ = std::move(versions);
  next_offset_ = next_offset;
  stale_ = false;
  return {};
}

Result<bool> LogStore::ReadRows(int64_t* next_offset, Versions* versions) const {
  LogPlace place;
  const std::unique_ptr<rocksdb::Iterator> rows(base_.db().NewIterator(Base::WalkOptions()));
  // Versions first: pieces are of one.
  for (const std::string_view prefix : {kVersionPrefix, kUnfinishedPrefix}) {
    for (rows->Seek(std::string(prefix));
         rows->Valid() && rows->key().starts_with(std::string(prefix)); rows->Next()) {
      const std::string_view key = rows->key().ToStringView(), value = rows->value().ToStringView();
      Piece piece;
      LogVersion version;
      if (ParseVersionKey(key, &piece)) {
        if (!ParseLogVersion(value, &version)) return false;
        versions->Restore(piece.name, IdOf(piece), std::move(version));
      } else if (!ParseUnfinishedKey(key, &piece) || !versions->RestorePiece(piece, value.size())) {
        return false;
      }
    }
    if (!rows->status().ok()) return FromRocks(rows->status(), "read the log's sets");
  }
  std::string value;
  const rocksdb::Status got = base_.db().Get({}, std::string(kPlaceKey), &value);
  if (!got.ok() && !got.IsNotFound()) return FromRocks(got, "read how far the log was read");
  if (got.IsNotFound() || !ParsePlace(value, &place) || place.log != log_) return false;
  *next_offset = place.next_offset;
  return true;
}

/// Forgets all sets and what is noted of the log, in one write.
Status LogStore::DropAll() {
  rocksdb::WriteBatch batch;
  const std::unique_ptr<rocksdb::Iterator> rows(base_.db().NewIterator(Base::WalkOptions()));
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
    if (rows->key() != kFormatKey) batch.Delete(rows->key());
  }
  RETURN_IF_FAILED(FromRocks(rows->status(), "read the sets"));
  versions_ = {};
  changed_here_.clear();
  RETURN_IF_FAILED(WriteUpTo(0, &batch));
  stale_ = false;
  return base_.ReadSets();
}

Status LogStore::BeginAnew() {
  const MutexLock lock(mutex_);
  if (base_.closed()) return Base::ClosedStore();
  return DropAll();
}

Status LogStore::WriteUpTo(int64_t next_offset, rocksdb::WriteBatch* batch) {
  batch->Put(std::string(kPlaceKey), EncodePlace({.log = log_, .next_offset = next_offset}));
  Status written = base_.Write(batch, /*sync=*/false, "write what the log has of sets");
  batch->Clear();
  if (written.ok()) next_offset_ = next_offset;
  stale_ = stale_ || !written.ok();
  return written;
}

Status LogStore::Apply(std::span<const SetLogEntry> entries, int64_t next_offset) {
  SEENDB_PAUSE_POINT("sets: entries came");
  const MutexLock lock(mutex_);
  if (base_.closed()) return Base::ClosedStore();
  if (stale_) RETURN_IF_FAILED(Reload());
  rocksdb::WriteBatch batch;
  for (const SetLogEntry& entry : entries) {
    if (entry.offset < next_offset_) continue;
    if (Status taken = TakeEntry(entry, &batch); !taken.ok()) {
      stale_ = stale_ || taken.code() != StatusCode::kIncompatible;
      return taken;
    }
  }
  return WriteUpTo(std::max<int64_t>(next_offset, next_offset_), &batch);
}

// A disk that still fails is found out by a small write: the sets are large.
Status LogStore::Reload() {
  rocksdb::WriteBatch nothing;
  nothing.Delete(std::string(kTryKey));
  RETURN_IF_FAILED(base_.Write(&nothing, /*sync=*/false, "write to the sets again"));
  const int64_t before = next_offset_;
  RETURN_IF_FAILED(base_.ReadSets());
  RETURN_IF_FAILED(LoadLog());
  if (next_offset_ == before) return {};
  return Status::Unavailable("the sets are read again from another place of the log");
}

Status LogStore::TakeEntry(const SetLogEntry& entry, rocksdb::WriteBatch* batch) {
  Piece of;
  const bool named = ParsePieceKey(entry.key, &of);
  if (named && (!entry.value || entry.value->empty())) {
    return TakeNone(of, batch);
  }
  const std::string newer = entry.value ? NewerPieceText(*entry.value) : std::string();
  if (!newer.empty()) {
    RETURN_IF_FAILED(WriteUpTo(entry.offset, batch));
    return Status::Incompatible("offset " + std::to_string(entry.offset) + ": " + newer);
  }
  Piece piece;
  if (!named || !ParsePiece(*entry.value, &piece) || KeyOf(piece) != entry.key) {
    ++passed_over_;
    return {};
  }
  const bool is_new = versions_.Find(piece.name, IdOf(piece)) == nullptr;
  const Versions::Taken taken =
      versions_.TakePiece(piece, entry.offset, base_.NowMs(), entry.value->size());
  if (taken == Versions::Taken::kPassed) return {};
  if (taken == Versions::Taken::kWhole) return Finish(piece, entry, batch);
  batch->Put(UnfinishedKey(piece), rocksdb::Slice(*entry.value));
  if (is_new || piece.number == 0) {
    batch->Put(VersionKey(piece.name, IdOf(piece)),
               EncodeLogVersion(*versions_.Find(piece.name, IdOf(piece))));
  }
  return {};
}

// A version that counts and loses a piece is no set any more, here as where the log is read anew.
Status LogStore::TakeNone(const Piece& piece, rocksdb::WriteBatch* batch) {
  const std::vector<Versions::Change> changes = versions_.TakeNone(piece, base_.NowMs());
  if (changes.empty()) return {};
  WriteChanges(piece.name, changes, batch);
  if (changes.front().before != State::kCounts) return {};
  RETURN_IF_FAILED(base_.DeletePieces(piece.name, batch));
  base_.Publish(piece.name, nullptr);
  return {};
}

Result<std::vector<std::string>> LogStore::ReadPieces(const Piece& piece,
                                                      std::string_view last) const {
  std::vector<std::string> values(piece.pieces);
  const std::string prefix = UnfinishedKeyPrefix(piece.name, IdOf(piece));
  const std::unique_ptr<rocksdb::Iterator> rows(base_.db().NewIterator(Base::WalkOptions()));
  for (rows->Seek(prefix); rows->Valid() && rows->key().starts_with(prefix); rows->Next()) {
    Piece one;
    if (!ParseUnfinishedKey(rows->key().ToStringView(), &one)) continue;
    if (one.number < values.size()) values[one.number] = rows->value().ToString();
  }
  if (!rows->status().ok()) return FromRocks(rows->status(), "read the pieces of a set");
  values[piece.number] = last;
  return values;
}

Status LogStore::Finish(const Piece& piece, const SetLogEntry& entry, rocksdb::WriteBatch* batch) {
  RETURN_IF_FAILED(WriteUpTo(entry.offset, batch));  // its other pieces are rows then
  const VersionId id = IdOf(piece);
  std::shared_ptr<const MemorySet> set;
  ReadVersion read;
  read.version = piece.version;
  read.pieces = piece.pieces;
  if (!piece.deletion) {
    auto values = ReadPieces(piece, *entry.value);
    if (!values.ok()) return values.status();
    read.values = std::move(values).value();
    read.damaged = std::ranges::count(read.values, std::string()) > 0;
    set = Assemble(read);
    if (set == nullptr) {  // whoever wrote it broke the limit of all stores
      ++passed_over_;
      WriteChanges(piece.name, {versions_.End(piece.name, id, base_.NowMs())}, batch);
      return WriteUpTo(entry.offset + 1, batch);
    }
  }
  const std::vector<Versions::Change> changes = versions_.Count(piece.name, id, base_.NowMs());
  WriteChanges(piece.name, changes, batch);
  RETURN_IF_FAILED(base_.DeletePieces(piece.name, batch));
  const int64_t order = versions_.Find(piece.name, id)->order;
  Piece row{.name = piece.name, .version = {order, id.nonce}};
  for (const std::string& value : read.values) {
    batch->Put(KeyOf(row), value);
    ++row.number;
  }
  RETURN_IF_FAILED(WriteUpTo(entry.offset + 1, batch));
  base_.Publish(piece.name, std::move(set));
  return {};
}

void LogStore::WriteChanges(std::string_view name, const std::vector<Versions::Change>& changes,
                            rocksdb::WriteBatch* batch) const {
  for (const Versions::Change& change : changes) {
    Piece piece{.name = name, .version = {change.id.begun_ms, change.id.nonce}};
    for (; change.before == State::kUnfinished && piece.number < change.pieces; ++piece.number) {
      batch->Delete(UnfinishedKey(piece));
    }
    const LogVersion* const version = versions_.Find(name, change.id);
    if (version == nullptr) {
      batch->Delete(VersionKey(name, change.id));
    } else {
      batch->Put(VersionKey(name, change.id), EncodeLogVersion(*version));
    }
  }
}

Status LogStore::Ready() const {
  if (current_) return {};
  return Status::Unavailable("the log of the sets is not read to its end yet");
}

std::shared_ptr<const ItemSet> LogStore::Find(std::string_view name) const {
  const bool before = current_;
  auto known = base_.Get(name);
  SEENDB_PAUSE_POINT("sets: looked up");
  if (before && current_) return known;
  return std::make_shared<const MaybeMore>(std::move(known));
}

Result<SetPage> LogStore::Read(std::string_view name, std::string_view after, size_t limit) const {
  RETURN_IF_FAILED(Ready());
  auto page = base_.Read(name, after, limit);
  RETURN_IF_FAILED(Ready());  // else it may be of a set that is being read anew
  return page;
}

Status LogStore::CheckMayChange(std::string_view name) const {
  RETURN_IF_FAILED(CheckSetName(name));
  if (base_.closed()) return Base::ClosedStore();
  if (!append_) return Status::Incompatible("the sets come from a log, which is not written here");
  return Ready();
}

Status LogStore::CheckLog(std::string_view name) const {
  const MutexLock lock(mutex_);
  if (versions_.unfinished_bytes() > kMaxUnfinishedBytes) {
    return Status::Unavailable("the log has " + std::to_string(versions_.unfinished_bytes()) +
                               " bytes of sets that were begun and not finished; they go soon");
  }
  if (versions_.names() < kMaxLogSetNames || versions_.Counting(name) != nullptr) return {};
  return Status::Incompatible("the log has " + std::to_string(kMaxLogSetNames) +
                              " names of sets already, those of deleted ones among them");
}

Status LogStore::Append(std::string_view name, const std::vector<Piece>& pieces) {
  std::vector<SetRecord> records;
  records.reserve(pieces.size());
  for (const Piece& piece : pieces) records.push_back({KeyOf(piece), EncodePiece(piece)});
  int64_t former_order = -1;
  {
    const MutexLock lock(mutex_);
    changed_here_[std::string(name)] = true;
    if (const LogVersion* const former = versions_.Counting(name)) former_order = former->order;
  }
  Status appended = append_(records);
  const MutexLock lock(mutex_);
  changed_here_[std::string(name)] = false;
  return appended.ok() ? CheckCounted(name, IdOf(pieces.front()), former_order) : appended;
}

Status LogStore::CheckCounted(std::string_view name, const VersionId& id,
                              int64_t former_order) const {
  const LogVersion* const version = versions_.Find(name, id);
  const LogVersion* const counts = versions_.Counting(name);
  if (version != nullptr && version == counts) return {};
  // Whoever put a later one may have taken this one away, even before its last piece was written.
  const int64_t order = version == nullptr ? -1 : version->order;
  if (counts != nullptr && counts->order > std::max(order, former_order)) return {};
  return Status::Unavailable("the set was taken out of the log again while it was written");
}

Result<SetInfo> LogStore::Put(std::string_view name, std::span<const IdRef> items) {
  RETURN_IF_FAILED(CheckMayChange(name));
  RETURN_IF_FAILED(CheckSetItems(items));
  std::string digits;
  const std::vector<std::string_view> ids = CanonicalTexts(items, &digits);
  const uint64_t bytes = MemorySet::BytesOf(ids.size(), TextBytes(ids));
  const MutexLock turn(turn_);
  RETURN_IF_FAILED(base_.CheckRoom(name, bytes));
  RETURN_IF_FAILED(CheckLog(name));
  const auto former = base_.Get(name);
  const Version version = base_.NewVersion(former.get());
  RETURN_IF_FAILED(Append(name, CutPieces(name, version, ids)));
  return SetInfo{std::string(name), ids.size(), bytes, version.begun_ms, false};
}

Status LogStore::Delete(std::string_view name) {
  RETURN_IF_FAILED(CheckMayChange(name));
  const MutexLock turn(turn_);
  const auto former = base_.Get(name);
  if (former == nullptr) return NoSuchSet(name);
  const Version version = base_.NewVersion(former.get());
  return Append(name, {{.name = name, .version = version, .deletion = true}});
}

std::vector<SetRecord> LogStore::Leftovers(std::chrono::steady_clock::time_point now,
                                           std::optional<std::chrono::milliseconds> old) {
  const MutexLock lock(mutex_);
  versions_.NoteSeen(now);
  if (!current_ || stale_) old.reset();
  return LeftoversOf(versions_, now, old, &changed_here_);
}

}  // namespace seendb::sets

namespace seendb {

Result<std::unique_ptr<SetLog>> SetLog::Open(const std::string& path,
                                             const SetLogOptions& options) {
  auto store = std::make_unique<sets::LogStore>(options);
  if (Status status = store->Load(path); !status.ok()) return status;
  return std::unique_ptr<SetLog>(std::move(store));
}

}  // namespace seendb
