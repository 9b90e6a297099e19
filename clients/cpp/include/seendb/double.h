// seendb/double.h: a client for the tests of whoever calls SeenDB. There is no server: all is in
// memory.
//
//   seendb::Double double_client;
//   RenderFeed(double_client, "u1");             // takes a seendb::Client&
//   double_client.Fail({"timeout"});             // the next call has no answer

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "seendb/client.h"

namespace seendb::client {

namespace internal {
class Memory;
}

/// A Client whose calls are answered in this process, with the checks and the answers of a server.
/// It knows plays, impressions, exposures, marks, filters, histories, erasures, collections and
/// items. It forgets nothing, and no time is too old for it. It heeds facts and surfaces of
/// FilterOptions::not_entries, and ignores their times. It refuses `same_as`, `collections`, and
/// routes that it does not know. Threads: any.
class Double : public Client {
 public:
  /// Heeds `timeout` and `on_call` of the options, and ignores the others.
  explicit Double(Options options = {});
  ~Double() override;

  /// Each of the next calls throws Error with one of these codes. There is no second try.
  void Fail(const std::vector<std::string>& codes);
  /// Answers of filters are degraded from now on, or not any more.
  void Degrade(bool degraded);
  /// The calls so far, by the names that Options::on_call is told.
  std::vector<std::string> Calls() const;

 private:
  explicit Double(std::shared_ptr<internal::Memory> memory, Options options);

  const std::shared_ptr<internal::Memory> memory_;
};

}  // namespace seendb::client

namespace seendb {
using client::Double;  ///< the double, by its short name
}
