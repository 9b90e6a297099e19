// server/router/mark_lines.h: POST /users/{user}/marks as NDJSON at a node of a cluster: lines are
// gathered, and go into the log record by record.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/events_call.h"
#include "router/router.h"
#include "wire/lines.h"

namespace seendb::router {

/// See the head of this file.
class MarkLines final : public http::BodyStream {
 public:
  /// Null: refused.
  static std::unique_ptr<http::BodyStream> Make(ClusterRouter* router,
                                                const http::RequestHead& head,
                                                const http::Plan& plan, Status* refusal);
  MarkLines(ClusterRouter* router, const http::RequestHead& head, const http::Plan& plan,
            uint32_t partition);

  void Attend(http::Waiting* waiting) override { waiting_ = waiting; }
  size_t Take(std::string_view bytes, bool last, std::string* out) override;
  bool AnswersAsItGoes() const override { return false; }
  bool Failed() const override { return !failure_.ok(); }
  bool Later(int64_t* later_us) const override;
  size_t HeldBytes() const override { return bytes_; }
  void Finish(http::Response* response) override;

 private:
  using Results = std::vector<Result<wire::Appended>>;
  /// A mark as JSON, and its line.
  struct Held {
    uint64_t line;
    std::string json;
  };

  void TakeLine(uint64_t index, std::string_view line);
  void Refuse(uint64_t line, Status status);
  /// Sends what is held: as one record, or each mark by itself.
  void Send(bool each);
  void TakeResults();
  /// The outcome of a record of the marks from `first` on.
  void TakeResult(const Result<wire::Appended>& result, size_t first);

  ClusterRouter& router_;
  const http::RequestHead head_;
  const peers::Headers headers_;
  const std::string user_;
  const uint32_t partition_;
  wire::NumberedLines lines_;
  http::Waiting* waiting_ = nullptr;
  std::vector<Held> held_;
  size_t bytes_ = 0;
  bool under_way_ = false, each_ = false;
  wire::Recorded recorded_;
  Positions positions_;
  bool pending_ = false;
  Status failure_;
};

}  // namespace seendb::router
