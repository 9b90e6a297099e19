// Nodes prove who they are: what a proof is of, that it counts once, and that a clock may be wrong.

#include "proof/proofs.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "proof/seen_numbers.h"
#include "support/seed.h"

namespace seendb::proof::SEENDB_TEST_FILE {
namespace {

using Kind = Checked::Kind;

constexpr const char* kSecret = "a-secret-of-the-nodes";
constexpr int64_t kNow = 1'773'144'000'000, kDayMs = 86'400'000;

class ProofsTest : public ::testing::Test {
 protected:
  ProofsTest() {
    asks_.SetSecrets({kSecret});
    asked_.SetSecrets({kSecret});
    Introduce(asked_);
    now_ += 1'000;
  }

  /// Has the node that asks learn the session and the time of the other one.
  void Introduce(Proofs& asked) {
    const std::string proof = asks_.Make(question_, body_, "n2");
    const Checked checked = asked.Check(proof, question_);
    ASSERT_TRUE(checked.kind == Kind::kProven || asks_.Learn(proof, checked.challenge));
  }

  std::atomic<int64_t> now_{kNow}, ahead_{0};
  Proofs asks_{"n1", [this] { return now_ + ahead_; }};
  Proofs asked_{"n2", [this] { return now_.load(); }, "fedcba9876543210"};
  const std::string body_ = Sha256("{}");
  const Question question_{
      .method = "POST",
      .target = "/internal/append?partition=3&kind=tick&key=&meta=7",
      .headers = {"seendb-timeout-ms:1000", "content-type:application/json", "seendb-hop:1"}};
};

// tests/support/peer_proof.py prints it.
TEST_F(ProofsTest, TheExampleOfTheDocumentation) {
  const std::string example =
      "1 n1 n2 fedcba9876543210 1773144000000 0123456789abcdef 42 "
      "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a "
      "e84b111f96ddf5580c47c9cad11c0deec323b9b06464a258eb24b5c8920c0149";
  EXPECT_EQ(asked_.Check(example, question_).kind, Kind::kProven);
  EXPECT_TRUE(IsBody(example, "{}"));
  EXPECT_FALSE(IsBody(example, "{} "));
  now_ += 59'000;
  EXPECT_EQ(asked_.Check(example, question_).challenge,
            "SeenDB-Proof 1773144060000 fedcba9876543210 "
            "ae06ab36330a254809dafaf8d6e96ed444e62a80ae257b21059014078d5c8a96");
}

TEST_F(ProofsTest, AProofCountsOnce) {
  const std::string first = asks_.Make(question_, body_, "n2");
  const std::string second = asks_.Make(question_, body_, "n2");
  EXPECT_NE(first, second);
  const Checked checked = asked_.Check(second, question_);
  EXPECT_EQ(checked.kind, Kind::kProven);
  EXPECT_EQ(checked.from, "n1");
  EXPECT_EQ(asked_.Check(first, question_).kind, Kind::kProven) << "in any order";
  EXPECT_EQ(asked_.Check(first, question_).kind, Kind::kStale);
  EXPECT_EQ(asked_.Check(second, question_).kind, Kind::kStale);
}

TEST_F(ProofsTest, EverythingIsPartOfIt) {
  const auto kind = [&](const Question& question, const auto& change) {
    std::string proof = asks_.Make(question_, body_, "n2");
    change(&proof);
    return asked_.Check(proof, question).kind;
  };
  const auto as_it_is = [](std::string*) {};
  Question other = question_;
  std::swap(other.headers[0], other.headers[2]);
  EXPECT_EQ(kind(other, as_it_is), Kind::kProven) << "the order of headers is none";
  other = question_;
  other.method = "GET";
  EXPECT_EQ(kind(other, as_it_is), Kind::kNone);
  other = question_;
  other.target = "/internal/append?partition=3&kind=erase&key=&meta=7";
  EXPECT_EQ(kind(other, as_it_is), Kind::kNone);
  for (size_t i = 0; i < question_.headers.size(); ++i) {
    other = question_;
    other.headers[i] += "0";
    EXPECT_EQ(kind(other, as_it_is), Kind::kNone) << i;
    other.headers.erase(other.headers.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(kind(other, as_it_is), Kind::kNone) << i;
    other.headers = question_.headers;
    other.headers.push_back(other.headers[i]);
    EXPECT_EQ(kind(other, as_it_is), Kind::kNone) << i;
  }
  other = question_;
  other.headers.emplace_back("seendb-caller:anybody");
  EXPECT_EQ(kind(other, as_it_is), Kind::kNone);
  // Each byte of the header, that of the body's hash too.
  const std::string whole = asks_.Make(question_, body_, "n2");
  for (size_t i = 0; i < whole.size(); ++i) {
    const auto change = [i](std::string* proof) { (*proof)[i] = (*proof)[i] == '7' ? '8' : '7'; };
    EXPECT_EQ(kind(question_, change), Kind::kNone) << i;
  }
  for (const std::string& wrong : {std::string(), std::string("1"), whole + " x", whole + " ",
                                   " " + whole, whole + ", " + whole, std::string(7, ' ')}) {
    EXPECT_EQ(asked_.Check(wrong, question_).kind, Kind::kNone) << wrong;
    EXPECT_FALSE(IsBody(wrong, "{}")) << wrong;
  }
}

TEST_F(ProofsTest, ItIsForOneNodeAndByTheSecret) {
  EXPECT_EQ(asked_.Check(asks_.Make(question_, body_, "n3"), question_).kind, Kind::kNone);
  EXPECT_EQ(asks_.Check(asks_.Make(question_, body_, "n2"), question_).kind, Kind::kNone)
      << "it proves nothing to who made it";
  asks_.SetSecrets({"another-secret-of-nodes"});
  EXPECT_EQ(asked_.Check(asks_.Make(question_, body_, "n2"), question_).kind, Kind::kNone);
  asks_.SetSecrets({});
  EXPECT_EQ(asks_.Make(question_, body_, "n2"), "");
  asked_.SetSecrets({});
  asks_.SetSecrets({kSecret});
  EXPECT_EQ(asked_.Check(asks_.Make(question_, body_, "n2"), question_).kind, Kind::kNone);
}

TEST_F(ProofsTest, SecretsAreChangedWithoutAGap) {
  const std::string old = "a-secret-of-before", fresh = "a-secret-of-tomorrow";
  const std::vector<std::vector<std::string>> steps = {{old}, {old, fresh}, {fresh, old}, {fresh}};
  // Nodes are one step apart at the most.
  for (size_t i = 0; i < steps.size(); ++i) {
    for (size_t j = i == 0 ? 0 : i - 1; j < std::min(i + 2, steps.size()); ++j) {
      asks_.SetSecrets(steps[i]);
      asked_.SetSecrets(steps[j]);
      const std::string proof = asks_.Make(question_, body_, "n2");
      EXPECT_EQ(asked_.Check(proof, question_).kind, Kind::kProven) << i << " " << j;
      const Checked stale = asked_.Check(proof, question_);
      EXPECT_TRUE(asks_.Learn(proof, stale.challenge)) << i << " " << j;
    }
  }
  asks_.SetSecrets({old});
  EXPECT_EQ(asked_.Check(asks_.Make(question_, body_, "n2"), question_).kind, Kind::kNone);
}

TEST_F(ProofsTest, ANodesTimeIsLearnedFromItAlone) {
  for (const int64_t ahead : {kDayMs, -kDayMs, 31'000L, -32'000L, -kNow}) {
    ahead_ = ahead;
    const std::string proof = asks_.Make(question_, body_, "n2");
    const Checked stale = asked_.Check(proof, question_);
    ASSERT_EQ(stale.kind, Kind::kStale) << ahead;
    const std::string other = asks_.Make(question_, body_, "n2");
    EXPECT_FALSE(asks_.Learn(other, stale.challenge)) << "it answers another proof";
    for (size_t i = 0; i < stale.challenge.size(); ++i) {
      std::string wrong = stale.challenge;
      wrong[i] = wrong[i] == '7' ? '8' : '7';
      EXPECT_FALSE(asks_.Learn(proof, wrong)) << wrong;
    }
    for (const char* const wrong : {"", "Bearer", "SeenDB-Proof", "SeenDB-Proof 1",
                                    "SeenDB-Proof 1 2", "SeenDB-Proof  1 2 3"}) {
      EXPECT_FALSE(asks_.Learn(proof, wrong)) << wrong;
    }
    EXPECT_EQ(asked_.Check(asks_.Make(question_, body_, "n2"), question_).kind, Kind::kStale);
    EXPECT_TRUE(asks_.Learn(proof, stale.challenge));
    EXPECT_EQ(asked_.Check(asks_.Make(question_, body_, "n2"), question_).kind, Kind::kProven);
    now_ += 3'600'000;
    EXPECT_EQ(asked_.Check(asks_.Make(question_, body_, "n2"), question_).kind, Kind::kProven);
  }
}

// Whatever the clocks were and are, and whether the proof was taken or kept back.
TEST_F(ProofsTest, AProofIsForOneProcess) {
  for (const int64_t ahead : {int64_t{0}, kValidMs, -kValidMs}) {
    ahead_ = 0;
    Introduce(asked_);
    ahead_ = ahead;  // learned only where it is more than is taken
    const std::string taken = asks_.Make(question_, body_, "n2");
    const std::string kept = asks_.Make(question_, body_, "n2");
    EXPECT_EQ(asked_.Check(taken, question_).kind, Kind::kProven);
    for (const int64_t back :
         {int64_t{0}, kDayMs}) {  // its clock is set back before it starts anew
      Proofs anew("n2", [this, back] { return now_ - back; });
      anew.SetSecrets({kSecret});
      for (const int64_t later : {int64_t{0}, back, int64_t{1}}) {
        now_ += later;
        EXPECT_EQ(anew.Check(taken, question_).kind, Kind::kStale) << ahead << " " << later;
        EXPECT_EQ(anew.Check(kept, question_).kind, Kind::kStale) << ahead << " " << later;
      }
      Introduce(anew);
      EXPECT_EQ(anew.Check(asks_.Make(question_, body_, "n2"), question_).kind, Kind::kProven);
    }
    now_ = kNow;
  }
}

TEST_F(ProofsTest, AProofEndsWithItsTime) {
  const std::string first = asks_.Make(question_, body_, "n2");
  const std::string second = asks_.Make(question_, body_, "n2");
  now_ += kValidMs;
  EXPECT_EQ(asked_.Check(first, question_).kind, Kind::kProven);
  now_ += 1;
  EXPECT_EQ(asked_.Check(second, question_).kind, Kind::kStale);
}

TEST_F(ProofsTest, SendersAreForgottenWhenAllOfTheirsIsStale) {
  ahead_ = kValidMs;  // its proofs are taken for twice as long
  const std::string proof = asks_.Make(question_, body_, "n2");
  EXPECT_EQ(asked_.Check(proof, question_).kind, Kind::kProven);
  for (const int64_t later : {int64_t{0}, kValidMs, kValidMs, kValidMs, int64_t{1}}) {
    now_ += later;
    Proofs other("n3", [this] { return now_.load(); });
    other.SetSecrets({kSecret});
    const std::string first = other.Make(question_, body_, "n2");
    EXPECT_TRUE(other.Learn(first, asked_.Check(first, question_).challenge));
    EXPECT_EQ(asked_.Check(other.Make(question_, body_, "n2"), question_).kind, Kind::kProven);
    EXPECT_EQ(asked_.Check(proof, question_).kind, Kind::kStale);
  }
}

TEST(SeenNumbersTest, EachNumberCountsOnce) {
  std::mt19937_64 random(test::Seed());
  SeenNumbers seen;
  std::set<uint64_t> taken;
  uint64_t newest = 0;
  EXPECT_FALSE(seen.Take(0));
  for (int i = 0; i < 200'000; ++i) {
    const bool jumps = random() % 5'000 == 0;
    const uint64_t step = jumps ? random() % (3 * SeenNumbers::kWidth) : random() % 4;
    const bool back = random() % 2 == 0;
    const uint64_t most = std::min<uint64_t>(newest, SeenNumbers::kWidth + 5);
    const uint64_t number = back && most > 0 ? newest - random() % most : newest + step;
    const bool too_old = number + SeenNumbers::kWidth <= newest;
    const bool expected = number > 0 && !too_old && taken.insert(number).second;
    ASSERT_EQ(seen.Take(number), expected) << number << " of " << newest;
    newest = std::max(newest, number);
  }
}

}  // namespace
}  // namespace seendb::proof::SEENDB_TEST_FILE
