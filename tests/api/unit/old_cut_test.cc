// What an old store's answer makes of a filter request and of the engine's answer.

#include "api/old_cut.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::api::SEENDB_TEST_FILE {
namespace {

class OldCutTest : public testing::Test {
 protected:
  OldCutTest() {
    for (const char* const text : {"a", "b", "c", "d", "e"}) items_.emplace_back(text);
    request_.items = items_;
  }
  static std::shared_ptr<const migration::OldAnswer> Answer(std::vector<bool> members) {
    auto answer = std::make_shared<migration::OldAnswer>();
    answer->got = true;
    answer->members = std::move(members);
    return answer;
  }
  void EngineSays(std::vector<uint32_t> unseen, uint32_t seen, uint32_t examined) {
    response_ = {};
    response_.unseen = std::move(unseen);
    response_.seen = seen;
    response_.examined = examined;
  }
  std::string Asked() const {
    std::string text;
    for (const IdRef& item : request_.items) text += item.text();
    return text;
  }

  std::vector<IdRef> items_;
  FilterRequest request_;
  FilterResponse response_;
};

TEST_F(OldCutTest, WhatTheOldStoreHasIsSeenAndNotAskedFor) {
  OldCut cut(Answer({true, false, false, true, false}), &request_);
  EXPECT_EQ(Asked(), "bce");
  EngineSays({0, 2}, 1, 3);  // b and e; c is seen
  response_.repeats = {1};
  cut.Tell(&response_);
  EXPECT_EQ(response_.repeats, std::vector<uint32_t>{2});
  EXPECT_EQ(response_.unseen, (std::vector<uint32_t>{1, 4}));
  EXPECT_EQ(response_.seen, 3u);
  EXPECT_EQ(response_.examined, 5u);
  EXPECT_FALSE(response_.degraded);
  EXPECT_EQ(Asked(), "abcde");
}

TEST_F(OldCutTest, ALimitEndsBehindTheLastThatWasExamined) {
  OldCut cut(Answer({true, false, true, false, true}), &request_);
  EngineSays({0}, 0, 1);  // b, and the limit is reached
  cut.Tell(&response_);
  EXPECT_EQ(response_.unseen, (std::vector<uint32_t>{1}));
  EXPECT_EQ(response_.examined, 2u);
  EXPECT_EQ(response_.seen, 1u);
}

TEST_F(OldCutTest, GroupsStayWithTheirCandidates) {
  const std::string_view of[] = {"g0", "g1", "g2", "g3", "g4"};
  std::vector<CandidateGroups> groups;
  for (const std::string_view& group : of) groups.push_back({{&group, 1}});
  const seendb::Question question{.groups = groups};
  request_.question = &question;
  {
    const OldCut cut(Answer({true, false, false, true, false}), &request_);
    ASSERT_EQ(request_.question->groups.size(), 3u);
    EXPECT_EQ(request_.question->groups[0].of[0], "g1");
    EXPECT_EQ(request_.question->groups[2].of[0], "g4");
  }
  EXPECT_EQ(request_.question, &question);
}

TEST_F(OldCutTest, ReasonsAreOfTheWholeRequest) {
  request_.explain = true;
  OldCut cut(Answer({false, true, false, false, true}), &request_);
  EngineSays({0, 2}, 1, 3);
  response_.reasons = {{}, {ReasonKind::kRing}, {}};
  cut.Tell(&response_);
  ASSERT_EQ(response_.reasons.size(), 5u);
  const ReasonKind kExpected[] = {ReasonKind::kUnseen, ReasonKind::kOldStore, ReasonKind::kRing,
                                  ReasonKind::kUnseen, ReasonKind::kOldStore};
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(response_.reasons[i].kind, kExpected[i]) << i;
}

TEST_F(OldCutTest, AllOrNothingOfIt) {
  {
    OldCut cut(Answer(std::vector<bool>(5, true)), &request_);
    EXPECT_EQ(Asked(), "");
    cut.Tell(&response_);
    EXPECT_EQ(response_.seen, 5u);
    EXPECT_EQ(response_.examined, 5u);
  }
  OldCut cut(nullptr, &request_);
  EXPECT_EQ(Asked(), "abcde");
  EngineSays({3}, 4, 5);
  cut.Tell(&response_);
  EXPECT_EQ(response_.unseen, (std::vector<uint32_t>{3}));
  EXPECT_FALSE(response_.degraded);
}

TEST_F(OldCutTest, WhatTheOldStoreHasTwiceIsSeenOnce) {
  items_[3] = items_[0];
  request_.items = items_;
  OldCut cut(Answer({true, false, false, true, false}), &request_);
  EngineSays({0}, 1, 3);  // b; c is seen, and e is c again
  response_.duplicates = 1;
  cut.Tell(&response_);
  EXPECT_EQ(response_.seen, 2u);
  EXPECT_EQ(response_.duplicates, 2u);
  EXPECT_EQ(response_.examined, 5u);
}

TEST_F(OldCutTest, NoAnswerDegradesOrFails) {
  const auto none = std::make_shared<const migration::OldAnswer>();
  {
    OldCut cut(none, &request_);
    EXPECT_EQ(Asked(), "abcde");
    EXPECT_TRUE(cut.Check().ok());
    cut.Tell(&response_);
    EXPECT_TRUE(response_.degraded);
    EXPECT_EQ(response_.missing, std::vector<std::string>{"old_store"});
  }
  request_.on_error = OnError::kFail;
  EXPECT_EQ(OldCut(none, &request_).Check().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace seendb::api::SEENDB_TEST_FILE
