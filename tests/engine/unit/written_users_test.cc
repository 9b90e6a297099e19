// Who got rows of history since a check of the cap; when everybody is to be looked at.

#include "shard/written_users.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace seendb::SEENDB_TEST_FILE {
namespace {

using Users = std::vector<std::string>;

// "all", or who is to be looked at.
Users Taken(WrittenUsers* users, const std::string& collection, uint64_t cap = 10) {
  std::optional<Users> taken = users->Take(collection, cap);
  if (!taken) return {"all"};
  std::sort(taken->begin(), taken->end());
  return *taken;
}

TEST(WrittenUsersTest, OnlyThoseWrittenSinceTheLastCheck) {
  WrittenUsers users;
  users.Add("a", "u0");
  EXPECT_EQ(Taken(&users, "a"), Users{"all"}) << "before the first check";
  EXPECT_EQ(Taken(&users, "a"), Users{});
  users.Add("a", "u1");
  users.Add("a", "u2");
  users.Add("a", "u1");
  EXPECT_EQ(Taken(&users, "b"), Users{"all"}) << "another collection";
  EXPECT_EQ(Taken(&users, "a"), (Users{"u1", "u2"}));
  EXPECT_EQ(Taken(&users, "a"), Users{});
}

TEST(WrittenUsersTest, EverybodyAfterAFailureOrASmallerCap) {
  WrittenUsers users;
  Taken(&users, "a");
  users.Add("a", "u1");
  EXPECT_EQ(Taken(&users, "a", 10), Users{"u1"});
  users.TakeFailed("a");
  users.Add("a", "u2");
  EXPECT_EQ(Taken(&users, "a", 10), Users{"all"});
  EXPECT_EQ(Taken(&users, "a", 20), Users{});
  EXPECT_EQ(Taken(&users, "a", 19), Users{"all"});
  EXPECT_EQ(Taken(&users, "a", 19), Users{});
}

TEST(WrittenUsersTest, EverybodyWhereThereWereTooMany) {
  WrittenUsers users(1000);
  Taken(&users, "a");
  Taken(&users, "b");
  users.Add("b", "u");
  for (int i = 0; i < 20; ++i) users.Add("a", "u" + std::to_string(i));
  EXPECT_EQ(Taken(&users, "a"), Users{"all"});
  users.Add("a", "u");
  EXPECT_EQ(Taken(&users, "a"), Users{"u"}) << "from then on they are counted anew";
  EXPECT_EQ(Taken(&users, "b"), Users{"u"});
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
