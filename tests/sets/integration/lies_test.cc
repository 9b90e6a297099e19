// A log of sets that lies: what is no piece is passed over, and the sets that were there stay.

#include "filter/hash.h"
#include "format/bytes.h"
#include "sets/log_fixture.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

struct SetLie {
  const char* lie;
  std::vector<SetRecord> records;
};

/// A value of the one piece of a set "s" with this behind the number of pieces.
std::string Sealed(const std::string& ids, uint64_t pieces = 1) {
  std::string value("\xa1\x00\x01s\x02", 5);
  PutU64(&value, 7);
  PutVarint(&value, 0);
  PutVarint(&value, pieces);
  value += ids;
  Seal32(&value);
  return value;
}

std::string Id(const std::string& text) {
  std::string id;
  PutVarint(&id, text.size());
  return id + text;
}

std::string Counted(uint64_t count, const std::string& ids) {
  std::string text;
  PutVarint(&text, count);
  return text + ids;
}

class SetLogLiesTest : public SetLogTest {
 protected:
  static SetRecord Under(const std::string& value) {
    return {sets::KeyOf({.name = "s", .version = {1, 7}}), value};
  }
  std::vector<SetLie> Lies() const {
    const std::string sound = Sealed(Counted(1, Id("a")));
    std::string dense;
    for (int i = 0; i < 5'000; ++i) dense += Id("a");
    std::string huge(1, '\x01');
    PutVarint(&huge, uint64_t{1} << 62);
    return {
        {"too_long", {Under(Sealed(Counted(1, Id(std::string(300, 'x')))))}},
        {"too_long", {{std::string(1 << 20, 'k'), sound}}},
        {"too_long", {Under(std::string(900'000, '\xa1'))}},
        {"dense", {Under(Sealed(Counted(5'000, dense)))}},
        {"dense", {Under(Sealed(Counted(1, Id("a")), 100'000))}},
        {"wrong_type", {Under(R"({"items":["a"]})"), {"{}", sound}, {"", sound}}},
        {"negative_length", {Under(Sealed("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))}},
        {"huge_length", {Under(Sealed(huge))}},
        {"huge_length", {Under(Sealed(Counted(uint64_t{1} << 40, Id("a"))))}},
        {"cut", {Under(sound.substr(0, sound.size() - 5)), Under("\xa1")}},
        {"twice", {Under(Sealed(Counted(2, Id("a") + Id("a"))))}},
        {"out_of_order", {Under(Sealed(Counted(2, Id("b") + Id("a"))))}},
        {"noise", {Under("\x80\xff\x01\x02 no piece"), {"\x80\xff", "\x80\xff"}}},
    };
  }
};

TEST_F(SetLogLiesTest, ArePassedOver) {
  Current("a");
  Put("a", "s", {"before"});
  Put("a", "t", {"x"});
  for (const SetLie& told : Lies()) {
    const uint64_t passed = Store("a").passed_over();
    for (const SetRecord& record : told.records) log_.Append(record);
    Follow("a");
    EXPECT_EQ(Store("a").passed_over(), passed + told.records.size()) << told.lie;
    EXPECT_EQ(Ids("a", "s"), (Texts{"before"})) << told.lie;
  }
  const SetRecord sound = Under(Sealed(Counted(1, Id("a"))));
  log_.Append(sound);
  log_.Append(sound);  // "twice", of a piece
  Follow("a");
  EXPECT_EQ(Ids("a", "s"), (Texts{"a"}));
  Current("b");
  EXPECT_EQ(Ids("b", "s"), (Texts{"a"}));
  EXPECT_EQ(Ids("b", "t"), (Texts{"x"}));
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
