#include "ingest/put_items.h"

namespace seendb::ingest {
namespace {

void TakeReport(const ItemReport& report, size_t first, ItemsPut* put) {
  put->applied += report.applied;
  for (const ItemRefusal& refusal : report.refused) {
    put->not_taken.emplace_back(first + refusal.position, refusal.status.message());
  }
}

}  // namespace

// A schema that was put after the updates were read may refuse one of them, and then all: each is
// put by itself.
Result<ItemsPut> PutItems(const ItemSink& sink, std::span<const ItemUpdate> updates,
                          std::span<const ItemSource> sources) {
  ItemsPut put;
  const Result<ItemReport> all = sink.apply(updates, sources);
  if (all.ok()) {
    TakeReport(*all, 0, &put);
    put.noted = put.not_taken.empty();
    return put;
  }
  if (all.status().code() != StatusCode::kInvalidArgument || updates.empty()) return all.status();
  for (size_t i = 0; i < updates.size(); ++i) {
    const Result<ItemReport> alone = sink.apply(updates.subspan(i, 1), {});
    if (alone.ok()) {
      TakeReport(*alone, i, &put);
    } else if (alone.status().code() == StatusCode::kInvalidArgument) {
      put.not_taken.emplace_back(i, alone.status().message());
    } else {
      return alone.status();
    }
  }
  return put;
}

}  // namespace seendb::ingest
