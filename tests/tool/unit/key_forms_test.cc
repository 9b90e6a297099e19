#include "key_forms.h"

#include <string>

#include <gtest/gtest.h>

namespace seendb::tool::SEENDB_TEST_FILE {
namespace {

TEST(KeyForms, SeparatorsMakeAFormAndIdsDoNot) {
  EXPECT_EQ(FormOf("42"), "*");
  EXPECT_EQ(FormOf("a.b-c_d@example.com"), "*");
  EXPECT_EQ(FormOf("{3}:x"), "{*}:*");
  EXPECT_EQ(FormOf("tenant:42"), "*:*");
  EXPECT_EQ(FormOf(":"), ":");
  EXPECT_EQ(FormOf(""), "");
}

TEST(KeyForms, CountsThemWithAnExampleOfEach) {
  KeyForms forms;
  EXPECT_EQ(forms.First(), "");
  forms.Add("w:{3}:x", "{3}:x");
  for (int i = 0; i < 998; ++i) forms.Add("w:" + std::to_string(i), std::to_string(i));
  EXPECT_EQ(forms.size(), 2u);
  EXPECT_EQ(forms.First(), "*");
  EXPECT_EQ(forms.ToText(), "998 as w:0 (*), 1 as w:{3}:x ({*}:*)");
  EXPECT_EQ(forms.ToJson()[1], (Json{{"form", "{*}:*"}, {"keys", 1}, {"example", "w:{3}:x"}}));
}

TEST(KeyForms, HasALimit) {
  KeyForms forms;
  for (size_t i = 0; i < 2 * KeyForms::kFormsMost; ++i) forms.Add("k", std::string(i + 1, ':'));
  EXPECT_EQ(forms.size(), KeyForms::kFormsMost);
}

}  // namespace
}  // namespace seendb::tool::SEENDB_TEST_FILE
