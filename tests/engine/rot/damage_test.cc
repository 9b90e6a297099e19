// Every file of a small database, damaged in every way: an opening refuses and names a file, or
// what was recorded is answered seen, or the answer says degraded. Everything recorded was synced:
// nobody can tell damage behind the last sync from a torn tail.

#include "support/rot_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

class RotTest : public RotFixture, public ::testing::WithParamInterface<std::tuple<Damage, bool>> {
 protected:
  void ExpectNamed(const Status& refused, const fs::path& damaged) {
    ++refused_;
    const std::set<StatusCode> codes{StatusCode::kCorruption, StatusCode::kIncompatible,
                                     StatusCode::kNotFound};
    EXPECT_TRUE(codes.contains(refused.code())) << refused.ToString();
    const std::string text(refused.message());
    EXPECT_TRUE(text.find(Path()) != text.npos) << text;
    if (damaged.extension() == ".sst") {
      EXPECT_TRUE(text.find(damaged.filename()) != text.npos) << text;
    }
    EXPECT_NE(text.find("seendb repair"), text.npos) << text;
  }
  void Check(const fs::path& file) {
    SCOPED_TRACE(file.string() + (families_.contains(file) ? " " + families_[file] : ""));
    Status refused;
    if (!TryOpen(&refused)) return ExpectNamed(refused, file);
    ++opened_;
    ExpectNothingHidden(file);
    // A table that can't be read may be put back; what a log lost is gone.
    if (file.extension() == ".log") ExpectNoOffsetAboveLostPlays();
    Unseen(kErased, Numbered("gone", 30));
    if (!options_.open_damaged) {
      EXPECT_EQ(answer_.unseen.size(), 30u) << "the erasure is forgotten";
    }
    // It goes on: new plays are accepted and seen, a drain and a seal make nothing worse.
    if (engine_->RecordPlays({{{IdRef("new user"), IdRef("new item"), std::nullopt}}}).ok()) {
      EXPECT_EQ(Unseen("new user", {"new item"}), Items{});
    }
    static_cast<void>(engine_->Drain());
    static_cast<void>(engine_->SealClosed());
    ExpectNothingHidden(file);
    static_cast<void>(engine_->Close());
    if (!TryOpen(&refused)) return ExpectNamed(refused, file);
    ExpectNothingHidden(file);
  }

  int refused_ = 0, opened_ = 0;
};

TEST_P(RotTest, IsRefusedOrSaid) {
  Make();
  const auto [damage, open_damaged] = GetParam();
  options_.open_damaged = open_damaged;
  std::set<std::string> kinds;
  for (const fs::path& file : Files()) {
    kinds.insert(file.extension().empty() ? file.filename().string().substr(0, 7)
                                          : file.extension().string());
    if (!Tried(static_cast<size_t>(damage) + (open_damaged ? 1 : 0))) continue;
    fs::copy(dir_ + "/sound", Path(), fs::copy_options::recursive);
    Apply(fs::path(Path()) / file, damage, &random_);
    Check(file);
    engine_.reset();
    fs::remove_all(Path());
  }
  for (const char* kind :
       {".sst", ".log", "MANIFES", "CURRENT", "OPTIONS", "IDENTIT", "SYNCED", "FILES", "SEENDB"}) {
    EXPECT_TRUE(kinds.contains(kind)) << kind;
  }
  if (AllTried()) {
    EXPECT_GT(refused_, 0);
    EXPECT_GT(opened_, 0);
    EXPECT_TRUE(damage < Damage::kHalf || degraded_ > 0);
  }
  std::printf("refused %d, opened %d, degraded answers %d\n", refused_, opened_, degraded_);
}

std::string NameOf(const ::testing::TestParamInfo<std::tuple<Damage, bool>>& one) {
  const auto [damage, open_damaged] = one.param;
  return std::string(kDamageNames[static_cast<size_t>(damage)]) +
         (open_damaged ? "OpenDamaged" : "Strict");
}

INSTANTIATE_TEST_SUITE_P(Every, RotTest,
                         ::testing::Combine(::testing::Values(Damage::kFlip, Damage::kFlipAgain,
                                                              Damage::kZeroBlock, Damage::kHalf,
                                                              Damage::kEmpty, Damage::kRemoved),
                                            ::testing::Bool()),
                         NameOf);

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
