#include "transfer/snapshot_routes.h"

#include <charconv>
#include <memory>
#include <optional>
#include <utility>

#include "api/status_http.h"
#include "http/error.h"
#include "http/wait.h"

namespace seendb::transfer {
namespace {

constexpr int kBusyRetryS = 1;

/// Too many copies, or too many pieces: 429, so that it differs from a node that is out of order.
http::Error ErrorOf(const Status& status) {
  http::Error error = api::ToHttpError(status);
  if (status.code() == StatusCode::kBusy) error.status = 429;
  return error;
}

void WriteFailure(const Status& status, http::Response* response) {
  http::WriteError(ErrorOf(status), response);
  if (status.code() == StatusCode::kBusy) response->retry_after_s = kBusyRetryS;
}

template <typename Number>
bool TakeNumber(std::string_view* text, Number* number) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  if (error != std::errc()) return false;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

/// The number of a shard, or the name of a store.
std::optional<CopyPart> ParsePart(std::string_view text) {
  if (text == "items" || text == "sets") return CopyPart::Store(std::string(text));
  uint32_t shard = 0;
  if (!TakeNumber(&text, &shard) || !text.empty()) return {};
  return CopyPart(shard);
}

/// "bytes=100-199", "bytes=100-"; nothing for anything else, of which no node sends any.
std::optional<PieceRange> RangeOf(std::string_view text) {
  constexpr std::string_view kUnit = "bytes=";
  if (!text.starts_with(kUnit)) return {};
  text.remove_prefix(kUnit.size());
  PieceRange range{.offset = 0, .bytes = Snapshots::kPieceBytes};
  if (!TakeNumber(&text, &range.offset) || !text.starts_with('-')) return {};
  text.remove_prefix(1);
  if (text.empty()) return range;
  uint64_t last = 0;
  if (!TakeNumber(&text, &last) || !text.empty() || last < range.offset) return {};
  range.bytes = std::min(last - range.offset, Snapshots::kPieceBytes - 1) + 1;
  return range;
}

void Make(Snapshots& snapshots, const CopyPart& part, api::Call& call) {
  const Result<CopyRequest> request = CopyRequestFromJson(call.request.body);
  if (!request.ok()) return call.Refuse(request.status());
  const Result<Manifest> made = snapshots.Make(part, *request);
  if (!made.ok()) return WriteFailure(made.status(), &call.response);
  call.response.body = ManifestToJson(*made);
}

/// The answer may be part of what was asked for (RFC 9110, 15.3.7): the asker goes on from there.
http::Response PieceResponse(const PieceRange& range, Result<Piece> piece) {
  http::Response response;
  if (!piece.ok()) {
    WriteFailure(piece.status(), &response);
    return response;
  }
  response.status = 206;
  response.content_type = "application/octet-stream";
  response.headers = "\r\nContent-Range: bytes " + std::to_string(range.offset) + "-" +
                     std::to_string(range.offset + piece->bytes.size() - 1) + "/" +
                     std::to_string(piece->file_size);
  response.body = std::move(piece->bytes);
  return response;
}

http::Task<> Read(Snapshots& snapshots, CopyPart part, api::Call call) {
  const std::optional<PieceRange> range = RangeOf(call.request.head.range);
  if (!range) {
    co_return call.Refuse(Status::InvalidArgument(
        "the header Range must be bytes=FIRST-LAST or bytes=FIRST-", "/Range"));
  }
  auto piece = co_await http::Given<Result<Piece>>([&](http::Give<Result<Piece>> give) {
    snapshots.Read(part, call.plan.arguments[1], call.plan.arguments[2], *range, std::move(give));
  });
  call.response = PieceResponse(*range, std::move(piece));
}

}  // namespace

http::Task<> AnswerSnapshotCall(Snapshots* snapshots, api::Call& call) {
  const std::optional<CopyPart> part = ParsePart(call.plan.arguments.at(0));
  const http::Method method = call.request.head.method;
  if (!part) {
    call.Refuse(
        Status::InvalidArgument("must be the number of a partition, items or sets", "/partition"));
  } else if (method == http::Method::kPost) {
    Make(*snapshots, *part, call);
  } else if (method != http::Method::kDelete) {
    return Read(*snapshots, *part, call);  // which keeps its own: it goes on behind this
  } else if (Status ended = snapshots->End(*part, call.plan.arguments.at(1)); !ended.ok()) {
    WriteFailure(ended, &call.response);
  } else {
    call.response.body = R"({"ok":true})";
  }
  return {};
}

}  // namespace seendb::transfer
