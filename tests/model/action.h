// tests/model/action.h: the table of everything that may happen. One row and one function an
// action; README.md says how one is added.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/scope.h"
#include "model/state.h"

namespace seendb::model {

/// In the order of the table.
enum class Kind : uint8_t {
  kPlay,
  kLatePlay,
  kImpression,
  kFilterAndRecord,
  kDelete,
  kClear,
  kClearWithFilter,
  kPause,
  kResume,
  kErase,
  kNewcomer,
  kMake,
  kRemove,
  kRotate,
  kBeginDrain,
  kEndDrain,
  kFailDrain,
  kSeal,
  kDrop,
  kSync,
  kReopen,
  kCrash,
  kPowerCut,
  kFailWrite,
  kFailSync,
  kHeal,
  kBeginHeal,
  kEndHeal,
  kRepair,
  kCheckpoint,
  kRestore,
  kDetach,
  kAttach,
  kReplace,
  kLetGo,
  kAttachEmpty,
  kAttachEmptyCut,
  kForward,
  kBack,
  kJump,
  kConfirm,
  kIngest,
  kIngestAgain,
  kIngestTorn,
  kIngestKilled,
};
inline constexpr size_t kKinds = static_cast<size_t>(Kind::kIngestKilled) + 1;
static_assert(kKinds <= 64);

template <typename... Kinds>
constexpr uint64_t Of(Kinds... kinds) {
  return ((uint64_t{1} << static_cast<unsigned>(kinds)) | ...);
}

/// Something that happens. Fields that its row does not range over are 0.
struct Action {
  Kind kind = Kind::kPlay;
  uint8_t collection = 0, user = 0, item = 0;
  uint8_t bucket = 0;
  uint8_t shard = 0;
  friend bool operator==(const Action&, const Action&) = default;
};

/// The parameters of a row; a bit set.
enum Over : uint8_t { kNone = 0, kCollection = 1, kUser = 2, kItem = 4, kBucket = 8, kShard = 16 };

/// The answer of a call.
enum class Answer : uint8_t {
  kOk,           ///< and did it
  kRefused,      ///< ok; the event was counted as refused, and nothing was recorded
  kNothing,      ///< ok; there was nothing to do, and nothing was written
  kNotRecorded,  ///< a filter's answer, which could not be recorded
  kBusy,
  kIOError,
  kUnavailable,
};
const char* NameOf(Answer answer);

/// The argument of an action's function, which changes `state` and `answer`.
struct Step {
  const Scope& scope;
  const Action& action;
  State& state;
  Answer answer = Answer::kOk;

  Shard& OfUser() { return state.shards[ShardOf(scope, action.user)]; }
  Shard& OfShard() { return state.shards[action.shard]; }
};

/// A row of the table. `Do` is guard and effect in one: it answers false, whatever it changed,
/// where the action is not possible or leads out of the scope.
struct Row {
  Kind kind;
  std::string_view name;
  uint8_t over;
  bool (*Do)(Step* step);
};
using Table = std::array<Row, kKinds>;
/// In the order of Kind.
const Table& Actions();

/// "play c0 u1 i0".
std::string Text(const Action& action);
/// The reverse. Nothing: it is no action.
std::optional<Action> ReadAction(std::string_view text);
/// The same action with other names.
Action Renamed(const Scope& scope, const Action& action, const Names& names);

/// The model, as an explorer wants it (explorer.h).
class EngineModel {
 public:
  using State = model::State;
  using Action = model::Action;
  using Names = model::Names;

  explicit EngineModel(const Scope& scope, const Table& table = Actions())
      : scope_(scope), table_(table) {}
  const Scope& scope() const { return scope_; }
  State Initial() const { return model::Initial(scope_); }
  State Canonical(const State& state, Names* names = nullptr) const {
    return model::Canonical(scope_, state, names);
  }
  Action Renamed(const Action& action, const Names& names) const {
    return model::Renamed(scope_, action, names);
  }
  /// Does one action; false where it is not possible.
  bool Do(const Action& action, State* state, Answer* answer = nullptr) const;
  /// Calls for each action that is possible, with the state after it.
  void ForEach(const State& state,
               const std::function<void(const Action&, const State&)>& visit) const;
  /// The invariant that a state violates, or an empty text.
  std::string_view Violated(const State& state) const;
  std::string Text(const Action& action) const { return model::Text(action); }
  std::string Text(const State& state) const { return model::Text(scope_, state); }

 private:
  const Scope& scope_;
  const Table& table_;
};

}  // namespace seendb::model
