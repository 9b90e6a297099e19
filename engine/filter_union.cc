#include "filter_union.h"

#include <algorithm>
#include <string>

namespace seendb {

Status FilterUnion::Find(const FilterRequest& request, const Catalog& catalog) {
  request_ = &request;
  const std::span<const std::string_view> names = request.collections;
  if (names.empty()) return {};
  if (names.size() > kMaxUnitedCollections) {
    return Status::InvalidArgument(
        "at most " + std::to_string(kMaxUnitedCollections) + " collections", "/collections");
  }
  bool own = false;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string field = "/collections/" + std::to_string(i);
    if (std::find(names.begin(), names.begin() + static_cast<ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<ptrdiff_t>(i)) {
      return Status::InvalidArgument("is named twice", field);
    }
    Result<CollectionPtr> found = catalog.Find(names[i]);
    if (!found.ok()) {
      return Status(found.status().code(), std::string(found.status().message()), field);
    }
    own = own || names[i] == request.collection;
    if (names[i] != request.collection) others_.emplace_back(i, std::move(found).value());
  }
  if (own) return {};
  changed_ = true;
  own_ = request;
  own_.facts = 0;
  if (request.question == nullptr) return {};
  own_question_ = *request.question;
  own_question_.no = {};
  own_.question = &own_question_;
  return {};
}

// Sets, caps and `exclude` are asked once, of the request's own collection. Marks are in all: they
// come with the groups of candidates.
bool FilterUnion::AskOthers(const FilterRead& read, Shard* shard, FilterResponse* response) {
  FilterRequest asked = *request_;
  asked.exclude = {};
  asked.limit = 0;
  asked.explain = true;
  asked.record = false;
  asked.judge = nullptr;
  Question question;
  if (asked.question != nullptr) {
    question.no = asked.question->no;
    question.groups = asked.question->groups;
    asked.question = &question;
  }
  FilterResponse said;
  for (const auto& [position, collection] : others_) {
    asked.collection = collection->name;
    said = {};
    if (!shard->Filter({.request = asked,
                        .collection = *collection,
                        .user = read.user,
                        .deadline = read.deadline,
                        .late = read.late,
                        .for_union = true},
                       &said)) {
      return false;
    }
    seen_.Take(said.reasons, static_cast<uint16_t>(position + 1));
    coarse_ |= said.coarse;
    beyond_ |= said.beyond;
    response->degraded = response->degraded || said.degraded;
    for (std::string& label : said.missing) response->missing.push_back(std::move(label));
  }
  return true;
}

void FilterUnion::Tell(FilterResponse* response) const {
  if (others_.empty()) return;
  response->coarse |= coarse_;
  response->beyond |= beyond_;
  std::vector<std::string> each;
  for (std::string& label : response->missing) {
    if (std::find(each.begin(), each.end(), label) == each.end()) each.push_back(std::move(label));
  }
  response->missing = std::move(each);
}

}  // namespace seendb
