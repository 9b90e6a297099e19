#include "ingest/put_marks.h"

#include <algorithm>
#include <map>
#include <span>

namespace seendb::ingest {
namespace {

/// The marks of one user, and their positions.
struct MarksOfUser {
  IdRef user = {};
  std::vector<Mark> marks;
  std::vector<size_t> positions;
};

class Putting {
 public:
  explicit Putting(UserMarks* engine) : engine_(engine) {}

  // A mark that is refused takes all of its call with it: then each is put by itself.
  Status Put(const MarksOfUser& all, size_t begin, size_t end) {
    const Status together = Try(all, begin, end);
    if (!IsOfOne(together)) return together;
    for (size_t i = begin; i < end; ++i) {
      const Status alone = Try(all, i, i + 1);
      if (alone.ok()) continue;
      if (!IsOfOne(alone)) return alone;
      put_.not_taken.emplace_back(all.positions[i], std::string(alone.message()));
    }
    return {};
  }
  MarksPut Finish() { return std::move(put_); }

 private:
  static bool IsOfOne(const Status& status) {
    return !status.ok() && status.field().starts_with("/");
  }

  Status Try(const MarksOfUser& all, size_t begin, size_t end) {
    const Result<RecordResult> done =
        engine_->PutMarks(all.user, std::span(all.marks).subspan(begin, end - begin));
    if (!done.ok()) return done.status();
    put_.counted.accepted += done->accepted;
    put_.counted.refused += done->refused;
    for (size_t i = 0; i < kRefusalReasons; ++i) {
      put_.counted.refused_by[i] += done->refused_by[i];
    }
    return {};
  }

  UserMarks* const engine_;
  MarksPut put_;
};

}  // namespace

Result<MarksPut> PutMarks(UserMarks* engine, const std::vector<UserMark>& marks) {
  std::map<std::string, MarksOfUser> by_user;
  for (size_t i = 0; i < marks.size(); ++i) {
    MarksOfUser& all = by_user[marks[i].user.ToString()];
    all.user = marks[i].user;
    all.marks.push_back(marks[i].mark);
    all.positions.push_back(i);
  }
  Putting putting(engine);
  for (const auto& [name, all] : by_user) {
    for (size_t begin = 0; begin < all.marks.size(); begin += kMaxMarksAtOnce) {
      const Status put =
          putting.Put(all, begin, std::min(begin + kMaxMarksAtOnce, all.marks.size()));
      if (!put.ok()) return put;
    }
  }
  return putting.Finish();
}

}  // namespace seendb::ingest
