// tests/support/fake_dump.h: the part of FakeEngine that gives filters away: what a test sets.

#pragma once

#include "seendb/engine.h"

namespace seendb::test {

/// See the head of this file.
class FakeDumpEngine : public Engine {
 public:
  FilterDump dump;         ///< of everybody, in every collection
  Status dump_fail;        ///< of DumpFilter
  ItemHashKey item_key{};  ///< the database's

  Status DumpFilter(const FilterDumpRequest&, FilterDump* answer) override {
    *answer = dump;
    return dump_fail;
  }
  ItemHashKey ReadItemHashKey() const override { return item_key; }
};

}  // namespace seendb::test
