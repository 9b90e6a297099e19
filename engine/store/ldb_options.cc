#include "store/ldb_options.h"

#include "store/families.h"
#include "store/scan.h"
#include "store/status.h"

namespace seendb {
namespace {

// ldb tells the formatter nothing of the family: eight bytes that are no text are a sequence.
class KeyFormatter final : public rocksdb::SliceFormatter {
 public:
  std::string Format(const rocksdb::Slice& key) const override {
    FamilyName family;
    family.kind = key.size() == 8 && static_cast<unsigned char>(key[0]) < 0x20
                      ? FamilyName::kRing
                      : FamilyName::kUnknown;
    return KeyText(family, {key.data(), key.size()});
  }
};

}  // namespace

Result<LdbSetup> LdbSetupFor(const std::string& shard_path, rocksdb::Env* env) {
  SharedResources shared;
  shared.env = env;
  shared.counters = std::make_shared<MergeCounters>();
  LdbSetup setup;
  std::vector<std::string> names;
  const rocksdb::DBOptions db_options = DatabaseOptions(shared);
  const rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(db_options, shard_path, &names);
  if (!listed.ok()) return FromRocks(listed, "list the families of " + shard_path);
  for (const std::string& name : names) {
    auto seen = std::make_shared<SeenRules>();
    seen->counters = shared.counters;
    auto impressions = std::make_shared<ImpressionRules>();
    impressions->counters = shared.counters;
    impressions->limit = UINT32_MAX;
    setup.families.emplace_back(
        name, FamilyOptions(shared, ParseFamilyName(name).kind, seen, impressions));
  }
  setup.options =
      rocksdb::Options(db_options, FamilyOptions(shared, FamilyName::kDefault, nullptr, nullptr));
  setup.ldb_options.key_formatter = std::make_shared<KeyFormatter>();
  return setup;
}

}  // namespace seendb
