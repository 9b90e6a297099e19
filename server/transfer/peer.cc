#include "transfer/peer.h"

#include <charconv>
#include <utility>

#include <boost/beast/http.hpp>

#include "wire/failure_json.h"
#include "wire/status_codes.h"

namespace seendb::transfer {
namespace {

namespace beast = boost::beast;
namespace beast_http = boost::beast::http;

constexpr size_t kRangeBytesMost = 128;

Status NotAnswered(const beast::error_code& error) {
  return Status::Unavailable("the node does not answer: " + error.message());
}

std::string ShardPath(uint32_t shard) {
  return "/internal/shards/" + std::to_string(shard) + "/snapshot";
}

/// What an answer that is no success says. Names are trusted as far as damage goes: whatever else
/// keeps the node from giving its copy may pass by itself.
Status FailureOf(unsigned status, const std::string& body) {
  StatusCode by_status = wire::CodeOfHttpStatus(status);
  if (by_status == StatusCode::kIOError)
    by_status = StatusCode::kUnavailable;  // its disk, not ours
  const Status told = wire::FailureOf(body, by_status);
  const bool damaged = told.code() == StatusCode::kCorruption;
  return {damaged ? told.code() : by_status,
          "the node answers HTTP " + std::to_string(status) + ": " + std::string(told.message())};
}

/// "bytes 100-199/1000".
bool ParseContentRange(std::string_view text, uint64_t* first, uint64_t* last, uint64_t* size) {
  const auto take = [&text](uint64_t* number, std::string_view behind) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (!text.starts_with(behind)) return false;
    text.remove_prefix(behind.size());
    return true;
  };
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return false;
  text.remove_prefix(kUnit.size());
  return take(first, "-") && take(last, "/") && take(size, "") && text.empty();
}

}  // namespace

struct Peer::Answer {
  unsigned status = 0;
  std::string body, content_range, challenge;
};

Peer::Peer(PeerAddress address, std::chrono::milliseconds answer_timeout)
    : address_(std::move(address)), connection_(address_.target, address_.tls, answer_timeout) {}

Result<Peer::Answer> Peer::Ask(std::string_view method, const std::string& target,
                               const std::string& body, const std::string& range) {
  constexpr unsigned kUnauthorized = 401;
  net::HttpConnection::Request message;
  message.method_string({method.data(), method.size()});
  message.target(target);
  message.version(11);
  message.set(beast_http::field::host, address_.target.Authority());
  if (!range.empty()) message.set(beast_http::field::range, range);
  if (!body.empty()) message.set(beast_http::field::content_type, "application/json");
  message.body() = {body.data(), body.size()};
  message.prepare_payload();
  if (address_.proofs == nullptr) return Exchange(message);
  proof::Question question{.method = method, .target = target};
  if (!body.empty()) question.headers.emplace_back("content-type:application/json");
  const std::string sha256 = proof::Sha256(body);
  const auto prove = [&] {
    std::string proof = address_.proofs->Make(question, sha256, address_.node);
    message.set(std::string(proof::kHeader), proof);
    return proof;
  };
  const std::string proof = prove();
  Result<Answer> answer = Exchange(message);
  const bool stale = answer.ok() && answer->status == kUnauthorized;
  if (!stale || !address_.proofs->Learn(proof, answer->challenge)) return answer;
  prove();
  return Exchange(message);
}

Result<Peer::Answer> Peer::Exchange(const net::HttpConnection::Request& request) {
  answered_ = false;
  if (Status open = connection_.Open(); !open.ok()) return open;
  net::HttpConnection::Parser parser;
  if (const beast::error_code error = connection_.Exchange(request, kManifestBytesMost, &parser)) {
    return NotAnswered(error);
  }
  answered_ = true;
  Answer answer;
  answer.status = parser.get().result_int();
  answer.body = std::move(parser.get().body());
  const auto content_range = parser.get()[beast_http::field::content_range];
  answer.content_range.assign(content_range.data(), content_range.size());
  const auto challenge = parser.get()[beast_http::field::www_authenticate];
  answer.challenge.assign(challenge.data(), challenge.size());
  return answer;
}

Result<Manifest> Peer::Make(uint32_t shard, const CopyRequest& request) {
  const Result<Answer> answer = Ask("POST", ShardPath(shard), CopyRequestToJson(request), "");
  if (!answer.ok()) return answer.status();
  if (answer->status != 200) return FailureOf(answer->status, answer->body);
  return ManifestFromJson(answer->body);
}

Result<FetchedPiece> Peer::Read(uint32_t shard, const std::string& id, const std::string& name,
                                uint64_t offset, uint64_t bytes) {
  const std::string range =
      "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + bytes - 1);
  Result<Answer> answer =
      Ask("GET", ShardPath(shard).append("/").append(id).append("/").append(name), "", range);
  if (!answer.ok()) return answer.status();
  if (answer->status != 206) return FailureOf(answer->status, answer->body);
  uint64_t first = 0, last = 0;
  FetchedPiece piece;
  const bool fits = ParseContentRange(answer->content_range, &first, &last, &piece.file_size) &&
                    first == offset && last >= first && last - first < bytes &&
                    answer->body.size() == last - first + 1;
  if (!fits) {
    return Status::Corruption(name + ": asked for " + range + ", the node answers \"" +
                              answer->content_range.substr(0, kRangeBytesMost) + "\" with " +
                              std::to_string(answer->body.size()) + " bytes");
  }
  piece.bytes = std::move(answer->body);
  return piece;
}

Status Peer::End(uint32_t shard, const std::string& id) {
  const Result<Answer> answer = Ask("DELETE", ShardPath(shard) + "/" + id, "", "");
  if (!answer.ok()) return answer.status();
  return answer->status == 200 ? Status() : FailureOf(answer->status, answer->body);
}

}  // namespace seendb::transfer
