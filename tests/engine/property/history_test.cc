// History against an exact model: any order of plays, heartbeats, redelivery, deletions, clears,
// pauses, erasures, drains, seals, drops, reopenings and crashes; every page, look-up, filter
// answer and setting is what the model says.

#include <random>

#include "engine/property/history_model.h"
#include "support/engine_fixture.h"
#include "support/mem_disk.h"
#include "support/seed.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

bool Same(const HistoryEntry& a, const HistoryEntry& b) {
  return a.collection == b.collection && a.item == b.item && a.at_ms == b.at_ms &&
         a.progress_s == b.progress_s && a.duration_s == b.duration_s && a.device == b.device &&
         a.fields == b.fields;
}

std::string Text(const std::vector<HistoryEntry>& entries) {
  std::string text;
  for (const HistoryEntry& e : entries) {
    text += "\n  " + e.collection + "/" + e.item + " at " + std::to_string(e.at_ms - kStartMs) +
            " " + std::to_string(e.progress_s) + "/" + std::to_string(e.duration_s) + " " +
            e.device + " " + e.fields;
  }
  return text.empty() ? " nothing" : text;
}

class HistoryPropertyTest : public EngineTest {
 protected:
  HistoryPropertyTest() { options_.ring_slots = 8; }
  ~HistoryPropertyTest() override { engine_.reset(); }

  size_t Below(size_t bound) { return random_() % bound; }
  bool Chance(int percent) { return static_cast<int>(Below(100)) < percent; }
  template <typename T>
  const T& OneOf(const std::vector<T>& all) {
    return all[Below(all.size())];
  }
  Items SomeItems() {
    Items items;
    for (size_t i = 0; i <= Below(3); ++i) items.push_back(OneOf(kItems));
    return items;
  }

  void PutPolicies() {
    PolicyPatch patch;
    patch.bucket = BucketSpec{BucketKind::kDays, 1};
    patch.window = 3;
    patch.retention = 5;
    patch.representation = Representation::kExact;
    PutModelled("plain", patch);
    patch.history.enabled = true;
    patch.history.days = 2;
    patch.history.max_entries = 5;
    if (Chance(50)) patch.history.deleted_items = DeletedItems::kRecommendAgain;
    if (Chance(50)) patch.history.when_paused = WhenPaused::kFilterIgnores;
    PutModelled("video", patch);
    patch.bucket = BucketSpec{BucketKind::kDays, 2};
    patch.history.days = 9;
    patch.history.ids_only = true;
    PutModelled("books", patch);
  }
  void PutModelled(const std::string& name, const PolicyPatch& patch) {
    Put(name, patch);
    model_.policies[name] = ApplyPatch(model_.policies[name], patch);
  }

  ModelPlay RandomPlay(const std::string& collection) {
    // Few times, so that they are met again.
    static const std::vector<int64_t> kAges = {
        0,          0,          0,          1000,     kHourMs,      13 * kHourMs,
        2 * kDayMs, 4 * kDayMs, 7 * kDayMs, -kHourMs, -30 * kHourMs};
    ModelPlay play{collection, OneOf(kUsers), OneOf(kItems)};
    play.at_ms = clock_.NowMs() - OneOf(kAges);
    if (Chance(60)) play.progress_s = static_cast<int32_t>(Below(5)) - 1;
    if (Chance(40)) play.duration_s = static_cast<int32_t>(Below(3));
    if (Chance(30)) play.device = Chance(50) ? "tv" : "phone";
    if (Chance(30)) play.fields = std::string(Below(40), 'f');
    return play;
  }
  void Record(const std::vector<ModelPlay>& given) {
    ASSERT_FALSE(given.empty());
    std::vector<Watch> watches(given.size());
    std::vector<seendb::Play> plays(given.size());
    std::set<uint32_t> refused;
    for (size_t i = 0; i < given.size(); ++i) {
      const ModelPlay& one = given[i];
      watches[i] = {one.progress_s, one.duration_s, one.device, one.fields};
      plays[i] = {IdRef(one.user), IdRef(one.item), one.at_ms, &watches[i]};
      if (!model_.Play(one)) refused.insert(static_cast<uint32_t>(i));
    }
    const auto result = engine_->RecordPlays(plays, {.collection = given[0].collection});
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    std::set<uint32_t> told;
    for (const Refusal& refusal : result->refusals) told.insert(refusal.index);
    ASSERT_EQ(told, refused);
    ASSERT_EQ(result->accepted, given.size() - refused.size());
  }

  // One step, in the engine and in the model.
  void Step() {
    const size_t dice = Below(100);
    const std::string collection = Chance(60) ? "video" : "books";
    const std::string user = OneOf(kUsers);
    if (dice < 40) {
      std::vector<ModelPlay> batch;
      for (size_t i = 0; i <= Below(12); ++i) {
        batch.push_back(RandomPlay(Chance(90) ? collection : "plain"));
        batch.back().collection = batch.front().collection;
      }
      batches_.push_back(batch);
      Record(batch);
    } else if (dice < 47 && !batches_.empty()) {
      Record(OneOf(batches_));  // delivered again
    } else if (dice < 55) {
      const Items items = SomeItems();
      std::vector<IdRef> ids(items.begin(), items.end());
      Check(engine_->DeleteHistory(IdRef(user), collection, ids));
      model_.Delete(collection, user, items);
    } else if (dice < 59) {
      const std::string_view only[] = {collection};
      const bool all = Chance(50);
      Check(all ? engine_->ClearHistory(IdRef(user)) : engine_->ClearHistory(IdRef(user), {only}));
      for (const char* name : {"video", "books"}) {
        if (all || collection == name) model_.Clear(name, user);
      }
    } else if (dice < 65) {
      const bool paused = Chance(60);
      Check(engine_->SetRecording(IdRef(user), paused));
      model_.Pause(user, paused);
    } else if (dice < 67) {
      Erasure erasure;
      Check(engine_->EraseUser(IdRef(user), {.always = true}, &erasure));
      model_.Erase(user, erasure.until_ms);
    } else if (dice < 77) {
      const int64_t steps[] = {1, 1000, kHourMs, 11 * kHourMs, kDayMs};
      clock_.Advance(steps[Below(5)]);
      model_.now_ms = clock_.NowMs();
    } else {
      Upkeep(dice);
    }
  }
  // What may change no answer; but for what lies beyond the cap.
  void Upkeep(size_t dice) {
    if (dice < 85) {
      Drain();
      openings_ = 0;
    } else if (dice < 88) {
      Check(engine_->SealClosed());
      model_.Trim();
    } else if (dice < 91) {
      Check(engine_->DropExpired());
    } else if (dice < 92) {
      Check(engine_->Compact());
    } else if (dice < 94) {
      PolicyPatch patch;
      patch.history.max_entries = 1 + static_cast<uint32_t>(Below(8));
      PutModelled("video", patch);
    } else {
      // Each opening finds what was staged in a slot of its own.
      if (++openings_ > 5) Drain();
      if (openings_ > 5) openings_ = 1;
      if (dice >= 97) disk_.Crash();
      engine_.reset();
      disk_.Revive();
      Open();
    }
  }
  static void Check(const Status& status) { ASSERT_TRUE(status.ok()) << status.ToString(); }

  void Expect(const Items& users) {
    for (const std::string& user : users) {
      ExpectPages(user);
      for (const char* collection : {"video", "books"}) ExpectLookup(user, collection);
      for (const char* collection : {"video", "books", "plain"}) ExpectFilter(user, collection);
      const Result<Recording> recording = engine_->GetRecording(IdRef(user));
      ASSERT_TRUE(recording.ok());
      EXPECT_EQ(recording->paused, model_.RecordingOf(user).paused) << user;
      EXPECT_EQ(recording->since_ms, model_.RecordingOf(user).since_ms) << user;
    }
  }
  void ExpectPages(const std::string& user) {
    const std::vector<std::string_view> both = {"books", "video"};
    const std::vector<std::string_view> asked = Chance(60) ? both
                                                : Chance(50)
                                                    ? std::vector<std::string_view>{"video"}
                                                    : std::vector<std::string_view>{"books"};
    const auto limit = static_cast<uint32_t>(1 + Below(6));
    std::vector<HistoryEntry> all;
    std::string cursor;
    do {
      HistoryPage page;
      const Status read = engine_->ReadHistory(
          {.user = IdRef(user), .collections = asked, .limit = limit, .cursor = cursor}, &page);
      ASSERT_TRUE(read.ok()) << read.ToString();
      ASSERT_FALSE(page.degraded);
      ASSERT_TRUE(page.entries.size() == limit || page.cursor.empty());
      all.insert(all.end(), page.entries.begin(), page.entries.end());
      cursor = page.cursor;
      ASSERT_LT(all.size(), 100u);
    } while (!cursor.empty());
    const std::vector<HistoryEntry> wanted =
        model_.Page(user, std::set<std::string>(asked.begin(), asked.end()));
    ASSERT_TRUE(std::equal(all.begin(), all.end(), wanted.begin(), wanted.end(), Same))
        << user << " has" << Text(all) << "\nnot" << Text(wanted);
  }
  void ExpectLookup(const std::string& user, const std::string& collection) {
    std::vector<IdRef> ids(kItems.begin(), kItems.end());
    HistoryLookup found;
    Check(engine_->LookupHistory(IdRef(user), collection, ids, &found));
    ASSERT_EQ(found.entries.size(), ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto wanted = model_.Lookup(user, collection, kItems[i]);
      ASSERT_EQ(found.entries[i].has_value(), wanted.has_value())
          << user << " " << collection << " " << kItems[i];
      if (wanted) {
        EXPECT_TRUE(Same(*found.entries[i], *wanted))
            << user << " has" << Text({*found.entries[i]}) << "\nnot" << Text({*wanted});
      }
    }
  }
  void ExpectFilter(const std::string& user, const std::string& collection) {
    Items wanted;
    for (const std::string& item : kItems) {
      if (!model_.Seen(user, collection, item)) wanted.push_back(item);
    }
    EXPECT_EQ(Unseen(user, kItems, collection), wanted) << user << " " << collection;
  }

  const Items kUsers = {"u1", "17", "\xC3\xA9t\xC3\xA9"};
  const Items kItems = {"a", "b", "42", "a longer name of an item", "c", "d", "e", "f"};
  std::mt19937_64 random_{test::Seed()};
  MemDisk disk_;
  HistoryModel model_;
  std::vector<std::vector<ModelPlay>> batches_;
  int openings_ = 0;  // since the last drain, or more
};

TEST_F(HistoryPropertyTest, AnswersWhatTheModelSays) {
  env_ = disk_.env();
  Open();
  model_.now_ms = clock_.NowMs();
  PutPolicies();
  for (int step = 0; step < 250; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    Step();
    Expect(step % 20 == 0 ? kUsers : Items{OneOf(kUsers)});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
