#include "format/filter_codec.h"

#include "filter/block_bloom.h"

namespace seendb {
namespace {

constexpr uint8_t kSealedFlag = 1;
constexpr uint8_t kDamageFlag = 2;

void PutList(std::span<const Fingerprint> list, std::string* out) {
  const size_t begin = out->size();
  out->resize(begin + list.size() * kFingerprintBytes);
  auto* at = reinterpret_cast<uint8_t*>(out->data()) + begin;
  for (Fingerprint fp : list) {
    StoreFingerprint(fp, at);
    at += kFingerprintBytes;
  }
}

}  // namespace

size_t LayerView::bytes() const {
  return blocks == 0 ? size_t{items} * kFingerprintBytes : size_t{blocks} * kBlockBytes;
}

bool FilterView::Parse(std::string_view value) {
  std::string_view body;
  if (!Open32(value, Tag::kFilter, &body)) return false;
  Reader in(body);
  const uint8_t flags = in.U8();
  if ((flags & ~(kSealedFlag | kDamageFlag)) != 0) return false;
  sealed = (flags & kSealedFlag) != 0;
  as_of_ms = static_cast<int64_t>(in.Varint());
  dropped_layers = in.Varint32();
  layer_count = in.Varint32();
  list_count = in.Varint32();
  const uint32_t damage_bytes = (flags & kDamageFlag) != 0 ? in.Varint32() : 0;
  if (!in.ok() || layer_count > kMaxLayers) return false;
  for (uint32_t i = 0; i < layer_count; ++i) {
    layers[i].blocks = in.Varint32();
    layers[i].capacity = in.Varint32();
    layers[i].items = in.Varint32();
    if (layers[i].blocks == 0 && layers[i].capacity != layers[i].items) return false;
  }
  damage = in.Bytes(damage_bytes);
  list =
      reinterpret_cast<const uint8_t*>(in.Bytes(uint64_t{list_count} * kFingerprintBytes).data());
  for (uint32_t i = 0; i < layer_count; ++i) {
    layers[i].bits = reinterpret_cast<const uint8_t*>(in.Bytes(layers[i].bytes()).data());
  }
  return in.ok() && in.remaining() == 0;
}

bool FilterView::ListIsSorted() const {
  const auto ascending = [](const uint8_t* packed, size_t count) {
    for (size_t i = 1; i < count; ++i) {
      if (LoadFingerprint(packed + (i - 1) * kFingerprintBytes) >=
          LoadFingerprint(packed + i * kFingerprintBytes)) {
        return false;
      }
    }
    return true;
  };
  for (uint32_t i = 0; i < layer_count; ++i) {
    if (layers[i].blocks == 0 && !ascending(layers[i].bits, layers[i].items)) {
      return false;
    }
  }
  return ascending(list, list_count);
}

void FilterView::AppendListTo(std::vector<Fingerprint>* out) const {
  out->reserve(out->size() + list_count);
  for (uint32_t i = 0; i < list_count; ++i) {
    out->push_back(LoadFingerprint(list + size_t{i} * kFingerprintBytes));
  }
}

SeenFilter FilterView::ToFilter() const {
  SeenFilter filter;
  filter.sealed = sealed;
  filter.as_of_ms = as_of_ms;
  filter.dropped_layers = dropped_layers;
  AppendListTo(&filter.list);
  filter.layers.resize(layer_count);
  for (uint32_t i = 0; i < layer_count; ++i) {
    Layer& layer = filter.layers[i];
    layer.blocks = layers[i].blocks;
    layer.capacity = layers[i].capacity;
    layer.items = layers[i].items;
    layer.bits.assign(reinterpret_cast<const char*>(layers[i].bits), layers[i].bytes());
  }
  return filter;
}

void EncodeFilter(const SeenFilter& filter, const DamageSet& damage, std::string* out) {
  std::string section;
  if (!damage.empty()) damage.AppendTo(&section);
  std::string& bytes = *out;
  bytes.clear();
  bytes.reserve(filter.Bytes() + section.size() + 64);
  bytes.push_back(static_cast<char>(Tag::kFilter));
  bytes.push_back(
      static_cast<char>((filter.sealed ? kSealedFlag : 0) | (section.empty() ? 0 : kDamageFlag)));
  PutVarint(&bytes, static_cast<uint64_t>(filter.as_of_ms));
  PutVarint(&bytes, filter.dropped_layers);
  PutVarint(&bytes, filter.layers.size());
  PutVarint(&bytes, filter.list.size());
  if (!section.empty()) PutVarint(&bytes, section.size());
  for (const Layer& layer : filter.layers) {
    PutVarint(&bytes, layer.blocks);
    PutVarint(&bytes, layer.capacity);
    PutVarint(&bytes, layer.items);
  }
  bytes.append(section);
  PutList(filter.list, &bytes);
  for (const Layer& layer : filter.layers) bytes.append(layer.bits);
  Seal32(&bytes);
}

void EncodeDelta(int64_t as_of_ms, std::span<const Fingerprint> items, std::string* out) {
  out->clear();
  out->reserve(items.size() * kFingerprintBytes + 24);
  out->push_back(static_cast<char>(Tag::kFilter));
  out->push_back('\0');
  PutVarint(out, static_cast<uint64_t>(as_of_ms));
  PutVarint(out, 0);
  PutVarint(out, 0);
  PutVarint(out, items.size());
  PutList(items, out);
  Seal32(out);
}

}  // namespace seendb
