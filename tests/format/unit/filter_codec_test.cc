#include "format/filter_codec.h"

#include <algorithm>
#include <limits>

#include "filter/block_bloom.h"
#include "format/unit/format_testing.h"

namespace seendb::SEENDB_TEST_FILE {
namespace {

std::string Write(const SeenFilter& filter, const DamageSet& damage = {}) {
  std::string out = "stale";
  EncodeFilter(filter, damage, &out);
  return out;
}

bool Sound(std::string_view value) {
  FilterView view;
  return view.Parse(value);
}

std::string Sealed(std::string body) {
  body.insert(body.begin(), static_cast<char>(Tag::kFilter));
  Seal32(&body);
  return body;
}

Layer BloomLayer(uint32_t blocks, const std::vector<Fingerprint>& items) {
  Layer layer;
  layer.blocks = blocks;
  layer.items = static_cast<uint32_t>(items.size());
  layer.capacity = layer.items + 10;
  layer.bits.assign(blocks * kBlockBytes, '\0');
  InsertMany(reinterpret_cast<uint8_t*>(layer.bits.data()), blocks, items.data(), items.size());
  return layer;
}

Layer FrozenLayer(std::vector<Fingerprint> items) {
  std::sort(items.begin(), items.end());
  Layer layer;
  layer.items = layer.capacity = static_cast<uint32_t>(items.size());
  for (const Fingerprint fp : items) PutFingerprint(&layer.bits, fp);
  return layer;
}

SeenFilter Everything() {
  SeenFilter filter;
  filter.as_of_ms = 1'773'147'600'000;
  filter.dropped_layers = 3;
  filter.layers = {FrozenLayer({3, 1, 2}), BloomLayer(2, {10, 11, 12}), BloomLayer(3, {20})};
  filter.list = {0, 5, kFingerprintMask};
  return filter;
}

void ExpectSame(const SeenFilter& a, const SeenFilter& b) {
  EXPECT_EQ(a.sealed, b.sealed);
  EXPECT_EQ(a.as_of_ms, b.as_of_ms);
  EXPECT_EQ(a.dropped_layers, b.dropped_layers);
  EXPECT_EQ(a.list, b.list);
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (size_t i = 0; i < a.layers.size(); ++i) {
    EXPECT_EQ(a.layers[i].blocks, b.layers[i].blocks);
    EXPECT_EQ(a.layers[i].capacity, b.layers[i].capacity);
    EXPECT_EQ(a.layers[i].items, b.layers[i].items);
    EXPECT_EQ(a.layers[i].bits, b.layers[i].bits);
  }
}

TEST(FilterCodec, RoundTrip) {
  for (const bool sealed : {false, true}) {
    SeenFilter filter = Everything();
    filter.sealed = sealed;
    FilterView view;
    const std::string value = Write(filter);
    ASSERT_TRUE(view.Parse(value));
    EXPECT_TRUE(view.ListIsSorted());
    EXPECT_TRUE(view.damage.empty());
    ExpectSame(view.ToFilter(), filter);
    EXPECT_EQ(Write(view.ToFilter()), value);
  }
  FilterView empty;
  ASSERT_TRUE(empty.Parse(Write({})));
  ExpectSame(empty.ToFilter(), {});
}

TEST(FilterCodec, ADeltaIsAFilterThatIsAllList) {
  const std::vector<Fingerprint> items{1, 2, 3};
  std::string delta = "stale";
  EncodeDelta(77, items, &delta);
  SeenFilter filter;
  filter.as_of_ms = 77;
  filter.list = items;
  EXPECT_EQ(delta, Write(filter));
}

TEST(FilterCodec, TheDamageSectionIsCarried) {
  DamageSet damage;
  damage.Add("rotten");
  const std::string value = Write(Everything(), damage);
  FilterView view;
  ASSERT_TRUE(view.Parse(value));
  DamageSet read;
  ASSERT_TRUE(DamageSet::Read(view.damage, &read));
  ASSERT_EQ(read.entries.size(), 1u);
  EXPECT_EQ(read.entries[0].prefix, "rotten");
  ExpectSame(view.ToFilter(), Everything());
}

TEST(FilterCodec, CutsAndFlipsAreRefused) {
  DamageSet damage;
  damage.Add("rotten");
  const std::string value = Write(Everything(), damage);
  test::ExpectCutsRefused(value, Sound);
  test::ExpectFlipsRefused(value, Sound);
}

TEST(FilterCodec, HostileBodiesAreRefused) {
  using test::FromHex;
  // flags, as_of, dropped, layers, list
  EXPECT_TRUE(Sound(Sealed(FromHex("00 00 00 00 00"))));
  EXPECT_FALSE(Sound(Sealed("")));
  EXPECT_FALSE(Sound(Sealed(FromHex("04 00 00 00 00")))) << "unknown flags";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 00 00 00 01")))) << "the list is missing";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 00 00 00 ff ff ff ff 0f")))) << "a list of 24 GB";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 00 00 01 00 01 01 01")))) << "the block is missing";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 00 00 01 00 ff ff ff ff 0f 01 01")))) << "256 GB of bits";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 00 00 21 00") + std::string(33 * 3, '\0')))) << "33 layers";
  EXPECT_TRUE(Sound(Sealed(FromHex("00 00 00 20 00") + std::string(32 * 3, '\0'))))
      << "32 layers, empty";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 00 00 01 00 00 02 01 000000000000"))))
      << "a frozen list whose capacity is not its size";
  EXPECT_FALSE(Sound(Sealed(FromHex("02 00 00 00 00 7f")))) << "the damage section is missing";
  EXPECT_FALSE(Sound(Sealed(FromHex("00 00 00 00 00 00")))) << "bytes left over";
}

TEST(FilterCodec, ListsOutOfOrderAreFound) {
  for (const std::vector<Fingerprint>& list :
       {std::vector<Fingerprint>{2, 1}, std::vector<Fingerprint>{1, 1},
        std::vector<Fingerprint>{1, 3, 2}}) {
    SeenFilter filter;
    filter.list = list;
    const std::string value = Write(filter);
    FilterView view;
    ASSERT_TRUE(view.Parse(value));
    EXPECT_FALSE(view.ListIsSorted());
  }
  SeenFilter filter = Everything();
  std::string& frozen = filter.layers[0].bits;
  std::rotate(frozen.begin(), frozen.begin() + kFingerprintBytes, frozen.end());
  const std::string value = Write(filter);
  FilterView view;
  ASSERT_TRUE(view.Parse(value));
  EXPECT_FALSE(view.ListIsSorted());
}

}  // namespace
}  // namespace seendb::SEENDB_TEST_FILE
