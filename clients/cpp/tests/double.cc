// double.cc: what callers' tests do with a Double beside calling it; the scenarios of
// clients/conformance, which conformance.cc plays, hold its answers.
//
//   double             exits with 0 if all is as it should be

#include "seendb/double.h"

#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace seendb::client;  // NOLINT(google-build-using-namespace)
using Ids = std::vector<Id>;

int failures = 0;

void Check(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::cout << "does not hold: " << what << std::endl;
}

/// "code field" of the error that the call throws.
std::string ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code + " " + error.field;
  }
  return "none";
}

void CallsFailAsTold() {
  std::vector<std::string> told;
  Options options;
  options.on_call = [&](const CallReport& call) {
    told.push_back(std::string(call.name) + " " + std::to_string(call.tries));
  };
  Double c(options);
  c.Fail({"timeout", "unavailable", "unavailable"});
  Check(ErrorOf([&] { c.Filter("u", {"v"}); }) == "timeout ", "the first fails");
  Check(ErrorOf([&] { c.Filter("u", {"v"}); }) == "unavailable ", "the second fails, tried once");
  Check(c.FillPage("u", Ids{"v1", "v2"}, 1) == Ids{"v1"}, "a page fails open");
  Check(c.Filter("u", {"v1"}).unseen == Ids{"v1"}, "nothing was recorded of it");
  Check(told == std::vector<std::string>(4, "Filter 1"), "on_call is told");
  Check(c.Calls() == std::vector<std::string>(4, "Filter"), "calls are kept");
}

void AnswersAreDegraded() {
  Double c;
  c.Degrade(true);
  const Filtered texts = c.Filter("u", {"v"});
  const FilteredNumbers numbers = c.Filter("u", std::vector<uint64_t>{1, 2});
  const std::vector<std::string> missing = {"double"};
  Check(texts.degraded && texts.missing == missing, "of texts");
  Check(numbers.degraded && numbers.missing == missing && numbers.unseen.size() == 2, "of numbers");
  Check(ErrorOf([&] { c.Filter("u", {"v"}, {.or_fail = true}); }) == "unavailable ", "or it fails");
  const auto closed = [&] { c.FillPage("u", Ids{"v"}, 1, WhenDegraded::kFailClosed); };
  Check(ErrorOf(closed) == "unavailable ", "a page that fails closed");
  const Ids candidates = {"v1", "v2", "v3"};
  Check(c.FillPage("u", candidates, 2, WhenDegraded::kLastKnown).size() == 2, "a first page");
  c.Fail({"timeout"});
  Check(c.FillPage("u", candidates, 2, WhenDegraded::kLastKnown) == Ids{"v3"}, "the last known");
  c.Degrade(false);
  Check(!c.Filter("u", {"v"}).degraded, "no more");
}

void ABulkIsTaken() {
  Double c;
  Bulk bulk(c, {.batch = 2});
  for (uint64_t n = 0; n < 5; ++n) bulk.Add(Play{.user = uint64_t{7}, .item = n});
  bulk.Add(Play{.user = "7", .item = "text"});
  bulk.Add(Play{.user = "7", .item = "more", .device = "tv"});
  bulk.Flush();
  Check(bulk.recorded().accepted == 7, "all are accepted");
  Check(c.Filter("7", {uint64_t{0}, "4", "text", "more", "5"}).unseen == Ids{"5"}, "and seen");
}

void HistoriesAreKeptWhereAsked() {
  Double c;
  Check(!c.HistoryPage("u").kept, "none is kept");
  c.PutCollection("shows", R"({"history":{"enabled":true}})");
  for (int64_t n = 1; n < 6; ++n) {
    c.RecordPlays({{.user = "u", .item = "v" + std::to_string(n), .at_ms = n, .progress_s = n}},
                  {.collection = "shows"});
  }
  const HistoryPage page = c.HistoryPage("u", 2);
  Check(page.entries.size() == 2 && page.entries.front().item == "v5", "the newest come first");
  Check(c.HistoryPage("u", 9, page.cursor).entries.size() == 3, "then the others");
  c.DeleteHistory("u", {"v1", "v5"}, {.collection = "shows"});
  Check(c.History("u").size() == 3, "without what was deleted");
  Check(c.LookUpHistory("u", {"v1", "v2"}, {.collection = "shows"}).size() == 1, "what is left");
  Check(c.Erase("u") && !c.Erase("u") && c.History("u").empty(), "until it is erased");
}

void WhatItDoesNotKnowIsRefused() {
  std::unique_ptr<Client> c = std::make_unique<Double>();
  Check(ErrorOf([&] { c->Call("GET", "/admin/ring"); }) == "not_found ", "a route");
  Check(ErrorOf([&] { c->Filter("u", {"v"}, {.collections = {"default"}}); }) ==
            "invalid_argument /collections",
        "several collections");
  Check(ErrorOf([&] { c->RecordPlays({{.user = "u", .item = "v", .same_as = {"src:9"}}}); }) ==
            "invalid_argument /events/0/same_as",
        "reposts");
  Check(
      ErrorOf([&] { c->Filter("u", {"v"}, {.collection = "nowhere"}); }) == "not_found /collection",
      "a collection");
  Check(ErrorOf([&] { c->Filter("u", {""}); }) == "invalid_argument /items/0", "an id");
  c->Close();
  Check(ErrorOf([&] { c->Filter("u", {"v"}); }) == "closed ", "all, once it is closed");
}

}  // namespace

int main() {
  CallsFailAsTold();
  AnswersAreDegraded();
  ABulkIsTaken();
  HistoriesAreKeptWhereAsked();
  WhatItDoesNotKnowIsRefused();
  return failures == 0 ? 0 : 1;
}
