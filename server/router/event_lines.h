// server/router/event_lines.h: POST /plays, /impressions and /exposures as NDJSON at a node of a
// cluster: lines are gathered, and go into the log batch by batch.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "api/events_call.h"
#include "router/event_batch.h"
#include "router/router.h"
#include "wire/groups_json.h"
#include "wire/lines.h"

namespace seendb::router {

/// See the head of this file.
class EventLines final : public http::BodyStream {
 public:
  /// Null: refused.
  static std::unique_ptr<http::BodyStream> Make(ClusterRouter* router,
                                                const http::RequestHead& head,
                                                const http::Plan& plan, Status* refusal);
  EventLines(ClusterRouter* router, const http::RequestHead& head, const http::Plan& plan,
             std::string collection, std::shared_ptr<const api::CatalogEntry> entry);

  void Attend(http::Waiting* waiting) override { waiting_ = waiting; }
  size_t Take(std::string_view bytes, bool last, std::string* out) override;
  bool AnswersAsItGoes() const override { return false; }
  bool Failed() const override { return !failure_.ok(); }
  bool Later(int64_t* later_us) const override;
  size_t HeldBytes() const override { return batch_ ? batch_->bytes() : 0; }
  void Finish(http::Response* response) override;

 private:
  using Results = std::vector<Result<wire::Appended>>;

  /// The content of the line.
  Status ParseLine(std::string_view line, wire::JsonDocument* document, Play* event);
  void TakeLine(uint64_t index, std::string_view line);
  void Refuse(uint64_t index, Status status);
  void Send();
  void TakeResults();

  ClusterRouter& router_;
  const http::RequestHead head_;
  const peers::Headers headers_;
  const std::string collection_;
  const std::shared_ptr<const api::CatalogEntry> entry_;
  const api::EventKind kind_;
  wire::NumberedLines lines_;
  wire::EventGroupsReader groups_;  // of the line
  http::Waiting* waiting_ = nullptr;
  std::optional<EventBatch> batch_;
  std::chrono::steady_clock::time_point sent_at_ = std::chrono::steady_clock::now();
  bool under_way_ = false;
  wire::Recorded recorded_;
  Positions positions_;
  bool pending_ = false;
  Status failure_;
};

/// Adds what a batch became to what the ones before became.
void AddRecorded(const EventBatch::Outcome& outcome, wire::Recorded counted, wire::Recorded* to);
/// The answer to events: 202 where some are in the log and not applied yet.
void AnswerWritten(const wire::Recorded& recorded, bool pending, const Positions& positions,
                   http::Response* response);

}  // namespace seendb::router
