#include "simulation/checks_history.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace seendb::simulation {
namespace {

std::string Text(const HistoryEntry& entry) {
  return entry.collection + "/" + entry.item + "@" + std::to_string(entry.at_ms) + "~" +
         std::to_string(entry.progress_s) + "~" + std::to_string(entry.duration_s) + "~" +
         entry.device + "~" + entry.fields;
}
std::string Text(const std::string& collection, const std::string& item, const Outlook& outlook) {
  std::string text = outlook.absent ? " nothing" : "";
  for (const Shown& shown : outlook.shown) text += " " + collection + "/" + item + shown.Text();
  return text;
}

bool Contains(const Outlook& outlook, const HistoryEntry& entry, bool degraded) {
  return std::any_of(outlook.shown.begin(), outlook.shown.end(),
                     [&](const Shown& shown) { return shown.Has(entry, degraded); });
}

// The order of a list.
auto PlaceOf(const HistoryEntry& entry) {
  return std::make_tuple(-entry.at_ms, entry.collection, entry.item);
}

// One page under examination.
class PageExamination {
 public:
  PageExamination(const Model& model, const std::string& user, const HistoryPage& page,
                  bool excused, Reading* reading)
      : model_(model), user_(user), page_(page), excused_(excused), reading_(*reading) {
    for (const auto& [name, policy] : model.policies()) {
      const bool wanted = reading_.of.empty() || std::find(reading_.of.begin(), reading_.of.end(),
                                                           name) != reading_.of.end();
      if (policy.history.enabled && wanted) collections_.insert(name);
    }
  }

  void Run() {
    if (page_.degraded == page_.missing.empty()) Fail("degraded, but nothing is missing");
    if (page_.degraded && !excused_) Fail("degraded without a cause: " + page_.missing.front());
    if (page_.entries.size() > reading_.limit) Fail("beyond the limit");
    if (!page_.cursor.empty() && page_.entries.size() != reading_.limit) Fail("stopped early");
    std::optional<HistoryEntry> last = reading_.last;
    for (const HistoryEntry& entry : page_.entries) {
      if (last && PlaceOf(entry) <= PlaceOf(*last)) Fail(Text(entry) + " is out of order");
      CheckEntry(entry);
      last = entry;
    }
    if (!page_.degraded) {
      bool more = false;
      for (const std::string& name : collections_) more = CheckCollection(name) || more;
      if (!page_.cursor.empty() && !more) Fail("a cursor, and nothing is left");
    }
    reading_.last = last;
    reading_.cursor = page_.cursor;
  }

 private:
  [[noreturn]] void Fail(const std::string& what) const {
    throw Violation("history " + user_ + ": " + what);
  }
  uint64_t Most(const std::string& collection) const {
    return model_.PolicyOf(collection).history.max_entries;
  }

  void CheckEntry(const HistoryEntry& entry) {
    if (!collections_.contains(entry.collection)) Fail(Text(entry) + " was not asked for");
    const Outlook outlook = model_.history().Expect(entry.collection, user_, entry.item);
    if (!Contains(outlook, entry, page_.degraded)) {
      Fail(Text(entry) + " is shown, expected" + Text(entry.collection, entry.item, outlook));
    }
    found_.insert({entry.collection, entry.item});
    if (++reading_.shown[entry.collection] > Most(entry.collection)) Fail("beyond the cap");
  }

  // Everything that is surely there is on the page, unless it comes before or behind, or is beyond
  // the cap. Answers whether something may come behind.
  bool CheckCollection(const std::string& collection) const {
    bool more = false;
    const auto shown = reading_.shown.find(collection);
    const bool full = shown != reading_.shown.end() && shown->second >= Most(collection);
    // The cap ends the list behind the last entry shown of the collection.
    std::optional<HistoryEntry> end;
    for (const HistoryEntry& entry : page_.entries) {
      if (!full || entry.collection == collection) end = entry;
    }
    const bool ends = full || !page_.cursor.empty();
    for (const std::string& item : model_.history().ItemsOf(collection, user_)) {
      const Outlook outlook = model_.history().Expect(collection, user_, item);
      for (const Shown& possible : outlook.shown) {
        HistoryEntry entry;
        entry.collection = collection;
        entry.item = item;
        entry.at_ms = possible.at_ms;
        if (reading_.last && PlaceOf(entry) <= PlaceOf(*reading_.last)) continue;
        const bool behind = ends && (!end || PlaceOf(entry) > PlaceOf(*end));
        more = more || (behind && !full);
        if (!outlook.sure() || behind || found_.contains({collection, item})) continue;
        Fail(collection + "/" + item + possible.Text() + " is not shown");
      }
    }
    return more;
  }

  const Model& model_;
  const std::string& user_;
  const HistoryPage& page_;
  const bool excused_;
  Reading& reading_;
  std::set<std::string> collections_;
  std::set<std::pair<std::string, std::string>> found_;
};

}  // namespace

void CheckLookup(Model* model, const std::string& collection, const std::string& user,
                 const std::vector<std::string>& items, const HistoryLookup& found, bool excused,
                 bool learn) {
  const std::string where = "lookup " + collection + " " + user + ": ";
  if (found.entries.size() != items.size()) throw Violation(where + "not as many as asked about");
  if (found.degraded == found.missing.empty()) throw Violation(where + "nothing is missing");
  if (found.degraded && !excused) throw Violation(where + "degraded without a cause");
  for (size_t i = 0; i < items.size(); ++i) {
    const Outlook outlook = model->history().Expect(collection, user, items[i]);
    const std::optional<HistoryEntry>& entry = found.entries[i];
    const bool right = entry ? entry->collection == collection && entry->item == items[i] &&
                                   Contains(outlook, *entry, found.degraded)
                             : outlook.absent || found.degraded;
    if (!right) {
      throw Violation(where + (entry ? Text(*entry) : items[i] + ": nothing") + ", expected" +
                      Text(collection, items[i], outlook));
    }
    if (learn && !found.degraded) {
      model->history().Learn(collection, user, items[i], entry.has_value());
    }
  }
}

void CheckPage(const Model& model, const std::string& user, const HistoryPage& page, bool excused,
               Reading* reading) {
  PageExamination(model, user, page, excused, reading).Run();
}

bool KeepsHistory(const Model& model, const std::vector<std::string>& of) {
  return std::all_of(of.begin(), of.end(), [&](const std::string& name) {
    return model.policies().contains(name) && model.PolicyOf(name).history.enabled;
  });
}

}  // namespace seendb::simulation
