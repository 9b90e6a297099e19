// The rest of Memory: marks, histories and erasures of users, collections, items.

#include <algorithm>

#include "memory.h"

namespace seendb::client::internal {
namespace {

constexpr int64_t kMarksPage = 100;

/// The range of a page in a list of `size` entries, and the cursor of the next page.
struct PageOf {
  PageOf(const Json& told, size_t size) {
    begin = std::min(static_cast<size_t>(NumberOf(told, "cursor", 0)), size);
    end = std::min(begin + static_cast<size_t>(NumberOf(told, "limit", kMarksPage)), size);
    if (end < size) cursor = std::to_string(end);
  }

  size_t begin, end;
  std::string cursor;
};

}  // namespace

Json Memory::OfUser(const Asked& asked, const Request& request) {
  const std::vector<std::string>& parts = asked.parts;
  const std::string& user = parts.front();
  const std::string rest = parts.size() > 1 ? parts[1] : "";
  const std::string last = parts.size() > 2 ? parts[2] : "";
  const Json& told = asked.told;
  if (asked.route == "GET users") {
    if (rest.empty()) return {{"user", user}};
    if (rest == "marks") return MarksPage(user, told);
    if (rest == "history") return HistoryPage(user, told);
  } else if (asked.route == "DELETE users") {
    if (rest.empty()) return Erase(user);
    if (rest == "marks") {
      const auto marks = marks_.find(user);
      return {{"deleted", marks != marks_.end() && marks->second.erase(last) > 0}};
    }
  } else if (asked.route == "POST users" && rest == "marks") {
    Mark(user, told);
    return {{"accepted", 1}, {"refused", 0}, {"refusals", Json::array()}};
  } else if (asked.route == "POST users" && rest == "history") {
    if (told.contains("same_as")) {
      throw Malformed("the double knows no such groups", "/same_as");
    }
    if (last == "clear") {
      for (const auto& [name, policy] : collections_) {
        const Json& named = ListOf(told, "collections");
        const bool is_named = std::find(named.begin(), named.end(), Json(name)) != named.end();
        if (!told.contains("collections") || is_named) entries_.erase({name, user});
      }
      return Json::object();
    }
    std::map<std::string, Json>& entries = entries_[{CollectionOf(told), user}];
    Json found = Json::array();
    for (const Json& one : told.at("items")) {
      const std::string item = IdFrom(one).Text();
      if (last == "delete") {
        entries.erase(item);
      } else {
        found.push_back(entries.contains(item) ? entries[item] : Json());
      }
    }
    return {{"entries", found}};
  }
  throw Absent("the double has no " + request.path);
}

Json Memory::MarksPage(const std::string& user, const Json& told) const {
  const auto marks = marks_.find(user);
  std::vector<Json> all;
  if (marks != marks_.end()) {
    for (const auto& [group, mark] : marks->second) all.push_back(mark);
  }
  const PageOf page(told, all.size());
  Json answer = {{"marks", Json::array()}};
  for (size_t i = page.begin; i < page.end; ++i) answer["marks"].push_back(all[i]);
  if (!page.cursor.empty()) answer["cursor"] = page.cursor;
  return answer;
}

/// The mark that reaches further counts.
void Memory::Mark(const std::string& user, const Json& told) {
  const auto [mark, is_new] = marks_[user].emplace(told.at("group").get<std::string>(), told);
  if (is_new) return;
  const Json& before = mark->second["until"];
  const Json& until = told.at("until");
  if (until == "always" || (before != "always" && before <= until)) mark->second = told;
}

Json Memory::HistoryPage(const std::string& user, const Json& told) const {
  const std::string named = told.value("collection", ""), names = "," + named + ",";
  if (named.find(',') == std::string::npos) CollectionOf(told);  // it is there
  bool is_kept = false;
  std::vector<Json> all;
  for (const auto& [name, policy] : collections_) {
    const bool is_asked = names == ",," || names.find("," + name + ",") != std::string::npos;
    if (!is_asked || !policy.value("history", Json::object()).value("enabled", false)) continue;
    is_kept = true;
    const auto entries = entries_.find({name, user});
    if (entries == entries_.end()) continue;
    for (const auto& [item, entry] : entries->second) all.push_back(entry);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Json& a, const Json& b) { return a["at"] > b["at"]; });
  const PageOf page(told, all.size());
  Json answer = {{"entries", Json::array()}, {"kept", is_kept}, {"degraded", false}};
  for (size_t i = page.begin; i < page.end; ++i) answer["entries"].push_back(all[i]);
  if (!page.cursor.empty()) answer["cursor"] = page.cursor;
  return answer;
}

Json Memory::Erase(const std::string& user) {
  const auto is_of = [&](const auto& one) { return one.first.second == user; };
  const bool known = std::erase_if(seen_, is_of) + marks_.erase(user) > 0;
  std::erase_if(entries_, is_of);
  return {{"erased", true}, {"known", known}};
}

Json Memory::OfCollection(const Asked& asked) {
  if (asked.parts.empty()) {
    Json all = Json::array();
    for (const auto& [name, policy] : collections_) {
      all.push_back(policy);
      all.back()["name"] = name;
    }
    return {{"collections", all}};
  }
  const std::string& name = asked.parts.front();
  if (asked.route == "PUT collections") {
    collections_.emplace(name, Json::object()).first->second.update(asked.told);
  } else if (asked.route != "DELETE collections" || collections_.erase(name) == 0) {
    throw Absent("no collection " + name, "/name");
  }
  return {{"name", name}};
}

Json Memory::UpdateItems(const Json& told) {
  int64_t stale = 0;
  for (const Json& update : told.at("items")) {
    auto& fields = items_[IdFrom(update.at("id")).Text()];
    const auto version = update.at("version").get<int64_t>();
    const auto put = [&](const std::string& field, const Json& value) {
      const auto known = fields.find(field);
      if ((known == fields.end() ? fields[""] : known->second).version > version) {
        ++stale;
      } else {
        fields[field] = {.version = version, .value = value};
      }
    };
    const Json set = update.value("set", Json::object());
    for (const auto& [field, value] : set.items()) put(field, value);
    for (const Json& field : ListOf(update, "unset")) put(field.get<std::string>(), Json());
    if (!update.value("replace", false) && !update.value("delete", false)) continue;
    fields.try_emplace("");
    for (auto& [field, value] : fields) {
      if (value.version < version) value = {.version = version, .value = {}};
    }
  }
  return {{"accepted", told["items"].size()},
          {"stale", stale},
          {"refused", 0},
          {"refusals", Json::array()}};
}

Json Memory::FindItems(const Json& told) const {
  const Json& asked = ListOf(told, "fields");
  Json found = Json::array();
  for (const Json& id : told.at("ids")) {
    const auto item = items_.find(IdFrom(id).Text());
    if (item == items_.end()) continue;
    int64_t version = 0;
    bool is_there = false;
    Json fields = Json::object();
    for (const auto& [field, value] : item->second) {
      version = std::max(version, value.version);
      if (value.value.is_null()) continue;
      is_there = true;
      const bool is_asked =
          asked.empty() || std::find(asked.begin(), asked.end(), Json(field)) != asked.end();
      if (is_asked) fields[field] = value.value;
    }
    if (is_there) found.push_back({{"id", id}, {"version", version}, {"fields", fields}});
  }
  return {{"items", found}};
}

}  // namespace seendb::client::internal
