// Writers that put and delete sets at once, lose pieces and clean up, and a log that is compacted
// anywhere: every store that has read to the end has of each set the version that was begun last of
// those that are whole, whether it read piece by piece, was opened between, or begins now.

#include <map>
#include <random>

#include "sets/log_fixture.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class SetAgreementTest : public SetLogTest {
 protected:
  /// A version that somebody writes.
  struct Writing {
    std::string name;
    sets::Version version;
    std::vector<SetRecord> records;
    std::string id;  // one of its ids; empty: a deletion
    size_t written = 0;
    int64_t begun = -1;  // offset of the first piece
  };

  uint64_t Below(uint64_t n) { return std::uniform_int_distribution<uint64_t>(0, n - 1)(random_); }

  void Begin() {
    Writing one;
    one.name = Below(2) == 0 ? "s" : "t";
    one.version = {static_cast<int64_t>(Below(5)) + 1, ++nonce_};
    std::vector<sets::Piece> pieces(1 + Below(4));
    std::vector<std::string> texts;
    for (uint32_t i = 0; i < pieces.size(); ++i) {
      texts.push_back("v" + std::to_string(nonce_) + "-" + std::to_string(i));
    }
    if (Below(5) == 0) {
      pieces.resize(1);
      pieces[0].deletion = true;
    } else {
      one.id = texts[0];
    }
    for (uint32_t i = 0; i < pieces.size(); ++i) {
      pieces[i].name = one.name;
      pieces[i].version = one.version;
      pieces[i].number = i;
      pieces[i].pieces = static_cast<uint32_t>(pieces.size());
      if (!pieces[i].deletion) pieces[i].ids = {texts[i]};
      one.records.push_back({sets::KeyOf(pieces[i]), sets::EncodePiece(pieces[i])});
    }
    writing_.push_back(std::move(one));
  }

  void Write() {
    if (writing_.empty()) return;
    const size_t at = Below(writing_.size());
    Writing& one = writing_[at];
    if (one.written == 0) one.begun = log_.end();
    log_.Append(one.records[one.written++]);
    if (one.written < one.records.size()) return;
    Writing& best = best_[one.name];
    if (one.begun > best.begun) best = one;
    writing_.erase(writing_.begin() + static_cast<int64_t>(at));
  }

  void PutAndClean() {
    Follow("steady");
    Writing one;
    one.name = "s";
    one.id = "p" + std::to_string(++nonce_);
    one.begun = log_.end();
    one.records.resize(1);
    Put("steady", "s", {one.id});
    best_["s"] = one;
    Clean("steady");
  }

  void ExpectAsBegunLast(const std::string& at) {
    for (const auto& [name, best] : best_) {
      const auto ids = Ids(at, name);
      ASSERT_EQ(ids.has_value(), !best.id.empty()) << at << " has " << name;
      if (!ids) continue;
      ASSERT_EQ(ids->front(), best.id) << at;
      ASSERT_EQ(ids->size(), best.records.size()) << at;
    }
  }

  void Step() {
    switch (Below(16)) {
      case 0:
      case 1:
        return Begin();
      case 2:  // killed
        if (!writing_.empty()) {
          writing_.erase(writing_.begin() + static_cast<int64_t>(Below(writing_.size())));
        }
        return;
      case 3:
        return Follow("steady", log_.end());
      case 4:
        return Follow("opened", Store("opened").next_offset() + RestOf("opened"));
      case 5:
        Open("opened");
        return Store("opened").SetCurrent(true);
      case 6:  // what nobody writes any more is taken away
        writing_.clear();
        Follow("steady", log_.end());
        Clean("steady", std::chrono::milliseconds(0));
        return;
      case 10:  // one that knows that it is behind
        Store("opened").SetCurrent(false);
        Clean("opened", std::chrono::milliseconds(0));
        return;
      case 7:  // whoever put another version does so while others write
        return PutAndClean();
      case 8:
        log_.Compact(static_cast<int64_t>(Below(static_cast<uint64_t>(log_.end()) + 1)),
                     [this] { return Below(2) == 0; });
        return;
      case 9:
        Current("new");
        return ExpectAsBegunLast("new");
      default:
        return Write();
    }
  }
  int64_t RestOf(const std::string& name) {
    const int64_t left = log_.end() - Store(name).next_offset();
    return left <= 0 ? 0 : static_cast<int64_t>(Below(static_cast<uint64_t>(left) + 1));
  }

  std::mt19937_64 random_;
  uint64_t nonce_ = 0;
  std::vector<Writing> writing_;
  std::map<std::string, Writing> best_;  // of the whole ones the one that was begun last, by name
};

TEST_F(SetAgreementTest, AllHaveWhatWasBegunLast) {
  random_.seed(test::Seed());
  Current("steady"), Current("opened");
  for (int round = 0; round < 20 && !HasFatalFailure(); ++round) {
    for (int step = 0; step < 25 && !HasFatalFailure(); ++step) Step();
    for (const char* const name : {"steady", "opened"}) {
      Follow(name);
      ExpectAsBegunLast(name);
    }
    ASSERT_TRUE(Open("new").BeginAnew().ok());
    Follow("new");
    ExpectAsBegunLast("new");
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
