#include "tables/ldb.h"

#include <memory>

#include "tables/rows.h"
#include "tables/table_set.h"

namespace seendb {
namespace {

// ldb tells the formatter nothing of the family: eight bytes that are no text are a sequence.
class KeyFormatter final : public rocksdb::SliceFormatter {
 public:
  std::string Format(const rocksdb::Slice& key) const override {
    const bool sequence = key.size() == 8 && static_cast<unsigned char>(key[0]) < 0x20;
    return sequence ? SequenceKeyText(key.ToStringView()) : PlainKeyText(key.ToStringView());
  }
};

}  // namespace

LdbSetup MakeLdbSetup(const rocksdb::DBOptions& options, const std::vector<std::string>& families) {
  LdbSetup setup;
  for (const std::string& name : families) setup.families.emplace_back(name, ReadingOptions(name));
  setup.options = rocksdb::Options(options, ReadingOptions(rocksdb::kDefaultColumnFamilyName));
  setup.ldb_options.key_formatter = std::make_shared<KeyFormatter>();
  return setup;
}

}  // namespace seendb
