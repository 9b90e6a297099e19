#include "ring/history_staging.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <tuple>

namespace seendb {
namespace {

// Grows a table that holds `used` places before one more is taken; `hash_of(index)` for its places.
template <typename HashAt>
void MakeRoom(std::vector<uint32_t>* table, size_t used, const HashAt& hash_of) {
  if ((used + 1) * 4 <= table->size() * 3) return;
  std::vector<uint32_t> larger(std::max<size_t>(table->size() * 2, 16));
  const size_t mask = larger.size() - 1;
  for (const uint32_t index : *table) {
    if (index == 0) continue;
    size_t at = hash_of(index - 1) & mask;
    while (larger[at] != 0) at = (at + 1) & mask;
    larger[at] = index;
  }
  *table = std::move(larger);
}

// The place of what `is_it(index)` knows, or the free one where it belongs. Precondition: there is
// a free one.
template <typename IsIt>
size_t PlaceOf(const std::vector<uint32_t>& table, uint64_t hash, const IsIt& is_it) {
  assert(std::has_single_bit(table.size()));
  const size_t mask = table.size() - 1;
  size_t at = hash & mask;
  while (table[at] != 0 && !is_it(table[at] - 1)) at = (at + 1) & mask;
  return at;
}

// Short strings lie in the entry itself.
uint64_t OutsideBytes(const std::string& text) {
  static const size_t inside = std::string().capacity();
  return text.capacity() > inside ? text.capacity() + 1 : 0;
}

}  // namespace

const HistoryStaging::User* HistoryStaging::Stripe::FindUser(uint64_t hash, uint16_t collection,
                                                             std::string_view user) const {
  if (user_table.empty()) return nullptr;
  const size_t place = PlaceOf(user_table, hash, [&](uint32_t index) {
    mutex.AssertHeld();
    const User& one = users[index];
    return one.hash == hash && one.collection == collection && one.name == user;
  });
  return user_table[place] == 0 ? nullptr : &users[user_table[place] - 1];
}

HistoryStaging::User& HistoryStaging::Stripe::UserOf(uint64_t hash, uint16_t collection,
                                                     std::string_view user) {
  if (const User* known = FindUser(hash, collection, user)) return const_cast<User&>(*known);
  MakeRoom(&user_table, users.size(), [&](uint32_t index) {
    mutex.AssertHeld();
    return users[index].hash;
  });
  User& fresh = users.emplace_back(User{hash, std::string(user), 0, collection});
  text_bytes += OutsideBytes(fresh.name);
  const size_t place = PlaceOf(user_table, hash, [](uint32_t) { return false; });
  user_table[place] = static_cast<uint32_t>(users.size());
  return fresh;
}

HistoryStaging::Entry& HistoryStaging::Stripe::EntryOf(uint64_t hash, User& user,
                                                       std::string_view item) {
  MakeRoom(&entry_table, entries.size(), [&](uint32_t index) {
    mutex.AssertHeld();
    return entries[index].hash;
  });
  const size_t place = PlaceOf(entry_table, hash, [&](uint32_t index) {
    mutex.AssertHeld();
    const Entry& one = entries[index];
    return one.hash == hash && one.user == &user && one.item == item;
  });
  if (entry_table[place] != 0) return entries[entry_table[place] - 1];
  Entry& fresh = entries.emplace_back();
  fresh.hash = hash;
  fresh.user = &user;
  fresh.item = item;
  fresh.next = user.first;
  text_bytes += OutsideBytes(fresh.item);
  user.first = entry_table[place] = static_cast<uint32_t>(entries.size());
  return fresh;
}

void HistoryStaging::Add(uint16_t collection, const WatchedPlay& play) {
  const uint64_t hash = HashOfUser(collection, play.user);
  const uint64_t item_hash = KeyedHash(hash, KeyedHash(play.item));
  Stripe& stripe = stripes_[UserStripeOf(hash)];
  const MutexLock lock(stripe.mutex);
  User& user = stripe.UserOf(hash, collection, play.user);
  Entry& entry = stripe.EntryOf(item_hash, user, play.item);
  if (!HistoryView{play.at_ms, false, play.payload}.Supersedes(entry.state())) return;
  stripe.text_bytes -= OutsideBytes(entry.payload);
  entry.at_ms = play.at_ms;
  entry.payload.assign(play.payload);
  stripe.text_bytes += OutsideBytes(entry.payload);
}

void HistoryStaging::Erase(uint16_t collection, std::string_view user) {
  const uint64_t hash = HashOfUser(collection, user);
  Stripe& stripe = stripes_[UserStripeOf(hash)];
  const MutexLock lock(stripe.mutex);
  const User* known = stripe.FindUser(hash, collection, user);
  if (known == nullptr) return;
  for (uint32_t at = known->first; at != 0; at = stripe.entries[at - 1].next) {
    stripe.entries[at - 1].at_ms = kNoTimeMs;
    stripe.entries[at - 1].payload.clear();
  }
}

bool HistoryStaging::Holds(uint16_t collection) const {
  for (const Stripe& stripe : stripes_) {
    const MutexLock lock(stripe.mutex);
    for (const Entry& entry : stripe.entries) {
      if (entry.user->collection == collection && entry.at_ms != kNoTimeMs) return true;
    }
  }
  return false;
}

std::vector<const HistoryStaging::Entry*> HistoryStaging::Entries() const {
  std::vector<const Entry*> all;
  all.reserve(entries());
  for (const Stripe& stripe : stripes_) {
    const MutexLock lock(stripe.mutex);
    for (const Entry& entry : stripe.entries) {
      if (entry.at_ms != kNoTimeMs) all.push_back(&entry);
    }
  }
  std::sort(all.begin(), all.end(), [](const Entry* a, const Entry* b) {
    const auto key = [](const Entry& one) {
      return std::tie(one.user->collection, one.user->name, one.item);
    };
    return key(*a) < key(*b);
  });
  return all;
}

uint64_t HistoryStaging::entries() const {
  uint64_t sum = 0;
  for (const Stripe& stripe : stripes_) {
    const MutexLock lock(stripe.mutex);
    sum += stripe.entries.size();
  }
  return sum;
}

uint64_t HistoryStaging::bytes() const {
  uint64_t sum = 0;
  for (const Stripe& stripe : stripes_) {
    const MutexLock lock(stripe.mutex);
    sum += (stripe.user_table.size() + stripe.entry_table.size()) * sizeof(uint32_t) +
           stripe.users.size() * sizeof(User) + stripe.entries.size() * sizeof(Entry) +
           stripe.text_bytes;
  }
  return sum;
}

}  // namespace seendb
