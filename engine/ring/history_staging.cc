#include "ring/history_staging.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <tuple>

namespace seendb {
namespace {

// Users with more items are put in order when they are read.
constexpr uint32_t kFewEntries = 32;
// What an entry in order takes: a node of the set.
constexpr uint64_t kOrderBytes = 6 * sizeof(void*);

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
  User& fresh = users.emplace_back();
  fresh.hash = hash;
  fresh.name = user;
  fresh.collection = collection;
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
  ++user.entries;
  return fresh;
}

const HistoryStaging::Entry* HistoryStaging::Stripe::FindEntry(uint64_t hash, const User& user,
                                                               std::string_view item) const {
  if (entry_table.empty()) return nullptr;
  const size_t place = PlaceOf(entry_table, hash, [&](uint32_t index) {
    mutex.AssertHeld();
    const Entry& one = entries[index];
    return one.hash == hash && one.user == &user && one.item == item;
  });
  return entry_table[place] == 0 ? nullptr : &entries[entry_table[place] - 1];
}

void HistoryStaging::Stripe::PutInOrder(User* user) {
  if (user->in_order != nullptr) return;
  std::vector<const Entry*> all;
  all.reserve(user->entries);
  for (uint32_t at = user->first; at != 0; at = entries[at - 1].next) {
    if (entries[at - 1].at_ms != kNoTimeMs) all.push_back(&entries[at - 1]);
  }
  std::sort(all.begin(), all.end(), IsNewer());
  user->in_order = std::make_unique<InOrder>(all.begin(), all.end());
  ordered += all.size();
}

bool HistoryStaging::IsNewer::operator()(const Entry* a, const Entry* b) const {
  return ComesFirst(a->at_ms, a->item, b->at_ms, b->item);
}

void HistoryStaging::Add(uint16_t collection, const WatchedPlay& play) {
  const uint64_t hash = HashOfUser(collection, play.user);
  const uint64_t item_hash = HashOfItem(hash, play.item);
  Stripe& stripe = stripes_[UserStripeOf(hash)];
  const MutexLock lock(stripe.mutex);
  User& user = stripe.UserOf(hash, collection, play.user);
  Entry& entry = stripe.EntryOf(item_hash, user, play.item);
  std::string joined;
  std::string_view words = play.words;
  int64_t at_ms = play.at_ms;
  if (entry.at_ms != kNoTimeMs) {
    HistoryState all = entry.state();
    all.Join(StateOf(play.at_ms, play.words));
    PutWords(&joined, all);
    words = joined;
    at_ms = all.at_ms;
    if (at_ms == entry.at_ms && words == entry.words) return;
  }
  const bool moves = user.in_order != nullptr && at_ms != entry.at_ms;
  if (moves && entry.at_ms != kNoTimeMs) stripe.ordered -= user.in_order->erase(&entry);
  stripe.text_bytes -= OutsideBytes(entry.words);
  entry.at_ms = at_ms;
  entry.words.assign(words);
  stripe.text_bytes += OutsideBytes(entry.words);
  ++user.changes;
  if (!moves) return;
  user.in_order->insert(&entry);
  ++stripe.ordered;
}

void HistoryStaging::Behind(uint16_t collection, std::string_view user, int64_t at_ms,
                            std::string_view item, size_t most, std::vector<Row>* rows) {
  const uint64_t hash = HashOfUser(collection, user);
  Stripe& stripe = stripes_[UserStripeOf(hash)];
  const MutexLock lock(stripe.mutex);
  if (stripe.FindUser(hash, collection, user) == nullptr) return;
  User& known = stripe.UserOf(hash, collection, user);
  Entry place;
  place.at_ms = at_ms;
  place.item = item;
  if (known.entries > kFewEntries || known.in_order != nullptr) {
    stripe.PutInOrder(&known);
    auto at = known.in_order->upper_bound(&place);
    for (; most > 0 && at != known.in_order->end(); ++at, --most) {
      rows->push_back({(*at)->at_ms, (*at)->item});
    }
    return;
  }
  std::vector<const Entry*> few;
  for (uint32_t at = known.first; at != 0; at = stripe.entries[at - 1].next) {
    const Entry& entry = stripe.entries[at - 1];
    if (entry.at_ms != kNoTimeMs && IsNewer()(&place, &entry)) few.push_back(&entry);
  }
  std::sort(few.begin(), few.end(), IsNewer());
  few.resize(std::min(few.size(), most));
  for (const Entry* const entry : few) rows->push_back({entry->at_ms, entry->item});
}

uint64_t HistoryStaging::ChangesOf(uint16_t collection, std::string_view user) const {
  const uint64_t hash = HashOfUser(collection, user);
  const Stripe& stripe = stripes_[UserStripeOf(hash)];
  const MutexLock lock(stripe.mutex);
  const User* const known = stripe.FindUser(hash, collection, user);
  return known == nullptr ? 0 : known->changes;
}

void HistoryStaging::Erase(uint16_t collection, std::string_view user) {
  const uint64_t hash = HashOfUser(collection, user);
  Stripe& stripe = stripes_[UserStripeOf(hash)];
  const MutexLock lock(stripe.mutex);
  if (stripe.FindUser(hash, collection, user) == nullptr) return;
  User& known = stripe.UserOf(hash, collection, user);
  if (known.in_order != nullptr) stripe.ordered -= known.in_order->size();
  known.in_order.reset();
  ++known.changes;
  for (uint32_t at = known.first; at != 0; at = stripe.entries[at - 1].next) {
    stripe.entries[at - 1].at_ms = kNoTimeMs;
    stripe.entries[at - 1].words.clear();
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
           stripe.text_bytes + stripe.ordered * kOrderBytes;
  }
  return sum;
}

}  // namespace seendb
