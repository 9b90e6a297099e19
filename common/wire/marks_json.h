// common/wire/marks_json.h: a user's marks, and the groups of candidates, from JSON; pages of marks
// to JSON.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "seendb/facts.h"
#include "seendb/marks.h"
#include "wire/json_read.h"

namespace seendb::wire {

/// One mark, `{"group","until","at"}`, or several, `{"marks":[...]}`.
struct MarksCall {
  std::vector<Mark> marks;
  bool single = false;  ///< it was one without a list
};

/// Appends a mark as the readers take it.
void AppendMark(const Mark& mark, std::string* out);

/// Readers of bodies, and of lines with one mark; views are good until `document` goes.
Status ParseMarks(std::string_view body, JsonDocument* document, MarksCall* call);
Status ParseMark(std::string_view line, JsonDocument* document, Mark* mark);

/// Appends `{"marks":[{"group","until","at"}],"cursor":"..."}`.
void AppendMarks(const MarksPage& page, std::string* out);
/// Appends a mark's members, without braces.
void AppendMarkMembers(const MarkEntry& mark, std::string* out);

/// Reads candidates of a filter request that are objects, and keeps their groups.
class GroupsReader {
 public:
  /// Keeps the memory of a request of usual size.
  void Clear() {
    if (names_.capacity() > kKept || read_.capacity() > kKept) *this = GroupsReader();
    names_.clear();
    read_.clear();
  }
  /// Reads `{"id","of":[..],"at":MS,"same_as":[..]}`, the candidate at `position`. An id that
  /// stands for none is refused as ReadId does.
  Status Read(ondemand::value value, size_t position, IdRef* id, std::string_view* token,
              bool* no_id);
  /// Makes them one a candidate; none where no candidate has groups or a time.
  void Finish(size_t candidates, std::vector<CandidateGroups>* groups) const;

 private:
  static constexpr size_t kKept = 16'384;
  struct One {
    size_t position = 0, first = 0, count = 0;  // of names_
    size_t first_same = 0, same = 0;
    std::optional<int64_t> at_ms = {};
  };
  std::vector<std::string_view> names_;
  std::vector<One> read_;
};

}  // namespace seendb::wire
