// POST /filter as NDJSON: one request a line, one answer a line, in order.

#include <algorithm>
#include <memory>
#include <utility>

#include "api/filter.h"
#include "api/routes.h"
#include "api/status_http.h"
#include "wire/json_syntax.h"
#include "wire/json_text.h"
#include "wire/lines.h"

namespace seendb::api {
namespace {

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

class FilterStream final : public http::BodyStream {
 public:
  FilterStream(Context& context, Caller caller, admission::Priority priority)
      : context_(context), caller_(std::move(caller)), lines_(context.limits.body_bytes) {
    wait_.caller = caller_.get();
    wait_.priority = priority;
  }

  void Attend(http::Waiting* waiting) override { wait_.waiting = waiting; }

  size_t Take(std::string_view bytes, bool last, std::string* out) override {
    size_t taken = 0;
    std::string_view line;
    waits_ = false;
    while (true) {
      const size_t begin = taken;
      switch (lines_.Next(bytes, last, &taken, &line)) {
        case wire::LineCutter::Found::kNeedsMore:
          return taken;
        case wire::LineCutter::Found::kTooLong:
          AppendError({413, "too_large", "line over the limit"}, out);
          break;
        case wire::LineCutter::Found::kLine:
          if (IsBlank(line)) break;
          Answer(line, out);
          if (waits_) return begin;  // the line comes again
          break;
      }
    }
  }

  bool AnswersAsItGoes() const override { return true; }
  bool Failed() const override { return false; }
  bool Later(int64_t* later_us) const override {
    *later_us = wait_.later_us;
    return waits_;
  }
  void Finish(http::Response*) override {}

 private:
  void Answer(std::string_view line, std::string* out) {
    if (came_again_) {
      http::Waiting::Came came = wait_.waiting->Take();
      if (asked_) wait_.old = std::static_pointer_cast<migration::OldAnswer>(came.given);
      if (!asked_) wait_.came = std::move(came);
      asked_ = false;
    }
    const Status status = AnswerFilter(context_, line, &wait_, out);
    waits_ = came_again_ = status.code() == StatusCode::kIncomplete;
    if (wait_.question) return AskOldStore();
    if (waits_) return;
    wait_.old = nullptr;  // it was of this line
    if (!status.ok()) {
      return AppendError(ToHttpError(wire::ExplainSyntax(status, line, /*takes_ndjson=*/false)),
                         out);
    }
    out->push_back('\n');
  }

  void AskOldStore() {
    asked_ = true;
    wait_.later_us = 0;  // the question has a limit of its own
    wait_.migration->Ask(*std::exchange(wait_.question, {}),
                         [resume = wait_.waiting->Resume()](const auto& answer) {
                           resume(std::const_pointer_cast<migration::OldAnswer>(answer));
                         });
  }

  static void AppendError(const http::Error& error, std::string* out) {
    out->append("{\"error\":");
    wire::AppendErrorObject(error.code, error.message, error.field, out);
    out->append("}\n");
  }

  Context& context_;
  const Caller caller_;
  wire::LineCutter lines_;
  FilterWait wait_;
  bool waits_ = false;       // for the turn of the user of the next line, or for the old store
  bool asked_ = false;       // the old store, about the next line
  bool came_again_ = false;  // the next line, after a wait
};

}  // namespace

std::unique_ptr<http::BodyStream> StreamFilter(Context& context, const http::Plan& plan, Status*) {
  return std::make_unique<FilterStream>(context, CallerOf(plan), plan.ticket.priority);
}

}  // namespace seendb::api
