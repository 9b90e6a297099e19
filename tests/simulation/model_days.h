// tests/simulation/model_days.h: which plays are their users' first of the day, in the plainest way
// there is.
//
// Of each user and collection the latest day is kept that a first play was told of, or may have
// been stored of without anybody being told: its call failed, or a power cut may have taken it.
// A day before that is over, also where the clock was set back.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace seendb::simulation {

class Model;
struct Sent;

/// Whether a play is told as the first of its day.
enum class FirstPlay { kMust, kMay, kMustNot };

/// See the head of this file. Policies and the present are the model's.
class DaysModel {
 public:
  explicit DaysModel(const Model* model) : model_(*model) {}

  /// The present day; empty where the policy is silent.
  std::string Today(const std::string& collection) const;
  /// Of a call's plays, by position, those that may be the first of a user; no other may.
  std::map<uint32_t, FirstPlay> Expect(const std::string& collection,
                                       const std::vector<Sent>& sent) const;
  /// The call was made, and Expect was right where it was acknowledged.
  void Play(const std::string& collection, const std::vector<Sent>& sent, bool acknowledged,
            uint64_t call);
  void Erase(const std::string& user);
  void BeginAnew(const std::string& collection);
  /// Everything acknowledged of a shard is on the disk.
  void Synced(uint32_t shard);
  /// Of acknowledged calls after `kept` a power cut may have taken the last ones.
  void Settle(uint32_t shard, uint64_t kept);

  /// The latest day of a user.
  struct Latest {
    std::string day;
    bool told = false;
    uint64_t call = 0;  ///< a power cut that takes this call takes it too; 0: it is on the disk
  };
  /// Everybody that has one in any collection.
  std::set<std::string> Users() const;
  /// Null where there is none.
  const Latest* LatestOf(const std::string& collection, const std::string& user) const;

 private:
  const Model& model_;
  std::map<std::pair<std::string, std::string>, Latest> latest_;  // collection, user
};

}  // namespace seendb::simulation
