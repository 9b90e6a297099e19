#include "filter/seen_filter.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "filter/block_bloom.h"
#include "filter/probe_set.h"
#include "filter/sizing.h"

namespace seendb {
namespace {

// Share of the budget a sealed filter may use, so that a grown tail still finds some.
constexpr double kSealedShare = 0.95;
// A layer takes at most 1/4 of the ceiling, so that dropping the oldest forgets about a quarter.
constexpr uint64_t kLayersAtCeiling = 4;
// Room above what is still projected to come, so that a slightly rising user needs no second layer.
constexpr double kHeadroom = 1.15;
// The least part of the bucket assumed to have passed.
constexpr double kPassedMin = 1.0 / 32;
// A sealed filter's exact tail up to this many items is left alone.
constexpr size_t kTailKept = 64;

uint8_t* Bits(Layer& layer) { return reinterpret_cast<uint8_t*>(layer.bits.data()); }
const uint8_t* Bits(const Layer& layer) {
  return reinterpret_cast<const uint8_t*>(layer.bits.data());
}

// Blocks rounded up to a multiple of a power of two of about 1/64 of them: at most 1.6% more, and
// sealing can fold by that power.
uint64_t Foldable(uint64_t blocks) {
  uint64_t step = 1;
  while (step * 128 <= blocks && step < 64) step *= 2;
  return (blocks + step - 1) / step * step;
}

double DesignFpr(const Layer& layer) {
  return layer.blocks == 0 ? 0 : ExpectedFpr(layer.blocks, std::max(layer.capacity, layer.items));
}

double PresentFpr(const Layer& layer) {
  return layer.blocks == 0 ? 0 : ExpectedFpr(layer.blocks, layer.items);
}

std::string Ored(const std::string& a, const std::string& b) {
  std::string both = a;
  for (size_t i = 0; i < both.size(); ++i) both[i] = static_cast<char>(both[i] | b[i]);
  return both;
}

std::vector<Fingerprint> Union(std::span<const Fingerprint> a, std::span<const Fingerprint> b) {
  std::vector<Fingerprint> both;
  both.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

}  // namespace

bool Layer::Contains(Fingerprint fp) const {
  if (blocks == 0) return ContainsSorted(Bits(*this), items, fp);
  return seendb::Contains(Bits(*this), blocks, fp);
}

bool SeenFilter::Contains(Fingerprint fp) const {
  if (std::binary_search(list.begin(), list.end(), fp)) return true;
  return std::any_of(layers.rbegin(), layers.rend(),
                     [fp](const Layer& layer) { return layer.Contains(fp); });
}

uint64_t SeenFilter::Items() const {
  uint64_t items = list.size();
  for (const Layer& layer : layers) items += layer.items;
  return items;
}

uint64_t SeenFilter::Bytes() const {
  uint64_t bytes = list.size() * kFingerprintBytes;
  for (const Layer& layer : layers) bytes += layer.bits.size();
  return bytes;
}

void SeenFilter::Add(std::span<const Fingerprint> items, const FilterRules& rules) {
  if (items.empty()) return;
  if (!rules.exact && !sealed && !layers.empty()) {
    AddToLayers(items, rules);
    return;
  }
  AddToList(items);
  if (rules.exact) {
    FreezeExact(rules);
  } else if (!sealed) {
    SpillList(rules);
  } else if (list.size() > rules.list_limit || Bytes() > rules.bytes_max) {
    SealList(rules);
    EnforceCeiling(0, rules);
    // Below some rate lists are the smaller encoding, and the ceiling is kept as `exact` does.
    if (Bytes() > rules.bytes_max) FreezeExact(rules);
  }
}

// Those that no layer has.
void SeenFilter::AddToList(std::span<const Fingerprint> items) {
  std::vector<Fingerprint> fresh;
  if (!layers.empty()) {
    const bool at_ceiling = dropped_layers > 0;
    for (Fingerprint fp : items) {
      const bool known = at_ceiling ? layers.back().Contains(fp)
                                    : std::any_of(layers.begin(), layers.end(),
                                                  [fp](auto& l) { return l.Contains(fp); });
      if (!known) fresh.push_back(fp);
    }
    items = fresh;
  }
  list = list.empty() ? std::vector<Fingerprint>(items.begin(), items.end()) : Union(list, items);
}

void SeenFilter::SealWith(std::span<const Fingerprint> items, const FilterRules& rules) {
  const bool all_listed = layers.empty() && !sealed && !rules.exact;
  if (all_listed && FitALayer(list.size() + items.size(), rules)) {
    AddToList(items);  // no layer for more to come: sealing makes one of just the right size
  } else {
    Add(items, rules);
  }
  Seal(rules);
}

// Leaves the list once it is too long.
void SeenFilter::SpillList(const FilterRules& rules) {
  const uint64_t room = rules.bytes_max / 2 / kFingerprintBytes;
  if (list.size() <= std::min<uint64_t>(rules.list_limit, room)) return;
  const std::vector<Fingerprint> items = std::exchange(list, {});
  const uint64_t projected = ProjectedItems(items.size(), rules);
  PushLayer(std::max<uint64_t>(projected, items.size() + items.size() / 10), rules);
  AddToLayers(items, rules);
}

// The exact representation at its ceiling: the list becomes a frozen layer a quarter as large.
void SeenFilter::FreezeExact(const FilterRules& rules) {
  const uint64_t quarter =
      std::max<uint64_t>(rules.bytes_max / kLayersAtCeiling / kFingerprintBytes, 1);
  while (list.size() > quarter) {
    Layer layer;
    layer.items = layer.capacity = static_cast<uint32_t>(quarter);
    layer.bits.resize(quarter * kFingerprintBytes);
    for (size_t i = 0; i < quarter; ++i) {
      StoreFingerprint(list[i], Bits(layer) + i * kFingerprintBytes);
    }
    list.erase(list.begin(), list.begin() + static_cast<int64_t>(quarter));
    layers.push_back(std::move(layer));
    EnforceCeiling(0, rules);
  }
}

void SeenFilter::AddToLayers(std::span<const Fingerprint> items, const FilterRules& rules) {
  const auto is_at_ceiling = [&] {
    return dropped_layers > 0 || Bytes() + layers.back().bits.size() > rules.bytes_max;
  };
  bool at_ceiling = is_at_ceiling();
  for (Fingerprint fp : items) {
    const Layer& newest = layers.back();
    bool known = newest.Contains(fp);
    for (size_t i = 0; !known && !at_ceiling && i + 1 < layers.size(); ++i) {
      known = layers[i].Contains(fp);
    }
    if (known) continue;
    if (newest.items >= newest.capacity || newest.blocks == 0) {
      const uint64_t so_far = Items();
      const uint64_t projected = ProjectedItems(so_far, rules);
      const uint64_t rest = projected > so_far ? projected - so_far : 0;
      PushLayer(std::max<uint64_t>(rest, 2ULL * newest.capacity), rules);
      at_ceiling = is_at_ceiling();
    }
    Layer& target = layers.back();
    Insert(Bits(target), target.blocks, fp);
    ++target.items;
  }
}

// Items expected by the end of the bucket, from those so far and the part of it that has passed.
uint64_t SeenFilter::ProjectedItems(uint64_t items, const FilterRules& rules) const {
  const double span = static_cast<double>(rules.end_ms - rules.begin_ms);
  const double since = static_cast<double>(as_of_ms) - static_cast<double>(rules.begin_ms);
  const double passed = span > 0 ? since / span : 1;
  const double share = std::clamp(passed, kPassedMin, 1.0);
  const double to_come = static_cast<double>(items) * (1 / share - 1) * kHeadroom;
  return items + static_cast<uint64_t>(to_come);
}

double SeenFilter::BudgetLeft(const FilterRules& rules) const {
  double left = rules.fpr;
  for (const Layer& layer : layers) left -= DesignFpr(layer);
  return std::max(left, rules.fpr / 4096);
}

bool SeenFilter::FitALayer(uint64_t items, const FilterRules& rules) {
  const uint64_t bytes = rules.bytes_max / kLayersAtCeiling;
  if (items <= bytes / kFingerprintBytes) return true;
  if (rules.exact) return false;
  // The rate of the last of the layers at the ceiling: each takes its share of what is left.
  const double fpr = rules.fpr * kLayerShare * std::pow(1 - kLayerShare, kLayersAtCeiling - 1);
  return ExpectedFpr(bytes / kBlockBytes, static_cast<double>(items)) <= fpr;
}

void SeenFilter::PushLayer(uint64_t capacity, const FilterRules& rules) {
  const uint64_t blocks_max =
      std::max<uint64_t>(rules.bytes_max / kLayersAtCeiling / kBlockBytes, 1);
  double fpr = BudgetLeft(rules) * kLayerShare;
  uint64_t blocks = std::min(Foldable(BlocksFor(capacity, fpr)), blocks_max);
  const size_t before = layers.size();
  EnforceCeiling(blocks * kBlockBytes, rules);
  if (layers.size() != before) {
    fpr = BudgetLeft(rules) * kLayerShare;
    blocks = std::min(Foldable(BlocksFor(capacity, fpr)), blocks_max);
  }
  Layer layer;
  layer.blocks = static_cast<uint32_t>(blocks);
  layer.capacity = static_cast<uint32_t>(
      std::clamp<uint64_t>(CapacityOf(blocks, fpr), 1, std::max<uint64_t>(capacity, 1)));
  layer.bits.assign(blocks * kBlockBytes, '\0');
  layers.push_back(std::move(layer));
}

// Drops the oldest layers until `incoming_bytes` more fit below the ceiling.
void SeenFilter::EnforceCeiling(uint64_t incoming_bytes, const FilterRules& rules) {
  while (!layers.empty() &&
         (Bytes() + incoming_bytes > rules.bytes_max || layers.size() >= kMaxLayers)) {
    if (incoming_bytes == 0 && layers.size() == 1) break;
    layers.erase(layers.begin());
    ++dropped_layers;
  }
}

// ORs a layer into one of the same geometry; false where none has room.
bool SeenFilter::OrLayer(const Layer& incoming) {
  Layer* room = nullptr;
  for (Layer& layer : layers) {
    if (layer.blocks != incoming.blocks || layer.capacity != incoming.capacity) continue;
    if (layer.blocks == 0) {  // packed lists, not bits
      if (layer.bits == incoming.bits) return true;
      continue;
    }
    // Layers of one geometry may stand side by side at the ceiling: one that has all the bits
    // already comes first, then one with room for both, so that the rate stays what it was.
    const std::string both = Ored(layer.bits, incoming.bits);
    if (both == layer.bits) return true;
    if (room != nullptr) continue;
    const auto* bits = reinterpret_cast<const uint8_t*>(both.data());
    if (EstimateItems(bits, layer.blocks) <= layer.capacity) room = &layer;
  }
  if (room == nullptr) return false;
  room->bits = Ored(room->bits, incoming.bits);
  const uint64_t estimate = EstimateItems(Bits(*room), room->blocks);
  room->items = static_cast<uint32_t>(std::max<uint64_t>({room->items, incoming.items, estimate}));
  return true;
}

void SeenFilter::AddLayers(std::vector<Layer> incoming, const FilterRules& rules) {
  std::vector<Layer> apart;
  for (Layer& layer : incoming) {
    if (!OrLayer(layer)) apart.push_back(std::move(layer));
  }
  if (apart.empty()) return;
  layers.insert(layers.begin(), std::make_move_iterator(apart.begin()),
                std::make_move_iterator(apart.end()));
  EnforceCeiling(0, rules);
  // The list of an open filter that has layers lives in them.
  if (!rules.exact && !sealed && !list.empty()) {
    const std::vector<Fingerprint> items = std::exchange(list, {});
    PushLayer(std::max<uint64_t>(ProjectedItems(items.size(), rules), items.size()), rules);
    AddToLayers(items, rules);
  }
}

bool SeenFilter::WantsSeal(const FilterRules& rules) const {
  if (!sealed) return true;
  if (rules.exact || list.size() <= kTailKept) return false;
  // A list kept because it was the smaller encoding is reconsidered only by its size.
  if (layers.empty())
    return BlocksFor(list.size(), rules.fpr * kSealedShare) * kBlockBytes <
           list.size() * kFingerprintBytes;
  return BudgetLeft(rules) > rules.fpr / 1024;
}

void SeenFilter::Seal(const FilterRules& rules) {
  if (!WantsSeal(rules)) return;
  const bool first_time = !sealed;
  sealed = true;
  as_of_ms = 0;
  if (rules.exact) return;
  if (first_time) FoldSparseLayers(rules);
  if (!list.empty()) SealList(rules);
}

// One layer of exactly the right size for the list, where that is smaller.
void SeenFilter::SealList(const FilterRules& rules) {
  double fpr = rules.fpr * kSealedShare;
  if (!layers.empty()) {
    double left = rules.fpr;
    for (const Layer& layer : layers) left -= PresentFpr(layer);
    fpr = std::max(left, rules.fpr / 1024) / 2;
  }
  const uint64_t blocks = BlocksFor(list.size(), fpr);
  if (blocks * kBlockBytes >= list.size() * kFingerprintBytes) return;
  if (layers.size() + 1 >= kMaxLayers) return;
  if (blocks * kBlockBytes > rules.bytes_max / kLayersAtCeiling) {
    // More than the ceiling allows a layer: several, of which the oldest go.
    const std::vector<Fingerprint> items = std::exchange(list, {});
    PushLayer(items.size(), rules);
    AddToLayers(items, rules);
    return;
  }
  Layer layer;
  layer.blocks = static_cast<uint32_t>(blocks);
  layer.capacity = layer.items = static_cast<uint32_t>(list.size());
  layer.bits.assign(blocks * kBlockBytes, '\0');
  InsertMany(Bits(layer), blocks, list.data(), list.size());
  layers.push_back(std::move(layer));
  list.clear();
  EnforceCeiling(0, rules);
}

// Folds layers that were sized for more than came, while the bucket's budget holds.
void SeenFilter::FoldSparseLayers(const FilterRules& rules) {
  double total = 0;
  for (const Layer& layer : layers) total += PresentFpr(layer);
  for (Layer& layer : layers) {
    if (layer.blocks == 0) continue;
    const double present = PresentFpr(layer);
    for (uint64_t factor = 64; factor > 1; --factor) {
      if (layer.blocks % factor != 0) continue;
      const double folded = ExpectedFpr(layer.blocks / factor, layer.items);
      if (total - present + folded > rules.fpr * kSealedShare) continue;
      std::string bits(layer.bits.size() / factor, '\0');
      Fold(Bits(layer), layer.blocks, factor, reinterpret_cast<uint8_t*>(bits.data()));
      layer.bits = std::move(bits);
      layer.blocks = static_cast<uint32_t>(layer.blocks / factor);
      layer.capacity = layer.items;
      total += folded - present;
      break;
    }
  }
}

}  // namespace seendb
