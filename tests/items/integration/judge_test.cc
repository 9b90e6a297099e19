// Conditions on items: every operator on every type, what is absent, and what is not known.

#include <limits>
#include <string>

#include "items/store_fixture.h"
#include "seendb/item_judge.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

using Values = std::vector<ItemLiteral>;

/// With a column for every field that can have one, and with none.
class ItemJudgeTest : public StoreTest, public ::testing::WithParamInterface<bool> {
 protected:
  void OpenWithItems() {
    Open();
    std::vector<ItemField> fields = SomeFields();
    for (ItemField& field : fields) {
      const bool list =
          field.type == ItemFieldType::kI64List || field.type == ItemFieldType::kTextList;
      field.column = GetParam() && !list;
    }
    ASSERT_TRUE(store_->PutSchema(fields).ok());
    Apply({SetFields("whole", 1,
                     {{"author", std::string("m")},
                      {"published_at", int64_t{-5}},
                      {"score", 0.1F},
                      {"public", true},
                      {"tags", std::vector<std::string>{"cats", "", "dogs"}},
                      {"parts", std::vector<int64_t>{-1, 7}}}),
           SetFields("bare", 1, {})});
  }
  Result<std::unique_ptr<ItemJudge>> Make(const ItemRules& rules) {
    return ItemJudge::Make(*store_, rules);
  }
  std::vector<Judgement> Judge(const ItemRules& rules, const std::vector<std::string>& ids) {
    auto judge = Make(rules);
    EXPECT_TRUE(judge.ok()) << judge.status().ToString();
    std::vector<Judgement> judgements(ids.size());
    if (!judge.ok()) return judgements;
    const std::vector<IdRef> refs(ids.begin(), ids.end());
    (*judge)->Judge(refs, judgements);
    EXPECT_TRUE((*judge)->status().ok());
    return judgements;
  }
  /// Whether the two items pass: "10" where the whole one does, and the bare one does not.
  std::string Pass(const std::string& field, ItemOperator op, const Values& values) {
    ItemRules rules;
    rules.where = {{.entry = 0, .field = field, .op = op, .values = values}};
    std::string passes;
    for (const Judgement& one : Judge(rules, {"whole", "bare"})) {
      passes += one.dropped_by == 0 ? '1' : '0';
      EXPECT_LE(one.dropped_by, 1);
    }
    return passes;
  }
  std::string Refused(const std::string& field, ItemOperator op, const Values& values) {
    ItemRules rules;
    rules.where = {{.entry = 4, .field = field, .op = op, .values = values}};
    const auto judge = Make(rules);
    if (judge.ok()) return "taken";
    EXPECT_EQ(judge.status().code(), StatusCode::kInvalidArgument);
    return std::string(judge.status().field());
  }
};

const std::string kM = "m", kA = "a", kZ = "z";

TEST_P(ItemJudgeTest, Texts) {
  OpenWithItems();
  EXPECT_EQ(Pass("author", ItemOperator::kEq, {kM}), "10");
  EXPECT_EQ(Pass("author", ItemOperator::kEq, {kA}), "00");
  EXPECT_EQ(Pass("author", ItemOperator::kNe, {kM}), "01");
  EXPECT_EQ(Pass("author", ItemOperator::kNe, {kA}), "11");
  EXPECT_EQ(Pass("author", ItemOperator::kIn, {kZ, kM, kA}), "10");
  EXPECT_EQ(Pass("author", ItemOperator::kIn, {}), "00");
  EXPECT_EQ(Pass("author", ItemOperator::kGe, {kM}), "10");
  EXPECT_EQ(Pass("author", ItemOperator::kGe, {kZ}), "00");
  EXPECT_EQ(Pass("author", ItemOperator::kLe, {kM}), "10");
  EXPECT_EQ(Pass("author", ItemOperator::kLe, {kA}), "00");
  EXPECT_EQ(Pass("author", ItemOperator::kExists, {true}), "10");
  EXPECT_EQ(Pass("author", ItemOperator::kExists, {false}), "01");
}

TEST_P(ItemJudgeTest, Numbers) {
  OpenWithItems();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(Pass("published_at", ItemOperator::kEq, {int64_t{-5}}), "10");
  EXPECT_EQ(Pass("published_at", ItemOperator::kGe, {int64_t{-6}}), "10");
  EXPECT_EQ(Pass("published_at", ItemOperator::kGe, {int64_t{4}}), "00");
  EXPECT_EQ(Pass("published_at", ItemOperator::kGe, {kLeast}), "10");
  EXPECT_EQ(Pass("published_at", ItemOperator::kLe, {kLeast}), "00");
  EXPECT_EQ(Pass("published_at", ItemOperator::kIn, {int64_t{9}, int64_t{-5}}), "10");
  Apply({SetFields("whole", 2, {{"published_at", kLeast}})});
  EXPECT_EQ(Pass("published_at", ItemOperator::kExists, {true}), "10") << "0 in a column";
  EXPECT_EQ(Pass("published_at", ItemOperator::kEq, {kLeast}), "10");
  // 0.1 is what the float next to it is.
  EXPECT_EQ(Pass("score", ItemOperator::kEq, {0.1}), "10");
  EXPECT_EQ(Pass("score", ItemOperator::kGe, {0.1}), "10");
  EXPECT_EQ(Pass("score", ItemOperator::kLe, {-0.5}), "00");
  EXPECT_EQ(Pass("score", ItemOperator::kGe, {int64_t{0}}), "10");
  Apply({SetFields("whole", 3, {{"score", -0.0F}})});
  EXPECT_EQ(Pass("score", ItemOperator::kEq, {int64_t{0}}), "10");
  EXPECT_EQ(Pass("public", ItemOperator::kEq, {true}), "10");
  EXPECT_EQ(Pass("public", ItemOperator::kNe, {true}), "01");
  EXPECT_EQ(Pass("public", ItemOperator::kIn, {false}), "00");
}

TEST_P(ItemJudgeTest, Lists) {
  OpenWithItems();
  EXPECT_EQ(Pass("tags", ItemOperator::kAnyOf, {kZ, std::string("dogs")}), "10");
  EXPECT_EQ(Pass("tags", ItemOperator::kAnyOf, {std::string("dog")}), "00");
  EXPECT_EQ(Pass("tags", ItemOperator::kAnyOf, {std::string()}), "10");
  EXPECT_EQ(Pass("tags", ItemOperator::kAnyOf, {}), "00");
  EXPECT_EQ(Pass("tags", ItemOperator::kExists, {false}), "01");
  EXPECT_EQ(Pass("parts", ItemOperator::kAnyOf, {int64_t{7}}), "10");
  EXPECT_EQ(Pass("parts", ItemOperator::kAnyOf, {int64_t{-1}}), "10");
  EXPECT_EQ(Pass("parts", ItemOperator::kAnyOf, {int64_t{1}}), "00");
}

TEST_P(ItemJudgeTest, TheFirstEntryThatFailsIsNamed) {
  OpenWithItems();
  ItemRules rules;
  rules.where = {{0, "author", ItemOperator::kGe, {kA}},
                 {0, "author", ItemOperator::kLe, {kZ}},
                 {1, "public", ItemOperator::kEq, {true}},
                 {2, "score", ItemOperator::kGe, {int64_t{1}}},
                 {3, "score", ItemOperator::kGe, {int64_t{2}}}};
  const auto judged = Judge(rules, {"whole", "bare", "unknown"});
  EXPECT_EQ(judged[0].dropped_by, 3);
  EXPECT_EQ(judged[1].dropped_by, 1);
  EXPECT_EQ(judged[2].dropped_by, 0) << "what is not known is kept";
}

TEST_P(ItemJudgeTest, WhatIsNotKnownIsDroppedWhereThatIsAsked) {
  OpenWithItems();
  ItemUpdate expires = SetFields("expired", 1, {{"author", kM}});
  expires.expires_at_ms = now_ms_;
  ItemUpdate gone = SetFields("gone", 2, {});
  gone.remove = true;
  Apply({expires, SetFields("gone", 1, {{"author", kM}}), gone});
  ItemRules rules;
  rules.drop_unknown = true;
  const std::vector<std::string> ids = {"whole", "bare", "never", "expired", "gone"};
  const auto judged = Judge(rules, ids);
  EXPECT_EQ(judged[0].dropped_by, 0);
  EXPECT_EQ(judged[1].dropped_by, 0);
  for (size_t i = 2; i < ids.size(); ++i) EXPECT_EQ(judged[i].dropped_by, kItemUnknownRule) << i;
  rules.where = {{0, "author", ItemOperator::kEq, {kM}}};
  EXPECT_EQ(Judge(rules, ids)[1].dropped_by, 1);
}

TEST_P(ItemJudgeTest, KindsAreTheValuesOfAField) {
  OpenWithItems();
  Apply({SetFields("second", 1, {{"author", kM}, {"published_at", int64_t{-5}}}),
         SetFields("third", 1, {{"author", kA}, {"published_at", int64_t{0}}})});
  for (const char* field : {"author", "published_at"}) {
    ItemRules rules;
    rules.at_most = {field, 2};
    const auto judged = Judge(rules, {"whole", "second", "third", "bare", "unknown"});
    EXPECT_EQ(judged[0].kind, 1u) << field;
    EXPECT_EQ(judged[1].kind, 1u) << field;
    EXPECT_EQ(judged[2].kind, 2u) << field;
    EXPECT_EQ(judged[3].kind, 0u) << field;
    EXPECT_EQ(judged[4].kind, 0u) << field;
  }
}

TEST_P(ItemJudgeTest, ARefusalNamesItsPlace) {
  OpenWithItems();
  EXPECT_EQ(Refused("nobody", ItemOperator::kEq, {kM}), "/where/4/field");
  EXPECT_EQ(Refused("author", ItemOperator::kEq, {int64_t{1}}), "/where/4/eq");
  EXPECT_EQ(Refused("author", ItemOperator::kIn, {kM, true}), "/where/4/in/1");
  EXPECT_EQ(Refused("author", ItemOperator::kAnyOf, {kM}), "/where/4/any_of");
  EXPECT_EQ(Refused("author", ItemOperator::kExists, {kM}), "/where/4/exists");
  EXPECT_EQ(Refused("published_at", ItemOperator::kGe, {1.5}), "/where/4/ge");
  EXPECT_EQ(Refused("published_at", ItemOperator::kLe, {kM}), "/where/4/le");
  EXPECT_EQ(Refused("score", ItemOperator::kNe, {1e39}), "/where/4/ne");
  EXPECT_EQ(Refused("score", ItemOperator::kNe, {}), "/where/4/ne");
  EXPECT_EQ(Refused("public", ItemOperator::kGe, {true}), "/where/4/ge");
  EXPECT_EQ(Refused("public", ItemOperator::kEq, {int64_t{1}}), "/where/4/eq");
  EXPECT_EQ(Refused("tags", ItemOperator::kEq, {kM}), "/where/4/eq");
  EXPECT_EQ(Refused("tags", ItemOperator::kIn, {kM}), "/where/4/in");
  EXPECT_EQ(Refused("tags", ItemOperator::kAnyOf, Values(1'001, kM)), "/where/4/any_of");
  EXPECT_EQ(Refused("tags", ItemOperator::kAnyOf, Values(1'000, kM)), "taken");
  EXPECT_EQ(Refused("parts", ItemOperator::kAnyOf, {int64_t{1}, kM}), "/where/4/any_of/1");
  const auto place = [&](const ItemRules& rules) {
    return std::string(Make(rules).status().field());
  };
  EXPECT_EQ(place({.at_most = {"nobody", 1}}), "/at_most/field");
  EXPECT_EQ(place({.at_most = {"tags", 1}}), "/at_most/field");
  EXPECT_EQ(place({.at_most = {"author", 0}}), "/at_most/n");
  EXPECT_EQ(place({.where = {{16, "author", ItemOperator::kEq, {kM}}}}), "/where");
}

TEST_P(ItemJudgeTest, AFieldThatWentFailsTheRequest) {
  OpenWithItems();
  ItemRules rules;
  rules.where = {{0, "author", ItemOperator::kEq, {kM}}};
  const auto judge = Make(rules);
  ASSERT_TRUE(judge.ok());
  ASSERT_TRUE(store_->PutSchema({{"public", ItemFieldType::kBool, false}}).ok());
  const IdRef id("whole");
  Judgement judgement;
  (*judge)->Judge({&id, 1}, {&judgement, 1});
  EXPECT_EQ((*judge)->status().code(), StatusCode::kUnavailable);
}

// A column that comes or goes, and an item that comes back, change nothing.
TEST_P(ItemJudgeTest, ColumnsFollowTheItems) {
  OpenWithItems();
  ItemUpdate gone = SetFields("whole", 2, {});
  gone.remove = true;
  Apply({gone});
  ItemRules rules;
  rules.where = {{0, "author", ItemOperator::kEq, {kM}}};
  rules.drop_unknown = true;
  EXPECT_EQ(Judge(rules, {"whole"})[0].dropped_by, kItemUnknownRule);
  ItemUpdate back = SetFields("whole", 3, {{"author", kM}, {"score", 0.5F}});
  back.expires_at_ms = now_ms_ + 1;
  Apply({back});
  EXPECT_EQ(Judge(rules, {"whole"})[0].dropped_by, 0);
  ++now_ms_;
  EXPECT_EQ(Judge(rules, {"whole"})[0].dropped_by, kItemUnknownRule);
  ItemUpdate stays = SetFields("whole", 4, {{"author", kM}});
  stays.expires_at_ms = 0;
  Apply({stays});
  EXPECT_EQ(Judge(rules, {"whole"})[0].dropped_by, 0);
  for (const bool column : {false, true}) {
    ASSERT_TRUE(store_->PutSchema({{"author", ItemFieldType::kText, column}}).ok());
    EXPECT_EQ(Judge(rules, {"whole", "bare"})[0].dropped_by, 0) << column;
    EXPECT_EQ(Judge(rules, {"whole", "bare"})[1].dropped_by, 1) << column;
  }
  Open();
  EXPECT_EQ(Judge(rules, {"whole", "bare"})[0].dropped_by, 0) << "opened anew";
  EXPECT_EQ(Judge(rules, {"whole", "bare"})[1].dropped_by, 1);
}

INSTANTIATE_TEST_SUITE_P(Columns, ItemJudgeTest, ::testing::Bool());

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
