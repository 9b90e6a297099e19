// server/router/filter_lines.h: POST /filter as NDJSON at a node of a cluster: each line goes to a
// replica of its user; the answers come in the order of the lines.

#pragma once

#include <deque>
#include <memory>
#include <string>

#include "api/filter.h"
#include "base/sync.h"
#include "router/router.h"
#include "router/user_of.h"
#include "wire/lines.h"

namespace seendb::router {

/// See the head of this file.
class FilterLines final : public http::BodyStream {
 public:
  /// Lines that are asked at once.
  static constexpr size_t kUnderWay = 16;

  /// Null: the lines were passed on by another node, which is to do the rest.
  static std::unique_ptr<http::BodyStream> Make(ClusterRouter* router,
                                                const http::RequestHead& head,
                                                const http::Plan& plan);
  FilterLines(ClusterRouter* router, const http::RequestHead& head, const http::Plan& plan);
  ~FilterLines() override;

  void Attend(http::Waiting* waiting) override { waiting_ = waiting; }
  size_t Take(std::string_view bytes, bool last, std::string* out) override;
  bool AnswersAsItGoes() const override { return true; }
  bool Failed() const override { return false; }
  bool Later(int64_t* later_us) const override;
  size_t HeldBytes() const override { return held_bytes_; }
  void Finish(http::Response*) override {}

 private:
  struct Line;
  struct Shared;

  void Begin(std::string_view text);
  void Ask(const std::shared_ptr<Line>& line, const Question& question, int64_t next_offset);
  void Run(const std::shared_ptr<Line>& line);
  void AskNext(const std::shared_ptr<Line>& line);
  void AskOldStore(const std::shared_ptr<Line>& line, api::FilterWait* wait);
  bool Settle(std::string* out);

  ClusterRouter& router_;
  const std::shared_ptr<const http::RequestHead> head_;
  const api::Caller caller_;
  const admission::Priority priority_;
  const peers::Headers headers_;
  Positions positions_;
  Status refusal_;  // of the header of positions
  wire::LineCutter lines_;
  http::Waiting* waiting_ = nullptr;
  std::deque<std::shared_ptr<Line>> open_;  // not answered yet, in order
  const std::shared_ptr<Shared> shared_;
  size_t held_bytes_ = 0;
  bool waits_ = false;
};

}  // namespace seendb::router
