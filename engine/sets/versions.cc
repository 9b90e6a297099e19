#include "sets/versions.h"

#include <algorithm>
#include <utility>

namespace seendb::sets {

using State = LogVersion::State;

LogVersion* Versions::Get(std::string_view name, const VersionId& id) {
  return const_cast<LogVersion*>(std::as_const(*this).Find(name, id));
}

const LogVersion* Versions::Find(std::string_view name, const VersionId& id) const {
  const auto set = sets_.find(name);
  if (set == sets_.end()) return nullptr;
  const auto found = set->second.find(id);
  return found == set->second.end() ? nullptr : &found->second;
}

const LogVersion* Versions::Counting(std::string_view name) const {
  const auto set = sets_.find(name);
  if (set == sets_.end()) return nullptr;
  const auto found = std::ranges::find_if(
      set->second, [](const auto& one) { return one.second.state == State::kCounts; });
  return found == set->second.end() ? nullptr : &found->second;
}

Versions::Taken Versions::TakePiece(const Piece& piece, int64_t offset, int64_t at_ms,
                                    uint64_t bytes) {
  auto set = sets_.find(piece.name);
  if (set == sets_.end()) set = sets_.emplace(piece.name, OfSet()).first;
  const auto [found, is_new] = set->second.try_emplace(IdOf(piece));
  LogVersion& version = found->second;
  if (is_new) {
    version.pieces = version.missing = piece.pieces;
    version.deletion = piece.deletion;
    version.since_ms = at_ms;
    version.came.resize(piece.pieces);
  }
  if (version.state != State::kUnfinished || version.pieces != piece.pieces) return Taken::kPassed;
  if (version.deletion != piece.deletion || version.came[piece.number]) return Taken::kPassed;
  if (piece.number == 0) version.order = offset;
  version.came[piece.number] = true;
  version.bytes += bytes;
  unfinished_bytes_ += bytes;
  --version.missing;
  return version.missing == 0 ? Taken::kWhole : Taken::kKept;
}

Versions::Change Versions::EndOne(const VersionId& id, int64_t at_ms, LogVersion* version) {
  const Change change{.id = id, .before = version->state, .pieces = version->pieces};
  if (version->state == State::kUnfinished) unfinished_bytes_ -= version->bytes;
  version->state = State::kDead;
  version->since_ms = at_ms;
  version->seen.reset();
  version->came = {};
  version->bytes = 0;
  return change;
}

std::vector<Versions::Change> Versions::Count(std::string_view name, const VersionId& id,
                                              int64_t at_ms) {
  std::vector<Change> changes;
  LogVersion& counts = *Get(name, id);
  for (auto& [other, version] : sets_.find(name)->second) {
    if (&version == &counts || version.state == State::kDead) continue;
    if (version.order < counts.order) changes.push_back(EndOne(other, at_ms, &version));
  }
  changes.push_back({.id = id, .before = counts.state, .pieces = counts.pieces});
  unfinished_bytes_ -= counts.bytes;
  counts.state = State::kCounts;
  counts.came = {};
  counts.bytes = 0;
  return changes;
}

Versions::Change Versions::End(std::string_view name, const VersionId& id, int64_t at_ms) {
  return EndOne(id, at_ms, Get(name, id));
}

// Pieces are taken away in their order: with the last one the version is gone.
std::vector<Versions::Change> Versions::TakeNone(const Piece& piece, int64_t at_ms) {
  const auto set = sets_.find(piece.name);
  if (set == sets_.end()) return {};
  const auto found = set->second.find(IdOf(piece));
  if (found == set->second.end()) return {};
  LogVersion& version = found->second;
  const bool last = piece.number + 1 >= version.pieces;
  if (version.state == State::kDead && !last) return {};
  const Change change = EndOne(found->first, at_ms, &version);
  if (last) set->second.erase(found);
  if (set->second.empty()) sets_.erase(set);
  return {change};
}

void Versions::NoteSeen(std::chrono::steady_clock::time_point now) {
  for (auto& [name, versions] : sets_) {
    for (auto& [id, version] : versions) {
      if (version.state != State::kCounts && !version.seen) version.seen = now;
    }
  }
}

void Versions::Restore(std::string_view name, const VersionId& id, LogVersion version) {
  if (version.state == State::kUnfinished) version.came.assign(version.pieces, false);
  version.missing = version.pieces;
  sets_[std::string(name)][id] = std::move(version);
}

bool Versions::RestorePiece(const Piece& piece, uint64_t bytes) {
  LogVersion* const version = Get(piece.name, IdOf(piece));
  if (version == nullptr || version->state != State::kUnfinished) return false;
  if (piece.number >= version->pieces || version->came[piece.number]) return false;
  version->came[piece.number] = true;
  version->bytes += bytes;
  unfinished_bytes_ += bytes;
  return --version->missing > 0;
}

void Versions::ForEach(const std::function<void(const std::string& name, const VersionId& id,
                                                const LogVersion& version)>& take) const {
  for (const auto& [name, versions] : sets_) {
    for (const auto& [id, version] : versions) take(name, id, version);
  }
}

bool Versions::HasEnded(std::string_view name) const {
  const auto set = sets_.find(name);
  return set != sets_.end() && std::ranges::any_of(set->second, [](const auto& one) {
           return one.second.state == State::kDead;
         });
}

}  // namespace seendb::sets
