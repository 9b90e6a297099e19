// POST /items as NDJSON: one update a line, any number of lines, applied in batches as they come.
// A bad line is refused and counted; the others are taken.

#include <algorithm>
#include <chrono>

#include "api/items.h"
#include "api/routes.h"
#include "api/status_http.h"
#include "wire/arena.h"
#include "wire/json_syntax.h"
#include "wire/lines.h"

namespace seendb::api {
namespace {

/// Updates applied together, and the bytes of their lines.
constexpr size_t kItemBatch = 1'024;
constexpr size_t kItemBatchBytes = 256u << 10;
/// Their ids lie in blocks of so many bytes.
constexpr size_t kIdBlockBytes = 16u << 10;
/// A slow sender's updates wait no longer than this for their batch to fill.
constexpr std::chrono::milliseconds kItemBatchAge{200};

class ItemStream final : public http::BodyStream {
 public:
  ItemStream(Context& context, ItemDoor::Opened opened)
      : context_(context), opened_(std::move(opened)), lines_(context.limits.line_bytes) {}

  size_t Take(std::string_view bytes, bool last, std::string*) override {
    const size_t taken = lines_.Read(
        bytes, last, [this] { return Failed(); },
        [this](uint64_t index, std::string_view line) { TakeLine(index, line); },
        [this](uint64_t index, Status status) { Refuse(index, std::move(status)); });
    const bool old = std::chrono::steady_clock::now() - flushed_ > kItemBatchAge;
    if (last || old) Flush();
    return taken;
  }

  bool AnswersAsItGoes() const override { return false; }
  bool Failed() const override { return !failure_.ok(); }
  // A value takes less than its text and 64 bytes.
  size_t HeldBytes() const override {
    return updates_.capacity() * sizeof(ItemUpdate) + ids_.HeldBytes() + 16 * held_bytes_;
  }

  void Finish(http::Response* response) override {
    if (Failed()) return http::WriteError(ToHttpError(failure_), response);
    std::sort(taken_.refusals.begin(), taken_.refusals.end(),
              [](const auto& a, const auto& b) { return a.index < b.index; });
    AnswerItemsTaken(taken_, response);
  }

 private:
  void TakeLine(uint64_t index, std::string_view line) {
    wire::JsonDocument document(&context_.unsafe_integers);
    ItemUpdate update;
    Status status = wire::ParseItemUpdate(line, *opened_.types, &document, &update);
    if (!status.ok()) {
      return Refuse(index, wire::ExplainSyntax(std::move(status), line, /*takes_ndjson=*/false));
    }
    // The parser's views die with their line.
    if (!update.id.is_number()) update.id = IdRef(ids_.Copy(update.id.text()));
    updates_.push_back(std::move(update));
    held_lines_.push_back(index);
    held_bytes_ += line.size();
    if (updates_.size() >= kItemBatch || held_bytes_ >= kItemBatchBytes) Flush();
  }

  void Refuse(uint64_t line, Status status) {
    context_.items.CountMalformed(1);
    Note(line, std::move(status));
  }

  void Note(uint64_t line, Status status) {
    ++taken_.refused;
    if (taken_.refusals.size() < kMaxItemRefusals) {
      taken_.refusals.push_back({line, std::move(status)});
    }
  }

  /// A schema that was put meanwhile may refuse what was read under the former one: then each line
  /// is applied by itself.
  void Flush() {
    flushed_ = std::chrono::steady_clock::now();
    if (updates_.empty() || Failed()) return;
    if (!Apply(0, updates_.size())) {
      for (size_t i = 0; i < updates_.size() && !Failed(); ++i) Apply(i, 1);
    }
    updates_.clear();
    held_lines_.clear();
    ids_.Clear();
    held_bytes_ = 0;
  }

  /// The refusal of one of the updates of a call, as one of its line.
  static Status OfLine(const Status& status) {
    const std::string_view field = status.field();
    const size_t behind = std::min(field.find('/', 1), field.size());
    return Status(status.code(), std::string(status.message()), std::string(field.substr(behind)));
  }

  /// False where one of several is refused, and so nothing was applied.
  bool Apply(size_t begin, size_t count) {
    const std::span<const ItemUpdate> updates = std::span(updates_).subspan(begin, count);
    const Result<ItemReport> report = context_.items.Apply(opened_.store, updates);
    if (!report.ok() && report.status().code() == StatusCode::kInvalidArgument) {
      if (count > 1) return false;
      Refuse(held_lines_[begin], OfLine(report.status()));
      return true;
    }
    if (!report.ok()) {
      failure_ = report.status();
      return true;
    }
    taken_.accepted += report->applied;
    taken_.stale += report->stale;
    for (const ItemRefusal& refusal : report->refused) {
      Note(held_lines_[begin + refusal.position], OfLine(refusal.status));
    }
    return true;
  }

  Context& context_;
  const ItemDoor::Opened opened_;
  wire::NumberedLines lines_;
  // The updates of the batch, and their lines.
  std::vector<ItemUpdate> updates_;
  std::vector<uint64_t> held_lines_;
  wire::Arena ids_{kIdBlockBytes};
  size_t held_bytes_ = 0;
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
  wire::ItemsTaken taken_;
  Status failure_;
};

}  // namespace

std::unique_ptr<http::BodyStream> StreamItems(Context& context, const http::Plan& /*plan*/,
                                              Status* refusal) {
  Result<ItemDoor::Opened> opened = context.items.Use();
  if (opened.ok()) return std::make_unique<ItemStream>(context, *std::move(opened));
  *refusal = opened.status();
  return nullptr;
}

}  // namespace seendb::api
