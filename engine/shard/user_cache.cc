#include "shard/user_cache.h"

#include <algorithm>
#include <utility>

namespace seendb {
namespace {

// Of a node of a tree or a hash map besides what it holds: pointers, and what the allocator adds.
constexpr uint64_t kNodeBytes = 48;
// Buckets of a stripe that CLOCK looks at before it goes on with the next stripe.
constexpr size_t kBucketsAtOnce = 16;

// Text beyond what a std::string holds in itself.
uint64_t HeapBytes(const std::string& text) { return text.capacity() > 15 ? text.capacity() : 0; }

}  // namespace

uint64_t BytesOf(const UserRecord& record) {
  uint64_t bytes = sizeof(UserRecord) + kNodeBytes;
  for (const std::string& value : record.newer) bytes += sizeof(std::string) + HeapBytes(value);
  for (const auto& [collection, marks] : record.marks) {
    bytes += kNodeBytes + sizeof(std::string) + HeapBytes(collection) + sizeof(marks);
    bytes += marks.overrides.size() * (kNodeBytes + sizeof(std::pair<const Fingerprint, Override>));
    bytes += marks.deletions_ahead.size() *
             (kNodeBytes + sizeof(std::pair<const Fingerprint, DeletionAhead>));
  }
  return bytes + record.toggles.capacity() * sizeof(PauseToggle);
}

UserCache::Found UserCache::Find(std::string_view user, uint64_t hash) {
  Stripe& stripe = StripeOf(hash);
  const MutexLock lock(stripe.mutex);
  const auto at = stripe.records.find(KeyView{user, hash});
  if (at == stripe.records.end()) return {};
  at->second.wanted = true;
  return {true, at->second.record};
}

void UserCache::Insert(std::string_view user, uint64_t hash, UserRecordPtr record,
                       uint64_t version) {
  Stripe& stripe = StripeOf(hash);
  {
    const MutexLock lock(stripe.mutex);
    if (stripe.version.load(std::memory_order_relaxed) != version) return;
    const auto [at, added] = stripe.records.try_emplace(Key{std::string(user), hash});
    if (!added) return;  // another thread has read it, too
    Set(stripe, at, std::move(record));
  }
  Shrink();
}

void UserCache::Join(std::string_view user, uint64_t hash, const UserRecord& change) {
  Stripe& stripe = StripeOf(hash);
  {
    const MutexLock lock(stripe.mutex);
    Changed(stripe);
    const auto at = stripe.records.find(KeyView{user, hash});
    if (at == stripe.records.end()) return;
    const UserRecordPtr& known = at->second.record;
    auto united = known ? std::make_shared<UserRecord>(*known) : std::make_shared<UserRecord>();
    united->Join(change);
    Set(stripe, at, std::move(united));
  }
  Shrink();
}

void UserCache::Replace(std::string_view user, uint64_t hash, UserRecordPtr record) {
  Stripe& stripe = StripeOf(hash);
  {
    const MutexLock lock(stripe.mutex);
    Changed(stripe);
    const auto at = stripe.records.find(KeyView{user, hash});
    if (at == stripe.records.end()) return;
    Set(stripe, at, std::move(record));
  }
  Shrink();
}

void UserCache::Clear() {
  for (Stripe& stripe : stripes_) {
    const MutexLock lock(stripe.mutex);
    Changed(stripe);
    while (!stripe.records.empty()) Take(stripe, stripe.records.begin());
  }
}

void UserCache::Changed(Stripe& stripe) {
  stripe.mutex.AssertHeld();
  stripe.version.fetch_add(1, std::memory_order_release);
  changes_.fetch_add(1, std::memory_order_release);
}

void UserCache::Set(Stripe& stripe, Records::iterator at, UserRecordPtr record) {
  stripe.mutex.AssertHeld();
  Entry& entry = at->second;
  const uint64_t bytes = kNodeBytes + sizeof(Records::value_type) + HeapBytes(at->first.user) +
                         (record ? BytesOf(*record) : 0);
  bytes_.fetch_add(bytes - entry.bytes, std::memory_order_relaxed);
  entry.bytes = bytes;
  entry.record = std::move(record);
  if (bytes > most_bytes_) Take(stripe, at);
}

void UserCache::Take(Stripe& stripe, Records::iterator at) {
  stripe.mutex.AssertHeld();
  bytes_.fetch_sub(at->second.bytes, std::memory_order_relaxed);
  stripe.records.erase(at);
}

// One stripe after the other. Once each has been looked at, records leave that are wanted, too: so
// it ends.
void UserCache::Shrink() {
  for (size_t looks = 0; bytes() > most_bytes_; ++looks) {
    Stripe& stripe = stripes_[turn_.fetch_add(1, std::memory_order_relaxed) % kStripes];
    ShrinkStripe(stripe, looks >= kStripes);
  }
}

void UserCache::ShrinkStripe(Stripe& stripe, bool wanted_too) {
  const MutexLock lock(stripe.mutex);
  Records& records = stripe.records;
  // No bucket twice: a record that is wanted would lose its mark and its place at once.
  for (size_t left = std::min(kBucketsAtOnce, records.bucket_count()); left > 0; --left) {
    if (bytes() <= most_bytes_) return;
    stripe.hand = stripe.hand + 1 < records.bucket_count() ? stripe.hand + 1 : 0;
    // Taking an entry out keeps the other entries of the bucket where they are.
    for (auto at = records.begin(stripe.hand); at != records.end(stripe.hand);) {
      const auto one = at++;
      if (!wanted_too && std::exchange(one->second.wanted, false)) continue;
      Take(stripe, records.find(one->first));
    }
  }
}

}  // namespace seendb
