// /sets: named sets of items for all users. A set is put whole, as one JSON document or as NDJSON:
// each line has some of its ids, and nothing is changed before the last one was read.

#include <algorithm>
#include <memory>

#include "api/paging.h"
#include "api/routes.h"
#include "api/status_http.h"
#include "base/facts.h"
#include "wire/json_syntax.h"
#include "wire/lines.h"
#include "wire/sets_json.h"

namespace seendb::api {
namespace {

constexpr size_t kDefaultSetPage = 1'000;

/// A set that does not fit into memory is too large for the server, however often it is sent.
void RefuseSet(const Status& status, http::Response* response) {
  constexpr unsigned kTooLarge = 413;
  if (status.code() != StatusCode::kBusy) return http::WriteError(ToHttpError(status), response);
  http::WriteError({kTooLarge, "too_large", std::string(status.message())}, response);
}

Status CheckName(std::string_view name) { return CheckSetName(name).WithFieldPrefix("/name"); }

Status PutSet(Context& context, std::string_view name, std::span<const IdRef> items,
              std::string* body) {
  const Result<SetInfo> info = context.sets.Put(name, items);
  if (info.ok()) wire::AppendSetInfo(*info, body);
  return info.status();
}

Status AnswerPutSet(Call& call) {
  const std::string& name = call.plan.arguments.front();
  wire::JsonDocument document(&call.context.unsafe_integers);
  std::vector<IdRef> items;
  Status status = CheckName(name);
  if (status.ok()) status = wire::ParseSet(call.request.body, &document, &items);
  return status.ok() ? PutSet(call.context, name, items, &call.response.body) : status;
}

Status AnswerSet(Call& call) {
  size_t limit = kDefaultSetPage;
  std::string_view after;
  if (Status status = ReadPage(call, kMaxSetPage, &limit, &after); !status.ok()) return status;
  const Result<SetPage> page = call.context.sets.Read(call.plan.arguments.front(), after, limit);
  if (page.ok()) wire::AppendSetPage(*page, &call.response.body);
  return page.status();
}

class SetStream final : public http::BodyStream {
 public:
  SetStream(Context& context, std::string name)
      : context_(context), name_(std::move(name)), lines_(context.limits.body_bytes) {}

  size_t Take(std::string_view bytes, bool last, std::string*) override {
    return lines_.Read(
        bytes, last, [this] { return Failed(); },
        [this](uint64_t number, std::string_view line) { Note(number, TakeLine(line)); },
        [this](uint64_t number, const Status& status) { Note(number, status); });
  }
  bool AnswersAsItGoes() const override { return false; }
  bool Failed() const override { return !failure_.ok(); }
  size_t HeldBytes() const override { return texts_.capacity(); }
  void Finish(http::Response* response) override {
    if (!Failed() && !any_) failure_ = Status::InvalidArgument("the body has no line");
    if (!Failed()) failure_ = PutSet(context_, name_, Items(), &response->body);
    if (Failed()) RefuseSet(failure_, response);
  }

 private:
  /// A refusal is of the whole body; its field is that in its line.
  void Note(uint64_t number, const Status& status) {
    if (status.ok()) return;
    failure_ = Status(status.code(),
                      "line " + std::to_string(number + 1) + ": " + std::string(status.message()),
                      std::string(status.field()));
  }

  Status TakeLine(std::string_view line) {
    any_ = true;
    wire::JsonDocument document(&context_.unsafe_integers);
    std::vector<IdRef> items;
    const Status status = wire::ParseSet(line, &document, &items);
    if (!status.ok()) return wire::ExplainSyntax(status, line, /*takes_ndjson=*/false);
    if (count_ + items.size() > kMaxSetItems) {
      return Status::InvalidArgument("more than " + std::to_string(kMaxSetItems) + " ids",
                                     "/items");
    }
    for (const IdRef& id : items) Keep(id);
    if (texts_.size() <= kMaxSetBytes) return {};
    return Status::Busy("more than " + std::to_string(kMaxSetBytes) + " bytes of text");
  }

  void Keep(const IdRef& id) {
    ++count_;
    const size_t begin = texts_.size();
    texts_.push_back(0);
    id.AppendTo(&texts_);
    texts_[begin] = static_cast<char>(texts_.size() - begin - 1);
  }

  std::vector<IdRef> Items() const {
    std::vector<IdRef> items;
    items.reserve(count_);
    for (std::string_view rest = texts_; !rest.empty();) {
      const size_t size = static_cast<uint8_t>(rest.front());
      items.emplace_back(rest.substr(1, size));
      rest.remove_prefix(1 + size);
    }
    return items;
  }

  Context& context_;
  const std::string name_;
  wire::NumberedLines lines_;
  std::string texts_;  // of each id: a byte with its size, its text
  size_t count_ = 0;
  bool any_ = false;
  Status failure_;
};

}  // namespace

void HandlePutSet(Call& call) {
  if (const Status status = AnswerPutSet(call); !status.ok()) RefuseSet(status, &call.response);
}

void HandleSets(Call& call) {
  const Result<std::vector<SetInfo>> sets = call.context.sets.List();
  if (!sets.ok()) return call.Refuse(sets.status());
  wire::AppendSets(*sets, &call.response.body);
}

void HandleSet(Call& call) {
  if (const Status status = AnswerSet(call); !status.ok()) call.Refuse(status);
}

void HandleDeleteSet(Call& call) {
  const Status status = call.context.sets.Delete(call.plan.arguments.front());
  if (!status.ok()) return call.Refuse(status);
  call.response.body = "{\"deleted\":true}";
}

std::unique_ptr<http::BodyStream> StreamSet(Context& context, const http::Plan& plan,
                                            Status* refusal) {
  *refusal = CheckName(plan.arguments.front());
  if (!refusal->ok()) return nullptr;
  return std::make_unique<SetStream>(context, plan.arguments.front());
}

}  // namespace seendb::api
