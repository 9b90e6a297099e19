// GET /users/{user}/export: all that is held about a user as NDJSON, made piece by piece as it is
// read: the user, each mark, each set, each collection as the inspection shows it with what is
// counted there, each entry of the history, the end.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "api/routes.h"
#include "api/status_http.h"
#include "wire/counts_json.h"
#include "wire/history_json.h"
#include "wire/json_text.h"
#include "wire/marks_json.h"
#include "wire/sets_json.h"

namespace seendb::api {
namespace {

/// Entries read at a time: some 200 KB at the most.
constexpr uint32_t kPageEntries = 100;

class ExportStream final : public http::BodyStream {
 public:
  ExportStream(Engine* engine, std::string user) : engine_(*engine), user_(std::move(user)) {}

  size_t Take(std::string_view bytes, bool last, std::string* out) override {
    if (last && HasMore()) failure_ = Step(out);
    return bytes.size();
  }
  bool AnswersAsItGoes() const override { return true; }
  bool Failed() const override { return !failure_.ok(); }
  bool HasMore() const override { return part_ != Part::kDone; }
  void Finish(http::Response* response) override {
    if (Failed()) http::WriteError(ToHttpError(failure_), response);
  }

 private:
  enum class Part : uint8_t { kUser, kMarks, kSets, kCollections, kCounts, kHistory, kEnd, kDone };

  Status Step(std::string* out) {
    switch (part_) {
      case Part::kUser:
        return User(out);
      case Part::kMarks:
        return Marks(out);
      case Part::kSets:
        return Sets(out);
      case Part::kCollections:
        return Collection(out);
      case Part::kCounts:
        return Counts(out);
      case Part::kHistory:
        return Page(out);
      case Part::kEnd:
      case Part::kDone:
        break;
    }
    return End(out);
  }

  Status User(std::string* out) {
    collections_ = engine_.Collections();
    out->append("{\"type\":\"user\",\"user\":");
    wire::AppendJsonString(IdRef(user_).ToString(), out);
    out->append(",\"recording\":");
    const Result<Recording> recording = engine_.GetRecording(IdRef(user_));
    if (recording.ok()) {
      wire::AppendRecording(*recording, out);
    } else if (recording.status().code() == StatusCode::kCorruption) {
      out->append("null");  // nothing is recorded then; the rest can be read all the same
    } else {
      return recording.status();
    }
    out->append("}\n");
    part_ = Part::kMarks;
    return Status::Ok();
  }

  Status Marks(std::string* out) {
    MarksPage page;
    const MarksRequest request{.user = IdRef(user_), .limit = kPageEntries, .after = cursor_};
    const Status status = engine_.ReadMarks(request, &page);
    // Marks that can't be read keep nothing else from being read.
    if (!status.ok() && status.code() != StatusCode::kCorruption) return status;
    for (const MarkEntry& mark : page.marks) {
      out->append("{\"type\":\"mark\",");
      wire::AppendMarkMembers(mark, out);
      out->append("}\n");
    }
    if (page.degraded || !status.ok()) NoteMissing("own");
    cursor_ = std::move(page.after);
    if (cursor_.empty()) part_ = Part::kSets;
    return Status::Ok();
  }

  // A set a step: a line has all of its ids.
  Status Sets(std::string* out) {
    if (!sets_) {
      sets_.emplace();
      UserSetList list;
      if (Status status = engine_.ListUserSets(IdRef(user_), &list); !status.ok()) return status;
      if (list.degraded) NoteMissing("own");
      for (UserSetInfo& set : list.sets) sets_->push_back(std::move(set.name));
      std::reverse(sets_->begin(), sets_->end());
    }
    if (sets_->empty()) {
      part_ = Part::kCollections;
      return Status::Ok();
    }
    const std::string name = std::move(sets_->back());
    sets_->pop_back();
    UserSetPage page;
    const Status status = engine_.ReadUserSet(IdRef(user_), name, "", kMaxUserSetItems, &page);
    if (status.code() == StatusCode::kNotFound) return Status::Ok();  // it has ended since
    if (status.code() == StatusCode::kCorruption) {
      NoteMissing("own");
      return Status::Ok();
    }
    if (!status.ok()) return status;
    out->append("{\"type\":\"set\",");
    std::string members;
    wire::AppendUserSetPage(page, &members);
    out->append(members, 1).push_back('\n');
    return Status::Ok();
  }

  Status Collection(std::string* out) {
    if (next_ == collections_.size()) {
      part_ = Part::kHistory;
      return Status::Ok();
    }
    const std::string& name = collections_[next_++].name;
    const Result<UserReport> report = engine_.Inspect(IdRef(user_), name);
    if (!report.ok()) return report.status();
    out->append("{\"type\":\"collection\",\"collection\":");
    wire::AppendJsonString(name, out);
    out->append(",").append(ReportToJson(*report), 1).push_back('\n');
    part_ = Part::kCounts;
    return Status::Ok();
  }

  // Tells the counts of the collection before.
  Status Counts(std::string* out) {
    const std::string& name = collections_[next_ - 1].name;
    CountsPage page;
    const Status status = engine_.ReadCounts({.user = IdRef(user_),
                                              .collection = name,
                                              .limit = kPageEntries,
                                              .by_name = true,
                                              .after = cursor_,
                                              .after_item = item_cursor_},
                                             &page);
    // Like marks.
    if (!status.ok() && status.code() != StatusCode::kCorruption) return status;
    for (const GroupCounts& group : page.groups) {
      out->append("{\"type\":\"count\",\"collection\":");
      wire::AppendJsonString(name, out);
      out->push_back(',');
      wire::AppendCountMembers(group, out);
      out->append("}\n");
    }
    if (page.degraded || !status.ok()) NoteMissing("counts");
    cursor_ = page.more ? page.groups.back().group : "";
    item_cursor_ = page.more ? page.groups.back().item : "";
    if (!page.more) part_ = Part::kCollections;
    return Status::Ok();
  }

  void NoteMissing(std::string part) {
    degraded_ = true;
    if (std::find(missing_.begin(), missing_.end(), part) == missing_.end()) {
      missing_.push_back(std::move(part));
    }
  }

  Status Page(std::string* out) {
    HistoryPage page;
    const HistoryRequest request{.user = IdRef(user_),
                                 .limit = kPageEntries,
                                 .cursor = std::string_view(cursor_),
                                 .switched_off = true};
    if (Status status = engine_.ReadHistory(request, &page); !status.ok()) return status;
    for (const HistoryEntry& entry : page.entries) {
      out->append("{\"type\":\"history\",");
      wire::AppendEntryMembers(entry, out);
      out->append("}\n");
    }
    entries_ += page.entries.size();
    degraded_ = degraded_ || page.degraded;
    missing_.insert(missing_.end(), page.missing.begin(), page.missing.end());
    std::sort(missing_.begin(), missing_.end());
    missing_.erase(std::unique(missing_.begin(), missing_.end()), missing_.end());
    cursor_ = std::move(page.cursor);
    if (cursor_.empty()) part_ = Part::kEnd;
    return Status::Ok();
  }

  Status End(std::string* out) {
    out->append("{\"type\":\"end\",\"collections\":").append(std::to_string(collections_.size()));
    out->append(",\"entries\":").append(std::to_string(entries_));
    wire::AppendDegraded(degraded_, missing_, out);
    out->append("}\n");
    part_ = Part::kDone;
    return Status::Ok();
  }

  Engine& engine_;
  const std::string user_;
  Part part_ = Part::kUser;
  std::vector<CollectionInfo> collections_;
  std::optional<std::vector<std::string>> sets_;  // the last one first
  size_t next_ = 0;                               // of collections_
  std::string cursor_;
  std::string item_cursor_;  // in place of `cursor_`, behind the counts of groups
  uint64_t entries_ = 0;
  bool degraded_ = false;
  std::vector<std::string> missing_;
  Status failure_;
};

}  // namespace

std::unique_ptr<http::BodyStream> StreamExport(Context& context, const http::Plan& plan,
                                               Status* refusal) {
  IdRef user;
  *refusal = PathId(plan, 0, "/user", &user);
  if (!refusal->ok()) return nullptr;
  return std::make_unique<ExportStream>(context.engine.load(std::memory_order_acquire),
                                        plan.arguments.front());
}

}  // namespace seendb::api
