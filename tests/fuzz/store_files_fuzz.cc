// Arbitrary bytes as each of the small files and values a shard keeps beside its data: the
// inventory FILES, the position SYNCED, CURRENT, the markers of what was lost, the state of the
// ring, names of families. Refused, or read to what is written and read again as itself. The first
// byte chooses; in half of the cases a sum is put behind the text, which no fuzzer would guess.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include <rocksdb/env.h>

#include "format/bytes.h"
#include "fuzz/input.h"
#include "store/files.h"
#include "store/inventory.h"
#include "tables/data_loss.h"
#include "tables/meta_keys.h"
#include "tables/table_set.h"

namespace {

using namespace seendb;
using fuzz::Check;

constexpr char kShard[] = "/db/shard-0000";

/// A folder in memory.
rocksdb::Env* Disk() {
  static const std::unique_ptr<rocksdb::Env> env(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  return env.get();
}

void Write(const char* name, const std::string& bytes) {
  Check(Disk()->CreateDirIfMissing(kShard).ok());
  Check(rocksdb::WriteStringToFile(Disk(), bytes, std::string(kShard) + "/" + name).ok());
}

std::string WithSum(std::string text) {
  char sum[32];
  std::snprintf(sum, sizeof(sum), "sum %016llx\n",
                static_cast<unsigned long long>(HashBytes(text)));
  return text + sum;
}

void CheckInventory(const std::string& text) {
  const auto inventory = Inventory::FromText(text);
  if (inventory) Check(Inventory::FromText(inventory->ToText()) == inventory);
}

void CheckSynced(std::string bytes, bool with_sum) {
  if (with_sum) {
    bytes.resize(8);
    PutU64(&bytes, HashBytes(bytes));
  }
  Write("SYNCED", bytes);
  const auto sequence = ReadSyncedSequence(Disk(), kShard);
  Check(sequence.has_value() || !with_sum);
  if (!sequence) return;
  Check(WriteSyncedSequence(Disk(), kShard, *sequence).ok());
  Check(ReadSyncedSequence(Disk(), kShard) == sequence);
}

/// CURRENT and FILES as they come, beside a MANIFEST of no use: refused, naming a file.
void CheckOpening(const std::string& text, bool with_sum) {
  const size_t half = text.find('\n') == std::string::npos ? 0 : text.find('\n') + 1;
  Write("CURRENT", text.substr(0, half));
  Write("FILES", with_sum ? WithSum(text.substr(half)) : text.substr(half));
  Write("MANIFEST-000001", "no log");
  const Status status = CheckManifest(Disk(), kShard, ReadInventory(Disk(), kShard));
  Check(status.code() == StatusCode::kCorruption);
  Check(status.message().find("CURRENT") != std::string_view::npos ||
        status.message().find("MANIFEST") != std::string_view::npos);
}

void CheckLosses(std::string_view text) {
  const auto losses = DataLoss::FromJson(text);
  if (!losses) return;
  const std::string written = losses->ToJson();
  const auto again = DataLoss::FromJson(written);
  Check(again && again->at_ms == losses->at_ms && again->ToJson() == written);
  DataLoss both = *losses;
  both.Join(*again);
  Check(both.at_ms == losses->at_ms);
}

void CheckRingState(std::string_view text) {
  const auto epoch = ParseRingState(text);
  if (epoch) Check(ParseRingState(RingState(*epoch)) == epoch);
}

void CheckFamilyName(const std::string& text) {
  const FamilyName name = ParseFamilyName(text);
  if (name.Is(kSeenTables)) {
    Check(SeenFamilyName(name.collection, name.bucket) == text);
  } else if (name.Is(kImpressionsTables)) {
    Check(ImpressionsFamilyName(name.collection) == text);
  } else if (name.Is(kExposuresTables)) {
    Check(ExposuresFamilyName(name.collection) == text);
  } else if (name.Is(kCountsTables)) {
    Check(CountsFamilyName(name.collection) == text);
  } else if (name.Is(kHistoryTables)) {
    Check(HistoryFamilyName(name.collection, name.bucket) == text);
  } else if (name.Is(kTimelineTables)) {
    Check(TimelineFamilyName(name.collection, name.bucket) == text);
  } else if (name.Is(kRingTables)) {
    Check(ParseFamilyName(RingFamilyName(name.slot)).slot == name.slot);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const uint8_t choice = input.Byte();
  const std::string text(input.Rest());
  const bool with_sum = (choice & 8) != 0;
  switch (choice % 8) {
    case 0:
    case 1:
      CheckInventory(with_sum ? WithSum(text) : text);
      break;
    case 2:
      CheckSynced(text, with_sum);
      break;
    case 3:
      CheckOpening(text, with_sum);
      break;
    case 4:
      CheckLosses(text);
      break;
    case 5:
      CheckRingState(text);
      break;
    default:
      CheckFamilyName(text);
  }
  return 0;
}
