// tests/simulation/model_marks.h: the model of users' marks.
//
// It keeps every possible state of each group: a call whose outcome is open leaves the former
// state beside the new one, and after a power cut all states since the last sync are.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace seendb::simulation {

/// Whether something is so; of what the model can't know, it may be.
enum class Truth { kNo, kMaybe, kYes };

/// `until` of a mark for ever.
inline constexpr int64_t kAlwaysUntil = INT64_MAX;

/// The group and time of an item in questions that ask for marks, worked out of its name.
struct ItemGroup {
  std::string group;
  std::optional<int64_t> at_ms;
};
ItemGroup GroupOf(const std::string& item);

/// See the head of this file.
class MarksModel {
 public:
  explicit MarksModel(std::function<uint32_t(const std::string&)> shard_of)
      : shard_of_(std::move(shard_of)) {}

  /// `sure`: the call was acknowledged.
  void Mark(const std::string& user, const std::string& group, int64_t until_ms, int64_t said_ms,
            bool sure);
  void Delete(const std::string& user, const std::string& group, int64_t at_ms, bool sure);
  void Erase(const std::string& user) { users_.erase(user); }
  /// The shard's calls are on the disk; or the power took what was not.
  void Synced(uint32_t shard);
  void Cut(uint32_t shard);

  /// Whether a mark of the group counts; whether one reaches a candidate.
  Truth Has(const std::string& user, const std::string& group) const;
  Truth Reaches(const std::string& user, const ItemGroup& item) const;
  /// Whether anything is certainly kept of the user.
  bool Holds(const std::string& user) const;

 private:
  struct State {
    bool marked = false;
    int64_t until_ms = 0, said_ms = 0;
    std::optional<int64_t> deleted_ms = {};
    friend auto operator<=>(const State&, const State&) = default;
  };
  struct Group {
    std::set<State> possible{State()}, since_sync{State()};
  };
  template <typename Change>
  void Apply(const std::string& user, const std::string& group, bool sure, const Change& change);
  template <typename Is>
  Truth Ask(const std::string& user, const std::string& group, const Is& is) const;

  std::function<uint32_t(const std::string&)> shard_of_;
  std::map<std::string, std::map<std::string, Group>> users_;
};

}  // namespace seendb::simulation
