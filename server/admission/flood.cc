#include "admission/flood.h"

namespace seendb::admission {
namespace {

/// Heads that the mean of their ages remembers.
constexpr double kHeadMemory = 32;

}  // namespace

void Flood::ReadHead(Duration ago) {
  ago_ns_ += (static_cast<double>(ago.count()) - ago_ns_) / kHeadMemory;
}

void Flood::CutShort(Time began, Time now) {
  if (short_since_ == Time()) short_since_ = began;
  const auto flood_ns = static_cast<double>(kFlood.count());
  if (!on_) {
    on_ = ago_ns_ > flood_ns && now - short_since_ > kFlood;
  } else if (ago_ns_ < flood_ns / 2) {
    ReadAll();
  }
}

void Flood::ReadAll() {
  short_since_ = {};
  on_ = false;
}

}  // namespace seendb::admission
